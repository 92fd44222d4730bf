/// \file
/// kernel.cuh for GPUs, and how its kernels reach other GPUs' memory.

#include "kernel.cuh"

#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/std/complex>
#include <exception>
#include <optional>
#include <vector>

#include "mailboxes.hpp"
#include "rank_kernels.cuh"

namespace reduction {

namespace {

class GpuMailboxes final : public Mailboxes {
 public:
  using Mailboxes::Mailboxes;
  ~GpuMailboxes() override {
    // After an error the job ends; to take leave of a rank that is lost could take for ever.
    if (!ranks_ || std::uncaught_exceptions() != 0) return;
    close();
    const WaitLimit::Wait wait(ranks_->limit(), silent);
    MPI_Barrier(ranks_->communicator());  // no memory is released before the others have closed it
  }

  bool share(const Ranks& ranks) override {
    if (ranks.count() == 1) return true;
    neighbours_.rank = static_cast<unsigned>(ranks.rank());
    const auto self = static_cast<std::size_t>(ranks.rank());
    cudaIpcMemHandle_t handle{};
    cudaError_t status = cudaIpcGetMemHandle(&handle, own_.data());
    const std::vector<cudaIpcMemHandle_t> handles = ranks.gather(handle);
    neighbours_.mailboxes.assign(handles.size(), nullptr);
    neighbours_.mailboxes[self] = own_.data();
    for (std::size_t rank = 0; rank < handles.size() && status == cudaSuccess; ++rank) {
      // The other's GPU need not be visible to this process.
      if (rank != self)
        status =
            cudaIpcOpenMemHandle(&neighbours_.mailboxes[rank], handles[rank], cudaIpcMemLazyEnablePeerAccess);
    }
    if (status != cudaSuccess) static_cast<void>(cudaGetLastError());  // it is answered here
    ranks_ = ranks;
    return ranks.largest(status == cudaSuccess ? 0 : 1) == 0;
  }

 private:
  void close() {
    for (void* const mailbox : neighbours_.mailboxes) {
      if (mailbox != nullptr && mailbox != own_.data() && cudaIpcCloseMemHandle(mailbox) != cudaSuccess)
        static_cast<void>(cudaGetLastError());  // the device has failed, and the next call of it says so
    }
  }

  std::optional<Ranks> ranks_;
};

}  // namespace

const RankKernels* cuda_rank_kernels() {
  // Integers as unsigned: the same bits, and a sum that wraps around is defined.
  static const RankKernels kernels =
      make_rank_kernels<std::uint32_t, std::uint64_t, float, double, cuda::std::complex<float>,
                        cuda::std::complex<double>>();
  return &kernels;
}

std::unique_ptr<Mailboxes> make_gpu_mailboxes(Device& device, const RankKernel& kernel) {
  return std::make_unique<GpuMailboxes>(device, kernel);
}

}  // namespace reduction
