/// What a trace says of kernels that are no step's: values, order, lanes, faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/trace/trace.hpp"
#include "emulated/trace_checks.hpp"

namespace {

using namespace __emulated;
using Word = std::uint32_t;
using Words = DeviceArray<Word>;

template <typename T> T value_of(const LaneEvent::Bytes& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::vector<Event> events_of_kind(const BlockTrace& trace, EventKind kind) {
  std::vector<Event> found;
  std::ranges::copy_if(trace.events, std::back_inserter(found),
                       [&](const Event& event) { return event.kind == kind; });
  return found;
}

/// A letter for each kind of event: read, Write; of Global memory, of shared in lower case.
char letter_of(EventKind kind) { return "rwRWaAsv|:f."[static_cast<std::size_t>(kind)]; }

/// One warp's events, in order.
std::string order_of(const BlockTrace& trace, unsigned warp) {
  std::string order;
  for (const Event& event : trace.events)
    if (event.kind == EventKind::block_barrier || event.warp == warp) order += letter_of(event.kind);
  return order;
}

__global__ void reverse(const Word* in, Word* out) {
  __shared__ Word tile[64];
  tile[63 - threadIdx.x] = in[threadIdx.x] + 1;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x];
}

TEST(Trace, HasWordsBanksAndValues) {
  Words in{64}, out{192};
  for (unsigned i = 0; i < 64; ++i)
    in[i] = 100 + i;
  const BlockTrace trace = trace_of([&] { launch({3, 64, 0}, reverse, in, out); }, 2);
  EXPECT_EQ(order_of(trace, 0), "Rw|rW.");
  EXPECT_EQ(order_of(trace, 1), "Rw|rW.");
  EXPECT_EQ(trace.block, 2U);
  ASSERT_EQ(trace.buffers.size(), 2U);
  EXPECT_EQ(trace.buffers[0], 256U);
  EXPECT_EQ(trace.buffers[1], 768U);
  EXPECT_EQ(counters_of_events(trace), trace.counters);

  const Event store = events_of_kind(trace, EventKind::shared_store).at(1);
  EXPECT_EQ(store.warp, 1U);
  EXPECT_EQ(store.lanes, ~0U);
  EXPECT_EQ(store.wavefronts, 1U);
  const std::ptrdiff_t first = events_of_kind(trace, EventKind::shared_load).at(0).of_lanes[0].word;
  EXPECT_EQ(first % 32, 0) << "a shared variable begins at the first bank";
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(store.of_lanes[lane].word, first + 31 - static_cast<int>(lane));
    EXPECT_TRUE(store.of_lanes[lane].is_known);
    EXPECT_EQ(value_of<Word>(store.of_lanes[lane].value), 100 + 32 + lane + 1);
  }
  const Event result = events_of_kind(trace, EventKind::global_store).at(0);
  EXPECT_EQ(result.of_lanes.front().buffer, 1U);
  EXPECT_EQ(result.sectors, 4U);
  EXPECT_EQ(result.of_lanes[5].word, 128 + 5);
  EXPECT_EQ(value_of<Word>(result.of_lanes[5].value), 100U + 63 - 5 + 1);
}

TEST(Trace, IsOfTheLaunchThatIsMeant) {
  Words in{64}, out{192};
  const auto twice = [&] {
    launch({1, 64, 0}, reverse, in, out);
    in[0] = 7;
    launch({3, 64, 0}, reverse, in, out);
  };
  const BlockTrace trace = trace_of(twice, 1, 2);
  EXPECT_EQ(trace.launch, 2U);
  EXPECT_EQ(count(trace.configuration.grid), 3U);
  EXPECT_EQ(value_of<Word>(events_of_kind(trace, EventKind::global_load).at(0).of_lanes[0].value), 7U);
  EXPECT_TRUE(trace_of(twice, 3, 2).events.empty()) << "there is no block 3";
  EXPECT_TRUE(trace_of(twice, 0, 3).events.empty()) << "there is no third launch";
}

