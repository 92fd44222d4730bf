/// The gallery of published bugs: each kernel has exactly one finding, at the lines it marks, in any schedule. Once
/// fixed it has none, and gives the right sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "device/dialect.cuh"
#include "docs/pitfalls/add_without_an_atomic.cuh"
#include "docs/pitfalls/barrier_for_working_threads.cuh"
#include "docs/pitfalls/barrier_inside_the_bounds_check.cuh"
// The compiler sees that the loop's last clause does nothing; the page says so.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-value"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wfor-loop-analysis"
#endif
#include "docs/pitfalls/endless_loop.cuh"
#pragma GCC diagnostic pop
#include "docs/pitfalls/one_cell_for_all_blocks.cuh"
#include "docs/pitfalls/one_syncwarp_a_level.cuh"
#include "docs/pitfalls/tail_past_shared_memory.cuh"
#include "docs/pitfalls/ticket_without_a_fence.cuh"
#include "docs/pitfalls/unguarded_second_load.cuh"
#include "docs/pitfalls/warp_synchronous_tail.cuh"

// The same kernels, fixed.
namespace fixed {
#include "docs/pitfalls/fixed/add_without_an_atomic.cuh"
#include "docs/pitfalls/fixed/barrier_for_working_threads.cuh"
#include "docs/pitfalls/fixed/barrier_inside_the_bounds_check.cuh"
#include "docs/pitfalls/fixed/endless_loop.cuh"
#include "docs/pitfalls/fixed/one_cell_for_all_blocks.cuh"
#include "docs/pitfalls/fixed/one_syncwarp_a_level.cuh"
#include "docs/pitfalls/fixed/tail_past_shared_memory.cuh"
#include "docs/pitfalls/fixed/ticket_without_a_fence.cuh"
#include "docs/pitfalls/fixed/unguarded_second_load.cuh"
#include "docs/pitfalls/fixed/warp_synchronous_tail.cuh"
}  // namespace fixed

