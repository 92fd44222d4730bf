/// What is printed of a finding: the place, the line of source, what of it is marked, and the words. What is printed of
/// each kind of fault is on the pages of docs/pitfalls (pitfalls_test.cpp).
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/findings/diagnostic.hpp"
#include "emulated/findings/source_text.hpp"
#include "temporary_path.hpp"

namespace {

using namespace __emulated;
using Words = DeviceArray<unsigned>;

// ---- kernels ----

std::vector<Finding> findings_of(const auto& launch_kernel) {
  try {
    launch_kernel();
  } catch (const KernelFinding& finding) {
    return finding.findings();
  }
  return {};
}

__global__ void smooth(const unsigned* in, unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + in[i + 1];
}
constexpr unsigned line_of_smooth = __LINE__ - 2;

TEST(Diagnostic, HasTheCaretAtTheColumnOfThePlace) {
  const std::vector<Finding> findings = findings_of([] { smooth<<<2, 32>>>(Words{64}, Words{64}); });
  ASSERT_EQ(findings.size(), 1U);
  const SourceLocation& location = findings[0].witnesses[0].location;
  EXPECT_EQ(location.line, line_of_smooth);
  EXPECT_NE(location.column, 0U);
  const std::string number = std::to_string(location.line);
  const std::string text = diagnostic_of(findings, false);
  EXPECT_NE(
      text.find("diagnostic_test.cpp:" + number + ':' + std::to_string(location.column) +
                ": out of bounds in smooth: thread 31 of block 1 reads 4-byte word 64 of a global buffer "
                "(64 words)\n"),
      std::string::npos)
      << text;
  const std::string margin = std::string(5 - number.size(), ' ') + number + " | ";
  const auto source = text.find(margin + "  out[i] = in[i] + in[i + 1];\n");
  ASSERT_NE(source, std::string::npos) << text;
  const auto marks = text.find('\n', source) + 1 + margin.size();
  EXPECT_EQ(text.find('^') - marks, location.column - 1) << text;
}

TEST(Diagnostic, HasTheSameWordsWithColours) {
  const std::vector<Finding> findings = findings_of([] { smooth<<<2, 32>>>(Words{64}, Words{64}); });
  const std::string styled = diagnostic_of(findings, true);
  EXPECT_NE(styled.find("\x1b[1;31mout of bounds\x1b[0m"), std::string::npos) << styled;
  EXPECT_EQ(std::regex_replace(styled, std::regex{"\x1b\\[[0-9;]*m"}, ""), diagnostic_of(findings, false));
}

/// The compiler's columns are those of what stands for the declaration.
__global__ void on_one_line(const unsigned* in, unsigned* out) {
  // clang-format off
  __shared__ unsigned one[64]; one[threadIdx.x] = in[threadIdx.x]; out[threadIdx.x] = one[63 - threadIdx.x];
  // clang-format on
}
constexpr unsigned line_of_declaration = __LINE__ - 3;

TEST(Diagnostic, HasNoColumnBehindADeclarationOfSharedMemory) {
  const std::vector<Finding> findings = findings_of([] { on_one_line<<<1, 64>>>(Words{64}, Words{64}); });
  ASSERT_EQ(findings.size(), 1U);
  for (const Witness& witness : findings[0].witnesses) {
    EXPECT_EQ(witness.location.line, line_of_declaration);
    EXPECT_EQ(witness.location.column, 0U);
  }
}

__device__ void store_first(unsigned* cells, unsigned value) { cells[0] = value; }

__global__ void through_a_function(unsigned* out) { store_first(out, threadIdx.x); }
constexpr unsigned line_of_call = __LINE__ - 1;

/// GCC inlines what a kernel calls: the call is named, too.
TEST(Diagnostic, InAFunctionNamesItsCall) {
#ifdef __clang__
  GTEST_SKIP() << "Clang calls it";
#endif
  const std::string text = diagnostic_of(findings_of([] { through_a_function<<<1, 32>>>(Words{1}); }), false);
  EXPECT_NE(text.find("diagnostic_test.cpp:" + std::to_string(line_of_call)), std::string::npos) << text;
  EXPECT_NE(text.find(" = in the call at "), std::string::npos) << text;
}

// ---- source lines ----

/// A file that is older than the program, with one line, and a finding there.
class SourceLines : public testing::Test {
 protected:
  SourceLines() : file_{reduction::temporary_path("kernel.cuh")} {}
  ~SourceLines() override { std::filesystem::remove(file_); }

