/// CUDA's functions of one thread on the emulated device. The kernel has them compiled as kernels are.
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>
#include <vector_functions.h>
#include <vector_types.h>
#include <cmath>
#include <cstdint>
#include <cuda/std/cstdint>
#include <limits>
#include <random>
#include <string>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"

namespace {

using __emulated::finding_of;

template <typename T> using Array = __emulated::DeviceArray<T>;

// ---- whole numbers ----

TEST(Intrinsics, OfWholeNumbers) {
  EXPECT_EQ(__sad(std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), 1), 0U)
      << "it wraps around";
  EXPECT_EQ(__sad(-3, 4, 10), 17U);
  EXPECT_EQ(__usad(3, ~0U, 1), ~0U - 2);
  EXPECT_EQ(__hadd(std::numeric_limits<int>::max(), std::numeric_limits<int>::max() - 1),
            std::numeric_limits<int>::max() - 1);
  EXPECT_EQ(__hadd(-3, 0), -2);
  EXPECT_EQ(__rhadd(-3, 0), -1);
  EXPECT_EQ(__uhadd(~0U, ~0U - 1), ~0U - 1);
  EXPECT_EQ(__urhadd(~0U, ~0U - 1), ~0U);
  EXPECT_EQ(__funnelshift_lc(0x12345678, 0x9abcdef0, 8), 0xbcdef012U);
  EXPECT_EQ(__funnelshift_lc(0x12345678, 0x9abcdef0, 40), 0x12345678U);
  EXPECT_EQ(__funnelshift_rc(0x12345678, 0x9abcdef0, 8), 0xf0123456U);
  EXPECT_EQ(__funnelshift_rc(0x12345678, 0x9abcdef0, 32), 0x9abcdef0U);
  EXPECT_EQ(__fns(0b101100, 0, 1), 2U);
  EXPECT_EQ(__fns(0b101100, 0, 3), 5U);
  EXPECT_EQ(__fns(0b101100, 0, 4), ~0U);
  EXPECT_EQ(__fns(0b101100, 3, 1), 3U) << "the base counts";
  EXPECT_EQ(__fns(0b101100, 4, -2), 2U);
  EXPECT_EQ(__fns(0b101100, 4, -3), ~0U);
  EXPECT_EQ(__fns(0b101100, 5, 0), 5U);
  EXPECT_EQ(__fns(0b101100, 4, 0), ~0U);
  const cuda::std::uint64_t large = 1;
  __builtin_assume(large == 1);
  EXPECT_EQ(sizeof(large), 8U);
}

template <typename T> int part(unsigned word, unsigned number) {
  return static_cast<T>(word >> number * 8 * sizeof(T));
}

/// Each part of `function` is what fits into it of `expected`, whatever its neighbours are.
template <typename T>
void expect_parts(const char* name, unsigned (*function)(unsigned, unsigned), int (*expected)(int, int)) {
  std::mt19937 random{1};
  const unsigned edges[] = {0,          0x80808080, 0x7f7f7f7f, 0xffffffff,
                            0x80008000, 0x7fff7fff, 0x01010101, 0x00010001};
  for (int i = 0; i < 20'000; ++i) {
    const auto word = [&] {
      return random() % 2 == 0 ? edges[random() % 8] : static_cast<unsigned>(random());
    };
    const unsigned a = word();
    const unsigned b = i % 3 == 0 ? a : word();
    for (unsigned k = 0; k < 4 / sizeof(T); ++k)
      ASSERT_EQ(part<T>(function(a, b), k), static_cast<T>(expected(part<T>(a, k), part<T>(b, k))))
          << name << " of " << a << " and " << b << ", part " << k;
  }
}

template <typename T> int clamped(int value) {
  constexpr int least = std::numeric_limits<T>::min();
  constexpr int greatest = std::numeric_limits<T>::max();
  return value < least ? least : value > greatest ? greatest : value;
}

#define EXPECT_PARTS(name, sign, expression)                                                \
  expect_parts<std::sign##16_t>(#name "2", name##2,                                         \
                                [](int a, int b) { return static_cast<int>(expression); }); \
  expect_parts<std::sign##8_t>(#name "4", name##4, [](int a, int b) { return static_cast<int>(expression); })
