/// reduction/reduce.cuh as it is, on the emulated device: what it computes there, in blocks of any number and from any address,
/// against a loop on the host. A finding in one of its kernels would end the test.
#include <gtest/gtest.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "emulated/device_array.hpp"
#include "reduction/reduce.cuh"
#include "same_bits/order.hpp"

namespace {

using __emulated::DeviceArray;
using __emulated::finding_of;
using __emulated::launches_of;

constexpr std::size_t sizes[] = {0, 1, 31, 32, 1000, 4097, 65537, 300000};

/// A number below 2^32 for each index, SplitMix64's.
std::uint32_t drawn(std::size_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return static_cast<std::uint32_t>(z >> 32);
}

/// Elements of the device of which nothing before and after them may be read. They begin `start` elements after a multiple
/// of 64 bytes.
template <typename T> class Input {
 public:
  Input(std::size_t n, std::size_t start, T (*element)(std::size_t)) : array_{start + n}, start_{start} {
    for (std::size_t i = 0; i < n; ++i)
      array_[start + i] = element(i);
    array_.forget(0, start);
  }
  const T* begin() const { return array_.begin() + start_; }
  const T* end() const { return array_.end(); }

 private:
  DeviceArray<T> array_;
  std::size_t start_;
};

/// The results of a call with storage of its own, which nobody has written, and of one without any.
template <typename Out, typename T, typename... Rest>
std::vector<Out> results(const Input<T>& in, const Rest&... rest) {
  const auto n = static_cast<std::size_t>(in.end() - in.begin());
  DeviceArray<Out> out{2};
  out.forget(0, 2);
  std::size_t bytes = 0;
  EXPECT_EQ(reduction::reduce(nullptr, bytes, in.begin(), out.begin(), n, rest...), cudaSuccess);
  DeviceArray<std::max_align_t> storage{bytes / sizeof(std::max_align_t) + 1};
  storage.forget(0, bytes / sizeof(std::max_align_t) + 1);
  EXPECT_EQ(reduction::reduce(storage.begin(), bytes, in.begin(), out.begin(), n, rest...), cudaSuccess);
  EXPECT_EQ(reduction::reduce(in.begin(), out.begin() + 1, n, rest...), cudaSuccess);
  return {out.begin(), out.end()};
}

/// Compares the results of both forms, for each size and start, with what `by_host(begin, end)` returns.
template <typename Out, typename T, typename ByHost, typename... Rest>
void expect_same(T (*element)(std::size_t), ByHost by_host, const Rest&... rest) {
  for (const std::size_t n : sizes) {
    for (const std::size_t start : {0, 1, 3}) {
      const Input<T> in{n, start, element};
      const Out expected = by_host(in.begin(), in.end());
      for (const Out& result : results<Out>(in, rest...))
        EXPECT_TRUE(result == expected) << n << " elements, the first of them number " << start;
    }
  }
}

/// What the host makes of elements one after the other.
template <typename Out, typename Operation> auto folded(Out first, Operation operation) {
  return [=](const auto* begin, const auto* end) {
    Out result = first;
    for (; begin != end; ++begin)
      result = static_cast<Out>(operation(result, *begin));
    return result;
  };
}

constexpr auto plus = [](auto a, auto b) { return a + b; };
constexpr auto smaller = [](auto a, auto b) { return b < a ? b : a; };
constexpr auto larger = [](auto a, auto b) { return a < b ? b : a; };

/// Whole numbers of which no sum is rounded.
template <typename T> T small_number(std::size_t i) {
  return static_cast<T>(static_cast<int>(drawn(i) % 41) - 20);
}
template <typename T> T any_number(std::size_t i) { return static_cast<T>(drawn(i)); }

TEST(EmulatedHeader, SumsNumbers) {
  expect_same<float>(small_number<float>, folded(0.0F, plus), reduction::Sum{});
  expect_same<double>(small_number<double>, folded(0.0, plus), reduction::Sum{});
  expect_same<int>(small_number<int>, folded(0, plus), reduction::Sum{});
  expect_same<int>(small_number<int>, folded(7, plus), reduction::Sum{}, 7);
  expect_same<std::uint64_t>(any_number<std::uint64_t>, folded(std::uint64_t{0}, plus), reduction::Sum{});
}

/// Compares with the order as order.hpp has it.
template <typename T, typename Operation>
void expect_same_bits(T (*element)(std::size_t), Operation operation) {
  for (const std::size_t n : sizes) {
    for (const std::size_t start : {0, 1, 2, 3, 7}) {
      const Input<T> in{n, start, element};
      const auto of_vector = [&](const T* first, std::size_t count) {
        return std::accumulate(first + 1, first + count, *first, operation.operation);
      };
      const T expected = n == 0 ? operation.value
                                : same_bits::in_order<T>(in.begin(), n, 16 / sizeof(T), 4, operation.value,
                                                         operation.operation, of_vector);
      for (const T& result : results<T>(in, reduction::SameBits{operation}))
        EXPECT_EQ(result, expected) << n << " elements, the first of them number " << start;
    }
  }
}

TEST(EmulatedHeader, HasOneOrderForSameBits) {
  const auto real = [](std::size_t i) {
    return static_cast<float>(drawn(i)) / static_cast<float>(1 + drawn(~i) % 999);
  };
  expect_same_bits<float>(real, reduction::WithIdentity{plus, 0.0F});
  const auto byte = [](std::size_t i) { return static_cast<signed char>(drawn(i)); };
  const auto wrapping = [](int a, int b) { return static_cast<signed char>(a + b); };  // misses no byte
  expect_same_bits<signed char>(byte, reduction::WithIdentity{wrapping, static_cast<signed char>(0)});
  const auto cut_off = [](int a, int b) { return static_cast<signed char>(std::clamp(a + b, -128, 127)); };
  expect_same_bits<signed char>(byte, reduction::WithIdentity{cut_off, static_cast<signed char>(0)});
}

TEST(EmulatedHeader, SumsSmallIntegersByDotProducts) {
  expect_same<int>(any_number<unsigned char>, folded(0, plus), reduction::Sum{});
  expect_same<unsigned char>(any_number<unsigned char>, folded(static_cast<unsigned char>(0), plus),
                             reduction::Sum{});
  expect_same<long long>(any_number<signed char>, folded(0LL, plus), reduction::Sum{});
  expect_same<int>(any_number<std::int16_t>, folded(0, plus), reduction::Sum{});
  expect_same<unsigned>(any_number<std::uint16_t>, folded(0U, plus), reduction::Sum{});
}

template <typename T> void expect_extremes() {
  using Limits = std::numeric_limits<T>;
  // A quarter of the range round its middle, so that the element at an end is no accident.
  const auto element = [](std::size_t i) {
    return static_cast<T>(drawn(i) % 61 + static_cast<unsigned>(Limits::max() / 4));
  };
  expect_same<T>(+element, folded(Limits::max(), smaller), reduction::Min{});
  expect_same<T>(+element, folded(Limits::lowest(), larger), reduction::Max{});
}

TEST(EmulatedHeader, FindsExtremesOfSmallIntegersInWholeWords) {
  expect_extremes<unsigned char>();
  expect_extremes<signed char>();
  expect_extremes<std::uint16_t>();
  expect_extremes<std::int16_t>();
  expect_same<std::int16_t>(any_number<std::int16_t>, folded(std::int16_t{0x7FFF}, smaller),
                            reduction::Min{});
  expect_same<signed char>(any_number<signed char>, folded(static_cast<signed char>(-128), larger),
                           reduction::Max{});
}

template <typename T> T small_float(std::size_t i) { return T{static_cast<float>(drawn(i) % 2001) - 1000}; }

TEST(EmulatedHeader, TakesNumbersOf16Bits) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto widen = [](float sum, half value) { return sum + float{value}; };
  expect_same<float>(small_float<half>, folded(0.0F, widen), reduction::Sum{});
  expect_same<half>(small_float<half>, folded(half{infinity}, smaller), reduction::Min{});
  expect_same<half>(small_float<half>, folded(half{-infinity}, larger), reduction::Max{});
  expect_same<__nv_bfloat16>(small_float<__nv_bfloat16>, folded(__nv_bfloat16{infinity}, smaller),
                             reduction::Min{});
  expect_same<__nv_bfloat16>(small_float<__nv_bfloat16>, folded(__nv_bfloat16{-infinity}, larger),
                             reduction::MaxOrNaN{});
}

