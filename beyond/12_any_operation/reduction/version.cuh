// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// The header's version, what it needs, and the namespace of what is launched and what launches.

#include <cuda_runtime_api.h>

/// 10000 * major + 100 * minor + patch.
#define REDUCTION_VERSION 500

#if __cplusplus < 201703L
#error "reduction/reduce.cuh needs C++17 or newer"
#endif
#if CUDART_VERSION < 12040
#error "reduction/reduce.cuh needs the CUDA toolkit 12.4 or newer"
#endif
#ifndef __CUDA_ARCH_LIST__
#error "reduction/reduce.cuh needs a compiler that tells its list of architectures: nvcc, or clang 22"
#endif

// Two libraries of one program may be compiled for different architectures. Where both have a function of one name, the
// linker keeps one of the two, and it launches kernels that only its own library has. So the namespace is named after
// the version and the architectures, v200x800x900xxx… for 8.0 and 9.0, and it is hidden: a shared library exports
// nothing of it. nvcc's --default-stream per-thread makes other calls of the same text, so the name says that, too.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define REDUCTION_STREAM _per_thread
#else
#define REDUCTION_STREAM
#endif
#define REDUCTION_PASTE(version, stream, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ...) \
  v##version##stream##x##a##x##b##x##c##x##d##x##e##x##f##x##g##x##h##x##i##x##j##x##k##x##l##x##m##x##n##x##o##x##p
#define REDUCTION_NAME(...) REDUCTION_PASTE(__VA_ARGS__)
#define REDUCTION_NAMESPACE                                                                               \
  REDUCTION_NAME(REDUCTION_VERSION, REDUCTION_STREAM, __CUDA_ARCH_LIST__, , , , , , , , , , , , , , , , ) \
  __attribute__((visibility("hidden")))
