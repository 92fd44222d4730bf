#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "device/emulated/schedule.hpp"
#include "harness/element_type.hpp"
#include "harness/input.hpp"
#include "harness/timing_method.hpp"

namespace reduction {

class TextOptions;

/// A command line that cannot be run. what() is one line: what was wrong and what is allowed.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Which device the user asked for.
struct DeviceChoice {
  enum class Kind { automatic, cuda, emulated } kind = Kind::automatic;
  int ordinal = 0;  ///< of a CUDA device
};

/// How the emulated device runs.
struct Emulation {
  bool counters = true;  ///< count and check accesses to memory
  emulated::Schedule schedule;
};

/// Which block the emulated device traces, and where the trace goes.
struct TraceOptions {
  std::string file;         ///< ends in .json or .html; empty: none
  std::size_t pass = 1;     ///< counted from 1
  std::size_t block = 0;    ///< its number in the pass's grid
  std::string beside_file;  ///< another trace, for the same page; empty: none
};

/// What a sweep varies.
enum class Sweep { block, size, type };

/// The command line of a step; the defaults are those of `--help`.
struct Options {
  std::optional<std::uint64_t> elements;  ///< none: the device's default size
  ElementType type = ElementType::int32;
  unsigned block = 256;
  std::optional<std::size_t> samples;  ///< none: until they agree
  TimingMethod timing;
  std::uint64_t seed = 1;
  Data data = Data::random;
  DeviceChoice device;
  std::optional<Sweep> sweep;
  Emulation emulation;
  TraceOptions trace;
  std::string compare_file;  ///< empty: none
  std::string json_file;     ///< empty: none
  bool quiet = false;
};

/// The block sizes that every step runs with.
inline constexpr std::array<unsigned, 6> block_sizes{32, 64, 128, 256, 512, 1024};

/// Returns the name that `--data` takes.
std::string_view to_string(Data data);

/// Reads the name of an element type. Throws UsageError.
ElementType parse_type(const std::string& text);

/// Reads 1 to 1000000. Throws UsageError.
std::size_t parse_samples(const std::string& text);

/// Reads 0 to 2^64 - 1. Throws UsageError.
std::uint64_t parse_seed(const std::string& text);

/// Reads "random", "ones" or "cancelling". Throws UsageError.
Data parse_data(const std::string& text);

/// Reads "1000003", "2^28" or "64M" (K, M, G: times 2^10, 2^20, 2^30), at most 2^48. Throws UsageError.
std::uint64_t parse_elements(const std::string& text);

/// Reads "auto", "cuda", "cuda:1" or "emulated". Throws UsageError.
DeviceChoice parse_device(const std::string& text);

/// Reads "ascending", "descending", "random" or "random:7". Throws UsageError.
emulated::Schedule parse_schedule(const std::string& text);

/// Reads "conflict.html" or "conflict.json". Throws UsageError.
std::string parse_trace_file(const std::string& text);

/// Reads "3", or "2:0" for block 0 of the second pass, into `trace`. Throws UsageError.
void parse_trace_block(const std::string& text, TraceOptions& trace);

/// Adds --trace, --trace-block and --trace-beside. \param has_block  becomes true if --trace-block is there.
void add_trace_options(TextOptions& app, TraceOptions& trace, bool& has_block);

/// Throws UsageError for details of a trace that nobody has asked for.
void require_trace_file(const TraceOptions& trace, bool has_block);

/// Reads a command line; what it does not name is as in `defaults`. Prints --help or --version and returns nothing if
/// it asks for them. Throws UsageError.
std::optional<Options> parse_options(int argc, const char* const* argv, std::string_view name,
                                     std::string_view title, const Options& defaults = {});

}  // namespace reduction
