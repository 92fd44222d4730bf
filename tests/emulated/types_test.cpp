/// CUDA's types, structs and bytes on the emulated device are loaded, stored and copied as on a GPU.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>
#include <complex>
#include <cstddef>
#include <cstring>

#include "device/cuda_or_emulated.cuh"
#include "emulated/kernel_sweep.hpp"
#include "emulated/language/complex.hpp"

namespace {

using namespace __emulated;
using deletable::__syncthreads;

template <typename T> using Array = DeviceArray<T>;

static_assert(sizeof(char2) == 2 && alignof(char2) == 2 && sizeof(uchar4) == 4 && alignof(uchar4) == 4);
static_assert(sizeof(short2) == 4 && alignof(short2) == 4 && sizeof(ushort4) == 8 && alignof(ushort4) == 8);
static_assert(sizeof(char3) == 3 && alignof(char3) == 1 && sizeof(float3) == 12 && alignof(float3) == 4);
static_assert(sizeof(int1) == 4 && sizeof(longlong2) == 16 && alignof(longlong2) == 16);
static_assert(sizeof(double4) == 32 && alignof(double4) == 16 && sizeof(double3) == 24);

template <typename T> __global__ void copy(const T* in, T* out) {
  __shared__ T tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();  // orders nothing: each thread reads what it has written
  out[63 - threadIdx.x] = tile[threadIdx.x];
}

/// Copies 64 elements, with so many requests and sectors of global memory.
template <typename T> void expect_copied(const T& last, std::size_t requests, std::size_t sectors) {
  SCOPED_TRACE(sizeof(T));
  Array<T> in{64}, out{64};
  in[63] = last;
  sweep({{"",
          [&] {
            copy<T><<<1, 64>>>(in, out);
            EXPECT_EQ(std::memcmp(&out[0], &last, sizeof(T)), 0);
          },
          {{loads, requests}, {load_sectors, sectors}, {stores, requests}}}});
}

TEST(Types, AreLoadedAsTheirAlignmentAllows) {
  expect_copied(static_cast<signed char>(7), 2, 2);
  expect_copied(short{7}, 2, 4);
  expect_copied(half{7}, 2, 4);
  expect_copied(__nv_bfloat16{7}, 2, 4);
  expect_copied(make_char2(1, 2), 2, 4);
  expect_copied(make_uchar4(1, 2, 3, 4), 2, 8);
  expect_copied(make_half2(1, 2), 2, 8);
  expect_copied(make_short4(1, 2, 3, 4), 2, 16);
  expect_copied(make_float2(1, 2), 2, 16);
  expect_copied(make_double2(1, 2), 2, 32);
  // Three loads per warp, each of which touches all the sectors.
  expect_copied(make_char3(1, 2, 3), 3 * 2, 3 * 6);
  expect_copied(make_short3(1, 2, 3), 3 * 2, 3 * 12);
  expect_copied(make_float3(1, 2, 3), 3 * 2, 3 * 24);
  expect_copied(make_double3(1, 2, 3), 3 * 2, 3 * 48);
  expect_copied(make_double4(1, 2, 3, 4), 2 * 2, 2 * 64);
}

TEST(Complex, HasTheOperatorsOfNumbers) {
  const Complex<float> a{1, 2}, b{3, -4};
  EXPECT_EQ(a + b, (Complex<float>{4, -2}));
  EXPECT_EQ(a - b, (Complex<float>{-2, 6}));
  EXPECT_EQ(a * b, (Complex<float>{11, 2}));
  EXPECT_EQ(Complex<float>(11, 2) / b, a);
  EXPECT_EQ(-a, (Complex<float>{-1, -2}));
  EXPECT_NE(a, b);
  EXPECT_EQ(static_cast<std::complex<float>>(b), (std::complex<float>{3, -4}));
  Complex<float> sum{1, 2};
  sum += Complex<float>{3, 4} + Complex<float>{5};
  EXPECT_EQ(sum, (Complex<float>{9, 6}));
  static_assert(sizeof(Complex<float>) == 8 && alignof(Complex<float>) == 8);
  static_assert(sizeof(Complex<double>) == 16 && alignof(Complex<double>) == 16);
  static_assert(std::is_standard_layout_v<Complex<float>>);
  static_assert(std::is_trivially_default_constructible_v<Complex<float>>);
}

// ---- structs and bytes ----

struct Padded {
  char letter;
  double value;  // after 7 bytes that nobody writes
};

struct Long {
  short key;
  double value;
  int count;  // before 4 more
};

/// Members one by one, then whole ones, with the padding that nobody has written.
template <typename T, typename Fill> __global__ void fill_in(Fill fill, T* out, T* copies, T* shared_copies) {
  __shared__ T tile[32];
  const unsigned i = threadIdx.x;
  fill(tile[i], i);
  fill(out[i], i);
  const T mine = out[i];
  copies[i] = mine;
  shared_copies[i] = tile[i];
}

template <typename T> void expect_copied_with_padding(auto fill) {
  Array<T> out{32}, copies{32}, shared_copies{32};
  for (Array<T>* const array : {&out, &copies, &shared_copies})
    array->forget(0, 32);
  fill_in<<<1, 32>>>(fill, out.begin(), copies.begin(), shared_copies.begin());
}

TEST(Structs, AreCopiedWithTheirPadding) {
  expect_copied_with_padding<Padded>([](Padded& element, unsigned i) {
    element.letter = 'b';
    element.value = i;
  });
  expect_copied_with_padding<Long>([](Long& element, unsigned i) {
    element.key = static_cast<short>(i);
    element.value = i;
    element.count = 1;
  });
}

__global__ void read_first(const Padded* in, float4* vectors, double* out) {
  __shared__ Padded tile[1];
  __shared__ float4 four[1];
  four[0].x = four[0].y = four[0].z = 1;
  if (in != nullptr) tile[0].value = 1;
  const Padded mine = in != nullptr ? tile[0] : Padded{};
  if (vectors != nullptr) vectors[0] = four[0];
  out[0] = mine.value;
}

TEST(Structs, AreReportedIfTheirFirstMemberIsUnwrittenAndVectorsInAnyCase) {
  Array<Padded> in{1};
  Array<float4> vectors{1};
  Array<double> out{1};
  expect_findings(
      {{"uninitialised read in read_first", [&] { read_first<<<1, 1>>>(in, nullptr, out); }},
       {"uninitialised read in read_first", [&] { read_first<<<1, 1>>>(nullptr, vectors, out); }}});
}

/// Of a size that the compiler knows.
template <std::size_t bytes> __global__ void copy_by_memcpy(const std::byte* in, std::byte* out) {
  alignas(16) __shared__ std::byte tile[8 * bytes];
  std::memcpy(tile + bytes * threadIdx.x, in + bytes * threadIdx.x, bytes);
  std::memmove(out + bytes * threadIdx.x, tile + bytes * (threadIdx.x ^ 1), bytes);
}
template <std::size_t bytes> __global__ void clear_by_memset(std::byte* out) {
  std::memset(out + bytes * threadIdx.x, 0, bytes);
}

template <std::size_t bytes> void expect_memcpy_to_be_followed() {
  SCOPED_TRACE(bytes);
  Array<std::byte> in{8 * bytes}, out{8 * bytes};
  expect_findings({{"race in ", [&] { copy_by_memcpy<bytes><<<1, 8>>>(in, out); }},
                   {"out of bounds in ", [&] { clear_by_memset<bytes><<<1, 9>>>(out); }}});
  const Counters counted = counters_of([&] { clear_by_memset<bytes><<<1, 8>>>(out); });
  const std::size_t parts = bytes > 16 && bytes % 8 == 0 ? bytes / 8 : (bytes + 3) / 4;
  if (bytes % 4 == 0) {
    EXPECT_EQ(counted.global_store_requests, parts);
  }
}

TEST(Bytes, OfAnyNumberAreCopiedAndCleared) {
  expect_memcpy_to_be_followed<1>();
  expect_memcpy_to_be_followed<3>();
  expect_memcpy_to_be_followed<4>();
  expect_memcpy_to_be_followed<8>();
  expect_memcpy_to_be_followed<16>();
  expect_memcpy_to_be_followed<24>();
  expect_memcpy_to_be_followed<64>();
  expect_memcpy_to_be_followed<1024>();
}

}  // namespace