/// Lanes go two ways, of different lengths, and come together again.
__global__ void diverge(Word* out) {
  __shared__ Word tile[32];
  const unsigned lane = threadIdx.x;
  if (lane < 16) {
    tile[lane] = 1;
    tile[lane] += 1;
    tile[lane] += 1;
  } else {
    tile[lane] = 5;
  }
  out[lane] = tile[lane];
}

TEST(Trace, PutsDivergedLanesInAnOrderThatAWarpCanRun) {
  Words out{32};
  const BlockTrace trace = trace_of([&] { launch({1, 32, 0}, diverge, out); });
  EXPECT_EQ(counters_of_events(trace), trace.counters);
  // Whichever way comes first: each lane's own events are in order, and all meet in the last read.
  std::vector<std::string> of_lanes(32);
  for (const Event& event : trace.events)
    for (const unsigned lane : lanes_of(event.lanes))
      of_lanes[lane] += letter_of(event.kind);
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(of_lanes[lane], lane < 16 ? "wrwrwrW." : "wrW.") << lane;
  const Event& last_read = trace.events[trace.events.size() - 3];
  EXPECT_EQ(last_read.kind, EventKind::shared_load);
  EXPECT_EQ(last_read.lanes, ~0U);
  EXPECT_EQ(value_of<Word>(last_read.of_lanes[3].value), 3U);
  EXPECT_EQ(value_of<Word>(last_read.of_lanes[20].value), 5U);
}

__global__ void meet(Word* out) {
  const unsigned lane = threadIdx.x % 32;
  Word sum = threadIdx.x;
  if (lane < 8) sum += __shfl_down_sync(0xFFU, sum, 4, 8);
  __syncwarp();
  atomicAdd(&out[0], sum);
  __threadfence();
  out[1 + threadIdx.x] = sum;
}

TEST(Trace, HasShufflesAtomicsAndFences) {
  Words out{41};
  out[0] = 1000;
  const BlockTrace trace = trace_of([&] { launch({1, 40, 0}, meet, out); });
  ASSERT_TRUE(trace.findings.empty()) << trace.findings.front().text;
  EXPECT_EQ(order_of(trace, 0), "s:AfW.");
  EXPECT_EQ(order_of(trace, 1), "s:AfW.");
  EXPECT_EQ(counters_of_events(trace), trace.counters);

  const Event shuffle = events_of_kind(trace, EventKind::shuffle).at(1);
  EXPECT_EQ(shuffle.warp, 1U);
  EXPECT_EQ(shuffle.lanes, 0xFFU);
  EXPECT_EQ(shuffle.shuffles, 1U);
  EXPECT_EQ(shuffle.of_lanes[1].source_lane, 5U);
  EXPECT_EQ(value_of<Word>(shuffle.of_lanes[1].before), 33U);
  EXPECT_EQ(value_of<Word>(shuffle.of_lanes[1].value), 37U);
  EXPECT_EQ(shuffle.of_lanes[7].source_lane, 7U) << "past the end a lane gets its own value";

  const Event atomic = events_of_kind(trace, EventKind::global_atomic).at(0);
  EXPECT_EQ(atomic.lanes, ~0U);
  EXPECT_EQ(atomic.of_lanes[0].word, 0);
  EXPECT_EQ(value_of<Word>(atomic.of_lanes[0].before), 1000U);
  EXPECT_EQ(value_of<Word>(atomic.of_lanes[0].value), 1004U);
  EXPECT_EQ(value_of<Word>(atomic.of_lanes[1].before), 1004U);
}

__global__ void vote_on(Word* out) {
  const Word even = __ballot_sync(0xffffffff, threadIdx.x % 2 == 0);
  if (threadIdx.x < 8) out[threadIdx.x] = even + __reduce_add_sync(0xFF, 100U);
}

