/// CUDA's functions of one thread on the emulated device, compiled as kernels are. All values are by hand, or of mpmath.
#include <cuComplex.h>
#include <gtest/gtest.h>
#include <vector_functions.h>
#include <vector_types.h>
#include <cmath>
#include <cstdint>
#include <cuda/std/cstdint>
#include <limits>
#include <random>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"

namespace {

template <typename T> using Array = __emulated::DeviceArray<T>;

// ---- whole numbers ----

TEST(Intrinsics, OfBits) {
  EXPECT_EQ(__popc(0xF0F0U), 8);
  EXPECT_EQ(__popcll(~0ULL), 64);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__ffsll(1LL << 40), 41);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clzll(1), 63);
  EXPECT_EQ(__brev(0x40000001), 0x80000002U);
  EXPECT_EQ(__brevll(2), 1ULL << 62);
  EXPECT_EQ(__byte_perm(0x33221100, 0x77665544, 0x7610), 0x77661100U);
  EXPECT_EQ(__float_as_uint(__int_as_float(0x3F800000) + 1.0F), 0x40000000U);
  EXPECT_EQ(__hiloint2double(0x3FF80000, 1), 1.5 + std::numeric_limits<double>::epsilon());
  EXPECT_EQ(__double2hiint(-1.5), static_cast<int>(0xBFF80000U));
  EXPECT_EQ(__double2loint(1.5 + std::numeric_limits<double>::epsilon()), 1);
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
  EXPECT_EQ(__funnelshift_l(0x80000000, 1, 1), 3U);
  EXPECT_EQ(__funnelshift_r(1, 2, 1), 0U);
}

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
  EXPECT_EQ(__umulhi(1U << 31, 6), 3U);
  EXPECT_EQ(__mulhi(-1, 1), -1);
  EXPECT_EQ(__mul24(-3, 5), -15);
  EXPECT_EQ(__umul24(1U << 24 | 3, 2), 6U);
  EXPECT_EQ(min(3, 4), 3);
  EXPECT_EQ(max(3U, 4U), 4U);
  EXPECT_EQ(umin(3, 0xFFFFFFFF), 3U);
  EXPECT_EQ(umax(4, 0x80000000), 0x80000000U);
  EXPECT_EQ(llmin(-1, 1LL << 40), -1);
  EXPECT_EQ(llmax(-1, 1LL << 40), 1LL << 40);
  EXPECT_EQ(ullmin(5, ~0ULL), 5ULL);
  EXPECT_EQ(ullmax(0, 1ULL << 63), 1ULL << 63);
  EXPECT_EQ(abs(-5), 5);
  EXPECT_EQ(abs(-1.5F), 1.5F);
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
  EXPECT_PARTS(__vmaxs, int, a > b ? a : b);
  EXPECT_PARTS(__vminu, uint, a < b ? a : b);
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

/// Of words that say which part is which.
TEST(Intrinsics, OfProductsOfParts) {
  const unsigned a = 0xFF017F80, b = 0x02FE8001;
  const int signed_a = static_cast<int>(a), signed_b = static_cast<int>(b);
  const unsigned bytes = 0xFF * 0x02 + 0x01 * 0xFE + 0x7F * 0x80 + 0x80 * 0x01;
  EXPECT_EQ(__dp4a(a, b, 1U), bytes + 1);
  EXPECT_EQ(__dp4a(a, b, 0xFFFFFFFF), bytes - 1);
  EXPECT_EQ(__dp4a(signed_a, signed_b, 1), -1 * 2 + 1 * -2 + 127 * -128 + -128 * 1 + 1);
  EXPECT_EQ(__dp2a_lo(a, b, 1U), 0x7F80U * 0x01 + 0xFF01 * 0x80 + 1);
  EXPECT_EQ(__dp2a_lo(signed_a, signed_b, 1), 0x7F80 * 1 + -0xFF * -128 + 1);
  EXPECT_EQ(__dp2a_hi(a, b, 1U), 0x7F80U * 0xFE + 0xFF01 * 0x02 + 1);
  EXPECT_EQ(__dp2a_hi(signed_a, signed_b, 1), 0x7F80 * -2 + -0xFF * 2 + 1);
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
  EXPECT_EQ(rsqrtf(4.0F), 0.5F);
  EXPECT_EQ(__fmaf_rn(2, 3, 4), 10.0F);
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
  Array<float> in{32}, out{128};
  Array<cuFloatComplex> a{32}, product{32};
  for (unsigned i = 0; i < 32; ++i) {
    in[i] = static_cast<float>(2 * i + 3);
    a[i] = make_cuFloatComplex(1, static_cast<float>(i));
  }
  const auto counted = __emulated::counters_of([&] { round_in_a_kernel<<<1, 32>>>(in, out, a, product); });
  EXPECT_EQ(counted.global_load_requests, 4U + 2) << "an assumption loads nothing";
  for (unsigned i = 0; i < 32; ++i) {
    const double divisor = in[i];
    EXPECT_LT(out[4 * i + 2] * divisor, 1.0) << "exact: both have 24 digits";
    EXPECT_GT(out[4 * i + 3] * divisor, 1.0);
    EXPECT_EQ(std::nextafter(out[4 * i + 2], 1.0F), out[4 * i + 3]);
    EXPECT_EQ(out[4 * i + 1], out[4 * i + 2]);
    EXPECT_EQ(cuCimagf(product[i]), 2.0F * static_cast<float>(i));
  }
}

/// Loads and stores with hints for caches are loads and stores.
__global__ void load_and_store_with_hints(const float4* in, float4* out, volatile int* seen) {
  const unsigned i = threadIdx.x;
  __stcs(&out[i], __ldg(&in[i]));
  __stcg(&out[i], __ldcs(&in[i]));
  seen[i] = seen[i] + 1;
}

TEST(Intrinsics, OfLoadsAndStoresAreLoadsAndStores) {
  Array<float4> in{32}, out{32};
  Array<int> seen{32};
  in[31] = make_float4(1, 2, 3, 4);
  const auto counted = __emulated::counters_of([&] { load_and_store_with_hints<<<1, 32>>>(in, out, seen); });
  EXPECT_EQ(out[31].w, 4.0F);
  EXPECT_EQ(counted.global_load_requests, 3U);
  EXPECT_EQ(counted.global_load_sectors, 2U * 16 + 4);
  EXPECT_EQ(counted.global_store_requests, 3U);
}

}  // namespace
