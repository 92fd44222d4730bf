#pragma once
/// \file
/// What the tests of 12's header share: memory, inputs, and every form of a call compared with a loop on the host.
///
/// Each of them is compiled twice: by nvcc for a GPU, where there is none skipped, and for the emulated device, which says
/// what a kernel reads or writes beside its memory.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "device/cuda_check.cuh"
#include "harness/device.hpp"
#include "reduction/reduce.cuh"

namespace reduction {
namespace {

#ifdef __CUDACC__
constexpr bool is_emulated = false;
#else
constexpr bool is_emulated = true;
#endif

class Reduce : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = is_emulated ? "" : cuda_unavailable_reason();
    if (!reason.empty()) GTEST_SKIP() << "no CUDA device: " << reason;
  }
};

// ---- memory ----

/// What a GPU's memory holds that nothing has been written to; the emulated device knows that it was not.
constexpr unsigned char poison = 0xEE;

/// Elements on the device that begin `past` bytes after a multiple of 256, and nothing behind them.
template <typename T> class DeviceArray {
 public:
  explicit DeviceArray(std::size_t n, std::size_t past = 0) : n_(n), past_(past) {
    cuda_check(cudaMalloc(&memory_, past + n * sizeof(T)), "allocating device memory");
    if (is_emulated) return;
    cuda_check(cudaMemset(memory_, poison, past + n * sizeof(T)), "filling device memory");
    cuda_check(cudaDeviceSynchronize(), "filling device memory");  // for other streams
  }
  DeviceArray(const T* values, std::size_t n, std::size_t past = 0) : DeviceArray(n, past) {
    cuda_check(cudaMemcpy(get(), values, n * sizeof(T), cudaMemcpyHostToDevice), "uploading");
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.data(), values.size()) {}
  ~DeviceArray() { cudaFree(memory_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* get() const { return reinterpret_cast<T*>(memory_ + past_); }
  T at(std::size_t place) const {
    T value;
    cuda_check(cudaMemcpy(&value, get() + place, sizeof(T), cudaMemcpyDeviceToHost), "downloading");
    return value;
  }
  void set(std::size_t place, const T& value) const {
    cuda_check(cudaMemcpy(get() + place, &value, sizeof(T), cudaMemcpyHostToDevice), "uploading");
  }
  std::vector<T> download() const {
    std::vector<T> values(n_);
    cuda_check(cudaMemcpy(values.data(), get(), n_ * sizeof(T), cudaMemcpyDeviceToHost), "downloading");
    return values;
  }

 private:
  std::byte* memory_ = nullptr;
  std::size_t n_;
  std::size_t past_;
};

// ---- numbers ----

template <typename T> constexpr bool is_small_float = traits::is_small_float<T>;

/// Returns `value` as the host calculates with it.
template <typename T> auto plain(const T& value) {
  if constexpr (is_small_float<T>)
    return static_cast<float>(value);
  else
    return value;
}
template <typename T> using Limits = std::numeric_limits<decltype(plain(T{}))>;

template <typename T, typename From> T number(From x) {
  if constexpr (is_small_float<T>)
    return T(static_cast<float>(x));
  else
    return static_cast<T>(x);
}
/// Above and below all others.
template <typename T> T highest() {
  return number<T>(Limits<T>::has_infinity ? Limits<T>::infinity() : Limits<T>::max());
}
template <typename T> T lowest() {
  return number<T>(Limits<T>::has_infinity ? -Limits<T>::infinity() : Limits<T>::lowest());
}

/// A number without a pattern, the same for the same i.
inline std::uint32_t scattered(std::size_t i) {
  auto x = static_cast<std::uint32_t>(i * 2654435761u);
  x ^= x >> 15;
  x *= 2246822519u;
  return x ^ (x >> 13);
}
/// A whole number from -8 to 8. None is zero: a sum that misses one differs. No sum of them is rounded.
template <typename T> T small_number(std::size_t i) {
  const int magnitude = static_cast<int>(scattered(i) % 8) + 1;
  return number<T>(scattered(i) % 32 < 16 ? magnitude : -magnitude);
}
/// Of integers all that there are, of others those that a __nv_bfloat16 holds.
template <typename T> T any_number(std::size_t i) {
  const std::uint32_t bits = scattered(i);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(bits) * 0x9E3779B97F4A7C15u >> 13);
  else
    return number<T>((static_cast<float>(bits % 256) - 127.5f) * static_cast<float>(1 << (bits >> 8) % 8));
}

// ---- structs ----

/// A number and its multiples, as many as `count` words hold. Added word by word.
template <typename Word, unsigned count> struct Multiples {
  Word word[count];

  Multiples() = default;
  __host__ __device__ Multiples(Word number) {
    for (unsigned k = 0; k < count; ++k)
      word[k] = static_cast<Word>(number * static_cast<Word>(2 * k + 1));
  }
};

struct AddWords {
  template <typename Word, unsigned count>
  __host__ __device__ Multiples<Word, count> operator()(const Multiples<Word, count>& a,
                                                        const Multiples<Word, count>& b) const {
    Multiples<Word, count> sum;
#ifdef __CUDA_ARCH__
#pragma unroll 1  // hundreds of words would take minutes to compile
#endif
    for (unsigned k = 0; k < count; ++k)
      sum.word[k] = static_cast<Word>(a.word[k] + b.word[k]);
    return sum;
  }
  template <typename Many> static __host__ __device__ Many identity() { return Many(0); }
};

// ---- what is expected: loops with no code of the header's, from `begin` to before `end` ----

/// One after the other by `operation`, from `first` on.
template <typename Out, typename Operation> auto folded(Out first, Operation operation) {
  return [=](const auto* begin, const auto* end) {
    Out result = first;
    for (; begin != end; ++begin)
      result = static_cast<Out>(operation(result, *begin));
    return result;
  };
}

/// Of integers modulo 2^64, of others exactly if a double can hold all sums. Zeros that are all -0 add up to -0.
template <typename Out> auto sum() {
  return [](const auto* begin, const auto* end) {
    if constexpr (std::is_integral_v<Out>) {
      std::uint64_t total = 0;
      for (; begin != end; ++begin)
        total += static_cast<std::uint64_t>(*begin);
      return static_cast<Out>(total);
    } else {
      double total = begin == end ? 0.0 : -0.0;
      for (; begin != end; ++begin)
        total += static_cast<double>(plain(*begin));
      return number<Out>(total);
    }
  };
}
/// Passes over NaN.
template <typename T> auto least() {
  return folded(highest<T>(), [](T a, T b) { return plain(b) < plain(a) ? b : a; });
}
template <typename T> auto largest() {
  return folded(lowest<T>(), [](T a, T b) { return plain(a) < plain(b) ? b : a; });
}

/// Equal in what a comparison sees: not in padding, and a NaN is a NaN. A zero has its sign.
template <typename T> bool agree(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<decltype(plain(a))>)
    if (plain(a) != plain(a) && plain(b) != plain(b)) return true;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}
