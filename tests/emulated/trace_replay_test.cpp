/// Replays the events of traces: what each lane reads is what the events before it have written.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/trace/trace.hpp"
#include "emulated/trace_counters.hpp"
#include "harness/trace_file.hpp"

namespace {

using namespace __emulated;
using Word = std::uint32_t;
template <typename T> using Array = DeviceArray<T>;

struct Recorded {
  std::optional<BlockTrace> trace;
  std::string thrown;
};

Recorded traced(const std::function<void()>& body, std::size_t block = 0, std::size_t launch = 1) {
  const TraceRecord record{launch, block};
  Recorded result;
  try {
    body();
  } catch (const std::exception& error) {
    result.thrown = error.what();
  }
  result.trace = record.trace();
  return result;
}

/// The first contradiction of the events, or "".
std::string contradiction_in(const BlockTrace& trace) {
  using Cell =
      std::pair<std::size_t, std::ptrdiff_t>;  // 0 for shared memory, or the buffer's number + 1; the word
  std::map<Cell, std::array<std::byte, 4>> memory;
  const auto text = [&](std::size_t i, unsigned lane, const std::string& what) {
    return "event " + std::to_string(i) + " (" + std::string{name_of(trace.events[i].kind)} + " of warp " +
           std::to_string(trace.events[i].warp) + "), lane " + std::to_string(lane) + ": " + what;
  };
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    if (event.kind != EventKind::block_barrier &&
        event.of_lanes.size() != static_cast<std::size_t>(std::popcount(event.lanes)))
      return text(i, 0, "has another number of lanes");
    if (event.kind == EventKind::shuffle) {
      std::array<LaneEvent::Bytes, 32> brought{};
      std::size_t k = 0;
      for (unsigned lane = 0; lane < 32; ++lane)
        if (event.lanes >> lane & 1) brought[lane] = event.of_lanes[k++].before;
      k = 0;
      for (unsigned lane = 0; lane < 32; ++lane) {
        if ((event.lanes >> lane & 1) == 0) continue;
        const LaneEvent& self = event.of_lanes[k++];
        if (!(event.lanes >> self.source_lane & 1)) return text(i, lane, "from an idle lane");
        if (std::memcmp(brought[self.source_lane].data(), self.value.data(), event.bytes) != 0)
          return text(i, lane, "got another value");
      }
    }
    if (event.kind > EventKind::global_atomic || event.bytes < 4) continue;
    const bool is_atomic = event.kind == EventKind::shared_atomic || event.kind == EventKind::global_atomic;
    const bool is_load = event.kind == EventKind::shared_load || event.kind == EventKind::global_load;
    std::size_t k = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((event.lanes >> lane & 1) == 0) continue;
      const LaneEvent& self = event.of_lanes[k++];
      const std::size_t space = is_shared(event.kind) ? 0 : self.buffer + 1;
      if (!self.is_known) return text(i, lane, "is not known");
      for (std::size_t word = 0; word < event.bytes / 4; ++word) {
        std::array<std::byte, 4> found{};
        std::array<std::byte, 4> left{};
        std::memcpy(found.data(), (is_load ? self.value : self.before).data() + 4 * word, 4);
        std::memcpy(left.data(), self.value.data() + 4 * word, 4);
        const Cell cell{space, self.word + static_cast<std::ptrdiff_t>(word)};
        if (is_load || is_atomic) {
          const auto known = memory.find(cell);
          if (known != memory.end() && known->second != found) {
            return text(i, lane,
                        "word " + std::to_string(cell.second) + " has " +
                            std::to_string(std::bit_cast<Word>(found)) + ", written was " +
                            std::to_string(std::bit_cast<Word>(known->second)));
          }
          if (known == memory.end() && space == 0) return text(i, lane, "nothing has written it");
        }
        memory[cell] = left;
      }
    }
  }
  return "";
}

/// Elements whose words are those of 1, 2, 3 ..., or begin later.
template <typename T> void fill(const Array<T>& array, Word first = 1) {
  auto* const words = reinterpret_cast<Word*>(array.begin());
  for (std::size_t i = 0; i < static_cast<std::size_t>(array.end() - array.begin()) * sizeof(T) / 4; ++i)
    words[i] = first + static_cast<Word>(i);
}

