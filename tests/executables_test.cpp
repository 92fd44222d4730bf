/// \file
/// The executables as a shell sees them: exit codes, messages, files. Here they run on the CPU and the emulated device.

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "harness/device.hpp"
#include "harness/published_figures.hpp"
#include "harness/result_json.hpp"
#include "run_executable.hpp"
#include "temporary_path.hpp"

namespace reduction {
namespace {

const std::vector<std::string> gpu_steps{"01_interleaved", "02_nondivergent", "03_sequential",
                                         "04_first_add",   "05_unroll_warp",  "06_templated",
                                         "07_cascade",     "08_warp_shuffle", "09_vector_loads",
                                         "10_single_pass", "14_same_bits"};

std::vector<std::string> all_steps() {
  std::vector<std::string> steps = gpu_steps;
  steps.insert(steps.begin(), "00_cpu_serial");
  return steps;
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Executables, VerifyAndExitWithZero) {
  for (const std::string& step : all_steps()) {
    const Outcome outcome = run_step_executable(step, "-n 5000 --device emulated");
    EXPECT_EQ(outcome.exit_code, 0) << step << outcome.error;
    EXPECT_NE(outcome.out.find("| yes |"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.error, "");
  }
}

TEST(Executables, AnswerBadUsageWithOneLineAndExitCodeTwo) {
  for (const std::string& step : all_steps()) {
    for (const char* bad : {"-n -1",
                            "-n 2^99",
                            "-n abc",
                            "-n 1e400",
                            "-b 48",
                            "-b 2048",
                            "-b 16",
                            "-t int8",
                            "--samples 0",
                            "--json /proc/nonexistent/x.json",
                            "--frobnicate",
                            "--data zeros",
                            "--counters maybe",
                            "--flush write",
                            "--warm-up -1",
                            "--lead-in 257",
                            "--queue maybe",
                            "--schedule sideways",
                            "--schedule random:x",
                            "--compare /proc/nonexistent.json",
                            "--json ''",
                            "--quiet=5",
                            "--device gpu",
                            "-n"}) {
      const Outcome outcome = run_step_executable(step, bad);
      EXPECT_EQ(outcome.exit_code, 2) << step << " " << bad;
      EXPECT_EQ(lines(outcome.error), 1u) << outcome.error;
      EXPECT_TRUE(outcome.error.starts_with(step + ": error: ")) << outcome.error;
      EXPECT_EQ(outcome.out, "") << step << " " << bad << ": nothing may run";
    }
  }
}

TEST(Executables, DoNotCountPassesOfALibrary) {
  const Outcome outcome = run_step_executable("14_same_bits", "-n 5000 -t float32 --device emulated");
  EXPECT_NE(outcome.out.find("| 14_same_bits | float32 | 5000 | – | – | – | yes |\n"), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("\n| blocks | 1 |"), std::string::npos) << outcome.out;
}

TEST(Executables, AnswerTooMuchMemoryWithWhatIsNeededAndThere) {
  for (const std::string& step : gpu_steps) {
    const Outcome outcome = run_step_executable(step, "-n 2^45 --device emulated");
    EXPECT_EQ(outcome.exit_code, 3) << step;
    EXPECT_EQ(lines(outcome.error), 1u) << outcome.error;
    EXPECT_NE(outcome.error.find("2^45 int32 need 12"), std::string::npos) << outcome.error;
    EXPECT_NE(outcome.error.find("free"), std::string::npos) << outcome.error;
  }
}

TEST(Executables, SayWhyThereIsNoCudaDevice) {
  if (cuda_unavailable_reason().empty()) GTEST_SKIP() << "this machine has a CUDA device";
  for (const std::string& step : gpu_steps) {
    const Outcome automatic = run_step_executable(step, "-n 1000");
    EXPECT_EQ(automatic.exit_code, 0);
    EXPECT_NE(automatic.out.find("no CUDA device here: " + cuda_unavailable_reason()), std::string::npos)
        << automatic.out;
    for (const char* device : {"--device cuda", "--device cuda:7"}) {
      const Outcome insisted = run_step_executable(step, device);
      EXPECT_EQ(insisted.exit_code, 3);
      EXPECT_EQ(lines(insisted.error), 1u);
      EXPECT_NE(insisted.error.find(cuda_unavailable_reason()), std::string::npos) << insisted.error;
    }
  }
}

TEST(Executables, SayWhenTheirOutputIsLost) {
  for (const char* lost : {">/dev/full", ">&-"}) {
    const Outcome outcome =
        run_step_executable("03_sequential", std::string("-n 1000 --device emulated ") + lost);
    EXPECT_EQ(outcome.exit_code, 3) << lost;
    EXPECT_NE(outcome.error.find("stdout"), std::string::npos) << outcome.error;
  }
  const Outcome full = run_step_executable("03_sequential", "-n 1000 --device emulated --json /dev/full");
  EXPECT_EQ(full.exit_code, 3);
  EXPECT_EQ(lines(full.error), 1u) << full.error;
}

std::string program(const std::string& name) {
  return fmt::format("'{}'", (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string());
}

/// What a shell's `>&4` then names is a pipe whose reader has left.
std::string with_left_pipe(const std::string& command) {
  return fmt::format("{{ mkfifo '{0}'; exec 3<>'{0}' 4>'{0}' 3>&-; rm '{0}'; {1}; }}",
                     temporary_path("left_pipe").string(), command);
}

TEST(Executables, EndWithTheirVerdictWhateverTheStreamsAre) {
  // A running sum in float32 stops counting at 2^24: the result is wrong.
  const std::string wrong =
      program("00_cpu_serial") + " -n 20000000 -t float32 --data ones -s 1 --device emulated";
  const std::string right = program("03_sequential") + " -n 1000 --device emulated";
  for (const std::string streams : {"2>&-", "2>/dev/full", ">&- 2>&-", ">/dev/full 2>/dev/full", ">&4",
                                    "2>&4", ">&4 2>&4", ">/dev/full", ">&-", "<&- >&- 2>&-"}) {
    const bool lost = streams.find(">/dev/full") == 0 || streams.find(">&-") != std::string::npos;
    for (const auto& [command, code] :
         {std::pair(right, lost && streams != "2>&-" ? 3 : 0), std::pair(wrong, 1),
          std::pair(program("03_sequential") + " -n abc", 2),
          std::pair(program("03_sequential") + " -n 2^45", 3)}) {
      const Outcome outcome = run_command(with_left_pipe(fmt::format("{} {}", command, streams)));
      EXPECT_EQ(outcome.exit_code, code) << command << " " << streams;
    }
  }
}

TEST(Executables, KeepTheirVerdictWhereATraceIsLost) {
  const std::filesystem::path full = temporary_path("full").string() + ".json";
  std::filesystem::create_symlink("/dev/full", full);
  // A float32 stops counting at 2^24: the sum is wrong.
  for (const auto& [command, code] :
       {std::pair("atomic_each -n 16777300 -t float32 --data ones -q", 1),
        std::pair("pitfall unguarded_second_load", 1), std::pair("03_sequential -n 1000 -q", 3)}) {
    const std::string name = std::string(command).substr(0, std::string_view(command).find(' '));
    const Outcome outcome = run_command(fmt::format("{}{} --trace '{}'", program(name),
                                                    std::string(command).substr(name.size()), full.string()));
    EXPECT_EQ(outcome.exit_code, code) << command;
    const std::string lost = fmt::format("{}: error: --trace '{}': No space", name, full.string());
    EXPECT_NE(outcome.error.find(lost), std::string::npos) << outcome.error;
  }
  std::filesystem::remove(full);
}

TEST(Executables, SayOneLineWhateverAFileIsNamed) {
  const std::filesystem::path folder = temporary_path("names");
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink("/dev/full", folder / "a\nb\x1b[1m.full");
  const std::string file = (folder / "a\nb\x1b[1m").string();
  // Of each, the last line names the file; the wrong sum has one before.
  for (const auto& [command, code, said] :
       {std::tuple("03_sequential -n 1000 --trace {}.html", 0, 1u),
        std::tuple("03_sequential -n 1000 -q --json {}.full", 3, 1u),
        std::tuple("00_cpu_serial -n 20000000 -t float32 --data ones -s 1 --json {}.full", 1, 2u),
        std::tuple("03_sequential -n 1000 --json {}/missing", 2, 1u),
        std::tuple("03_sequential -n 1000 --compare {}", 2, 1u), std::tuple("ladder_table {}", 2, 1u)}) {
    const std::string words = fmt::format(fmt::runtime(command), "'" + file) + "'";
    const auto end = words.find(' ');
    const Outcome outcome = run_command(program(words.substr(0, end)) + words.substr(end));
    EXPECT_EQ(outcome.exit_code, code) << words;
    EXPECT_EQ(lines(outcome.error), said) << outcome.error;
    EXPECT_EQ(outcome.error.find('\x1b'), std::string::npos) << outcome.error;
    EXPECT_NE(outcome.error.find("a\\x0ab\\x1b[1m"), std::string::npos) << outcome.error;
  }
  std::filesystem::remove_all(folder);
}

TEST(Executables, TakeAReaderWhoLeavesForNoError) {
  const std::string step = program("03_sequential") + " -n 1000 --device emulated";
  for (const char* reader : {" >&4", " --json - >&4"}) {
    const Outcome outcome = run_command(with_left_pipe(step + reader));
    EXPECT_EQ(outcome.exit_code, 0) << reader;
    EXPECT_EQ(outcome.error.find("error"), std::string::npos) << outcome.error;
  }
}

TEST(Executables, WriteJsonToWhatIsGiven) {
  const std::string step = program("03_sequential") + " -n 1000 --device emulated";
  const std::string read = "python3 -c \"import json, sys; print(json.load(sys.stdin)[\\\"step\\\"])\"";
  const std::filesystem::path script = temporary_path("json_target.sh");
  for (const std::string& command : {step + " --json /dev/stdout 2>/dev/null | " + read,
                                     step + " --json >(" + read + ") >/dev/null; wait $!"}) {
    std::ofstream(script) << command << "\n";
    EXPECT_EQ(run_command("bash " + script.string()).out, "03_sequential\n") << command;
  }
  std::filesystem::remove(script);
}

TEST(Executables, PrintTheirTableAlsoWhereTheFileIsLost) {
  const Outcome step = run_step_executable("03_sequential", "-n 1000 --device emulated -q --json /dev/full");
  EXPECT_EQ(step.exit_code, 3);
  EXPECT_NE(step.out.find("| 03_sequential |"), std::string::npos) << step.out;
  const std::filesystem::path file = temporary_path("lost_table.json");
  const std::string quoted = fmt::format("'{}'", file.string());
  ASSERT_EQ(run_step_executable("03_sequential", "-n 1000 --device emulated --json " + quoted).exit_code, 0);
  const Outcome table = run_step_executable("ladder_table", quoted + " --json /dev/full");
  EXPECT_EQ(table.exit_code, 3);
  EXPECT_NE(table.out.find("| 03_sequential |"), std::string::npos) << table.out;
  std::filesystem::remove(file);
}

TEST(Executables, RefuseInputsThatAreNoFilesOfAStep) {
  for (const char* file : {"/tmp", "/proc/self/mem", "/dev/zero", "/dev/null", "/missing"}) {
    for (const auto& [name, options] :
         {std::pair("03_sequential", "-n 10 --device emulated --compare"), std::pair("ladder_table", ""),
          std::pair("03_sequential", "-n 10 --trace /tmp/never.html --trace-beside")}) {
      const Outcome outcome = run_step_executable(name, fmt::format("{} {}", options, file));
      EXPECT_EQ(outcome.exit_code, 2) << options << " " << file;
      EXPECT_EQ(outcome.out, "");
      EXPECT_EQ(lines(outcome.error), 1u) << outcome.error;
      EXPECT_NE(outcome.error.find(file), std::string::npos) << outcome.error;
    }
  }
}

TEST(Executables, ReadFromPipesThatSomebodyWritesTo) {
  const std::string file = temporary_path("compared.json");
  const std::string pipe = temporary_path("compared_pipe");
  const std::string step = program("03_sequential") + " -n 1000 --device emulated";
  ASSERT_EQ(run_command(fmt::format("{} -q --json '{}'", step, file)).exit_code, 0);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::filesystem::path script = temporary_path("compare.sh");
  for (const std::string& command :
       {fmt::format("{} --compare <(sleep 0.1; cat '{}')", step, file),
        fmt::format("{} --compare /dev/stdin <'{}'", step, file),
        fmt::format("cat '{1}' | {0} --compare /dev/stdin", step, file),
        fmt::format("cat '{1}' >'{2}' & sleep 0.1; {0} --compare '{2}'", step, file, pipe)}) {
    std::ofstream(script) << command << "\n";
    const Outcome outcome = run_command("bash " + script.string());
    EXPECT_EQ(outcome.exit_code, 0) << command << outcome.error;
    EXPECT_NE(outcome.out.find("| same |"), std::string::npos) << command << outcome.out;
  }
  for (const std::string& name : {file, pipe, script.string()})
    std::filesystem::remove(name);
}

TEST(LadderTable, RefusesAFileWithoutAName) {
  const Outcome outcome = run_step_executable("ladder_table", "/missing --json ''");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.error,
            "ladder_table: error: --json '': give the name of a file, as ./-x if it begins with -\n");
}

TEST(Executables, SayWhenTheHostHasTooLittleMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer reserves terabytes of the address space";
#endif
  for (const auto& [limit, elements] : {std::pair(300000, "2^20"), std::pair(60000, "2^10")}) {
    const Outcome outcome = run_command(
        fmt::format("ulimit -v {}; {} --device emulated -n {}", limit, program("03_sequential"), elements));
    EXPECT_EQ(outcome.exit_code, 3) << outcome.error;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(lines(outcome.error), 1u) << outcome.error;
    EXPECT_NE(outcome.error.find("(ulimit -v)"), std::string::npos) << outcome.error;
  }
}

TEST(Executables, MakeDoWithWhatALimitLeaves) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer reserves terabytes of the address space";
#endif
  for (const char* limit : {"ulimit -v 1000000", "ulimit -u 1", "ulimit -n 8"}) {
    const Outcome outcome = run_command(
        fmt::format("bash -c \"{}; {} --device emulated -n 2^20\"", limit, program("03_sequential")));
    EXPECT_EQ(outcome.exit_code, 0) << limit << ": " << outcome.error;
  }
}

TEST(LadderTable, FailsWhereAResultIsWrong) {
  const std::filesystem::path file = temporary_path("ladder_table_test.json");
  const std::string quoted = fmt::format("'{}'", file.string());
  ASSERT_EQ(run_step_executable("00_cpu_serial", "-n 1000 -s 1 --device emulated --json " + quoted).exit_code,
            0);
  EXPECT_EQ(run_step_executable("ladder_table", quoted).exit_code, 0);
  for (const char* wrong : {"/verified", "/other_variants/0/verified"}) {
    auto json = nlohmann::json::parse(std::ifstream(file));
    json[nlohmann::json::json_pointer(wrong)] = false;
    const std::filesystem::path wrong_file = file.string() + ".wrong";
    std::ofstream(wrong_file) << json;
    const Outcome outcome = run_step_executable("ladder_table", fmt::format("'{}'", wrong_file.string()));
    EXPECT_EQ(outcome.exit_code, 1) << wrong;
    EXPECT_NE(outcome.out.find("**NO**"), std::string::npos) << outcome.out;
    // Right ones beside it do not make up for it.
    EXPECT_EQ(run_step_executable("ladder_table", fmt::format("{1} '{0}' {1}", wrong_file.string(), quoted))
                  .exit_code,
              1);
    std::filesystem::remove(wrong_file);
  }
  for (const char* text : {"no json", "[]", "{}", "[1]"}) {
    std::ofstream(file) << text;
    const Outcome outcome = run_step_executable("ladder_table", quoted);
    EXPECT_EQ(outcome.exit_code, 2) << text;
    EXPECT_EQ(outcome.out, "") << text;
    EXPECT_EQ(lines(outcome.error), 1u) << outcome.error;
  }
  std::filesystem::remove(file);
}

TEST(LadderTable, ComparesLikeWithLikeInASweep) {
  const std::filesystem::path folder = temporary_path("ladder_table_sweep");
  std::filesystem::create_directories(folder);
  std::string files;
  for (const char* step : {"01_interleaved", "02_nondivergent"}) {
    const std::string file = fmt::format("'{}'", (folder / step).string());
    const std::string options = "-n 4096 --sweep block --device emulated -q --json " + file;
    ASSERT_EQ(run_step_executable(step, options).exit_code, 0);
    files += file + " ";
  }
  const Outcome outcome = run_step_executable("ladder_table", files + "--json -");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(nlohmann::json::parse(outcome.out).size(), 12u);
  EXPECT_NE(outcome.error.find("| 02_nondivergent | int32 | 2^12 | 1024 |"), std::string::npos)
      << outcome.error;
  std::filesystem::remove_all(folder);
}

TEST(LadderTable, ShowsWhatABlockCounts) {
  const std::filesystem::path folder = temporary_path("ladder_table_counts");
  std::filesystem::create_directories(folder);
  std::string files;
  for (const char* step : {"01_interleaved", "02_nondivergent", "03_sequential"}) {
    const std::string file = fmt::format("'{}'", (folder / step).string());
    ASSERT_EQ(run_step_executable(step, "-n 2^16 --device emulated -q --json " + file).exit_code, 0);
    files += file + " ";
  }
  const Outcome outcome = run_step_executable("ladder_table", files);
  // Barriers, requests, lanes per request, wavefronts, and the wavefronts of 257 blocks per element.
  for (const char* row : {"| 01_interleaved | 2 | 257 | 9 | 150 | 6.81 | 150 | 0.5882 | yes |",
                          "| 02_nondivergent | 2 | 257 | 9 | 45 | 22.71 | 150 | 0.5882 | yes |",
                          "| 03_sequential | 2 | 257 | 9 | 45 | 22.71 | 45 | 0.1765 | yes |"})
    EXPECT_NE(outcome.out.find(row), std::string::npos) << row << "\n" << outcome.out;
  std::filesystem::remove_all(folder);
}

/// A result as a run of the step on a GPU would write it.
Result gpu_result(const std::string& step, double ms, unsigned block) {
  Result result;
  result.step = step;
  result.device.kind = DeviceKind::cuda;
  result.device.name = "Some GPU";
  result.device.peak_gbps = 2000;
  result.input.n = 250'000'000;  // 1 GB
  result.block = block;
  result.ms = Summary{.median = ms};
  result.verdict.verified = true;
  return result;
}

std::string ladder_of(const std::vector<Result>& results) {
  const std::filesystem::path file = temporary_path("ladder_of_test.json");
  std::ofstream(file) << json_text(results);
  const Outcome outcome = run_step_executable("ladder_table", fmt::format("'{}'", file.string()));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  std::filesystem::remove(file);
  return outcome.out;
}

TEST(LadderTable, GivesEachStepsShareOfCub) {
  const auto step = gpu_result("03_sequential", 4, 256);
  const std::string ladder = ladder_of({step, gpu_result("peer_cub", 1, 0)});
  EXPECT_NE(ladder.find("| × 01 | % of CUB | verified |\n"), std::string::npos) << ladder;
  EXPECT_NE(ladder.find("| 03_sequential | 4.0000 | 250.0 | 12.5 | – | – | 25.0 | yes |\n"),
            std::string::npos)
      << ladder;
  EXPECT_NE(ladder.find("| peer_cub | 1.0000 | 1000.0 | 50.0 | – | – | 100.0 | yes |\n"), std::string::npos)
      << ladder;
  EXPECT_EQ(ladder_of({step}).find("CUB"), std::string::npos);
}

TEST(LadderTable, TakesTheStepBeforeForThePreviousOne) {
  auto cpu = gpu_result("00_cpu_serial", 800, 0);
  cpu.device.kind = DeviceKind::cpu;
  auto half = gpu_result("09_vector_loads", 1, 256);
  half.input.n /= 2;
  const std::string ladder =
      ladder_of({cpu, gpu_result("01_interleaved", 8, 256), gpu_result("09_vector_loads", 2, 256),
                 gpu_result("10_single_pass", 1, 1024), gpu_result("peer_cub", 2, 0),
                 gpu_result("12_any_operation", 0.5, 0)});
  for (const char* row : {"| 00_cpu_serial | 800.0000 | 1.2 | 0.1 | – | – | – | yes |\n",
                          "| 01_interleaved | 8.0000 | 125.0 | 6.2 | – | 1.00 | 25.0 | yes |\n",
                          "| 10_single_pass | 1.0000 | 1000.0 | 50.0 | 2.00 | 8.00 | 200.0 | yes |\n",
                          "| peer_cub | 2.0000 | 500.0 | 25.0 | – | 4.00 | 100.0 | yes |\n",
                          "| 12_any_operation | 0.5000 | 2000.0 | 100.0 | 2.00 | 16.00 | 400.0 | yes |\n"}) {
    EXPECT_NE(ladder.find(row), std::string::npos) << row << ladder;
  }
  // Of another number of elements, it is no step before.
  EXPECT_NE(ladder_of({half, gpu_result("10_single_pass", 1, 1024)}).find("| 50.0 | – | – | yes |\n"),
            std::string::npos);
}

/// This repository's own results come last, a table for each card; they change with each measurement.
std::string own_cells(const std::string& step) {
  std::string cells;
  for (const PublishedTable& table : published_tables()) {
    if (!table.label.starts_with("this repository")) continue;
    const PublishedFigure& figure = *find_published(table, step);
    cells += fmt::format(" {} ({}) |", figure.percent, figure.gbps);
  }
  return cells;
}

std::string own_rows(const std::string& step) {
  std::string rows;
  for (const PublishedTable& table : published_tables()) {
    if (!table.label.starts_with("this repository")) continue;
    const PublishedFigure& figure = *find_published(table, step);
    rows += fmt::format("| {} | {} | {} | {} | {} |\n", table.label, table.gpu, table.input, figure.gbps,
                        figure.percent);
  }
  return rows;
}

TEST(LadderTable, EndsWithWhatOthersHavePublished) {
  const std::string timed = ladder_of({gpu_result("03_sequential", 4, 256), gpu_result("peer_cub", 1, 0)});
  EXPECT_NE(timed.find("\n| step | here: Some GPU | Harris 2007: G80, 2^22 int32, block 128 | "),
            std::string::npos)
      << timed;
  EXPECT_NE(timed.find("| 03_sequential | 12.5 (250.0) | 11.3 (9.741) | – | 41.3 (185.1) | 35.4 (331) |" +
                       own_cells("03_sequential") + "\n| peer_cub | 50.0 (1000.0) | – | – | – | – |" +
                       own_cells("peer_cub") + "\n"),
            std::string::npos)
      << timed;
}

TEST(PublishedText, HasARowOfEachTableThatHasTheStep) {
  const std::string text = published_text("03_sequential");
  EXPECT_TRUE(text.starts_with("| documented | GPU | input | GB/s | % of peak |\n")) << text;
  EXPECT_TRUE(
      text.ends_with("| blog 2025 | RTX 3090 | 2^25 float32 | 331 | 35.4 |\n" + own_rows("03_sequential")))
      << text;
  EXPECT_NE(published_text("atomic_each").find("| blog 2025 | RTX 3090 | 2^25 float32 | 2.47 | 0.3 |\n"),
            std::string::npos);
  EXPECT_EQ(published_text("14_same_bits"), "");
}

TEST(Executables, HoldNoPublishedTimeBesideCounters) {
  for (const char* options : {"-n 1000 --device emulated", "-n 1000 --device emulated --counters off"})
    EXPECT_EQ(run_step_executable("03_sequential", options).out.find("documented"), std::string::npos);
}

TEST(Atomics, StopCountingWhereAFloatDoes) {
  const Outcome outcome = run_step_executable(
      "atomic_each", "-n 2^25 -t float32 --data ones --device emulated --counters off --quiet");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.error.find("WRONG: 16777216, expected 33554432"), std::string::npos) << outcome.error;
}

TEST(Peers, NeedACudaDevice) {
  if (run_step_executable("peer_cub", "--version").exit_code == 127)
    GTEST_SKIP() << "a build without CUDA has no peers";
  const std::set<std::string> not_in_every_toolkit = {"peer_cublas", "peer_cub_gpu_to_gpu",
                                                      "peer_cub_not_guaranteed"};
  for (const std::string peer : {"peer_cub", "peer_cub_gpu_to_gpu", "peer_cub_not_guaranteed", "peer_thrust",
                                 "peer_cublas", "peer_cooperative_groups"}) {
    const Outcome outcome = run_step_executable(peer, "-n 1000 --device emulated");
    if (outcome.exit_code == 127 && not_in_every_toolkit.contains(peer)) continue;
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_EQ(outcome.error, peer + ": error: it needs a CUDA device\n");
  }
}

TEST(CudaSteps, SayWhatTheyNeed) {
  const Outcome outcome = run_step_executable("11_bulk_copy", "-n 1000 --device emulated");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.error,
            "11_bulk_copy: error: it needs a CUDA device of compute capability 9.0 or higher\n");
  EXPECT_EQ(outcome.out, "");
}

