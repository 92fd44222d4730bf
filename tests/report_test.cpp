#include "harness/report.hpp"

#include <gtest/gtest.h>

#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/result_json.hpp"
#include "temporary_path.hpp"

namespace reduction {
namespace {

/// A result as a GPU would give it.
Result gpu_result(std::uint64_t elements, double ms) {
  Result result;
  result.step = "03_sequential";
  result.device = {DeviceKind::cuda, "Some GPU", "9.0", 132, std::size_t{60} << 20, 4814.3, ""};
  result.input.n = elements;
  result.block = 256;
  result.passes = {{elements, 1048576}, {1048576, 4096}, {4096, 16}, {16, 1}};
  result.samples = 10;
  result.ms = Summary{ms, ms, ms, ms};
  result.timing = TimingMethod{};
  result.value = {};
  result.verdict.verified = true;
  return result;
}

/// Returns what `print` leaves on a terminal that stdout, and if it is styled stderr, is meanwhile.
template <typename Print>
std::string on_terminal(unsigned short columns, const Print& print, bool is_styled = false) {
  int reader = -1;
  int terminal = -1;
  winsize size{};
  size.ws_col = columns;
  if (openpty(&reader, &terminal, nullptr, nullptr, &size) != 0)
    throw std::runtime_error("no pseudoterminal");
  is_styled ? unsetenv("NO_COLOR") : setenv("NO_COLOR", "1", 1);
  setenv("TERM", "xterm", 1);
  std::fflush(stdout);
  const int usual[] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
  dup2(terminal, STDOUT_FILENO);
  if (is_styled) dup2(terminal, STDERR_FILENO);
  print();
  std::fflush(stdout);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    dup2(usual[stream - STDOUT_FILENO], stream);
    close(usual[stream - STDOUT_FILENO]);
  }
  close(terminal);
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t count; (count = read(reader, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(count));
  close(reader);
  std::erase(text, '\r');
  return text;
}

class ReportOnATerminal : public testing::Test {
 protected:
  /// What a report of these shows.
  static std::string shown_of(const std::vector<Result>& results, const Options& options = {},
                              unsigned short columns = 80) {
    return on_terminal(columns, [&] {
      Report report{options};
      report.begin("03_sequential", "sequential addressing", results.front().device, "a note");
      for (const Result& result : results)
        report.add(result);
      report.finish();
    });
  }

