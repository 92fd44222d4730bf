#pragma once
/// \file
/// CUB's DeviceSegmentedReduce as more kernels of the table, on a GPU.

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/std/utility>

#include <climits>

#include "device/temporary_storage.cuh"
#include "kernel.cuh"

struct RowOffset {
  std::int64_t stride, first;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * stride + first; }
};

/// Calls `reduce` as CUB asks for it: first for the storage that it needs. Since 3.2 it takes rows of one width without gaps
/// as such, and has kernels for short ones; else it takes where each row begins and ends.
template <typename Reduce> void call_cub(const Matrix& m, Reduce reduce) {
  static TemporaryStorage storage;
  const auto rows = static_cast<std::int64_t>(m.rows);
  const auto call = [&](auto... segments) {
    size_t bytes = 0;
    reduction::cuda_check(reduce(nullptr, bytes, rows, segments...), "asking CUB");
    reduction::cuda_check(reduce(storage.at_least(bytes), bytes, rows, segments...), "launching CUB");
  };
#if CCCL_VERSION >= 3002000
  if (m.width == m.stride && m.width > 0) return call(static_cast<int>(m.width));
#endif
  const auto offsets = [&](size_t first) {
    return thrust::make_transform_iterator(
        thrust::make_counting_iterator<std::int64_t>(0),
        RowOffset{static_cast<std::int64_t>(m.stride), static_cast<std::int64_t>(first)});
  };
  call(offsets(0), offsets(m.width));
}

constexpr auto cub_sum = [](auto&... call) { return cub::DeviceSegmentedReduce::Sum(call...); };
constexpr auto cub_max = [](auto&... call) { return cub::DeviceSegmentedReduce::Max(call...); };
constexpr auto cub_argmax = [](auto&... call) { return cub::DeviceSegmentedReduce::ArgMax(call...); };

using CubPair = cub::KeyValuePair<int, float>;  // an index with its element

template <const auto& reduce, typename Out> void launch_cub(const float* in, Out* out, const Matrix& m) {
  call_cub(m, [=](void* storage, size_t& bytes, auto rows, auto... segments) {
    // Of rows of one width, the pair is another type with the same members.
    constexpr bool is_other_pair = sizeof...(segments) == 1 && std::is_same_v<Out, CubPair>;
    auto* results =
        reinterpret_cast<std::conditional_t<is_other_pair, cuda::std::pair<int, float>, Out>*>(out);
    return reduce(storage, bytes, in, results, rows, segments...);
  });
}

inline void add_cub(reduction::RowKernels& kernels) {
  kernels.push_back(row_kernel<float, launch_cub<cub_sum, float>>("CUB", "sum", 32));
  kernels.push_back(row_kernel<float, launch_cub<cub_max, float>>("CUB", "max", 32));
  kernels.push_back(row_kernel<CubPair, launch_cub<cub_argmax, CubPair>>("CUB", "argmax", 32));
  kernels.back().most_elements = INT_MAX;  // it has where a row begins in an int, whatever the offsets are
}
