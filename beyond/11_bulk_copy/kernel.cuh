#pragma once
#include "device/block_sum.cuh"
#include "device/bulk_copy.cuh"
#include "device/last_block.cuh"
#include "device/vector.cuh"

inline constexpr unsigned stages = 3, tile = 2048;  // a ring of three stages in shared memory, in vectors
inline constexpr size_t ring_bytes = stages * (tile * size_t{16} + sizeof(BulkBarrier));
/// One launch leaves the sum at out[0]. With 1024 threads, the last block has a thread for each partial sum.
inline constexpr StepTraits traits{.single_pass = true,
                                   .least_capability = 9,
                                   .default_block = 1024,
                                   .vectors_at_a_time = [](unsigned) -> size_t { return tile; }};

/// Each block sums every gridDim.x-th tile of 16-byte vectors of `in` into out[blockIdx.x]; the last block
/// sums these into out[0]. Block 0 also adds what is left at both ends. `in` may begin at any element's address.
/// blockDim.x is a power of two from 32 to 1024; shared memory holds ring_bytes. Compute capability 9.0 or higher.
template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
  const unsigned tid = threadIdx.x;
  const size_t step = size_t{gridDim.x} * tile;

  // A vector's address is a multiple of 16, so less than one vector is left before the first and after the last.
  const size_t head = min(n, -reinterpret_cast<size_t>(in) % 16 / sizeof(T));
  const size_t vectors = (n - head) / Vector<T>::width;
  const size_t edge = tid < head ? tid : vectors * Vector<T>::width + tid;
  T sum = blockIdx.x == 0 && edge < n ? in[edge] : T{};

  // One thread asks for tiles. The TMA brings them, and no register waits for them.
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
      sum += load_vector(ring + stage * tile, k).sum();
    __syncthreads();  // all threads have read the stage: it may be filled again
    if (tid == 0) bulk_copy(ring + stage * tile, tile, in + head, i + stages * step, vectors, filled[stage]);
  }
  sum = block_sum(sum);

  if (!is_last_block(sum, out)) return;
  sum = T{};
  for (unsigned k = tid; k < gridDim.x; k += blockDim.x)  // same order and same bits, whichever block is last
    sum += out[k];
  sum = block_sum(sum);
  if (tid == 0) out[0] = sum;
}

/// Number of blocks, which is also the number of partial sums.
template <typename T> size_t grid_size(size_t n, unsigned block) {
  const size_t enough = blocks_to_fill_device(with_shared(ring_bytes, reduce_kernel<T>), block, ring_bytes);
  return std::clamp<size_t>(n / (size_t{tile} * Vector<T>::width), 1, enough);  // a tile or more
}

/// The whole reduction: the n elements at `in` become one sum at out[0], by way of `grid` partial sums at `out`.
template <typename T> void launch_reduce(unsigned grid, unsigned block, const T* in, T* out, size_t n) {
  with_shared(ring_bytes, reduce_kernel<T>)<<<grid, block, ring_bytes>>>(in, out, n);
}
