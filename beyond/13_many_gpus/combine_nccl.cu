#include <cuda_runtime.h>
#include <nccl.h>

#include <exception>
#include <string>

#include "combine.hpp"
#include "device/cuda_check.cuh"

namespace reduction {

namespace {

void nccl_check(ncclResult_t status, const char* doing) {
  if (status == ncclSuccess) return;
  throw DeviceError(std::string(doing) + ": " + ncclGetErrorString(status) + ": " +
                    ncclGetLastError(nullptr));
}

/// Returns NCCL's type of one real component.
ncclDataType_t real_type(ElementType type) {
  switch (type) {
    case ElementType::int32: return ncclUint32;
    case ElementType::int64: return ncclUint64;
    case ElementType::float32:
    case ElementType::complex64: return ncclFloat32;
    default: return ncclFloat64;
  }
}

/// NCCL's own communicator of the same ranks.
class Communicator {
 public:
  explicit Communicator(const Ranks& ranks) {
    ncclUniqueId id{};
    if (ranks.rank() == 0) nccl_check(ncclGetUniqueId(&id), "starting NCCL");
    ranks.broadcast(&id, sizeof(id));
    nccl_check(ncclCommInitRank(&communicator_, ranks.count(), id, ranks.rank()),
               "connecting the GPUs by NCCL");
  }
  ~Communicator() {
    // After an error the job ends; to take leave of a rank that is lost could take for ever.
    if (std::uncaught_exceptions() == 0) ncclCommDestroy(communicator_);
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  ncclComm_t get() const { return communicator_; }

 private:
  ncclComm_t communicator_ = nullptr;
};

class CombineByNccl final : public Combine {
 public:
  explicit CombineByNccl(const CombineSettings& settings)
      : settings_(settings), communicator_(settings.ranks), sum_(settings.device, size_of(settings.type)) {}

  void poison() override { settings_.device.poison(sum_.data(), size_of(settings_.type)); }

  void start(const void* partial) override {
    // On the stream of the kernels before, so that it starts when they have ended and the host need not wait.
    nccl_check(ncclAllReduce(partial, sum_.data(), parts_of(settings_.type), real_type(settings_.type),
                             ncclSum, communicator_.get(), nullptr),
               "combining the sums by NCCL");
  }

  void wait() override {
    const auto latest = std::chrono::steady_clock::now() + settings_.time_limit;
    for (;;) {
      const cudaError_t status = cudaStreamQuery(nullptr);
      if (status == cudaSuccess) break;
      if (status != cudaErrorNotReady)
        settings_.job.abort(std::string("running the kernels: ") + cudaGetErrorString(status));
      static_cast<void>(cudaGetLastError());  // CUDA would report "not ready" at the next launch
      require_no_failure();
      if (std::chrono::steady_clock::now() > latest) {
        settings_.job.abort("the sum of all GPUs did not come within " +
                            std::to_string(settings_.time_limit.count()) + " s (--time-limit)");
      }
    }
    require_no_failure();
  }

  Value sum() override {
    Value value{settings_.type, {}};
    settings_.device.download(value.bytes.data(), sum_.data(), size_of(settings_.type));
    return value;
  }

 private:
  /// A connection or a GPU that fails is found by NCCL's own threads; the kernel would wait on.
  void require_no_failure() const {
    ncclResult_t status = ncclSuccess;
    if (ncclCommGetAsyncError(communicator_.get(), &status) == ncclSuccess && status == ncclSuccess) return;
    settings_.job.abort(std::string("combining the sums by NCCL: ") + ncclGetErrorString(status) + ": " +
                        ncclGetLastError(communicator_.get()));
  }

  CombineSettings settings_;
  Communicator communicator_;
  DeviceBuffer sum_;
};

}  // namespace

std::unique_ptr<Combine> combine_by_nccl(const CombineSettings& settings) {
  return std::make_unique<CombineByNccl>(settings);
}

std::string nccl_name() {
  int version = 0;
  nccl_check(ncclGetVersion(&version), "asking for NCCL's version");
  return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace reduction
