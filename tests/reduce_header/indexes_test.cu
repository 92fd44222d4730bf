/// \file
/// 12's header with ArgMin, ArgMax and MinMax: where the first of equal extremes is, and both extremes at once.

#include "reduce_header/suite.cuh"

namespace reduction {
namespace {

template <typename T> class ReduceIndexes : public Reduce {};
#ifdef __CUDACC__
using Comparable = testing::Types<std::int8_t, std::int32_t, std::int64_t, __half, float, double>;
#else  // what takes other code
using Comparable = testing::Types<std::int8_t, __half, float>;
#endif
TYPED_TEST_SUITE(ReduceIndexes, Comparable);

template <typename T> T nan_or(T other) {
  return number<T>(Limits<T>::has_quiet_NaN ? Limits<T>::quiet_NaN() : plain(other));
}

/// The lowest index of an extreme. It passes over NaN: if all are, index 0; of nothing the highest index.
template <typename Index, bool is_largest> auto first() {
  return [](const auto* begin, const auto* end) {
    using T = std::decay_t<decltype(*begin)>;
    if (begin == end)
      return Indexed<T, Index>{nan_or(is_largest ? lowest<T>() : highest<T>()),
                               std::numeric_limits<Index>::max()};
    const T* found = begin;
    for (const T* each = begin; each != end; ++each) {
      const auto a = plain(*found);
      const auto b = plain(*each);
      if ((is_largest ? a < b : b < a) || (a != a && b == b)) found = each;
    }
    return Indexed<T, Index>{*found, static_cast<Index>(found - begin)};
  };
}

template <typename T, typename Element> void expect_first(Element element) {
  expect<Indexed<T>, T>(element, first<long long, false>(), by(ArgMin{}));
  expect<Indexed<T>, T>(element, first<long long, true>(), by(ArgMax{}));
}

/// Small numbers are rare enough for almost every comparison to be a tie.
TYPED_TEST(ReduceIndexes, FirstOfEqualValues) {
  using T = TypeParam;
  expect_first<T>(small_number<T>);
  expect_first<T>(any_number<T>);
  expect<Indexed<T, int>, T>(small_number<T>, first<int, false>(), by(ArgMin{}));
  expect<Indexed<T, unsigned>, T>(small_number<T>, first<unsigned, true>(), by(ArgMax{}));
}

TYPED_TEST(ReduceIndexes, LowestIfAllAreEqual) {
  using T = TypeParam;
  for (const T value : {number<T>(3), highest<T>(), lowest<T>(), nan_or(number<T>(4))})
    expect_first<T>([=](std::size_t) { return value; });
}

/// The only number is what nothing precedes.
TYPED_TEST(ReduceIndexes, NaNIsPassedOver) {
  using T = TypeParam;
  if constexpr (std::is_integral_v<T>) return;
  expect_first<T>([](std::size_t i) { return i % 3 == 1 ? small_number<T>(i) : nan_or(number<T>(0)); });
  expect_first<T>([](std::size_t i) { return i == 5 ? highest<T>() : nan_or(highest<T>()); });
  expect_first<T>([](std::size_t i) { return i == 1000 ? lowest<T>() : nan_or(lowest<T>()); });
}

/// An earlier part's result is the init of a later one's.
TYPED_TEST(ReduceIndexes, InitIsFoldedIn) {
  using T = TypeParam;
  const std::size_t n = 100000;
  const auto values = std::make_unique<T[]>(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = small_number<T>(i);
  const DeviceArray<T> in(values.get(), n);
  const long long found = first<long long, false>()(values.get(), values.get() + n).index;
  const auto index_with = [&](Indexed<T> init) {
    return result<Indexed<T>>(in, n, by(ArgMin{}, init)).index;
  };
  EXPECT_EQ(index_with({number<T>(-9), 1000000}), 1000000) << "it is better";
  EXPECT_EQ(index_with({number<T>(-8), 1000000}), found) << "it is later";
  EXPECT_EQ(index_with({number<T>(-8), -1}), -1) << "it is earlier";
}

TYPED_TEST(ReduceIndexes, BothExtremes) {
  using T = TypeParam;
  const auto both = [](auto* begin, auto* end) {
    return Extremes<T>{least<T>()(begin, end), largest<T>()(begin, end)};
  };
  expect<Extremes<T>, T>(any_number<T>, both, by(MinMax{}));
  const DeviceArray<T> in(std::vector<T>{number<T>(4), number<T>(7)});
  const Extremes<T> init{number<T>(5), number<T>(9)};
  EXPECT_TRUE(agree(result<Extremes<T>>(in, 2, by(MinMax{}, init)), {number<T>(4), number<T>(9)}));
}

/// Each is less than the one before, and all are the same float.
TEST_F(Reduce, ArgMinComparesWhatTheResultHolds) {
  const auto element = [](std::size_t i) { return 1 - 1e-16 * static_cast<double>(i % 8); };
  expect<Indexed<float>, double>(
      element,
      [](auto* begin, auto* end) {
        return begin == end
                   ? first<long long, false>()(static_cast<float*>(nullptr), static_cast<float*>(nullptr))
                   : Indexed<float>{1, 0};
      },
      by(ArgMin{}));
}

// ---- elements that bring an index of their own, in any order ----

template <typename Index, bool is_largest, typename Operation> void expect_first_pair(Operation operation) {
  using Pair = Indexed<float, Index>;
  // An odd factor makes a permutation of the indexes below a power of two.
  const auto element = [](std::size_t i) {
    return Pair{i % 5 == 2 ? NAN : small_number<float>(i), static_cast<Index>(i * 2654435761u % (1u << 23))};
  };
  const auto before = [](Pair a, Pair b) {
    if (a.value != a.value || a.value == b.value) return a.value == b.value && a.index < b.index;
    return b.value != b.value || (is_largest ? b.value < a.value : a.value < b.value);
  };
  const Pair nothing{NAN, std::numeric_limits<Index>::max()};
  expect<Pair, Pair>(element, folded(nothing, [=](Pair a, Pair b) { return before(b, a) ? b : a; }),
                     by(operation));
}

TEST_F(Reduce, FirstOfPairs) {
  expect_first_pair<std::int32_t, false>(ArgMin{});
  expect_first_pair<long long, false>(ArgMin{});
  expect_first_pair<std::int32_t, true>(ArgMax{});
}

/// Pairs with equal values and one index, of which the order tells the first: 0 or -0.
TEST_F(Reduce, OneOrderForEqualPairs) {
  using Pair = Indexed<float, int>;
  const auto zero = [](std::size_t i) { return Pair{i == 0 ? -0.0f : 0.0f, 7}; };
  expect<Pair, Pair>(
      zero,
      [](auto* begin, auto* end) {
        return begin == end ? Pair{NAN, std::numeric_limits<int>::max()} : *begin;
      },
      by(SameBits{ArgMin{}}));
}

// ---- with a transform ----

struct Magnitude {
  template <typename T> __device__ T operator()(const T& value) const { return value < 0 ? -value : value; }
};

TEST_F(Reduce, ExtremesOfMagnitudes) {
  expect<Indexed<float>, float>(
      small_number<float>,
      [](auto* begin, auto* end) {
        std::vector<float> magnitudes(begin, end);
        for (float& each : magnitudes)
          each = each < 0 ? -each : each;
        return first<long long, true>()(magnitudes.data(), magnitudes.data() + magnitudes.size());
      },
      transformed_by(ArgMax{}, Magnitude{}));
  const DeviceArray<int> in(std::vector<int>{-4, 3, 2, -1});
  EXPECT_TRUE(agree(result<Extremes<int>>(in, 4, transformed_by(MinMax{}, Magnitude{})), {1, 4}));
}

}  // namespace
}  // namespace reduction
