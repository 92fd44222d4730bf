/// \file
/// The kernels of 15_rows, on the emulated device and, compiled by nvcc, on a GPU, where there is none skipped; and the
/// program.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "device/cuda_check.cuh"
#include "docs/solutions/15_rows/log_sum_exp.cuh"
#include "harness/device.hpp"
#include "rows.hpp"
#include "run_executable.hpp"
#include "warp_per_row.cuh"
#ifdef __CUDACC__
#include "kernel.cuh"
#else
#include "emulated/launches.hpp"
#endif

namespace reduction {
namespace {

#ifdef __CUDACC__
constexpr bool is_emulated = false;
const RowKernels& row_kernels() {
  static const RowKernels kernels = make_row_kernels();
  return kernels;
}
void set_instrumented(bool) {}
#else
constexpr bool is_emulated = true;
const RowKernels& row_kernels() { return emulated_row_kernels(); }
using __emulated::set_instrumented;
#endif

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

Device& device() {
  static const std::unique_ptr<Device> opened = is_emulated ? open_emulated_device() : open_cuda_device(0);
  return *opened;
}

class Rows : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = is_emulated ? "" : cuda_unavailable_reason();
    if (!reason.empty()) GTEST_SKIP() << "no CUDA device: " << reason;
    device();
    set_instrumented(true);
  }
};

std::string text_of(const RowKernel& kernel, const Matrix& m) {
  return fmt::format("{} by {}, {} x {}, stride {}", kernel.operation, kernel.name, m.rows, m.width,
                     m.stride);
}

/// Launches a kernel over a matrix that begins `past` elements behind a multiple of 256 bytes. What is between its rows, and
/// around them, is unwritten, so that the emulated device has a finding where a kernel reads it.
std::vector<std::byte> results_of(const RowKernel& kernel, const Matrix& m, const ElementAt& element,
                                  std::size_t past = 0) {
  const DeviceBuffer buffer(device(), (past + m.elements()) * sizeof(float));
  float* const in = static_cast<float*>(buffer.data()) + past;
  std::vector<float> row(m.width);
  for (std::size_t r = 0; r < m.rows && m.width > 0; ++r) {
    for (std::size_t i = 0; i < m.width; ++i)
      row[i] = element(r, i);
    cuda_check(cudaMemcpy(in + r * m.stride, row.data(), m.width * sizeof(float), cudaMemcpyHostToDevice),
               "uploading");
  }
  std::vector<std::byte> results(kernel.results(m) * kernel.result_bytes);
  const DeviceBuffer out(device(), results.size());
  device().poison(out.data(), results.size());
  kernel.launch(in, out.data(), m);
  device().download(results.data(), out.data(), results.size());
  return results;
}

/// A whole number from -8 to 8, which many elements have: sums are exact, and maxima are in several places.
float whole_number(std::size_t row, std::size_t i) {
  return static_cast<float>((row * 7919 + i * 104729) % 17) - 8;
}

void expect_right(const RowKernel& kernel, const Matrix& m, std::size_t past = 0) {
  const std::vector<std::byte> results = results_of(kernel, m, whole_number, past);
  EXPECT_EQ(make_row_check(kernel, m, whole_number)(kernel, results.data()), "")
      << text_of(kernel, m) << ", " << past << " past";
  if (kernel.operation != "sum") return;
  for (std::size_t index = 0; index < kernel.results(m); ++index) {
    float sum = 0;
    for (std::size_t i = 0; i < (kernel.of_columns() ? m.rows : m.width); ++i)
      sum += kernel.of_columns() ? whole_number(i, index) : whole_number(index, i);
    ASSERT_EQ(value_at<float>(results.data(), index), sum) << text_of(kernel, m) << ", number " << index;
  }
}

TEST_F(Rows, AreRightForWidthsRowsAndStrides) {
  for (const std::size_t width : {0, 1, 31, 32, 33, 1023}) {
    const std::size_t next_vector = (width / 4 + 1) * 4;
    for (const RowKernel& kernel : row_kernels()) {
      for (const std::size_t rows : {0, 1, 70})
        expect_right(kernel, {rows, width, width});
      expect_right(kernel, {70, width, width + 5});
      expect_right(kernel, {70, width, next_vector});
      expect_right(kernel, {9, width, width}, 1);
    }
  }
}

