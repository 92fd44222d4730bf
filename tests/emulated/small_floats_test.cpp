/// Numbers of 16 bits on the emulated device, half and bfloat16: rounded once, to the nearest even one or in a direction.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>

#include "device/cuda_or_emulated.cuh"

namespace {

// What the operators of C++ make of these numbers is one of them, too.
static_assert(std::is_same_v<decltype(half{1} + half{2}), half> && std::is_same_v<decltype(-half{1}), half>);
static_assert(std::is_same_v<decltype(half2{} * half2{}), half2> && std::is_trivially_copyable_v<half>);
static_assert(sizeof(half) == 2 && sizeof(half2) == 4 && alignof(half2) == 4 && sizeof(__nv_bfloat16) == 2);

TEST(Half, RoundsToTheNearestEvenNumber) {
  const auto bits = [](float value) { return __half_as_ushort(__float2half(value)); };
  EXPECT_EQ(bits(1.0F), 0x3C00);
  EXPECT_EQ(bits(-2.0F), 0xC000);
  EXPECT_EQ(bits(65504.0F), 0x7BFF);
  EXPECT_EQ(bits(65519.9F), 0x7BFF);
  EXPECT_EQ(bits(65520.0F), 0x7C00) << "infinity";
  EXPECT_EQ(bits(1.0F + 0x1p-11F), 0x3C00) << "a tie, to the even one below";
  EXPECT_EQ(bits(1.0F + 3 * 0x1p-11F), 0x3C02) << "and above";
  EXPECT_EQ(bits(0x1p-24F), 0x0001) << "the least number";
  EXPECT_EQ(bits(0x1p-25F), 0x0000);
  EXPECT_EQ(bits(0x1.8p-25F), 0x0001);
  EXPECT_EQ(bits(0x1.ffep-15F), 0x0400) << "what is below 2^-14 rounds up to it";
  EXPECT_EQ(bits(std::numeric_limits<float>::quiet_NaN()), 0x7FFF);
  EXPECT_EQ(__half_as_ushort(__double2half(1 + 0x1p-11 + 0x1p-40)), 0x3C01) << "rounded once";
  // Every number is itself again.
  for (unsigned number = 0; number < 0x10000; ++number) {
    const half value = __ushort_as_half(static_cast<unsigned short>(number));
    if (!__hisnan(value)) {
      EXPECT_EQ(bits(__half2float(value)), number);
    }
  }
  EXPECT_EQ(__bfloat16_as_ushort(__float2bfloat16(1.0F)), 0x3F80);
  EXPECT_EQ(__bfloat16_as_ushort(__float2bfloat16(1.0F + 0x1p-8F)), 0x3F80);
  EXPECT_EQ(__bfloat16_as_ushort(__float2bfloat16(1.0F + 3 * 0x1p-8F)), 0x3F82);
  EXPECT_EQ(__bfloat162float(__ushort_as_bfloat16(0xC040)), -3.0F);
}

/// The number before or after a finite one.
template <typename T> T next_to(T number, bool up) {
  const unsigned bits = number.bits();
  if ((bits & 0x7fff) == 0) return T::of_bits(up ? 0x0001 : 0x8001);
  return T::of_bits(static_cast<std::uint16_t>((bits < 0x8000) == up ? bits + 1 : bits - 1));
}

/// Its value; of infinity that of the number which would come after the last.
template <typename T> long double value_of(T number) {
  const float value = number;
  return std::isinf(value) ? std::copysign(std::is_same_v<T, half> ? 0x1p16L : 0x1p128L, value) : value;
}

/// Whether no neighbour of the result is nearer to a + b; of two that are as near the even one is right. The sum may have more
/// digits than any type, but less the middle of two neighbours it has the right sign.
template <typename T> bool is_nearest(T result, long double a, long double b = 0) {
  if (std::isnan(a)) return __hisnan(result);
  if (std::abs(a) < std::abs(b)) std::swap(a, b);
  for (const bool up : {false, true}) {
    const T neighbour = next_to(result, up);
    if (__hisnan(neighbour)) continue;
    const long double off = a - (value_of(result) + value_of(neighbour)) / 2 + b;
    if (off == 0 ? result.bits() % 2 != 0 : (off > 0) == up) return false;
  }
  return true;
}

template <typename T> void expect_roundings_of_one() {
  std::mt19937_64 random{1};
  const auto number = [&] { return T::of_bits(static_cast<std::uint16_t>(random())); };
  const auto expect_fma = [&](T a, T b, T c) {
    const float x = a, y = b, z = c;
    if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z)) return;
    ASSERT_TRUE(is_nearest(__hfma(a, b, c), static_cast<long double>(x) * y, z))
        << x << " * " << y << " + " << z;
  };
  for (int i = 0; i < 300'000; ++i) {
    expect_fma(number(), number(), number());
    // Of like size, with the sum often between two numbers.
    const auto near_one = [&] {
      return T{std::ldexp(1 + static_cast<float>(random() % 256) / 256, static_cast<int>(random() % 9) - 4)};
    };
    const T a = near_one();
    const T b = near_one();
    expect_fma(a, b, T{std::ldexp(random() % 2 != 0 ? 1.0F : -1.0F, -static_cast<int>(random() % 130))});
    expect_fma(a, b, -(a * b));
    expect_fma(a, b, near_one());
  }
  for (int i = 0; i < 300'000; ++i) {
    const int shift = static_cast<int>(random() % 64);
    // Two to four bits: where they are far apart, the sum is just beside a tie.
    std::uint64_t few = 0;
    for (int bit = 0; bit < 2 + i % 3; ++bit)
      few |= std::uint64_t{1} << random() % 64;
    for (const std::uint64_t value : {random() >> shift, few, few - 1, ~few}) {
      ASSERT_TRUE(is_nearest(T{value}, static_cast<long double>(value))) << value;
      const auto with_sign = static_cast<std::int64_t>(value);
      ASSERT_TRUE(is_nearest(T{with_sign}, static_cast<long double>(with_sign))) << with_sign;
    }
  }
}

