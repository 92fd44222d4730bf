#pragma once

/// Number, mean and sum of squared deviations from it, of some values. The variance is deviations / count.
struct Moments {
  double count, mean, deviations;
};

/// Combines the moments of two sets of values (Chan, Golub and LeVeque, 1979).
struct CombineMoments {
  __host__ __device__ Moments operator()(const Moments& a, const Moments& b) const {
    const double count = a.count + b.count;
    if (count == 0) return a;  // two identities: 0 / 0 is a NaN
    const double share = b.count / count;
    const double apart = b.mean - a.mean;
    return {count, a.mean + apart * share, a.deviations + b.deviations + apart * apart * a.count * share};
  }
  template <typename T> static __host__ __device__ T identity() { return {0, 0, 0}; }
};

/// Of a single value.
struct OfOne {
  __host__ __device__ Moments operator()(double value) const { return {1, value, 0}; }
};
