// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// reduce() and transform_reduce(): the ladder's result for other people's projects. They need C++17, the CUDA toolkit
/// and this folder.
///
/// A small input takes one kernel of one block. A larger one takes two: in the first each block takes one tile and leaves one
/// partial result, in the second one block combines these; of very many, a kernel between them combines shares. From compute
/// capability 9.0 on the later ones are launched ahead and wait on the device ("programmatic dependent launch", CUDA C++
/// Programming Guide), so their launch costs next to nothing.

// A compiler of kernels that is neither nvcc nor clang says so by its list of architectures.
#if !defined(__CUDACC__) && !defined(__CUDA_ARCH_LIST__)
#error "reduction/reduce.cuh has kernels: include it where nvcc compiles, in a .cu file"
#endif

#include "version.cuh"  // first: what is too old is told before it fails

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "compensated_sum.cuh"
#include "elements.cuh"
#include "input.cuh"
#include "launch.cuh"
#include "operations.cuh"
#include "reduce_kernels.cuh"

namespace reduction {

inline namespace REDUCTION_NAMESPACE {

namespace detail {

// ---- what a call is given ----

struct Default {};

/// What `Operation` accumulates in, if the call does not say: what the result is; but a float for a sum or a product of
/// __half and __nv_bfloat16, and what CompensatedSum combines for its Bounded.
template <typename Operation, typename Out, typename = void> struct DefaultAccumulator { using Type = Out; };
template <typename Operation, typename Out>
struct DefaultAccumulator<Operation, Out,
                          std::enable_if_t<Operation::widens && traits::is_small_float<Out>>> {
  using Type = float;
};
template <typename T> struct DefaultAccumulator<CompensatedSum, Bounded<T>> { using Type = Compensated<T>; };
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
template <typename T>
inline constexpr bool is_extended_lambda =
#ifdef __CUDACC_EXTENDED_LAMBDA__
    __nv_is_extended_device_lambda_closure_type(T) || __nv_is_extended_host_device_lambda_closure_type(T);
#else
    false;
#endif
template <typename Transform>
inline constexpr bool is_extended_lambda<OfTwo<Transform>> = is_extended_lambda<Transform>;

/// Whether the host can ask what a call of T takes and returns. clang, there, cannot for any function of the device.
template <typename T> constexpr bool is_known() {
#ifdef __clang__
  return false;
#else
  return !is_extended_lambda<T>;
#endif
}

/// Not of a type with const members, nor of a volatile one.
template <typename T>
inline constexpr bool can_be_held =
    std::is_trivially_copyable_v<T>&& std::is_copy_assignable_v<T>&& std::is_default_constructible_v<T> &&
    !std::is_volatile_v<T>;
template <typename T, typename U>
inline constexpr bool can_be_held<Two<T, U>> = can_be_held<T>&& can_be_held<U>;

template <typename T>
inline constexpr bool can_be_copied = std::is_trivially_copyable_v<T> || is_extended_lambda<T>;

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

/// What the number of elements may be.
template <typename Count>
inline constexpr bool is_count = std::is_integral_v<Count> && !std::is_same_v<Count, bool>;
template <typename Integer> inline constexpr bool is_count<OnDevice<Integer>> = is_count<Integer>;

/// Whether these are [init][, stream].
template <typename A, typename... Rest> inline constexpr bool are_options = sizeof...(Rest) == 0;
template <typename A, typename Last>
inline constexpr bool are_options<A, Last> = is_stream<Last> || can_become<A, Last>;
template <typename A, typename First, typename Last>
inline constexpr bool are_options<A, First, Last> =
    can_become<A, First> && !is_stream<First> && is_stream<Last>;

template <typename> inline constexpr bool never = false;

template <typename A> inline constexpr bool is_compensated = false;
template <typename T> inline constexpr bool is_compensated<Compensated<T>> = true;
/// With a type that no bound is known for.
template <typename A> inline constexpr bool is_bounded_wrongly = false;
template <typename T> inline constexpr bool is_bounded_wrongly<Compensated<T>> = !traits::is_rounded<T>;

/// Says what is wrong with a call, once: of a call that fails here nothing more is compiled.
template <typename A, typename T, typename Out, typename Count, typename Operation, typename Transform,
          typename... Rest>
constexpr bool is_right() {
  if constexpr (std::is_const_v<Out>) {
    static_assert(never<A>,
                  "reduction::reduce: out points to a constant, and the result has to be written there");
    return false;
  } else if constexpr (!is_count<Count>) {
    static_assert(never<A>,
                  "reduction::reduce: n, the number of elements, has to be an integer, or OnDevice");
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
  } else if constexpr (is_bounded_wrongly<A>) {
    static_assert(
        never<A>,
        "reduction::reduce: a Bounded is of float or double: of no other type's sums a bound is known");
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
  } else if constexpr (is_compensated<A> &&
                       !TakesElement<Operation, typename Transformed<Transform, T, A>::Type, A>::value) {
    static_assert(
        never<A>,
        "reduction::reduce: an element of CompensatedSum, after the transform, has to be a number that "
        "the Bounded's type has exactly: its rounding would not be in the bound");
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

/// What a number of elements on the host is to the kernels, and what one on the device is.
template <typename T, typename Integer> struct Counted {
  std::size_t most;
  explicit Counted(Integer n) : most(static_cast<std::size_t>(n)) {}
  template <bool wide> Split<T, wide> split(const Where<T>& in) const { return {in, most}; }
  SomeElements count() const { return {}; }
  Chunks chunks() const { return detail::chunks_of<T>(most); }
  bool is_aligned() const { return true; }
};
template <typename T, typename Integer> struct Counted<T, OnDevice<Integer>> {
  DeviceCount<Integer> n;
  std::size_t most;
  explicit Counted(const OnDevice<Integer>& of) : n{of}, most(of.capacity) {}
  template <bool wide> SplitOnDevice<T, wide, Integer> split(const Where<T>& in) const { return {in, n}; }
  DeviceCount<Integer> count() const { return n; }
  ChunksOnDevice<T, Integer> chunks() const { return {n}; }
  bool is_aligned() const { return detail::is_aligned(n.n.count); }
};

/// What a call returns unless another pointer stands where n would: then it has two arrays, also of float* and not const float*.
template <typename Count> using OfOneArray = std::enable_if_t<!std::is_pointer_v<Count>, cudaError_t>;

template <typename Operation> const Operation& inner(const Operation& operation) { return operation; }
template <typename Operation> const Operation& inner(const SameBits<Operation>& same) {
  return same.operation;
}

/// A call of either form; `bytes` is null if it brings no storage.
template <typename Accumulator, typename T, typename Out, typename Count, typename Given, typename Transform,
          typename... Rest>
cudaError_t call(void* storage, std::size_t* bytes, const Where<T>& in, Out* out, Count n, const Given& given,
                 const Transform& transform, const Rest&... rest) {
  const auto& operation = detail::inner(given);
  using Operation = std::decay_t<decltype(operation)>;
  constexpr bool same_bits = !std::is_same_v<Given, Operation>;
  using A = AccumulatorOf<Accumulator, Operation, Out>;
  if constexpr (!detail::is_right<A, T, Out, Count, Operation, Transform, Rest...>()) {
    return cudaErrorInvalidValue;
  } else {
    if constexpr (std::is_signed_v<Count>) {
      if (n < 0) return cudaErrorInvalidValue;
    }
    const Counted<T, Count> counted(n);
    if (counted.most > PTRDIFF_MAX / sizeof(T)) return cudaErrorInvalidValue;
    using Value =
        std::conditional_t<std::is_same_v<Transform, Itself>, T, typename Transformed<Transform, T, A>::Type>;
    if constexpr (!std::is_convertible_v<Value, A>) {
      if (counted.most > most_counted<A>) return cudaErrorInvalidValue;
    }
    constexpr bool in_chunks = same_bits && traits::order_matters<Value, A, Operation>;
    if (bytes != nullptr) {
      const std::size_t needed =
          sizeof(A) * (in_chunks ? std::size_t{most_chunks} : detail::most_partial_results<T>(counted.most));
      if (storage == nullptr) {
        *bytes = needed;
        return cudaSuccess;
      }
      if (*bytes < needed || reinterpret_cast<std::uintptr_t>(storage) % alignof(A) != 0)
        return cudaErrorInvalidValue;
    }
    const Options<A> options(rest...);
    const auto reduction = detail::reduction_of<T, A>(operation, transform);
    if (!detail::is_aligned(in) || !counted.is_aligned() ||
        reinterpret_cast<std::uintptr_t>(out) % alignof(Out) != 0)
      return cudaErrorInvalidValue;
    if constexpr (in_chunks) {
      if constexpr (can_be_wide<T>) {
        if (!detail::begins_with_vectors(in))
          return detail::run_same_bits<false>(storage, bytes, in, counted.chunks(), counted.most, out,
                                              reduction, options.init, options.stream);
      }
      return detail::run_same_bits<true>(storage, bytes, in, counted.chunks(), counted.most, out, reduction,
                                         options.init, options.stream);
    } else {
      if constexpr (can_be_wide<T>) {
        if (detail::has_vectors(in))
          return detail::run(storage, bytes, counted.template split<true>(in), counted.count(), counted.most,
                             out, reduction, options.init, options.stream);
      }
      if constexpr (!is_wide<T>)
        return detail::run(storage, bytes, counted.template split<false>(in), counted.count(), counted.most,
                           out, reduction, options.init, options.stream);
      return cudaErrorInvalidValue;
    }
  }
}

}  // namespace detail

/// Combines the n elements at `in` by `operation` and writes the result to `out`, in two calls.
///
/// With storage == nullptr it launches nothing and sets `bytes` to what calls with these types need for n elements or
/// fewer. The storage needs no initialisation, and is free again when the work has finished.
///
/// - Accumulator: what the operation combines, the first template argument if you say it: reduce<double>(…). By default
///   Out; but for Sum and Product of __half or __nv_bfloat16 float, and for CompensatedSum into a Bounded<T> a
///   Compensated<T>. The result is converted to Out at the end.
/// - in, out, storage: device memory, aligned for a T, an Out and an accumulator, as cudaMalloc's is. `out` must not
///   overlap storage or input. T and the accumulator are trivially copyable, assignable and default constructible, with at
///   most 1536 bytes and an alignment of at most 16. A T converts to the accumulator, but for the operations that say
///   otherwise: ArgMin, ArgMax and MinMax. CompensatedSum takes what its type has exactly, as an init, too.
/// - n: any integer, or OnDevice{count, capacity}: an integer in device memory. If it is 0, the result is `init`, without an
///   init the operation's identity (of Sum 0).
/// - operation: a device callable A(A, A), associative and commutative, that knows its identity; one of operations.cuh, one
///   of your own, or one in WithIdentity. The order in which it combines elements depends on n (and a capacity), on the
///   types, on the device and on `in` modulo 16, but on nothing that happens in a run: in every run the bits are the same.
///   SameBits{operation} leaves the order to n and the element's size alone.
/// - rest: [init][, stream]. The init is combined once with the elements' result: operation(init, result). An integer
///   there is an init, never a stream. Everything is queued on the stream, by default the null stream, and the
///   host does not wait; it may be captured into a graph.
///
/// Complexity: n operations, and one pass over the input; at most three kernels.
///
/// Returns the first error of CUDA, or cudaErrorInvalidValue for a negative n, for one that the Index of an Indexed cannot
/// hold (unless the host knows nothing of what a transform returns, as of a lambda), for storage that is too small, and
/// for what is misaligned; then nothing is launched. As always with CUDA, an error on the device shows at the stream's next
/// synchronisation.
template <typename Accumulator = detail::Default, typename T, typename Out, typename Count,
          typename Operation, typename... Rest>
cudaError_t reduce(void* storage, std::size_t& bytes, const T* in, Out* out, Count n, Operation operation,
                   const Rest&... rest) {
  return detail::call<Accumulator, T>(storage, &bytes, in, out, n, operation, detail::Itself{}, rest...);
}

/// The same in one call: storage comes from the stream's memory pool (cudaMallocAsync), if n needs any, and goes back
/// there. Where a device has no memory pools it returns cudaErrorNotSupported.
template <typename Accumulator = detail::Default, typename T, typename Out, typename Count,
          typename Operation, typename... Rest>
cudaError_t reduce(const T* in, Out* out, Count n, Operation operation, const Rest&... rest) {
  return detail::call<Accumulator, T>(nullptr, nullptr, in, out, n, operation, detail::Itself{}, rest...);
}

/// reduce() of transform(element): a norm, a dot product of a vector with itself, the largest magnitude.
///
/// - transform: a device callable that takes a T and returns what converts to the accumulator, or for ArgMin, ArgMax and
///   MinMax to their values. It is called once per element, in no order.
template <typename Accumulator = detail::Default, typename T, typename Out, typename Count,
          typename Operation, typename Transform, typename... Rest>
detail::OfOneArray<Count> transform_reduce(void* storage, std::size_t& bytes, const T* in, Out* out, Count n,
                                           Operation operation, Transform transform, const Rest&... rest) {
  return detail::call<Accumulator, T>(storage, &bytes, in, out, n, operation, transform, rest...);
}

/// The same in one call, with storage from the stream's memory pool.
template <typename Accumulator = detail::Default, typename T, typename Out, typename Count,
          typename Operation, typename Transform, typename... Rest>
detail::OfOneArray<Count> transform_reduce(const T* in, Out* out, Count n, Operation operation,
                                           Transform transform, const Rest&... rest) {
  return detail::call<Accumulator, T>(nullptr, nullptr, in, out, n, operation, transform, rest...);
}

/// reduce() of transform(a[i], b[i]): a dot product, a distance, the place where two arrays differ most.
///
/// - a, b: n elements each, of one type or of two. Where they begin at the same distance from a multiple of 16 bytes, counted
///   in elements, they are loaded 16 bytes at a time.
/// - transform: a device callable that takes an element of each.
template <typename Accumulator = detail::Default, typename T, typename U, typename Out, typename Count,
          typename Operation, typename Transform, typename... Rest>
cudaError_t transform_reduce(void* storage, std::size_t& bytes, const T* a, const U* b, Out* out, Count n,
                             Operation operation, Transform transform, const Rest&... rest) {
  return detail::call<Accumulator, detail::Two<T, U>>(storage, &bytes, {a, b}, out, n, operation,
                                                      detail::OfTwo<Transform>{transform}, rest...);
}

/// The same in one call, with storage from the stream's memory pool.
template <typename Accumulator = detail::Default, typename T, typename U, typename Out, typename Count,
          typename Operation, typename Transform, typename... Rest>
cudaError_t transform_reduce(const T* a, const U* b, Out* out, Count n, Operation operation,
                             Transform transform, const Rest&... rest) {
  return detail::call<Accumulator, detail::Two<T, U>>(nullptr, nullptr, {a, b}, out, n, operation,
                                                      detail::OfTwo<Transform>{transform}, rest...);
}

}  // namespace REDUCTION_NAMESPACE

}  // namespace reduction