TEST(Trace, HasVotes) {
  Words out{8};
  const BlockTrace trace = trace_of([&] { launch({1, 32, 0}, vote_on, out); });
  ASSERT_TRUE(trace.findings.empty()) << trace.findings.front().text;
  EXPECT_EQ(order_of(trace, 0), "vvW.");
  EXPECT_EQ(counters_of_events(trace), trace.counters);
  const std::vector<Event> votes = events_of_kind(trace, EventKind::vote);
  EXPECT_EQ(votes[0].lanes, ~0U);
  EXPECT_EQ(value_of<std::uint64_t>(votes[0].of_lanes[2].before), 1U);
  EXPECT_EQ(value_of<std::uint64_t>(votes[0].of_lanes[3].before), 0U);
  EXPECT_EQ(value_of<std::uint64_t>(votes[0].of_lanes[3].value), 0x55555555U);
  EXPECT_EQ(votes[1].lanes, 0xFFU);
  EXPECT_EQ(value_of<std::uint64_t>(votes[1].of_lanes[7].before), 100U);
  EXPECT_EQ(value_of<std::uint64_t>(votes[1].of_lanes[7].value), 800U);
}

__global__ void wide(const float4* in, double* out) {
  __shared__ double tile[32];
  const float4 four = in[threadIdx.x];
  tile[threadIdx.x] = four.x + four.w;
  __syncwarp();
  out[threadIdx.x] = tile[threadIdx.x];
}

TEST(Trace, HasWideAccessesWhole) {
  DeviceArray<float> in{128};
  DeviceArray<double> out{32};
  for (unsigned i = 0; i < 128; ++i)
    in[i] = static_cast<float>(i);
  const auto* const vectors = reinterpret_cast<const float4*>(in.begin());
  const BlockTrace trace = trace_of([&] { launch({1, 32, 0}, wide, vectors, static_cast<double*>(out)); });
  const Event load = events_of_kind(trace, EventKind::global_load).at(0);
  EXPECT_EQ(load.bytes, 16U);
  EXPECT_EQ(load.of_lanes[2].word, 8);
  EXPECT_EQ(load.sectors, 16U);
  float last;
  std::memcpy(&last, load.of_lanes[2].value.data() + 12, sizeof last);
  EXPECT_EQ(last, 11.0F);
  const Event store = events_of_kind(trace, EventKind::shared_store).at(0);
  EXPECT_EQ(store.bytes, 8U);
  EXPECT_EQ(store.wavefronts, 2U);
  EXPECT_EQ(store.conflicts, 0U);
  EXPECT_EQ(value_of<double>(store.of_lanes[2].value), 8.0 + 11.0);
}

// ---- findings ----

/// The events of a race, the earlier one first.
std::vector<std::size_t> events_of_race(const BlockTrace& trace) {
  std::vector<std::size_t> numbers;
  if (trace.findings.empty() || trace.findings.front().fault != Fault::race) return numbers;
  for (const std::optional<std::size_t> event : __emulated::events_of(trace.findings.front(), trace))
    if (event) numbers.push_back(*event);
  std::ranges::sort(numbers);
  return numbers;
}

/// No warp barrier is between these events, which would have ordered them.
void expect_no_barrier_between(const std::vector<std::size_t>& events, const BlockTrace& trace) {
  ASSERT_EQ(events.size(), 2U);
  for (std::size_t i = events[0]; i < events[1]; ++i)
    EXPECT_NE(trace.events[i].kind, EventKind::warp_barrier);
}

