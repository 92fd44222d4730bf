#include "cases.cuh"

namespace reduction {

std::vector<Case> other_operations() { return {max_case<float>("max_float32")}; }

}  // namespace reduction