  std::string diagnostic_at(const std::string& line, unsigned column) {
    std::ofstream{file_} << line << '\n';
    std::filesystem::last_write_time(file_, std::filesystem::last_write_time("/proc/self/exe") - age_);
    const SourceLocation location{file_.string(), 1, column};
    return diagnostic_of(
        {{Fault::out_of_bounds, "k", "4 bytes", {{{1}, 0, "writes", nullptr, location}}, "", "", ""}}, false);
  }

  std::filesystem::path file_;
  std::chrono::seconds age_{60};
};

TEST_F(SourceLines, HaveTheCaretBelowWhatFollowsTabs) {
  EXPECT_TRUE(diagnostic_at("\tif (a)\tx = y[i];", 14)
                  .ends_with("\n    1 |         if (a)  x = y[i];\n"
                             "      |                     ~^~~\n"));
}

TEST_F(SourceLines, HaveTheCaretBelowWhatFollowsLettersOfTwoBytes) {
  EXPECT_TRUE(diagnostic_at("/* größe */ x = 1;", 17)
                  .ends_with("\n    1 | /* größe */ x = 1;\n"
                             "      |             ~~^\n"));
}

TEST_F(SourceLines, AreUnderlinedWithoutAColumn) {
  EXPECT_TRUE(diagnostic_at("  x = y[i];  // why", 0)
                  .ends_with("\n    1 |   x = y[i];  // why\n"
                             "      |   ~~~~~~~~~\n"));
}

TEST_F(SourceLines, AreNotShownOfAFileThatHasChanged) {
  age_ = std::chrono::seconds{-60};
  const std::string text = diagnostic_at("x = y[i];", 6);
  EXPECT_EQ(text.find("y[i]"), std::string::npos) << text;
  EXPECT_NE(text.find(":1:6: out of bounds in k: thread 1 of block 0 writes 4 bytes\nnote: "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("build again"), std::string::npos) << text;
}

TEST(SourceLine, IsLeftOutOfAFileThatIsNotThere) {
  const SourceLocation location{"/nowhere/kernel.cuh", 3, 4};
  EXPECT_EQ(
      diagnostic_of(
          {{Fault::endless_loop, "", "", {{{1, 2, 3}, 2, "runs", nullptr, location}}, "do", "p.md", ""}},
          false),
      "/nowhere/kernel.cuh:3:4: endless loop in a kernel: threads 1-3 of block 2 runs\n"
      "help: do\n"
      "      see p.md\n");
}

TEST(SourceSpan, IsWhatTheColumnStandsFor) {
  const auto marked = [](std::string_view line, std::string_view at, bool reads = false) {
    const Span span = span_at(line, static_cast<unsigned>(line.find(at)) + 1, reads);
    return std::string{line.substr(span.begin, span.end - span.begin)};
  };
  EXPECT_EQ(marked("if (i < n) sum += a.cells[i + b[2]];", "[i"), "a.cells[i + b[2]]");
  EXPECT_EQ(marked("if (i < n) sum += a.cells[i + b[2]];", "];"), "a.cells[i + b[2]]");
  EXPECT_EQ(marked("for (;;) points[i]->x += 2;", "+="), "points[i]->x +=");
  EXPECT_EQ(marked("  return points[i].x;", ".x"), "points[i].x");
  EXPECT_EQ(marked("  (*bins)++;", "++"), "(*bins)++");
  EXPECT_EQ(marked("  if (tid == 0) *out = sum;", "= sum"), "*out =");
  EXPECT_EQ(marked("  *out = tile(3);", "=", true), "= tile(3)");
  EXPECT_EQ(marked("  o[b]=*cnt;", "=*"), "o[b]=");
  EXPECT_EQ(marked("  o[b]=*cnt;", "=*", true), "=*cnt");
  EXPECT_EQ(marked("  o[b]+=-x;", "+="), "o[b]+=");
  EXPECT_EQ(marked("  o[b]>>=*x;", ">>"), "o[b]>>=");
  EXPECT_EQ(marked("  atomicAdd(&x[0], y);", "("), "atomicAdd(&x[0], y)");
  EXPECT_EQ(marked("  const int sum = a[0] + a[1];  // why", "sum"), "sum = a[0] + a[1]");
  EXPECT_EQ(marked("  if (sum == 0) return;", "sum"), "sum");
  EXPECT_EQ(marked("  f(x[", "["), "x[") << "the rest is on the next line";
}

}  // namespace
