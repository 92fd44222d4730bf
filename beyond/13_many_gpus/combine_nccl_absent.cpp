/// \file
/// Stands in for combine_nccl.cu where there is no NCCL.

#include "combine.hpp"

namespace reduction {

std::unique_ptr<Combine> combine_by_nccl(const CombineSettings&) { return nullptr; }

std::string nccl_name() { return ""; }

}  // namespace reduction