struct Moments {
  double sum;
  double of_squares;
  std::int64_t count;

  bool operator==(const Moments&) const = default;
};
static_assert(sizeof(Moments) == 24);

struct AddMoments {
  __device__ Moments operator()(const Moments& a, const Moments& b) const {
    return {a.sum + b.sum, a.of_squares + b.of_squares, a.count + b.count};
  }
  template <typename A> static __host__ __device__ A identity() { return {}; }
};

TEST(EmulatedHeader, CombinesStructs) {
  const auto element = [](std::size_t i) {
    const auto x = small_number<double>(i);
    return Moments{x, x * x, 1};
  };
  expect_same<Moments>(+element, folded(Moments{}, AddMoments{}), AddMoments{});
}

struct Point {
  float x, y;

  bool operator==(const Point&) const = default;
};

/// Elements of 8 bytes that begin 4 bytes after a multiple of 8, where no vector can.
TEST(EmulatedHeader, CombinesStructsWhereNoVectorBegins) {
  const auto add = [](const Point& a, const Point& b) { return Point{a.x + b.x, a.y + b.y}; };
  for (const std::size_t n : sizes) {
    const Input<float> numbers{2 * n, 1, small_number<float>};
    DeviceArray<Point> out{1};
    const auto* const points = reinterpret_cast<const Point*>(numbers.begin());
    ASSERT_EQ(reduction::reduce(points, out.begin(), n, reduction::WithIdentity{add, Point{0, 0}}),
              cudaSuccess);
    EXPECT_EQ(out[0], folded(Point{0, 0}, add)(points, points + n)) << n;
  }
}

