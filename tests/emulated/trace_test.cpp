/// What a trace says of kernels that are no step's and no pitfall's: those are committed with the pages' pictures (docs/stills).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "emulated/kernel_sweep.hpp"
#include "emulated/trace/trace.hpp"
#include "harness/trace_file.hpp"

namespace {

using namespace __emulated;
using deletable::__syncthreads;
using deletable::__syncwarp;
using deletable::__threadfence;
using Word = std::uint32_t;
using Words = DeviceArray<Word>;
template <typename T> using Array = DeviceArray<T>;

/// A letter for each kind of event: read, Write; of Global memory, of shared in lower case.
char letter_of(EventKind kind) { return "rwRWcbaAsv|:f."[static_cast<std::size_t>(kind)]; }

__global__ void reverse(const Word* in, Word* out) {
  __shared__ Word tile[64];
  tile[63 - threadIdx.x] = in[threadIdx.x] + 1;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x];
}

// ---- variables ----

[[gnu::noinline]] __device__ void set(Word* variable, Word value) { *variable = value; }

__global__ void use_variables(Word* out, double share) {
  const Word lane = threadIdx.x;
  Word early = 40 + lane;
  Word late;
  const float quarter = 0.25F;
  for (int step = -1; step > -3; --step)
    out[lane] += static_cast<Word>(step) * early;
  for (bool step = lane == 1; !step; step = true)
    out[lane] += step ? 1 : static_cast<Word>(share * quarter);
  out[lane] = share > 0 ? early : late;
  set(&late, lane);
  set(&early, late);
  out[lane] += early + late + (share > 0 ? 0 : lane);
}

