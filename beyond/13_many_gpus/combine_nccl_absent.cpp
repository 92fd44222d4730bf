/// \file
/// Stands in for combine_nccl.cu where there is no NCCL.

#include "combine.hpp"

namespace reduction {

std::unique_ptr<Combine> combine_by_nccl(const CombineSettings&) {
  throw DeviceError("this program was built without NCCL");
}

bool has_nccl() { return false; }

}  // namespace reduction
