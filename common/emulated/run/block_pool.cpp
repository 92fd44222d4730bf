#include "emulated/run/block_pool.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "emulated/run/device.hpp"
#include "emulated/run/host_threads.hpp"
#include "emulated/run/lanes.hpp"

namespace __emulated {
namespace {

/// What one takes, and what each of its threads touches, of whose stack most is never used.
constexpr std::size_t addresses_of_block = std::size_t{4} << 20;
constexpr std::size_t bytes_of_block = std::size_t{512} << 10;
constexpr std::size_t bytes_of_thread = std::size_t{6} << 10;

}  // namespace

BlockPool& BlockPool::local() {
  static thread_local std::unique_ptr<BlockPool> pool;
  if (pool != nullptr) return *pool;
  if (getpid() != gettid()) return *(pool = std::make_unique<BlockPool>());
  static BlockPool& of_main_thread = *std::make_unique<BlockPool>().release();  // to the very end
  return of_main_thread;
}

std::unique_ptr<Block> BlockPool::take(unsigned threads) {
  const auto fits = [&](const std::unique_ptr<Block>& block) { return block->most_threads() >= threads; };
  const auto last = std::find_if(free_.rbegin(), free_.rend(), fits);
  // Most launches have one block at a time: the first serves all of them.
  if (last == free_.rend()) {
    auto block =
        std::make_unique<Block>(made_ == 0 ? properties().threads_per_block : in_whole_warps(threads));
    most_taken_ = std::max(most_taken_, ++made_ - free_.size());
    return block;
  }
  std::unique_ptr<Block> block = std::move(*last);
  free_.erase(std::next(last).base());
  most_taken_ = std::max(most_taken_, made_ - free_.size());
  return block;
}

std::size_t BlockPool::room(unsigned threads) const {
  const std::size_t lanes = in_whole_warps(threads);
  const std::size_t by_addresses =
      available_address_space() / (addresses_of_block + lanes * Scheduler::stack_bytes);
  const std::size_t by_memory = available_memory() / (bytes_of_block + lanes * bytes_of_thread);
  return free_.size() + std::min(by_addresses, by_memory);
}

void BlockPool::trim() {
  // Those that were in use are behind the others.
  const std::size_t kept = std::min(free_.size(), std::exchange(most_taken_, 0));
  free_.erase(free_.begin(), free_.end() - static_cast<std::ptrdiff_t>(kept));
  made_ = kept;
}

}  // namespace __emulated
