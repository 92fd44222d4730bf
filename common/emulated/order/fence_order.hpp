#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "emulated/order/happens_before.hpp"
#include "emulated/order/numbering.hpp"
#include "emulated/run/lanes.hpp"

namespace __emulated {

/// Which blocks have released what they did on which words of global memory, and had acquired which before. Only a block
/// whose turn it is to run atomics calls this, and it does so in the order of blocks.
class GridOrder {
 public:
  /// A set of words, by its number.
  using WordSet = unsigned;
  static constexpr WordSet none = 0;

  GridOrder() { sets_.number_of({}); }

  /// \param words  ascending.
  WordSet number_of(const std::vector<const std::byte*>& words) { return sets_.number_of(words); }
  WordSet with(WordSet set, const std::byte* word);
  WordSet joined(std::vector<WordSet> sets);  ///< numbers the union of all, and none between

  /// An atomic of the block on this word has followed a fence, before which it had acquired these.
  void release(const std::byte* word, std::size_t block, WordSet acquired);

  /// Whether a block below this one has released anything on the word.
  bool is_released_below(const std::byte* word, std::size_t block) const;

  /// Whether what block `lower` has released on some words is known in block `higher` above it, which has acquired others:
  /// on the same word, or through blocks between the two.
  bool ordered(WordSet released, std::size_t lower, WordSet acquired, std::size_t higher) const;

 private:
  struct Release {
    std::size_t block;
    WordSet acquired;
  };

  bool share_a_word(WordSet one, WordSet other) const;

  Numbering<std::vector<const std::byte*>> sets_;
  /// By word, blocks ascending: the first release, and those that pass on what the block had acquired elsewhere.
  std::unordered_map<const std::byte*, std::vector<Release>> releases_;
};

/// How far a fence reaches.
enum class FenceScope { block, device };

/// What is missing before other blocks may know of an access: a fence and then an atomic tell of it.
enum class Untold : unsigned char {
  no,
  lacks_fence,    ///< an atomic may follow it, and no fence is between
  lacks_barrier,  ///< an atomic of another thread, which has not met this one
  lacks_atomic,   ///< a fence follows it, and no atomic
  lacks_both
};

/// What orders threads beside barriers. A fence and then an atomic operation *release* on the operation's word what the
/// thread knew of at the fence; a later atomic operation on the same word *acquires* it. A barrier makes the fences of each
/// thread that it joins those of all. Between blocks the fence has to be one of the device, and the word in global memory.
class FenceOrder {
 public:
  /// \param order  the block's, which outlives this.
  FenceOrder(HappensBefore& order, unsigned threads)
      : order_{order}, threads_(threads), at_atomic_(threads) {}

  void begin_block(std::size_t block, GridOrder& grid);
  void fence(unsigned thread, FenceScope scope);
  void block_barrier();

  /// These threads know from now on what any of them knows, and share their fences.
  void meet(std::span<const unsigned> threads);

  /// An atomic operation, just when it happens.
  struct Update {
    const std::byte* address;
    std::size_t bytes;
    bool is_global;
    bool stores;  ///< unlike a compare-and-swap that finds another value
  };
  void atomic(unsigned thread, const Update& update);

  /// Whether the thread knows of any atomic of its block on global memory,
  bool is_acquired(unsigned thread) const { return threads_[thread].learned.acquired; }
  /// and on which words it has acquired what lower blocks have released.
  GridOrder::WordSet acquired(unsigned thread) const { return threads_[thread].learned.lower; }

  /// Whether the block has put a fence before other blocks,
  bool has_device_fences() const { return has_device_fences_; }
  /// on which words it has released what the thread did at that moment,
  GridOrder::WordSet released(unsigned thread, Moment moment) const;
  /// and what is missing where these are none. Only at the end of a block. \param knew  what is_acquired() said then.
  Untold untold(unsigned thread, Moment moment, bool knew) const;

 private:
  /// What is known of the block itself, and of lower ones.
  struct Knowledge {
    SharedClock clock;  ///< nullptr where nothing is
    GridOrder::WordSet lower = GridOrder::none;
    bool acquired = false;
  };

  struct Thread {
    Knowledge at_block_fence;   ///< the last one since a block barrier; one of the device is one, too
    Knowledge at_device_fence;  ///< the same
    Knowledge learned;          ///< by atomics: now, without a clock, which HappensBefore has
  };

  /// The last atomic of a thread that may release something for other blocks.
  struct LastAtomic {
    unsigned thread = 0;
    Moment barrier = 0;       ///< the block's last one before it,
    Moment warp_barrier = 0;  ///< the last one of the block or the warp,
    Moment next_barrier = 0;  ///< and the block's first one after it
  };
  static constexpr Moment never = ~Moment{0};

  void note_atomic(unsigned thread);

  /// Adds what any of these threads has in a part of it.
  void join(Knowledge& knowledge, const std::vector<Thread*>& threads, Knowledge Thread::*part) const;
  const Knowledge& to_release(const Thread& thread) const {
    return thread.at_device_fence.clock ? thread.at_device_fence : carried_;
  }

  HappensBefore& order_;
  GridOrder* grid_ = nullptr;
  std::size_t block_ = 0;
  std::vector<Thread> threads_;
  std::unordered_map<const std::byte*, Knowledge> words_;  ///< released in the block since its last barrier
  std::unordered_map<const std::byte*, SharedClock> released_;  ///< for other blocks
  Knowledge carried_;  ///< what all threads' fences of the device have covered before the last block barrier
  Clock fenced_;       ///< what any thread's fences of the device have covered
  std::vector<Moment> at_atomic_;  ///< of each thread, at its last atomic that may release something,
  std::array<LastAtomic, 2> last_atomics_{};  ///< the latest of them, and the latest of another thread
  bool has_device_fences_ = false;
  bool has_fences_ = false;   ///< since the last block barrier
  bool has_learned_ = false;  ///< whether threads have since come to know of other blocks
  bool is_used_ = false;      ///< by any thread of the block
};

}  // namespace __emulated
