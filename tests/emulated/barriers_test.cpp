/// Barriers and warp functions that not all threads come to which have to.
#include <cooperative_groups.h>
#include <gtest/gtest.h>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/expect_finding.hpp"
#include "emulated/launches.hpp"

namespace {

using namespace __emulated;
using Words = DeviceArray<unsigned>;

__global__ void part_at_barriers() {
  if (threadIdx.x < 7) {
    __syncthreads();  // one
  } else {
    __syncthreads();  // two
  }
}

TEST(Barrier, IsTheSameForAllThreads) {
  // divergent barrier in part_at_barriers: block 0, threads 0-6 wait at __syncthreads() at one; block 0,
  // threads 7-63 wait at __syncthreads() at two; help: all threads of the block have to meet at the same
  // `__syncthreads()`: put it outside of the branch or loop in which they go different ways
  expect_finding([] { part_at_barriers<<<1, 64>>>(); });
}

__global__ void miss_a_warp_barrier() {
  if (threadIdx.x % 2 == 0) __syncwarp();  // one
  __syncthreads();                         // two
}

__global__ void wait_at_different_things() {
  if (threadIdx.x < 16) {
    __syncwarp();  // one
  } else {
    __shfl_sync(0xffffffff, 1, 0);  // two
  }
}

TEST(WarpBarrier, IsADeadlockWhereLanesOfItsMaskDoNotCome) {
  // deadlock in miss_a_warp_barrier: block 0, threads 0, 2, 4, 6, 8, 10, 12, 14 and 8 more wait at
  // __syncwarp() at one; block 0, threads 1, 3, 5, 7, 9, 11, 13, 15 and 8 more wait at __syncthreads() at
  // two; help: the mask of thread 0 also names lanes 1, 3, 5, 7, 9, 11, 13, 15 and 8 more:
  expect_finding([] { miss_a_warp_barrier<<<1, 32>>>(); });
  // deadlock in wait_at_different_things: block 0, threads 0-15 wait at __syncwarp() at one; block 0, threads 16-31
  // wait at a shuffle at two; help: the mask of thread 0 also names lanes 16-31: all lanes of a mask have to make
  // the same call, with the same mask
  expect_finding([] { wait_at_different_things<<<1, 32>>>(); });
}

__global__ void wait_for_a_part(unsigned mask) {
  __syncwarp(mask);  // one
}

TEST(WarpBarrier, HasAMaskWithTheCallingLane) {
  expect_finding([] {
    wait_for_a_part<<<1, 32>>>(0xffffffff);
    wait_for_a_part<<<1, 40>>>(0xffffffff);  // a part of a warp
  });
  // invalid mask in wait_for_a_part: block 0, thread 0 is not in the mask that it passes at one; help: a mask
  // has to name the lane that passes it, here lane 0
  expect_finding([] { wait_for_a_part<<<1, 32>>>(0xfffffffe); });
}

__global__ void miss_a_tile() {
  if (threadIdx.x < 96) {
    cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block()).sync();  // one
  }
}

TEST(TileOfWarps, IsADeadlockWhereNotAllOfItsThreadsCome) {
  // deadlock in miss_a_tile: block 0, threads 0-63, 96-255 have left the kernel; block 0, threads 64-95 wait at a
  // barrier of a part of the block at one; help: of the 64 threads of a barrier 32 have come: all of them have to
  expect_finding([] { miss_a_tile<<<1, 256>>>(); });
}

__global__ void shuffle_from(int lane, unsigned lanes) {
  if (threadIdx.x < lanes) __shfl_sync((1U << lanes) - 1, 1, lane);  // one
}

TEST(Shuffle, IsFromALaneThatTakesPart) {
  expect_finding([] { shuffle_from<<<1, 32>>>(7, 16); });
  // shuffle from an inactive lane in shuffle_from: block 0, thread 0 shuffles from the inactive lane 20 at
  // one; help: lane 20 ...: a shuffle may only ask lanes that call it, too
  expect_finding([] { shuffle_from<<<1, 32>>>(20, 16); });
}

__global__ void shuffle_in_a_width(int width) {
  __shfl_down_sync(0xffffffff, threadIdx.x, 1, width);  // one
}

TEST(Shuffle, HasAWidthOfAPowerOfTwoUpTo32) {
  expect_finding([] { shuffle_in_a_width<<<1, 64>>>(16); });
  for (const int width : {0, -1, 24, 64}) {
    // invalid width in shuffle_in_a_width: block 0, thread ... shuffles in a width of ... at one; help: a
    // width is 1, 2, 4, 8, 16 or 32
    expect_finding([=] { shuffle_in_a_width<<<1, 64>>>(width); });
  }
}

/// Lanes that end in different shuffles leave nothing behind that a later block could mistake.
TEST(Shuffle, LeavesTheNextBlockAsItIs) {
  expect_finding([] {
    shuffle_from<<<1, 32>>>(7, 16);
    EXPECT_EQ(counters_of([] { wait_for_a_part<<<1, 32>>>(0xffffffff); }).warp_barriers, 1U);
  });
}

}  // namespace