  void SetUp() override {
    int reader = -1;
    int terminal = -1;
    if (openpty(&reader, &terminal, nullptr, nullptr, nullptr) != 0) GTEST_SKIP() << "no pseudoterminal here";
    close(terminal);
    close(reader);
  }
};

TEST_F(ReportOnATerminal, TellsASingleResultOfAGpuInLines) {
  const std::string wide = shown_of({gpu_result(1 << 28, 1.2282)});
  const std::string lines =
      "03_sequential: sequential addressing\n"
      "note    a note\n"
      "device  Some GPU, compute capability 9.0, 132 SMs, 60 MiB L2, peak 4814 GB/s\n"
      "input   2^28 int32 (1 GiB), random, seed 0\n"
      "passes  1048576 → 4096 → 16 → 1 blocks of 256 threads\n"
      "time    median 1.2282 ms, p5 – p95 1.2282 – 1.2282, 10 samples\n"
      "speed   874.2 GB/s, 18.2 % of the peak █████▊··························\n"
      "result  0, exact\n"
      "\n";
  EXPECT_EQ(wide.substr(0, lines.size()), lines);
  EXPECT_NE(wide.find("documented ", lines.size()), std::string::npos) << wide;
  EXPECT_TRUE(
      wide.ends_with("\n\n03_sequential/README.md explains these figures; the next step is\n"
                     "04_first_add/README.md.\n"))
      << wide;
}

TEST_F(ReportOnATerminal, NamesThePageAndTheNextOne) {
  const auto words_of = [](const std::string& step) {
    Result result = gpu_result(1 << 28, 1.2282);
    result.step = step;
    return shown_of({result}, {}, 200);
  };
  EXPECT_TRUE(
      words_of("07_cascade")
          .ends_with("\n07_cascade/README.md explains these figures; what lies beyond the ladder is in "
                     "beyond/README.md.\n"));
  EXPECT_TRUE(words_of("09_vector_loads")
                  .ends_with("\nbeyond/09_vector_loads/README.md explains these figures; the next step is "
                             "beyond/10_single_pass/README.md.\n"));
  EXPECT_TRUE(
      words_of("14_same_bits").ends_with("\nbeyond/14_same_bits/README.md explains these figures.\n"));
  EXPECT_TRUE(words_of("12_any_operation")
                  .ends_with("\nbeyond/12_any_operation/README.md explains these figures.\n"));
  EXPECT_TRUE(words_of("peer_cub").ends_with("\nbeyond/peers/README.md explains these figures.\n"));
  EXPECT_TRUE(words_of("atomic_each").ends_with("\nbeyond/atomics/README.md explains these figures.\n"));
  EXPECT_EQ(words_of("15_mine").find("README.md"), std::string::npos);
}

TEST_F(ReportOnATerminal, KeepsTheColumnsOfASweep) {
  Options options;
  options.sweep = Sweep::size;
  const std::string text =
      shown_of({gpu_result(1 << 10, 0.0041), gpu_result(std::uint64_t{1} << 34, 78.5)}, options);
  const std::string rows =
      "                                              % of\n"
      "type   elements  block          ms     GB/s   peak  of the peak            right\n"
      "─────  ────────  ─────  ──────────  ───────  ─────  ─────────────────────  ─────\n"
      "int32      2^10    256      0.0041      1.0    0.0  ▏····················  yes\n"
      "int32      2^34    256     78.5000    875.4   18.2  ███▉·················  yes\n";
  EXPECT_NE(text.find(rows), std::string::npos) << text;
}

TEST_F(ReportOnATerminal, ErasesItsProgressOnce) {
  Options options;
  options.sweep = Sweep::size;
  const auto run = [&](std::size_t runs) {
    return on_terminal(
        80,
        [&] {
          Report report(options);
          EXPECT_TRUE(report.expect({ElementType::int32, 1 << 10, 256}, runs));
          report.add(gpu_result(1 << 10, 0.0041));
        },
        true);
  };
  const std::string text = run(2);
  EXPECT_NE(text.find("1 of 2: 2^10 int32 ..."), std::string::npos) << text;
  std::size_t erased = 0;
  for (std::size_t at = 0; (at = text.find("\x1b[K", at)) != std::string::npos; ++at)
    ++erased;
  EXPECT_EQ(erased, 2U) << text;
  EXPECT_EQ(run(1).find("1 of"), std::string::npos) << "a single run shows none";
}

TEST_F(ReportOnATerminal, SaysOnceWhatIsTheSameAsBefore) {
  const std::filesystem::path before = temporary_path("report_test_before.json");
  const std::filesystem::path here = temporary_path("report_test_here.json");
  std::ofstream(before) << json_text(gpu_result(1 << 28, 1.5));
  Options options;
  options.compare_file = before.string();
  const auto run = [&](std::uint64_t elements) { return shown_of({gpu_result(elements, 1.2282)}, options); };
  const std::string same = run(1 << 28);
  for (const char* once : {"a note\n", "\ndevice ", "\ninput "})
    EXPECT_EQ(same.find(once), std::string::npos) << same;
  for (const char* there : {"speed   874.2 GB/s", "documented", "README.md"})
    EXPECT_NE(same.find(there), std::string::npos) << same;
  const std::string other_input = run(1 << 20);
  EXPECT_EQ(other_input.find("device "), std::string::npos) << other_input;
  EXPECT_NE(other_input.find("input   2^20"), std::string::npos) << other_input;

  options.json_file = here.string();
  const std::string for_a_program = run(1 << 28);
  EXPECT_EQ(for_a_program.find("documented"), std::string::npos) << for_a_program;
  EXPECT_EQ(for_a_program.find("README.md"), std::string::npos) << for_a_program;
  std::filesystem::remove(before);
  std::filesystem::remove(here);
}

TEST_F(ReportOnATerminal, NotesWhyNothingIsCompared) {
  const std::filesystem::path before = temporary_path("report_test_before.json");
  Options options;
  options.compare_file = before.string();
  const auto run = [&](Result compared) {
    compared.step = "02_nondivergent";
    std::ofstream(before) << json_text(compared);
    Result counted = gpu_result(1 << 20, 1);
    counted.device.kind = DeviceKind::emulated;
    counted.pass_counters.resize(counted.passes.size());
    return shown_of({counted}, options);
  };
  Result compared = gpu_result(1 << 20, 1);
  EXPECT_NE(run(compared).find("\nnote    02_nondivergent counted nothing: nothing to compare\n"),
            std::string::npos);
  compared.device.kind = DeviceKind::cpu;
  EXPECT_EQ(run(compared).find("note"), std::string::npos);
  compared.device.kind = DeviceKind::emulated;
  compared.pass_counters.resize(compared.passes.size());
  EXPECT_EQ(run(compared).find("note"), std::string::npos);
  std::filesystem::remove(before);
}

}  // namespace
}  // namespace reduction
