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

/// Returns "NCCL 2.28.9".
std::string nccl_name() {
  int version = 0;
  nccl_check(ncclGetVersion(&version), "asking for NCCL's version");
  return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
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
  explicit Communicator(const Ranks& ranks) : limit_(ranks.limit()) {
    ncclUniqueId id{};
    if (ranks.rank() == 0) nccl_check(ncclGetUniqueId(&id), "starting NCCL");
    id = ranks.gather(id).front();
    const WaitLimit::Wait wait(limit_, "NCCL did not connect the GPUs");
    nccl_check(ncclCommInitRank(&communicator_, ranks.count(), id, ranks.rank()),
               "connecting the GPUs by NCCL");
  }
  ~Communicator() {
    // After an error the job ends; to take leave of a rank that is lost could take for ever.
    if (std::uncaught_exceptions() != 0) return;
    const WaitLimit::Wait wait(limit_, "NCCL did not let this rank go");
    ncclCommDestroy(communicator_);
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  ncclComm_t get() const { return communicator_; }

 private:
  WaitLimit& limit_;
  ncclComm_t communicator_ = nullptr;
};

class CombineByNccl final : public Combine {
 public:
  explicit CombineByNccl(const CombineSettings& settings)
      : Combine(settings), communicator_(settings.ranks) {}

  std::string name() const override { return nccl_name(); }

  // On the stream of the kernels before, so that it starts when they have ended and the host need not wait.
  void start() override { all_reduce(sum()); }

  void wait() override {
    const WaitLimit::Wait wait(settings_.ranks.limit(), "the sum of all GPUs did not come");
    for (;;) {
      const cudaError_t status = cudaStreamQuery(nullptr);
      require_no_failure();
      if (status == cudaSuccess) return;
      if (status != cudaErrorNotReady) cuda_check(status, "running the kernels");
      static_cast<void>(cudaGetLastError());  // CUDA would report "not ready" at the next launch
    }
  }

  bool meet() override {
    all_reduce(meeting_.data());
    return true;
  }

 private:
  void all_reduce(void* element) const {
    // The first one connects what the communicator has left unconnected.
    const WaitLimit::Wait wait(settings_.ranks.limit(), "NCCL did not connect the GPUs");
    nccl_check(ncclAllReduce(element, element, parts_of(settings_.type), real_type(settings_.type), ncclSum,
                             communicator_.get(), nullptr),
               "combining the sums by NCCL");
  }

  /// A connection or a GPU that fails is found by NCCL's own threads; the kernel would wait on.
  void require_no_failure() const {
    ncclResult_t status = ncclSuccess;
    const ncclResult_t asked = ncclCommGetAsyncError(communicator_.get(), &status);
    nccl_check(asked == ncclSuccess ? status : asked, "combining the sums by NCCL");
  }

  Communicator communicator_;
};

}  // namespace

std::unique_ptr<Combine> combine_by_nccl(const CombineSettings& settings) {
  return std::make_unique<CombineByNccl>(settings);
}

bool has_nccl() { return true; }

}  // namespace reduction
