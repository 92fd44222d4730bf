#pragma once
/// \file
/// What 00_cpu_serial/main.cpp includes, after its kernel.hpp.

#include <complex>
#include <cstdint>

#include "harness/cpu_step.hpp"

namespace reduction {

/// Makes the table from the running_sum and tree_sum templates that were included before.
template <typename... Elements> CpuKernels make_cpu_kernels() {
  static_assert(sizeof...(Elements) == element_types.size(), "one type for each ElementType");
  return {CpuKernel{[](void* sum, const void* in, std::size_t n) {
                      auto& total = *static_cast<Elements*>(sum);
                      total = running_sum(total, static_cast<const Elements*>(in), n);
                    },
                    [](void* data, std::size_t n) { tree_sum(static_cast<Elements*>(data), n); }}...};
}

/// Makes the step whose kernel.hpp was included before. Integers are added as unsigned: a sum that wraps around is
/// defined.
inline CpuStep make_cpu_step(std::string_view name, std::string_view title) {
  return {name, title,
          make_cpu_kernels<std::uint32_t, std::uint64_t, float, double, std::complex<float>,
                           std::complex<double>>()};
}

}  // namespace reduction
