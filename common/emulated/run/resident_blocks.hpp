#pragma once
#include <algorithm>
#include <chrono>
#include <compare>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "emulated/run/polls.hpp"
#include "emulated/run/schedule.hpp"

namespace __emulated {

class Block;

/// Why a host thread has left a block.
enum class Halt {
  ended,   ///< or come to a fault
  asks,    ///< for the turn to run atomic operations
  pauses,  ///< to let others run
  waits,   ///< for what other blocks may do
  meets    ///< all others at the barrier of the grid
};

/// How the blocks of a launch share the device.
struct Residence {
  std::size_t blocks;                 ///< of the grid
  std::size_t at_a_time;              ///< that a host thread takes
  std::size_t most;                   ///< that the device holds
  std::size_t window;                 ///< that it holds if they do not wait, where they take turns,
  bool takes_turns;                   ///< all on one host thread
  Schedule schedule;                  ///< in which they do
  std::chrono::nanoseconds patience;  ///< with blocks that all wait, in time of the CPUs
};

/// The blocks of a launch that have begun, and which of them goes on. Each stays with the host thread that has begun it.
///
/// Where they do not take turns, the lowest that can goes first, and a block runs atomic operations on global memory only once
/// each lower one has ended or waits: these happen in one order on any number of host threads.
class ResidentBlocks {
 public:
  explicit ResidentBlocks(const Residence& residence)
      : residence_{residence}, end_{residence.blocks}, random_{residence.schedule.seed} {}

  /// A host thread, and what it has.
  struct Host {
    std::size_t first = 0;  ///< of the blocks that it has taken,
    std::size_t next = 0;   ///< the first that has not begun,
    std::size_t end = 0;
    std::map<std::size_t, Block*> blocks{};  ///< that have begun,
    std::set<std::size_t> ready{};           ///< can go on,
    std::set<std::size_t> asking{};          ///< or ask for the turn
    std::size_t last = 0;                    ///< that ran
    std::size_t seen_changes = 0;
    bool is_running = false;
  };

  enum class What {
    begins,
    goes_on,
    is_dropped,  ///< as the launch has failed
    is_blamed,   ///< for a wait that nothing ends,
    is_doubted   ///< or that has taken too long
  };
  struct Step {
    What what;
    std::size_t block;
    unsigned looks =
        0;  ///< by which each thread that waits is to make sure that it has to; 0: only where it need not any more
  };

  /// Waits until there is something to do; nothing where there will be none.
  std::optional<Step> next(Host& host);

  /// What has become of the step's block. Returns whether it is the last that all others have waited for at their barrier.
  bool halted(Host& host, std::size_t number, Block* block, Halt halt);

  /// All blocks have met, and go on.
  void pass_barrier();

  /// Whether the block, which is running, has the turn until it has ended or waits.
  bool take_turn(std::size_t number);

  /// The block has failed. \param ends_launch  whether higher ones are of no interest any more.
  void fail(std::size_t number, bool ends_launch);
  /// No block begins any more.
  void stop();

  /// Whether other blocks have not ended.
  bool has_others() const;
  /// Whether the device holds all blocks that it can, and more are to come.
  bool is_full() const;

  const Residence& residence() const { return residence_; }

 private:
  /// What blocks wait to see another value of.
  struct Word {
    const std::byte* address;
    std::size_t bytes;
    std::uint64_t value;

    auto operator<=>(const Word&) const = default;
  };
  struct Waiting {
    Host* host;
    std::vector<Word> words;
  };

  std::optional<Step> choice(Host& host);
  std::size_t next_in_turn(const std::set<std::size_t>& ready, std::size_t last);
  Step begun(Host& host);
  bool can_take_turn(std::size_t number) const;
  bool is_anything_left(const Host& host) const {
    return !is_stopped_ && (next_ < end_ || host.next < std::min(host.end, end_));
  }
  void note_wait(Host& host, std::size_t number, const Block& block);
  void wake(std::size_t number);
  void wake_due();
  void note_progress();
  void begin_round();

  const Residence residence_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t changes_ = 0;
  std::set<Host*> idle_;     ///< host threads that have nothing to do for now
  std::size_t running_ = 0;  ///< the others
  std::size_t next_ = 0;     ///< the first block that no host thread has taken
  std::size_t end_;          ///< the lowest block that has failed, or the number of blocks
  bool has_failed_ = false;
  bool is_stopped_ = false;
  std::size_t resident_ = 0;
  std::size_t ended_ = 0;
  std::size_t met_ = 0;  ///< blocks that wait at the barrier of the grid
  std::set<std::size_t>
      taken_;  ///< the first ones of blocks taken together that have not all ended or waited yet
  std::set<std::size_t> woken_;        ///< blocks that have waited, and do not any more
  std::optional<std::size_t> holder_;  ///< of the turn
  std::map<std::size_t, Waiting> waiting_;
  std::map<Word, std::set<std::size_t>> words_;  ///< with those that wait for it
  std::uint64_t random_;

  // While all wait, they go on in rounds, in case they do not wait for ever.
  std::size_t rounds_ = 0;
  bool is_round_new_ = false;  ///< whether a block has come to wait as it never has in these rounds
  std::chrono::nanoseconds waits_since_{};
  std::unordered_set<std::uint64_t> known_;
  std::optional<Step> blamed_;
  bool drops_waiting_ = false;
};

}  // namespace __emulated