TEST(Half, RoundsSumsOfProductsAndIntegersOnce) {
  const nv_bfloat16 sum = __hfma(nv_bfloat16{9}, nv_bfloat16{29}, nv_bfloat16{0x1p-100F});
  EXPECT_EQ(__bfloat162float(sum), 262.0F) << "261 is in the middle of 260 and 262";
  EXPECT_EQ(__bfloat162float(__hfma(nv_bfloat16{9}, nv_bfloat16{29}, nv_bfloat16{-0x1p-100F})), 260.0F);
  EXPECT_EQ(__bfloat162float(nv_bfloat16{(1LL << 62) + (1LL << 54) + 1}), 0x1p62F + 0x1p55F);
  EXPECT_EQ(__bfloat162float(nv_bfloat16{~0ULL}), 0x1p64F);
  EXPECT_EQ(__bfloat162float(nv_bfloat16{std::numeric_limits<long long>::min()}), -0x1p63F);
  EXPECT_EQ(__bfloat162float(nv_bfloat16{-3}), -3.0F);
  EXPECT_EQ(__bfloat162float(nv_bfloat16{true}), 1.0F);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(__bfloat162float(__hfma(nv_bfloat16{infinity}, nv_bfloat16{2}, nv_bfloat16{1})), infinity);
  EXPECT_TRUE(__hisnan(__hfma(nv_bfloat16{infinity}, nv_bfloat16{2}, nv_bfloat16{-infinity})));
  expect_roundings_of_one<nv_bfloat16>();
  expect_roundings_of_one<half>();
}

TEST(Half, HasTheOperatorsOfNumbers) {
  EXPECT_TRUE(half{1} < half{2} && half{2} >= half{2} && -half{1} == half{-1});
  EXPECT_TRUE(half{3} / half{2} == half{1.5F} && __hadd(half{3}, half{2}) == half{5});
  half sum = 2;
  sum += half{2};
  EXPECT_EQ(__half2float(sum), 4.0F);
  EXPECT_EQ(__hfma2(make_half2(2, 3), make_half2(4, 5), make_half2(1, -1)) * make_half2(1, 2),
            make_half2(9, 28));
}

