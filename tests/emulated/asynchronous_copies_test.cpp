/// Copies beside the threads that ask for them: kernels with and without a mistake.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <cuda/pipeline>

#include <cstdint>
#include <numeric>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/expect_finding.hpp"

namespace {

using namespace __emulated;
using Words = DeviceArray<std::uint32_t>;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cg = cooperative_groups;

constexpr unsigned block = 64;

/// Expects that each block turns its part of the numbers round.
template <typename Kernel> void expect_reversed(Kernel kernel) {
  const Words in{2 * block}, out{2 * block};
  std::iota(in.begin(), in.end(), 0U);
  expect_finding([&] { kernel<<<2, block>>>(in, out); });
  for (unsigned i = 0; i < 2 * block; ++i)
    ASSERT_EQ(out[i], i / block * block + block - 1 - i % block);
}
template <typename Kernel> auto launch_of(Kernel kernel) {
  return [kernel] { kernel<<<2, block>>>(Words(2 * block, 1), Words(2 * block)); };
}
/// Expects one of several findings: which of them it is depends on who comes first.
template <typename Kernel> void expect_one_in_any_order(Kernel kernel) {
  for (const Order order : {Order::ascending, Order::descending, Order::random}) {
    set_schedule({order, 1});
    EXPECT_THROW(launch_of(kernel)(), KernelFinding);
  }
  set_schedule({});
}

// ---- copies that a thread waits for itself ----

enum class Mistake {
  none,
  no_commit,
  no_wait,
  one_group_too_few,
  no_barrier,
  copied_twice,
  stored_before,
  not_aligned,
  no_second_barrier,
  too_few,
  too_many,
  not_made,
  other_barrier,
  odd_bytes
};
using enum Mistake;

template <Mistake mistake> __global__ void by_primitives(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ std::uint32_t tile[block];
  const unsigned tid = threadIdx.x, i = blockIdx.x * block + tid;
  if (mistake == stored_before && tid < 32) tile[tid + 32] = 0;
  if (mistake == not_aligned) {
    __pipeline_memcpy_async(&tile[tid], &in[i], 8);  // copy
  } else {
    __pipeline_memcpy_async(&tile[tid], &in[i], 4);  // ask
  }
  if (mistake == copied_twice) __pipeline_memcpy_async(&tile[tid], &in[i], 4);  // again
  if (mistake != no_commit) __pipeline_commit();
  if (mistake == stored_before) __syncthreads();  // which comes too late for the copy
  if (mistake != no_wait) __pipeline_wait_prior(mistake == one_group_too_few ? 1 : 0);
  if (mistake != no_barrier) __syncthreads();
  out[i] = tile[block - 1 - tid];  // read
}

TEST(AsynchronousCopies, OfAThreadAreThereOnceItHasWaited) {
  // no finding
  expect_reversed(by_primitives<none>);
  // unfinished copy in by_primitives: block 0, thread ... reads tile[...] at read; block 0, thread ... is copying to it at ask
  expect_finding(launch_of(by_primitives<no_commit>));
  // unfinished copy in by_primitives: block 0, thread ... reads tile[...] at read; block 0, thread ... is copying to it at ask
  expect_finding(launch_of(by_primitives<no_wait>));
  // unfinished copy in by_primitives: block 0, thread ... reads tile[...] at read; block 0, thread ... is copying to it at ask
  expect_finding(launch_of(by_primitives<one_group_too_few>));
  // unfinished copy in by_primitives: block 0, thread ... writes tile[...] at again; block 0, thread ... is copying to it at ask
  expect_finding(launch_of(by_primitives<copied_twice>));
  // misaligned access in by_primitives
  expect_finding(launch_of(by_primitives<not_aligned>));
}

TEST(AsynchronousCopies, OfAThreadAreItsOwnUntilABarrier) {
  expect_one_in_any_order(by_primitives<no_barrier>);
  expect_one_in_any_order(by_primitives<stored_before>);
}

template <Mistake mistake> __global__ void in_two_buffers(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ std::uint32_t tile[2][block];
  const unsigned tid = threadIdx.x, i = blockIdx.x * block + tid;
  auto pipe = cuda::make_pipeline();
  for (unsigned turn = 0; turn <= 4; ++turn) {
    if (turn < 4) {
      pipe.producer_acquire();
      cuda::memcpy_async(&tile[turn % 2][tid], &in[i], sizeof(std::uint32_t), pipe);
      pipe.producer_commit();
    }
    if (turn == 0) continue;
    if (mistake != no_wait) {
      if (turn < 4) {
        cuda::pipeline_consumer_wait_prior<1>(pipe);
      } else {
        cuda::pipeline_consumer_wait_prior<0>(pipe);
      }
    }
    __syncthreads();
    out[i] = tile[(turn - 1) % 2][block - 1 - tid];
    if (mistake != no_second_barrier) __syncthreads();
  }
}

TEST(AsynchronousCopies, InTwoBuffers) {
  // no finding
  expect_reversed(in_two_buffers<none>);
  expect_one_in_any_order(in_two_buffers<no_wait>);
  expect_one_in_any_order(in_two_buffers<no_second_barrier>);
}

template <Mistake mistake> __global__ void by_a_group(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ std::uint32_t tile[block];
  const auto group = cg::this_thread_block();
  cg::memcpy_async(group, tile, in + blockIdx.x * block, sizeof(tile));  // ask
  if (mistake == no_wait) {
    group.sync();
  } else {
    cg::wait(group);
  }
  out[blockIdx.x * block + threadIdx.x] = tile[block - 1 - threadIdx.x];  // read
}

TEST(AsynchronousCopies, OfAGroup) {
  // no finding
  expect_reversed(by_a_group<none>);
  // unfinished copy in by_a_group: block 0, thread ... reads tile[...] at read; block 0, thread ... is copying to it at ask
  expect_finding(launch_of(by_a_group<no_wait>));
}

__global__ void copy_with_zeros(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ alignas(16) std::uint32_t tile[4];
  if (threadIdx.x != 0) return;
  __pipeline_memcpy_async(tile, in, 16, 8);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (unsigned k = 0; k < 4; ++k)
    out[k] = tile[k];
}

TEST(AsynchronousCopies, AreFilledUpWithZeros) {
  const Words in{4, 7}, out{4};
  copy_with_zeros<<<1, 32>>>(in, out);
  EXPECT_EQ((std::vector<std::uint32_t>{out.begin(), out.end()}), (std::vector<std::uint32_t>{7, 7, 0, 0}));
}

__global__ void write_the_source(std::uint32_t* in, std::uint32_t* out) {
  __shared__ std::uint32_t tile[2 * block];
  __pipeline_memcpy_async(&tile[block + threadIdx.x], &in[block + threadIdx.x], 4);
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);  // ask
  __pipeline_commit();
  in[threadIdx.x] = 0;  // write
  __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[threadIdx.x] + tile[block + threadIdx.x];
}

