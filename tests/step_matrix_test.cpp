/// \file
/// Compiled once for each step: its kernels on the emulated device, over sizes, block sizes, types and inputs.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "emulated/run/device.hpp"
#include "emulated/trace/trace.hpp"
#include "emulated/trace_counters.hpp"
#include "harness/device.hpp"
#include "harness/measure.hpp"
#include "harness/reduction_plan.hpp"
#include "harness/report.hpp"

namespace reduction {
namespace {

constexpr std::array<std::uint64_t, 17> sizes{0,   1,   2,   31,   32,   33,     255,    256,      257,
                                              511, 512, 513, 1023, 1025, 65'535, 65'537, 1'000'003};
constexpr std::array<Data, 3> all_data{Data::random, Data::ones, Data::cancelling};

Result run(const Configuration& configuration, Data data) {
  static const std::unique_ptr<Device> device = open_emulated_device();
  Options options;
  options.data = data;
  options.seed = configuration.elements + configuration.block;
  const Step step{STEP_NAME, "", nullptr, &emulated_step_kernels()};
  const StepKernel& kernel = emulated_step_kernels()[static_cast<std::size_t>(configuration.type)];
  return measure(step, *device, plan_reduction(kernel, configuration, device->info()), options);
}

/// Sizes, block sizes and types in full up to 1025 elements. A large size takes long, so one input stands for all, and
/// the largest size runs one type per block size: a different one for each block size, so that all six run.
bool is_worth_running(std::uint64_t elements, std::size_t block_index, std::size_t type_index, Data data) {
  if (elements <= 1025) return true;
  const Data chosen = all_data[(block_index + type_index) % all_data.size()];
  if (elements < 100'000) return data == chosen;
  return type_index == block_index % element_types.size() && data == Data::random;
}

class StepMatrix : public testing::TestWithParam<std::uint64_t> {};

TEST_P(StepMatrix, VerifiesForEveryBlockTypeAndInput) {
  for (std::size_t b = 0; b < block_sizes.size(); ++b) {
    for (std::size_t t = 0; t < element_types.size(); ++t) {
      for (const Data data : all_data) {
        if (!is_worth_running(GetParam(), b, t, data)) continue;
        const Result result = run({element_types[t], GetParam(), block_sizes[b]}, data);
        EXPECT_TRUE(result.verdict.verified)
            << fmt::format("{} {} elements, block {}, {}: {}", GetParam(), to_string(element_types[t]),
                           block_sizes[b], to_string(data), verdict_text(result));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, StepMatrix, testing::ValuesIn(sizes),
                         [](const auto& size) { return fmt::format("n{}", size.param); });

/// The tolerance rests on what a kernel says of the vectors that it takes at a time.
TEST(Step, TakesOneVectorPerThreadFrom09On) {
  const std::string_view step = STEP_NAME;
  if (step != "09_vector_loads" && step != "10_single_pass") return;
  for (const ElementType type : element_types) {
    const StepKernel& kernel = emulated_step_kernels()[static_cast<std::size_t>(type)];
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

/// Runs the step over n whole numbers that begin `offset` elements behind an address that is a multiple of 64, and
/// expects their sum. Elements around them are unwritten, so a kernel that reads one has a finding.
template <typename Real>
void expect_the_sum_at(ElementType type, std::size_t offset, std::size_t n, unsigned block) {
  const StepKernel& kernel = emulated_step_kernels()[static_cast<std::size_t>(type)];
  const std::size_t parts = parts_of(type);
  const std::unique_ptr<Device> device = open_emulated_device();
  const ReductionPlan plan = plan_reduction(kernel, {type, n, block}, device->info());
  const DeviceBuffer in_buffer(*device, (offset + n + 4) * size_of(type));
  const DeviceBuffer partial(*device, plan.partial_bytes(0));
  const DeviceBuffer next_partial(*device, plan.partial_bytes(0));
  Real* const in = static_cast<Real*>(in_buffer.data()) + offset * parts;
  std::array<Real, 2> expected{};
  for (std::size_t k = 0; k < n * parts; ++k) {
    in[k] = whole_number<Real>(k / parts, k % parts);
    expected[k % parts] = static_cast<Real>(expected[k % parts] + in[k]);
  }
  __emulated::mark_initialised(in, n * size_of(type));
  const void* const out = plan.launch(in, partial.data(), next_partial.data());
  for (std::size_t part = 0; part < parts; ++part) {
    EXPECT_EQ(static_cast<const Real*>(out)[part], expected[part])
        << fmt::format("{} {} elements {} behind the boundary, block {}", n, to_string(type), offset, block);
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

/// The bits of a step's sum, which depends on the order of the additions.
std::array<std::byte, 16> bits_of_sum(const Configuration& configuration) {
  const Result result = run(configuration, Data::cancelling);
  EXPECT_TRUE(result.verdict.verified) << verdict_text(result);
  return result.value.bytes;
}

TEST(Step, GivesTheSameBitsInEverySchedule) {
  if (emulated_step_kernels().front().traits.adds_atomically)
    GTEST_SKIP() << "atomics add in the order of the schedule";
  const Configuration configuration{ElementType::float32, 70'001, 64};
  const auto expected = bits_of_sum(configuration);
  for (const unsigned host_threads : {1U, 3U}) {
    __emulated::set_host_threads(host_threads);
    EXPECT_EQ(bits_of_sum(configuration), expected);
    __emulated::set_schedule({__emulated::Order::descending, 0});
    EXPECT_EQ(bits_of_sum(configuration), expected);
    for (unsigned seed = 0; seed < 20; ++seed) {
      __emulated::set_schedule({__emulated::Order::random, seed});
      EXPECT_EQ(bits_of_sum(configuration), expected) << seed;
    }
    __emulated::set_schedule({});
  }
  __emulated::set_host_threads(0);
}

/// Traces every block of every pass, one by one, and expects their events to amount to what the run has counted.
void expect_traces_to_add_up(const Configuration& configuration) {
  SCOPED_TRACE(fmt::format("{} {} elements, block {}", configuration.elements, to_string(configuration.type),
                           configuration.block));
  const Result counted = run(configuration, Data::random);
  for (std::size_t pass = 0; pass < counted.passes.size(); ++pass) {
    __emulated::Counters sum;
    for (std::size_t block = 0; block < counted.passes[pass].blocks; ++block) {
      const __emulated::TraceRecord record(pass + 1, block);
      run(configuration, Data::random);
      ASSERT_TRUE(record.trace().has_value());
      EXPECT_EQ(counters_of_events(*record.trace()), record.trace()->counters);
      sum += counters_of_events(*record.trace());
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

/// So many elements that a thread of a grid-stride loop takes several.
TEST(Step, TracesABlockOfALargeInput) {
  const Configuration configuration{ElementType::float64, 1'500'000, 256};
  const auto passes = run(configuration, Data::ones).passes;  // none of a step that chooses its launches
  const std::size_t last = passes.empty() ? 0 : passes.front().blocks - 1;
  for (const std::size_t block : {std::size_t{0}, last}) {
    const __emulated::TraceRecord record(1, block);
    run(configuration, Data::ones);
    ASSERT_TRUE(record.trace().has_value());
    EXPECT_FALSE(record.trace()->truncated);
    EXPECT_EQ(counters_of_events(*record.trace()), record.trace()->counters);
  }
}

TEST(Step, GivesTheIdentityForNothing) {
  for (const ElementType type : element_types) {
    const Result result = run({type, 0, 256}, Data::random);
    EXPECT_TRUE(result.verdict.verified);
    EXPECT_EQ(to_string(result.value), is_complex(type) ? "(0, 0)" : "0");
  }
}

}  // namespace
}  // namespace reduction
