#pragma once
#include <cstddef>

namespace reduction::emulated {

/// Reports that the running thread is about to read, or write, `bytes` bytes.
/// Throws KernelFinding, and so prevents the access, if they are neither shared
/// nor global memory nor the thread's own. Never inlined, so that each access
/// in a kernel calls from a place of its own. Does nothing outside of kernels.
[[gnu::noinline]] void record_load(const void* address, std::size_t bytes);
[[gnu::noinline]] void record_store(const void* address, std::size_t bytes);

}  // namespace reduction::emulated
