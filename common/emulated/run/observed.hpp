#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "emulated/memory/memory.hpp"
#include "emulated/run/lanes.hpp"

/// \file
/// What counting, order and trace are told of a block.

namespace __emulated {

/// What lanes of a warp, or all threads of a block, do together.
enum class EventKind : unsigned char {
  shared_load,
  shared_store,
  global_load,
  global_store,
  shared_copy,  ///< what an asynchronous copy stores,
  bulk_copy,    ///< and one in bulk
  shared_atomic,
  global_atomic,
  shuffle,
  vote,  ///< or a reduction of a warp
  block_barrier,
  warp_barrier,
  fence,
  exit  ///< the lanes leave the kernel
};

constexpr bool is_shared(EventKind kind) {
  return kind == EventKind::shared_load || kind == EventKind::shared_store ||
         kind == EventKind::shared_copy || kind == EventKind::bulk_copy || kind == EventKind::shared_atomic;
}
constexpr bool is_load(EventKind kind) {
  return kind == EventKind::shared_load || kind == EventKind::global_load;
}
constexpr bool is_store(EventKind kind) {
  return kind == EventKind::shared_store || kind == EventKind::global_store || kind == EventKind::shared_copy;
}
constexpr bool is_atomic(EventKind kind) {
  return kind == EventKind::shared_atomic || kind == EventKind::global_atomic;
}
constexpr bool is_access(EventKind kind) { return kind < EventKind::shuffle; }

/// One access of one thread to shared memory, or to a buffer in global memory. It is passed by value, for most of it stays in
/// registers then.
struct ObservedAccess {
  const Access& access;
  unsigned thread;
  bool is_shared;
  Buffer* buffer;  ///< of global memory
  std::uintptr_t
      position;  ///< as banks, or sectors, count it: from the beginning of shared memory, or the address
  std::uint16_t chain;  ///< the number of the calls that lead to its function

  bool is_atomic() const { return access.operation == Operation::atomic; }
  EventKind kind() const {
    if (is_atomic()) return is_shared ? EventKind::shared_atomic : EventKind::global_atomic;
    const bool loads = access.operation == Operation::load;
    if (access.is_copied) return EventKind::shared_copy;
    if (is_shared) return loads ? EventKind::shared_load : EventKind::shared_store;
    return loads ? EventKind::global_load : EventKind::global_store;
  }
  /// The number of the 4-byte word that holds it, in shared memory or the buffer.
  std::ptrdiff_t word() const {
    return is_shared ? static_cast<std::ptrdiff_t>(position / word_bytes) : buffer->word_of(access.address);
  }
};

/// What a lane brings to a shuffle or a vote, and gets there.
struct LaneExchange {
  unsigned source_lane = 0;  ///< whose value it asks for in a shuffle
  std::size_t bytes = 0;     ///< that it brings, and gets
  alignas(largest_access) std::array<std::byte, largest_access> brought{};
  alignas(largest_access) std::array<std::byte, largest_access> received{};
};

/// Lanes of a warp pass a barrier, a shuffle or a vote together.
struct WarpSync {
  EventKind kind;
  unsigned warp;
  unsigned group;           ///< the lanes
  unsigned mask;            ///< that they have passed
  unsigned lanes_of_block;  ///< the warp's lanes that the block has
  std::size_t bytes;        ///< that each lane gets
  const void* call_site;    ///< of one of them

  /// Whether all lanes that are still in the kernel have met.
  bool is_of_whole_warp() const { return mask == lanes_of_block; }
};

/// What one shuffle instruction moves for each lane is 4 bytes: larger values take several.
constexpr std::size_t shuffles_for(std::size_t bytes) { return (bytes + 3) / 4; }

}  // namespace __emulated
