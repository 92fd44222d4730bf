// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// Operations for reduce.cuh.
///
/// An operation is a callable A(A, A) for the device that knows its identity: a member template identity<A>() for host
/// and device. Four more members are optional:
/// - element<A>(value, index): what an element is to the operation, where a value does not convert to an A;
/// - of_nothing<A>(): the result for no elements, where it is not the identity;
/// - neighbours<A>(values, index): an array of values combined, the first of which has this index, where that takes
///   fewer instructions;
/// - widens: true if __half and __nv_bfloat16 are to be accumulated in float.

#include <cuda_runtime.h>

#include <cuda/std/limits>

#include <cstddef>
#include <type_traits>
#include <utility>

#include "version.cuh"

// Of cuda_fp16.h and cuda_bf16.h, which only those include who use them.
struct __half;
struct __nv_bfloat16;

namespace reduction {

// A namespace for each version, as version.cuh says, but for all architectures: a library may return an Indexed<float>
// to one that is compiled for another.
inline namespace v0_5 {

namespace traits {

template <typename T>
inline constexpr bool is_small_float = std::is_same_v<T, ::__half> || std::is_same_v<T, ::__nv_bfloat16>;

template <typename T>
using Limits = ::cuda::std::numeric_limits<std::conditional_t<is_small_float<T>, float, T>>;

/// A type with limits, or none.
template <typename T> using IfLimited = std::enable_if_t<Limits<T>::is_specialized>;

// Types that have the operator, or none.
template <typename T> using IfAdds = decltype(T(std::declval<const T&>() + std::declval<const T&>()));
template <typename T> using IfMultiplies = decltype(T(std::declval<const T&>() * std::declval<const T&>()));
template <typename T> using IfCompares = decltype(std::declval<const T&>() < std::declval<const T&>());
template <typename T> using IfLogical = decltype(T(std::declval<const T&>() && std::declval<const T&>()));

/// A type that a value makes, or none.
template <typename From, typename T> using IfFrom = std::enable_if_t<std::is_constructible_v<T, From>>;

/// Returns the value above all others but NaN.
template <typename T> __host__ __device__ T highest() {
  static_assert(Limits<T>::is_specialized,
                "no limits are known of this type: give the identity by WithIdentity");
  if constexpr (Limits<T>::has_infinity) return T(Limits<T>::infinity());
  return T((Limits<T>::max)());
}

/// Returns the value below all others but NaN.
template <typename T> __host__ __device__ T lowest() {
  static_assert(Limits<T>::is_specialized,
                "no limits are known of this type: give the identity by WithIdentity");
  if constexpr (Limits<T>::has_infinity) return T(-Limits<T>::infinity());
  return T(Limits<T>::lowest());
}

template <typename T> __host__ __device__ bool is_nan(const T& a) {
  if constexpr (Limits<T>::has_quiet_NaN) return a != a;
  return false;
}

/// Signed integers wrap around as unsigned ones do, which is defined; those of 8 and 16 bits as `unsigned`.
template <typename T, bool = std::is_integral_v<T> && !std::is_same_v<T, bool>> struct Wrapping {
  using Type = T;
};
template <typename T> struct Wrapping<T, true> {
  using Type = std::common_type_t<unsigned, std::make_unsigned_t<T>>;
};
template <typename T> using WrappingType = typename Wrapping<T>::Type;

/// Types whose sums and products are rounded once, to the nearest number, whatever the compiler's options.
template <typename T>
inline constexpr bool is_rounded = std::is_same_v<T, float> || std::is_same_v<T, double>;

// An instruction that says how it rounds is never contracted with another, nor does it flush denormal numbers unless it
// says so (PTX ISA, "add"): not with --use_fast_math either. They are not volatile: the compiler may move them.

inline __host__ __device__ float rounded_sum(float a, float b) {
#if defined(__CUDA_ARCH__) && !defined(__EMULATED_DEVICE__)
  asm("add.rn.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
#else
  return a + b;
#endif
}

inline __host__ __device__ double rounded_sum(double a, double b) {
#if defined(__CUDA_ARCH__) && !defined(__EMULATED_DEVICE__)
  asm("add.rn.f64 %0, %0, %1;" : "+d"(a) : "d"(b));
  return a;
#else
  return a + b;
#endif
}

inline __host__ __device__ float rounded_product(float a, float b) {
#if defined(__CUDA_ARCH__) && !defined(__EMULATED_DEVICE__)
  asm("mul.rn.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
#else
  return a * b;
#endif
}

inline __host__ __device__ double rounded_product(double a, double b) {
#if defined(__CUDA_ARCH__) && !defined(__EMULATED_DEVICE__)
  asm("mul.rn.f64 %0, %0, %1;" : "+d"(a) : "d"(b));
  return a;
#else
  return a * b;
#endif
}

/// Returns the value as a T. With --use_fast_math a cast between float and double flushes denormal floats.
template <typename T, typename From> __host__ __device__ T converted(const From& value) {
#if defined(__CUDA_ARCH__) && !defined(__EMULATED_DEVICE__)
  if constexpr (std::is_same_v<From, float> && std::is_same_v<T, double>) {
    double as_double = 0;
    asm("cvt.f64.f32 %0, %1;" : "=d"(as_double) : "f"(value));
    return as_double;
  } else if constexpr (std::is_same_v<From, double> && std::is_same_v<T, float>) {
    float rounded = 0;
    asm("cvt.rn.f32.f64 %0, %1;" : "=f"(rounded) : "d"(value));
    return rounded;
  } else if constexpr (is_small_float<From> && std::is_same_v<T, double>) {
    return traits::converted<T>(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
#else
  return static_cast<T>(value);
#endif
}

}  // namespace traits

/// Integers wrap around; a float or double is rounded once.
struct Sum {
  static constexpr bool widens = true;
  template <typename T, typename = traits::IfAdds<T>>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    if constexpr (traits::is_rounded<T>) {
      return traits::rounded_sum(a, b);
    } else {
      using Wrapping = traits::WrappingType<T>;
      return T(Wrapping(a) + Wrapping(b));
    }
  }
  /// Of floating-point numbers -0: with 0, a sum of zeros that are all -0 would be 0.
  template <typename T> static __host__ __device__ T identity() {
    if constexpr (std::is_floating_point_v<T> || traits::is_small_float<T>) return T(-0.0f);
    return T{};
  }
  template <typename T> static __host__ __device__ T of_nothing() { return T{}; }
};

/// Integers wrap around; a float or double is rounded once.
struct Product {
  static constexpr bool widens = true;
  template <typename T, typename = traits::IfMultiplies<T>>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    if constexpr (traits::is_rounded<T>) {
      return traits::rounded_product(a, b);
    } else {
      using Wrapping = traits::WrappingType<T>;
      return T(Wrapping(a) * Wrapping(b));
    }
  }
  template <typename T, typename = traits::IfFrom<int, T>> static __host__ __device__ T identity() {
    return T(1);
  }
};

/// Returns the smaller value and passes over a NaN.
struct Min {
  template <typename T, typename = traits::IfCompares<T>>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return b < a || traits::is_nan(a) ? b : a;
  }
  template <typename T, typename = traits::IfLimited<T>> static __host__ __device__ T identity() {
    return traits::highest<T>();
  }
};

/// Returns the larger value and passes over a NaN.
struct Max {
  template <typename T, typename = traits::IfCompares<T>>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a < b || traits::is_nan(a) ? b : a;
  }
  template <typename T, typename = traits::IfLimited<T>> static __host__ __device__ T identity() {
    return traits::lowest<T>();
  }
};

/// Returns the smaller value, or NaN if one of them is.
struct MinOrNaN {
  template <typename T, typename = traits::IfCompares<T>>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return b < a || traits::is_nan(b) ? b : a;
  }
  template <typename T, typename = traits::IfLimited<T>> static __host__ __device__ T identity() {
    return traits::highest<T>();
  }
};

/// Returns the larger value, or NaN if one of them is.
struct MaxOrNaN {
  template <typename T, typename = traits::IfCompares<T>>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a < b || traits::is_nan(b) ? b : a;
  }
  template <typename T, typename = traits::IfLimited<T>> static __host__ __device__ T identity() {
    return traits::lowest<T>();
  }
};

