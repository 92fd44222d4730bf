// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// What a thread of reduce.cuh's kernels does with the elements that it has loaded.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "input.cuh"
#include "operations.cuh"
#include "version.cuh"

struct __half2;
struct __nv_bfloat162;

namespace reduction {

inline namespace REDUCTION_NAMESPACE {

namespace detail {

// ---- several elements per instruction ----

template <typename T>
inline constexpr bool is_small_integer = std::is_integral_v<T> && sizeof(T) <= 2 && !std::is_same_v<T, bool>;

template <typename Operation>
inline constexpr bool is_min = std::is_same_v<Operation, Min> || std::is_same_v<Operation, MinOrNaN>;
template <typename Operation>
inline constexpr bool is_max = std::is_same_v<Operation, Max> || std::is_same_v<Operation, MaxOrNaN>;

/// Returns the minima or maxima of the small integers that a and b hold at the same places.
template <typename T, typename Operation>
__device__ std::uint32_t of_each(std::uint32_t a, std::uint32_t b, Operation) {
  constexpr bool bytes = sizeof(T) == 1;
  if constexpr (is_min<Operation>) {
    if constexpr (std::is_signed_v<T>) return bytes ? __vmins4(a, b) : __vmins2(a, b);
    return bytes ? __vminu4(a, b) : __vminu2(a, b);
  } else {
    if constexpr (std::is_signed_v<T>) return bytes ? __vmaxs4(a, b) : __vmaxs2(a, b);
    return bytes ? __vmaxu4(a, b) : __vmaxu2(a, b);
  }
}

/// Does the same for two numbers of 16 bits.
template <typename Two, typename Operation>
__device__ std::uint32_t of_both(std::uint32_t a, std::uint32_t b, Operation) {
  Two first;
  Two second;
  std::memcpy(static_cast<void*>(&first), &a, sizeof(a));
  std::memcpy(static_cast<void*>(&second), &b, sizeof(b));
  if constexpr (std::is_same_v<Operation, Min>)
    first = __hmin2(first, second);
  else
    first = __hmax2(first, second);
  std::memcpy(&a, &first, sizeof(a));
  return a;
}

/// What one instruction does to all elements of a word; `exists` if there is such an instruction.
template <typename T, typename A, typename Operation, typename = void> struct Packed {
  static constexpr bool exists = false;
};

template <typename T, typename Operation>
struct Packed<T, T, Operation,
              std::enable_if_t<is_small_integer<T> && (is_min<Operation> || is_max<Operation>)>> {
  static constexpr bool exists = true;
  static __device__ T combined(const uint4& words, Operation operation) {
    const auto of_all = [&](auto as, unsigned shift) {
      using Part = decltype(as);
      return of_each<Part>(of_each<Part>(words.x << shift, words.y << shift, operation),
                           of_each<Part>(words.z << shift, words.w << shift, operation), operation);
    };
#if __CUDA_ARCH__ >= 900
    // It has instructions for two of 16 bits, and none for four of 8: of two numbers with other upper bytes these decide.
    if constexpr (sizeof(T) == 1) {
      using Pair = std::conditional_t<std::is_signed_v<T>, std::int16_t, std::uint16_t>;
      std::uint32_t word = of_each<Pair>(of_all(Pair{}, 0), of_all(Pair{}, 8), operation);
      word = of_each<Pair>(word, word >> 16, operation);
      return static_cast<T>(word >> 8);
    }
#endif
    std::uint32_t word = of_all(T{}, 0);
    word = of_each<T>(word, word >> 16, operation);
    if constexpr (sizeof(T) == 1) word = of_each<T>(word, word >> 8, operation);
    return static_cast<T>(word);
  }
};

template <typename T, typename Operation>
struct Packed<T, T, Operation,
              std::enable_if_t<traits::is_small_float<T> &&
                               (std::is_same_v<Operation, Min> || std::is_same_v<Operation, Max>)>> {
  static constexpr bool exists = true;
  using Two = std::conditional_t<std::is_same_v<T, ::__half>, ::__half2, ::__nv_bfloat162>;
  static __device__ T combined(const uint4& words, Operation operation) {
    std::uint32_t word = of_both<Two>(of_both<Two>(words.x, words.y, operation),
                                      of_both<Two>(words.z, words.w, operation), operation);
    word = of_both<Two>(word, word >> 16, operation);
    T result;
    std::memcpy(static_cast<void*>(&result), &word, sizeof(result));
    return result;
  }
};

/// A sum of small integers is their dot product with ones.
template <typename T, typename A>
struct Packed<T, A, Sum,
              std::enable_if_t<is_small_integer<T> && std::is_arithmetic_v<A> && !std::is_same_v<A, bool>>> {
  static constexpr bool exists = true;
  static __device__ A combined(const uint4& words, Sum) {
    using Word = std::conditional_t<std::is_signed_v<T>, int, unsigned>;
    Word sum = 0;
    for (const std::uint32_t word : {words.x, words.y, words.z, words.w}) {
      if constexpr (sizeof(T) == 1)
        sum = __dp4a(static_cast<Word>(word), Word{0x01010101}, sum);
      else
        sum = __dp2a_lo(static_cast<Word>(word), Word{0x0101}, sum);
    }
    return static_cast<A>(sum);
  }
};

// ---- what is done with the elements ----

/// The transform of those who have none.
struct Itself {
  template <typename T> __device__ const T& operator()(const T& value) const { return value; }
};

template <typename Operation, typename A, typename = void> struct has_of_nothing : std::false_type {};
template <typename Operation, typename A>
struct has_of_nothing<Operation, A,
                      std::void_t<decltype(std::declval<const Operation&>().template of_nothing<A>())>>
    : std::true_type {};

template <typename Operation, typename A, typename Value, typename = void>
struct has_neighbours : std::false_type {};
template <typename Operation, typename A, typename Value>
struct has_neighbours<Operation, A, Value,
                      std::void_t<decltype(std::declval<const Operation&>().template neighbours<A>(
                          std::declval<const Value (&)[2]>(), std::size_t{}))>> : std::true_type {};

/// A transform of two values as one of a Two.
template <typename Transform> struct OfTwo {
  Transform transform;
  template <typename T, typename U, typename F = Transform>
  __device__ auto operator()(const Two<T, U>& both) const
      -> decltype(std::declval<const F&>()(both.first, both.second)) {
    return transform(both.first, both.second);
  }
};

/// What the kernels of one call do: elements T are transformed and combined as accumulators A.
template <typename T, typename A, typename Operation, typename Transform> struct Reduction {
  using Element = T;
  using Accumulator = A;
  /// Whether it takes few registers, and few instructions.
  static constexpr bool is_light =
      ((std::is_arithmetic_v<A> && std::is_arithmetic_v<T>) || Packed<T, A, Operation>::exists) &&
      std::is_same_v<Transform, Itself> &&
      traits::is_one_of<Operation, Sum, Product, Min, Max, MinOrNaN, MaxOrNaN, LogicalAnd, LogicalOr>;
  Operation operation;
  Transform transform;

  __device__ A identity() const { return operation.template identity<A>(); }
  __device__ A of_nothing() const {
    if constexpr (has_of_nothing<Operation, A>::value) return operation.template of_nothing<A>();
    return identity();
  }
  __device__ A combined(const A& a, const A& b) const { return operation(a, b); }

  /// Returns element number `index` as the operation takes it.
  __device__ A element(const T& value, std::size_t index) const {
    return accumulator(transform(value), index);
  }

  /// Returns the elements of one load combined; the first is element number `index`.
  template <bool wide> __device__ A combined(const Vector<T, wide>& loaded, std::size_t index) const {
    if constexpr (!wide) {
      return element(loaded.element, index);
    } else if constexpr (std::is_same_v<Transform, Itself> && Packed<T, A, Operation>::exists) {
      return Packed<T, A, Operation>::combined(loaded.words, operation);
    } else {
      constexpr unsigned width = Vector<T, wide>::width;
      T elements[width];
      loaded.unpack(elements);
      using Value = std::decay_t<decltype(transform(elements[0]))>;
      if constexpr (width > 1 && std::is_default_constructible_v<Value> &&
                    has_neighbours<Operation, A, Value>::value) {
        Value values[width];
#pragma unroll
        for (unsigned k = 0; k < width; ++k)
          values[k] = transform(elements[k]);
        return operation.template neighbours<A>(values, index);
      } else {
        A result = element(elements[0], index);
#pragma unroll
        for (unsigned k = 1; k < width; ++k)
          result = combined(result, element(elements[k], index + k));
        return result;
      }
    }
  }

 private:
  template <typename Value> __device__ A accumulator(const Value& value, std::size_t index) const {
    if constexpr (std::is_convertible_v<Value, A>)
      return traits::converted<A>(value);
    else
      return operation.template element<A>(value, index);
  }
};

}  // namespace detail

}  // namespace REDUCTION_NAMESPACE

}  // namespace reduction
