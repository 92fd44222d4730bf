#pragma once
/// \file
/// What the tests of 12's header share: memory, streams, inputs, and plain loops on the host to compare with.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "device/cuda_check.cuh"
#include "harness/device.hpp"
#include "reduction/reduce.cuh"

namespace reduction {
namespace {

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
  void set(std::size_t place, const T& value) const {
    cuda_check(cudaMemcpy(data_ + place, &value, sizeof(T), cudaMemcpyHostToDevice), "uploading");
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

class Reduce : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = cuda_unavailable_reason();
    if (!reason.empty()) GTEST_SKIP() << "no CUDA device: " << reason;
  }
};

// ---- calls ----

/// Returns the results of calls number 0 to count - 1. With exactly the storage that reduce() asks for, so that
/// compute-sanitizer sees a byte too many.
template <typename Out, typename Call> std::vector<Out> results_of(std::size_t count, Call call) {
  std::size_t bytes = 0;
  cuda_check(call(0, nullptr, bytes, static_cast<Out*>(nullptr)), "asking reduce()");
  const DeviceArray<std::byte> storage(bytes);
  const DeviceArray<Out> out(count);
  for (std::size_t i = 0; i < count; ++i)
    cuda_check(call(i, storage.get(), bytes, out.get() + i), "calling reduce()");
  return out.download();
}

/// Returns a call of reduce() with this operation and options.
template <typename Operation, typename... Rest> auto by(Operation operation, Rest... rest) {
  return [operation, rest...](void* storage, std::size_t& bytes, auto* in, auto* out, auto n) {
    return reduction::reduce(storage, bytes, in, out, n, operation, rest...);
  };
}

template <typename Out, typename T, typename Call> Out result(const T* in, std::size_t n, Call call) {
  return results_of<Out>(1, [&](std::size_t, void* storage, std::size_t& bytes, Out* out) {
    return call(storage, bytes, in, out, n);
  })[0];
}

template <typename T> bool same(const T& a, const T& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }

// ---- inputs ----

/// For an input of any type these are in every method but bulk copies.
const std::vector<std::size_t> all_sizes{
    0, 1, 2, 31, 33, 1000, 3000, (1 << 14) - 1, (1 << 14) + 1, (1 << 16) + 3, (1 << 20) + 7, 1 << 22};
constexpr std::size_t offsets = 4;  ///< of the first element from where cudaMalloc's memory starts

/// A number without a pattern, the same for the same i.
__host__ __device__ inline std::uint32_t scattered(std::size_t i) {
  auto x = static_cast<std::uint32_t>(i * 2654435761u);
  x ^= x >> 15;
  x *= 2246822519u;
  return x ^ (x >> 13);
}

template <typename T, typename Element> std::vector<T> values_of(std::size_t n, Element element) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = element(i);
  return values;
}

/// None is zero: a sum that misses one differs.
inline int small_number(std::size_t i) {
  const int magnitude = static_cast<int>(scattered(i) % 8) + 1;
  return scattered(i) % 32 < 16 ? magnitude : -magnitude;
}

/// Exact as a float; as an 8-bit integer what is left of it.
inline int any_number(std::size_t i) { return static_cast<int>(scattered(i) >> 8) - (1 << 23); }

template <typename T> T number(int x) {
  if constexpr (traits::is_small_float<T>)
    return T(static_cast<float>(x));
  else
    return static_cast<T>(x);
}

template <typename T> std::vector<T> small_numbers(std::size_t n) {
  return values_of<T>(n, [](std::size_t i) { return number<T>(small_number(i)); });
}

template <typename T> std::vector<T> any_numbers(std::size_t n) {
  return values_of<T>(n, [](std::size_t i) { return number<T>(any_number(i)); });
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

template <typename T> __global__ void set_all(T* in, std::size_t n, T value) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    in[i] = value;
}

/// The number of elements from which on the header copies in bulk, and not a whole number of anything.
template <typename T> constexpr std::size_t bulk_elements = (std::size_t{1} << 30) / sizeof(T) + 12345;

/// Says why there cannot be an array of so many bytes; empty if there can.
inline std::string too_large(std::size_t bytes) {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for the free memory");
  const std::size_t wanted = bytes + (std::size_t{64} << 20);
  if (free_bytes >= wanted) return "";
  return "needs " + std::to_string(wanted) + " bytes, " + std::to_string(free_bytes) + " are free";
}

// ---- what is expected: plain loops, with no code of the header's ----

/// Returns `value` as the host calculates with it.
template <typename T> auto plain(const T& value) {
  if constexpr (traits::is_small_float<T>)
    return static_cast<float>(value);
  else
    return value;
}

/// Of integers modulo 2^64, of others exactly if a double can hold all sums.
template <typename Out, typename T> Out sum_on_host(const T* values, std::size_t n) {
  if constexpr (std::is_integral_v<Out>) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      sum += static_cast<std::uint64_t>(values[i]);
    return static_cast<Out>(sum);
  } else {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      sum += static_cast<double>(plain(values[i]));
    if constexpr (traits::is_small_float<Out>)
      return Out(static_cast<float>(sum));
    else
      return static_cast<Out>(sum);
  }
}

template <typename T> T product_on_host(const T* values, std::size_t n) {
  std::conditional_t<std::is_integral_v<T>, std::uint64_t, double> product = 1;
  for (std::size_t i = 0; i < n; ++i)
    product *= static_cast<decltype(product)>(values[i]);
  return static_cast<T>(product);
}

/// Passes over NaN.
template <typename T> T min_on_host(const T* values, std::size_t n) {
  using Limits = std::numeric_limits<decltype(plain(T{}))>;
  auto least = Limits::has_infinity ? Limits::infinity() : Limits::max();
  for (std::size_t i = 0; i < n; ++i)
    if (plain(values[i]) < least) least = plain(values[i]);
  return static_cast<T>(least);
}

/// Passes over NaN.
template <typename T> T max_on_host(const T* values, std::size_t n) {
  using Limits = std::numeric_limits<decltype(plain(T{}))>;
  auto largest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  for (std::size_t i = 0; i < n; ++i)
    if (largest < plain(values[i])) largest = plain(values[i]);
  return static_cast<T>(largest);
}

/// Every size from every one of the first starts. `reference` gets what `call` gets: where the elements begin, and n.
template <typename Out, typename T, typename Reference, typename Call>
void expect_the_hosts_result(const std::vector<T>& values, const std::vector<std::size_t>& sizes,
                             std::size_t starts, Reference reference, Call call) {
  const DeviceArray<T> in(values);
  for (std::size_t start = 0; start < starts; ++start) {
    const std::vector<Out> results =
        results_of<Out>(sizes.size(), [&](std::size_t i, void* storage, std::size_t& bytes, Out* out) {
          return call(storage, bytes, static_cast<const T*>(in.get() + start), out, sizes[i]);
        });
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      ASSERT_LE(start + sizes[i], values.size());
      const Out expected = reference(values.data() + start, sizes[i]);
      ASSERT_TRUE(same(results[i], expected)) << sizes[i] << " elements from the one at " << start;
    }
  }
}

}  // namespace
}  // namespace reduction
