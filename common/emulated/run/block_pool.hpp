#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "emulated/run/block.hpp"

namespace __emulated {

/// What the calling host thread runs blocks with. As much of it is kept as the last launch has needed.
class BlockPool {
 public:
  static BlockPool& local();

  /// For a block of so many threads. Throws std::bad_alloc, or std::system_error where the host has no room for their stacks.
  std::unique_ptr<Block> take(unsigned threads);
  void give_back(std::unique_ptr<Block> block) { free_.push_back(std::move(block)); }

  /// How many blocks of so many threads the host has memory for.
  std::size_t room(unsigned threads) const;

  /// The launch has ended.
  void trim();

 private:
  std::size_t made_ = 0;        ///< blocks that there are,
  std::size_t most_taken_ = 0;  ///< and of these at once in this launch
  std::vector<std::unique_ptr<Block>> free_;
};

}  // namespace __emulated
