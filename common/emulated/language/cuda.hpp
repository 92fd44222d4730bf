#pragma once
/// \file
/// The part of CUDA C++ that kernels for the emulated device need, for a host compiler. Launches and shared variables
/// are not here: a host compiler reads neither, so the rewriter turns them into the calls at the end of this file.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>  // before __noinline__, which it uses as a word of its own
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "emulated/language/asynchronous_copies.hpp"
#include "emulated/language/atomic_operations.hpp"
#include "emulated/language/counterparts.hpp"
#include "emulated/language/guards.hpp"
#include "emulated/language/intrinsics.hpp"
#include "emulated/language/ptx.hpp"
#include "emulated/language/unsupported.hpp"
#include "emulated/language/vectors.hpp"
#include "emulated/memory/shared_variable.hpp"
#include "emulated/memory/word.hpp"
#include "emulated/run/execution_configuration.hpp"
#include "emulated/run/lanes.hpp"

#ifdef __EMULATED_OWN_HOOKS
#include "emulated/run/own_hooks.hpp"
#endif

// ---- the language ----

// What a kernel calls is inlined, so that each call has places of its own, and structs are passed by copies, which hooks see.
// (The host runs none: `./emulate` compiles a source twice.)
// Where a source is only looked at, its object file tells of these words (program/execution_spaces.cpp).
#ifdef __EMULATED_SPACES
#define __global__ __attribute__((aligned(8192)))
#define __device__ __attribute__((aligned(4096)))
#define __host__ __attribute__((patchable_function_entry(1, 0)))
#else
#ifdef __EMULATED_HOST_PASS
#define __global__
#else
#define __global__ __attribute__((flatten))
#endif
#define __device__
#define __host__
#endif
// Apart from all other variables, so that the device knows which these are. (One that is const is none of its business, and
// a section cannot have both: the rewriter leaves the word out there.)
// The host, which `./emulate` compiles by itself, has them and `__device__` variables in a section that it must not touch:
// the rewriter puts the word behind `__device__` where a variable is declared.
#ifdef __EMULATED_SPACES
#define __emulated_variable
#define __constant__ __device__
#elif defined(__EMULATED_HOST_PASS)
#define __emulated_variable __attribute__((section("__emulated_shadow")))
#define __constant__ __emulated_variable
#else
#define __emulated_variable
#define __constant__ __attribute__((section("__emulated_constant")))
#endif
#ifdef __EMULATED_SPACES
#define __forceinline__ inline
#else
#define __forceinline__ inline __attribute__((always_inline))
#endif
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...) \
  __attribute__((unavailable( \
      "__cluster_dims__: clusters are not modelled on the emulated device: let each block work by itself")))
#define __grid_constant__  // parameters are constant here, too
#ifdef __EMULATED_SPACES
#define __managed__ __attribute__((aligned(16384)))
#else
#define __managed__ __attribute__((section("__emulated_managed")))
#endif
#define __align__(bytes) alignas(bytes)

namespace __emulated {

// Constants for the compiler: to read them is no access to memory.
extern thread_local constinit const uint3 threadIdx asm("__emulated_threadIdx");
extern thread_local constinit const uint3 blockIdx asm("__emulated_blockIdx");
extern thread_local constinit const uint3 blockDim asm("__emulated_blockDim");
extern thread_local constinit const uint3 gridDim asm("__emulated_gridDim");
inline constexpr int warpSize = 32;

}  // namespace __emulated

using __emulated::blockDim;
using __emulated::blockIdx;
using __emulated::dim3;
using __emulated::gridDim;
using __emulated::threadIdx;
using __emulated::warpSize;

using cudaStream_t = struct CUstream_st*;

// ---- barriers, fences and shuffles ----

void __syncthreads();

/// Whether any thread of the block brings a predicate that is not 0.
int __syncthreads_or(int predicate);

/// Whether all threads of the block bring one that is not 0, and how many do.
int __syncthreads_and(int predicate);
int __syncthreads_count(int predicate);

void __syncwarp(unsigned mask = 0xffffffff);

namespace __emulated {

/// Waits until so many threads of the block have come to the barrier of this number.
void named_barrier(unsigned id, unsigned threads);

/// Waits for all threads of the grid; and whether they are there.
void grid_barrier();
bool is_cooperative();

/// Bytes that a thread of the block shows others, and those that another one has shown: a barrier has to be between.
void bring(std::span<const std::byte> value);
void take_from(unsigned thread, std::span<std::byte> value);

}  // namespace __emulated

