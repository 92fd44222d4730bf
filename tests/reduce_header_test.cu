/// \file
/// The operations and element types of beyond/12_any_operation's header, compared with plain loops on the host. Skipped
/// where there is no CUDA device.
///
/// The elements are chosen so that no order of the operations rounds: the results have to be equal, not close.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cuda/std/complex>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "reduce_header.cuh"

namespace reduction {
namespace {

const std::size_t most_elements = all_sizes.back() + offsets - 1;

/// 1 or -1, and rarely 3: a product of all of them is exact in every type.
int small_factor(std::size_t i) {
  if (i % 300007 == 5) return 3;
  return scattered(i) % 32 < 16 ? 1 : -1;
}

// ---- numbers ----

template <typename T> class ReduceNumbers : public Reduce {};
using Numbers = testing::Types<std::int8_t, std::uint8_t, std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(ReduceNumbers, Numbers);

TYPED_TEST(ReduceNumbers, Sum) {
  using T = TypeParam;
  expect_the_hosts_result<T>(small_numbers<T>(most_elements), all_sizes, offsets, sum_on_host<T, T>,
                             by(Sum{}));
}

TYPED_TEST(ReduceNumbers, Product) {
  using T = TypeParam;
  const auto factors = values_of<T>(most_elements, [](std::size_t i) { return T(small_factor(i)); });
  expect_the_hosts_result<T>(factors, all_sizes, offsets, product_on_host<T>, by(Product{}));
}

TYPED_TEST(ReduceNumbers, Min) {
  using T = TypeParam;
  expect_the_hosts_result<T>(any_numbers<T>(most_elements), all_sizes, offsets, min_on_host<T>, by(Min{}));
}

TYPED_TEST(ReduceNumbers, Max) {
  using T = TypeParam;
  expect_the_hosts_result<T>(any_numbers<T>(most_elements), all_sizes, offsets, max_on_host<T>, by(Max{}));
}

/// All elements are `others` but one, wherever that one is.
template <typename T, typename Operation>
void expect_that_one_element_decides(Operation operation, T one, T others, T without) {
  const DeviceArray<T> in(std::vector<T>(most_elements, others));
  for (const std::size_t n : all_sizes) {
    if (n == 0) continue;
    for (std::size_t offset = 0; offset < offsets; ++offset) {
      T* const first = in.get() + offset;
      ASSERT_TRUE(same(result<T>(first, n, by(operation)), without)) << n << " elements from " << offset;
      for (const std::size_t place : {std::size_t{0}, n / 2, n - 1}) {
        in.set(offset + place, one);
        ASSERT_TRUE(same(result<T>(first, n, by(operation)), one))
            << n << " elements from " << offset << ", the one at " << place;
        in.set(offset + place, others);
      }
    }
  }
}

TYPED_TEST(ReduceNumbers, LogicalAnd) {
  expect_that_one_element_decides(LogicalAnd{}, TypeParam(false), TypeParam(5), TypeParam(true));
}

TYPED_TEST(ReduceNumbers, LogicalOr) {
  expect_that_one_element_decides(LogicalOr{}, TypeParam(true), TypeParam(false), TypeParam(false));
}

/// For bool, of which no std::vector has an address.
template <typename T, typename Operation> bool is_it(const T* in, std::size_t n, Operation operation) {
  const DeviceArray<bool> out(1);
  cuda_check(reduction::reduce(in, out.get(), n, operation), "calling reduce()");
  bool is = false;
  cuda_check(cudaMemcpy(&is, out.get(), sizeof is, cudaMemcpyDeviceToHost), "downloading");
  return is;
}

/// A bool is no number of 8 bits, and what is true is not always 1.
TEST_F(Reduce, LogicalOperationsOfOtherTypes) {
  for (const std::size_t n : {1000, 100000, 1000000}) {
    const DeviceArray<int> twos(std::vector<int>(n, 2));
    EXPECT_TRUE(is_it(twos.get(), n, LogicalAnd{}));
    EXPECT_EQ(result<int>(twos.get(), n, by(LogicalAnd{})), 1);
    twos.set(n - 1, 0);
    EXPECT_FALSE(is_it(twos.get(), n, LogicalAnd{}));
    EXPECT_TRUE(is_it(twos.get(), n, LogicalOr{}));
    const DeviceArray<bool> flags(n);
    cuda_check(cudaMemset(flags.get(), 0, n), "clearing");
    EXPECT_FALSE(is_it(flags.get(), n, LogicalOr{}));
    flags.set(3, true);
    flags.set(n - 1, true);
    EXPECT_TRUE(is_it(flags.get(), n, LogicalOr{}));
    EXPECT_FALSE(is_it(flags.get(), n, LogicalAnd{}));
    EXPECT_FALSE(is_it(flags.get(), n, Min{}));
    EXPECT_TRUE(is_it(flags.get(), n, Max{}));
    EXPECT_TRUE(is_it(flags.get(), n, Sum{}));
    EXPECT_EQ(result<int>(flags.get(), n, by(Sum{})), 2);
    EXPECT_EQ(result<Indexed<int>>(flags.get(), n, by(ArgMax{})).index, 3);
  }
}

template <typename T> class ReduceComplex : public Reduce {};
using ComplexNumbers = testing::Types<cuda::std::complex<float>, cuda::std::complex<double>>;
TYPED_TEST_SUITE(ReduceComplex, ComplexNumbers);

TYPED_TEST(ReduceComplex, Sum) {
  using Real = typename TypeParam::value_type;
  const auto values = values_of<TypeParam>(most_elements, [](std::size_t i) {
    return TypeParam(Real(small_number(i)), Real(small_number(i + 1)));
  });
  expect_the_hosts_result<TypeParam>(
      values, all_sizes, offsets,
      [](const TypeParam* numbers, std::size_t n) {
        Real real = 0;
        Real imaginary = 0;
        for (std::size_t i = 0; i < n; ++i) {
          real += numbers[i].real();
          imaginary += numbers[i].imag();
        }
        return TypeParam(real, imaginary);
      },
      by(Sum{}));
}

/// Counts quarter turns: the sign of a zero in a product depends on the order, and is not compared.
TYPED_TEST(ReduceComplex, Product) {
  using Real = typename TypeParam::value_type;
  const auto turns = [](std::size_t i) { return scattered(i) % 4; };
  const TypeParam units[4]{{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  const DeviceArray<TypeParam> in(
      values_of<TypeParam>(most_elements, [&](std::size_t i) { return units[turns(i)]; }));
  for (std::size_t offset = 0; offset < offsets; ++offset) {
    const auto products = results_of<TypeParam>(
        all_sizes.size(), [&](std::size_t i, void* storage, std::size_t& bytes, auto* out) {
          return reduction::reduce(storage, bytes, in.get() + offset, out, all_sizes[i], Product{});
        });
    std::uint32_t turned = 0;
    std::size_t done = 0;
    for (std::size_t i = 0; i < all_sizes.size(); ++i) {
      for (; done < all_sizes[i]; ++done)
        turned += turns(offset + done);
      ASSERT_EQ(products[i].real(), Real(units[turned % 4].real())) << all_sizes[i] << " from " << offset;
      ASSERT_EQ(products[i].imag(), Real(units[turned % 4].imag())) << all_sizes[i] << " from " << offset;
    }
  }
}

// ---- structs ----

/// As large as three T, or as two.
template <typename T> struct Extent {
  T sum;
  T smallest;
  T largest;
};
struct SumAndLargest {
  double sum;
  double largest;
};
static_assert(sizeof(Extent<std::int32_t>) == 12 && sizeof(Extent<std::int64_t>) == 24);
static_assert(sizeof(SumAndLargest) == 16 && alignof(SumAndLargest) == 8);

struct Summarize {
  template <typename T> __device__ Extent<T> operator()(const Extent<T>& a, const Extent<T>& b) const {
    return {a.sum + b.sum, b.smallest < a.smallest ? b.smallest : a.smallest,
            a.largest < b.largest ? b.largest : a.largest};
  }
  __device__ SumAndLargest operator()(const SumAndLargest& a, const SumAndLargest& b) const {
    return {a.sum + b.sum, a.largest < b.largest ? b.largest : a.largest};
  }
};

template <typename T> void expect_extents() {
  constexpr T highest = std::numeric_limits<T>::max();
  constexpr T lowest = std::numeric_limits<T>::lowest();
  const auto values = values_of<Extent<T>>(most_elements, [](std::size_t i) {
    return Extent<T>{small_number(i), any_number(i), any_number(i)};
  });
  expect_the_hosts_result<Extent<T>>(
      values, all_sizes, offsets,
      [](const Extent<T>* extents, std::size_t n) {
        Extent<T> all{0, highest, lowest};
        for (std::size_t i = 0; i < n; ++i) {
          all.sum += extents[i].sum;
          all.smallest = std::min(all.smallest, extents[i].smallest);
          all.largest = std::max(all.largest, extents[i].largest);
        }
        return all;
      },
      by(WithIdentity{Summarize{}, Extent<T>{0, highest, lowest}}));
}

TEST_F(Reduce, StructOf12Bytes) { expect_extents<std::int32_t>(); }

TEST_F(Reduce, StructOf24Bytes) { expect_extents<std::int64_t>(); }

TEST_F(Reduce, StructOf16BytesThatMayStartAt8) {
  const auto values = values_of<SumAndLargest>(most_elements, [](std::size_t i) {
    return SumAndLargest{double(small_number(i)), double(any_number(i))};
  });
  constexpr double lowest = -std::numeric_limits<double>::infinity();
  const auto reference = [](const SumAndLargest* pairs, std::size_t n) {
    SumAndLargest both{0, lowest};
    for (std::size_t i = 0; i < n; ++i)
      both = {both.sum + pairs[i].sum, std::max(both.largest, pairs[i].largest)};
    return both;
  };
  const auto call = by(WithIdentity{Summarize{}, SumAndLargest{0, lowest}});
  expect_the_hosts_result<SumAndLargest>(values, all_sizes, offsets, reference, call);
  // The same from addresses that are no multiples of 16, where no vector of 16 bytes can begin.
  const DeviceArray<double> numbers(2 * most_elements);
  const auto* const in = reinterpret_cast<const SumAndLargest*>(numbers.get() + 1);
  cuda_check(cudaMemcpy(numbers.get() + 1, values.data(), (most_elements - 1) * sizeof(SumAndLargest),
                        cudaMemcpyHostToDevice),
             "uploading");
  for (const std::size_t n : all_sizes)
    ASSERT_TRUE(same(result<SumAndLargest>(in, n, call), reference(values.data(), n))) << n << " elements";
}

// ---- the first of equal values, and its index ----

template <typename T> class ReduceArg : public Reduce {};
using Comparable = testing::Types<std::int8_t, std::int32_t, std::int64_t, __half, float, double>;
TYPED_TEST_SUITE(ReduceArg, Comparable);

/// Passes over NaN; if all are, index 0.
template <typename Out, typename T> Out first_on_host(const T* values, std::size_t n, bool largest) {
  std::size_t first = 0;
  for (std::size_t i = 1; i < n; ++i) {
    const auto a = plain(values[first]);
    const auto b = plain(values[i]);
    if (largest ? a < b : b < a) first = i;
    if (a != a && b == b) first = i;
  }
  Out indexed;
  std::memset(static_cast<void*>(&indexed), 0, sizeof indexed);
  indexed.value = values[first];
  indexed.index = static_cast<decltype(Out::index)>(first);
  return indexed;
}

/// Equal in what a comparison sees: not in padding, and a NaN is a NaN.
template <typename T, typename Index>
void expect_first(const Indexed<T, Index>& result, const Indexed<T, Index>& expected, std::size_t n,
                  std::size_t start) {
  ASSERT_EQ(result.index, expected.index) << n << " elements from the one at " << start;
  const auto a = plain(result.value);
  const auto b = plain(expected.value);
  ASSERT_TRUE(a == b || (a != a && b != b)) << n << " elements from the one at " << start;
}

template <typename Index, typename T, typename Operation>
void expect_the_first(const std::vector<T>& values, const std::vector<std::size_t>& sizes, std::size_t starts,
                      Operation operation) {
  using Pair = Indexed<T, Index>;
  const DeviceArray<T> in(values);
  for (std::size_t start = 0; start < starts; ++start) {
    const auto results =
        results_of<Pair>(sizes.size(), [&](std::size_t i, void* storage, std::size_t& bytes, Pair* out) {
          return reduction::reduce(storage, bytes, in.get() + start, out, sizes[i], operation);
        });
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      expect_first(results[i],
                   first_on_host<Pair>(values.data() + start, sizes[i], std::is_same_v<Operation, ArgMax>),
                   sizes[i], start);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

/// The first values are all different, the next few are rare: almost every comparison is a tie.
const std::vector<std::size_t> arg_sizes{
    1, 2, 7, 16, 17, 33, 1000, (1 << 14), (1 << 14) + 1, (1 << 16) + 3, 200000, (1 << 20) + 7};

TYPED_TEST(ReduceArg, FindsTheFirstOfEqualValues) {
  using T = TypeParam;
  const auto values = small_numbers<T>(arg_sizes.back() + 17);
  expect_the_first<long long>(values, arg_sizes, 17, ArgMin{});
  expect_the_first<long long>(values, arg_sizes, 17, ArgMax{});
  expect_the_first<int>(values, arg_sizes, 3, ArgMin{});
  expect_the_first<unsigned>(values, arg_sizes, 3, ArgMax{});
}

TYPED_TEST(ReduceArg, IsTheLowestIndexIfAllAreEqual) {
  using T = TypeParam;
  using Limits = std::numeric_limits<decltype(plain(T{}))>;
  const T highest = T(Limits::has_infinity ? Limits::infinity() : Limits::max());
  const T lowest = T(Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
  for (const T value : {number<T>(3), highest, lowest}) {
    const std::vector<T> values(arg_sizes.back() + 17, value);
    expect_the_first<long long>(values, arg_sizes, 17, ArgMin{});
    expect_the_first<long long>(values, arg_sizes, 17, ArgMax{});
    expect_the_first<int>(values, arg_sizes, 1, ArgMin{});
    expect_the_first<unsigned>(values, arg_sizes, 1, ArgMax{});
  }
}

TYPED_TEST(ReduceArg, PassesOverNaN) {
  using T = TypeParam;
  if constexpr (std::numeric_limits<decltype(plain(T{}))>::has_quiet_NaN) {
    const T nan = T(std::numeric_limits<decltype(plain(T{}))>::quiet_NaN());
    const T infinity = T(std::numeric_limits<decltype(plain(T{}))>::infinity());
    const auto among = values_of<T>(
        arg_sizes.back() + 17, [&](std::size_t i) { return i % 3 == 1 ? number<T>(small_number(i)) : nan; });
    expect_the_first<long long>(among, arg_sizes, 17, ArgMin{});
    expect_the_first<long long>(among, arg_sizes, 17, ArgMax{});
    // The only number is what nothing precedes.
    for (const std::size_t n : {1000u, 16385u, 65539u, 200000u}) {
      std::vector<T> but_one(n, nan);
      for (const std::size_t place : {std::size_t{0}, n / 2, n - 1}) {
        but_one[place] = infinity;
        expect_the_first<long long>(but_one, {n}, 1, ArgMin{});
        but_one[place] = T(-plain(infinity));
        expect_the_first<long long>(but_one, {n}, 1, ArgMax{});
        but_one[place] = nan;
      }
    }
    const std::vector<T> all(arg_sizes.back() + 17, nan);
    expect_the_first<long long>(all, arg_sizes, 17, ArgMin{});
    expect_the_first<long long>(all, arg_sizes, 17, ArgMax{});
    expect_the_first<unsigned>(all, arg_sizes, 1, ArgMax{});
  }
}

TEST_F(Reduce, ArgMinComparesWhatTheResultHolds) {
  // Each is less than the one before, and all are the same float.
  std::vector<double> values(arg_sizes.back());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 1 - 1e-16 * static_cast<double>(i % 8);
  const DeviceArray<double> in(values);
  for (const std::size_t start : {0u, 1u}) {
    const auto found = result<Indexed<float>>(in.get() + start, values.size() - start, by(ArgMin{}));
    EXPECT_EQ(found.value, 1);
    EXPECT_EQ(found.index, 0) << "from the one at " << start;
  }
}

TYPED_TEST(ReduceArg, OfNothingIsTheLargestIndex) {
  using T = TypeParam;
  const T* const nowhere = nullptr;
  EXPECT_EQ((result<Indexed<T>>(nowhere, 0, by(ArgMin{})).index), std::numeric_limits<long long>::max());
  EXPECT_EQ((result<Indexed<T, int>>(nowhere, 0, by(ArgMin{})).index), std::numeric_limits<int>::max());
  EXPECT_EQ((result<Indexed<T, unsigned>>(nowhere, 0, by(ArgMax{})).index),
            std::numeric_limits<unsigned>::max());
}

/// An earlier part's result is the init of a later one's.
TYPED_TEST(ReduceArg, FoldsAnInitIn) {
  using T = TypeParam;
  const DeviceArray<T> in(small_numbers<T>(100000));
  const auto found = result<Indexed<T>>(in.get(), 100000, by(ArgMin{}));
  EXPECT_EQ(plain(found.value), -8);
  const Indexed<T> better{number<T>(-9), 1000000};
  EXPECT_EQ((result<Indexed<T>>(in.get(), 100000, by(ArgMin{}, better)).index), 1000000);
  const Indexed<T> later{number<T>(-8), 1000000};
  EXPECT_EQ((result<Indexed<T>>(in.get(), 100000, by(ArgMin{}, later)).index), found.index);
  const Indexed<T> earlier{number<T>(-8), -1};
  EXPECT_EQ((result<Indexed<T>>(in.get(), 100000, by(ArgMin{}, earlier)).index), -1);
  EXPECT_EQ((result<Indexed<T>>(in.get(), 0, by(ArgMin{}, later)).index), 1000000);
}

/// Elements that bring an index of their own, in any order.
template <typename Index, typename Operation> void expect_the_first_of_indexed(Operation operation) {
  using Pair = Indexed<float, Index>;
  const std::size_t n = (1 << 20) + 40;
  // An odd factor makes a permutation of the indexes below a power of two.
  const auto values = values_of<Pair>(n, [](std::size_t i) {
    return Pair{static_cast<float>(small_number(i)), static_cast<Index>(i * 2654435761u % (1u << 21))};
  });
  const DeviceArray<Pair> in(values);
  for (const std::size_t size : arg_sizes) {
    for (std::size_t start = 0; start < 5; ++start) {
      Pair expected = values[start];
      for (std::size_t i = start; i < start + size; ++i) {
        const Pair& candidate = values[i];
        const bool before = std::is_same_v<Operation, ArgMin> ? candidate.value < expected.value
                                                              : expected.value < candidate.value;
        if (before || (candidate.value == expected.value && candidate.index < expected.index))
          expected = candidate;
      }
      expect_first(result<Pair>(in.get() + start, size, by(operation)), expected, size, start);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST_F(Reduce, ArgMinOfIndexedFindsTheLowestIndexInAnyOrder) {
  expect_the_first_of_indexed<std::int32_t>(ArgMin{});
  expect_the_first_of_indexed<long long>(ArgMin{});
}

TEST_F(Reduce, ArgMaxOfIndexedFindsTheLowestIndexInAnyOrder) {
  expect_the_first_of_indexed<std::int32_t>(ArgMax{});
}

TEST_F(Reduce, ArgMinOfIndexedPassesOverNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  using Pair = Indexed<float, std::int32_t>;
  const DeviceArray<Pair> in(std::vector<Pair>{{nan, 0}, {5, 1}, {nan, 2}, {4, 3}});
  const auto least = result<Pair>(in.get(), 4, by(ArgMin{}));
  EXPECT_EQ(least.value, 4);
  EXPECT_EQ(least.index, 3);
}

// ---- both extremes, and NaN ----

template <typename T> class ReduceExtremes : public Reduce {};
TYPED_TEST_SUITE(ReduceExtremes, Comparable);

template <typename T> Extremes<T> extremes_on_host(const T* values, std::size_t n) {
  return {min_on_host(values, n), max_on_host(values, n)};
}

TYPED_TEST(ReduceExtremes, MinMax) {
  using T = TypeParam;
  expect_the_hosts_result<Extremes<T>>(any_numbers<T>((1 << 20) + 30), arg_sizes, 17, extremes_on_host<T>,
                                       by(MinMax{}));
  const T* const nowhere = nullptr;
  EXPECT_TRUE(same(result<Extremes<T>>(nowhere, 0, by(MinMax{})), extremes_on_host(nowhere, 0)));
  const DeviceArray<T> in(std::vector<T>{number<T>(4), number<T>(7)});
  const auto wider = result<Extremes<T>>(in.get(), 2, by(MinMax{}, Extremes<T>{number<T>(5), number<T>(9)}));
  EXPECT_EQ(plain(wider.smallest), 4);
  EXPECT_EQ(plain(wider.largest), 9);
}

template <typename T> class ReduceNaN : public Reduce {};
using FloatingPoint = testing::Types<float, double, __half, __nv_bfloat16>;
TYPED_TEST_SUITE(ReduceNaN, FloatingPoint);

/// All elements are NaN but one.
TYPED_TEST(ReduceNaN, IsPassedOver) {
  using T = TypeParam;
  const T nan = T(std::numeric_limits<float>::quiet_NaN());
  const T one = number<T>(-7);
  const float infinity = std::numeric_limits<float>::infinity();
  const DeviceArray<T> in(std::vector<T>(all_sizes.back(), nan));
  for (const std::size_t n : all_sizes) {
    if (n == 0) continue;
    ASSERT_EQ(plain(result<T>(in.get(), n, by(Min{}))), infinity) << n << " elements";
    ASSERT_EQ(plain(result<T>(in.get(), n, by(Max{}))), -infinity) << n << " elements";
    for (const std::size_t place : {std::size_t{0}, n / 2, n - 1}) {
      in.set(place, one);
      ASSERT_EQ(plain(result<T>(in.get(), n, by(Min{}))), -7) << n << " elements, " << place;
      ASSERT_EQ(plain(result<T>(in.get(), n, by(Max{}))), -7) << n << " elements, " << place;
      const auto both = result<Extremes<T>>(in.get(), n, by(MinMax{}));
      ASSERT_EQ(plain(both.smallest), -7) << n << " elements, " << place;
      ASSERT_EQ(plain(both.largest), -7) << n << " elements, " << place;
      in.set(place, nan);
    }
  }
}

/// One element is NaN.
TYPED_TEST(ReduceNaN, DecidesWhereTheOperationSaysSo) {
  using T = TypeParam;
  const T nan = T(std::numeric_limits<float>::quiet_NaN());
  const DeviceArray<T> in(small_numbers<T>(all_sizes.back()));
  for (const std::size_t n : all_sizes) {
    if (n < 1000) continue;
    ASSERT_EQ(plain(result<T>(in.get(), n, by(MinOrNaN{}))), -8) << n << " elements";
    ASSERT_EQ(plain(result<T>(in.get(), n, by(MaxOrNaN{}))), 8) << n << " elements";
    for (const std::size_t place : {std::size_t{0}, std::size_t{5}, n / 2, n - 1}) {
      in.set(place, nan);
      const auto least = plain(result<T>(in.get(), n, by(MinOrNaN{})));
      const auto largest = plain(result<T>(in.get(), n, by(MaxOrNaN{})));
      ASSERT_NE(least, least) << n << " elements, " << place;
      ASSERT_NE(largest, largest) << n << " elements, " << place;
      ASSERT_EQ(plain(result<T>(in.get(), n, by(Min{}))), -8) << n << " elements, " << place;
      ASSERT_EQ(plain(result<T>(in.get(), n, by(Max{}))), 8) << n << " elements, " << place;
      in.set(place, number<T>(small_number(place)));
    }
  }
}

/// An init counts as an element.
TYPED_TEST(ReduceNaN, DecidesAsAnInit) {
  using T = TypeParam;
  const T nan = T(std::numeric_limits<float>::quiet_NaN());
  const DeviceArray<T> in(small_numbers<T>(1000));
  const auto or_nan = plain(result<T>(in.get(), 1000, by(MinOrNaN{}, nan)));
  EXPECT_NE(or_nan, or_nan);
  EXPECT_EQ(plain(result<T>(in.get(), 1000, by(Min{}, nan))), -8);
}

/// A sum of zeros is -0 only if all are: not 0, with which an accumulator may begin.
TYPED_TEST(ReduceNaN, OfMinusZerosTheSumIsMinusZero) {
  using T = TypeParam;
  const T minus_zero = T(-0.0f);
  const T zero = T(0.0f);
  const DeviceArray<T> in(std::vector<T>(all_sizes.back() + 3, minus_zero));
  for (const std::size_t n : all_sizes) {
    for (std::size_t start = 0; start < 3; ++start) {
      const T expected = n == 0 ? zero : minus_zero;
      ASSERT_TRUE(same(result<T>(in.get() + start, n, by(Sum{})), expected)) << n << " elements";
      ASSERT_TRUE(same(result<T>(in.get() + start, n, by(Sum{}, minus_zero)), minus_zero))
          << n << " elements";
      ASSERT_TRUE(same(result<T>(in.get() + start, n, by(Sum{}, zero)), zero)) << n << " elements";
    }
    const auto in_itself = [](void* storage, std::size_t& bytes, const T* values, T* out, std::size_t count) {
      return reduction::reduce<T>(storage, bytes, values, out, count, Sum{});
    };
    ASSERT_TRUE(same(result<T>(in.get(), n, in_itself), n == 0 ? zero : minus_zero)) << n << " elements";
    if (n == 0) continue;
    in.set(n / 2, zero);
    ASSERT_TRUE(same(result<T>(in.get(), n, by(Sum{})), zero)) << n << " elements";
    in.set(n / 2, minus_zero);
  }
}

// ---- operations of one's own ----

/// The sum modulo a number that only a run knows.
struct AddModulo {
  unsigned modulus;
  __device__ unsigned operator()(unsigned a, unsigned b) const { return (a + b) % modulus; }
};

TEST_F(Reduce, OperationWithState) {
  for (const unsigned modulus : {7u, 1000003u}) {
    const auto values =
        values_of<unsigned>(most_elements, [modulus](std::size_t i) { return scattered(i) % modulus; });
    expect_the_hosts_result<unsigned>(
        values, all_sizes, offsets,
        [modulus](const unsigned* numbers, std::size_t n) {
          return static_cast<unsigned>(sum_on_host<std::uint64_t>(numbers, n) % modulus);
        },
        by(WithIdentity{AddModulo{modulus}, 0u}));
  }
}

/// Its identity is a member that depends on its state.
struct MostBelow {
  int bound;
  __device__ int operator()(int a, int b) const {
    if (a >= bound) return b;
    return b >= bound || b < a ? a : b;
  }
  template <typename A> __host__ __device__ A identity() const { return A(bound); }
};

TEST_F(Reduce, IdentityWithState) {
  for (const int bound : {-5, 3, 1000}) {
    expect_the_hosts_result<int>(
        any_numbers<int>(most_elements), all_sizes, offsets,
        [bound](const int* numbers, std::size_t n) {
          int most = bound;
          for (std::size_t i = 0; i < n; ++i)
            if (numbers[i] < bound && (most == bound || numbers[i] > most)) most = numbers[i];
          return most;
        },
        by(MostBelow{bound}));
  }
}

// An extended lambda may not be in a test's body, which is a private member function.
cudaError_t sum_of_lambda(void* storage, std::size_t& bytes, const unsigned* in, unsigned* out,
                          std::size_t n) {
  return reduction::reduce(storage, bytes, in, out, n,
                           WithIdentity{[] __device__(unsigned a, unsigned b) { return a + b; }, 0u});
}

/// A const variable has another type for nvcc's host compiler than for its device compiler.
cudaError_t greatest_common_divisor(void* storage, std::size_t& bytes, const unsigned* in, unsigned* out,
                                    std::size_t n) {
  const auto divisor = [] __device__(unsigned a, unsigned b) {
    while (b != 0) {
      const unsigned rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  };
  return reduction::reduce(storage, bytes, in, out, n, WithIdentity{divisor, 0u});
}

TEST_F(Reduce, LambdaWithItsIdentity) {
  const auto values =
      values_of<unsigned>((1 << 18) + 3, [](std::size_t i) { return 12 * (scattered(i) % 1000 + 1); });
  const std::vector<std::size_t> sizes{0, 1, 2, 33, 1000, 16385, 65539, 1 << 18};
  expect_the_hosts_result<unsigned>(values, sizes, offsets, sum_on_host<unsigned, unsigned>, sum_of_lambda);
  expect_the_hosts_result<unsigned>(
      values, sizes, offsets,
      [](const unsigned* numbers, std::size_t n) {
        unsigned divisor = 0;
        for (std::size_t i = 0; i < n; ++i)
          divisor = std::gcd(divisor, numbers[i]);
        return divisor;
      },
      greatest_common_divisor);
}

}  // namespace
}  // namespace reduction

/// Takes every call of a name that it has: the header has to say which it means.
namespace greedy {

struct Number {
  std::int32_t value;
};
__host__ __device__ inline bool operator<(const Number& a, const Number& b) { return a.value < b.value; }

struct Add {
  __device__ Number operator()(const Number& a, const Number& b) const { return {a.value + b.value}; }
  template <typename A> static __host__ __device__ A identity() { return A{0}; }
};

struct Negate {
  __device__ Number operator()(const Number& a) const { return {-a.value}; }
};

template <typename... Any> void block_reduce(Any&&...) = delete;
template <typename... Any> void call(Any&&...) = delete;
template <typename... Any> void combined(Any&&...) = delete;
template <typename... Any> void element(Any&&...) = delete;
template <typename... Any> void fetch(Any&&...) = delete;
template <typename... Any> void highest(Any&&...) = delete;
template <typename... Any> void is_for_hopper(Any&&...) = delete;
template <typename... Any> void is_nan(Any&&...) = delete;
template <typename... Any> void launch(Any&&...) = delete;
template <typename... Any> void launch_one(Any&&...) = delete;
template <typename... Any> void launch_two(Any&&...) = delete;
template <typename... Any> void make_plan(Any&&...) = delete;
template <typename... Any> void memcpy(Any&&...) = delete;
template <typename... Any> void precedes(Any&&...) = delete;
template <typename... Any> void reduce(Any&&...) = delete;
template <typename... Any> void resident_blocks(Any&&...) = delete;
template <typename... Any> void run(Any&&...) = delete;
template <typename... Any> void shuffle_down(Any&&...) = delete;
template <typename... Any> void thread_reduce(Any&&...) = delete;
template <typename... Any> void transform_reduce(Any&&...) = delete;
template <typename... Any> void warp_reduce(Any&&...) = delete;
template <typename... Any> void write_result(Any&&...) = delete;
template <typename... Any> void cudaFreeAsync(Any&&...) = delete;
template <typename... Any> void cudaFuncGetAttributes(Any&&...) = delete;
template <typename... Any> void cudaFuncSetAttribute(Any&&...) = delete;
template <typename... Any> void cudaLaunchKernelEx(Any&&...) = delete;
template <typename... Any> void cudaMallocAsync(Any&&...) = delete;
template <typename... Any> void cudaOccupancyMaxActiveBlocksPerMultiprocessor(Any&&...) = delete;

}  // namespace greedy

template <> class cuda::std::numeric_limits<greedy::Number> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr bool has_infinity = false;
  static constexpr bool has_quiet_NaN = false;
  static __host__ __device__ greedy::Number infinity() { return {0}; }
  static __host__ __device__ greedy::Number max() { return {2147483647}; }
  static __host__ __device__ greedy::Number lowest() { return {-2147483647 - 1}; }
};

namespace reduction {
namespace {

TEST_F(Reduce, TypeOfANamespaceWithFunctionsOfTheSameNames) {
  const auto values =
      values_of<greedy::Number>((1 << 20) + 7, [](std::size_t i) { return greedy::Number{small_number(i)}; });
  const DeviceArray<greedy::Number> in(values);
  for (const std::size_t n : all_sizes) {
    if (n > values.size()) continue;
    int sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      sum += values[i].value;
    const auto negative = [](void* storage, std::size_t& bytes, const greedy::Number* numbers,
                             greedy::Number* out, std::size_t count) {
      return reduction::transform_reduce(storage, bytes, numbers, out, count, greedy::Add{},
                                         greedy::Negate{});
    };
    ASSERT_EQ(result<greedy::Number>(in.get(), n, by(greedy::Add{})).value, sum) << n << " elements";
    ASSERT_EQ(result<greedy::Number>(in.get(), n, negative).value, -sum) << n << " elements";
    if (n < 1000) continue;
    ASSERT_EQ(result<greedy::Number>(in.get(), n, by(Min{})).value, -8) << n << " elements";
    const auto first = result<Indexed<greedy::Number>>(in.get(), n, by(ArgMin{}));
    ASSERT_EQ(first.value.value, -8) << n << " elements";
    const auto* const found = std::find_if(values.data(), values.data() + n,
                                           [](const greedy::Number& each) { return each.value == -8; });
    ASSERT_EQ(first.index, found - values.data()) << n << " elements";
    const DeviceArray<greedy::Number> out(1);
    ASSERT_EQ(reduction::reduce(in.get(), out.get(), n, greedy::Add{}), cudaSuccess);
    ASSERT_EQ(out.download()[0].value, sum) << n << " elements";
  }
}

// ---- a transform on the way in ----

struct Square {
  template <typename T> __device__ T operator()(const T& value) const { return value * value; }
};

struct Magnitude {
  __device__ float operator()(float value) const { return value < 0 ? -value : value; }
};

/// The dot product of a vector with itself.
TEST_F(Reduce, TransformIsAFunctor) {
  const auto reference = [](const float* values, std::size_t n) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    return sum;
  };
  const auto squares = [](void* storage, std::size_t& bytes, const float* in, double* out, std::size_t n) {
    return reduction::transform_reduce(storage, bytes, in, out, n, Sum{}, Square{});
  };
  const auto values = values_of<float>(most_elements, [](std::size_t i) { return float(small_number(i)); });
  expect_the_hosts_result<double>(values, all_sizes, offsets, reference, squares);
  const auto with_init = [](void* storage, std::size_t& bytes, const float* in, double* out, std::size_t n) {
    return reduction::transform_reduce(storage, bytes, in, out, n, Sum{}, Square{}, 1000);
  };
  expect_the_hosts_result<double>(
      values, all_sizes, offsets,
      [&](const float* numbers, std::size_t n) { return reference(numbers, n) + 1000; }, with_init);
}

/// With a number in it that only a run knows.
cudaError_t sum_of_squares_around(float mean, void* storage, std::size_t& bytes, const float* in, float* out,
                                  std::size_t n) {
  const auto squared = [mean] __device__(float value) { return (value - mean) * (value - mean); };
  return reduction::transform_reduce(storage, bytes, in, out, n, Sum{}, squared);
}

TEST_F(Reduce, TransformIsALambda) {
  constexpr float mean = 3;
  expect_the_hosts_result<float>(
      small_numbers<float>(most_elements), {0, 1, 33, 1000, 16385, 40000, 100000}, offsets,
      [](const float* values, std::size_t n) {
        float sum = 0;
        for (std::size_t i = 0; i < n; ++i)
          sum += (values[i] - mean) * (values[i] - mean);
        return sum;
      },
      [](void* storage, std::size_t& bytes, const float* in, float* out, std::size_t n) {
        return sum_of_squares_around(mean, storage, bytes, in, out, n);
      });
}

TEST_F(Reduce, ArgMaxOfMagnitudes) {
  const auto values = small_numbers<float>(arg_sizes.back() + 17);
  const DeviceArray<float> in(values);
  const auto magnitudes =
      values_of<float>(values.size(), [&](std::size_t i) { return values[i] < 0 ? -values[i] : values[i]; });
  for (const std::size_t n : arg_sizes) {
    for (std::size_t start = 0; start < 5; ++start) {
      const auto call = [](void* storage, std::size_t& bytes, const float* from, Indexed<float>* out,
                           std::size_t count) {
        return reduction::transform_reduce(storage, bytes, from, out, count, ArgMax{}, Magnitude{});
      };
      expect_first(result<Indexed<float>>(in.get() + start, n, call),
                   first_on_host<Indexed<float>>(magnitudes.data() + start, n, true), n, start);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(Reduce, MinMaxOfSquares) {
  const DeviceArray<int> in(small_numbers<int>(100000));
  const DeviceArray<Extremes<int>> out(1);
  ASSERT_EQ(reduction::transform_reduce(in.get(), out.get(), 100000, MinMax{}, Square{}), cudaSuccess);
  EXPECT_EQ(out.download()[0].smallest, 1);
  EXPECT_EQ(out.download()[0].largest, 64);
}

// ---- inputs beyond 1 GiB, where the header copies in bulk ----

template <typename T> class ReduceLarge : public Reduce {};
using Unsigned = testing::Types<std::uint8_t, std::uint32_t>;
TYPED_TEST_SUITE(ReduceLarge, Unsigned);

/// Of bytes more than 32 bits can count. Their sums wrap around.
TYPED_TEST(ReduceLarge, Sum) {
  using T = TypeParam;
  const std::size_t n = sizeof(T) == 1 ? (std::size_t{1} << 32) + 12345 : bulk_elements<T>;
  const std::string reason = too_large((n + 1) * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const DeviceArray<T> in(n + 1);
  set_quick_numbers<<<1024, 256>>>(in.get(), n + 1);
  T expected = 0;
  for (std::size_t i = 0; i < n; ++i)
    expected = T(expected + quick_number<T>(i));
  EXPECT_EQ(result<T>(in.get(), n, by(Sum{})), expected);
  expected = T(expected - quick_number<T>(0) + quick_number<T>(n));
  EXPECT_EQ(result<T>(in.get() + 1, n, by(Sum{})), expected) << "from the second element";
}

/// The lowest index, also where 32 bits do not hold it.
TYPED_TEST(ReduceLarge, ArgMax) {
  using T = TypeParam;
  const std::size_t n = sizeof(T) == 1 ? (std::size_t{1} << 32) + 12345 : bulk_elements<T>;
  const std::string reason = too_large((n + 1) * sizeof(T));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const DeviceArray<T> in(n + 1);
  set_all<<<1024, 256>>>(in.get(), n + 1, T(1));
  EXPECT_EQ(result<Indexed<T>>(in.get(), n, by(ArgMax{})).index, 0);
  EXPECT_EQ(result<Indexed<T>>(in.get() + 1, n, by(ArgMax{})).index, 0);
  // The later ones come first in time.
  for (const std::size_t place :
       {n - 1, n - 2, n - 20000, n / 2, n / 2 - 1, std::size_t{1} << 24, std::size_t{3}}) {
    in.set(place, T(7));
    EXPECT_EQ(result<Indexed<T>>(in.get(), n, by(ArgMax{})).index, static_cast<long long>(place));
    EXPECT_EQ(result<Indexed<T>>(in.get() + 1, n, by(ArgMax{})).index, static_cast<long long>(place) - 1);
  }
}

class ReduceLargeZeros : public Reduce {};

TEST_F(ReduceLargeZeros, Sum) {
  constexpr std::size_t n = bulk_elements<float>;
  const std::string reason = too_large(n * sizeof(float));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const DeviceArray<float> in(n);
  set_all<<<1024, 256>>>(in.get(), n, -0.0f);
  EXPECT_TRUE(same(result<float>(in.get(), n, by(Sum{})), -0.0f));
  EXPECT_TRUE(same(result<float>(in.get(), n, by(Sum{}, 0.0f)), 0.0f));
  in.set(n - 1, 0.0f);
  EXPECT_TRUE(same(result<float>(in.get(), n, by(Sum{})), 0.0f));
}

}  // namespace
}  // namespace reduction
