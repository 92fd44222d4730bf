#pragma once
/// \file
/// The part of CUDA C++ that kernels for the emulated device need, for a host compiler. Launches and shared variables
/// are not here: a host compiler reads neither, so the rewriter turns them into the calls at the end of this file.

#include <cstddef>
#include <memory>  // before __noinline__, which it uses as a word of its own
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "device/emulated/device.hpp"
#include "device/emulated/lanes.hpp"
#include "device/emulated/launch_config.hpp"
#include "device/emulated/source_location.hpp"
#include "device/emulated/word.hpp"

#ifdef REDUCTION_OWN_HOOKS
#include "device/emulated/own_hooks.hpp"
#endif

// ---- the language ----

// What a kernel calls is inlined, so that each call has places of its own, and structs are passed by copies, which hooks see.
#define __global__ __attribute__((flatten))
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)

namespace reduction::emulated {

// Constants for the compiler: to read them is no access to memory.
extern thread_local constinit const uint3 threadIdx asm("reduction_emulated_threadIdx");
extern thread_local constinit const uint3 blockIdx asm("reduction_emulated_blockIdx");
extern thread_local constinit const uint3 blockDim asm("reduction_emulated_blockDim");
extern thread_local constinit const uint3 gridDim asm("reduction_emulated_gridDim");
inline constexpr int warpSize = 32;

}  // namespace reduction::emulated

using reduction::emulated::blockDim;
using reduction::emulated::blockIdx;
using reduction::emulated::dim3;
using reduction::emulated::gridDim;
using reduction::emulated::threadIdx;
using reduction::emulated::uint3;
using reduction::emulated::warpSize;

using cudaStream_t = struct CUstream_st*;

template <typename A, typename B> constexpr std::common_type_t<A, B> min(A a, B b) { return b < a ? b : a; }
template <typename A, typename B> constexpr std::common_type_t<A, B> max(A a, B b) { return a < b ? b : a; }

template <typename T> REDUCTION_INLINE T __ldg(const T* address) { return *address; }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __clz(int bits) { return bits == 0 ? 32 : __builtin_clz(static_cast<unsigned>(bits)); }

// ---- barriers, fences and shuffles ----

void __syncthreads(reduction::emulated::SourceLine where = reduction::emulated::SourceLine::current());

/// Whether any thread of the block brings a predicate that is not 0.
int __syncthreads_or(int predicate,
                     reduction::emulated::SourceLine where = reduction::emulated::SourceLine::current());

void __syncwarp(unsigned mask = 0xffffffff,
                reduction::emulated::SourceLine where = reduction::emulated::SourceLine::current());

/// Orders what the calling thread did before with its atomic operations after, for other blocks.
void __threadfence();
/// The same for the threads of its block.
void __threadfence_block();

namespace reduction::emulated {

/// Replaces the `bytes` bytes at `value` by those that the source lane brought.
void shuffle(Shuffle kind, unsigned mask, int operand, int width, void* value, std::size_t bytes,
             SourceLine where);

template <typename T>
T shuffled(Shuffle kind, unsigned mask, T value, int operand, int width, SourceLine where) {
  static_assert(sizeof(T) <= 16, "a shuffle moves 16 bytes at most");
  shuffle(kind, mask, operand, width, &value, sizeof(T), where);
  return value;
}

}  // namespace reduction::emulated

template <typename T>
T __shfl_sync(unsigned mask, T value, int source_lane, int width = warpSize,
              reduction::emulated::SourceLine where = reduction::emulated::SourceLine::current()) {
  return reduction::emulated::shuffled(reduction::emulated::Shuffle::indexed, mask, value, source_lane, width,
                                       where);
}

template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                 reduction::emulated::SourceLine where = reduction::emulated::SourceLine::current()) {
  return reduction::emulated::shuffled(reduction::emulated::Shuffle::up, mask, value, static_cast<int>(delta),
                                       width, where);
}

template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                   reduction::emulated::SourceLine where = reduction::emulated::SourceLine::current()) {
  return reduction::emulated::shuffled(reduction::emulated::Shuffle::down, mask, value,
                                       static_cast<int>(delta), width, where);
}

template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize,
                  reduction::emulated::SourceLine where = reduction::emulated::SourceLine::current()) {
  return reduction::emulated::shuffled(reduction::emulated::Shuffle::exclusive_or, mask, value, lane_mask,
                                       width, where);
}

// ---- atomic operations: each returns the value before it (CUDA C++ Programming Guide, "Atomic Functions") ----

