/// \file
/// Compiled once for each step: its kernels on the emulated device, over sizes, block sizes, types and inputs.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "harness/emulated_device.hpp"
#include "harness/measure.hpp"
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
  return measure(step, kernel, *device, configuration, options);
}

/// Sizes, block sizes and types in full up to 1025 elements. A large size takes long, so that one of the inputs stands
/// for all, and the largest runs one type a block size; which one turns with the block size, so that all six run.
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

TEST(Step, GivesTheIdentityForNothing) {
  for (const ElementType type : element_types) {
    const Result result = run({type, 0, 256}, Data::random);
    EXPECT_TRUE(result.verdict.verified);
    EXPECT_EQ(to_string(result.value), is_complex(type) ? "(0, 0)" : "0");
  }
}

}  // namespace
}  // namespace reduction