/// Of a number and NaN the number, of two NaNs a positive one, and -0 is below +0.
TEST(Half, HasExtremesThatPassOverNaN) {
  const half nan = __ushort_as_half(0xFE00);
  EXPECT_EQ(__hmin2(make_half2(3, nan), make_half2(-4, 5)), make_half2(-4, 5));
  EXPECT_EQ(__hmax2(make_half2(3, nan), make_half2(-4, 5)), make_half2(3, 5));
  const half2 least = __hmin2(make_half2(0, nan), make_half2(-half{0}, nan));
  const half2 greatest = __hmax2(make_half2(0, nan), make_half2(-half{0}, nan));
  EXPECT_EQ(__half_as_ushort(__low2half(least)), 0x8000);
  EXPECT_EQ(__half_as_ushort(__low2half(greatest)), 0x0000);
  EXPECT_EQ(__half_as_ushort(__high2half(least)), 0x7FFF);
  EXPECT_EQ(__half_as_ushort(__high2half(greatest)), 0x7FFF);
}

/// For any number, beside the function of long double.
template <typename T>
void expect_nearest(const char* name, T (*function)(T), long double (*exact)(long double)) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const T number = T::of_bits(static_cast<std::uint16_t>(bits));
    ASSERT_TRUE(is_nearest(function(number), exact(float{number}))) << name << ' ' << float{number};
  }
}

