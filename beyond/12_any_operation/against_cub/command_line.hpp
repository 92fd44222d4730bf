#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/options.hpp"

namespace reduction {

/// How many elements: those of a list, or a sweep up to `most`.
struct Sizes {
  std::vector<std::uint64_t> list{1 << 16, 1 << 20, 1 << 24, 1 << 28};
  bool sweep = false;
  std::optional<std::uint64_t> most;  ///< of a sweep; none: what fits on the device
};

/// What the command line asks for; the defaults are those of `--help`.
struct CommandLine {
  std::vector<std::string> cases;  ///< their names
  Sizes sizes;
  std::size_t samples = 41;
  std::uint64_t seed = 1;
  DeviceChoice device;
  std::string json_file;  ///< empty: none
  bool quiet = false;
  std::string answer;  ///< what --help or --version print; else empty
};

/// Reads the command line. `cases` are the names of all there are. Throws UsageError.
CommandLine parse_command_line(int argc, const char* const* argv, std::string_view name,
                               const std::vector<std::string>& cases);

/// Reads "2^20,1000003", "sweep" or "sweep:2^30". Throws UsageError.
Sizes parse_sizes(const std::string& text);

/// Lists the sizes of a sweep in ascending order: the powers of two from 2^10 to `most`, and where that is a power or more
/// of them, 40 odd numbers between, drawn so that each factor of two gets about as many as another.
std::vector<std::uint64_t> sweep_sizes(std::uint64_t most, std::uint64_t seed);

}  // namespace reduction
