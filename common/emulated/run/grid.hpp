#pragma once
#include <chrono>
#include <cstddef>
#include <exception>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "emulated/findings/report.hpp"
#include "emulated/order/grid_races.hpp"
#include "emulated/run/execution_configuration.hpp"
#include "emulated/run/launch.hpp"
#include "emulated/run/resident_blocks.hpp"
#include "emulated/run/schedule.hpp"

namespace __emulated {

/// How the device runs a grid, apart from what `<<<...>>>` says.
struct GridSettings {
  Schedule schedule;
  bool instrumented = true;    ///< whether accesses are counted and checked,
  bool counts_places = false;  ///< and counted for each place in the kernel, too
  bool ends_at_fault = true;   ///< whether blocks above a faulty one are left out
  std::chrono::nanoseconds loop_limit = std::chrono::seconds{10};  ///< for a loop that seems endless
};

/// What a block has done, and what it has done wrong.
struct BlockOutcome {
  Counters counters;
  std::vector<FaultRecord> faults;
  std::exception_ptr exception;  ///< what a thread of the kernel has thrown
};

/// One launch: has host threads run its blocks, and gathers what they did.
class Grid {
 public:
  Grid(const ExecutionConfiguration& of_grid, const KernelCall& of_kernel, const GridSettings& of_launch,
       std::size_t of_number, std::size_t of_shared_bytes, BlockTrace* of_block, unsigned host_threads);
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  ~Grid();

  /// Runs blocks on the calling host thread as long as there are any.
  void work();

  /// Adds what a thread does that is no fault, once for each place: of the lowest block.
  void note(FaultRecord note);

  /// Returns what all blocks did, with the faults of the lowest block that failed. Throws what that one has thrown.
  LaunchResult result() const;

  const ExecutionConfiguration configuration;
  const KernelCall kernel;
  const GridSettings settings;
  const std::size_t number;               ///< of the launch
  const std::size_t most_shared_bytes;    ///< of a block, static and dynamic ones
  BlockTrace* const trace;                ///< of one of the blocks, or nullptr
  const std::span<const std::byte> code;  ///< of the program, or library, that has the kernel
  GridRaces races;
  ResidentBlocks blocks;

 private:
  void fail(std::size_t block, BlockOutcome outcome);

  std::mutex mutex_;
  std::size_t lowest_failure_;
  BlockOutcome failure_;
  std::map<std::size_t, std::vector<FaultRecord>> faults_;  ///< of blocks, where the others go on
  std::map<const void*, FaultRecord> notes_;                ///< by call site
  Counters counters_;
  PlaceCounts places_;
};

}  // namespace __emulated