template <typename T, typename Index> bool agree(const Indexed<T, Index>& a, const Indexed<T, Index>& b) {
  return a.index == b.index && agree(a.value, b.value);
}

// ---- calls ----

/// Returns reduce() with this operation and options, as a function of what comes before them in either form.
template <typename Accumulator = detail::Default, typename... Rest> auto by(Rest... rest) {
  return [=](auto&&... call) { return reduction::reduce<Accumulator>(call..., rest...); };
}
template <typename Accumulator = detail::Default, typename... Rest> auto transformed_by(Rest... rest) {
  return [=](auto&&... call) { return reduction::transform_reduce<Accumulator>(call..., rest...); };
}

/// Returns the result of call(out, [storage, bytes]) with exactly the storage that it asks for, and expects the same of the
/// form without storage.
template <typename Out, typename Call> Out result_of(const Call& call) {
  std::size_t bytes = 0;
  const DeviceArray<Out> out(2);
  cuda_check(call(out.get(), nullptr, bytes), "asking for the size of the storage");
  const DeviceArray<std::byte> storage(bytes);
  cuda_check(call(out.get(), storage.get(), bytes), "reducing");
  cuda_check(call(out.get() + 1), "reducing without storage");
  const Out found = out.at(0);
  EXPECT_TRUE(agree(found, out.at(1))) << "without storage";
  return found;
}
template <typename Out, typename T, typename Count, typename Call>
Out result(const T* in, Count n, const Call& call) {
  return result_of<Out>([&](Out* out, auto&&... storage) { return call(storage..., in, out, n); });
}
template <typename Out, typename T, typename Count, typename Call>
Out result(const DeviceArray<T>& in, Count n, const Call& call) {
  return result<Out>(static_cast<const T*>(in.get()), n, call);
}

/// Around a vector of 16 bytes, then the largest of each kernel and the next, as far as the emulated device gets in time.
template <typename T> std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all{0, 1, 2, 3, 7, 16, 31, 33, 70, 1000};
  for (const std::size_t kib : {16, 64, is_emulated ? 96 : 8192})
    all.insert(all.end(), {(kib << 10) / sizeof(T), (kib << 10) / sizeof(T) + 1});
  if (!is_emulated) all.push_back((std::size_t{24} << 20) / sizeof(T) + 7);
  return all;
}

/// Distances from a multiple of 256 bytes, as far as a vector's next start: for small inputs all that a T may have, or many.
template <typename T> std::vector<std::size_t> starts(std::size_t n) {
  std::vector<std::size_t> all;
  for (std::size_t k = 0; k * alignof(T) <= 16; ++k)
    if (k < 4 || (n <= 1000 && (!is_emulated || k == 6 || k == 13))) all.push_back(k * alignof(T));
  return all;
}

/// Compares a call's result for each size and start with what `by_host(begin, end)` returns.
template <typename Out, typename T, typename Element, typename ByHost, typename Call>
void expect(Element element, ByHost by_host, const Call& call) {
  for (const std::size_t n : sizes<T>()) {
    const auto values = std::make_unique<T[]>(n);
    for (std::size_t i = 0; i < n; ++i)
      values[i] = element(i);
    const T* const begin = values.get();
    const Out expected = by_host(begin, begin + n);
    for (const std::size_t past : starts<T>(n)) {
      const DeviceArray<T> in(begin, n, past);
      ASSERT_TRUE(agree(result<Out>(in, n, call), expected))
          << n << " elements, " << past << " bytes from a vector's start";
    }
  }
}

}  // namespace
}  // namespace reduction