/// On the emulated device the sum stands for the other operations, and has blocks for as many rows as others have warps.
TEST_F(Rows, AreRightWhereTheyAreManyOrWide) {
  set_instrumented(false);
  for (const RowKernel& kernel : row_kernels()) {
    if (is_emulated && kernel.operation != "sum") continue;
    if (!is_emulated || kernel.name != "blocks") expect_right(kernel, {70'000, 33, 40});
    if (kernel.most_width > 1 << 20) expect_right(kernel, {2, (1 << 20) + 3, (1 << 20) + 4});
  }
}

/// Several waves of warps, several parts of a row, both ends of a row unaligned.
#ifndef __CUDACC__
TEST_F(Rows, HaveNoFindingInFiveOrders) {
  using __emulated::Order;
  constexpr Order orders[] = {Order::ascending, Order::descending, Order::random, Order::random,
                              Order::random};
  for (std::uint64_t seed = 0; seed < std::size(orders); ++seed) {
    __emulated::set_schedule({orders[seed], seed});
    for (const RowKernel& kernel : row_kernels()) {
      for (const Matrix& m : {Matrix{40, 33, 35}, {70, 512, 512}, {3, 10'001, 10'003}})
        EXPECT_EQ(__emulated::finding_of([&] { expect_right(kernel, m); }), "") << text_of(kernel, m);
    }
  }
  __emulated::set_schedule({});
}
#endif

/// What is left of one row with these elements, or of one column, by each kernel of an operation.
template <typename T>
void expect_of(std::string_view operation, const std::vector<float>& elements, const std::vector<T>& expected,
               double tolerance = 0) {
  for (const RowKernel& kernel : row_kernels()) {
    if (kernel.operation != operation) continue;
    const bool is_column = kernel.of_columns();
    const Matrix m = is_column ? Matrix{elements.size(), 1, 1} : Matrix{1, elements.size(), elements.size()};
    const std::vector<std::byte> results =
        results_of(kernel, m, [&](std::size_t row, std::size_t i) { return elements[is_column ? row : i]; });
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const T found = value_at<T>(results.data(), k);
      const auto difference = std::abs(static_cast<double>(found) - static_cast<double>(expected[k]));
      const bool both_nan = found != found && expected[k] != expected[k];
      EXPECT_TRUE(both_nan || found == expected[k] || difference <= tolerance)
          << text_of(kernel, m) << ": " << found << " and not " << expected[k];
    }
  }
}

std::vector<float> all(std::size_t count, float value, std::size_t place = 0, float at_place = 0,
                       std::size_t next_place = 0) {
  std::vector<float> elements(count, value);
  for (const std::size_t each : {place, next_place})
    if (each > 0) elements[each] = at_place;
  return elements;
}

TEST_F(Rows, MaximumsOfNegativeNumbersNaNAndNothing) {
  expect_of<float>("max", all(700, -3, 300, -2), {-2});
  expect_of<float>("max", all(700, -infinity), {-infinity});
  expect_of<float>("max", all(700, infinity, 300, nan), {nan});
  expect_of<float>("max", {}, {-infinity});
}

TEST_F(Rows, TheFirstOfEqualOnesAndOfNaNs) {
  expect_of<std::int64_t>("argmax", all(10'000, 5), {0});
  expect_of<std::int64_t>("argmax", all(10'000, 5, 9000, 6, 257), {257});
  expect_of<std::int64_t>("argmax", all(10'003, 5, 10'002, 6), {10'002});
  expect_of<std::int64_t>("argmax", all(700, -0.0F, 300, 0.0F), {0});
  expect_of<std::int64_t>("argmax", all(700, -infinity), {0});
  expect_of<std::int64_t>("argmax", all(700, infinity, 600, nan, 300), {300});
  expect_of<std::int64_t>("argmax", {}, {-1});
}

/// E[x^2] - E[x]^2 has no digit left of these.
TEST_F(Rows, VarianceFarFromZero) {
  std::vector<float> elements;
  for (std::size_t i = 0; i < 10'000; ++i)
    elements.push_back(1e6F + static_cast<float>(i % 4));
  expect_of<float>("variance", elements, {1'000'001.5F, 1.25F}, 0.13);
  expect_of<float>("variance", all(700, 3e30F), {3e30F, 0}, 0);
  expect_of<float>("variance", all(700, 1, 300, nan), {nan, nan});
  expect_of<float>("variance", {}, {nan, nan});
}

TEST_F(Rows, SoftmaxOfMaskedHugeAndInfiniteElements) {
  std::vector<float> masked(1000, -infinity);
  masked[999] = masked[998] = -1e30F;
  std::vector<float> halves(1000, 0);
  halves[999] = halves[998] = 0.5F;
  expect_of<float>("softmax", masked, halves);
  const std::vector<float> none(1000, nan);
  expect_of<float>("softmax", all(1000, -infinity), none);
  expect_of<float>("softmax", all(1000, 1, 300, nan), none);
  expect_of<float>("softmax", all(1000, 1, 300, infinity), none);
  expect_of<float>("softmax", all(1000, 1e38F), std::vector<float>(1000, 0.001F), 1e-9);
}

/// Of nothing, of -inf only, with one infinity, and of what would overflow.
TEST_F(Rows, TheExerciseNeedsNoGuard) {
  const std::vector<std::pair<std::vector<float>, float>> cases{{{}, -infinity},
                                                                {all(700, -infinity), -infinity},
                                                                {all(700, 1, 300, infinity), infinity},
                                                                {all(1024, 100), 100 + std::log(1024.0F)}};
  for (const auto& [row, expected] : cases) {
    const RowKernel kernel{"warp", "logsumexp", sizeof(float), 32,
                           [](const float* in, void* out, const Matrix& m) {
                             launch_warp_per_row<LogSumExp>(in, static_cast<float*>(out), m);
                           }};
    const std::vector<float>& elements = row;
    const auto element = [&elements](std::size_t, std::size_t i) { return elements[i]; };
    EXPECT_FLOAT_EQ(value_at<float>(results_of(kernel, {1, row.size(), row.size()}, element).data(), 0),
                    expected);
  }
}

TEST_F(Rows, AWrongResultIsNoticed) {
  const Matrix m{5, 100, 100};
  for (const RowKernel& kernel : row_kernels()) {
    std::vector<std::byte> results = results_of(kernel, m, whole_number);
    const RowCheck check = make_row_check(kernel, m, whole_number);
    std::vector<std::byte> nothing(results.size(), std::byte{0xFF});
    EXPECT_NE(check(kernel, nothing.data()), "") << text_of(kernel, m);
    const std::size_t last = results.size() - kernel.result_bytes;
    std::memcpy(results.data() + last, results.data() + last - kernel.result_bytes, kernel.result_bytes);
    results[results.size() - kernel.result_bytes + 2] ^= std::byte{0x10};
    EXPECT_NE(check(kernel, results.data()), "") << text_of(kernel, m);
  }
}

#ifdef __CUDACC__
TEST_F(Rows, NeedMoreThan32BitsForAnIndex) {
  for (const char* operation : {"sum", "max", "argmax", "variance", "softmax"}) {
    const Outcome outcome = run_step_executable(
        "15_rows", fmt::format("-o {} -r 262145 -w 16384 -s 1 -q --device cuda", operation));
    if (lacks_memory(outcome)) GTEST_SKIP() << outcome.error;
    EXPECT_EQ(outcome.exit_code, 0) << operation << '\n' << outcome.out << outcome.error;
  }
}
#else
TEST_F(Rows, TheProgramAnswers) {
  const Outcome sweep =
      run_step_executable("15_rows", "-o softmax -n 2^12 --sweep width --device emulated -q --json -");
  EXPECT_EQ(sweep.exit_code, 0) << sweep.error;
  EXPECT_NE(sweep.out.find("\"kernel\": \"registers\""), std::string::npos) << sweep.out;
  for (const char* refused :
       {"-w 8 --stride 7", "-n 100", "-r 3 -n 2^12", "-o sum -k passes", "-o softmax -k registers -w 2^15",
        "--sweep width -w 8", "-o mean", "-k shuffle", "-r 2^48 -w 2^48"})
    EXPECT_EQ(run_step_executable("15_rows", refused).exit_code, 2) << refused;
  EXPECT_EQ(run_step_executable("15_rows", "-r 2^37 --device emulated").exit_code, 3);
}
#endif

}  // namespace
}  // namespace reduction