/// Orders what the calling thread did before with its atomic operations after, for other blocks.
void __threadfence();
/// The same for the threads of its block.
void __threadfence_block();
/// What the host sees needs no more than another block does.
__EMULATED_INLINE void __threadfence_system() {
  __emulated::meet_host();
  __threadfence();
}

/// Time is not modelled: all others that can go on do so first.
void __nanosleep(unsigned nanoseconds);

/// A count in place of a clock, and of what PTX calls %globaltimer: of accesses, which tells nothing of a GPU's time. In a kernel
/// the C library's clock() is the same.
long long clock64();

/// Ends the kernel with a finding, as an assertion does that fails.
[[noreturn]] void __trap();

namespace __emulated {

/// Replaces the bytes of `value` by those that the source lane brought.
void shuffle(Shuffle kind, unsigned mask, int operand, int width, std::span<std::byte> value);

template <typename T>
__EMULATED_INLINE T shuffled(Shuffle kind, unsigned mask, T value, int operand, int width) {
  static_assert(sizeof(T) <= 32, "a shuffle moves 32 bytes at most");
  const std::span bytes{reinterpret_cast<std::byte*>(&value), sizeof(T)};
  constexpr std::size_t at_once = sizeof(T) < 16 ? sizeof(T) : 16;
  shuffle(kind, mask, operand, width, bytes.first(at_once));
  if constexpr (sizeof(T) > at_once) shuffle(kind, mask, operand, width, bytes.subspan(at_once));
  return value;
}

}  // namespace __emulated

template <typename T>
__EMULATED_INLINE T __shfl_sync(unsigned mask, T value, int source_lane, int width = warpSize) {
  return __emulated::shuffled(__emulated::Shuffle::indexed, mask, value, source_lane, width);
}

template <typename T>
__EMULATED_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  return __emulated::shuffled(__emulated::Shuffle::up, mask, value, static_cast<int>(delta), width);
}

template <typename T>
__EMULATED_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  return __emulated::shuffled(__emulated::Shuffle::down, mask, value, static_cast<int>(delta), width);
}

template <typename T>
__EMULATED_INLINE T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize) {
  return __emulated::shuffled(__emulated::Shuffle::exclusive_or, mask, value, lane_mask, width);
}

// ---- votes and reductions of a warp ----

/// The lanes that come by this call before each lane of their warp waits somewhere, or has left the kernel.
unsigned __activemask();

namespace __emulated {

/// Waits for the lanes of the mask, each of which brings a value. Returns what the rule gives to the calling one.
std::uint64_t vote(VoteRule rule, unsigned mask, std::uint64_t value);

/// What lanes may compare.
template <typename T>
concept Matched = OneOf<T, int, unsigned, long, unsigned long, long long, unsigned long long, float, double>;

/// A value's bits, by which values are compared.
template <Matched T> std::uint64_t bits_of(T value) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<std::uint32_t>(value);
  } else {
    return std::bit_cast<std::uint64_t>(value);
  }
}

}  // namespace __emulated

__EMULATED_INLINE unsigned __ballot_sync(unsigned mask, int predicate) {
  return static_cast<unsigned>(__emulated::vote(__emulated::ballot, mask, predicate != 0));
}
__EMULATED_INLINE int __any_sync(unsigned mask, int predicate) {
  return static_cast<int>(__emulated::vote(__emulated::any, mask, predicate != 0));
}
__EMULATED_INLINE int __all_sync(unsigned mask, int predicate) {
  return static_cast<int>(__emulated::vote(__emulated::all, mask, predicate != 0));
}

/// The lanes of the mask that bring the same value as the calling one.
template <__emulated::Matched T> __EMULATED_INLINE unsigned __match_any_sync(unsigned mask, T value) {
  return static_cast<unsigned>(
      __emulated::vote(__emulated::lanes_with_equal_value, mask, __emulated::bits_of(value)));
}
/// The lanes of the mask if all of them bring the same value, else none.
template <__emulated::Matched T>
__EMULATED_INLINE unsigned __match_all_sync(unsigned mask, T value, int* is_same) {
  const auto lanes = __emulated::vote(__emulated::lanes_if_all_equal, mask, __emulated::bits_of(value));
  *is_same = lanes != 0 ? 1 : 0;
  return static_cast<unsigned>(lanes);
}

