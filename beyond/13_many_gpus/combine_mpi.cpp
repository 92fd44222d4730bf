#include <fmt/format.h>

#include <thread>

#include "combine.hpp"

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
      : settings_(settings), partial_{settings.type, {}}, sum_{settings.type, {}} {}

  void poison() override { sum_.bytes.fill(std::byte{0xFF}); }

  void start(const void* partial) override {
    settings_.device.download(partial_.bytes.data(), partial, size_of(settings_.type));
    mpi_check(
        MPI_Iallreduce(partial_.bytes.data(), sum_.bytes.data(), static_cast<int>(parts_of(settings_.type)),
                       real_type(settings_.type), MPI_SUM, settings_.ranks.communicator(), &request_),
        "combining the sums");
  }

  void wait() override {
    const auto latest = std::chrono::steady_clock::now() + settings_.time_limit;
    for (;;) {
      int done = 0;
      mpi_check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "combining the sums");
      if (done != 0) return;
      if (std::chrono::steady_clock::now() > latest) {
        settings_.job.abort(fmt::format("the other ranks' sums did not come within {} s (--time-limit)",
                                        settings_.time_limit.count()));
      }
      std::this_thread::yield();  // there may be fewer cores than ranks
    }
  }

  Value sum() override { return sum_; }

 private:
  CombineSettings settings_;
  Value partial_;
  Value sum_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<Combine> combine_by_mpi(const CombineSettings& settings) {
  return std::make_unique<CombineByMpi>(settings);
}

}  // namespace reduction