TEST(AsynchronousCopies, ReadTheirSourceUntilTheyAreThere) {
  // unfinished copy in write_the_source: block 0, thread ... writes ... at write; block 0, thread ... is copying from it at ask
  expect_finding([] { write_the_source<<<1, block>>>(Words(2 * block, 1), Words(block)); });
}

// ---- barrier objects ----

template <Mistake mistake> __global__ void at_a_barrier(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ std::uint32_t tile[block];
  __shared__ Barrier filled;
  const unsigned made_for = mistake == too_many ? block - 1 : mistake == too_few ? block + 1 : block;
  if (threadIdx.x == 0 && mistake != not_made) init(&filled, made_for);
  __syncthreads();
  cuda::memcpy_async(cg::this_thread_block(), tile, in + blockIdx.x * block, sizeof(tile), filled);  // ask
  if (mistake == no_wait) {
    (void)filled.arrive();
    __syncthreads();
  } else {
    filled.arrive_and_wait();  // meet
  }
  out[blockIdx.x * block + threadIdx.x] = tile[block - 1 - threadIdx.x];  // read
}

TEST(BarrierObjects, OpenOnceAllCopiesAreThere) {
  // no finding
  expect_reversed(at_a_barrier<none>);
  // unfinished copy in at_a_barrier: block 0, thread ... reads tile[...] at read; block 0, thread ... is copying to it at ask
  expect_finding(launch_of(at_a_barrier<no_wait>));
  // deadlock in at_a_barrier: block 0, threads 0-63 wait at the barrier filled at meet; help: of the 65 arrivals
  expect_finding(launch_of(at_a_barrier<too_few>));
  // uninitialised read in at_a_barrier: block 0, thread ... uses a barrier object that nobody has made at ask
  expect_finding(launch_of(at_a_barrier<not_made>));
}

