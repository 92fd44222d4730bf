#include "emulated/run/block_pool.hpp"

#include <unistd.h>

#include <algorithm>

#include "emulated/run/device.hpp"

namespace __emulated {
namespace {

/// Of all blocks that are kept, together.
constexpr std::size_t most_kept_threads = 4096;

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
    const unsigned whole_warps = (threads + warp_size - 1) / warp_size * warp_size;
    auto block = std::make_unique<Block>(made_ == 0 ? properties().threads_per_block : whole_warps);
    ++made_;
    return block;
  }
  std::unique_ptr<Block> block = std::move(*last);
  free_.erase(std::next(last).base());
  return block;
}

void BlockPool::trim() {
  std::size_t threads = 0;
  made_ -= std::erase_if(free_, [&](const std::unique_ptr<Block>& block) {
    threads += block->most_threads();
    return threads > most_kept_threads;
  });
}

}  // namespace __emulated
