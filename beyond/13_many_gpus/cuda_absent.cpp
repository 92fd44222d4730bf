/// \file
/// Stands in for cuda_ranks.cu in a build without CUDA.

#include "mailboxes.hpp"
#include "rank_kernels.hpp"

namespace reduction {

const RankKernels* cuda_rank_kernels() { return nullptr; }

std::unique_ptr<Mailboxes> make_gpu_mailboxes(Device&, const RankKernel&) {
  throw DeviceError("this build has no CUDA");
}

}  // namespace reduction
