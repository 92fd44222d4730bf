#pragma once
/// \file
/// Operations for reduce.cuh. An operation is a callable T(T, T) for the device; with a member template identity<T>()
/// the call of reduce() need not give its identity.

#include <cuda_runtime.h>

#include <cuda/std/limits>

namespace reduction {

struct Sum {
  template <typename T> __host__ __device__ T operator()(const T& a, const T& b) const { return T(a + b); }
  template <typename T> static __host__ __device__ T identity() { return T{}; }
};

struct Product {
  template <typename T> __host__ __device__ T operator()(const T& a, const T& b) const { return T(a * b); }
  template <typename T> static __host__ __device__ T identity() { return T(1); }
};

/// Returns the smaller value and passes over a NaN.
struct Min {
  template <typename T> __host__ __device__ T operator()(const T& a, const T& b) const {
    return b < a || a != a ? b : a;
  }
  template <typename T> static __host__ __device__ T identity() {
    using Limits = cuda::std::numeric_limits<T>;
    static_assert(Limits::is_specialized, "say what the identity is: no limits are known of this type");
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
};

/// Returns the larger value and passes over a NaN.
struct Max {
  template <typename T> __host__ __device__ T operator()(const T& a, const T& b) const {
    return a < b || a != a ? b : a;
  }
  template <typename T> static __host__ __device__ T identity() {
    using Limits = cuda::std::numeric_limits<T>;
    static_assert(Limits::is_specialized, "say what the identity is: no limits are known of this type");
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
};

struct LogicalAnd {
  template <typename T> __host__ __device__ T operator()(const T& a, const T& b) const { return T(a && b); }
  template <typename T> static __host__ __device__ T identity() { return T(true); }
};

struct LogicalOr {
  template <typename T> __host__ __device__ T operator()(const T& a, const T& b) const { return T(a || b); }
  template <typename T> static __host__ __device__ T identity() { return T(false); }
};

/// A value and its index, for ArgMin.
template <typename T, typename Index = long long> struct Indexed {
  T value;
  Index index;
};

/// Returns the smallest value, and of equal ones the first, so the order of comparisons does not matter. Passes over a
/// NaN.
struct ArgMin {
  template <typename T, typename Index>
  __host__ __device__ Indexed<T, Index> operator()(const Indexed<T, Index>& a,
                                                   const Indexed<T, Index>& b) const {
    return is_less(b.value, a.value) || (!is_less(a.value, b.value) && b.index < a.index) ? b : a;
  }
  template <typename Pair> static __host__ __device__ Pair identity() {
    using Value = decltype(Pair::value);
    using Index = decltype(Pair::index);
    return {Min::identity<Value>(), cuda::std::numeric_limits<Index>::max()};
  }

 private:
  /// Returns a < b, with a NaN above all else.
  template <typename T> static __host__ __device__ bool is_less(const T& a, const T& b) {
    return a < b || (a == a && b != b);
  }
};

}  // namespace reduction
