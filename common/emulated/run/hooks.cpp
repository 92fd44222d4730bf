/// \file
/// What compiled kernels call on the device's behalf: before each access to memory, as the compiler's instrumentation for races
/// (-fsanitize=thread) has it, and in place of functions of the C library. The sanitizer's own runtime is not linked: these
/// functions take its place. (LLVM, compiler-rt, tsan_interface.h)

#include <cstdint>

#include "emulated/memory/closed_memory.hpp"
#include "emulated/memory/kernel_heap.hpp"
#include "emulated/run/block.hpp"

// Where the sanitizer's runtime is linked for the host's code, kernels call these by names of their own (own_hooks.hpp).
#ifdef __SANITIZE_THREAD__
#define HOOK(name) __emulated_##name
#else
#define HOOK(name) __tsan_##name
#endif

namespace {

using namespace __emulated;

/// Outside of kernels it is the host that accesses memory.
[[gnu::always_inline]] inline void note(Operation operation, const void* address, std::size_t bytes,
                                        const Caller& from, bool is_volatile = false, bool goes_on = false,
                                        bool may_have_padding = false) {
  Block* const block = Block::running();
  if (block == nullptr) return;
  block->access({operation, static_cast<const std::byte*>(address), bytes, from.call_site, goes_on,
                 from.function, may_have_padding, is_volatile});
}

/// 16 bytes that are aligned to 8 at least: a GPU takes a struct that need not be aligned to more in halves. What is
/// volatile is a vector, which is a word (word.hpp), and no struct.
[[gnu::always_inline]] inline void note_sixteen(Operation operation, const void* address, const Caller& from,
                                                bool is_volatile) {
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(address) % 16 != 8;
  if (is_volatile) return note(operation, address, 16, from);
  if (is_aligned) return note(operation, address, 16, from, false, false, true);
  note(operation, address, 8, from, false, false, true);
  note(operation, static_cast<const std::byte*>(address) + 8, 8, from, false, true);
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
    note(operation, address, part, from, false, address != begin, true);
    address += part;
    bytes -= part;
  }
}

/// Memory from the heap in a kernel, else from `host`.
void* allocated(std::size_t bytes, void* (*host)(std::size_t)) {
  return Block::running() != nullptr ? Block::running()->allocate(bytes) : host(bytes);
}

/// Gives it back to the heap in a kernel. Outside it is the host's, or it is of an object that a kernel has left behind.
template <typename... Size>
void release(void* memory, const void* call_site, void (*host)(void*, Size...), Size... size) {
  if (Block::running() != nullptr) {
    Block::running()->release(memory, call_site);
  } else if (kernel_heap().is_near(memory)) {
    kernel_heap().release(memory);
  } else if (!closed_memory().refuse_release(memory, call_site)) {
    host(memory, size...);
  }
}

}  // namespace

