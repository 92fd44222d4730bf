#pragma once
#include "device/block_sum.cuh"
#include "device/bulk_copy.cuh"
#include "device/last_block.cuh"
#include "device/vector.cuh"

inline constexpr unsigned stages = 3, tile = 2048;  // a ring in shared memory of three times 2048 vectors
inline constexpr size_t ring_bytes = stages * (tile * size_t{16} + sizeof(BulkBarrier));
/// One launch leaves the sum at out[0]; the last of 1024-thread blocks has a thread for each partial sum.
inline constexpr StepTraits traits{
    .single_pass = true, .default_block = 1024, .vectors_at_a_time = [](unsigned) -> size_t { return tile; }};

/// Sums vectors of 16 bytes: out[blockIdx.x] becomes the sum of every gridDim.x-th tile of vectors of `in`,
/// then out[0] that of these. Block 0 adds what is left at both ends. `in` may begin at any element's address.
/// blockDim.x is a power of two from 32 to 1024, with ring_bytes of shared memory. Compute capability 9.0 or higher.
template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
  const unsigned tid = threadIdx.x;
  const size_t step = size_t{gridDim.x} * tile;

  // A vector's address is a multiple of 16: fewer elements than a vector has are left before it and after the last.
  const size_t head = min(n, -reinterpret_cast<size_t>(in) % 16 / sizeof(T));
  const size_t vectors = (n - head) / Vector<T>::width;
  const size_t edge = tid < head ? tid : vectors * Vector<T>::width + tid;
  T sum = blockIdx.x == 0 && edge < n ? in[edge] : T{};

  // One thread asks for tiles. The copy engine brings them, and no register waits for them.
  alignas(16) extern __shared__ std::byte bytes[];
  auto* ring = reinterpret_cast<Vector<T>*>(bytes);
  auto* filled = reinterpret_cast<BulkBarrier*>(ring + stages * tile);
  size_t i = size_t{blockIdx.x} * tile;
  if (tid == 0) make_barriers(filled, stages);
  for (unsigned stage = 0; tid == 0 && stage < stages; ++stage)
    bulk_copy(ring + stage * tile, tile, in + head, i + stage * step, vectors, filled[stage]);
  __syncthreads();
  for (unsigned turn = 0; i < vectors; i += step, ++turn) {
    const unsigned stage = turn % stages;
    wait_for_turn(filled[stage], turn / stages);
    for (size_t k = tid; k < tile && i + k < vectors; k += blockDim.x)
      sum += ring[stage * tile + k].sum();
    __syncthreads();  // all have read the stage: it may be filled again
    if (tid == 0) bulk_copy(ring + stage * tile, tile, in + head, i + stages * step, vectors, filled[stage]);
  }
  sum = block_sum(sum);

  if (!is_last_block(sum, out)) return;
  sum = T{};
  for (unsigned k = tid; k < gridDim.x; k += blockDim.x)  // whichever is last: the same order, the same bits
    sum += out[k];
  sum = block_sum(sum);
  if (tid == 0) out[0] = sum;
}

/// Blocks, and so partial sums: enough to fill the device, but at least a tile each.
template <typename T> size_t grid_size(size_t n, unsigned block) {
  const size_t enough = blocks_to_fill_device(with_shared(ring_bytes, reduce_kernel<T>), block, ring_bytes);
  return std::clamp<size_t>(n / (size_t{tile} * Vector<T>::width), 1, enough);
}

/// The whole reduction: the n elements at `in` become one sum at out[0], by way of `grid` partial sums at `out`.
template <typename T> void launch_reduce(unsigned grid, unsigned block, const T* in, T* out, size_t n) {
  with_shared(ring_bytes, reduce_kernel<T>)<<<grid, block, ring_bytes>>>(in, out, n);
}
