#pragma once

#include "harness/element_type.hpp"

namespace reduction {

/// The two sums of 00_cpu_serial/kernel.hpp for one element type.
struct CpuKernel {
  void (*add_running_sum)(void* sum, const void* in, std::size_t n);
  void (*sum_tree)(void* data, std::size_t n);  ///< n >= 1; leaves the sum in the first element
};

/// Indexed by ElementType.
using CpuKernels = std::array<CpuKernel, element_types.size()>;

/// The step that runs on no device, as its main.cpp names it.
struct CpuStep {
  std::string_view name;
  std::string_view title;
  CpuKernels kernels;
};

/// Does all that its main does: it times and verifies both sums over the same input. Returns the exit code
/// (exit_code.hpp).
int run_cpu_step(const CpuStep& step, int argc, char** argv);

}  // namespace reduction
