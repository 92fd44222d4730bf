#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "emulated/count/counters.hpp"
#include "emulated/run/execution_configuration.hpp"

namespace emulated_program {

/// All launches of one kernel.
struct KernelRuns {
  const void* entry = nullptr;
  std::string name;  ///< in the source
  std::size_t launches = 0;
  __emulated::ExecutionConfiguration first{};  ///< of its launches,
  bool is_only = true;                         ///< like which all others are
  __emulated::Counters counters{};             ///< summed over them
};

/// "1,024 launches", or "1 launch".
std::string count_of(std::size_t count, const std::string& one, const std::string& more);

/// What a profiler would say of the kernel, in lines of at most 80 columns.
std::string summary_of(const KernelRuns& kernel);

}  // namespace emulated_program