/// \cond
// Joins two lanes' values, `a` and `b`, of one of these types. (No function makes a name of a name.)
#define __EMULATED_WARP_REDUCTION(name, joined, ...)                                                  \
  template <__emulated::OneOf<__VA_ARGS__> T> __EMULATED_INLINE T name(unsigned mask, T value) {      \
    const __emulated::VoteRule rule = [](const __emulated::Votes& votes, unsigned) {                  \
      return __emulated::reduced<T>(votes, [](T a, T b) { return joined; });                          \
    };                                                                                                \
    return static_cast<T>(__emulated::vote(rule, mask, static_cast<std::make_unsigned_t<T>>(value))); \
  }
__EMULATED_WARP_REDUCTION(__reduce_add_sync, __emulated::wrapped_sum(a, b), int, unsigned)
__EMULATED_WARP_REDUCTION(__reduce_min_sync, b < a ? b : a, int, unsigned)
__EMULATED_WARP_REDUCTION(__reduce_max_sync, a < b ? b : a, int, unsigned)
__EMULATED_WARP_REDUCTION(__reduce_and_sync, (a & b), unsigned)
__EMULATED_WARP_REDUCTION(__reduce_or_sync, (a | b), unsigned)
__EMULATED_WARP_REDUCTION(__reduce_xor_sync, (a ^ b), unsigned)
#undef __EMULATED_WARP_REDUCTION
/// \endcond

// ---- what the rewriter makes of shared variables and launches ----

