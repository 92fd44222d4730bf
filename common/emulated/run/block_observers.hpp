#pragma once
#include <cstddef>
#include <optional>
#include <span>

#include "emulated/count/block_counts.hpp"
#include "emulated/order/block_races.hpp"
#include "emulated/run/grid.hpp"
#include "emulated/run/observed.hpp"
#include "emulated/trace/block_recorder.hpp"

namespace __emulated {

/// Those who look on while a block runs: order, trace and counting, each only in a launch that asks for it. They are told of
/// each access before it happens, and of each meeting of threads once it is complete.
class BlockObservers {
 public:
  /// \param memory  the block's; \param faults  where order adds what it sees. Both outlive this. \param most_threads  of a
  /// block.
  BlockObservers(const SharedMemory& memory, FaultLog& faults, unsigned most_threads)
      : memory_{memory}, faults_{faults}, most_threads_{most_threads} {}

  void begin_block(Grid& grid, std::size_t block, unsigned threads, PlaceCounts* places) {
    is_on_ = grid.settings.instrumented;
    threads_ = threads;
    recorder_.reset();
    if (!is_on_) return;
    if (!races_) {
      races_.emplace(memory_, faults_, most_threads_);
      counts_.emplace(most_threads_);
    }
    races_->begin_block(block, threads, grid.races);
    if (grid.trace != nullptr && grid.trace->block == block) recorder_.emplace(*grid.trace, threads);
    counts_->begin_block(threads, places, recorder_ ? &*recorder_ : nullptr);
  }

  /// Whether accesses are to be told.
  bool are_there() const { return is_on_; }

  /// A thread accesses memory. Throws where a block makes more kinds of accesses than can be followed.
  void access(ObservedAccess seen) {
    order(seen);
    if (seen.is_atomic()) return;
    if (recorder_) record(seen);
    counts_->access(seen);
  }
  /// The same, of which only the order matters.
  void order(ObservedAccess seen) {
    if (seen.is_shared) {
      races_->check<true>(seen.access, nullptr, seen.thread);
    } else {
      races_->check<false>(seen.access, seen.buffer, seen.thread);
    }
  }
  /// An asynchronous copy of a thread, which order() has been told of, or bytes of one in bulk.
  void copied(ObservedAccess seen) {
    if (recorder_) record(seen);
    counts_->access(seen);
  }
  void copied_in_bulk(unsigned thread, const void* call_site, std::size_t offset,
                      std::span<const std::byte> bytes) {
    if (recorder_)
      recorder_->bulk_copy(thread, call_site, static_cast<std::ptrdiff_t>(offset / word_bytes), bytes);
    counts_->copied_in_bulk(bytes.size());
  }
  /// A thread looks whether a barrier object has gone on.
  void poll() { counts_->poll(); }
  unsigned copier(unsigned number, unsigned thread) { return races_->copier(number, thread); }
  void arrive(unsigned thread, HappensBefore::Knowledge& told) { races_->order().arrive(thread, told); }
  void pass(unsigned thread, const HappensBefore::Knowledge& told) { races_->order().pass(thread, told); }
  /// It is about to update memory atomically, which access() has been told. \param counted  as what.
  void atomic(ObservedAccess seen, bool stores, Operation counted) {
    races_->atomic(seen.thread, {seen.access.address, seen.access.bytes, !seen.is_shared, stores});
    Access access = seen.access;
    access.operation = counted;
    const ObservedAccess as{access, seen.thread, seen.is_shared, seen.buffer, seen.position, seen.chain};
    if (recorder_) record(as);
    as.is_atomic() ? counts_->atomic() : counts_->access(as);
  }
  /// It is about to make an access that ends the block.
  void last_access(unsigned thread, const Access& access) {
    if (recorder_) recorder_->begin_access(thread, access);
  }
  /// It calls the device: what it accessed last has happened.
  void call(unsigned thread) {
    if (recorder_) recorder_->settle(thread);
  }
  /// The same; it is to meet other lanes of its warp.
  void meet(unsigned thread, const void* call_site) {
    if (recorder_) recorder_->meet(thread, call_site);
  }
  void fence(unsigned thread, FenceScope scope, const void* call_site) {
    if (is_on_) races_->order().fence(thread, scope);
    if (recorder_ && scope == FenceScope::device) recorder_->fence(thread, call_site);
  }
  void exit(unsigned thread) {
    if (recorder_) recorder_->exit(thread);
  }
  /// \param exchanges  of the warp's lanes.
  void warp_sync(const WarpSync& met, std::span<const LaneExchange> exchanges) {
    if (is_on_ && met.kind == EventKind::warp_barrier)
      races_->order().warp_barrier(met.warp, met.group, met.lanes_of_block);
    if (recorder_) recorder_->warp_sync(met, exchanges);
    if (is_on_) counts_->warp_sync(met);
  }
  /// These threads have passed a barrier of a part of the block, which warp_sync() has been told of for each warp.
  void named_sync(std::span<const unsigned> threads) {
    if (is_on_) races_->order().group_barrier(threads);
  }
  /// All threads of the grid have met: that is a barrier of each block.
  void grid_sync(const void* call_site) {
    if (is_on_) counts_->block_sync();
    if (is_on_) races_->grid_barrier();
    if (recorder_) recorder_->block_sync(call_site);
  }
  /// Others go on before this block.
  void give_way() {
    if (is_on_) races_->give_way();
  }
  void block_sync(const void* call_site) {
    if (is_on_) counts_->block_sync();
    if (is_on_) races_->order().block_barrier();
    if (recorder_) recorder_->block_sync(call_site);
  }

  bool may_count_early(unsigned thread) const { return is_on_ && counts_->may_count_early(thread); }
  void count_early(unsigned thread, unsigned going_on) { counts_->count_early(thread, going_on); }

  /// \param is_complete  whether all threads have left the kernel. Returns what was counted.
  Counters end_block(bool is_complete) {
    if (!is_on_) return {.blocks = 1, .threads = threads_};
    const Counters counters = counts_->end_block(is_complete);
    races_->end_block();
    if (recorder_) recorder_->end_block(counters, memory_);
    recorder_.reset();
    return counters;
  }

 private:
  void record(ObservedAccess seen) {
    recorder_->access(seen.thread, seen.kind(), seen.access, seen.word(),
                      seen.is_shared ? nullptr : seen.buffer);
  }

  const SharedMemory& memory_;
  FaultLog& faults_;
  const unsigned most_threads_;
  unsigned threads_ = 0;               ///< of the block
  bool is_on_ = false;                 ///< whether the launch is instrumented
  std::optional<BlockRaces> races_;    ///< both are kept from block to block,
  std::optional<BlockCounts> counts_;  ///< once a launch has asked for them
  std::optional<BlockRecorder> recorder_;
};

}  // namespace __emulated
