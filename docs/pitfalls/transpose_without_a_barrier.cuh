#pragma once
#include "device/cuda_or_emulated.cuh"

/// Meant to transpose a square matrix, one tile of 8 x 8 per block, so that loads and stores go along rows.
template <typename T> __global__ void transpose_without_a_barrier(const T* in, T* out, size_t width) {
  __shared__ T tile[8][8 + 1];
  const unsigned x = threadIdx.x;
  const unsigned y = threadIdx.y;
  tile[y][x] = in[(blockIdx.y * 8 + y) * width + blockIdx.x * 8 + x];   // finding
  out[(blockIdx.x * 8 + y) * width + blockIdx.y * 8 + x] = tile[x][y];  // finding
}