namespace {

using namespace reduction::emulated;
using Element = std::uint32_t;

using Launch = std::function<void(const Element* in, Element* out)>;

/// One kernel of the gallery and the launch that its page shows.
struct Pitfall {
  std::string name;
  Fault fault;
  unsigned schedules;  ///< random ones to try, beside ascending and descending
  size_t cells;        ///< that the fixed kernel leaves a sum in
  size_t tile;         ///< elements that each of them is the sum of
  Launch launch_faulty;
  Launch launch_fixed;
};

std::ostream& operator<<(std::ostream& stream, const Pitfall& pitfall) { return stream << pitfall.name; }

constexpr size_t input_elements = 300;
constexpr size_t output_elements = 4;

using Kernel = void (*)(const Element* in, Element* out);
using GuardedKernel = void (*)(const Element* in, Element* out, size_t n);
using SinglePassKernel = void (*)(const Element* in, Element* partial, Element* out);

LaunchConfig sharing(unsigned grid, unsigned block) { return {grid, block, block * sizeof(Element)}; }

Launch launch_of(unsigned grid, unsigned block, Kernel kernel) {
  return [=](auto in, auto out) { launch(sharing(grid, block), kernel, in, out); };
}

Launch launch_of(unsigned grid, unsigned block, GuardedKernel kernel) {
  return [=](auto in, auto out) { launch(sharing(grid, block), kernel, in, out, input_elements); };
}

Launch launch_of(unsigned grid, unsigned block, SinglePassKernel kernel) {
  return [=](auto in, auto out) {
    const std::unique_ptr<void, decltype(&release)> partial{allocate(grid * sizeof(Element)), release};
    launch(sharing(grid, block), kernel, in, static_cast<Element*>(partial.get()), out);
  };
}

std::vector<Pitfall> gallery() {
  return {
      {"endless_loop", Fault::endless_loop, 1, 2, 32, launch_of(2, 32, endless_loop<Element>),
       launch_of(2, 32, fixed::endless_loop<Element>)},
      {"warp_synchronous_tail", Fault::race, 1000, 2, 64, launch_of(2, 64, warp_synchronous_tail<Element>),
       launch_of(2, 64, fixed::warp_synchronous_tail<Element>)},
      {"one_syncwarp_a_level", Fault::race, 1000, 2, 64, launch_of(2, 64, one_syncwarp_a_level<Element>),
       launch_of(2, 64, fixed::one_syncwarp_a_level<Element>)},
      {"barrier_for_working_threads", Fault::missed_barrier, 1000, 2, 128,
       launch_of(2, 128, barrier_for_working_threads<Element>),
       launch_of(2, 128, fixed::barrier_for_working_threads<Element>)},
      {"barrier_inside_the_bounds_check", Fault::missed_barrier, 1000, 3, 128,
       launch_of(3, 128, barrier_inside_the_bounds_check<Element>),
       launch_of(3, 128, fixed::barrier_inside_the_bounds_check<Element>)},
      {"unguarded_second_load", Fault::out_of_bounds, 1000, 2, 256,
       launch_of(2, 128, unguarded_second_load<Element>),
       launch_of(2, 128, fixed::unguarded_second_load<Element>)},
      {"one_cell_for_all_blocks", Fault::race, 1000, 4, 64,
       launch_of(4, 64, one_cell_for_all_blocks<Element>),
       launch_of(4, 64, fixed::one_cell_for_all_blocks<Element>)},
      {"tail_past_shared_memory", Fault::out_of_bounds, 1000, 2, 32,
       launch_of(2, 32, tail_past_shared_memory<Element>),
       launch_of(2, 32, fixed::tail_past_shared_memory<Element>)},
      {"add_without_an_atomic", Fault::race, 1000, 1, 256, launch_of(4, 64, add_without_an_atomic<Element>),
       launch_of(4, 64, fixed::add_without_an_atomic<Element>)},
      {"ticket_without_a_fence", Fault::race, 1000, 1, 256, launch_of(4, 64, ticket_without_a_fence<Element>),
       launch_of(4, 64, fixed::ticket_without_a_fence<Element>)},
  };
}

std::filesystem::path folder() {
  return std::filesystem::path{__FILE__}.parent_path().parent_path() / "docs" / "pitfalls";
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream{file};
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

/// The numbers of the lines that the kernel's source marks with "// finding".
std::set<unsigned> marked_lines(const std::string& name) {
  std::istringstream source{text_of(folder() / (name + ".cuh"))};
  std::set<unsigned> numbers;
  unsigned number = 1;
  for (std::string line; std::getline(source, line); ++number) {
    if (line.ends_with("// finding")) numbers.insert(number);
  }
  return numbers;
}

/// What a launch leaves behind.
struct Outcome {
  std::vector<Finding> findings;
  std::vector<std::uint32_t> out;
};

/// No two elements are the same, so a sum over the wrong ones is a different sum.
std::uint32_t input_element(size_t i) { return static_cast<std::uint32_t>(i * i + 1); }

Outcome outcome_of(const Launch& launch, const Schedule& schedule) {
  auto* const in = static_cast<std::uint32_t*>(allocate(input_elements * sizeof(Element)));
  auto* const out = static_cast<std::uint32_t*>(allocate(output_elements * sizeof(Element)));
  for (size_t i = 0; i < input_elements; ++i)
    in[i] = input_element(i);
  std::fill_n(out, output_elements, 0U);
  mark_initialised(in, input_elements * sizeof(Element));
  mark_initialised(out, sizeof(Element));
  set_schedule(schedule);
  Outcome outcome;
  try {
    launch(reinterpret_cast<const Element*>(in), reinterpret_cast<Element*>(out));
  } catch (const KernelFinding& finding) {
    outcome.findings = finding.findings();
  }
  set_schedule({});
  outcome.out.assign(out, out + output_elements);
  release(in);
  release(out);
  return outcome;
}

/// What the kernel is meant to leave: the sum of a tile in each cell; elements past the input's end count as zero.
std::vector<std::uint32_t> sums_of(size_t cells, size_t tile) {
  std::vector<std::uint32_t> sums(output_elements);
  for (size_t i = 0; i < std::min(cells * tile, input_elements); ++i)
    sums[i / tile] += input_element(i);
  return sums;
}

/// Ascending, descending and `random` random ones.
std::vector<Schedule> schedules_with(unsigned random) {
  std::vector<Schedule> schedules{{Order::ascending, 0}, {Order::descending, 0}};
  for (unsigned seed = 0; seed < random; ++seed)
    schedules.push_back({Order::random, seed});
  return schedules;
}

void expect_sums(const Launch& launch, size_t cells, size_t tile) {
  const std::vector<std::uint32_t> sums = sums_of(cells, tile);
  for (const Schedule& schedule : schedules_with(100)) {
    const Outcome outcome = outcome_of(launch, schedule);
    ASSERT_TRUE(outcome.findings.empty()) << outcome.findings[0].text;
    ASSERT_EQ(outcome.out, sums) << "seed " << schedule.seed;
  }
}

class Gallery : public testing::TestWithParam<Pitfall> {};

TEST_P(Gallery, AreFoundAtTheirLinesInEverySchedule) {
  const Pitfall& pitfall = GetParam();
  for (const Schedule& schedule : schedules_with(pitfall.schedules)) {
    const std::vector<Finding> findings = outcome_of(pitfall.launch_faulty, schedule).findings;
    ASSERT_EQ(findings.size(), 1U) << "seed " << schedule.seed;
    EXPECT_EQ(name_of(findings[0].fault), name_of(pitfall.fault)) << findings[0].text;
    std::set<unsigned> lines;
    for (const Witness& witness : findings[0].witnesses) {
      const Place& place = witness.place;
      if (place == Place{}) continue;  // of threads that have left
      EXPECT_TRUE(place.file.ends_with("pitfalls/" + pitfall.name + ".cuh")) << findings[0].text;
      lines.insert(place.line);
    }
    EXPECT_EQ(lines, marked_lines(pitfall.name)) << findings[0].text;
  }
}

TEST_P(Gallery, HavePagesThatShowTheKernelAndTheFinding) {
  const std::string page = text_of(folder() / (GetParam().name + ".md"));
  std::string source = text_of(folder() / (GetParam().name + ".cuh"));
  source.erase(0, source.find("///"));
  EXPECT_NE(page.find(source), std::string::npos) << "the page shows another kernel";
  const std::vector<Finding> findings = outcome_of(GetParam().launch_faulty, {}).findings;
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(page.find(findings[0].text), std::string::npos) << "the page should say: " << findings[0].text;
}

TEST_P(Gallery, HaveFixesThatGiveTheSumsInEverySchedule) {
  expect_sums(GetParam().launch_fixed, GetParam().cells, GetParam().tile);
}

/// Blocks with and without the level that the fix leaves out.
TEST(Pitfalls, HaveATailThatSuitsEveryBlockOnceFixed) {
  for (const unsigned block : {32U, 64U, 128U}) {
    SCOPED_TRACE("block of " + std::to_string(block));
    expect_sums(launch_of(2, block, fixed::tail_past_shared_memory<Element>), 2, block);
  }
}

/// What the tail's bug does to the sum is a matter of luck, and random schedules have all kinds of it.
TEST(Pitfalls, GiveSumsThatDependOnTheSchedule) {
  auto* const in = static_cast<std::uint32_t*>(allocate(64 * sizeof(Element)));
  auto* const out = static_cast<std::uint32_t*>(allocate(sizeof(Element)));
  std::fill_n(in, 64, 1U);
  set_instrumented(false);
  std::set<std::uint32_t> sums;
  for (unsigned seed = 0; seed < 100; ++seed) {
    set_schedule({Order::random, seed});
    launch({1, 64, 256}, one_syncwarp_a_level<Element>, reinterpret_cast<const Element*>(in),
           reinterpret_cast<Element*>(out));
    sums.insert(*out);
  }
  set_schedule({});
  set_instrumented(true);
  release(in);
  release(out);
  EXPECT_GT(sums.size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Pitfalls, Gallery, testing::ValuesIn(gallery()),
                         [](const auto& pitfall) { return pitfall.param.name; });

}  // namespace
