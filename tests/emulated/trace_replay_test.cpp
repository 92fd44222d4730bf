/// Replays the traces of kernels that are no step's, in every schedule: what each lane reads is what the events before it have
/// written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "emulated/kernel_sweep.hpp"
#include "harness/trace_file.hpp"

namespace {

using namespace __emulated;
using Word = std::uint32_t;
template <typename T> using Array = DeviceArray<T>;

__global__ void scan(const Word* in, Word* out) {
  __shared__ Word a[256];
  __shared__ Word b[256];
  const unsigned t = threadIdx.x;
  Word* from = a;
  Word* to = b;
  from[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    to[t] = t >= d ? from[t] + from[t - d] : from[t];
    __syncthreads();
    Word* const other = from;
    from = to;
    to = other;
  }
  out[blockIdx.x * blockDim.x + t] = from[t];
}

__global__ void leave(Word* out) {
  __shared__ Word cells[128];
  cells[threadIdx.x] = threadIdx.x;
  if (threadIdx.x % 3 == 0) return;
  out[threadIdx.x] = cells[threadIdx.x];
  if (threadIdx.x > 70) return;
  cells[threadIdx.x] += 1;
  out[threadIdx.x] = cells[threadIdx.x];
}

__global__ void rotate(Word* out) {
  __shared__ Word cells[1024];
  const unsigned n = blockDim.x * blockDim.y * blockDim.z;
  const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  cells[t] = 7 * t;
  __syncthreads();
  out[blockIdx.x * n + t] = cells[(t + 1) % n];
}

__global__ void both_kinds(Word* out) {
  extern __shared__ Word dynamic[];
  __shared__ double fixed[32];
  dynamic[threadIdx.x] = threadIdx.x;
  fixed[threadIdx.x] = threadIdx.x / 2.0;
  __syncthreads();
  out[threadIdx.x] = dynamic[31 - threadIdx.x] + static_cast<Word>(fixed[31 - threadIdx.x]);
}

struct TwentyFour {
  double a;
  std::uint64_t b;
  Word c, d;
};

template <typename T> __global__ void copy(const T* in, T* out) {
  __shared__ T tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void partial_warp_barriers(Word* out) {
  __shared__ Word cells[32];
  const unsigned lane = threadIdx.x;
  cells[lane] = lane;
  if (lane < 16) {
    __syncwarp(0xFFFFU);
    const Word x = cells[15 - lane];
    __syncwarp(0xFFFFU);
    cells[lane] = x;
    __syncwarp(0xFFFFU);
    cells[lane] += 1;
  } else {
    __syncwarp(0xFFFF0000U);
    cells[lane] += cells[lane];
  }
  __syncwarp();
  out[lane] = cells[31 - lane];
}

__global__ void spin_between_blocks(Word* flags, Word* out) {
  if (threadIdx.x == 0 && blockIdx.x > 0)
    while (atomicAdd(&flags[blockIdx.x - 1], 0U) == 0) {
    }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(&flags[blockIdx.x], 1U);
}

/// Lane by lane in a warp, then warp by warp: each waits for its number.
__global__ void spin_within_a_block(Word* out) {
  __shared__ Word turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  while (atomicAdd(&turn, 0U) != threadIdx.x) {
  }
  out[threadIdx.x] = threadIdx.x;
  atomicExch(&turn, threadIdx.x + 1);
}

__global__ void two_buffers(const Word* a, const Word* b, Word* out) {
  const Word* const from = threadIdx.x % 2 == 0 ? a : b;
  out[threadIdx.x] = from[threadIdx.x];
}

TEST(TraceReplay, OfKernels) {
  Array<Word> in{1024}, out{4096}, flags{64};
  for (unsigned i = 0; i < 1024; ++i)
    in[i] = i * 2654435761U;
  sweep({{"scan", [&] { scan<<<3, 256>>>(in, out); }},
         {"scan of 64", [&] { scan<<<1, 64>>>(in, out); }},
         {"leave", [&] { leave<<<1, 128>>>(out); }},
         {"leave of 48", [&] { leave<<<1, 48>>>(out); }},
         {"rotate 1", [&] { rotate<<<2, 1>>>(out); }},
         {"rotate 33", [&] { rotate<<<2, 33>>>(out); }},
         {"rotate 48", [&] { rotate<<<2, 48>>>(out); }},
         {"rotate 1024", [&] { rotate<<<2, 1024>>>(out); }},
         {"rotate 3-D", [&] { rotate<<<2, dim3(5, 3, 7)>>>(out); }},
         {"both kinds of shared memory", [&] { both_kinds<<<1, 32, 128>>>(out); }},
         {"partial warp barriers", [&] { partial_warp_barriers<<<1, 32>>>(out); }},
         {"two buffers", [&] { two_buffers<<<1, 32>>>(in, in.begin() + 512, out); }},
         {"spin between blocks", [&] {
            std::fill(flags.begin(), flags.end(), 0U);
            spin_between_blocks<<<3, 64>>>(flags, out);
          }}});
}

TEST(TraceReplay, OfTwoBuffersInOneInstruction) {
  Array<Word> a{32}, b{32}, out{32};
  const BlockTrace trace = trace_of([&] { two_buffers<<<1, 32>>>(a, b, out); });
  const Event& load = trace.events.front();
  ASSERT_EQ(load.kind, EventKind::global_load);
  ASSERT_EQ(load.of_lanes.size(), 32U);
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(load.of_lanes[lane].buffer, lane % 2) << lane;
    EXPECT_EQ(load.of_lanes[lane].word, lane);
  }
  EXPECT_EQ(trace.buffers.size(), 3U);
}

/// The kinds of the first warp's events where a block copies 64 elements whose words are 1000, 1001, 1002 ...
template <typename T> std::string kinds_of_copying() {
  Array<T> array{128};
  auto* const words = reinterpret_cast<Word*>(array.begin());
  for (std::size_t i = 0; i < 128 * sizeof(T) / 4; ++i)
    words[i] = 1000 + static_cast<Word>(i);
  std::string kinds;
  for (const Event& event : trace_of([&] { copy<T><<<1, 64>>>(array, array + 64); }).events)
    if (event.kind != EventKind::block_barrier && event.warp == 0)
      kinds += std::string{name_of(event.kind)} + ' ';
  return kinds;
}

/// A struct is loaded before it is stored, whichever of it the compiler tells first.
TEST(TraceReplay, OfCopiedStructs) {
  EXPECT_EQ(kinds_of_copying<float4>(), "global_load shared_store shared_load global_store exit ");
  EXPECT_EQ(kinds_of_copying<TwentyFour>(),
            "global_load global_load global_load shared_store shared_store shared_store "
            "shared_load shared_load shared_load global_store global_store global_store exit ");
}

/// A lane that spins loses its turn between two atomic operations: others change the word before it goes on.
TEST(TraceReplay, OfSpinsWithinABlock) {
  Array<Word> out{40};
  for (unsigned seed = 0; seed < 20; ++seed) {
    set_schedule({Order::random, seed});
    const BlockTrace trace = trace_of([&] { spin_within_a_block<<<1, 40>>>(out); });
    set_schedule({});
    expect_whole(trace, false);
    // Some left what they found, the others stored the number of their thread and 1.
    std::size_t stores_of_turn = 0;
    for (const Event& event : trace.events) {
      if (event.kind != EventKind::shared_atomic) continue;
      for (const LaneEvent& lane : event.of_lanes) {
        EXPECT_TRUE(lane.is_known);
        stores_of_turn += lane.value != lane.before;
      }
    }
    EXPECT_EQ(stores_of_turn, 40U) << "of seed " << seed;
  }
}

__global__ void counts(std::size_t* out) { out[threadIdx.x] = threadIdx.x; }

/// A small integer in a run of float64 is a number that no normal one has, and not all text is UTF-8.
TEST(TraceReplay, OfOddBytesIsJson) {
  Array<std::size_t> out{32};
  const std::string text = reduction::trace_json(trace_of([&] { counts<<<1, 32>>>(out); }),
                                                 {"counts", "caf\xe9", reduction::ElementType::float64});
  EXPECT_NE(text.find("caf\xef\xbf\xbd"), std::string::npos) << text;
  EXPECT_NE(text.find("5e-324"), std::string::npos) << text;
}

__global__ void vote(std::size_t* out) { out[threadIdx.x] = __ballot_sync(3, threadIdx.x == 1); }

TEST(TraceReplay, OfVotesIsJsonOfWholeNumbers) {
  Array<std::size_t> out{2};
  const std::string text = reduction::trace_json(trace_of([&] { vote<<<1, 2>>>(out); }),
                                                 {"vote", "", reduction::ElementType::float64});
  for (const char* part : {R"("kind":"vote")", R"("brought":[0,1])", R"("values":[2,2])"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

__device__ Word tickets[3];

__global__ void take_tickets(Word* out) { out[threadIdx.x] = atomicAdd(&tickets[threadIdx.x % 3], 1U); }

/// Wherever the program has them.
TEST(TraceReplay, OfVariablesOfTheProgram) {
  Array<Word> out{32};
  const BlockTrace trace = trace_of([&] { take_tickets<<<1, 32>>>(out); });
  EXPECT_EQ(contradiction_in(trace), "");
  EXPECT_EQ(trace.buffers, (std::vector<std::size_t>{128, 12}));
  const Event& atomic = trace.events.front();
  ASSERT_EQ(atomic.kind, EventKind::global_atomic);
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(atomic.of_lanes[lane].word, lane % 3);
}

__global__ void add_each(const Word* in, Word* sum) { atomicAdd(sum, in[threadIdx.x]); }

/// In a random schedule its thread may have lost its turn to one that accesses another buffer.
TEST(TraceReplay, NamesTheBufferOfAnAtomic) {
  Array<Word> in{64};
  Array<Word> sum{1};
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    set_schedule({Order::random, seed});
    const BlockTrace trace = trace_of([&] { add_each<<<1, 64>>>(in, sum); });
    for (const Event& event : trace.events) {
      if (event.kind != EventKind::global_atomic) continue;
      for (const LaneEvent& lane : event.of_lanes) {
        EXPECT_EQ(trace.buffers.at(lane.buffer), sizeof(Word));
        EXPECT_EQ(lane.word, 0);
      }
    }
  }
  set_schedule({});
}

}  // namespace
