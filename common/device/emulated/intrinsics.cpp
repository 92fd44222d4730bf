#include "device/emulated/intrinsics.hpp"

#include "device/emulated/multiprocessor.hpp"

namespace reduction::emulated {

bool block_barrier(SourceLine where, bool predicate) {
  return Multiprocessor::running()->block_barrier(where, predicate);
}

void warp_barrier(unsigned mask, SourceLine where) { Multiprocessor::running()->warp_barrier(mask, where); }

void shuffle(Shuffle kind, unsigned mask, int operand, int width, void* value, std::size_t bytes,
             SourceLine where) {
  Multiprocessor::running()->shuffle(kind, mask, operand, width, value, bytes, where);
}

void memory_fence() { Multiprocessor::running()->fence(); }

DynamicSharedMemory dynamic_shared_memory() {
  return DynamicSharedMemory{Multiprocessor::running()->shared_memory()};
}

void begin_atomic(const void* address, std::size_t bytes) {
  Multiprocessor::running()->begin_atomic(address, bytes, __builtin_return_address(0));
}

}  // namespace reduction::emulated