/// The barrier between the two lines is missing.
__global__ void neighbours(Word* out) {
  __shared__ Word tile[64];
  tile[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = tile[(threadIdx.x + 32) % 64];  // finding
  __syncthreads();
  out[threadIdx.x] += tile[threadIdx.x];
}

TEST(Trace, LeadsFromARaceToBothEvents) {
  Words out{64};
  const BlockTrace trace = trace_of([&] { launch({1, 64, 0}, neighbours, out); });
  ASSERT_FALSE(trace.findings.empty());
  const Finding& finding = trace.findings.front();
  ASSERT_EQ(finding.fault, Fault::race);
  const auto events = __emulated::events_of(finding, trace);
  ASSERT_EQ(events.size(), 2U);
  ASSERT_TRUE(events[0] && events[1]);
  for (std::size_t i = 0; i < 2; ++i) {
    const Event& event = trace.events[*events[i]];
    const Witness& witness = finding.witnesses[i];
    EXPECT_EQ(event.call_site, witness.call_site);
    EXPECT_EQ(event.warp, witness.threads.front() / 32);
    EXPECT_NE(event.lanes >> (witness.threads.front() % 32) & 1, 0U);
    EXPECT_LT(*events[i], 4U) << "before the barrier";
  }
}

/// On each level lane 0 reads the word that lane 16, or lane 8, writes; one barrier per level is one too few.
__global__ void one_barrier_a_level(Word* out) {
  __shared__ Word tile[64];
  const unsigned lane = threadIdx.x;
  tile[lane] = 1;
  tile[lane + 32] = 1;
  __syncwarp();
  for (unsigned offset = 32; offset > 0; offset /= 2) {
    tile[lane] += tile[lane + offset];
    __syncwarp();
  }
  out[lane] = tile[lane];
}

TEST(Trace, LeadsFromARaceOfAWarpToTheLevelThatHasIt) {
  Words out{32};
  const BlockTrace trace = trace_of([&] { launch({1, 32, 0}, one_barrier_a_level, out); });
  expect_no_barrier_between(events_of_race(trace), trace);
}

/// What lane 0 reads behind the barrier, lane 16 writes again in the next pass, which no barrier begins.
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

TEST(Trace, LeadsFromARacePastANearerPairThatABarrierSeparates) {
  Words out{33};
  const BlockTrace trace = trace_of([&] { launch({1, 32, 0}, write_again_too_early, out); });
  const std::vector<std::size_t> events = events_of_race(trace);
  expect_no_barrier_between(events, trace);
  EXPECT_EQ(trace.events[events.at(0)].kind, EventKind::shared_load);
  EXPECT_EQ(trace.events[events.at(1)].kind, EventKind::shared_store);
}

/// Thread 0 writes to one buffer, then to the other; thread 32 reads the second one only.
__global__ void write_to_both(Word* a, Word* b, Word* out) {
  for (unsigned pass = 0; pass < 2; ++pass) {
    Word* const to = pass == 0 ? a : b;
    if (threadIdx.x == 0) to[0] = pass;
    if (threadIdx.x == 32) out[pass] = b[0];
  }
}

TEST(Trace, LeadsFromARaceToTheBufferThatHasIt) {
  Words a{1}, b{1}, out{2};
  const BlockTrace trace = trace_of([&] { launch({1, 64, 0}, write_to_both, a, b, out); });
  const std::vector<std::size_t> events = events_of_race(trace);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(trace.events[events[0]].of_lanes[0].buffer, trace.events[events[1]].of_lanes[0].buffer);
}

__global__ void leave_early(Word* out) {
  __shared__ Word tile[64];
  tile[threadIdx.x] = 1;
  if (threadIdx.x >= 40) return;
  __syncthreads();
  out[threadIdx.x] = tile[0];
}

TEST(Trace, EndsWhereAFaultHasEndedTheBlock) {
  Words out{64};
  const BlockTrace trace = trace_of([&] { launch({1, 64, 0}, leave_early, out); });
  ASSERT_EQ(trace.findings.size(), 1U);
  EXPECT_EQ(trace.findings.front().fault, Fault::missed_barrier);
  EXPECT_EQ(order_of(trace, 0), "w");
  EXPECT_EQ(order_of(trace, 1), "w.");
  const Event exit = events_of_kind(trace, EventKind::exit).at(0);
  EXPECT_EQ(exit.lanes, 0xFFFFFF00U);
  bool has_exit = false;
  const auto events = __emulated::events_of(trace.findings.front(), trace);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool has_left = trace.findings.front().witnesses[i].action.find("left") != std::string::npos;
    EXPECT_EQ(events[i].has_value(), has_left);
    has_exit = has_exit || (has_left && trace.events[*events[i]].kind == EventKind::exit);
  }
  EXPECT_TRUE(has_exit);
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

TEST(Trace, LeadsToTheExitOfThreadsThatHaveLeftOthersAtTwoBarriers) {
  Words out{64};
  const BlockTrace trace = trace_of([&] { launch({1, 64, 0}, part_and_leave, out); });
  ASSERT_EQ(trace.findings.size(), 1U);
  const Finding& finding = trace.findings.front();
  EXPECT_EQ(finding.fault, Fault::divergent_barrier);
  ASSERT_EQ(finding.witnesses.size(), 3U);
  EXPECT_NE(finding.witnesses[2].action.find("left"), std::string::npos);
  const auto events = __emulated::events_of(finding, trace);
  EXPECT_FALSE(events[0] || events[1]);
  ASSERT_TRUE(events[2]);
  EXPECT_EQ(trace.events[*events[2]].kind, EventKind::exit);
}

__global__ void run_past_the_end(Word* out) {
  __shared__ Word tile[32];
  tile[threadIdx.x] = 1;
  out[threadIdx.x + 1] = tile[threadIdx.x];
}

__global__ void add_to_a_local_variable(Word* out) {
  Word local = 0;
  out[0] = 1;
  atomicAdd(&local, 1);
  out[1] = local;
}

TEST(Trace, HasWhatCameBeforeAnAccessOutOfBounds) {
  Words out{32};
  const BlockTrace past = trace_of([&] { launch({1, 32, 0}, run_past_the_end, out); });
  ASSERT_EQ(past.findings.at(0).fault, Fault::out_of_bounds);
  const Event store = events_of_kind(past, EventKind::shared_store).at(0);
  EXPECT_TRUE(std::ranges::all_of(store.of_lanes, [](const LaneEvent& lane) { return lane.is_known; }));
  const BlockTrace local = trace_of([&] { launch({1, 1, 0}, add_to_a_local_variable, out); });
  ASSERT_EQ(local.findings.at(0).fault, Fault::out_of_bounds);
  EXPECT_EQ(order_of(local, 0), "W");
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
    const BlockTrace trace = trace_of([&] { launch({1, threads, 0}, go_on_and_on, out, times); });
    EXPECT_TRUE(trace.truncated);
    EXPECT_LE(trace.events.size() * 32, most_traced_actions);
    EXPECT_GT(trace.events.size(), 8000U);
    EXPECT_EQ(trace.counters.global_load_requests, times * threads / 32);
    EXPECT_EQ(contradiction_in(trace), "");
  }
  EXPECT_FALSE(trace_of([&] { launch({1, 32, 0}, go_on_and_on, out, 100U); }).truncated);
}

