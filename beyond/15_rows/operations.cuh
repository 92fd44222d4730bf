#pragma once
/// \file
/// What a row is reduced by. An operation has an accumulator with an identity, which a thread without an element holds;
/// what an element is to it; how two accumulators are combined, in any order; and what is left of a row in the end.

#include <cmath>

#include "device/cuda_or_emulated.cuh"

/// Says whether a is above b. NaN is above all else, so that it is never passed over.
__device__ inline bool is_above(float a, float b) { return !(a <= b) && b == b; }

struct Sum {
  using Accumulator = float;
  using Result = float;
  static __device__ float identity() { return 0; }
  static __device__ float element(float x, size_t) { return x; }
  static __device__ float combine(float a, float b) { return a + b; }
  static __device__ float result(float sum) { return sum; }
};

/// The largest element. FLT_MIN, the least positive number, is no identity: a row of negative numbers would have it.
struct Max {
  using Accumulator = float;
  using Result = float;
  static __device__ float identity() { return -INFINITY; }
  static __device__ float element(float x, size_t) { return x; }
  static __device__ float combine(float a, float b) { return is_above(b, a) ? b : a; }
  static __device__ float result(float largest) { return largest; }
};

struct Indexed {
  float value;
  size_t index;
};

/// Where the largest element is; of equal ones the first, whichever is met first. -1 where there is no element.
struct ArgMax {
  using Accumulator = Indexed;
  using Result = long long;
  static __device__ Indexed identity() { return {-INFINITY, ~size_t{0}}; }
  static __device__ Indexed element(float x, size_t i) { return {x, i}; }
  static __device__ Indexed combine(const Indexed& a, const Indexed& b) {
    const bool is_first = !is_above(a.value, b.value) && b.index < a.index;
    return is_above(b.value, a.value) || is_first ? b : a;
  }
  static __device__ long long result(const Indexed& largest) { return static_cast<long long>(largest.index); }
};

struct Moments {
  size_t count;
  float mean;
  float squares;  ///< of the differences from the mean, added up
};

struct MeanAndVariance {
  float mean, variance;
};

/// Mean and variance (of all elements: divided by their number). Where two parts meet, the differences of each are from
/// its own mean, and what is added is small if they are (Welford 1962; Chan, Golub and LeVeque 1979).
struct Variance {
  using Accumulator = Moments;
  using Result = MeanAndVariance;
  static __device__ Moments identity() { return {0, 0, 0}; }
  static __device__ Moments element(float x, size_t) { return {1, x, 0}; }
  static __device__ Moments combine(const Moments& a, const Moments& b) {
    if (b.count == 0) return a;  // both may be empty
    const size_t count = a.count + b.count;
    const float share = __fdividef(static_cast<float>(b.count), static_cast<float>(count));
    const float difference = b.mean - a.mean;
    const float weighted = difference * (share * static_cast<float>(a.count));
    return {count, a.mean + difference * share, a.squares + b.squares + difference * weighted};
  }
  static __device__ MeanAndVariance result(const Moments& row) {
    if (row.count == 0) return {NAN, NAN};
    return {row.mean, row.squares / static_cast<float>(row.count)};
  }
};

struct LargestAndSum {
  float largest;
  float sum;  ///< of exp(x - largest)
};

/// What a softmax needs to know of its row, in one pass (Milakov and Gimelshein 2018): the sum that began with the smaller
/// maximum is scaled. -inf - -inf is NaN, so equal ones are not subtracted.
struct SoftmaxSum {
  using Accumulator = LargestAndSum;
  using Result = LargestAndSum;
  static __device__ LargestAndSum identity() { return {-INFINITY, 0}; }
  static __device__ LargestAndSum element(float x, size_t) { return {x, 1}; }
  static __device__ LargestAndSum combine(const LargestAndSum& a, const LargestAndSum& b) {
    const bool is_b = a.largest < b.largest;  // that has more
    const LargestAndSum more = is_b ? b : a;
    const LargestAndSum less = is_b ? a : b;
    const float factor = less.largest == more.largest ? 1.0F : expf(less.largest - more.largest);
    return {more.largest, more.sum + less.sum * factor};
  }
  /// No exponentials of a row with an infinite maximum have a sum.
  static __device__ LargestAndSum result(const LargestAndSum& row) {
    return {row.largest, std::isfinite(row.largest) ? row.sum : NAN};
  }
};

template <typename Operation> using Accumulator = typename Operation::Accumulator;
template <typename Operation> using Result = typename Operation::Result;

/// The same operation where accumulators are left, for another launch.
template <typename Operation> struct IntoParts : Operation {
  using Result = Accumulator<Operation>;
  static __device__ Result result(const Result& part) { return part; }
};
/// The same operation where these are what is combined.
template <typename Operation> struct OfParts : Operation {
  static __device__ Accumulator<Operation> element(const Accumulator<Operation>& part, size_t) {
    return part;
  }
};