struct Bytes {
  unsigned char of_word[4];

  bool operator==(const Bytes&) const = default;
};

/// Elements of 4 bytes that may begin at any byte: a word of a vector lies across two words of memory.
TEST(EmulatedHeader, MovesStructsFromAnyByte) {
  const auto add = [](const Bytes& a, const Bytes& b) {
    Bytes sum{};
    for (int k = 0; k < 4; ++k)
      sum.of_word[k] = static_cast<unsigned char>(a.of_word[k] + b.of_word[k]);
    return sum;
  };
  const std::size_t n = 100000;
  for (const std::size_t start : {0, 1, 2, 3, 6, 13}) {
    const Input<unsigned char> bytes{4 * n, start, any_number<unsigned char>};
    DeviceArray<Bytes> out{1};
    const auto* const elements = reinterpret_cast<const Bytes*>(bytes.begin());
    const reduction::SameBits operation{reduction::WithIdentity{add, Bytes{}}};
    ASSERT_EQ(reduction::reduce(elements, out.begin(), n, operation), cudaSuccess);
    EXPECT_EQ(out[0], folded(Bytes{}, add)(elements, elements + n)) << start;
  }
}

/// Pairs with equal values and one index, of which the order tells the first: 0 or -0.
TEST(EmulatedHeader, HasOneOrderForEqualPairs) {
  using Pair = reduction::Indexed<float, int>;
  const auto zero = [](std::size_t i) { return Pair{i == 0 ? -0.0F : 0.0F, 7}; };
  for (const std::size_t start : {0, 1}) {
    const Input<Pair> in{1001, start, +zero};
    for (const Pair& first : results<Pair>(in, reduction::SameBits{reduction::ArgMin{}}))
      EXPECT_TRUE(std::signbit(first.value)) << start;
  }
}

TEST(EmulatedHeader, CombinesByALambda) {
  const auto exclusive_or = [](unsigned a, unsigned b) { return a ^ b; };
  expect_same<unsigned>(any_number<unsigned>, folded(0U, exclusive_or),
                        reduction::WithIdentity{exclusive_or, 0U});
}

TEST(EmulatedHeader, FindsWhereTheSmallestIs) {
  const auto by_host = [](const auto* begin, const auto* end) {
    const auto* const first = std::min_element(begin, end);
    using T = std::remove_cv_t<std::remove_pointer_t<decltype(begin)>>;
    return first == end ? reduction::ArgMin::identity<reduction::Indexed<T>>()
                        : reduction::Indexed<T>{*first, first - begin};
  };
  const auto expect_index = [&](auto element) {
    using T = decltype(element(0));
    for (const std::size_t n : sizes) {
      for (const std::size_t start : {0, 1, 3}) {
        const Input<T> in{n, start, +element};
        const reduction::Indexed<T> expected = by_host(in.begin(), in.end());
        for (const auto& result : results<reduction::Indexed<T>>(in, reduction::ArgMin{})) {
          EXPECT_EQ(result.index, expected.index) << n;
          EXPECT_TRUE(n == 0 || result.value == expected.value) << n;
        }
      }
    }
  };
  expect_index([](std::size_t i) { return static_cast<float>(drawn(i) >> 8); });
  expect_index([](std::size_t i) { return static_cast<int>(drawn(i) % 100); });  // many are equal
  expect_index([](std::size_t i) { return static_cast<unsigned char>(drawn(i) | 1); });
}

TEST(EmulatedHeader, FindsBothExtremes) {
  for (const std::size_t n : sizes) {
    const Input<double> in{n, 1, small_number<double>};
    const double infinity = std::numeric_limits<double>::infinity();
    for (const auto& both : results<reduction::Extremes<double>>(in, reduction::MinMax{})) {
      EXPECT_EQ(both.smallest, folded(infinity, smaller)(in.begin(), in.end())) << n;
      EXPECT_EQ(both.largest, folded(-infinity, larger)(in.begin(), in.end())) << n;
    }
  }
}

