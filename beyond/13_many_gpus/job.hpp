#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "ranks.hpp"

namespace reduction {

/// All that mpirun or srun has started: MPI from its start to its end, and what happens when a rank fails.
class Job {
 public:
  Job(std::string_view program, int argc, char** argv);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const Ranks& ranks() const { return ranks_; }
  const Ranks& node() const { return node_; }  ///< those on this machine
  bool is_on_one_node() const { return node_.count() == ranks_.count(); }

  /// Says what this rank calls its device if it fails.
  void name_device(const std::string& name);

  /// How long a rank waits for the others, before it ends the whole job with a line that names it and its device.
  WaitLimit& wait_limit() { return wait_limit_; }

  /// Says what the exception that is being handled is, and ends the whole job at once. Nothing is unwound: to release what
  /// waits for a lost rank could wait for ever. Where several ranks fail, the lowest of them speaks for all.
  [[noreturn]] void abort_with_current_exception() const;

  /// Does the same where other ranks did not do `what` within the time limit.
  [[noreturn]] void end_too_late(const std::string& what) const;

 private:
  /// Says what the exception is where no lower rank does so, and returns its exit code.
  int exit_code_of_failure(const std::exception_ptr& failure) const;

  std::string program_;
  std::string speaker_;  ///< what a line of this rank begins with
  WaitLimit wait_limit_;
  Ranks ranks_;
  Ranks node_;
};

}  // namespace reduction
