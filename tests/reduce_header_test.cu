/// \file
/// reduce() of beyond/12_any_operation, compared with a loop on the host. Skipped where there is no CUDA device.
///
/// The elements are chosen so that no order of the operations rounds: the results have to be equal, not close.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <string>
#include <type_traits>
#include <vector>

#include "device/cuda_check.cuh"
#include "harness/device_selection.hpp"
#include "reduction/reduce.cuh"

namespace reduction {
namespace {

constexpr std::array<std::size_t, 12> sizes{
    0, 1, 2, 31, 33, 1000, 3000, (1 << 14) - 1, (1 << 14) + 1, (1 << 16) + 3, (1 << 20) + 7, 1 << 22};
constexpr std::size_t offsets = 4;  ///< of the first element from where cudaMalloc's memory starts
constexpr std::size_t most_elements = sizes.back() + offsets - 1;

/// What memory holds that nothing has been written to.
constexpr int poison = 0xEE;

template <typename T> class DeviceArray {
 public:
  explicit DeviceArray(std::size_t n) : bytes_(n * sizeof(T)) {
    cuda_check(cudaMalloc(&data_, bytes_), "allocating device memory");
    cuda_check(cudaMemset(data_, poison, bytes_), "filling device memory");
    cuda_check(cudaDeviceSynchronize(), "filling device memory");  // for other streams
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    cuda_check(cudaMemcpy(data_, values.data(), bytes_, cudaMemcpyHostToDevice), "uploading");
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* get() const { return data_; }
  std::vector<T> download() const {
    std::vector<T> values(bytes_ / sizeof(T));
    cuda_check(cudaMemcpy(values.data(), data_, bytes_, cudaMemcpyDeviceToHost), "downloading");
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t bytes_;
};

class Stream {
 public:
  Stream() { cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void synchronize() const { cuda_check(cudaStreamSynchronize(stream_), "waiting for a stream"); }

 private:
  cudaStream_t stream_ = nullptr;
};

template <typename T, typename Operation>
std::size_t storage_bytes(const T* in, std::size_t n, Operation operation, T identity) {
  std::size_t bytes = 0;
  cuda_check(reduce(nullptr, bytes, in, static_cast<T*>(nullptr), n, operation, identity), "asking reduce()");
  return bytes;
}

/// With exactly the storage that reduce() asks for, so that compute-sanitizer sees a byte too many.
template <typename T, typename Operation>
T reduced(const T* in, std::size_t n, Operation operation, T identity) {
  std::size_t bytes = storage_bytes(in, n, operation, identity);
  const DeviceArray<std::byte> storage(bytes);
  const DeviceArray<T> out(1);
  cuda_check(reduce(storage.get(), bytes, in, out.get(), n, operation, identity), "calling reduce()");
  return out.download()[0];
}

template <typename T> bool same(const T& a, const T& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }

/// The sign of a zero in a product of complex numbers depends on the order.
template <typename Real> bool same(const cuda::std::complex<Real>& a, const cuda::std::complex<Real>& b) {
  return a == b;
}

/// Every size from every misaligned start.
template <typename T, typename Operation>
void expect_the_hosts_result(const std::vector<T>& values, Operation operation, T identity) {
  const DeviceArray<T> in(values);
  for (std::size_t offset = 0; offset < offsets; ++offset) {
    T expected = identity;
    std::size_t done = 0;
    for (const std::size_t n : sizes) {
      for (; done < n; ++done)
        expected = operation(expected, values[offset + done]);
      ASSERT_TRUE(same(reduced(in.get() + offset, n, operation, identity), expected))
          << n << " elements from the one at " << offset;
    }
  }
}

template <typename T, typename Operation>
void expect_the_hosts_result(const std::vector<T>& values, Operation operation) {
  expect_the_hosts_result(values, operation, Operation::template identity<T>());
}

/// A number without a pattern, the same for the same i.
__host__ __device__ std::uint32_t scattered(std::size_t i) {
  auto x = static_cast<std::uint32_t>(i * 2654435761u);
  x ^= x >> 15;
  x *= 2246822519u;
  return x ^ (x >> 13);
}

template <typename T, typename Element> std::vector<T> values_of(Element element) {
  std::vector<T> values(most_elements);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = element(i);
  return values;
}

/// None is zero: a sum that misses one differs.
int small_number(std::size_t i) {
  const int magnitude = static_cast<int>(scattered(i) % 8) + 1;
  return scattered(i) % 32 < 16 ? magnitude : -magnitude;
}

/// 1 or -1, and rarely 3: a product of all of them is exact in every type.
int small_factor(std::size_t i) {
  if (i % 300007 == 5) return 3;
  return scattered(i) % 32 < 16 ? 1 : -1;
}

/// Exact as a float; as an 8-bit integer what is left of it.
int any_number(std::size_t i) { return static_cast<int>(scattered(i) >> 8) - (1 << 23); }

class Reduce : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = cuda_unavailable_reason();
    if (!reason.empty()) GTEST_SKIP() << "no CUDA device: " << reason;
  }
};

template <typename T> class ReduceNumbers : public Reduce {};
using Numbers = testing::Types<std::int8_t, std::uint8_t, std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(ReduceNumbers, Numbers);

TYPED_TEST(ReduceNumbers, Sum) {
  expect_the_hosts_result(values_of<TypeParam>([](std::size_t i) { return TypeParam(small_number(i)); }),
                          Sum{});
}

TYPED_TEST(ReduceNumbers, Product) {
  expect_the_hosts_result(values_of<TypeParam>([](std::size_t i) { return TypeParam(small_factor(i)); }),
                          Product{});
}

TYPED_TEST(ReduceNumbers, Min) {
  expect_the_hosts_result(values_of<TypeParam>([](std::size_t i) { return TypeParam(any_number(i)); }),
                          Min{});
}

TYPED_TEST(ReduceNumbers, Max) {
  expect_the_hosts_result(values_of<TypeParam>([](std::size_t i) { return TypeParam(any_number(i)); }),
                          Max{});
}

/// All elements are `others` but one, wherever that one is.
template <typename T, typename Operation>
void expect_that_one_element_decides(Operation operation, T one, T others) {
  const std::vector<T> values(most_elements, others);
  const DeviceArray<T> in(values);
  const T identity = Operation::template identity<T>();
  for (const std::size_t n : sizes) {
    if (n == 0) continue;
    for (std::size_t offset = 0; offset < offsets; ++offset) {
      T* const first = in.get() + offset;
      ASSERT_TRUE(same(reduced(first, n, operation, identity), others)) << n << " elements from " << offset;
      for (const std::size_t place : {std::size_t{0}, n / 2, n - 1}) {
        cuda_check(cudaMemcpy(first + place, &one, sizeof(T), cudaMemcpyHostToDevice), "uploading");
        ASSERT_TRUE(same(reduced(first, n, operation, identity), one))
            << n << " elements from " << offset << ", the one at " << place;
        cuda_check(cudaMemcpy(first + place, &others, sizeof(T), cudaMemcpyHostToDevice), "uploading");
      }
    }
  }
}

TYPED_TEST(ReduceNumbers, LogicalAnd) {
  expect_that_one_element_decides(LogicalAnd{}, TypeParam(false), TypeParam(true));
}

TYPED_TEST(ReduceNumbers, LogicalOr) {
  expect_that_one_element_decides(LogicalOr{}, TypeParam(true), TypeParam(false));
}

template <typename T> class ReduceComplex : public Reduce {};
using ComplexNumbers = testing::Types<cuda::std::complex<float>, cuda::std::complex<double>>;
TYPED_TEST_SUITE(ReduceComplex, ComplexNumbers);

TYPED_TEST(ReduceComplex, Sum) {
  using Real = typename TypeParam::value_type;
  expect_the_hosts_result(values_of<TypeParam>([](std::size_t i) {
                            return TypeParam(Real(small_number(i)), Real(small_number(i + 1)));
                          }),
                          Sum{});
}

TYPED_TEST(ReduceComplex, Product) {
  using Real = typename TypeParam::value_type;
  expect_the_hosts_result(values_of<TypeParam>([](std::size_t i) {
                            const auto factor = Real(small_factor(i));
                            return i % 2 == 0 ? TypeParam(factor, Real(0)) : TypeParam(Real(0), factor);
                          }),
                          Product{});
}

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
  template <typename T>
  __host__ __device__ Extent<T> operator()(const Extent<T>& a, const Extent<T>& b) const {
    return {a.sum + b.sum, Min{}(a.smallest, b.smallest), Max{}(a.largest, b.largest)};
  }
  __host__ __device__ SumAndLargest operator()(const SumAndLargest& a, const SumAndLargest& b) const {
    return {a.sum + b.sum, Max{}(a.largest, b.largest)};
  }
};

template <typename T> void expect_extents() {
  expect_the_hosts_result(values_of<Extent<T>>([](std::size_t i) {
                            return Extent<T>{small_number(i), any_number(i), any_number(i)};
                          }),
                          Summarize{}, Extent<T>{0, Min::identity<T>(), Max::identity<T>()});
}

TEST_F(Reduce, StructOf12Bytes) { expect_extents<std::int32_t>(); }

TEST_F(Reduce, StructOf24Bytes) { expect_extents<std::int64_t>(); }

TEST_F(Reduce, StructOf16BytesThatMayStartAt8) {
  expect_the_hosts_result(values_of<SumAndLargest>([](std::size_t i) {
                            return SumAndLargest{double(small_number(i)), double(any_number(i))};
                          }),
                          Summarize{}, SumAndLargest{0, Max::identity<double>()});
}

using IndexedFloat = Indexed<float, std::int32_t>;

TEST_F(Reduce, ArgMinFindsTheFirstOfEqualValues) {
  // Few different values, so that almost every comparison is a tie.
  expect_the_hosts_result(values_of<IndexedFloat>([](std::size_t i) {
                            return IndexedFloat{float(small_number(i)), static_cast<std::int32_t>(i)};
                          }),
                          ArgMin{});
  std::vector<IndexedFloat> equal(most_elements);
  for (std::size_t i = 0; i < equal.size(); ++i)
    equal[i] = {1.0f, static_cast<std::int32_t>(i)};
  std::reverse(equal.begin(), equal.end());
  const DeviceArray<IndexedFloat> in(equal);
  EXPECT_EQ(reduced(in.get(), equal.size(), ArgMin{}, ArgMin::identity<IndexedFloat>()).index, 0);
}

TEST_F(Reduce, ArgMinPassesOverNaN) {
  const float nan = cuda::std::numeric_limits<float>::quiet_NaN();
  expect_the_hosts_result(
      values_of<IndexedFloat>([nan](std::size_t i) {
        return IndexedFloat{i % 3 == 1 ? 2.0f - float(i % 7) : nan, static_cast<std::int32_t>(i)};
      }),
      ArgMin{});
  const auto least = reduced(DeviceArray<IndexedFloat>({{nan, 0}, {5, 1}, {nan, 2}, {4, 3}}).get(), 4,
                             ArgMin{}, ArgMin::identity<IndexedFloat>());
  EXPECT_EQ(least.value, 4);
  EXPECT_EQ(least.index, 3);
}

template <typename T> class ReduceNaN : public Reduce {};
using FloatingPoint = testing::Types<float, double>;
TYPED_TEST_SUITE(ReduceNaN, FloatingPoint);

TYPED_TEST(ReduceNaN, IsPassedOverByMinAndMax) {
  const TypeParam nan = cuda::std::numeric_limits<TypeParam>::quiet_NaN();
  const TypeParam one = -7;
  std::vector<TypeParam> values(most_elements, nan);
  for (const std::size_t n : sizes) {
    if (n == 0) continue;
    for (const std::size_t place : {std::size_t{0}, n / 2, n - 1}) {
      values[place] = one;
      const DeviceArray<TypeParam> in(values);
      ASSERT_EQ(reduced(in.get(), n, Min{}, Min::identity<TypeParam>()), one) << n << " elements, " << place;
      ASSERT_EQ(reduced(in.get(), n, Max{}, Max::identity<TypeParam>()), one) << n << " elements, " << place;
      values[place] = nan;
    }
  }
}

/// The sum modulo a number that only a run knows.
struct AddModulo {
  unsigned modulus;
  __host__ __device__ unsigned operator()(unsigned a, unsigned b) const { return (a + b) % modulus; }
};

TEST_F(Reduce, OperationWithState) {
  for (const unsigned modulus : {7u, 1000003u}) {
    expect_the_hosts_result(values_of<unsigned>([modulus](std::size_t i) { return scattered(i) % modulus; }),
                            AddModulo{modulus}, 0u);
  }
}

TEST_F(Reduce, NothingGivesTheIdentity) {
  const int* const nowhere = nullptr;
  EXPECT_EQ(reduced(nowhere, 0, Sum{}, 0), 0);
  EXPECT_EQ(reduced(nowhere, 0, Min{}, 17), 17);
}

TEST_F(Reduce, OnlySaysHowMuchStorageItNeeds) {
  const DeviceArray<float> in(most_elements);
  const DeviceArray<float> out(1);
  for (const std::size_t n : sizes) {
    std::size_t bytes = 0;
    ASSERT_EQ(reduce(nullptr, bytes, in.get(), out.get(), n, Sum{}), cudaSuccess);
    EXPECT_GT(bytes, 0u);
    EXPECT_LT(bytes, std::size_t{1} << 20);
  }
  cuda_check(cudaDeviceSynchronize(), "waiting");
  const float untouched = out.download()[0];
  unsigned char bytes[sizeof(float)];
  std::memcpy(bytes, &untouched, sizeof bytes);
  for (const unsigned char byte : bytes)
    EXPECT_EQ(byte, poison);
}

TEST_F(Reduce, RefusesStorageThatIsTooSmallOrMisaligned) {
  const DeviceArray<double> in(std::vector<double>(most_elements, 1.0));
  const DeviceArray<double> out(1);
  const double before = out.download()[0];
  for (const std::size_t n : {std::size_t{1000}, std::size_t{1} << 22}) {
    const std::size_t needed = storage_bytes(in.get(), n, Sum{}, 0.0);
    const DeviceArray<std::byte> storage(needed + 1);
    std::size_t too_few = needed - 1;
    EXPECT_EQ(reduce(storage.get(), too_few, in.get(), out.get(), n, Sum{}), cudaErrorInvalidValue);
    std::size_t enough = needed;
    EXPECT_EQ(reduce(storage.get() + 1, enough, in.get(), out.get(), n, Sum{}), cudaErrorInvalidValue);
    EXPECT_EQ(too_few, needed - 1);
    EXPECT_EQ(enough, needed);
  }
  cuda_check(cudaDeviceSynchronize(), "waiting");
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  const double after = out.download()[0];
  EXPECT_TRUE(same(after, before)) << "something was launched";
}

/// Sets n elements to `value`, and takes its time.
__global__ void set_slowly(int* in, std::size_t n, int value) {
  const long long start = clock64();
  while (clock64() - start < 1000000) {
  }
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    in[i] = value;
}

constexpr std::size_t ordered_elements = (1 << 20) + 7;

TEST_F(Reduce, KeepsTheOrderOfItsStream) {
  constexpr int turns = 20;
  const Stream streams[2];
  const DeviceArray<int> in[2]{DeviceArray<int>(ordered_elements), DeviceArray<int>(ordered_elements)};
  const DeviceArray<int> out[2]{DeviceArray<int>(turns), DeviceArray<int>(turns)};
  std::size_t bytes = storage_bytes(in[0].get(), ordered_elements, Sum{}, 0);
  const DeviceArray<std::byte> storage[2]{DeviceArray<std::byte>(bytes), DeviceArray<std::byte>(bytes)};
  // Each call finds its storage and its input as the one before leaves them, on two streams at a time.
  for (int turn = 0; turn < turns; ++turn) {
    for (int k = 0; k < 2; ++k) {
      set_slowly<<<64, 256, 0, streams[k]>>>(in[k].get(), ordered_elements, turn + 100 * k);
      ASSERT_EQ(reduce(storage[k].get(), bytes, in[k].get(), out[k].get() + turn, ordered_elements, Sum{},
                       streams[k]),
                cudaSuccess);
    }
  }
  for (int k = 0; k < 2; ++k) {
    streams[k].synchronize();
    const std::vector<int> sums = out[k].download();
    for (int turn = 0; turn < turns; ++turn)
      EXPECT_EQ(sums[static_cast<std::size_t>(turn)], static_cast<int>(ordered_elements) * (turn + 100 * k))
          << "stream " << k << ", turn " << turn;
  }
}

TEST_F(Reduce, CanBeCapturedIntoAGraph) {
  for (const std::size_t n : {std::size_t{1000}, ordered_elements}) {
    const Stream stream;
    const DeviceArray<int> in(n);
    const DeviceArray<int> out(1);
    std::size_t bytes = storage_bytes(in.get(), n, Sum{}, 0);
    const DeviceArray<std::byte> storage(bytes);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "beginning a capture");
    EXPECT_EQ(reduce(storage.get(), bytes, in.get(), out.get(), n, Sum{}, stream), cudaSuccess);
    cuda_check(cudaStreamEndCapture(stream, &graph), "ending a capture");
    cuda_check(cudaGraphInstantiate(&executable, graph, 0), "instantiating a graph");
    for (const int value : {1, -3, 8}) {
      set_slowly<<<64, 256, 0, stream>>>(in.get(), n, value);
      cuda_check(cudaGraphLaunch(executable, stream), "launching a graph");
      stream.synchronize();
      EXPECT_EQ(out.download()[0], static_cast<int>(n) * value);
    }
    cuda_check(cudaGraphExecDestroy(executable), "destroying a graph");
    cuda_check(cudaGraphDestroy(graph), "destroying a graph");
  }
}

TEST_F(Reduce, GivesTheSameBitsInEveryRun) {
  constexpr std::size_t runs = 1000;
  // Numbers whose sum depends on the order in which they are added.
  const DeviceArray<float> in(values_of<float>(
      [](std::size_t i) { return float(any_number(i)) * 1e-5f + float(small_number(i)) * 1e5f; }));
  const DeviceArray<float> out(runs);
  std::size_t bytes = storage_bytes(in.get(), ordered_elements, Sum{}, 0.0f);
  const DeviceArray<std::byte> storage(bytes);
  for (std::size_t run = 0; run < runs; ++run) {
    ASSERT_EQ(reduce(storage.get(), bytes, in.get(), out.get() + run, ordered_elements, Sum{}), cudaSuccess);
  }
  const std::vector<float> sums = out.download();
  for (const float sum : sums)
    ASSERT_TRUE(same(sum, sums[0])) << sum << " and " << sums[0];
}

/// Cheap enough for the host to add billions of them. Without a period of 2^32 or less: a sum of bytes over whole periods
/// would be 0, and one that misses them would be right.
template <typename T> __host__ __device__ T quick_number(std::size_t i) {
  return static_cast<T>(static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15u >> 40);
}

template <typename T> __global__ void set_quick_numbers(T* in, std::size_t n) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    in[i] = quick_number<T>(i);
}

