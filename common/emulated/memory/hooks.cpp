/// \file
/// What the compiler's instrumentation for races (-fsanitize=thread) calls before each access of a kernel to memory. The
/// sanitizer's own runtime is not linked: these functions take its place. (LLVM, compiler-rt, tsan_interface.h)

#include <cstdint>

#include "emulated/run/block.hpp"

// Where the sanitizer's runtime is linked for the host's code, kernels call these by names of their own (own_hooks.hpp).
#ifdef __SANITIZE_THREAD__
#define HOOK(name) emulated_##name
#else
#define HOOK(name) __tsan_##name
#endif

namespace {

using __emulated::Block;
using __emulated::Caller;
using __emulated::caller;
using __emulated::Operation;
using __emulated::word_bytes;

/// Outside of kernels it is the host that accesses memory.
[[gnu::always_inline]] inline void note(Operation operation, const void* address, std::size_t bytes,
                                        const Caller& from, bool goes_on = false,
                                        bool may_have_padding = false, bool is_volatile = false) {
  Block* const block = Block::running();
  if (block == nullptr) return;
  block->access({operation, static_cast<const std::byte*>(address), bytes, from.call_site, goes_on,
                 from.function, may_have_padding, is_volatile});
}

[[gnu::always_inline]] inline void note_volatile(Operation operation, const void* address, std::size_t bytes,
                                                 const Caller& from) {
  note(operation, address, bytes, from, false, false, true);
}

/// 16 bytes that are aligned to 8 at least: a GPU takes a struct that need not be aligned to more in halves.
[[gnu::always_inline]] inline void note_sixteen(Operation operation, const void* address,
                                                const Caller& from) {
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(address) % 16 != 8;
  if (is_aligned) return note(operation, address, 16, from, false, true);
  note(operation, address, 8, from, false, true);
  note(operation, static_cast<const std::byte*>(address) + 8, 8, from, true);
}

/// A struct, or a number that need not be aligned: a GPU accesses it in parts. How large they are follows from the type's
/// alignment, which is not known here. A size of up to 16 bytes mostly comes here if the type is aligned to 4 or fewer.
void note_range(Operation operation, const void* begin, std::size_t bytes, const Caller& from) {
  if (Block::running() == nullptr) return;
  const auto* address = static_cast<const std::byte*>(begin);
  const std::size_t widest = bytes > 16 && bytes % 8 == 0 ? 8 : word_bytes;
  while (bytes > 0) {
    std::size_t part = widest;
    while (part > bytes || reinterpret_cast<std::uintptr_t>(address) % part != 0)
      part /= 2;
    note(operation, address, part, from, address != begin, true);
    address += part;
    bytes -= part;
  }
}

}  // namespace

extern "C" {

void HOOK(read1)(void* address) { note(Operation::load, address, 1, caller()); }
void HOOK(read2)(void* address) { note(Operation::load, address, 2, caller()); }
void HOOK(read4)(void* address) { note(Operation::load, address, 4, caller()); }
void HOOK(read8)(void* address) { note(Operation::load, address, 8, caller()); }
void HOOK(read16)(void* address) { note_sixteen(Operation::load, address, caller()); }
void HOOK(unaligned_read2)(void* address) { note_range(Operation::load, address, 2, caller()); }
void HOOK(unaligned_read4)(void* address) { note_range(Operation::load, address, 4, caller()); }
void HOOK(unaligned_read8)(void* address) { note_range(Operation::load, address, 8, caller()); }
void HOOK(unaligned_read16)(void* address) { note_range(Operation::load, address, 16, caller()); }
void HOOK(read_range)(void* begin, std::size_t bytes) { note_range(Operation::load, begin, bytes, caller()); }
void HOOK(write1)(void* address) { note(Operation::store, address, 1, caller()); }
void HOOK(write2)(void* address) { note(Operation::store, address, 2, caller()); }
void HOOK(write4)(void* address) { note(Operation::store, address, 4, caller()); }
void HOOK(write8)(void* address) { note(Operation::store, address, 8, caller()); }
void HOOK(write16)(void* address) { note_sixteen(Operation::store, address, caller()); }
void HOOK(unaligned_write2)(void* address) { note_range(Operation::store, address, 2, caller()); }
void HOOK(unaligned_write4)(void* address) { note_range(Operation::store, address, 4, caller()); }
void HOOK(unaligned_write8)(void* address) { note_range(Operation::store, address, 8, caller()); }
void HOOK(unaligned_write16)(void* address) { note_range(Operation::store, address, 16, caller()); }
void HOOK(write_range)(void* begin, std::size_t bytes) {
  note_range(Operation::store, begin, bytes, caller());
}

// What the compiler takes for volatile: words, and no structs.
void HOOK(volatile_read1)(void* address) { note_volatile(Operation::load, address, 1, caller()); }
void HOOK(volatile_read2)(void* address) { note_volatile(Operation::load, address, 2, caller()); }
void HOOK(volatile_read4)(void* address) { note_volatile(Operation::load, address, 4, caller()); }
void HOOK(volatile_read8)(void* address) { note_volatile(Operation::load, address, 8, caller()); }
void HOOK(volatile_read16)(void* address) { note_volatile(Operation::load, address, 16, caller()); }
void HOOK(unaligned_volatile_read2)(void* address) { note_range(Operation::load, address, 2, caller()); }
void HOOK(unaligned_volatile_read4)(void* address) { note_range(Operation::load, address, 4, caller()); }
void HOOK(unaligned_volatile_read8)(void* address) { note_range(Operation::load, address, 8, caller()); }
void HOOK(unaligned_volatile_read16)(void* address) { note_range(Operation::load, address, 16, caller()); }
void HOOK(volatile_write1)(void* address) { note_volatile(Operation::store, address, 1, caller()); }
void HOOK(volatile_write2)(void* address) { note_volatile(Operation::store, address, 2, caller()); }
void HOOK(volatile_write4)(void* address) { note_volatile(Operation::store, address, 4, caller()); }
void HOOK(volatile_write8)(void* address) { note_volatile(Operation::store, address, 8, caller()); }
void HOOK(volatile_write16)(void* address) { note_volatile(Operation::store, address, 16, caller()); }
void HOOK(unaligned_volatile_write2)(void* address) { note_range(Operation::store, address, 2, caller()); }
void HOOK(unaligned_volatile_write4)(void* address) { note_range(Operation::store, address, 4, caller()); }
void HOOK(unaligned_volatile_write8)(void* address) { note_range(Operation::store, address, 8, caller()); }
void HOOK(unaligned_volatile_write16)(void* address) { note_range(Operation::store, address, 16, caller()); }

// Calls of the C library in a kernel. The linker takes these functions for the library's (--wrap).
void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __real_memset(void* to, int value, std::size_t bytes);

void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  note_range(Operation::load, from, bytes, caller());
  note_range(Operation::store, to, bytes, caller());
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  note_range(Operation::load, from, bytes, caller());
  note_range(Operation::store, to, bytes, caller());
  return __real_memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  note_range(Operation::store, to, bytes, caller());
  return __real_memset(to, value, bytes);
}