void check(const std::string& name, std::size_t blocks, const std::function<void()>& body,
           bool replays = true) {
  SCOPED_TRACE(name);
  for (const Schedule schedule :
       {Schedule{}, Schedule{Order::descending, 0}, Schedule{Order::random, 1}, Schedule{Order::random, 2}}) {
    SCOPED_TRACE(static_cast<int>(schedule.order) * 10 + static_cast<int>(schedule.seed));
    set_schedule(schedule);
    Counters sum;
    for (std::size_t block = 0; block < blocks; ++block) {
      const Recorded recorded = traced(body, block);
      ASSERT_EQ(recorded.thrown, "");
      ASSERT_TRUE(recorded.trace);
      EXPECT_EQ(counters_of_events(*recorded.trace), recorded.trace->counters) << block;
      if (replays) {
        EXPECT_EQ(contradiction_in(*recorded.trace), "") << block;
      }
      EXPECT_FALSE(recorded.trace->truncated);
      std::size_t exits = 0;
      for (const Event& event : recorded.trace->events)
        if (event.kind == EventKind::exit) exits += static_cast<std::size_t>(std::popcount(event.lanes));
      EXPECT_EQ(exits, count(recorded.trace->config.block));
      sum += recorded.trace->counters;
    }
    EXPECT_EQ(sum, last_launch_counters());
    set_schedule({});
  }
}

// ---- kernels ----

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