namespace __emulated {

void* dynamic_shared_memory_begin(const SharedDeclaration& declaration);
void* shared_variable_begin(const SharedDeclaration& declaration, std::size_t bytes);

/// What is declared by a name, which a lambda returns. Each lambda has a type of its own, so that the address of the
/// declaration tells variables of one name apart.
template <typename Name, typename T> struct Declared {
  template <std::size_t... d> static constexpr auto extents_of(std::index_sequence<d...>) {
    return std::array<std::size_t, sizeof...(d)>{std::extent_v<T, d>...};
  }
  static constexpr auto extents = extents_of(std::make_index_sequence<std::rank_v<T>>{});
  static constexpr SharedDeclaration declaration{Name{}(), sizeof(std::remove_all_extents_t<T>), extents};
};

/// `__launch_bounds__(THREADS)` in front of a kernel has `require_launch_bounds([] { return Bounds(THREADS); });` begin its
/// body. What else it may say is advice to the compiler. The runtime looks for both in the program's symbols (kernels.cpp).
template <typename Name> struct LaunchBounds { static constexpr Bounds bounds = Name{}(); };
void require_launch_bounds(const Bounds& bounds);
template <typename Name> void require_launch_bounds(Name) {
  require_launch_bounds(LaunchBounds<Name>::bounds);
}

/// `extern __shared__ X name[];` becomes `X* const name = dynamic_shared_memory([] { return "name"; });`. Bytes that the
/// next statement gives a type and a name are declared as elements of that type.
template <typename Element, typename Name> struct DynamicSharedMemory {
  template <typename T> operator T*() const {
    using Declaration = Declared<Name, std::conditional_t<std::is_void_v<Element>, T, Element>[]>;
    return static_cast<T*>(dynamic_shared_memory_begin(Declaration::declaration));
  }
};
template <typename Element = void, typename Name>
DynamicSharedMemory<Element, Name> dynamic_shared_memory(Name) {
  return {};
}

/// `__shared__ X name[4];` becomes `X (&name)[4] = shared_variable([] { return "name"; });`.
template <typename Name> struct StaticSharedVariable {
  template <typename T> operator T&() const {
    return *static_cast<T*>(shared_variable_begin(Declared<Name, T>::declaration, sizeof(T)));
  }
};
template <typename Name> StaticSharedVariable<Name> shared_variable(Name) { return {}; }

/// `__shared__ X name[4];` outside of functions, where there is no block yet, becomes
/// `static const SharedInFile<X[4], decltype([] { return "name"; })> name{};`. Where the rewriter does not know the name, as of a
/// header, or does not tell an expression from a declaration, this is converted: it has the variable's size, and no copy.
template <typename T, typename Name> class SharedInFile {
 public:
  constexpr SharedInFile() = default;
  SharedInFile(const SharedInFile&) = delete;
  operator T&() const { return StaticSharedVariable<Name>{}; }
  T* operator&() const { return &static_cast<T&>(*this); }
  template <typename Value> T& operator=(const Value& value) const { return static_cast<T&>(*this) = value; }

 private:
  alignas(T) std::byte unused_[sizeof(T)]{};
};
template <typename T, typename Name> struct SharedInFile<T[], Name> {
  constexpr SharedInFile() = default;
  SharedInFile(const SharedInFile&) = delete;
  operator T*() const { return DynamicSharedMemory<void, Name>{}; }
  template <typename U> explicit operator U*() const { return reinterpret_cast<U*>(static_cast<T*>(*this)); }
};

/// What an expression names becomes `of_block(name)`: that variable of the block, or else another one of its name.
template <typename T, typename Name> T& of_block(const SharedInFile<T, Name>& variable) { return variable; }
template <typename T, typename Name> T* of_block(const SharedInFile<T[], Name>& array) { return array; }
template <typename T> constexpr T&& of_block(T&& other) { return static_cast<T&&>(other); }

/// Copies the parameters for one thread. They are constant memory on a GPU, and reading them is not counted.
template <typename Call, std::size_t... index>
__attribute__((no_sanitize("thread"))) void call_kernel(const void* opaque) {
  const Call& call = *static_cast<const Call*>(opaque);
  std::get<0>(call)(std::get<index + 1>(call)...);
}
template <typename Call, std::size_t... index> auto call_of(std::index_sequence<index...>) {
  return call_kernel<Call, index...>;
}

/// The buffer of a parameter that no other block is meant to change, or nullptr.
template <typename Parameter> const void* input_of(const Parameter& parameter) {
  using Pointed = std::remove_pointer_t<Parameter>;
  if constexpr (std::is_pointer_v<Parameter> && std::is_const_v<Pointed> && !std::is_volatile_v<Pointed>) {
    return parameter;
  } else {
    return nullptr;
  }
}

/// The stream launches the kernel, and waits for it; or while it is captured does so in its graph's launches.
void launch_in_stream(const ExecutionConfiguration& configuration, const KernelCall& kernel);

/// Launches kernel(arguments...) and waits for it.
template <typename... Parameters, typename... Arguments>
void launch(const ExecutionConfiguration& configuration, void (*kernel)(Parameters...),
            Arguments&&... arguments) {
  using Call = std::tuple<void (*)(Parameters...), Parameters...>;
  const auto on_device = function_on_device(kernel);
  const Call call{on_device, static_cast<Parameters>(arguments)...};
  const auto run_thread = function_on_device(call_of<Call>(std::index_sequence_for<Parameters...>{}));
  // The first is not a parameter's: a kernel may have none.
  const auto inputs = std::apply(
      [](auto, const Parameters&... parameters) {
        return std::array<const void*, sizeof...(Parameters) + 1>{nullptr, input_of(parameters)...};
      },
      call);
  launch_in_stream(configuration, {run_thread, std::as_bytes(std::span{&call, 1}),
                                   reinterpret_cast<const void*>(on_device), inputs});
}

/// `kernel<<<grid, block, shared_bytes, stream>>>(arguments...)` becomes
/// `ConfiguredKernel(kernel, grid, block, shared_bytes, stream)(arguments...)`.
template <typename... Parameters> class ConfiguredKernel {
 public:
  ConfiguredKernel(void (*kernel)(Parameters...), const dim3& grid, const dim3& block,
                   std::size_t shared_bytes = 0, cudaStream_t stream = nullptr)
      : kernel_{kernel}, configuration_{grid, block, shared_bytes, stream} {}

  void operator()(Parameters... arguments) const { launch(configuration_, kernel_, arguments...); }

 private:
  void (*kernel_)(Parameters...);
  ExecutionConfiguration configuration_;
};

// Where the launch of a kernel that is overloaded, a template or has default arguments does not say all of that,
// `kernel<<<grid, block>>>(arguments...)` becomes
// `__emulated_launch_kernel(ExecutionConfiguration(grid, block), arguments...)`. The rewriter adds these functions, which have
// the same parameters, to the kernels' declarations.

}  // namespace __emulated
