#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/exit_code.hpp"
#include "ranks.hpp"

namespace reduction {

/// A failure that every rank of the job knows of, so that all of them can end in order and one speaks for all.
struct AgreedFailure : std::runtime_error {
  AgreedFailure(ExitCode exit_code, const std::string& what) : std::runtime_error(what), code(exit_code) {}
  ExitCode code;
};

/// All that mpirun or srun has started: MPI from its start to its end, and what happens when a rank fails.
class Job {
 public:
  Job(std::string_view program, int argc, char** argv);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const Ranks& ranks() const { return ranks_; }
  const Ranks& node() const { return node_; }  ///< those on this machine

  /// Says what this rank calls its device if it fails.
  void name_device(const std::string& name);

  /// How long a rank waits for the others, before it ends the whole job with such a line as abort()'s.
  WaitLimit& wait_limit() { return wait_limit_; }

  /// Throws the AgreedFailure of a UsageError unless all ranks have the same words behind the program's name. By all, and
  /// before any of them is read: ranks that are to do different things would wait for each other for ever.
  void require_same_words(int argc, const char* const* argv) const;

  /// Runs `body` on every rank. Where it throws on one or more, every rank throws the AgreedFailure of the lowest of
  /// them: UsageError as bad_usage, anything else as device_fault; by all.
  void agree(const std::function<void()>& body) const;

  /// Ends the whole job at once, with a line that names this rank and its device. Nothing is unwound: to release what
  /// waits for a lost rank could wait for ever.
  [[noreturn]] void abort(const std::string& what) const;

  /// Does the same where other ranks did not do `what` within the time limit.
  [[noreturn]] void end_too_late(const std::string& what) const;

  /// Does the same for the exception that is being handled.
  [[noreturn]] void abort_with_current_exception() const;

 private:
  std::string program_;
  std::string speaker_;  ///< what a line of this rank alone begins with
  WaitLimit wait_limit_;
  Ranks ranks_;
  Ranks node_;
};

}  // namespace reduction
