#include "combine.hpp"

namespace reduction {

namespace {

class CombineInKernels final : public Combine {
 public:
  explicit CombineInKernels(const CombineSettings& settings) : Combine(settings) {
    if (!mailboxes_->share(settings.ranks)) throw DeviceError("a device does not reach another's memory");
  }

  std::string name() const override { return "the kernels"; }
  void start() override {}  // the kernels have done so

  void wait() override {
    const WaitLimit::Wait wait(settings_.ranks.limit(), "the sum of all GPUs did not come");
    settings_.device.synchronize();
  }

  bool meet() override {
    settings_.kernel.launch(neighbours(), nullptr, meeting_.data(), 0);
    return true;
  }
};

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
  using Combine::Combine;

  std::string name() const override {
    const bool misses_nccl = settings_.device.info().kind == DeviceKind::cuda && !has_nccl();
    return misses_nccl ? "MPI (built without NCCL)" : "MPI";
  }

  void start() override {
    value_.bytes.fill(std::byte{0xFF});
    own_ = Combine::value();
  }

  void wait() override {
    const WaitLimit::Wait wait(settings_.ranks.limit(), "the sums of the other ranks did not come");
    mpi_check(MPI_Allreduce(own_.bytes.data(), value_.bytes.data(), static_cast<int>(parts_of(own_.type)),
                            real_type(own_.type), MPI_SUM, settings_.ranks.communicator()),
              "combining the sums");
  }

  Value value() override { return value_; }

  bool meet() override { return false; }

 private:
  Value own_{};
  Value value_{settings_.type, {}};
};

}  // namespace

Combine::Combine(const CombineSettings& settings)
    : settings_(settings),
      mailboxes_(make_mailboxes(settings.device, settings.kernel)),
      sum_(settings.device, size_of(settings.type)),
      meeting_(settings.device, size_of(settings.type)) {}

Value Combine::value() {
  Value value{settings_.type, {}};
  settings_.device.download(value.bytes.data(), sum(), size_of(settings_.type));
  return value;
}

std::unique_ptr<Combine> make_combine(const CombineSettings& settings, Combiner combiner) {
  if (combiner == Combiner::nccl) return combine_by_nccl(settings);
  if (combiner == Combiner::mpi) return std::make_unique<CombineByMpi>(settings);
  return std::make_unique<CombineInKernels>(settings);
}

}  // namespace reduction
