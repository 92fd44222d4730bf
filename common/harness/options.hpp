#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulated/run/schedule.hpp"
#include "harness/element_type.hpp"
#include "harness/input.hpp"
#include "harness/timing_method.hpp"

namespace CLI {
class App;
}

namespace reduction {

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
  __emulated::Schedule schedule;
};

/// Which block the emulated device traces, and where the trace goes.
struct TraceOptions {
  std::string file;         ///< ends in .json or .html; empty: none
  std::size_t pass = 1;     ///< counted from 1
  std::size_t block = 0;    ///< its number in the pass's grid
  bool has_block = false;   ///< both were asked for
  std::string beside_file;  ///< another trace, for the same page; empty: none
};

/// What a sweep varies; the ranks only in 13_many_gpus.
enum class Sweep { block, size, type, ranks };

/// The command line of a step; the defaults are those of `--help`.
struct Options {
  std::optional<std::uint64_t> elements;  ///< none: the device's default size
  ElementType type = ElementType::int32;
  unsigned block = 256;
  std::optional<std::uint64_t> grid;   ///< none: the step's own
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
  std::string answer;  ///< what --help or --version print; else empty
};

/// The block sizes that every step runs with.
inline constexpr std::array<unsigned, 6> block_sizes{32, 64, 128, 256, 512, 1024};

/// What the text of an option may be.
template <typename Value> struct Reader {
  std::function<std::optional<Value>(const std::string&)> read;  ///< none: not allowed
  std::string allowed;
};

/// Reads a whole decimal number.
Reader<std::uint64_t> number(std::uint64_t least, std::uint64_t most);

/// Reads one of these names.
template <typename Value> Reader<Value> one_of(const std::vector<std::pair<std::string, Value>>& names) {
  std::string allowed;
  for (const auto& [name, value] : names)
    allowed += (allowed.empty() ? "choose one of " : ", ") + name;
  const auto read = [names](const std::string& text) -> std::optional<Value> {
    for (const auto& [name, value] : names)
      if (name == text) return value;
    return std::nullopt;
  };
  return {read, allowed};
}

Reader<std::uint64_t> samples_reader();
Reader<std::uint64_t> seed_reader();
Reader<ElementType> type_reader();
Reader<Data> data_reader();

/// Reads "1000003", "2^28" or "64M" (K, M, G: times 2^10, 2^20, 2^30), at most 2^48.
Reader<std::uint64_t> elements_reader();

/// Reads "auto", "cuda", "cuda:1" or "emulated".
Reader<DeviceChoice> device_reader();

/// The options of a program. What is read is written to targets, which must outlive read(). CLI11 is known to
/// options.cpp alone: every file that includes it takes ten seconds more to compile.
class OptionParser {
 public:
  OptionParser(const std::string& program, const std::string& description);

  void add_version();

  /// Adds an option with a value, which may be there once.
  template <typename Target, typename Value>
  void add(const char* flags, const char* placeholder, const std::string& help, Target& target,
           const Reader<Value>& reader) {
    add_text(flags, placeholder, help, reader.allowed,
             [&target, read = reader.read](const std::string& text) {
               const auto value = read(text);
               if (value) target = static_cast<Target>(*value);
               return value.has_value();
             });
  }

  /// Adds an option with the name of a file.
  void add_file(const char* flag, const std::string& help, std::string& target);

  /// Adds an option without a value.
  void add_flag(const char* flags, const std::string& help, bool& target);

  /// Adds what is given without a flag, as many values as there are, and at least one.
  void add_arguments(const char* name, const std::string& help, std::vector<std::string>& target);

  /// Reads the command line. Returns what --help or --version ask to print, else nothing. Throws UsageError, for what is
  /// wrong beside --help, too.
  std::string read(int argc, const char* const* argv);

 private:
  void add_text(const char* flags, const char* placeholder, const std::string& help,
                const std::string& allowed, std::function<bool(const std::string&)> take);

  std::shared_ptr<CLI::App> app_;
};

/// Reads the command line of a step; what it does not name is as in `defaults`. `add_own` adds the step's own options. Throws
/// UsageError.
Options parse_options(
    int argc, const char* const* argv, std::string_view name, std::string_view title,
    const Options& defaults = {}, const std::function<void(OptionParser&)>& add_own = [](OptionParser&) {});

}  // namespace reduction