/// Whether all elements are true, as a T.
struct LogicalAnd {
  template <typename T, typename = traits::IfLogical<T>>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return T(static_cast<bool>(a) && static_cast<bool>(b));
  }
  template <typename T, typename = traits::IfFrom<bool, T>> static __host__ __device__ T identity() {
    return T(true);
  }
};

/// Whether any element is true, as a T.
struct LogicalOr {
  template <typename T, typename = traits::IfLogical<T>>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return T(static_cast<bool>(a) || static_cast<bool>(b));
  }
  template <typename T, typename = traits::IfFrom<bool, T>> static __host__ __device__ T identity() {
    return T(false);
  }
};

/// The smallest and the largest of some values: the result of MinMax.
template <typename T> struct Extremes {
  T smallest;
  T largest;
};

/// Returns both extremes and passes over NaNs.
struct MinMax {
  template <typename T, typename = traits::IfCompares<T>>
  __host__ __device__ Extremes<T> operator()(const Extremes<T>& a, const Extremes<T>& b) const {
    return {Min{}(a.smallest, b.smallest), Max{}(a.largest, b.largest)};
  }
  template <typename Both, typename = traits::IfLimited<decltype(Both::smallest)>>
  static __host__ __device__ Both identity() {
    using T = decltype(Both::smallest);
    return {Min::identity<T>(), Max::identity<T>()};
  }
  template <typename Both, typename T, typename Member = decltype(Both::smallest),
            typename = traits::IfFrom<const T&, Member>>
  static __host__ __device__ Both element(const T& value, std::size_t) {
    return {Member(value), Member(value)};
  }
};

