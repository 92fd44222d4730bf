/// \file
/// Linked with each step and its name: its kernels on the emulated device, over sizes, block sizes, types, inputs,
/// schedules and host threads. Looks at sums, counters and traces.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "emulated/launches.hpp"
#include "emulated/trace_recount.hpp"
#include "harness/device.hpp"
#include "harness/measure.hpp"
#include "harness/reduction_plan.hpp"
#include "harness/report.hpp"

extern const std::string_view step_name;  // tests/CMakeLists.txt writes it

namespace reduction {
namespace {

using __emulated::BlockTrace;
using __emulated::Counters;
using __emulated::Order;
using __emulated::Schedule;

constexpr std::array<std::uint64_t, 17> sizes{0,   1,   2,   31,   32,   33,     255,    256,      257,
                                              511, 512, 513, 1023, 1025, 65'535, 65'537, 1'000'003};
constexpr std::array<Data, 3> all_data{Data::random, Data::ones, Data::cancelling};

Device& device() {
  static const std::unique_ptr<Device> opened = open_emulated_device();
  return *opened;
}

const StepKernel& kernel_of(ElementType type) {
  return emulated_step_kernels()[static_cast<std::size_t>(type)];
}

ReductionPlan plan_of(const Configuration& configuration) {
  return plan_reduction(kernel_of(configuration.type), configuration, device().info());
}

bool adds_atomically() { return kernel_of(ElementType::int32).traits.adds_atomically; }

std::string text_of(const Configuration& configuration) {
  return fmt::format("{} {} elements, block {}", configuration.elements, to_string(configuration.type),
                     configuration.block);
}

/// A run, whose sum has to be right.
Result run(const Configuration& configuration, Data data) {
  Options options;
  options.data = data;
  options.seed = configuration.elements + configuration.block;
  const Step step{step_name, "", nullptr, &emulated_step_kernels()};
  const Result result = measure(step, device(), plan_of(configuration), options);
  EXPECT_TRUE(result.verdict.verified)
      << text_of(configuration) << ", " << to_string(data) << ": " << verdict_text(result);
  return result;
}

// ---- sums ----

/// Sizes, block sizes and types in full up to 1025 elements. A large size takes long, so one input stands for all, and for
/// two of them one type for each block size: a different one for each, so that all run.
bool is_worth_running(std::uint64_t elements, std::size_t block_index, std::size_t type_index, Data data) {
  if (elements <= 1025) return true;
  if (elements == 65'537) return data == all_data[(block_index + type_index) % all_data.size()];
  static_assert(element_types.size() <= block_sizes.size());
  return type_index == block_index % element_types.size() && data == Data::random;
}

class StepMatrix : public testing::TestWithParam<std::uint64_t> {};

/// The largest size runs without instrumentation, which counts no access.
TEST_P(StepMatrix, VerifiesForEveryBlockTypeAndInput) {
  const bool is_instrumented = GetParam() < 100'000;
  device();  // to open it turns instrumentation on
  __emulated::set_instrumented(is_instrumented);
  for (std::size_t b = 0; b < block_sizes.size(); ++b) {
    for (std::size_t t = 0; t < element_types.size(); ++t) {
      for (const Data data : all_data) {
        if (!is_worth_running(GetParam(), b, t, data)) continue;
        const Result result = run({element_types[t], GetParam(), block_sizes[b]}, data);
        if (GetParam() == 0) {
          EXPECT_EQ(to_string(result.value), is_complex(result.type) ? "(0, 0)" : "0");
        }
        if (is_instrumented) continue;
        EXPECT_GT(result.counters()->blocks, 0U);
        EXPECT_EQ(result.counters()->shared_requests() + result.counters()->global_requests(), 0U);
      }
    }
  }
  __emulated::set_instrumented(true);
}

INSTANTIATE_TEST_SUITE_P(Sizes, StepMatrix, testing::ValuesIn(sizes),
                         [](const auto& size) { return fmt::format("n{}", size.param); });

/// The tolerance rests on what a kernel says of the vectors that it takes at a time.
TEST(Step, TakesOneVectorPerThreadFrom09On) {
  if (step_name != "09_vector_loads" && step_name != "10_single_pass") return;
  for (const ElementType type : element_types) {
    const StepKernel& kernel = kernel_of(type);
    ASSERT_NE(kernel.traits.vectors_at_a_time, nullptr);
    for (const unsigned block : block_sizes)
      EXPECT_EQ(kernel.traits.vectors_at_a_time(block), block);
    EXPECT_EQ(kernel.vector_width, 16 / size_of(type));
  }
}

/// Small whole numbers, whose sums are exact in every type: component `part` of element i.
template <typename Real> Real whole_number(std::size_t i, std::size_t part) {
  return static_cast<Real>((i * 7 + part * 3) % 97 + 1);
}

/// Runs the step twice over n whole numbers that begin `offset` elements behind an address that is a multiple of 64, and
/// expects their sum. Elements around them are unwritten, so a kernel that reads one has a finding.
/// \param grid  of a single pass; 0: as the step has it.
template <typename Real>
void expect_the_sum_at(ElementType type, std::size_t offset, std::size_t n, unsigned block,
                       unsigned grid = 0) {
  const std::size_t parts = parts_of(type);
  ReductionPlan plan = plan_of({type, n, block});
  if (grid != 0) plan.passes.front().blocks = grid;
  const DeviceBuffer in_buffer(device(), (offset + n + 4) * size_of(type));
  const DeviceBuffer partial(device(), plan.partial_bytes(0));
  const DeviceBuffer next_partial(device(), plan.partial_bytes(0));
  Real* const in = static_cast<Real*>(in_buffer.data()) + offset * parts;
  std::array<Real, 2> expected{};
  for (std::size_t k = 0; k < n * parts; ++k) {
    in[k] = whole_number<Real>(k / parts, k % parts);
    expected[k % parts] = static_cast<Real>(expected[k % parts] + in[k]);
  }
  __emulated::mark_initialised(in, n * size_of(type));
  for (const char* time : {"first", "second"}) {
    const void* const out = plan.launch(in, partial.data(), next_partial.data());
    for (std::size_t part = 0; part < parts; ++part) {
      EXPECT_EQ(static_cast<const Real*>(out)[part], expected[part])
          << text_of({type, n, block}) << ", " << grid << " blocks, " << offset << " behind the boundary, "
          << time << " run";
    }
    if (n > 1000) return;
  }
}

TEST(Step, SumsAnInputThatBeginsAtAnyElement) {
  for (const ElementType type : element_types) {
    for (const std::size_t offset : {0U, 1U, 2U, 3U}) {
      for (const std::size_t n : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 127U, 1000U, 4099U, 20'001U}) {
        for (const unsigned block : {32U, 256U}) {
          visit_real(type, [&](auto real) { expect_the_sum_at<decltype(real)>(type, offset, n, block); });
        }
      }
    }
  }
}

/// Of few blocks each takes many turns, which go round a ring several times; of many some have nothing to do.
TEST(Step, SumsWithAnyNumberOfBlocks) {
  const StepTraits& traits = kernel_of(ElementType::int32).traits;
  if (!traits.single_pass || traits.vectors_at_a_time == nullptr) return;
  for (const unsigned block : {32U, 256U, 1024U}) {
    const std::size_t tile = 4 * traits.vectors_at_a_time(block);
    for (const unsigned grid : {1U, 2U, 5U}) {
      for (const std::size_t n :
           {std::size_t{0}, std::size_t{1}, tile - 1, tile, tile + 1, 3 * tile, 10 * tile + 5}) {
        for (const std::size_t offset : {0U, 3U})
          expect_the_sum_at<std::uint32_t>(ElementType::int32, offset, n, block, grid);
      }
      expect_the_sum_at<double>(ElementType::float64, 1, 2 * tile + 1, block, grid);
    }
  }
}

// ---- schedules and host threads ----

/// What no schedule and no number of host threads changes: counters and, where no atomics add, the bits of a sum that
/// depends on the order of the additions.
struct Outcome {
  std::array<std::byte, 16> sum{};
  std::vector<Counters> counters;

  bool operator==(const Outcome&) const = default;
};

Outcome outcome_of(std::uint64_t elements) {
  const Result result = run({ElementType::float32, elements, 64}, Data::cancelling);
  return {adds_atomically() ? std::array<std::byte, 16>{} : result.value.bytes, result.pass_counters};
}

TEST(Step, GivesTheSameBitsAndCountersInEverySchedule) {
  const Outcome expected = outcome_of(70'001);
  for (const unsigned host_threads : {1U, 3U, 16U}) {
    __emulated::set_host_threads(host_threads);
    for (const Schedule schedule : {Schedule{}, Schedule{Order::descending, 0}, Schedule{Order::random, 1}}) {
      __emulated::set_schedule(schedule);
      EXPECT_EQ(outcome_of(70'001), expected) << host_threads;
    }
  }
  __emulated::set_host_threads(0);
  const Outcome of_few = outcome_of(333);
  for (unsigned seed = 0; seed < 1000; ++seed) {
    __emulated::set_schedule({Order::random, seed});
    ASSERT_EQ(outcome_of(333), of_few) << seed;
  }
  __emulated::set_schedule({});
}

// ---- counters and traces ----

/// Traces every block of every pass, one by one, and expects their events to amount to what the run has counted.
void expect_traces_to_add_up(const Configuration& configuration) {
  SCOPED_TRACE(text_of(configuration));
  const Result counted = run(configuration, Data::random);
  for (std::size_t pass = 0; pass < counted.passes.size(); ++pass) {
    Counters sum;
    for (std::size_t block = 0; block < counted.passes[pass].blocks; ++block) {
      const BlockTrace trace =
          __emulated::trace_of([&] { run(configuration, Data::random); }, block, pass + 1);
      expect_whole(trace, !adds_atomically());  // several lanes add to a word in one instruction
      sum += trace.counters;
    }
    EXPECT_EQ(sum, counted.pass_counters[pass]);
  }
}

TEST(Step, TracesAllThatItCounts) {
  for (std::size_t b = 0; b < block_sizes.size(); ++b) {
    const std::uint64_t elements = 5 * block_sizes[b] + 17;
    expect_traces_to_add_up({element_types[b], elements, block_sizes[b]});
    expect_traces_to_add_up({element_types[(b + 3) % element_types.size()], elements, block_sizes[b]});
  }
}

}  // namespace
}  // namespace reduction