TEST(EmulatedHeader, TransformsElements) {
  const Input<float> in{65537, 0, small_number<float>};
  DeviceArray<double> out{1};
  const auto square = [](float x) { return double{x} * x; };
  ASSERT_EQ(reduction::transform_reduce(in.begin(), out.begin(), 65537, reduction::Sum{}, square),
            cudaSuccess);
  EXPECT_EQ(out[0], folded(0.0, [&](double sum, float x) { return sum + square(x); })(in.begin(), in.end()));
}

// ---- what the device says of its kernels ----

TEST(EmulatedHeader, LoadsEachSectorOnce) {
  const std::size_t n = 300000;
  const Input<float> in{n, 0, small_number<float>};
  DeviceArray<float> out{1};
  const auto launches = launches_of(
      [&] { EXPECT_EQ(reduction::reduce(in.begin(), out.begin(), n, reduction::Sum{}), cudaSuccess); });
  ASSERT_EQ(launches.size(), 2U);
  const __emulated::Counters first = launches[0].counters;
  EXPECT_EQ(first.blocks, 37U) << "a tile of 8192 elements each";
  EXPECT_EQ(first.global_load_sectors, n * sizeof(float) / 32);
  EXPECT_EQ(first.global_store_requests, 37U);
  EXPECT_EQ(launches[1].counters.global_load_lanes, 37U);
}

TEST(EmulatedHeader, HasFindingsThatNameItsKernelAndLine) {
  DeviceArray<float> in{100000};
  DeviceArray<float> out{1};
  in.forget(99999, 1);
  const std::string finding =
      finding_of([&] { (void)reduction::reduce(in.begin(), out.begin(), 100000, reduction::Sum{}); });
  EXPECT_EQ(
      finding.find("uninitialised read in reduce_kernel: block 12, thread 423 reads 16-byte word 24999"), 0U)
      << finding;
  EXPECT_NE(finding.find(" at reduction/elements.cuh:"), std::string::npos) << finding;
}

TEST(EmulatedHeader, RefusesWhatItRefusesOnAGpu) {
  DeviceArray<float> in{100000};
  DeviceArray<float> out{1};
  std::size_t bytes = 0;
  EXPECT_EQ(reduction::reduce(in.begin(), out.begin(), -1, reduction::Sum{}), cudaErrorInvalidValue);
  ASSERT_EQ(reduction::reduce(nullptr, bytes, in.begin(), out.begin(), 100000, reduction::Sum{}),
            cudaSuccess);
  EXPECT_EQ(bytes, 132 * 4 * sizeof(float));
  DeviceArray<std::byte> storage{bytes};
  EXPECT_EQ(reduction::reduce(storage.begin(), --bytes, in.begin(), out.begin(), 100000, reduction::Sum{}),
            cudaErrorInvalidValue);
}

__global__ void leave_number(int* out, int number) { *out = number; }

TEST(EmulatedRuntime, LaunchesWithoutAttributesOnly) {
  DeviceArray<int> out{1};
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_EQ(cudaLaunchKernelEx(&config, leave_number, out.begin(), 5), cudaErrorNotSupported);
  EXPECT_EQ(out[0], 0);
  config.numAttrs = 0;
  EXPECT_EQ(cudaLaunchKernelEx(&config, leave_number, out.begin(), 5), cudaSuccess);
  EXPECT_EQ(out[0], 5);
}

TEST(EmulatedRuntime, SaysWhatTheDeviceIs) {
  int device = -1;
  int value = 0;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device), cudaSuccess);
  EXPECT_EQ(value, 132);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 1), cudaErrorInvalidDevice);
  cudaFuncAttributes attributes{};
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, leave_number), cudaSuccess);
  EXPECT_EQ(attributes.ptxVersion, 80);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, leave_number, 512, 0), cudaSuccess);
  EXPECT_EQ(value, 4);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, leave_number, 0, 0), cudaErrorInvalidValue);
  EXPECT_STREQ(cudaGetErrorString(cudaErrorNotSupported), "operation not supported");
}

/// On a host that has an instruction for both, such as AArch64, a compiler would not round the product.
__global__ void multiply_and_add(const double* in, double* out) { *out = in[0] * in[0] + in[1]; }

TEST(EmulatedRuntime, RoundsAProductBeforeItAdds) {
  DeviceArray<double> in{2};
  DeviceArray<double> out{1};
  in[0] = 1 + 0x1p-30;
  in[1] = -(1 + 0x1p-29);
  multiply_and_add<<<1, 1>>>(in, out);
  EXPECT_EQ(out[0], 0);
}

}  // namespace
