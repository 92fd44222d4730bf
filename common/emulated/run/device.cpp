#include "emulated/run/device.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "emulated/run/lanes.hpp"

namespace __emulated {
namespace {

/// Blocks that a grid may have in y and in z: CUDA C++ Programming Guide, "Compute Capabilities".
constexpr std::size_t most_blocks_in_y = 65535;

/// Threads that a block may have in z: the same table.
constexpr std::size_t most_threads_in_z = 64;

}  // namespace

const Properties& properties() {
  static const Properties h200{.sms = 132,
                               .threads_per_sm = 2048,
                               .blocks_per_sm = 32,
                               .threads_per_block = 1024,
                               .grid_size = (std::size_t{1} << 31) - 1,
                               .shared_bytes_per_sm = std::size_t{228} << 10,
                               .default_shared_bytes = std::size_t{48} << 10,
                               .shared_bytes_per_block = std::size_t{227} << 10,
                               .reserved_shared_bytes = std::size_t{1} << 10};
  return h200;
}

void refuse_launch(const std::string& reason) {
  throw std::invalid_argument{"the emulated device cannot launch this: " + reason};
}

void require_at_most(std::size_t limit, std::size_t value, const char* what, const char* help) {
  if (value <= limit) return;
  refuse_launch(std::string{what} + " at most " + std::to_string(limit) + ", not " + std::to_string(value) +
                help);
}

void require_shared_memory(std::size_t limit, std::size_t bytes, const char* what, const char* help) try {
  require_at_most(limit, bytes, what, help);
} catch (const std::invalid_argument& refusal) {
  throw SharedMemoryTooLarge{refusal.what()};
}

void require_possible(const ExecutionConfiguration& configuration) {
  const auto& [grid, block, shared_bytes, stream, is_cooperative, is_counted] = configuration;
  const Properties& device = properties();
  if (count(grid) == 0) refuse_launch("a grid of no blocks");
  if (count(block) == 0) refuse_launch("a block of no threads");
  require_at_most(device.grid_size, grid.x, "a grid has blocks,");
  require_at_most(most_blocks_in_y, std::max(grid.y, grid.z), "a grid has blocks in y or z,");
  require_at_most(device.threads_per_block, count(block), "a block has threads,");
  require_at_most(most_threads_in_z, block.z, "a block has threads in z,");
  require_shared_memory(device.shared_bytes_per_block, shared_bytes, "a block has bytes of shared memory,");
  if (is_cooperative) {
    require_room(configuration, resident_blocks(static_cast<unsigned>(count(block)), shared_bytes),
                 "all of them are resident at once");
  }
}

void require_room(const ExecutionConfiguration& configuration, std::size_t room, const char* why) {
  const std::size_t blocks = count(configuration.grid);
  if (blocks <= room) return;
  throw GridTooLarge{
      "the emulated device cannot launch this: a cooperative grid of such blocks has blocks, at most " +
      std::to_string(room) + ", not " + std::to_string(blocks) + ": " + why +
      " (cudaErrorCooperativeLaunchTooLarge)"};
}

std::size_t resident_blocks(unsigned block, std::size_t shared_bytes) {
  require_possible({1, block, shared_bytes});
  const Properties& device = properties();
  const std::size_t by_threads = device.threads_per_sm / in_whole_warps(block);
  const std::size_t by_shared_memory =
      device.shared_bytes_per_sm / (shared_bytes + device.reserved_shared_bytes);
  return device.sms * std::min({by_threads, std::size_t{device.blocks_per_sm}, by_shared_memory});
}

}  // namespace __emulated
