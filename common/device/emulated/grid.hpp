#pragma once
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "device/emulated/counters.hpp"
#include "device/emulated/evidence.hpp"
#include "device/emulated/launch.hpp"
#include "device/emulated/launch_accesses.hpp"
#include "device/emulated/schedule.hpp"

namespace reduction::emulated {

/// One launch: hands its blocks out to host threads, in ascending order, and gathers what they did.
class Grid {
 public:
  /// How the device runs a launch, beside what the program asks for.
  struct Options {
    unsigned host_threads;
    Schedule schedule;
    bool instrumented;   ///< whether accesses are counted and checked
    std::size_t number;  ///< of the launch
  };

  Grid(const LaunchConfig& config, const KernelCall& kernel, const Options& options);
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  ~Grid();

  const LaunchConfig& config() const { return config_; }
  const KernelCall& kernel() const { return kernel_; }
  const Schedule& schedule() const { return options_.schedule; }
  bool is_instrumented() const { return options_.instrumented; }
  std::size_t number() const { return options_.number; }
  LaunchAccesses& accesses() { return accesses_; }

  /// Runs blocks on the calling host thread as long as there are any.
  void work();

  /// Returns once every block below `block` has ended.
  void wait_for_turn(std::size_t block);

  /// What all blocks did. Throws what the lowest block that failed has thrown, or a KernelFinding for its
  /// faults.
  Counters result() const;

 private:
  std::optional<std::size_t> claim();
  void complete(std::size_t chunk, const Counters& counters);
  void fail(std::size_t block, std::exception_ptr exception, std::vector<Evidence> evidence);
  bool has_failed_before(std::size_t block) const;

  const LaunchConfig config_;
  const KernelCall kernel_;
  const Options options_;
  const std::size_t chunk_;  ///< blocks handed out at a time

  mutable std::mutex mutex_;
  std::condition_variable completed_;
  std::size_t next_ = 0;           ///< the first block not yet handed out
  std::set<std::size_t> running_;  ///< first blocks of the chunks that are
  std::size_t failed_block_;
  std::exception_ptr exception_;
  std::vector<Evidence> evidence_;
  LaunchAccesses accesses_;
  Counters counters_;
};

}  // namespace reduction::emulated
