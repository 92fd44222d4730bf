#pragma once
#include <cstddef>

/// Inlines a function into the kernel at any optimisation level, so that what it reports comes from the
/// kernel's own lines. GCC's debug information says which lines those are; what Clang writes for inlined
/// calls is not understood by every addr2line, so that there the function is left out of it.
#ifdef __clang__
#define REDUCTION_INLINE [[gnu::always_inline, gnu::nodebug]] inline
#else
#define REDUCTION_INLINE [[gnu::always_inline]] inline
#endif

namespace reduction::emulated {

/// Reports that the running thread is about to read, or write, `bytes` bytes. Throws KernelFinding, and so
/// prevents the access, if they are neither shared nor global memory nor the thread's own. Never inlined, so
/// that each access in a kernel calls from a place of its own. Does nothing outside of kernels.
[[gnu::noinline]] void record_load(const void* address, std::size_t bytes);
[[gnu::noinline]] void record_store(const void* address, std::size_t bytes);

}  // namespace reduction::emulated
