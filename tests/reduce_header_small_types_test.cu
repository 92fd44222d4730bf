/// \file
/// beyond/12_any_operation's header with elements of 8 and 16 bits, which it combines several at a time, and with
/// accumulators that are larger than they are. Skipped where there is no CUDA device.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "reduce_header.cuh"

namespace reduction {
namespace {

/// Whatever the identity comes with, a sum of ones in __half would end at 2048.
static_assert(
    std::is_same_v<detail::AccumulatorOf<detail::Default, WithIdentity<Sum, __half>, __half>, float>);
static_assert(
    std::is_same_v<detail::AccumulatorOf<detail::Default, WithIdentity<Min, __half>, __half>, __half>);

constexpr std::size_t starts =
    17;  ///< elements: every distance from a multiple of 16 bytes, and the next one

/// All around vectors of 16 bytes, then around each method's bounds for 1 and 2 bytes.
std::vector<std::size_t> sizes_around_vectors() {
  std::vector<std::size_t> sizes;
  for (std::size_t n = 0; n <= 70; ++n)
    sizes.push_back(n);
  for (const std::size_t n : {255, 256, 257, 1000, 4111, 8191, 8193, 16383, 16384, 16385, 32769, 65535, 65537,
                              131073, 262143, 262145, 1000003})
    sizes.push_back(n);
  return sizes;
}

const std::vector<std::size_t> vector_sizes = sizes_around_vectors();
const std::size_t most_elements = vector_sizes.back() + starts;

template <typename T> class ReduceSmall : public Reduce {};
using SmallTypes =
    testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, __half, __nv_bfloat16>;
TYPED_TEST_SUITE(ReduceSmall, SmallTypes);

/// Of 16-bit integers all values, of floating-point numbers those that bfloat16 holds.
template <typename T> std::vector<T> scattered_values() {
  return values_of<T>(most_elements, [](std::size_t i) {
    const std::uint32_t bits = scattered(i);
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(bits >> 3);
    else
      return T((static_cast<float>(bits % 256) - 127.5f) * static_cast<float>(1 << (bits >> 8) % 8));
  });
}

TYPED_TEST(ReduceSmall, MinFromEveryStart) {
  using T = TypeParam;
  const auto values = scattered_values<T>();
  expect_the_hosts_result<T>(values, vector_sizes, starts, min_on_host<T>, by(Min{}));
  expect_the_hosts_result<T>(values, vector_sizes, starts, min_on_host<T>, by(MinOrNaN{}));
}

TYPED_TEST(ReduceSmall, MaxFromEveryStart) {
  using T = TypeParam;
  const auto values = scattered_values<T>();
  expect_the_hosts_result<T>(values, vector_sizes, starts, max_on_host<T>, by(Max{}));
  expect_the_hosts_result<T>(values, vector_sizes, starts, max_on_host<T>, by(MaxOrNaN{}));
}

TYPED_TEST(ReduceSmall, SumFromEveryStart) {
  using T = TypeParam;
  if constexpr (std::is_integral_v<T>) {
    expect_the_hosts_result<T>(scattered_values<T>(), vector_sizes, starts, sum_on_host<T, T>, by(Sum{}));
  } else {
    expect_the_hosts_result<T>(small_numbers<T>(most_elements), vector_sizes, starts, sum_on_host<T, T>,
                               by(Sum{}));
  }
}

/// One element is `one` and decides, all others are `others`: at every place of every size up to 70, from every start.
template <typename T, typename Operation> void expect_that_one_decides(Operation operation, T one, T others) {
  // Block b has the one at 128 + b, so that all starts have it at all places.
  constexpr std::size_t block_elements = 256;
  std::vector<T> values(16 * block_elements, others);
  for (std::size_t b = 0; b < 16; ++b)
    values[b * block_elements + 128 + b] = one;
  const DeviceArray<T> in(values);
  for (std::size_t n = 1; n <= 70; ++n) {
    const std::vector<T> results =
        results_of<T>(16 * n, [&](std::size_t i, void* storage, std::size_t& bytes, T* out) {
          const T* const first = in.get() + i / n * block_elements + 128 + i / n - i % n;
          return reduction::reduce(storage, bytes, first, out, n, operation);
        });
    for (std::size_t i = 0; i < results.size(); ++i)
      ASSERT_EQ(plain(results[i]), plain(one))
          << n << " elements, the one at " << i % n << ", case " << i / n;
  }
}

TYPED_TEST(ReduceSmall, OneElementDecidesAtEveryPlace) {
  using T = TypeParam;
  using Limits = std::numeric_limits<decltype(plain(T{}))>;
  const T highest = T(Limits::has_infinity ? Limits::infinity() : Limits::max());
  const T lowest = T(Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
  expect_that_one_decides(Min{}, lowest, highest);
  expect_that_one_decides(Max{}, highest, lowest);
  // Next to each other, on both sides of 0 and of what the sign bit of another type would make of them.
  expect_that_one_decides(Min{}, number<T>(0), number<T>(1));
  expect_that_one_decides(Max{}, number<T>(1), number<T>(0));
  if constexpr (std::is_unsigned_v<T>) {
    const T middle = T(Limits::max() / 2 + 1);
    expect_that_one_decides(Min{}, T(middle - 1), middle);
    expect_that_one_decides(Max{}, middle, T(middle - 1));
    expect_that_one_decides(Min{}, T(1), highest);
  } else {
    expect_that_one_decides(Min{}, number<T>(-1), number<T>(0));
    expect_that_one_decides(Max{}, number<T>(0), number<T>(-1));
    expect_that_one_decides(Max{}, number<T>(5), lowest);
    expect_that_one_decides(MinOrNaN{}, lowest, number<T>(-1));
    expect_that_one_decides(MaxOrNaN{}, number<T>(0), number<T>(-1));
  }
  if constexpr (std::is_integral_v<T>) {
    // No sum carries into its neighbour.
    expect_that_one_decides(Sum{}, highest, T(0));
    expect_that_one_decides(Sum{}, lowest, T(0));
  }
}

template <typename T> class ReduceSmallNaN : public Reduce {};
using SmallFloats = testing::Types<__half, __nv_bfloat16>;
TYPED_TEST_SUITE(ReduceSmallNaN, SmallFloats);

/// At every place of every size up to 70, from every start; then in larger inputs.
TYPED_TEST(ReduceSmallNaN, IsPassedOverOrDecides) {
  using T = TypeParam;
  const T nan = T(std::numeric_limits<float>::quiet_NaN());
  expect_that_one_decides(Min{}, number<T>(3), nan);
  expect_that_one_decides(Max{}, number<T>(-3), nan);
  std::vector<T> values(256, number<T>(2));
  values[128] = nan;
  const DeviceArray<T> in(values);
  for (std::size_t n = 1; n <= 70; ++n) {
    const auto of_all_places = [&](auto operation) {
      return results_of<T>(n, [&](std::size_t place, void* storage, std::size_t& bytes, T* out) {
        return reduction::reduce(storage, bytes, in.get() + 128 - place, out, n, operation);
      });
    };
    for (const T& least : of_all_places(MinOrNaN{}))
      ASSERT_NE(plain(least), plain(least)) << n << " elements";
    for (const T& largest : of_all_places(MaxOrNaN{}))
      ASSERT_NE(plain(largest), plain(largest)) << n << " elements";
    for (const T& least : of_all_places(Min{}))
      ASSERT_EQ(plain(least), n == 1 ? std::numeric_limits<float>::infinity() : 2) << n << " elements";
    for (const T& largest : of_all_places(Max{}))
      ASSERT_EQ(plain(largest), n == 1 ? -std::numeric_limits<float>::infinity() : 2) << n << " elements";
  }
}

/// NaN with the sign bit and with a payload of its own.
TYPED_TEST(ReduceSmallNaN, HasManyBits) {
  using T = TypeParam;
  for (const std::uint16_t bits : {std::uint16_t{0xFFFF}, std::uint16_t{0x7FFF}, std::uint16_t{0xFF81}}) {
    T nan;
    std::memcpy(static_cast<void*>(&nan), &bits, sizeof nan);
    ASSERT_NE(plain(nan), plain(nan));
    expect_that_one_decides(Min{}, number<T>(3), nan);
    expect_that_one_decides(Max{}, number<T>(-3), nan);
  }
}

// ---- accumulators ----

/// From elements T into accumulators and results Out.
template <typename T, typename Out> void expect_sums(const std::vector<T>& values) {
  expect_the_hosts_result<Out>(values, vector_sizes, 5, sum_on_host<Out, T>, by(Sum{}));
}

template <typename T> class ReduceWidening : public Reduce {};
TYPED_TEST_SUITE(ReduceWidening, SmallTypes);

TYPED_TEST(ReduceWidening, SumsInWhatTheResultIs) {
  using T = TypeParam;
  const auto small = small_numbers<T>(most_elements);
  if constexpr (std::is_integral_v<T>) {
    const auto values = scattered_values<T>();
    expect_sums<T, std::int32_t>(values);
    expect_sums<T, std::uint32_t>(values);
    expect_sums<T, std::int64_t>(values);
    // A float holds all sums of what is at most 16 in magnitude, or of unsigned ones if they are few.
    if constexpr (std::is_signed_v<T>) expect_sums<T, float>(small);
    expect_sums<T, double>(values);
  } else {
    expect_sums<T, float>(small);
    expect_sums<T, double>(small);
  }
}

/// A result that is smaller than the accumulator that the call names.
TYPED_TEST(ReduceWidening, SumsInWhatTheCallSays) {
  using T = TypeParam;
  const auto small = small_numbers<T>(most_elements);
  const auto in_float = [](void* storage, std::size_t& bytes, const T* in, auto* out, std::size_t n) {
    return reduction::reduce<double>(storage, bytes, in, out, n, Sum{});
  };
  if constexpr (!std::is_unsigned_v<T>)
    expect_the_hosts_result<float>(small, vector_sizes, 3, sum_on_host<float, T>, in_float);
  if constexpr (!std::is_integral_v<T>)
    expect_the_hosts_result<T>(small, vector_sizes, 3, sum_on_host<T, T>, in_float);
}

/// Of each type as many ones as it can count, in its own accumulator too few to be seen.
TYPED_TEST(ReduceWidening, CountsOnes) {
  using T = TypeParam;
  const DeviceArray<T> in(std::vector<T>(100000, number<T>(1)));
  for (const std::size_t n : {2049u, 10000u, 60000u, 100000u}) {
    EXPECT_EQ(result<float>(in.get(), n, by(Sum{})), n);
    EXPECT_EQ(result<double>(in.get(), n, by(Sum{})), n);
    EXPECT_EQ(result<float>(in.get(), n, by(Sum{}, 1000)), n + 1000);
    if constexpr (std::is_integral_v<T>) {
      EXPECT_EQ(result<T>(in.get(), n, by(Sum{})), static_cast<T>(n));
      EXPECT_EQ(result<std::int32_t>(in.get(), n, by(Sum{}, -7)), static_cast<std::int32_t>(n) - 7);
      EXPECT_EQ(result<std::int64_t>(in.get(), n, by(Sum{})), static_cast<std::int64_t>(n));
    } else {
      // Rounded once: 100,000 is more than __half holds.
      EXPECT_EQ(plain(result<T>(in.get(), n, by(Sum{}))), plain(T(static_cast<float>(n)))) << n;
      // In itself it stops where the next number is two away.
      const auto in_itself = [](void* storage, std::size_t& bytes, const T* from, T* out, std::size_t count) {
        return reduction::reduce<T>(storage, bytes, from, out, count, Product{});
      };
      EXPECT_EQ(plain(result<T>(in.get(), n, in_itself)), 1);
    }
  }
}

TEST_F(Reduce, HalfOverflowsOnlyAtTheEnd) {
  const DeviceArray<__half> in(std::vector<__half>(100000, __half(1.0f)));
  EXPECT_EQ(plain(result<__half>(in.get(), 60000, by(Sum{}))), 60000);
  EXPECT_EQ(plain(result<__half>(in.get(), 100000, by(Sum{}))), std::numeric_limits<float>::infinity());
  EXPECT_EQ(plain(result<__half>(in.get(), 100000, by(Sum{}, -40000))), 60000) << "an init is added in float";
  EXPECT_EQ(result<float>(in.get(), 100000, by(Sum{})), 100000);
  const DeviceArray<__half> large(std::vector<__half>{__half(300.0f), __half(300.0f), __half(0.001f)});
  EXPECT_NEAR(plain(result<__half>(large.get(), 3, by(Product{}))), 90.0f, 0.1f);
}

TEST_F(Reduce, ProductsOfSmallIntegersWrapAround) {
  const DeviceArray<std::int16_t> in(std::vector<std::int16_t>{32767, 32767, 3, -5});
  EXPECT_EQ(result<std::int16_t>(in.get(), 4, by(Product{})), std::int16_t(-15));
  const DeviceArray<std::uint16_t> same_bits(std::vector<std::uint16_t>{65535, 65535, 65535});
  EXPECT_EQ(result<std::uint16_t>(same_bits.get(), 3, by(Product{})), 65535);
}

// ---- what is not packed ----

struct Negate {
  template <typename T> __device__ T operator()(const T& value) const { return static_cast<T>(-value); }
};

struct Is {
  int wanted;
  template <typename T> __device__ int operator()(const T& value) const { return value == wanted ? 1 : 0; }
};

template <typename T> class ReduceSmallTransform : public Reduce {};
using SmallSigned = testing::Types<std::int8_t, std::int16_t>;
TYPED_TEST_SUITE(ReduceSmallTransform, SmallSigned);

/// The transform gets each element, though sum, minimum and maximum could do without.
TYPED_TEST(ReduceSmallTransform, GetsEachElement) {
  using T = TypeParam;
  const auto values = small_numbers<T>(most_elements);
  const auto negated = values_of<T>(most_elements, [&](std::size_t i) { return static_cast<T>(-values[i]); });
  const auto by_negated = [](auto operation) {
    return [operation](void* storage, std::size_t& bytes, const T* in, auto* out, std::size_t n) {
      return reduction::transform_reduce(storage, bytes, in, out, n, operation, Negate{});
    };
  };
  const auto of_negated = [&](auto reference) {
    return [&, reference](const T* first, std::size_t n) {
      std::vector<T> copy(first, first + n);
      for (T& value : copy)
        value = static_cast<T>(-value);
      return reference(copy.data(), n);
    };
  };
  expect_the_hosts_result<T>(values, vector_sizes, 3, of_negated(min_on_host<T>), by_negated(Min{}));
  expect_the_hosts_result<T>(values, vector_sizes, 3, of_negated(max_on_host<T>), by_negated(Max{}));
  expect_the_hosts_result<T>(values, vector_sizes, 3, of_negated(sum_on_host<T, T>), by_negated(Sum{}));
  expect_the_hosts_result<int>(values, vector_sizes, 3, of_negated(sum_on_host<int, T>), by_negated(Sum{}));
}

TYPED_TEST(ReduceSmallTransform, Counts) {
  using T = TypeParam;
  for (const int wanted : {3, -8}) {
    expect_the_hosts_result<int>(
        small_numbers<T>(most_elements), vector_sizes, starts,
        [wanted](const T* values, std::size_t n) {
          int count = 0;
          for (std::size_t i = 0; i < n; ++i)
            if (values[i] == wanted) ++count;
          return count;
        },
        [wanted](void* storage, std::size_t& bytes, const T* in, int* out, std::size_t n) {
          return reduction::transform_reduce(storage, bytes, in, out, n, Sum{}, Is{wanted});
        });
  }
}

/// Minima whose accumulator is larger are not packed either.
TYPED_TEST(ReduceSmallTransform, MinIntoALargerType) {
  using T = TypeParam;
  expect_the_hosts_result<int>(
      scattered_values<T>(), {1, 16, 17, 70, 1000, 100000, 1000003}, starts,
      [](const T* values, std::size_t n) { return static_cast<int>(min_on_host(values, n)); }, by(Min{}));
}

// ---- beyond 1 GiB, where the header copies in bulk ----

template <typename T> class ReduceLargeSmall : public Reduce {};
TYPED_TEST_SUITE(ReduceLargeSmall, SmallTypes);

TYPED_TEST(ReduceLargeSmall, MinMaxAndSum) {
  using T = TypeParam;
  constexpr std::size_t n = bulk_elements<T>;
  const std::string reason = too_large((n + 1) * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const DeviceArray<T> in(n + 1);
  set_all<<<1024, 256>>>(in.get(), n + 1, number<T>(2));
  for (std::size_t start = 0; start < 2; ++start) {
    const T* const first = in.get() + start;
    EXPECT_EQ(result<double>(first, n, by(Sum{})), 2.0 * n);
    for (const std::size_t place : {std::size_t{0}, n / 2, n - 5, n - 1}) {
      in.set(start + place, number<T>(1));
      EXPECT_EQ(plain(result<T>(first, n, by(Min{}))), 1) << place;
      EXPECT_EQ(plain(result<T>(first, n, by(Max{}))), 2) << place;
      in.set(start + place, number<T>(7));
      EXPECT_EQ(plain(result<T>(first, n, by(Max{}))), 7) << place;
      EXPECT_EQ(plain(result<T>(first, n, by(Min{}))), 2) << place;
      EXPECT_EQ(result<double>(first, n, by(Sum{})), 2.0 * n + 5) << place;
      if constexpr (std::is_integral_v<T>) {
        EXPECT_EQ(result<T>(first, n, by(Sum{})), static_cast<T>(2 * n + 5)) << place;
        EXPECT_EQ(result<std::int64_t>(first, n, by(Sum{})), static_cast<std::int64_t>(2 * n + 5)) << place;
      }
      in.set(start + place, number<T>(2));
    }
  }
}

}  // namespace
}  // namespace reduction
