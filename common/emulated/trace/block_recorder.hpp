#pragma once
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "emulated/count/warp_instructions.hpp"
#include "emulated/run/observed.hpp"
#include "emulated/trace/trace.hpp"

namespace __emulated {

/// Writes down what a block does. Each thread says what it does when it does it; which of it is one event of a warp is
/// known when the warp's instructions are counted.
class BlockRecorder {
 public:
  BlockRecorder(BlockTrace& trace, unsigned threads);

  /// The running thread accesses memory next. \param word  of shared memory or of the buffer.
  void access(unsigned thread, EventKind kind, const Access& access, std::ptrdiff_t word,
              const Buffer* buffer);

  /// Bytes come to shared memory, from its `word` on, that the running thread has waited for.
  void bulk_copy(unsigned thread, const void* call_site, std::ptrdiff_t word,
                 std::span<const std::byte> bytes);

  /// The running thread is about to access memory, or to fail to.
  void begin_access(unsigned thread, const Access& access);

  /// The running thread calls the device again, or may lose its turn: what it accessed last has happened.
  void settle(unsigned thread);

  /// The same; it is to meet other lanes of its warp.
  void meet(unsigned thread, const void* call_site);

  void fence(unsigned thread, const void* call_site);
  void exit(unsigned thread);

  /// \param exchanges  of the warp's lanes: what each brings and gets.
  void warp_sync(const WarpSync& met, std::span<const LaneExchange> exchanges);

  /// The warp's accesses since the last call have been counted as these requests, then it has come to an end.
  void request(unsigned warp, const CountedRequest& request);
  void end_warp_interval(unsigned warp);

  /// All threads pass a barrier of the block, or the block ends.
  void block_sync(const void* call_site);
  void end_block(const Counters& counters, const SharedMemory& memory);

  /// Whether the block has done more than a trace holds.
  bool is_full() const { return trace_.truncated; }

 private:
  /// What a thread did, of which an event is made with other lanes.
  struct Action {
    EventKind kind;
    const void* call_site;
    const std::byte* address;
    unsigned bytes;
    const Buffer* buffer;
    std::size_t event;  ///< in the warp's events of this interval, once it is known
    bool may_be_late;   ///< a store that had not happened when the thread was about to load
    LaneEvent lane;
  };

  struct Thread {
    std::vector<Action> actions;        ///< since the warp's instructions were counted
    std::vector<std::uint32_t> visits;  ///< which of these are accesses that are counted
    std::size_t pending = 0;            ///< so many of the last ones are accesses that have not happened yet
    const void* met_at = nullptr;       ///< where it has last met other lanes,
    Activation activation;              ///< and what was in that function
  };

  struct Warp {
    std::vector<Event> unordered;  ///< since its instructions were counted
    std::vector<Event> events;     ///< since the block's last barrier
  };

  Action* add(unsigned thread, EventKind kind, const void* call_site);
  void group_the_rest(unsigned warp);
  void put_in_order(unsigned warp);
  void put_late_stores_behind(std::vector<Action>& actions) const;
  static void note_late_stores(Thread& thread);
  void merge_warps();
  Event begun_event(const Action& action, unsigned warp);
  void put(std::size_t event, unsigned lane, Action& action, Warp& warp);
  unsigned lanes_of_warp(unsigned warp) const;
  std::size_t buffer_number(const Buffer& buffer);
  void begin_where_used(std::size_t buffer);

  BlockTrace& trace_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<const Buffer*> buffers_;
  std::set<const void*>
      late_stores_;  ///< places at which what is stored is loaded after the device hears of the store
  std::size_t actions_ = 0;
};

}  // namespace __emulated