/// A value and where it is: the result of ArgMin and ArgMax.
template <typename T, typename Index = long long> struct Indexed {
  T value;
  Index index;
};

namespace traits {

struct Less {
  /// Returns a < b, with a NaN above all else.
  template <typename T> static __host__ __device__ bool precedes(const T& a, const T& b) {
    if constexpr (Limits<T>::has_quiet_NaN) {  // in this form two instructions, and no branch
      const bool is_number = a == a;
      const bool is_later = b <= a;
      return is_number & !is_later;
    }
    return a < b;
  }
  template <typename T> static __host__ __device__ T last() { return highest<T>(); }
};

struct Greater {
  /// Returns a > b, with a NaN below all else.
  template <typename T> static __host__ __device__ bool precedes(const T& a, const T& b) {
    if constexpr (Limits<T>::has_quiet_NaN) {
      const bool is_number = a == a;
      const bool is_later = a <= b;
      return is_number & !is_later;
    }
    return b < a;
  }
  template <typename T> static __host__ __device__ T last() { return lowest<T>(); }
};

/// The first value in this order; of equal ones that with the lowest index. The identity is behind all elements: it has
/// the last value and the highest index.
template <typename Order> struct ArgFirst {
  template <typename T, typename Index, typename = IfCompares<T>>
  __host__ __device__ Indexed<T, Index> operator()(const Indexed<T, Index>& a,
                                                   const Indexed<T, Index>& b) const {
    const bool precedes = Order::precedes(b.value, a.value);
    const bool follows = Order::precedes(a.value, b.value);
    const bool has_lower_index = b.index < a.index;
    return precedes | (has_lower_index & !follows) ? b : a;
  }
  /// Of elements that are pairs already each has its own index.
  template <typename Pair, typename T, unsigned count, typename = IfFrom<const T&, decltype(Pair::value)>,
            typename = std::enable_if_t<!std::is_convertible_v<const T&, Pair>>>
  static __device__ Pair neighbours(const T (&values)[count], std::size_t index) {
    using Value = decltype(Pair::value);
    auto first = static_cast<Value>(values[0]);
    unsigned place = 0;
#pragma unroll
    for (unsigned k = 1; k < count; ++k) {
      const auto value = static_cast<Value>(values[k]);  // two may differ as a T and be equal as a Value
      const bool precedes = Order::precedes(value, first);
      first = precedes ? value : first;
      place = precedes ? k : place;
    }
    return element<Pair>(first, index + place);
  }
  template <typename Pair, typename = IfLimited<decltype(Pair::value)>>
  static __host__ __device__ Pair identity() {
    using T = decltype(Pair::value);
    using Index = decltype(Pair::index);
    const Index none = (::cuda::std::numeric_limits<Index>::max)();
    if constexpr (Limits<T>::has_quiet_NaN) return {T(Limits<T>::quiet_NaN()), none};
    return {Order::template last<T>(), none};
  }
  template <typename Pair, typename T, typename = IfFrom<const T&, decltype(Pair::value)>>
  static __host__ __device__ Pair element(const T& value, std::size_t index) {
    return {decltype(Pair::value)(value), static_cast<decltype(Pair::index)>(index)};
  }
};

}  // namespace traits

