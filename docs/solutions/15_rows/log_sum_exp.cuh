#pragma once
#include "operations.cuh"

/// The logarithm of the sum of a row's exponentials.
struct LogSumExp : SoftmaxSum {
  using Result = float;
  static __device__ float result(const LargestAndSum& row) { return row.largest + logf(row.sum); }
};
