#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulated/run/lanes.hpp"

namespace __emulated {

/// A moment in the life of a block, from 1.
using Moment = std::uint32_t;

/// Which accesses of a block somebody knows of: each thread's before a moment. A vector clock that has a moment for the whole
/// block, and one for each lane of the warps of which more is known.
class Clock {
 public:
  bool knows(unsigned thread, Moment moment) const {
    if (moment < all_before_) return true;
    const Row* const row = find(thread / warp_size);
    return row != nullptr && moment < row->before[thread % warp_size];
  }

  /// Whether it knows all that the other one knows.
  bool includes(const Clock& other) const;

  /// Knows what the other one knows, too.
  void join(const Clock& other);

  void learn_all_before(Moment moment) { all_before_ = all_before_ > moment ? all_before_ : moment; }
  void learn(unsigned thread, Moment before);

 private:
  struct Row {
    unsigned warp;
    std::array<Moment, warp_size> before;  ///< of each lane
  };

  const Row* find(unsigned warp) const;
  Row& row_of(unsigned warp);

  Moment all_before_ = 0;
  std::vector<Row> rows_;
};

/// A clock that several threads have come to know; nullptr where nothing is known.
using SharedClock = std::shared_ptr<const Clock>;

/// Adds what the other one knows.
void merge(SharedClock& clock, const SharedClock& other);

/// What is known of the blocks of a launch: of each a clock. Copies share what is the same in them: it is a tree whose
/// branches are the octal digits of a block's number, the last one first.
class GridClock {
 public:
  explicit operator bool() const { return root_ != nullptr; }
  bool operator==(const GridClock&) const = default;  ///< of the same tree

  bool knows(std::size_t block, unsigned thread, Moment moment) const {
    const Clock* const known = of(block).get();
    return known != nullptr && known->knows(thread, moment);
  }
  SharedClock of(std::size_t block) const;
  void learn(std::size_t block, const SharedClock& clock);
  void join(const GridClock& other) { root_ = joined(root_, other.root_); }

 private:
  struct Node;
  using Tree = std::shared_ptr<const Node>;
  struct Node {
    SharedClock clock;  ///< of the block whose digits end here
    std::array<Tree, 8> branches;

    bool operator==(const Node&) const = default;
  };

  static Tree joined(const Tree& one, const Tree& other);
  static Tree with(const Tree& tree, std::size_t digits, const SharedClock& clock);

  Tree root_;
};

}  // namespace __emulated