extern "C" {

// Of 1 to 16 bytes, and where the address may be no multiple of them.
#define HOOKS(name, operation, is_volatile)                                                       \
  void HOOK(name##1)(void* address) { note(operation, address, 1, caller(), is_volatile); }       \
  void HOOK(name##2)(void* address) { note(operation, address, 2, caller(), is_volatile); }       \
  void HOOK(name##4)(void* address) { note(operation, address, 4, caller(), is_volatile); }       \
  void HOOK(name##8)(void* address) { note(operation, address, 8, caller(), is_volatile); }       \
  void HOOK(name##16)(void* address) { note_sixteen(operation, address, caller(), is_volatile); } \
  void HOOK(unaligned_##name##2)(void* address) { note_range(operation, address, 2, caller()); }  \
  void HOOK(unaligned_##name##4)(void* address) { note_range(operation, address, 4, caller()); }  \
  void HOOK(unaligned_##name##8)(void* address) { note_range(operation, address, 8, caller()); }  \
  void HOOK(unaligned_##name##16)(void* address) { note_range(operation, address, 16, caller()); }
HOOKS(read, Operation::load, false)
HOOKS(write, Operation::store, false)
HOOKS(volatile_read, Operation::load, true)
HOOKS(volatile_write, Operation::store, true)

void HOOK(read_range)(void* begin, std::size_t bytes) { note_range(Operation::load, begin, bytes, caller()); }
void HOOK(write_range)(void* begin, std::size_t bytes) {
  note_range(Operation::store, begin, bytes, caller());
}

// Calls of the C library in a kernel. The linker takes these functions for the library's (--wrap).
void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __real_memset(void* to, int value, std::size_t bytes);

void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  note_range(Operation::load, from, bytes, caller());
  note_range(Operation::store, to, bytes, caller());
  return __real_memmove(to, from, bytes);
}
void* __wrap_memcpy(void*, const void*, std::size_t) __attribute__((alias("__wrap_memmove")));
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  note_range(Operation::store, to, bytes, caller());
  return __real_memset(to, value, bytes);
}

// How Clang copies structs from version 15 on; before, it called memcpy.
void* HOOK(memcpy)(void*, const void*, std::size_t) __attribute__((alias("__wrap_memmove")));
void* HOOK(memmove)(void*, const void*, std::size_t) __attribute__((alias("__wrap_memmove")));
void* HOOK(memset)(void*, int, std::size_t) __attribute__((alias("__wrap_memset")));

// What a function calls that finds something else behind its local arrays than it has put there (-fstack-protector).
[[noreturn]] void __real___stack_chk_fail();
[[noreturn]] void __wrap___stack_chk_fail() {
  Block* const block = Block::running();
  if (block == nullptr) __real___stack_chk_fail();
  const Block::AtWork at_work{*block};
  block->fail(Fault::out_of_bounds, "memory beside a local array", "has written", __builtin_return_address(0),
              "check the index before each access to the function's arrays, or make them larger");
}

// malloc and free, operator new and delete, of one object and of arrays.
void* __real_malloc(std::size_t bytes);
void* __real__Znwm(std::size_t bytes);
void* __real__Znam(std::size_t bytes);
void __real_free(void* memory);
void __real__ZdlPv(void* memory);
void __real__ZdaPv(void* memory);
void __real__ZdlPvm(void* memory, std::size_t bytes);
void __real__ZdaPvm(void* memory, std::size_t bytes);

void* __wrap_malloc(std::size_t bytes) { return allocated(bytes, __real_malloc); }
void* __wrap__Znwm(std::size_t bytes) { return allocated(bytes, __real__Znwm); }
void* __wrap__Znam(std::size_t bytes) { return allocated(bytes, __real__Znam); }
void __wrap_free(void* memory) { release(memory, __builtin_return_address(0), __real_free); }
void __wrap__ZdlPv(void* memory) { release(memory, __builtin_return_address(0), __real__ZdlPv); }
void __wrap__ZdaPv(void* memory) { release(memory, __builtin_return_address(0), __real__ZdaPv); }
void __wrap__ZdlPvm(void* memory, std::size_t bytes) {
  release(memory, __builtin_return_address(0), __real__ZdlPvm, bytes);
}
void __wrap__ZdaPvm(void* memory, std::size_t bytes) {
  release(memory, __builtin_return_address(0), __real__ZdaPvm, bytes);
}

#ifndef __SANITIZE_THREAD__

// std::atomic, which the host's code in a file with kernels may use. It is none of CUDA's, so that it is not followed.
#define HOST_UPDATE(bits, T, name)                                \
  T __tsan_atomic##bits##_fetch_##name(volatile T* a, T v, int) { \
    return __atomic_fetch_##name(a, v, __ATOMIC_SEQ_CST);         \
  }
#define HOST_COMPARE(bits, T, name, is_weak)                                                  \
  int __tsan_atomic##bits##_compare_exchange_##name(volatile T* a, T* c, T v, int, int) {     \
    return __atomic_compare_exchange_n(a, c, v, is_weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }
#define HOST_ATOMIC(bits, T)                                                                              \
  T __tsan_atomic##bits##_load(const volatile T* a, int) { return __atomic_load_n(a, __ATOMIC_SEQ_CST); } \
  void __tsan_atomic##bits##_store(volatile T* a, T v, int) { __atomic_store_n(a, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_exchange(volatile T* a, T v, int) {                                             \
    return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                                       \
  HOST_UPDATE(bits, T, add)                                                                               \
  HOST_UPDATE(bits, T, sub)                                                                               \
  HOST_UPDATE(bits, T, and)                                                                               \
  HOST_UPDATE(bits, T, or)                                                                                \
  HOST_UPDATE(bits, T, xor)                                                                               \
  HOST_COMPARE(bits, T, strong, false)                                                                    \
  HOST_COMPARE(bits, T, weak, true)                                                                       \
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

namespace __emulated {

void load_from_l2(void* to, const void* from, std::size_t bytes) {
  note(Operation::load, from, bytes, caller(), true);
  __real_memmove(to, from, bytes);
}

}  // namespace __emulated