int atomicAdd(int* address, int value);
unsigned atomicAdd(unsigned* address, unsigned value);
unsigned long long atomicAdd(unsigned long long* address, unsigned long long value);
float atomicAdd(float* address, float value);
double atomicAdd(double* address, double value);
int atomicSub(int* address, int value);
unsigned atomicSub(unsigned* address, unsigned value);
int atomicExch(int* address, int value);
unsigned atomicExch(unsigned* address, unsigned value);
unsigned long long atomicExch(unsigned long long* address, unsigned long long value);
float atomicExch(float* address, float value);
int atomicMin(int* address, int value);
unsigned atomicMin(unsigned* address, unsigned value);
long long atomicMin(long long* address, long long value);
unsigned long long atomicMin(unsigned long long* address, unsigned long long value);
int atomicMax(int* address, int value);
unsigned atomicMax(unsigned* address, unsigned value);
long long atomicMax(long long* address, long long value);
unsigned long long atomicMax(unsigned long long* address, unsigned long long value);
/// Adds 1, or sets the value to 0 where it is `last` already or above it.
unsigned atomicInc(unsigned* address, unsigned last);
/// Subtracts 1, or sets the value to `last` where it is 0 or above that.
unsigned atomicDec(unsigned* address, unsigned last);
int atomicCAS(int* address, int expected, int value);
unsigned atomicCAS(unsigned* address, unsigned expected, unsigned value);
unsigned long long atomicCAS(unsigned long long* address, unsigned long long expected,
                             unsigned long long value);
int atomicAnd(int* address, int value);
unsigned atomicAnd(unsigned* address, unsigned value);
unsigned long long atomicAnd(unsigned long long* address, unsigned long long value);
int atomicOr(int* address, int value);
unsigned atomicOr(unsigned* address, unsigned value);
unsigned long long atomicOr(unsigned long long* address, unsigned long long value);
int atomicXor(int* address, int value);
unsigned atomicXor(unsigned* address, unsigned value);
unsigned long long atomicXor(unsigned long long* address, unsigned long long value);

// ---- what the rewriter makes of shared variables and launches ----

namespace reduction::emulated {

void* dynamic_shared_memory_begin();
void* shared_variable_begin(const void* name, std::size_t bytes);

/// `extern __shared__ X name[];` becomes `X* const name = dynamic_shared_memory();`.
struct DynamicSharedMemory {
  template <typename T> operator T*() const { return static_cast<T*>(dynamic_shared_memory_begin()); }
};
inline DynamicSharedMemory dynamic_shared_memory() { return {}; }

/// The same outside of functions, where there is no block yet.
template <typename T> struct DynamicSharedArray {
  operator T*() const { return static_cast<T*>(dynamic_shared_memory_begin()); }
  template <typename U> explicit operator U*() const {
    return static_cast<U*>(dynamic_shared_memory_begin());
  }
};

/// `__shared__ X name[4];` becomes `X (&name)[4] = shared_variable([] {});`. Each lambda has a type of its own, so that the
/// address of its Name names the variable.
template <typename Lambda> struct Name { static constexpr char address = 0; };
struct SharedVariable {
  const void* name;
  template <typename T> operator T&() const {
    return *static_cast<T*>(shared_variable_begin(name, sizeof(T)));
  }
};
template <typename Lambda> SharedVariable shared_variable(Lambda) { return {&Name<Lambda>::address}; }

/// Copies the parameters for one thread. They are constant memory on a GPU, and reading them is not counted.
template <typename Call, std::size_t... index>
__attribute__((no_sanitize("thread"))) void call_kernel(const Call& call, std::index_sequence<index...>) {
  std::get<0>(call)(std::get<index + 1>(call)...);
}

/// Launches kernel(arguments...) and waits for it.
template <typename... Parameters, typename... Arguments>
void launch(const LaunchConfig& config, void (*kernel)(Parameters...), const Arguments&... arguments) {
  using Call = std::tuple<void (*)(Parameters...), Parameters...>;
  const Call call{kernel, static_cast<Parameters>(arguments)...};
  const auto run_thread = [](const void* opaque) {
    call_kernel(*static_cast<const Call*>(opaque), std::index_sequence_for<Parameters...>{});
  };
  launch_grid(config,
              {run_thread, std::as_bytes(std::span{&call, 1}), reinterpret_cast<const void*>(kernel)});
}

/// `kernel<<<grid, block, shared_bytes, stream>>>(arguments...)` becomes
/// `Launch(kernel, grid, block, shared_bytes, stream)(arguments...)`. There is one stream.
template <typename... Parameters> class Launch {
 public:
  Launch(void (*kernel)(Parameters...), const dim3& grid, const dim3& block, std::size_t shared_bytes = 0,
         cudaStream_t = nullptr)
      : kernel_{kernel}, config_{grid, block, shared_bytes} {}

  void operator()(Parameters... arguments) const { launch(config_, kernel_, arguments...); }

 private:
  void (*kernel_)(Parameters...);
  LaunchConfig config_;
};

}  // namespace reduction::emulated