__global__ void transpose(const float* in, float* out) {
  __shared__ float tile[16][17];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 16 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void histogram(const Word* in, Word* out, unsigned n) {
  __shared__ Word bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
    atomicAdd(&bins[in[i] % 16], 1U);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

__global__ void trips(Word* out) {
  __shared__ Word cells[96];
  cells[threadIdx.x] = 0;
  for (unsigned i = 0; i < threadIdx.x % 7; ++i) {
    cells[threadIdx.x] += i;
    if (i % 2 == 1) cells[threadIdx.x] *= 3;
  }
  out[threadIdx.x] = cells[threadIdx.x];
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

struct Twelve {
  Word a, b, c;
};
struct Sixteen {
  Word a, b, c, d;
};
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

__global__ void shuffles(Word* out) {
  const unsigned lane = threadIdx.x % 32;
  Word x = 100 + threadIdx.x;
  x += __shfl_xor_sync(0xFFFFFFFFU, x, 5, 8);
  if (lane < 12) x += __shfl_up_sync(0xFFFU, x, 2, 4);
  if (lane >= 16) x += __shfl_sync(0xFFFF0000U, x, 3, 16);
  const double d = __shfl_down_sync(0xFFFFFFFFU, x / 3.0, 1);
  const std::complex<double> c = __shfl_xor_sync(0xFFFFFFFFU, std::complex<double>(d, x), 1);
  out[threadIdx.x] = x + static_cast<Word>(c.real());
}

__global__ void any(Word* out) {
  __shared__ Word cells[64];
  Word n = 0;
  do {
    cells[threadIdx.x] = n++;
  } while (__syncthreads_or(threadIdx.x % 5 > n));
  out[threadIdx.x] = cells[threadIdx.x] + n;
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

__global__ void diverged_atomics(Word* out) {
  __shared__ Word sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (unsigned i = 0; i <= threadIdx.x % 3; ++i)
    atomicAdd(&sum, i + 1);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sum;
}

__global__ void bytes(const unsigned char* in, unsigned char* out) {
  __shared__ unsigned char tile[64];
  __shared__ unsigned short halves[64];
  tile[threadIdx.x] = in[threadIdx.x];
  halves[63 - threadIdx.x] = static_cast<unsigned short>(in[threadIdx.x] * 3);
  __syncthreads();
  out[threadIdx.x] = static_cast<unsigned char>(tile[63 - threadIdx.x] + halves[threadIdx.x]);
}

__global__ void go_on(Word* out, unsigned n) {
  for (unsigned i = 0; i < n; ++i)
    out[threadIdx.x] += 1;
}

TEST(TraceReplay, OfKernels) {
  Array<Word> in{1024};
  for (unsigned i = 0; i < 1024; ++i)
    in[i] = i * 2654435761U;
  Array<Word> out{4096};
  check("scan", 3, [&] { launch({3, 256, 0}, scan, in, out); });
  check("scan 1024/4", 1, [&] { launch({1, 64, 0}, scan, in, out); });
  Array<float> fin{256};
  Array<float> fout{256};
  check("transpose", 1, [&] { launch({1, {16, 16}, 0}, transpose, fin, fout); });
  check("trips", 1, [&] { launch({1, 96, 0}, trips, out); });
  check("trips 33", 1, [&] { launch({1, 33, 0}, trips, out); });
  check("leave", 1, [&] { launch({1, 128, 0}, leave, out); });
  check("leave 48", 1, [&] { launch({1, 48, 0}, leave, out); });
  for (const unsigned size : {1U, 33U, 48U, 1024U})
    check("rotate " + std::to_string(size), 2, [&] { launch({2, size, 0}, rotate, out); });
  check("rotate 3-D", 2, [&] { launch({2, {5, 3, 7}, 0}, rotate, out); });
  check("both kinds", 1, [&] { launch({1, 32, 128}, both_kinds, out); });
  Array<Twelve> twelve{128};
  fill(twelve);
  check("12", 1, [&] { launch({1, 64, 0}, copy<Twelve>, twelve.begin(), twelve.begin() + 64); });
  Array<Sixteen> sixteen{128};
  fill(sixteen);
  check("16", 1, [&] { launch({1, 64, 0}, copy<Sixteen>, sixteen.begin(), sixteen.begin() + 64); });
  Array<TwentyFour> more{128};
  fill(more);
  check("24", 1, [&] { launch({1, 64, 0}, copy<TwentyFour>, more.begin(), more.begin() + 64); });
  Array<double> doubles{128};
  fill(doubles);
  check("double", 1, [&] { launch({1, 64, 0}, copy<double>, doubles.begin(), doubles.begin() + 64); });
  Array<float4> four{128};
  fill(four);
  check("float4", 1, [&] { launch({1, 64, 0}, copy<float4>, four.begin(), four.begin() + 64); });
  Array<std::complex<double>> complex{128};
  fill(complex);
  check("complex", 1, [&] {
    launch({1, 64, 0}, copy<std::complex<double>>, complex.begin(), complex.begin() + 64);
  });
  check("shuffles", 1, [&] { launch({1, 64, 0}, shuffles, out); });
  check("any", 1, [&] { launch({1, 64, 0}, any, out); });
  check("partial warp barriers", 1, [&] { launch({1, 32, 0}, partial_warp_barriers, out); });
  check("two buffers", 1, [&] { launch({1, 32, 0}, two_buffers, in, in.begin() + 512, out); });
  Array<unsigned char> small{128};
  check("bytes", 1, [&] { launch({1, 64, 0}, bytes, small.begin(), small.begin() + 64); });
}

TEST(TraceReplay, OfTwoBuffersInOneInstruction) {
  Array<Word> a{32};
  Array<Word> b{32};
  Array<Word> out{32};
  for (unsigned i = 0; i < 32; ++i)
    b[i] = i + 50;
  const auto run = [&] { launch({1, 32, 0}, two_buffers, a, b, out); };
  check("two buffers", 1, run);
  const Recorded recorded = traced(run);
  ASSERT_TRUE(recorded.trace);
  const Event& load = recorded.trace->events.front();
  ASSERT_EQ(load.kind, EventKind::global_load);
  ASSERT_EQ(load.of_lanes.size(), 32U);
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(load.of_lanes[lane].buffer, lane % 2) << lane;
    EXPECT_EQ(load.of_lanes[lane].word, lane);
  }
  EXPECT_EQ(recorded.trace->buffers.size(), 3U);
}

/// In a loop each lane's atomics are in order, and those of several lanes as the run had them: no order of warp
/// instructions need explain what each found.
TEST(TraceReplay, OfAtomics) {
  Array<Word> in{1024};
  for (unsigned i = 0; i < 1024; ++i)
    in[i] = i * 2654435761U;
  Array<Word> out{4096};
  check(
      "histogram", 2,
      [&] {
        launch({2, 128, 0}, histogram, in, out, 1000U);
      },
      false);
  check(
      "diverged atomics", 1,
      [&] {
        launch({1, 40, 0}, diverged_atomics, out);
      },
      false);
}

/// The kinds of the first warp's events.
std::string kinds_of(const BlockTrace& trace) {
  std::string kinds;
  for (const Event& event : trace.events)
    if (event.kind != EventKind::block_barrier && event.warp == 0)
      kinds += std::string{name_of(event.kind)} + ' ';
  return kinds;
}

/// A struct is loaded before it is stored, whichever of it the compiler tells first.
TEST(TraceReplay, OfCopiedStructs) {
  Array<float4> four{128};
  fill(four);
  const Recorded recorded = traced([&] {
    launch({1, 64, 0}, copy<float4>, four.begin(), four.begin() + 64);
  });
  EXPECT_EQ(kinds_of(*recorded.trace), "global_load shared_store shared_load global_store exit ");
  Array<TwentyFour> more{128};
  fill(more, 1000);
  const Recorded parts = traced([&] {
    launch({1, 64, 0}, copy<TwentyFour>, more.begin(), more.begin() + 64);
  });
  EXPECT_EQ(kinds_of(*parts.trace),
            "global_load global_load global_load shared_store shared_store shared_store "
            "shared_load shared_load shared_load global_store global_store global_store exit ");
}

/// How many atomic operations left what they found, and how many stored the number of their thread, or 1 more.
std::pair<std::size_t, std::size_t> looks_and_stores(const BlockTrace& trace) {
  std::size_t looks = 0;
  std::size_t stores = 0;
  for (const Event& event : trace.events) {
    if (event.kind != EventKind::shared_atomic && event.kind != EventKind::global_atomic) continue;
    for (const LaneEvent& lane : event.of_lanes) {
      EXPECT_TRUE(lane.is_known);
      lane.value == lane.before ? ++looks : ++stores;
    }
  }
  return {looks, stores};
}

/// A lane that spins loses its turn between two atomic operations: others change the word before it goes on.
TEST(TraceReplay, OfSpins) {
  Array<Word> out{4096};
  Array<Word> flags{64};
  check("between blocks", 3, [&] {
    std::fill(flags.begin(), flags.end(), 0U);
    launch({3, 64, 0}, spin_between_blocks, flags, out);
  });
  for (unsigned seed = 0; seed < 20; ++seed) {
    set_schedule({Order::random, seed});
    const Recorded recorded = traced([&] { launch({1, 40, 0}, spin_within_a_block, out); });
    set_schedule({});
    ASSERT_EQ(recorded.thrown, "");
    EXPECT_EQ(counters_of_events(*recorded.trace), recorded.trace->counters);
    const auto [looks, stores] = looks_and_stores(*recorded.trace);
    EXPECT_EQ(stores, 40U) << "of seed " << seed;
    EXPECT_EQ(looks + stores, recorded.trace->counters.atomics);
  }
}

__global__ void counts(std::size_t* out) { out[threadIdx.x] = threadIdx.x; }

/// A small integer in a run of float64 is a number that no normal one has, and not all text is UTF-8.
TEST(TraceReplay, OfOddBytesIsJson) {
  Array<std::size_t> out{32};
  const Recorded recorded = traced([&] { launch({1, 32, 0}, counts, out); });
  const std::string text =
      reduction::trace_json(*recorded.trace, {"counts", "caf\xe9", reduction::ElementType::float64});
  EXPECT_NE(text.find("caf\xef\xbf\xbd"), std::string::npos) << text;
  EXPECT_NE(text.find("5e-324"), std::string::npos) << text;
}

__global__ void vote(std::size_t* out) { out[threadIdx.x] = __ballot_sync(3, threadIdx.x == 1); }

TEST(TraceReplay, OfVotesIsJsonOfWholeNumbers) {
  Array<std::size_t> out{2};
  const Recorded recorded = traced([&] { launch({1, 2, 0}, vote, out); });
  const std::string text =
      reduction::trace_json(*recorded.trace, {"vote", "", reduction::ElementType::float64});
  EXPECT_NE(text.find(R"("kind":"vote")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("brought":[0,1])"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("values":[2,2])"), std::string::npos) << text;
}

__device__ Word tickets[3];

__global__ void take_tickets(Word* out) { out[threadIdx.x] = atomicAdd(&tickets[threadIdx.x % 3], 1U); }

/// Wherever the program has them.
TEST(TraceReplay, OfVariablesOfTheProgram) {
  Array<Word> out{32};
  const Recorded recorded = traced([&] { launch({1, 32, 0}, take_tickets, out); });
  EXPECT_EQ(contradiction_in(*recorded.trace), "");
  EXPECT_EQ(recorded.trace->buffers, (std::vector<std::size_t>{128, 12}));
  const Event& atomic = recorded.trace->events.front();
  ASSERT_EQ(atomic.kind, EventKind::global_atomic);
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(atomic.of_lanes[lane].word, lane % 3);
}

/// What was done before the trace was full is there without gaps.
TEST(TraceReplay, OfTooMuch) {
  Array<Word> out{4096};
  for (const unsigned threads : {32U, 1024U}) {
    const Recorded recorded = traced([&] { launch({1, threads, 0}, go_on, out, 20000U); });
    ASSERT_TRUE(recorded.trace);
    EXPECT_TRUE(recorded.trace->truncated);
    EXPECT_EQ(contradiction_in(*recorded.trace), "");
    EXPECT_GT(recorded.trace->events.size(), 8000U);
  }
}

}  // namespace