// How Clang copies structs from version 15 on; before, it called memcpy.
void* HOOK(memcpy)(void*, const void*, std::size_t) __attribute__((alias("__wrap_memcpy")));
void* HOOK(memmove)(void*, const void*, std::size_t) __attribute__((alias("__wrap_memmove")));
void* HOOK(memset)(void*, int, std::size_t) __attribute__((alias("__wrap_memset")));

#ifndef __SANITIZE_THREAD__

// std::atomic, which the host's code in a file with kernels may use. It is none of CUDA's, so that it is not followed.
#define HOST_ATOMIC(bits, T)                                                                              \
  T __tsan_atomic##bits##_load(const volatile T* a, int) { return __atomic_load_n(a, __ATOMIC_SEQ_CST); } \
  void __tsan_atomic##bits##_store(volatile T* a, T v, int) { __atomic_store_n(a, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_exchange(volatile T* a, T v, int) {                                             \
    return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                                       \
  T __tsan_atomic##bits##_fetch_add(volatile T* a, T v, int) {                                            \
    return __atomic_fetch_add(a, v, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                       \
  T __tsan_atomic##bits##_fetch_sub(volatile T* a, T v, int) {                                            \
    return __atomic_fetch_sub(a, v, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                       \
  T __tsan_atomic##bits##_fetch_and(volatile T* a, T v, int) {                                            \
    return __atomic_fetch_and(a, v, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                       \
  T __tsan_atomic##bits##_fetch_or(volatile T* a, T v, int) {                                             \
    return __atomic_fetch_or(a, v, __ATOMIC_SEQ_CST);                                                     \
  }                                                                                                       \
  T __tsan_atomic##bits##_fetch_xor(volatile T* a, T v, int) {                                            \
    return __atomic_fetch_xor(a, v, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                       \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* a, T* c, T v, int, int) {                 \
    return __atomic_compare_exchange_n(a, c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);               \
  }                                                                                                       \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* a, T* c, T v, int, int) {                   \
    return __atomic_compare_exchange_n(a, c, v, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                \
  }                                                                                                       \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* a, T c, T v, int, int) {                       \
    __atomic_compare_exchange_n(a, &c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                     \
    return c;                                                                                             \
  }
HOST_ATOMIC(8, std::uint8_t)
HOST_ATOMIC(16, std::uint16_t)
HOST_ATOMIC(32, std::uint32_t)
HOST_ATOMIC(64, std::uint64_t)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

// What else instrumented code calls. A kernel's accesses are all that is followed.
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void** pointer, void*) { note(Operation::store, pointer, sizeof(void*), caller()); }
void __tsan_vptr_read(void** pointer) { note(Operation::load, pointer, sizeof(void*), caller()); }
#endif

}  // extern "C"
