#pragma once
#include <cstddef>

#include "device/emulated/source_line.hpp"

/// What a running thread asks of its block: the intrinsics of CUDA without their element types.
namespace reduction::emulated {

inline constexpr unsigned warp_size = 32;
inline constexpr std::size_t largest_access = 16;  ///< bytes of the widest access of one lane

/// Returns whether any thread of the block has brought a true `predicate`.
bool block_barrier(SourceLine where, bool predicate = false);
void warp_barrier(unsigned mask, SourceLine where);

/// From which lane a shuffle takes its value, relative to `operand`.
enum class Shuffle : unsigned char { indexed, up, down, exclusive_or };

/// Replaces the `bytes` bytes at `value` by those that the source lane brought.
void shuffle(Shuffle kind, unsigned mask, int operand, int width, void* value, std::size_t bytes,
             SourceLine where);

/// Lets a later atomic operation tell other blocks of what the calling thread has done so far.
void memory_fence();

/// The block's dynamic shared memory, aligned to 128 bytes, as a pointer to anything.
class DynamicSharedMemory {
 public:
  explicit DynamicSharedMemory(void* begin) : begin_{begin} {}
  template <typename T> operator T*() const { return static_cast<T*>(begin_); }

 private:
  void* begin_;
};
DynamicSharedMemory dynamic_shared_memory();

/// Holds the calling thread until no other block can run the atomic operation it is about to run, checks its
/// address and counts it. Atomics happen in the order of blocks: a floating-point sum does not depend on
/// chance.
[[gnu::noinline]] void begin_atomic(const void* address, std::size_t bytes);

}  // namespace reduction::emulated