struct Pair {
  Word first;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
/// Lines whose names are no variables of these values, or have none yet.
__global__ void hide_variables(Word* out, Word narrow) {
  Word first = out[0] + 53, inner = out[0] + 54, moved = 55;
  set(&inner, inner);
  out[first == 1 ? 0 : 1] = 0;  // with a value
  const auto shifted = static_cast<unsigned short>(static_cast<unsigned short>(narrow * 40'000) >> 3);
  const Pair pair{moved};
  {
    const Word* first = out + threadIdx.x;
    if (inner == 1) {
      int moved;
      set(&inner, static_cast<Word>(sizeof moved));
    }
    enum { inner = 9 };
    out[2] = *first + pair.first + inner /* moved */ + 0 * shifted;
  }
  out[3] = [narrow = Word{5}] { return narrow; }();
}
#pragma GCC diagnostic pop

TEST(Trace, HasNoOtherVariablesOfTheLine) {
  Words out{4};
  const nlohmann::json trace = nlohmann::json::parse(reduction::trace_json(
      trace_of([&] { hide_variables<<<1, 1>>>(out, 1); }), {"variables", "", reduction::ElementType::int32}));
  for (const auto& event : trace["events"])
    for (const auto& variable : event.value("variables", nlohmann::json::array()))
      EXPECT_TRUE((variable["name"] == "first" && variable["values"].dump() == "[53]") ||
                  (variable["name"] == "narrow" && variable["values"].dump() == "[1]") ||
                  (variable["name"] == "shifted" && variable["values"].dump() == "[5000]"))
          << event.dump();
}

/// Of two that have one name it is that of the line's scope; one is left out where it may have no value yet.
TEST(Trace, HasVariablesOfTheLine) {
  Words out{3};
  const nlohmann::json trace =
      nlohmann::json::parse(reduction::trace_json(trace_of([&] { use_variables<<<1, 3>>>(out, 0.25); }),
                                                  {"variables", "", reduction::ElementType::int32}));
  std::map<std::string, std::vector<std::string>> found;
  for (const auto& event : trace["events"]) {
    for (const auto& variable : event.value("variables", nlohmann::json::array())) {
      std::vector<std::string>& values = found[variable["name"]];
      if (values.empty() || values.back() != variable["values"].dump())
        values.push_back(variable["values"].dump());
    }
  }
  for (const std::string& values : std::exchange(found["quarter"], {}))  // known with Clang only
    EXPECT_TRUE(values == "[0.25,0.25]") << values;
  found.erase("quarter");
  const std::map<std::string, std::vector<std::string>> wanted{
      {"early", {"[40,41,42]", "[0,1,2]"}},
      {"lane", {"[0,1,2]", "[0,2]", "[0,1,2]"}},
      {"share", {"[0.25,0.25]", "[0.25,0.25,0.25]"}},
      {"step", {"[-1,-1,-1]", "[-2,-2,-2]", "[false,false]"}}};
  EXPECT_EQ(found, wanted);
}

// ---- findings ----

/// What lane 0 reads behind the barrier, lane 16 writes again in the next pass, which no barrier begins: a nearer pair is
/// separated by one.
__global__ void write_again_too_early(Word* out) {
  __shared__ Word tile[32];
  const unsigned lane = threadIdx.x;
  for (unsigned pass = 0; pass < 2; ++pass) {
    if (lane == 16) tile[16] = pass;
    __syncwarp();
    if (lane == 0) out[32] = tile[16];
    out[lane] += 1;
    out[lane] += 2;
  }
}

/// Thread 0 writes to one buffer, then to the other; thread 32 reads the second one only.
__global__ void write_to_both(Word* a, Word* b, Word* out) {
  for (unsigned pass = 0; pass < 2; ++pass) {
    Word* const to = pass == 0 ? a : b;
    if (threadIdx.x == 0) to[0] = pass;
    if (threadIdx.x == 32) out[pass] = b[0];
  }
}

__global__ void part_and_leave(Word* out) {
  out[threadIdx.x] = 1;
  if (threadIdx.x >= 40) return;
  if (threadIdx.x < 20) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void add_to_a_local_variable(Word* out) {
  Word local = 0;
  out[0] = 1;
  atomicAdd(&local, 1);
  out[1] = local;
}

/// The fault, and the block's events in order, with the numbers of the witnesses behind those that the finding leads to.
std::string found_in(const BlockTrace& trace) {
  const Finding& finding = trace.findings.at(0);
  const auto leads = events_of(finding, trace);
  std::map<std::size_t, std::string> numbers;
  for (std::size_t i = 0; i < leads.size(); ++i) {
    if (!leads[i]) continue;
    numbers[*leads[i]] += std::to_string(i);
    const Event& event = trace.events[*leads[i]];
    const unsigned thread = finding.witnesses[i].threads.front();
    EXPECT_EQ(event.call_site, finding.witnesses[i].call_site);
    EXPECT_EQ(event.warp, thread / warp_size);
    EXPECT_NE(event.lanes >> thread % warp_size & 1, 0U);
  }
  std::string text = std::string{name_of(finding.fault)} + ' ';
  for (std::size_t i = 0; i < trace.events.size(); ++i)
    text += letter_of(trace.events[i].kind) + numbers[i];
  return text;
}

TEST(Trace, LeadsFromAFindingToItsEvents) {
  Words a{1}, b{1}, out{64};
  EXPECT_EQ(found_in(trace_of([&] { write_again_too_early<<<1, 32>>>(out); })), "race w:r1WRWRWw0:rWRWRW.");
  EXPECT_EQ(found_in(trace_of([&] { write_to_both<<<1, 64>>>(a, b, out); })), "race WR1W0W.RW.");
  EXPECT_EQ(found_in(trace_of([&] { part_and_leave<<<1, 64>>>(out); })), "divergent barrier WW.2");
  const BlockTrace local = trace_of([&] { add_to_a_local_variable<<<1, 1>>>(out); });
  EXPECT_EQ(found_in(local), "out of bounds W");
  EXPECT_EQ(local.counters.atomics, 0U);
}

__global__ void go_on_and_on(Word* out, unsigned times) {
  for (unsigned i = 0; i < times; ++i)
    out[threadIdx.x] += 1;
}

/// What was done before the trace was full is there without gaps.
TEST(Trace, HoldsSoMuchAndSaysWhereItEnds) {
  Words out{1024};
  for (const unsigned threads : {32U, 1024U}) {
    const unsigned times = 4 * most_traced_actions / threads;
    const BlockTrace trace = trace_of([&] { go_on_and_on<<<1, threads>>>(out, times); });
    EXPECT_TRUE(trace.truncated);
    EXPECT_LE(trace.events.size() * 32, most_traced_actions);
    EXPECT_GT(trace.events.size(), 8000U);
    EXPECT_EQ(trace.counters.global_load_requests, times * threads / 32);
    EXPECT_EQ(contradiction_in(trace), "");
  }
  EXPECT_FALSE(trace_of([&] { go_on_and_on<<<1, 32>>>(out, 100U); }).truncated);
}

/// Neither the order of threads nor the number of host threads decides what is one event, or what was in memory.
TEST(Trace, IsTheSameInEveryScheduleAndOnAnyNumberOfHostThreads) {
  Words in{64}, out{64 * 100};
  for (unsigned i = 0; i < 64; ++i)
    in[i] = 3 * i;
  const auto json = [&](const Schedule& schedule, unsigned host_threads) {
    set_schedule(schedule);
    set_host_threads(host_threads);
    const BlockTrace trace = trace_of([&] { reverse<<<100, 64>>>(in, out); }, 77);
    set_host_threads(0);
    set_schedule({});
    return reduction::trace_json(trace, {"reverse", "", reduction::ElementType::int32});
  };
  const std::string ascending = json({}, 1);
  EXPECT_EQ(json({Order::descending, 0}, 4), ascending);
  for (unsigned seed = 0; seed < 5; ++seed)
    EXPECT_EQ(json({Order::random, seed}, 4), ascending) << seed;
}

// ---- what each lane reads is what the events before it have written, in every schedule ----

__global__ void leave(Word* out) {
  __shared__ Word cells[128];
  cells[threadIdx.x] = threadIdx.x;
  if (threadIdx.x % 3 == 0) return;
  out[threadIdx.x] = cells[threadIdx.x];
  if (threadIdx.x > 70) return;
  cells[threadIdx.x] += 1;
  out[threadIdx.x] = cells[threadIdx.x];
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
    __syncwarp(0xFFFFU);  // orders nothing: each lane goes on with its own cell
    cells[lane] += 1;
  } else {
    __syncwarp(0xFFFF0000U);  // orders nothing: the same
    cells[lane] += cells[lane];
  }
  __syncwarp();
  out[lane] = cells[31 - lane];
}

__global__ void spin_between_blocks(Word* flags, Word* out) {
  if (threadIdx.x == 0 && blockIdx.x > 0)
    while (atomicAdd(&flags[blockIdx.x - 1], 0U) == 0) {
    }
  __syncthreads();  // orders nothing: no thread reads what another one writes
  out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
  __threadfence();  // orders nothing: the same
  __syncthreads();  // orders nothing: the same
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

TEST(TraceReplay, OfKernels) {
  const Array<Word> out{128};
  sweep({{"lanes that leave", [&] { leave<<<1, 128>>>(out); }},
         {"lanes that leave a part of a warp", [&] { leave<<<1, 48>>>(out); }},
         {"partial warp barriers", [&] { partial_warp_barriers<<<1, 32>>>(out); }}});
}

/// Where blocks take turns, a word may change between two looks of a block.
TEST(TraceReplay, OfABlockThatWaitsForAnother) {
  for (const Order order : {Order::ascending, Order::descending, Order::random}) {
    set_schedule({order, 1});
    for (const std::size_t block : {0U, 1U, 2U}) {
      const Array<Word> flags{3}, out{3 * 64};
      expect_whole(trace_of([&] { spin_between_blocks<<<3, 64>>>(flags, out); }, block),
                   order == Order::ascending);
    }
    set_schedule({});
  }
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

__global__ void store_and_vote(std::size_t* out) {
  out[threadIdx.x] = threadIdx.x;
  out[2] = __ballot_sync(3, threadIdx.x == 1);
}

/// A small integer in a run of float64 is a number that no normal one has, but votes are whole; and not all text is UTF-8.
TEST(TraceReplay, OfOddBytesIsJson) {
  Array<std::size_t> out{3};
  const std::string text = reduction::trace_json(trace_of([&] { store_and_vote<<<1, 2>>>(out); }),
                                                 {"counts", "caf\xe9", reduction::ElementType::float64});
  for (const char* part :
       {"caf\xef\xbf\xbd", "5e-324", R"("kind":"vote")", R"("brought":[0,1])", R"("values":[2,2])"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

__device__ Word cells_of_all[16];

__global__ void use_cells(Word* out) {
  Word* const cells = cells_of_all + 2;
  if (threadIdx.x == 0) out[32] = cells[0];
  out[threadIdx.x] = atomicAdd(&cells[2 + threadIdx.x % 3], 1U);
  if (threadIdx.x == 0) cells[8] = 1;
}

/// Wherever the program has them: they begin with the first word that is used, and end with the last.
TEST(TraceReplay, OfVariablesOfTheProgram) {
  Array<Word> out{33};
  const BlockTrace trace = trace_of([&] { use_cells<<<1, 32>>>(out); });
  EXPECT_EQ(contradiction_in(trace), "");
  EXPECT_EQ(trace.buffers, (std::vector<std::size_t>{36, 132}));
  const auto first = [&](EventKind kind) { return *std::ranges::find(trace.events, kind, &Event::kind); };
  const Event atomic = first(EventKind::global_atomic);
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(atomic.of_lanes[lane].word, 2 + lane % 3);
  EXPECT_EQ(first(EventKind::global_load).of_lanes[0].word, 0);
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