template <bool waits> __global__ void exchange(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ std::uint32_t tile[block];
  __shared__ Barrier full, empty;
  if (threadIdx.x == 0) {
    init(&full, block);
    init(&empty, block);
  }
  __syncthreads();
  for (unsigned turn = 0; turn < 3; ++turn) {
    tile[threadIdx.x] = in[blockIdx.x * block + threadIdx.x];  // write
    auto token = full.arrive();
    full.wait(std::move(token));
    out[blockIdx.x * block + threadIdx.x] = tile[block - 1 - threadIdx.x];  // read
    if (waits) empty.arrive_and_wait();
  }
}

TEST(BarrierObjects, OrderWhatIsBeforeAndBehind) {
  // no finding
  expect_reversed(exchange<true>);
  // race in exchange: block 0, thread ... tile[...] at ...; block 0, thread ... it at ...
  expect_finding(launch_of(exchange<false>));
}

template <Mistake mistake> __global__ void with_stages(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ std::uint32_t tile[2][block];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const auto group = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(group, &state);
  for (unsigned turn = 0; turn <= 4; ++turn) {
    if (turn < 4) {
      if (mistake != no_second_barrier) pipe.producer_acquire();
      cuda::memcpy_async(group, tile[turn % 2], in + blockIdx.x * block, sizeof(tile[0]), pipe);
      pipe.producer_commit();
    }
    if (turn == 0) continue;
    if (mistake != no_wait) pipe.consumer_wait();
    out[blockIdx.x * block + threadIdx.x] = tile[(turn - 1) % 2][block - 1 - threadIdx.x];
    pipe.consumer_release();
  }
}

TEST(BarrierObjects, MakePipelines) {
  // no finding
  expect_reversed(with_stages<none>);
  expect_one_in_any_order(with_stages<no_wait>);
  expect_one_in_any_order(with_stages<no_second_barrier>);
}

// ---- copies in bulk ----

template <Mistake mistake> __global__ void in_bulk(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ alignas(128) std::uint32_t tile[block];
  __shared__ alignas(128) std::uint32_t beside[block];
  __shared__ Barrier filled, other;
  const unsigned tid = threadIdx.x;
  constexpr std::size_t bytes = sizeof(tile) - (mistake == odd_bytes ? 4 : 0);
  constexpr std::ptrdiff_t expected = mistake == too_few    ? bytes + 16
                                      : mistake == too_many ? bytes - 16
                                                            : bytes;
  if (tid == 0) {
    init(&filled, 1);
    init(&other, 1);
  }
  __syncthreads();
  if (tid == 0) {
    const cuda::aligned_size_t<16> size{bytes};
    cuda::device::memcpy_async_tx(tile, in + blockIdx.x * block, size, filled);  // ask
    (void)cuda::device::barrier_arrive_tx(filled, 1, expected);
    cuda::device::memcpy_async_tx(beside, in, cuda::aligned_size_t<16>(16), other);
    (void)cuda::device::barrier_arrive_tx(other, 1, 16);
  }
  if (mistake == no_wait) __syncthreads();
  if (mistake == other_barrier ? tid == 5 : mistake != no_wait) filled.wait_parity(false);  // await
  other.wait_parity(false);
  out[blockIdx.x * block + tid] = tile[block - 1 - tid];  // read
}

TEST(BulkCopies, AreThereForThoseWhoWaitAtTheirBarrier) {
  // no finding
  expect_reversed(in_bulk<none>);
  // unfinished copy in in_bulk: block 0, thread ... reads tile[...] at read; block 0, thread 0 is copying to it at ask
  expect_finding(launch_of(in_bulk<no_wait>));
  // deadlock in in_bulk: block 0, threads 0-63 wait at the barrier filled at await; help: the barrier expects 16 bytes more
  expect_finding(launch_of(in_bulk<too_few>));
  // deadlock in in_bulk: block 0, threads 0-63 wait at the barrier filled at await; help: the copies bring 16 bytes more
  expect_finding(launch_of(in_bulk<too_many>));
  // misaligned access in in_bulk: block 0, thread 0 copies 252 bytes in bulk at ask
  expect_finding(launch_of(in_bulk<odd_bytes>));
  expect_one_in_any_order(in_bulk<other_barrier>);
}

}  // namespace
