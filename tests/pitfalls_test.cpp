/// The gallery of published bugs: each kernel has exactly one finding, at the line it marks, in any schedule.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
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
#include "docs/pitfalls/unguarded_second_load.cuh"
#include "docs/pitfalls/warp_synchronous_tail.cuh"

namespace {

using namespace reduction::emulated;
using Element = Traced<std::uint32_t>;

/// One kernel of the gallery and the launch that its page shows.
struct Pitfall {
  std::string name;
  Fault fault;
  unsigned schedules;  ///< random ones to try, beside ascending and descending
  std::function<void(const Element* in, Element* out)> launch_faulty;
};

std::ostream& operator<<(std::ostream& stream, const Pitfall& pitfall) { return stream << pitfall.name; }

constexpr size_t input_elements = 300;

std::vector<Pitfall> gallery() {
  const auto sharing = [](size_t grid, unsigned block) {
    return LaunchConfig{grid, block, block * sizeof(Element)};
  };
  return {
      {"endless_loop", Fault::endless_loop, 1,
       [=](auto in, auto out) { launch(sharing(2, 32), endless_loop<Element>, in, out); }},
      {"warp_synchronous_tail", Fault::race, 1000,
       [=](auto in, auto out) { launch(sharing(2, 64), warp_synchronous_tail<Element>, in, out); }},
      {"one_syncwarp_a_level", Fault::race, 1000,
       [=](auto in, auto out) { launch(sharing(2, 64), one_syncwarp_a_level<Element>, in, out); }},
      {"barrier_for_working_threads", Fault::missed_barrier, 1000,
       [=](auto in, auto out) { launch(sharing(2, 128), barrier_for_working_threads<Element>, in, out); }},
      {"barrier_inside_the_bounds_check", Fault::missed_barrier, 1000,
       [=](auto in, auto out) {
         launch(sharing(3, 128), barrier_inside_the_bounds_check<Element>, in, out, input_elements);
       }},
      {"unguarded_second_load", Fault::out_of_bounds, 1000,
       [=](auto in, auto out) {
         launch(sharing(2, 128), unguarded_second_load<Element>, in, out, input_elements);
       }},
      {"one_cell_for_all_blocks", Fault::race, 1000,
       [=](auto in, auto out) { launch(sharing(4, 64), one_cell_for_all_blocks<Element>, in, out); }},
      {"tail_past_shared_memory", Fault::out_of_bounds, 1000,
       [=](auto in, auto out) { launch(sharing(2, 32), tail_past_shared_memory<Element>, in, out); }},
      {"add_without_an_atomic", Fault::race, 1000,
       [=](auto in, auto out) { launch(sharing(4, 64), add_without_an_atomic<Element>, in, out); }},
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

/// The number of the line that the kernel's source marks with "// finding".
unsigned marked_line(const std::string& name) {
  std::istringstream source{text_of(folder() / (name + ".cuh"))};
  unsigned number = 1;
  for (std::string line; std::getline(source, line); ++number) {
    if (line.ends_with("// finding")) return number;
  }
  return 0;
}

std::vector<Finding> findings_of(const Pitfall& pitfall, const Schedule& schedule) {
  auto* const in = static_cast<std::uint32_t*>(allocate(input_elements * sizeof(Element)));
  auto* const out = static_cast<std::uint32_t*>(allocate(4 * sizeof(Element)));
  std::fill_n(in, input_elements, 1U);
  std::fill_n(out, 4, 0U);
  mark_initialised(in, input_elements * sizeof(Element));
  mark_initialised(out, sizeof(Element));
  set_schedule(schedule);
  std::vector<Finding> findings;
  try {
    pitfall.launch_faulty(reinterpret_cast<const Element*>(in), reinterpret_cast<Element*>(out));
  } catch (const KernelFinding& finding) {
    findings = finding.findings();
  }
  set_schedule({});
  release(in);
  release(out);
  return findings;
}

class Gallery : public testing::TestWithParam<Pitfall> {};

TEST_P(Gallery, AreFoundAtTheirLineInEverySchedule) {
  const Pitfall& pitfall = GetParam();
  std::vector<Schedule> schedules{{Order::ascending, 0}, {Order::descending, 0}};
  for (unsigned seed = 0; seed < pitfall.schedules; ++seed)
    schedules.push_back({Order::random, seed});
  for (const Schedule& schedule : schedules) {
    const std::vector<Finding> findings = findings_of(pitfall, schedule);
    ASSERT_EQ(findings.size(), 1U) << "seed " << schedule.seed;
    EXPECT_EQ(name_of(findings[0].fault), name_of(pitfall.fault)) << findings[0].text;
    ASSERT_FALSE(findings[0].places.empty()) << findings[0].text;
    for (const Place& place : findings[0].places) {
      EXPECT_TRUE(place.file.ends_with("pitfalls/" + pitfall.name + ".cuh")) << findings[0].text;
      EXPECT_EQ(place.line, marked_line(pitfall.name)) << findings[0].text;
    }
  }
}

TEST_P(Gallery, HavePagesThatShowTheKernelAndTheFinding) {
  const std::string page = text_of(folder() / (GetParam().name + ".md"));
  std::string source = text_of(folder() / (GetParam().name + ".cuh"));
  source.erase(0, source.find("///"));
  EXPECT_NE(page.find(source), std::string::npos) << "the page shows another kernel";
  const std::vector<Finding> findings = findings_of(GetParam(), {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(page.find(findings[0].text), std::string::npos) << "the page should say: " << findings[0].text;
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
