#include "combine.hpp"
#include "mailboxes.hpp"

namespace reduction {

namespace {

/// Returns MPI's type of one real component.
MPI_Datatype real_type(ElementType type) {
  switch (type) {
    case ElementType::int32: return MPI_UINT32_T;
    case ElementType::int64: return MPI_UINT64_T;
    case ElementType::float32:
    case ElementType::complex64: return MPI_FLOAT;
    default: return MPI_DOUBLE;
  }
}

class CombineByMpi final : public Combine {
 public:
  explicit CombineByMpi(const CombineSettings& settings)
      : settings_(settings), own_(make_mailboxes(settings.device, settings.kernel)) {}

  std::string name() const override {
    const bool misses_nccl = settings_.device.info().kind == DeviceKind::cuda && !has_nccl();
    return misses_nccl ? "MPI (built without NCCL)" : "MPI";
  }
  const Neighbours& neighbours() const override { return own_->neighbours(); }

  void start(void* sum) override {
    sum_.bytes.fill(std::byte{0xFF});
    settings_.device.download(partial_.bytes.data(), sum, size_of(settings_.type));
  }

  void wait() override {
    const WaitLimit::Wait wait(settings_.ranks.limit(), "the sums of the other ranks did not come");
    mpi_check(
        MPI_Allreduce(partial_.bytes.data(), sum_.bytes.data(), static_cast<int>(parts_of(settings_.type)),
                      real_type(settings_.type), MPI_SUM, settings_.ranks.communicator()),
        "combining the sums");
  }

  Value sum() override { return sum_; }

  bool meet() override { return false; }

 private:
  CombineSettings settings_;
  std::unique_ptr<Mailboxes> own_;
  Value partial_{settings_.type, {}};
  Value sum_{settings_.type, {}};
};

}  // namespace

std::unique_ptr<Combine> combine_by_mpi(const CombineSettings& settings) {
  return std::make_unique<CombineByMpi>(settings);
}

}  // namespace reduction