TEST(Executables, WriteTheResultAsJson) {
  const std::filesystem::path file = temporary_path("executables_test.json");
  const Outcome outcome = run_step_executable(
      "04_first_add", "-n 1000003 -t int64 --device emulated --quiet --json '" + file.string() + "'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(lines(outcome.out), 3u) << "--quiet prints the table only: " << outcome.out;
  const auto json = nlohmann::json::parse(std::ifstream(file));
  EXPECT_EQ(json["step"], "04_first_add");
  EXPECT_EQ(json["device"]["kind"], "emulated");
  EXPECT_EQ(json["elements"], 1'000'003);
  EXPECT_EQ(json["verified"], true);
  EXPECT_EQ(json["result"], json["expected"]);
  EXPECT_TRUE(json["ms"].is_null()) << "an emulated run has no GPU's time";
  std::filesystem::remove(file);
}

TEST(Executables, RunInBlocksOfTheStepsOwnSize) {
  for (const auto& [step, block] : {std::pair{"09_vector_loads", 256}, std::pair{"10_single_pass", 1024}}) {
    const Outcome outcome = run_step_executable(step, "-n 100 --device emulated --json - --quiet");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_EQ(nlohmann::json::parse(outcome.out)["block"], block) << step;
  }
}

TEST(Executables, SweepOneRowAtATime) {
  const Outcome blocks =
      run_step_executable("06_templated", "-n 3000 --sweep block --device emulated --json - --quiet");
  EXPECT_EQ(blocks.exit_code, 0) << blocks.error;
  const auto json = nlohmann::json::parse(blocks.out);
  ASSERT_EQ(json.size(), 6u);
  EXPECT_EQ(json[0]["block"], 32);
  EXPECT_EQ(json[5]["block"], 1024);
  EXPECT_EQ(run_step_executable("06_templated", "-n 1000 --sweep size").exit_code, 2);
}

TEST(Executables, RefuseASweepWhoseEndDoesNotFit) {
  for (const char* axis : {"block", "size", "type"}) {
    const Outcome outcome =
        run_step_executable("03_sequential", std::string("-n 2^45 --device emulated --sweep ") + axis);
    EXPECT_EQ(outcome.exit_code, 3) << axis;
    EXPECT_EQ(lines(outcome.error), 1u) << outcome.error;
    EXPECT_EQ(outcome.out, "") << axis << ": nothing may run";
  }
}

/// A step that runs at the same time as the test.
class RunningStep {
 public:
  explicit RunningStep(std::vector<std::string> arguments) : child_(fork()) {
    if (child_ != 0) return;
    const std::string program =
        (std::filesystem::read_symlink("/proc/self/exe").parent_path() / arguments.front()).string();
    std::vector<char*> words;
    for (std::string& argument : arguments)
      words.push_back(argument.data());
    words.push_back(nullptr);
    std::signal(SIGINT, SIG_DFL);
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    execv(program.c_str(), words.data());
    _exit(127);
  }

  void press_ctrl_c() const { kill(child_, SIGINT); }

  bool is_running() const {
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOHANG | WNOWAIT);
    return ended.si_pid == 0;
  }

  /// -1 where a signal ended it.
  int wait_for_exit_code() const {
    int status = 0;
    waitpid(child_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t child_;
};

TEST(Executables, KeepWhatASweepMeasuredBeforeCtrlC) {
  for (const char* step : {"00_cpu_serial", "01_interleaved"}) {
    const std::filesystem::path file = temporary_path("interrupted_sweep.json");
    // Its last sizes would take minutes.
    const RunningStep sweep(
        {step, "--device", "emulated", "--sweep", "size", "-n", "2^28", "--json", file.string()});
    while (!std::filesystem::exists(file)) {
      ASSERT_TRUE(sweep.is_running()) << step;
      std::this_thread::yield();
    }
    sweep.press_ctrl_c();
    EXPECT_EQ(sweep.wait_for_exit_code(), 130) << step;
    const auto results = nlohmann::json::parse(std::ifstream(file));
    EXPECT_GE(results.size(), 1u) << step;
    EXPECT_LT(results.size(), 19u) << step;
    for (const auto& result : results)
      EXPECT_EQ(result.at("verified"), true);
    std::filesystem::remove(file);
  }
}

TEST(Executables, KeepAResultThatNobodyReads) {
  const std::string programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string pipe = temporary_path("unread_pipe");
  const std::string sweep = temporary_path("unread_sweep.json");
  const std::string table = temporary_path("unread_table.json");
  for (const auto& [command, file] :
       {std::pair(fmt::format("01_interleaved --device emulated --sweep block -n 1000 -q --json '{}'", sweep),
                  sweep),
        std::pair(fmt::format("ladder_table '{}' --json '{}'", sweep, table), table)}) {
    // The pipe's only reader is gone before the program starts.
    const std::string script = fmt::format(
        "mkfifo '{0}' && exec 3<>'{0}' 4>'{0}' 3>&- && rm '{0}' && '{1}'/{2} >&4", pipe, programs, command);
    EXPECT_EQ(std::system(script.c_str()), 0) << command;
    EXPECT_EQ(nlohmann::json::parse(std::ifstream(file)).size(), 6u) << command;
  }
  std::filesystem::remove(sweep);
  std::filesystem::remove(table);
}

TEST(Executables, EndASweepThatNobodyWillSee) {
  // Its last sizes would take minutes.
  const Outcome outcome = run_command(with_left_pipe(
      fmt::format("timeout 20 {} --device emulated --sweep size -n 2^28 >&4", program("01_interleaved"))));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
}

TEST(Executables, CountTheSameInEverySchedule) {
  const auto counters = [](const std::string& options) {
    const Outcome outcome =
        run_step_executable("05_unroll_warp", "-n 10000 --device emulated --json - " + options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    return nlohmann::json::parse(outcome.out).at("counters");
  };
  const auto ascending = counters("");
  EXPECT_EQ(ascending["blocks"], 21);
  EXPECT_EQ(ascending["block_barriers"], 63);
  EXPECT_EQ(ascending["shared_load_requests"], 20 * 21);
  for (const char* schedule : {"descending", "random", "random:7"}) {
    EXPECT_EQ(counters(std::string("--schedule ") + schedule), ascending) << schedule;
  }
  EXPECT_TRUE(counters("--counters off").is_null());
}

TEST(Executables, ShowTheCountersOfAnotherStepBeside) {
  const std::filesystem::path file = temporary_path("executables_compare.json");
  const std::string quoted = fmt::format("'{}'", file.string());
  EXPECT_EQ(run_step_executable("02_nondivergent", "-n 2^16 --device emulated --json " + quoted).exit_code,
            0);
  const Outcome outcome =
      run_step_executable("03_sequential", "-n 2^16 --device emulated --compare " + quoted);
  EXPECT_NE(outcome.out.find("| shared memory wavefronts | 11565 | 45 | 0.1765 | 0.5882 | ÷ 3.33 |"),
            std::string::npos)
      << outcome.out;
  std::filesystem::remove(file);
}

TEST(CpuSerial, ShowsThatAFloatStopsCounting) {
  const Outcome outcome =
      run_step_executable("00_cpu_serial", "--data ones -n 2^25 -t float32 -s 1 --device emulated");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.out.find("running sum: WRONG: 16777216, expected 33554432; the error 1.67772e+07"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("tree: 33554432, error 0"), std::string::npos) << outcome.out;
  EXPECT_EQ(lines(outcome.error), 1u) << outcome.error;
}

TEST(CpuSerial, SumsChunksOfALargeInputAsOne) {
  // complex128: a chunk of 256 MiB holds 2^24 elements, so this takes two.
  const Outcome outcome = run_step_executable(
      "00_cpu_serial", "-n 16777300 -t complex128 -s 1 --device emulated --data cancelling");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
}

}  // namespace
}  // namespace reduction