/// Returns the smallest value and its index; of equal values the lowest index, so that the order of comparisons does not
/// matter. Passes over NaNs; if all are, index 0 is returned.
struct ArgMin : traits::ArgFirst<traits::Less> {};

/// Returns the largest value and its index, as ArgMin does.
struct ArgMax : traits::ArgFirst<traits::Greater> {};

/// An operation with its identity, for a lambda or a functor that has no member identity().
template <typename Operation, typename T> struct WithIdentity {
  Operation operation;
  T value;
  template <typename A> __device__ A operator()(const A& a, const A& b) const { return operation(a, b); }
  template <typename A> __host__ __device__ A identity() const { return A(value); }
};
template <typename Operation, typename T> WithIdentity(Operation, T) -> WithIdentity<Operation, T>;

/// An operation whose elements are combined in one order, which only their number and size determine: the result has the
/// same bits on every GPU, in every build and at every address.
template <typename Operation> struct SameBits { Operation operation; };
template <typename Operation> SameBits(Operation) -> SameBits<Operation>;

namespace traits {

template <typename Operation, typename... List>
inline constexpr bool is_one_of = (std::is_same_v<Operation, List> || ...);

/// Whether the bits of a result may depend on the order in which elements of type Value are combined as an A. Integers are
/// combined exactly, and of equal floats the sign of a zero tells two apart.
template <typename Value, typename A, typename Operation>
inline constexpr bool order_matters =
    !std::is_integral_v<A> ||
    !is_one_of<Operation, Sum, Product, Min, Max, MinOrNaN, MaxOrNaN, LogicalAnd, LogicalOr>;
template <typename Value, typename T, typename Operation>
inline constexpr bool order_matters<Value, Extremes<T>, Operation> =
    !std::is_integral_v<T> || !std::is_same_v<Operation, MinMax>;
/// Elements that are pairs already may have one index, and zeros with different signs.
template <typename Value, typename T, typename Index, typename Operation>
inline constexpr bool order_matters<Value, Indexed<T, Index>, Operation> =
    !is_one_of<Operation, ArgMin, ArgMax> ||
    !(std::is_integral_v<T> ||
      (std::is_floating_point_v<T> && !std::is_convertible_v<Value, Indexed<T, Index>>));

}  // namespace traits

// ---- what n may be besides ----

/// A number of elements that is in device memory when the kernels run: *count, as a kernel before them has left it. They are
/// queued for `capacity` elements, and never read more: of a larger count these are reduced, of a negative one none.
template <typename Integer> struct OnDevice {
  const Integer* count;
  std::size_t capacity;

  template <typename Capacity>
  OnDevice(const Integer* count_, Capacity capacity_)
      : count(count_), capacity(static_cast<std::size_t>(capacity_)) {}
};

}  // namespace v0_5

}  // namespace reduction
