#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "emulated/run/block.hpp"

namespace __emulated {

/// What the calling host thread runs blocks with. It is kept from launch to launch, as much of it as most launches need.
class BlockPool {
 public:
  static BlockPool& local();

  /// For a block of so many threads. Throws std::bad_alloc, or std::system_error where the host has no room for their stacks.
  std::unique_ptr<Block> take(unsigned threads);
  void give_back(std::unique_ptr<Block> block) { free_.push_back(std::move(block)); }

  /// The launch has ended.
  void trim();

 private:
  std::size_t made_ = 0;  ///< blocks that there are
  std::vector<std::unique_ptr<Block>> free_;
};

}  // namespace __emulated
