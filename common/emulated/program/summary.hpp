#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "emulated/count/counters.hpp"
#include "emulated/count/place_counts.hpp"
#include "emulated/run/execution_configuration.hpp"

namespace emulated_program {

/// All launches of one kernel.
struct KernelRuns {
  const void* entry = nullptr;
  std::string name{};  ///< in the source
  std::size_t launches = 0;
  __emulated::ExecutionConfiguration first{};                 ///< of its launches,
  bool is_only = true;                                        ///< like which all others are
  __emulated::Counters counters{};                            ///< summed over them
  std::map<const void*, __emulated::PlaceCounters> places{};  ///< by call site, summed as well
};

/// "1,048,576".
std::string grouped(std::uint64_t number);

/// "5.4"; the second number is not 0.
std::string ratio(std::uint64_t number, std::uint64_t to);

/// "1,024 launches", or "1 launch".
std::string count_of(std::size_t count, const std::string& one, const std::string& more);

inline constexpr std::size_t most_columns = 80;

/// What a profiler would say of the kernel, in lines of so many columns.
std::string summary_of(const KernelRuns& kernel);

}  // namespace emulated_program