#define EXPECT_NEAREST(name, expression)                                                      \
  expect_nearest<half>(#name, name, [](long double a) -> long double { return expression; }); \
  expect_nearest<nv_bfloat16>(#name, name, [](long double a) -> long double { return expression; })

TEST(SmallFloats, HaveFunctionsRoundedToTheNearest) {
  EXPECT_NEAREST(hsqrt, std::sqrt(a));
  EXPECT_NEAREST(hrsqrt, 1 / std::sqrt(a));
  EXPECT_NEAREST(hrcp, 1 / a);
  EXPECT_NEAREST(hexp, std::exp(a));
  EXPECT_NEAREST(hexp2, std::exp2(a));
  EXPECT_NEAREST(hexp10, std::pow(10.0L, a));
  EXPECT_NEAREST(hlog, std::log(a));
  EXPECT_NEAREST(hlog2, std::log2(a));
  EXPECT_NEAREST(hlog10, std::log10(a));
  EXPECT_NEAREST(hsin, std::sin(a));
  EXPECT_NEAREST(hcos, std::cos(a));
  EXPECT_NEAREST(htanh, std::tanh(a));
  EXPECT_NEAREST(hrint, std::nearbyint(a));
  EXPECT_EQ(h2exp(make_half2(0, 1)), make_half2(1, half{2.718281828F}));
  EXPECT_EQ(h2floor(make_bfloat162(-1.5F, 2.5F)), make_bfloat162(-2, 2));
}

template <typename T, typename From> void expect_directed(T (*zero)(From), T (*down)(From), T (*up)(From)) {
  std::mt19937_64 random{1};
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t word = random() >> random() % 64;
    const From value = static_cast<From>(random() % 2 == 0 ? word : -word);
    if (std::abs(static_cast<double>(value)) > 65504) continue;
    const double exact = static_cast<double>(value);
    ASSERT_LE(float{down(value)}, exact);
    ASSERT_GE(float{up(value)}, exact);
    if (exact != float{down(value)}) {
      ASSERT_TRUE(next_to(down(value), true) == up(value)) << exact;
    }
    ASSERT_TRUE(zero(value) == (exact < 0 ? up(value) : down(value)));
  }
}

TEST(SmallFloats, AreRoundedInADirection) {
  expect_directed<half, int>(__int2half_rz, __int2half_rd, __int2half_ru);
  expect_directed<half, float>(__float2half_rz, __float2half_rd, __float2half_ru);
  expect_directed<nv_bfloat16, long long>(__ll2bfloat16_rz, __ll2bfloat16_rd, __ll2bfloat16_ru);
  EXPECT_EQ(__half_as_ushort(__float2half_rz(1e6F)), 0x7BFF) << "the largest number";
  EXPECT_EQ(__half_as_ushort(__float2half_ru(1e6F)), 0x7C00);
  EXPECT_EQ(__half_as_ushort(__float2half_rd(-0x1p-100F)), 0x8001);
  EXPECT_EQ(__half_as_ushort(__float2half_ru(-0x1p-100F)), 0x8000);
  EXPECT_EQ(__half_as_ushort(__float2half_rd(0.0F)), 0x0000);
  EXPECT_EQ(__bfloat16_as_ushort(__ull2bfloat16_rz((1ULL << 62) + 1)), 0x5E80);
  EXPECT_EQ(__bfloat16_as_ushort(__ull2bfloat16_ru((1ULL << 62) + 1)), 0x5E81) << "rounded once";
  EXPECT_EQ(__half2int_rd(half{-1.5F}), -2);
  EXPECT_EQ(__half2uint_ru(half{1.25F}), 2U);
  EXPECT_EQ(__half2short_rn(half{65504.0F}), 32767);
  EXPECT_EQ(__bfloat162int_rn(nv_bfloat16{2.5F}), 2);
  EXPECT_EQ(__half2char_rz(half{-200}), -128);
  EXPECT_EQ(__half2ll_rn(half{std::nanf("")}), std::numeric_limits<long long>::min());
}

TEST(SmallFloats, CompareWithNaN) {
  const half nan = __ushort_as_half(0x7D00);  // one that signals
  const half one = 1;
  EXPECT_FALSE(__hne(nan, one)) << "an ordered comparison";
  EXPECT_TRUE(__hneu(nan, one));
  EXPECT_TRUE(nan != one);
  EXPECT_FALSE(__hge(nan, one));
  EXPECT_TRUE(__hgeu(nan, one));
  EXPECT_TRUE(__hmax(nan, one) == one);
  EXPECT_TRUE(__hmin(one, nan) == one);
  EXPECT_TRUE(__hisnan(__hmax_nan(one, nan)));
  const half2 a = make_half2(1, nan);
  const half2 b = make_half2(1, 2);
  EXPECT_EQ(__heq2(a, b), make_half2(1, 0));
  EXPECT_EQ(__hequ2_mask(a, b), 0xFFFFFFFFU);
  EXPECT_EQ(__hgt2_mask(b, make_half2(0, 3)), 0xFFFFU);
  EXPECT_FALSE(__hbeq2(a, b));
  EXPECT_FALSE(a == b);
  EXPECT_FALSE(a != b) << "it takes both";
  EXPECT_EQ(__hisinf(-half{std::numeric_limits<float>::infinity()}), -1);
  EXPECT_EQ(__hisnan2(a), make_half2(0, 1));
}

TEST(SmallFloats, ComeInPairs) {
  const nv_bfloat162 pair = __float22bfloat162_rn(make_float2(1.5F, -2));
  EXPECT_EQ(__low2float(pair), 1.5F);
  EXPECT_EQ(__high2float(pair), -2.0F);
  EXPECT_EQ(__bfloat162bfloat162(nv_bfloat16{3}), make_bfloat162(3, 3));
  EXPECT_EQ(__lowhigh2highlow(pair), make_bfloat162(-2, 1.5F));
  EXPECT_EQ(__habs2(pair), make_bfloat162(1.5F, 2));
  EXPECT_EQ(__hneg2(pair), make_bfloat162(-1.5F, 2));
  EXPECT_EQ(__h2div(pair, make_bfloat162(3, 4)), make_bfloat162(0.5F, -0.5F));
  EXPECT_EQ(__lows2half2(make_half2(1, 2), make_half2(3, 4)), make_half2(1, 3));
  EXPECT_EQ(__high2half2(make_half2(1, 2)), make_half2(2, 2));
  EXPECT_EQ(__half_as_short(half{-1}), static_cast<short>(0xBC00));
  EXPECT_TRUE(__short_as_half(0x3C00) == half{1});
  const __half_raw raw = half{2};
  EXPECT_EQ(raw.x, 0x4000);
  EXPECT_TRUE(__nv_bfloat16{__nv_bfloat16_raw{0x4000}} == __nv_bfloat16{2});
  EXPECT_EQ(__hadd2_sat(make_half2(1, -2), make_half2(1, 1)), make_half2(1, 0));
  EXPECT_TRUE(__hfma_relu(half{2}, half{-3}, half{1}) == half{0});
  EXPECT_EQ(__hcmadd(make_half2(1, 2), make_half2(3, 4), make_half2(10, 20)), make_half2(5, 30));
}

}  // namespace