/// Neither the order of threads nor the number of host threads decides what is one event, or what was in memory.
TEST(Trace, IsTheSameInEveryScheduleAndOnAnyNumberOfHostThreads) {
  Words in{64}, out{64 * 1000};
  for (unsigned i = 0; i < 64; ++i)
    in[i] = 3 * i;
  const auto summary = [&](const Schedule& schedule, unsigned host_threads) {
    set_schedule(schedule);
    set_host_threads(host_threads);
    const BlockTrace trace = trace_of([&] { launch({1000, 64, 0}, reverse, in, out); }, 777);
    set_host_threads(0);
    set_schedule({});
    std::string text;
    for (const Event& event : trace.events) {
      text += std::string{name_of(event.kind)} + ' ' + std::to_string(event.warp) + ' ' +
              std::to_string(event.lanes);
      for (const LaneEvent& lane : event.of_lanes)
        text += ' ' + std::to_string(lane.word) + '=' + std::to_string(value_of<Word>(lane.value));
      text += '\n';
    }
    return text;
  };
  const std::string ascending = summary({}, 1);
  EXPECT_EQ(std::ranges::count(ascending, '\n'), 2 * 4 + 1 + 2);
  EXPECT_EQ(summary({Order::descending, 0}, 4), ascending);
  for (unsigned seed = 0; seed < 10; ++seed)
    EXPECT_EQ(summary({Order::random, seed}, 4), ascending) << seed;
}

}  // namespace
