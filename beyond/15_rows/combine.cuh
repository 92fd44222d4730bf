#pragma once
/// \file
/// What 08 and 09 do for a sum, for any operation: loads of 16 bytes, and the two trees.

#include "device/shuffle_down.cuh"
#include "device/vector.cuh"
#include "matrix.hpp"
#include "operations.cuh"

/// Combines what one of `threads` threads has of elements first to end - 1 of a row: every threads-th vector, four under
/// way at a time, and of the elements before the first vector and after the last every threads-th.
template <typename Operation, typename T>
__device__ Accumulator<Operation> combine_elements(const T* row, size_t first, size_t end, unsigned thread,
                                                   unsigned threads) {
  constexpr unsigned width = Vector<T>::width;
  const size_t head = min(end - first, -reinterpret_cast<size_t>(row + first) % 16 / sizeof(T));
  const size_t from = first + head;  // of the first vector
  const size_t vectors = (end - from) / width;
  const size_t edges = head + (end - from) % width;
  auto sum = Operation::identity();
  const auto add = [&](const Vector<T>& vector, size_t i) {
    Accumulator<Operation> parts[width];
    for (unsigned k = 0; k < width; ++k)
      parts[k] = Operation::element(vector.elements[k], from + i * width + k);
    for (unsigned half = width / 2; half > 0; half /= 2) {
      for (unsigned k = 0; k < half; ++k)
        parts[k] = Operation::combine(parts[k], parts[k + half]);
    }
    sum = Operation::combine(sum, parts[0]);
  };

  // Of two lanes each has neighbouring vectors: every second would be one sector of each row, and too many requests.
  const unsigned step = threads == 2 ? 1 : threads;
  size_t i = threads == 2 ? 4 * thread : thread;
  for (; i + 3 * step < vectors; i += 4 * threads) {
    Vector<T> loaded[4];
    for (unsigned k = 0; k < 4; ++k)
      loaded[k] = load_vector(row + from, i + k * step);
    for (unsigned k = 0; k < 4; ++k)
      add(loaded[k], i + k * step);
  }
  for (; i < vectors; i += step)
    add(load_vector(row + from, i), i);
  for (size_t k = thread; k < edges; k += threads) {
    const size_t edge = k < head ? first + k : from + vectors * width + k - head;
    sum = Operation::combine(sum, Operation::element(row[edge], edge));
  }
  return sum;
}

/// Returns how many threads, a power of two, have that many elements of a row each: `least` or more, and at most `most`.
inline unsigned threads_per_row(size_t width, unsigned elements, unsigned least, unsigned most) {
  unsigned threads = least;
  while (threads < most && size_t{threads} * elements < width)
    threads *= 2;
  return threads;
}

/// Combines, in the first of them, what so many neighbouring lanes have, a power of two. All 32 must take part.
template <typename Operation> __device__ auto combine_lanes(Accumulator<Operation> sum, unsigned lanes) {
  for (unsigned stride = lanes / 2; stride > 0; stride /= 2)
    sum = Operation::combine(sum, shuffle_down(sum, stride));
  return sum;
}

/// Combines, in thread 0, what the blockDim.x threads of a block have, a power of two. All must take part, once.
template <typename Operation> __device__ Accumulator<Operation> combine_block(Accumulator<Operation> sum) {
  __shared__ Accumulator<Operation> shared[32];
  const unsigned tid = threadIdx.x;
  sum = combine_lanes<Operation>(sum, 32);
  if (tid % 32 == 0) shared[tid / 32] = sum;
  __syncthreads();
  if (tid >= 32) return sum;
  const unsigned warps = blockDim.x / 32;
  return combine_lanes<Operation>(tid < warps ? shared[tid] : Operation::identity(), warps);
}

/// Loads `each` elements with one instruction: one, or those of a vector, whose address is a multiple of 16.
template <unsigned each, typename T> __device__ void load(T (&to)[each], const T* from) {
  if constexpr (each == 1) {
    to[0] = *from;
  } else {
    const Vector<T> loaded = load_vector(from, 0);
    memcpy(to, loaded.elements, sizeof(to));
  }
}

/// Stores them likewise.
template <unsigned each> __device__ void store(float* to, const float (&from)[each]) {
  if constexpr (each == 1) {
    *to = from[0];
  } else {
    uint4 vector;
    memcpy(&vector, from, sizeof(vector));
    *reinterpret_cast<uint4*>(to) = vector;
  }
}

/// Says whether every row is whole vectors, which load and store take then.
inline bool has_whole_vectors(const float* in, const Matrix& m) {
  return m.width % 4 == 0 && m.stride % 4 == 0 && reinterpret_cast<size_t>(in) % 16 == 0;
}
