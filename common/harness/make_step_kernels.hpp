#pragma once
/// \file
/// Include it after a kernel.cuh.

#include <cstddef>

#include "harness/step_kernels.hpp"

/// What a kernel.cuh need not declare. ::single_pass is the kernel's own; only where it has none is it looked for here.
namespace step_defaults {
inline constexpr bool single_pass = false;
inline constexpr bool adds_atomically = false;
inline constexpr bool waits_for_result = false;
inline constexpr unsigned default_block = reduction::StepKernel{}.default_block;
inline constexpr std::nullptr_t vectors_at_a_time = nullptr;
}  // namespace step_defaults
using namespace step_defaults;

namespace reduction {

/// Makes the table from the grid_size and launch_reduce templates of the kernel.cuh that was included before.
/// `Elements` are the types that the kernels see, in the order of ElementType.
template <typename... Elements> StepKernels make_step_kernels() {
  static_assert(sizeof...(Elements) == element_types.size(), "one type for each ElementType");
  return {StepKernel{[](std::size_t n, unsigned block) { return grid_size<Elements>(n, block); },
                     [](std::size_t grid, unsigned block, const void* in, void* out, std::size_t n) {
                       launch_reduce(grid, block, static_cast<const Elements*>(in),
                                     static_cast<Elements*>(out), n);
                     },
                     ::single_pass || ::adds_atomically, ::adds_atomically, ::waits_for_result,
                     ::default_block, ::vectors_at_a_time, 16 / sizeof(Elements)}...};
}

}  // namespace reduction
