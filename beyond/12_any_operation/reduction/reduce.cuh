// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// reduce() and transform_reduce(): the ladder's result for other people's projects. They need C++17, the CUDA toolkit
/// and this folder.
///
/// A small input takes one kernel: one block, or from compute capability 9.0 on one cluster of blocks. A larger one
/// takes two: in the first each block leaves one partial result, in the second one block combines these. From compute
/// capability 9.0 on the second is launched ahead and waits on the device ("programmatic dependent launch", CUDA C++
/// Programming Guide), so its launch costs next to nothing, and bulk copies load a very large input.

#ifndef __CUDACC__
#error "reduction/reduce.cuh has kernels: include it where nvcc compiles, in a .cu file"
#endif

#include "version.cuh"  // first: what is too old is told before it fails

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "elements.cuh"
#include "operations.cuh"
#include "reduce_kernels.cuh"

namespace reduction {

inline namespace REDUCTION_NAMESPACE {

namespace detail {

// ---- what is launched ----

/// How to reduce n elements.
enum class Method {
  one_small_block,  ///< one kernel of one block
  one_large_block,  ///< the same with more threads
  cluster,          ///< one kernel of one cluster, whose blocks exchange their results in shared memory
  two_kernels,      ///< partial results, and a second kernel for them
  bulk,             ///< the same, with bulk copies into shared memory instead of loads into registers
};

// The largest input of each method in bytes, measured on an H200.
inline constexpr std::size_t small_block_bytes = std::size_t{16} << 10;
inline constexpr std::size_t large_block_bytes = std::size_t{64} << 10;
inline constexpr std::size_t cluster_bytes = std::size_t{256} << 10;
inline constexpr std::size_t two_kernels_bytes = std::size_t{1} << 30;

// Kernels of one block or one cluster go over their input once.
static_assert(small_block_bytes <= small_block * loads * 16 &&
              large_block_bytes <= large_block * loads * 16 &&
              cluster_bytes <= cluster_blocks * block * loads * 16);

/// Whether a block may have the ring and a result per warp in shared memory: 99 KiB, on compute capability 12.0.
template <bool wide, typename A>
inline constexpr bool has_room_for_bulk =
    wide&& bulk_ring_bytes + bulk_stages * sizeof(CopyBarrier) + bulk_block / 32 * sizeof(A) <= 99 << 10;

/// Blocks per multiprocessor, at most.
inline constexpr unsigned most_resident_blocks = 4;

struct Plan {
  Method method = Method::one_small_block;
  unsigned grid = 1;            ///< number of blocks of the first kernel
  bool combines = false;        ///< whether there is a second kernel
  bool launches_ahead = false;  ///< whether that may be launched ahead
};

/// Sets `is` to whether the code of `kernel` that this device runs was compiled for compute capability 9.0 or later:
/// that for an older one has no clusters, no bulk copies and does not wait for the kernel before.
template <typename Kernel> cudaError_t is_for_hopper(bool& is, Kernel kernel) {
  cudaFuncAttributes attributes{};
  const cudaError_t status = ::cudaFuncGetAttributes(&attributes, kernel);
  is = status == cudaSuccess && attributes.ptxVersion >= 90;
  return status;
}

/// Sets `blocks` to the number of blocks of `kernel` that are resident at once.
template <typename Kernel>
cudaError_t resident_blocks(unsigned& blocks, Kernel kernel, unsigned threads, unsigned shared_bytes,
                            unsigned multiprocessors) {
  int resident = 0;
  const cudaError_t status = ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &resident, kernel, static_cast<int>(threads), shared_bytes);
  const unsigned on_each = std::clamp(static_cast<unsigned>(resident), 1u, most_resident_blocks);
  blocks = on_each * multiprocessors;
  return status;
}

/// Chooses how to reduce n elements.
template <bool wide, typename R, typename Out>
cudaError_t make_plan(Plan& plan, std::size_t n, unsigned multiprocessors) {
  const std::size_t bytes = n * sizeof(typename R::Element);
  plan = Plan{};
  if (bytes <= large_block_bytes) {
    plan.method = bytes <= small_block_bytes ? Method::one_small_block : Method::one_large_block;
    return cudaSuccess;
  }
  bool has_cluster = false;
  cudaError_t status = cudaSuccess;
  if (bytes <= cluster_bytes) {
    status = detail::is_for_hopper(has_cluster, cluster_kernel<wide, R, Out>);
    if (has_cluster) {
      plan.method = Method::cluster;
      plan.grid = cluster_blocks;
      return status;
    }
  }
  plan.combines = true;
  if (status == cudaSuccess) status = detail::is_for_hopper(plan.launches_ahead, combine_kernel<R, Out>);
  if (status != cudaSuccess) return status;
  if constexpr (has_room_for_bulk<wide, typename R::Accumulator>) {
    bool has_bulk_copies = false;
    if (bytes > two_kernels_bytes) status = detail::is_for_hopper(has_bulk_copies, bulk_kernel<R>);
    if (has_bulk_copies) {
      plan.method = Method::bulk;
      status = ::cudaFuncSetAttribute(bulk_kernel<R>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(bulk_ring_bytes));
      if (status == cudaSuccess)
        status =
            detail::resident_blocks(plan.grid, bulk_kernel<R>, bulk_block, bulk_ring_bytes, multiprocessors);
      return status;
    }
  }
  plan.method = Method::two_kernels;
  if (status == cudaSuccess)
    status = detail::resident_blocks(plan.grid, reduce_kernel<wide, R>, block, 0, multiprocessors);
  constexpr std::size_t tile =
      std::size_t{block} * loads_of<typename R::Element> * Vector<typename R::Element, wide>::width;
  if (const std::size_t tiles = (n + tile - 1) / tile; tiles < plan.grid)
    plan.grid = static_cast<unsigned>(tiles);
  return status;
}

/// Launches kernel<<<grid, threads, shared_bytes, stream>>>(arguments...), with one attribute or none.
template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), unsigned grid, unsigned threads, unsigned shared_bytes,
                   cudaStream_t stream, const cudaLaunchAttribute* attribute, Arguments... arguments) {
  cudaLaunchAttribute copy = attribute != nullptr ? *attribute : cudaLaunchAttribute{};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(grid);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &copy;
  config.numAttrs = attribute != nullptr ? 1 : 0;
  return ::cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

/// Makes all blocks of the grid one cluster.
inline cudaLaunchAttribute one_cluster() {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster_blocks;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  return attribute;
}

/// Lets the kernel start before the one before it in the stream has ended.
inline cudaLaunchAttribute launched_ahead() {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

/// Launches the only kernel, which writes the result.
template <bool wide, typename R, typename Out>
cudaError_t launch_one(const Plan& plan, const typename R::Element* in, Out* out, std::size_t n,
                       const R& reduction, const Init<typename R::Accumulator>& init, cudaStream_t stream) {
  const cudaLaunchAttribute cluster = detail::one_cluster();
  switch (plan.method) {
    case Method::one_small_block:
      return detail::launch(one_block_kernel<small_block, wide, R, Out>, 1, small_block, 0, stream, nullptr,
                            in, out, n, reduction, init);
    case Method::cluster:
      return detail::launch(cluster_kernel<wide, R, Out>, plan.grid, block, 0, stream, &cluster, in, out, n,
                            reduction, init);
    default:
      return detail::launch(one_block_kernel<large_block, wide, R, Out>, 1, large_block, 0, stream, nullptr,
                            in, out, n, reduction, init);
  }
}

/// Launches the two kernels, the first of which writes plan.grid partial results.
template <bool wide, typename R, typename Out>
cudaError_t launch_two(const Plan& plan, typename R::Accumulator* partial, const typename R::Element* in,
                       Out* out, std::size_t n, const R& reduction, const Init<typename R::Accumulator>& init,
                       cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  if (plan.method == Method::two_kernels)
    status = detail::launch(reduce_kernel<wide, R>, plan.grid, block, 0, stream, nullptr, in, partial, n,
                            reduction);
  if constexpr (has_room_for_bulk<wide, typename R::Accumulator>) {
    if (plan.method == Method::bulk)
      status = detail::launch(bulk_kernel<R>, plan.grid, bulk_block, bulk_ring_bytes, stream, nullptr, in,
                              partial, n, reduction);
  }
  if (status != cudaSuccess) return status;
  const cudaLaunchAttribute ahead = detail::launched_ahead();
  return detail::launch(combine_kernel<R, Out>, 1, combine_block, 0, stream,
                        plan.launches_ahead ? &ahead : nullptr, partial, plan.grid, out, n, reduction, init);
}

// ---- the two forms of a call ----

inline cudaError_t count_multiprocessors(unsigned& multiprocessors) {
  int device = 0;
  int count = 0;
  cudaError_t status = ::cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = ::cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  multiprocessors = static_cast<unsigned>(count);
  return status;
}

/// Reduces with the caller's storage, or if `bytes` is null with storage from the stream's memory pool.
template <bool wide, typename R, typename Out>
cudaError_t run(void* storage, const std::size_t* bytes, unsigned multiprocessors,
                const typename R::Element* in, Out* out, std::size_t n, const R& reduction,
                const Init<typename R::Accumulator>& init, cudaStream_t stream) {
  using A = typename R::Accumulator;
  Plan plan;
  cudaError_t status = detail::make_plan<wide, R, Out>(plan, n, multiprocessors);
  if (status != cudaSuccess) return status;
  if (!plan.combines) return detail::launch_one<wide>(plan, in, out, n, reduction, init, stream);
  if (bytes == nullptr) status = ::cudaMallocAsync(&storage, plan.grid * sizeof(A), stream);
  if (status != cudaSuccess) return status;
  status = detail::launch_two<wide>(plan, static_cast<A*>(storage), in, out, n, reduction, init, stream);
  const cudaError_t freed = bytes == nullptr ? ::cudaFreeAsync(storage, stream) : cudaSuccess;
  return status != cudaSuccess ? status : freed;
}

// ---- what a call is given ----

struct Default {};

/// What `Operation` accumulates in, if the call does not say: what the result is; but a float for a sum or a product of
/// __half and __nv_bfloat16.
template <typename Operation, typename Out, typename = void> struct DefaultAccumulator { using Type = Out; };
template <typename Operation, typename Out>
struct DefaultAccumulator<Operation, Out,
                          std::enable_if_t<Operation::widens && traits::is_small_float<Out>>> {
  using Type = float;
};
template <typename Operation, typename T, typename Out>
struct DefaultAccumulator<WithIdentity<Operation, T>, Out, void> : DefaultAccumulator<Operation, Out> {};
template <typename Accumulator, typename Operation, typename Out>
using AccumulatorOf = std::conditional_t<std::is_same_v<Accumulator, Default>,
                                         typename DefaultAccumulator<Operation, Out>::Type, Accumulator>;

template <typename T>
inline constexpr bool is_stream = std::is_convertible_v<const T&, cudaStream_t> && !std::is_integral_v<T>;

/// [init][, stream]: an integer is always an init.
template <typename A> struct Options {
  Init<A> init{};
  cudaStream_t stream = nullptr;

  Options() = default;
  template <typename Last> explicit Options(const Last& last) {
    if constexpr (is_stream<Last>)
      stream = last;
    else
      init = {static_cast<A>(last), true};
  }
  template <typename First, typename Last>
  Options(const First& first, const Last& last) : init{static_cast<A>(first), true}, stream(last) {}
};

// ---- misuse, each in one line of the compiler's ----

/// What a __device__ lambda takes and returns is unknown on the host, and what it is copied by.
template <typename T> constexpr bool is_extended_lambda() {
#ifdef __CUDACC_EXTENDED_LAMBDA__
  return __nv_is_extended_device_lambda_closure_type(T) ||
         __nv_is_extended_host_device_lambda_closure_type(T);
#else
  return false;
#endif
}

/// Whether the host can ask what a call of T takes and returns. clang, there, cannot for any function of the device.
template <typename T> constexpr bool is_known() {
#ifdef __clang__
  return false;
#else
  return !is_extended_lambda<T>();
#endif
}

/// Not of a type with const members, nor of a volatile one.
template <typename T>
inline constexpr bool can_be_held =
    std::is_trivially_copyable_v<T>&& std::is_copy_assignable_v<T>&& std::is_default_constructible_v<T> &&
    !std::is_volatile_v<T>;

template <typename T>
inline constexpr bool can_be_copied = std::is_trivially_copyable_v<T> || is_extended_lambda<T>();

template <typename Operation, typename A> struct IsOperation {
  static constexpr bool value =
      !is_known<Operation>() || std::is_invocable_r_v<A, const Operation&, const A&, const A&>;
};
template <typename Operation, typename T, typename A> struct IsOperation<WithIdentity<Operation, T>, A> {
  static constexpr bool value = IsOperation<Operation, A>::value;
};

template <typename Operation, typename A, typename = void> struct HasIdentity : std::false_type {};
template <typename Operation, typename A>
struct HasIdentity<Operation, A,
                   std::void_t<decltype(std::declval<const Operation&>().template identity<A>())>>
    : std::true_type {};

template <typename Operation> inline constexpr bool is_of_the_host = false;
template <typename T> inline constexpr bool is_of_the_host<std::plus<T>> = true;
template <typename T> inline constexpr bool is_of_the_host<std::multiplies<T>> = true;
template <typename T> inline constexpr bool is_of_the_host<std::logical_and<T>> = true;
template <typename T> inline constexpr bool is_of_the_host<std::logical_or<T>> = true;
template <typename T> inline constexpr bool is_of_the_host<std::bit_and<T>> = true;
template <typename T> inline constexpr bool is_of_the_host<std::bit_or<T>> = true;
template <typename T> inline constexpr bool is_of_the_host<std::bit_xor<T>> = true;
template <typename Operation, typename T>
inline constexpr bool is_of_the_host<WithIdentity<Operation, T>> = is_of_the_host<Operation>;

template <typename Operation, typename Value, typename A, typename = void>
struct TakesElement : std::is_convertible<Value, A> {};
template <typename Operation, typename Value, typename A>
struct TakesElement<Operation, Value, A,
                    std::void_t<decltype(std::declval<const Operation&>().template element<A>(
                        std::declval<Value>(), std::size_t{}))>> : std::true_type {};

// std::is_invocable takes a pointer to a member, too, which is not called so.
template <typename Transform, typename T>
inline constexpr bool takes_element =
    !is_known<Transform>() ||
    (std::is_invocable_v<const Transform&, const T&> && !std::is_member_pointer_v<Transform>);

/// What the transform makes of an element; of a lambda's results the host knows nothing.
template <typename Transform, typename T, typename A, bool = is_known<Transform>()> struct Transformed {
  using Type = A;
};
template <typename Transform, typename T, typename A> struct Transformed<Transform, T, A, true> {
  using Type = std::decay_t<std::invoke_result_t<const Transform&, const T&>>;
};

inline constexpr std::size_t most_bytes = 1536;

/// Whether a To can be made of a From, by an explicit constructor too. C++20 also makes an aggregate of its first member
/// alone: so 0 would be an Indexed<float>.
template <typename To, typename From>
inline constexpr bool can_become = std::is_convertible_v<From, To> ||
                                   (std::is_constructible_v<To, From> && !std::is_aggregate_v<To>);

/// Whether these are [init][, stream].
template <typename A, typename... Rest> inline constexpr bool are_options = sizeof...(Rest) == 0;
template <typename A, typename Last>
inline constexpr bool are_options<A, Last> = is_stream<Last> || can_become<A, Last>;
template <typename A, typename First, typename Last>
inline constexpr bool are_options<A, First, Last> =
    can_become<A, First> && !is_stream<First> && is_stream<Last>;

template <typename> inline constexpr bool never = false;

/// Says what is wrong with a call, once: of a call that fails here nothing more is compiled.
template <typename A, typename T, typename Out, typename Count, typename Operation, typename Transform,
          typename... Rest>
constexpr bool is_right() {
  if constexpr (std::is_const_v<Out>) {
    static_assert(never<A>,
                  "reduction::reduce: out points to a constant, and the result has to be written there");
    return false;
  } else if constexpr (!std::is_integral_v<Count> || std::is_same_v<Count, bool>) {
    static_assert(never<A>, "reduction::reduce: n, the number of elements, has to be an integer");
    return false;
  } else if constexpr (!can_be_held<T>) {
    static_assert(never<A>,
                  "reduction::reduce: elements have to be trivially copyable, assignable and default "
                  "constructible: threads hold them, and move them as bytes");
    return false;
  } else if constexpr (!can_be_held<A>) {
    static_assert(never<A>,
                  "reduction::reduce: the accumulator has to be trivially copyable, assignable and default "
                  "constructible: threads hold it, and move it as bytes");
    return false;
  } else if constexpr (sizeof(T) > most_bytes || alignof(T) > 16 || sizeof(A) > most_bytes ||
                       alignof(A) > 16) {
    static_assert(never<A>,
                  "reduction::reduce: an element or accumulator may have at most 1536 bytes and an alignment "
                  "of at most 16");
    return false;
  } else if constexpr (is_of_the_host<Operation>) {
    static_assert(never<A>,
                  "reduction::reduce: std::plus and its like cannot be called on the device: use "
                  "reduction::Sum or another operation of operations.cuh");
    return false;
  } else if constexpr (!can_be_copied<Operation> || !can_be_copied<Transform>) {
    static_assert(never<A>,
                  "reduction::reduce: operation and transform have to be trivially copyable: kernels get a "
                  "copy of their bytes");
    return false;
  } else if constexpr (!takes_element<Transform, T>) {
    static_assert(never<A>, "reduction::reduce: the transform cannot be called with an element");
    return false;
  } else if constexpr (!IsOperation<Operation, A>::value) {
    static_assert(
        never<A>,
        "reduction::reduce: the operation has to be callable as A(A, A), also as a const, where A is the "
        "accumulator: the first template argument, by default the type that out points to");
    return false;
  } else if constexpr (!HasIdentity<Operation, A>::value) {
    static_assert(never<A>,
                  "reduction::reduce: the operation does not know its identity: pass "
                  "reduction::WithIdentity{operation, identity}; the argument after it is an init, as CUB's");
    return false;
  } else if constexpr (!TakesElement<Operation, typename Transformed<Transform, T, A>::Type, A>::value) {
    static_assert(never<A>,
                  "reduction::reduce: an element, after the transform, has to convert to the accumulator: "
                  "the first template argument, by default the type that out points to");
    return false;
  } else if constexpr (!can_become<Out, A>) {
    static_assert(never<A>,
                  "reduction::reduce: the accumulator has to convert to the type that out points to");
    return false;
  } else if constexpr (!are_options<A, Rest...>) {
    static_assert(never<A>,
                  "reduction::reduce: after the operation (and the transform) come [init][, stream]: an init "
                  "that converts to the accumulator, and a cudaStream_t, which an integer never is");
    return false;
  } else {
    return true;
  }
}

/// The most elements that an accumulator can count: an Indexed has the largest index for none.
template <typename A> inline constexpr std::size_t most_counted = SIZE_MAX;
template <typename T, typename Index>
inline constexpr std::size_t most_counted<Indexed<T, Index>> =
    static_cast<std::size_t>((::cuda::std::numeric_limits<Index>::max)());

template <typename T, typename A, typename Operation, typename Transform>
Reduction<T, A, Operation, Transform> reduction_of(const Operation& operation, const Transform& transform) {
  return {operation, transform};
}

/// For a lambda that is a const variable: WithIdentity{lambda, value} has that const where nvcc compiles for the host, and
/// not where it compiles the kernels, of which the host would find none.
template <typename T, typename A, typename Operation, typename Value, typename Transform>
Reduction<T, A, WithIdentity<Operation, Value>, Transform> reduction_of(
    const WithIdentity<const Operation, Value>& operation, const Transform& transform) {
  return {{operation.operation, operation.value}, transform};
}

/// A call of either form; `bytes` is null if it brings no storage.
template <typename Accumulator, typename T, typename Out, typename Count, typename Operation,
          typename Transform, typename... Rest>
cudaError_t call(void* storage, std::size_t* bytes, const T* in, Out* out, Count n,
                 const Operation& operation, const Transform& transform, const Rest&... rest) {
  using A = AccumulatorOf<Accumulator, Operation, Out>;
  if constexpr (!detail::is_right<A, T, Out, Count, Operation, Transform, Rest...>()) {
    return cudaErrorInvalidValue;
  } else {
    if constexpr (std::is_signed_v<Count>) {
      if (n < 0) return cudaErrorInvalidValue;
    }
    const auto count = static_cast<std::size_t>(n);
    const auto address = reinterpret_cast<std::uintptr_t>(in);
    if (count > SIZE_MAX / sizeof(T)) return cudaErrorInvalidValue;
    using Value =
        std::conditional_t<std::is_same_v<Transform, Itself>, T, typename Transformed<Transform, T, A>::Type>;
    if constexpr (!std::is_convertible_v<Value, A>) {
      if (count > most_counted<A>) return cudaErrorInvalidValue;
    }
    unsigned multiprocessors = 0;
    const cudaError_t status = detail::count_multiprocessors(multiprocessors);
    if (status != cudaSuccess) return status;
    if (bytes != nullptr) {
      const std::size_t needed = std::size_t{multiprocessors} * most_resident_blocks * sizeof(A);
      if (storage == nullptr) {
        *bytes = needed;
        return cudaSuccess;
      }
      if (*bytes < needed || reinterpret_cast<std::uintptr_t>(storage) % alignof(A) != 0)
        return cudaErrorInvalidValue;
    }
    const Options<A> options(rest...);
    const auto reduction = detail::reduction_of<T, A>(operation, transform);
    if (address % alignof(T) != 0 || reinterpret_cast<std::uintptr_t>(out) % alignof(Out) != 0)
      return cudaErrorInvalidValue;
    // A T that is larger than its alignment may be at an address where no vector can begin.
    constexpr bool can_be_wide = 16 % sizeof(T) == 0;
    if constexpr (can_be_wide) {
      if (alignof(T) == sizeof(T) || address % sizeof(T) == 0)
        return detail::run<true>(storage, bytes, multiprocessors, in, out, count, reduction, options.init,
                                 options.stream);
    }
    if constexpr (!can_be_wide || alignof(T) < sizeof(T))
      return detail::run<false>(storage, bytes, multiprocessors, in, out, count, reduction, options.init,
                                options.stream);
    return cudaErrorInvalidValue;
  }
}

}  // namespace detail

/// Combines the n elements at `in` by `operation` and writes the result to `out`, in two calls.
///
/// With storage == nullptr it launches nothing and sets `bytes` to what every call with this accumulator needs on this
/// device, whatever n is. The storage needs no initialisation, and is free again when the work has finished.
///
/// - Accumulator: what the operation combines, the first template argument if you say it: reduce<double>(…). By default
///   Out; but for Sum and Product of __half or __nv_bfloat16 float. The result is converted to Out at the end.
/// - in, out, storage: device memory, aligned for a T, an Out and an accumulator, as cudaMalloc's is. `out` must not
///   overlap storage or input. T and the accumulator are trivially copyable, assignable and default constructible, with at
///   most 1536 bytes and an alignment of at most 16. A T converts to the accumulator, but for the operations that say
///   otherwise: ArgMin, ArgMax and MinMax.
/// - n: any integer. If it is 0, the result is `init`, without an init the operation's identity (of Sum 0).
/// - operation: a device callable A(A, A), associative and commutative, that knows its identity; one of operations.cuh,
///   one of your own, or one in WithIdentity. The order in which it combines elements depends on n, on the types, on
///   the device, on how it was compiled and on `in` modulo 16, but on nothing that happens in a run: in every run the
///   bits are the same.
/// - rest: [init][, stream]. The init is combined once with the elements' result: operation(init, result). An integer
///   there is an init, never a stream. Everything is queued on the stream, by default the null stream, and the
///   host does not wait; it may be captured into a graph.
///
/// Complexity: n operations, and one pass over the input; one or two kernels.
///
/// Returns the first error of CUDA, or cudaErrorInvalidValue for a negative n, for one that the Index of an Indexed cannot
/// hold (unless the host knows nothing of what a transform returns, as of a lambda), for storage that is too small, and
/// for what is misaligned; then nothing is launched. As always with CUDA, an error on the device shows at the stream's next
/// synchronisation.
template <typename Accumulator = detail::Default, typename T, typename Out, typename Count,
          typename Operation, typename... Rest>
cudaError_t reduce(void* storage, std::size_t& bytes, const T* in, Out* out, Count n, Operation operation,
                   const Rest&... rest) {
  return detail::call<Accumulator>(storage, &bytes, in, out, n, operation, detail::Itself{}, rest...);
}

/// The same in one call: storage comes from the stream's memory pool (cudaMallocAsync), if n needs any, and goes back
/// there. Where a device has no memory pools it returns cudaErrorNotSupported.
template <typename Accumulator = detail::Default, typename T, typename Out, typename Count,
          typename Operation, typename... Rest>
cudaError_t reduce(const T* in, Out* out, Count n, Operation operation, const Rest&... rest) {
  return detail::call<Accumulator>(nullptr, nullptr, in, out, n, operation, detail::Itself{}, rest...);
}

/// reduce() of transform(element): a norm, a dot product of a vector with itself, the largest magnitude.
///
/// - transform: a device callable that takes a T and returns what converts to the accumulator, or for ArgMin, ArgMax and
///   MinMax to their values. It is called once per element, in no order.
template <typename Accumulator = detail::Default, typename T, typename Out, typename Count,
          typename Operation, typename Transform, typename... Rest>
cudaError_t transform_reduce(void* storage, std::size_t& bytes, const T* in, Out* out, Count n,
                             Operation operation, Transform transform, const Rest&... rest) {
  return detail::call<Accumulator>(storage, &bytes, in, out, n, operation, transform, rest...);
}

/// The same in one call, with storage from the stream's memory pool.
template <typename Accumulator = detail::Default, typename T, typename Out, typename Count,
          typename Operation, typename Transform, typename... Rest>
cudaError_t transform_reduce(const T* in, Out* out, Count n, Operation operation, Transform transform,
                             const Rest&... rest) {
  return detail::call<Accumulator>(nullptr, nullptr, in, out, n, operation, transform, rest...);
}

}  // namespace REDUCTION_NAMESPACE

}  // namespace reduction
