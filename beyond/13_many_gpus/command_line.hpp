#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/element_type.hpp"
#include "harness/input.hpp"
#include "harness/options.hpp"

namespace reduction {

/// Who makes one sum of the ranks' sums.
enum class Combiner { automatic, kernels, nccl, mpi };

/// What the command line of a job of several ranks asks for; the defaults are those of `--help`.
struct CommandLine {
  std::optional<std::uint64_t> elements;  ///< none: the device's default size
  bool weak = false;                      ///< `elements` are those of each rank, not of all together
  bool scaling = false;                   ///< 1, 2, 4, ... ranks, one after the other
  ElementType type = ElementType::int32;
  std::optional<std::size_t> samples;  ///< none: until they agree
  Combiner combine = Combiner::automatic;
  std::chrono::seconds time_limit{60};
  std::uint64_t seed = 1;
  Data data = Data::random;
  bool alone = false;       ///< each rank by itself, one after the other
  bool host_clock = false;  ///< time by the hosts' clocks, with launches, not by the devices'
  DeviceChoice::Kind device = DeviceChoice::Kind::automatic;
  std::string json_file;  ///< empty: none
  bool quiet = false;
  std::string answer;  ///< what --help or --version print; else empty
};

/// Reads the command line. Throws UsageError.
CommandLine parse_command_line(int argc, const char* const* argv, std::string_view name,
                               std::string_view title);

}  // namespace reduction