template <typename T> class ReduceLarge : public Reduce {};
using Unsigned = testing::Types<std::uint8_t, std::uint32_t>;
TYPED_TEST_SUITE(ReduceLarge, Unsigned);

/// From 2 GiB on, where the header copies in bulk; of bytes more than 32 bits can count. Their sums wrap around.
TYPED_TEST(ReduceLarge, Sum) {
  using T = TypeParam;
  const std::size_t n = (sizeof(T) == 1 ? std::size_t{1} << 32 : (std::size_t{2} << 30) / sizeof(T)) + 12345;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for the free memory");
  const std::size_t wanted = (n + 1) * sizeof(T) + (std::size_t{64} << 20);
  if (free_bytes < wanted) GTEST_SKIP() << "needs " << wanted << " bytes, " << free_bytes << " are free";
  const DeviceArray<T> in(n + 1);
  set_quick_numbers<<<1024, 256>>>(in.get(), n + 1);
  T expected = 0;
  for (std::size_t i = 0; i < n; ++i)
    expected = T(expected + quick_number<T>(i));
  EXPECT_EQ(reduced(in.get(), n, Sum{}, T{0}), expected);
  expected = T(expected - quick_number<T>(0) + quick_number<T>(n));
  EXPECT_EQ(reduced(in.get() + 1, n, Sum{}, T{0}), expected) << "from the second element";
}

}  // namespace
}  // namespace reduction
