#pragma once
#include <chrono>
#include <cstddef>
#include <span>

#include "emulated/order/grid_races.hpp"
#include "emulated/run/block_turns.hpp"
#include "emulated/run/execution_configuration.hpp"
#include "emulated/run/schedule.hpp"

namespace __emulated {

struct BlockTrace;

/// How the device runs a grid, apart from what `<<<...>>>` says.
struct GridSettings {
  Schedule schedule;
  bool instrumented = true;  ///< whether accesses are counted and checked
  std::chrono::nanoseconds loop_limit = std::chrono::seconds{10};  ///< for a loop that seems endless
};

/// What the blocks of a grid have in common.
struct GridContext {
  const ExecutionConfiguration configuration;
  const KernelCall kernel;
  const GridSettings settings;
  const std::size_t number;               ///< of the launch
  const std::size_t most_shared_bytes;    ///< of a block, static and dynamic ones
  BlockTrace* const trace;                ///< of one of the blocks, or nullptr
  const std::span<const std::byte> code;  ///< of the program, or library, that has the kernel
  BlockTurns turns;
  GridRaces races{};
};

}  // namespace __emulated