#define EXPECT_SATURATED(name, sign, expression)                                                    \
  expect_parts<std::sign##16_t>(#name "2", name##2,                                                 \
                                [](int a, int b) { return clamped<std::sign##16_t>(expression); }); \
  expect_parts<std::sign##8_t>(#name "4", name##4,                                                  \
                               [](int a, int b) { return clamped<std::sign##8_t>(expression); })
TEST(Intrinsics, OfPackedIntegers) {
  EXPECT_PARTS(__vadd, uint, a + b);
  EXPECT_PARTS(__vsub, uint, a - b);
  EXPECT_SATURATED(__vaddss, int, a + b);
  EXPECT_SATURATED(__vaddus, uint, a + b);
  EXPECT_SATURATED(__vsubss, int, a - b);
  EXPECT_SATURATED(__vsubus, uint, a - b);
  EXPECT_PARTS(__vmins, int, a < b ? a : b);
  EXPECT_PARTS(__vmaxu, uint, a > b ? a : b);
  EXPECT_PARTS(__vavgs, int, std::floor((a + b + 1) / 2.0));
  EXPECT_PARTS(__vavgu, uint, (a + b + 1) / 2);
  EXPECT_PARTS(__vhaddu, uint, (a + b) / 2);
  EXPECT_PARTS(__vabsdiffs, int, a > b ? a - b : b - a);
  EXPECT_PARTS(__vabsdiffu, uint, a > b ? a - b : b - a);
  EXPECT_PARTS(__vcmpeq, uint, a == b ? -1 : 0);
  EXPECT_PARTS(__vcmpne, uint, a == b ? 0 : -1);
  EXPECT_PARTS(__vcmplts, int, a < b ? -1 : 0);
  EXPECT_PARTS(__vcmpgeu, uint, a < b ? 0 : -1);
  EXPECT_PARTS(__vsetgts, int, a > b ? 1 : 0);
  EXPECT_PARTS(__vsetleu, uint, a > b ? 0 : 1);
  EXPECT_EQ(__vabs2(0x8000ffff), 0x80000001U);
  EXPECT_EQ(__vabs4(0x80ff7f01), 0x80017f01U);
  EXPECT_EQ(__vabsss2(0x8000ffff), 0x7fff0001U);
  EXPECT_EQ(__vabsss4(0x80ff7f01), 0x7f017f01U);
  EXPECT_EQ(__vneg2(0x80000001), 0x8000ffffU);
  EXPECT_EQ(__vneg4(0x80ff7f01), 0x800181ffU);
  EXPECT_EQ(__vnegss2(0x80000001), 0x7fffffffU);
  EXPECT_EQ(__vnegss4(0x80ff7f01), 0x7f0181ffU);
  EXPECT_EQ(__vsads2(0x8000ffff, 0x7fff0001), 65535U + 2);
  EXPECT_EQ(__vsads4(0x80ff7f01, 0x7f017f02), 255U + 2 + 0 + 1);
  EXPECT_EQ(__vsadu2(0x8000ffff, 0x7fff0001), 1U + 65534);
  EXPECT_EQ(__vsadu4(0x80ff7f01, 0x7f017f02), 1U + 254 + 0 + 1);
}

// ---- mathematical functions; all values from mpmath, with 40 digits ----

void expect_close(double value, double exact) {
  EXPECT_LE(std::abs(value - exact), std::abs(exact) * std::numeric_limits<double>::epsilon()) << value;
}

TEST(Intrinsics, OfAngles) {
  expect_close(sinpi(0.3), 0.8090169943749474036);
  expect_close(cospi(0.3), 0.5877852522924731574);
  expect_close(sinpi(1234567.8125), -0.5555702330196022247);
  expect_close(cospi(1234567.8125), 0.8314696123025452371);
  for (const double integer : {0.0, 1.0, 2.0, 3.0, 1e15 + 1}) {
    EXPECT_EQ(sinpi(integer), 0.0);
    EXPECT_FALSE(std::signbit(sinpi(integer)));
    EXPECT_TRUE(std::signbit(sinpi(-integer)));
    EXPECT_EQ(std::abs(cospi(integer)), 1.0);
  }
  EXPECT_EQ(cospi(3.0), -1.0);
  EXPECT_EQ(cospif(0.5F), 0.0F);
  EXPECT_EQ(sinpif(1.5F), -1.0F);
  EXPECT_TRUE(std::isnan(sinpi(std::numeric_limits<double>::infinity())));
  float sine = 0;
  float cosine = 0;
  sincospif(0.1F, &sine, &cosine);
  EXPECT_EQ(sine, 0.3090169988271642914F);
  EXPECT_EQ(cosine, cospif(0.1F));
  __sincosf(0, &sine, &cosine);
  EXPECT_EQ(sine, 0.0F);
  EXPECT_EQ(cosine, 1.0F);
}

TEST(Intrinsics, OfDistributions) {
  expect_close(normcdf(-10.0), 7.619853024160526066e-24);
  expect_close(normcdf(0.5), 0.6914624612740131036);
  expect_close(normcdf(3.0), 0.9986501019683699055);
  EXPECT_EQ(normcdff(-1), 0.1586552539314570514F);
  expect_close(normcdfinv(1e-300), -37.04709629936119924);
  expect_close(normcdfinv(0.1), -1.281551565544600435);
  expect_close(normcdfinv(0.975), 1.959963984540053856);
  EXPECT_EQ(normcdfinv(0.5), 0.0);
  EXPECT_EQ(normcdfinv(1.0), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(normcdfinvf(1.5F)));
  expect_close(erfinv(1e-300), 8.862269254527580359e-301);
  expect_close(erfinv(0.1), 0.08885599049425769197);
  expect_close(erfinv(-0.75), -0.8134198475976185417);
  expect_close(erfinv(0.999999), 3.458910737275498778);
  EXPECT_EQ(erfinvf(-1), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(erfinv(1.5)));
  expect_close(erfcinv(1e-300), 26.20946996051612389);
  expect_close(erfcinv(0.25), 0.8134198475976185417);
  expect_close(erfcinv(1.5), -0.4769362762044698734);
}

TEST(Intrinsics, OfRootsAndLengths) {
  expect_close(rcbrt(10.0), 0.4641588833612778892);
  EXPECT_EQ(rcbrtf(-8), -0.5F);
  expect_close(rsqrt(10.0), 0.3162277660168379332);
  EXPECT_EQ(norm3d(2e300, 3e300, 6e300), 7e300);
  EXPECT_EQ(norm3df(2, 3, 6), 7.0F);
  expect_close(norm4d(1, 2, 3, 4), 5.477225575051661135);
  expect_close(rnorm4d(1, 2, 3, 4), 0.1825741858350553712);
  EXPECT_EQ(norm4df(1, 1, 1, 1), 2.0F);
  EXPECT_EQ(rnorm4df(1, 1, 1, 1), 0.5F);
  EXPECT_EQ(rnorm3df(0, 0, 4), 0.25F);
  EXPECT_EQ(rnorm3d(0, 0, 4), 0.25);
  expect_close(rhypot(1, 2), 0.4472135954999579393);
  EXPECT_EQ(rhypotf(3, 4), 0.2F);
  EXPECT_EQ(fdividef(1, 4), 0.25F);
}

TEST(Intrinsics, HoldANumberBetweenZeroAndOne) {
  EXPECT_EQ(__saturatef(2), 1.0F);
  EXPECT_EQ(__saturatef(0.25F), 0.25F);
  EXPECT_EQ(__saturatef(std::numeric_limits<float>::quiet_NaN()), 0.0F);
  EXPECT_FALSE(std::signbit(__saturatef(-0.0F))) << "+0 of all that is not above 0";
}

// ---- numbers of 16 bits ----

/// The number before or after a finite one.
template <typename T> T next_to(T number, bool up) {
  const unsigned bits = number.bits();
  if ((bits & 0x7fff) == 0) return T::of_bits(up ? 0x0001 : 0x8001);
  return T::of_bits(static_cast<std::uint16_t>((bits < 0x8000) == up ? bits + 1 : bits - 1));
}

/// No neighbour is nearer to what the function of long double gives, for any number.
template <typename T>
void expect_nearest(const char* name, T (*function)(T), long double (*exact_function)(long double)) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const T number = T::of_bits(static_cast<std::uint16_t>(bits));
    const float result = function(number);
    const long double exact = exact_function(float{number});
    if (std::isnan(exact) || std::isinf(result)) {
      ASSERT_TRUE(std::isnan(exact) ? std::isnan(result) : std::isinf(exact) || std::abs(exact) > 65519)
          << name;
      continue;
    }
    for (const bool up : {false, true})
      ASSERT_LE(std::abs(exact - result), std::abs(exact - float{next_to(T{result}, up)})) << name << bits;
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
  EXPECT_EQ(__hadd2_sat(make_half2(1, -2), make_half2(1, 1)), make_half2(1, 0));
  EXPECT_TRUE(__hfma_relu(half{2}, half{-3}, half{1}) == half{0});
  EXPECT_EQ(__hcmadd(make_half2(1, 2), make_half2(3, 4), make_half2(10, 20)), make_half2(5, 30));
}

// ---- complex numbers ----

TEST(CuComplex, HasTheFunctionsOfNumbers) {
  const cuDoubleComplex a = make_cuDoubleComplex(11, 2);
  const cuDoubleComplex b = make_cuDoubleComplex(3, -4);
  EXPECT_EQ(cuCreal(cuCadd(a, b)), 14.0);
  EXPECT_EQ(cuCimag(cuCsub(a, b)), 6.0);
  EXPECT_EQ(cuCreal(cuCmul(a, b)), 41.0);
  EXPECT_EQ(cuCimag(cuCmul(a, b)), -38.0);
  EXPECT_EQ(cuCimag(cuCfma(a, b, a)), -36.0);
  EXPECT_NEAR(cuCreal(cuCdiv(a, b)), 1.0, 1e-15);
  EXPECT_NEAR(cuCimag(cuCdiv(a, b)), 2.0, 1e-15);
  EXPECT_EQ(cuCabs(b), 5.0);
  EXPECT_EQ(cuCabsf(make_cuComplex(3e30F, 4e30F)), 5e30F);
  EXPECT_NEAR(cuCrealf(cuCdivf(make_cuFloatComplex(1e30F, 0), make_cuFloatComplex(1e30F, 0))), 1.0F, 1e-6F);
  EXPECT_EQ(cuConjf(cuComplexDoubleToFloat(b)).y, 4.0F);
}

// ---- in kernels ----

__global__ void round_in_a_kernel(const float* in, float* out, const cuFloatComplex* a,
                                  cuFloatComplex* product) {
  const unsigned i = threadIdx.x;
  out[4 * i] = __fdiv_rn(1, in[i]);
  out[4 * i + 1] = __fdiv_rz(1, in[i]);
  out[4 * i + 2] = __fdiv_rd(1, in[i]);
  out[4 * i + 3] = __fdiv_ru(1, in[i]);
  product[i] = cuCmulf(a[i], a[i]);
  __builtin_assume(in[i] > 0);
}

TEST(Intrinsics, RoundInKernels) {
  Array<float> in{32};
  Array<float> out{128};
  Array<cuFloatComplex> a{32};
  Array<cuFloatComplex> product{32};
  for (unsigned i = 0; i < 32; ++i) {
    in[i] = static_cast<float>(2 * i + 3);
    a[i] = make_cuFloatComplex(1, static_cast<float>(i));
  }
  EXPECT_EQ(finding_of([&] { round_in_a_kernel<<<1, 32>>>(in, out, a, product); }), "");
  EXPECT_EQ(__emulated::last_launch_counters().global_load_requests, 4U + 2) << "an assumption loads nothing";
  for (unsigned i = 0; i < 32; ++i) {
    const double divisor = in[i];
    EXPECT_LT(out[4 * i + 2] * divisor, 1.0) << "exact: both have 24 digits";
    EXPECT_GT(out[4 * i + 3] * divisor, 1.0);
    EXPECT_EQ(std::nextafter(out[4 * i + 2], 1.0F), out[4 * i + 3]);
    EXPECT_EQ(out[4 * i + 1], out[4 * i + 2]);
    EXPECT_EQ(cuCimagf(product[i]), 2.0F * static_cast<float>(i));
  }
}

}  // namespace
