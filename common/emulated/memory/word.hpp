#pragma once
/// \file
/// Values that a GPU loads and stores as one word of 8 or 16 bytes. A host compiler copies a struct as it likes, member by
/// member or by memcpy; these it copies by one load and one store.

#include <cstddef>
#include <cstdint>

/// Inlines a function into the kernel at any optimisation level, so that its accesses come from the kernel's own lines.
/// GCC's debug information says which lines those are; what Clang writes for inlined calls is not understood by every
/// addr2line, so that there the function is left out of it.
#ifdef __EMULATED_SPACES
#define __EMULATED_INLINE inline
#elif defined(__clang__)
#define __EMULATED_INLINE [[gnu::always_inline, gnu::nodebug]] inline
#else
#define __EMULATED_INLINE [[gnu::always_inline]] inline
#endif

namespace __emulated {

using Word2 [[gnu::may_alias]] = std::uint16_t;
using Word4 [[gnu::may_alias]] = std::uint32_t;
using Word8 [[gnu::may_alias]] = std::uint64_t;
__extension__ using Word16 [[gnu::may_alias]] = unsigned __int128;

/// Ends the block, whose running thread is about to load or store that many bytes at an address that is no multiple of them.
void refuse_misaligned(const void* address, std::size_t bytes, bool stores);

/// The load of as many bytes that passes a multiprocessor's own cache by.
void load_from_l2(void* to, const void* from, std::size_t bytes);

/// Copies T, of 2, 4, 8 or 16 bytes and aligned to its size, by one load and one store. Of 32 bytes: by two of each. Hooks
/// are told that those of 16 bytes are volatile: they are words, and no structs with padding.
template <typename T> __EMULATED_INLINE void copy_word(T* to, const T* from) {
  static_assert(alignof(T) == (sizeof(T) < 16 ? sizeof(T) : 16));
  // The compiler takes for granted that they are aligned, so that its hooks need not tell.
  if (reinterpret_cast<std::uintptr_t>(from) % alignof(T) != 0) refuse_misaligned(from, alignof(T), false);
  if (reinterpret_cast<std::uintptr_t>(to) % alignof(T) != 0) refuse_misaligned(to, alignof(T), true);
  if constexpr (sizeof(T) == 2) {
    *reinterpret_cast<Word2*>(to) = *reinterpret_cast<const Word2*>(from);
  } else if constexpr (sizeof(T) == 4) {
    *reinterpret_cast<Word4*>(to) = *reinterpret_cast<const Word4*>(from);
  } else if constexpr (sizeof(T) == 8) {
    *reinterpret_cast<Word8*>(to) = *reinterpret_cast<const Word8*>(from);
  } else {
    for (std::size_t i = 0; i < sizeof(T) / 16; ++i)
      reinterpret_cast<volatile Word16*>(to)[i] = reinterpret_cast<const volatile Word16*>(from)[i];
  }
}

}  // namespace __emulated
