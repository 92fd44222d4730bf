#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "emulated/program/trace_choice.hpp"
#include "emulated/run/launch.hpp"

namespace emulated_program {

/// Traces a block of one of the launches.
class Tracer {
 public:
  explicit Tracer(TraceChoice choice) : choice_{std::move(choice)} {}

  /// A kernel is launched: the block of it to trace, if it is the one.
  std::optional<std::size_t> block_of(const std::string& kernel);
  void ended(const std::string& kernel, const __emulated::LaunchResult& result);

  bool has_finding() const { return finding_.has_value(); }
  /// Where the first finding is, of what was asked for, if it is not in the trace.
  std::optional<TraceChoice> elsewhere() const;

  /// Writes the file, and says in a line what it is. Throws std::runtime_error.
  std::string write(const std::string& program) const;

 private:
  bool is_meant(const std::string& kernel) const {
    return choice_.kernel.empty() || choice_.kernel == kernel;
  }

  TraceChoice choice_;
  std::size_t launches_ = 0;  ///< of the kernel, so far
  std::shared_ptr<const __emulated::BlockTrace> trace_;
  std::size_t launch_ = 0;  ///< which the trace is of
  std::optional<TraceChoice> finding_;
};

}  // namespace emulated_program
