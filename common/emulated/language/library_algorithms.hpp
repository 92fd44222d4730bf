#pragma once
/// \file
/// How algorithms of Thrust and CUB run: by code of the device, whose accesses are checked as those of any kernel, and not counted.
/// What only loads and stores arrays of the device, and calls the library's own operations, the host does in its place, fast.

#include <cstring>
#include <optional>

#include "emulated/language/runtime/libraries.hpp"
#include "emulated/language/runtime/memory.hpp"
#include "emulated/language/runtime/streams.hpp"

namespace __emulated {

/// An operation of a library, which the host may call as well.
template <typename T>
concept OfLibrary = requires {
  typename T::__emulated_of_library;
};

/// Elements that an algorithm reads, or writes.
template <typename T> struct ArrayUse {
  T* begin;
  std::size_t count;
  bool writes;
};

template <typename Body> __global__ void element_of_algorithm(Body body, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;
  if (i < count) body(static_cast<std::ptrdiff_t>(i));
}
template <typename Body, typename T> __global__ void algorithm(Body body, T* result) {
  new (result) T(body());
}

/// Where an algorithm runs: by the calling thread, or on the device.
struct AlgorithmPlace {
  const char* name;
  bool is_on_device;
  cudaStream_t stream;

  /// Calls body(i) for each element. \param uses  all of its accesses, if the host may call it.
  template <typename Body, typename... T>
  void for_each(std::size_t count, Body body, ArrayUse<T>... uses) const {
    const auto end = static_cast<std::ptrdiff_t>(count);
    if (!is_on_device || is_in_kernel() || count == 0) {
      for (std::ptrdiff_t i = 0; i < end; ++i)
        body(i);
    } else if constexpr (sizeof...(T) != 0) {
      LibraryCall call{name, stream};
      if ((uses_array(call, uses) && ...))
        for (std::ptrdiff_t i = 0; i < end; ++i)
          body(i);
    } else {
      launch_algorithm((count + 255) / 256, 256, element_of_algorithm<Body>, body, count);
    }
  }

  /// Returns what body() does, called once.
  template <typename Body, typename... T> auto once(Body body, ArrayUse<T>... uses) const {
    using Result = decltype(body());
    if (!is_on_device || is_in_kernel()) return body();
    alignas(Result) std::byte bytes[sizeof(Result)]{};
    if constexpr (sizeof...(T) != 0) {
      LibraryCall call{name, stream};
      if ((uses_array(call, uses) && ...)) new (bytes) Result(body());
    } else {
      Result* result = nullptr;
      cudaMalloc(&result, sizeof(Result));
      launch_algorithm(1, 1, algorithm<Body, Result>, body, result);
      cudaMemcpy(bytes, result, sizeof(Result), cudaMemcpyDeviceToHost);
      cudaFree(result);
    }
    return *reinterpret_cast<Result*>(bytes);
  }

 private:
  template <typename T> static bool uses_array(LibraryCall& call, const ArrayUse<T>& use) {
    return use.writes ? call.writes(use.begin, use.count) : call.reads(use.begin, use.count);
  }
  template <typename... Parameters, typename... Arguments>
  void launch_algorithm(std::size_t blocks, unsigned threads, void (*kernel)(Parameters...),
                        const Arguments&... arguments) const {
    say_of_library("Thrust and cub::Device",
                   "their algorithms are the emulated device's own: they are checked, and not counted");
    ExecutionConfiguration configuration{static_cast<unsigned>(blocks), threads, 0, stream};
    configuration.is_counted = false;
    launch(configuration, kernel, arguments...);
    cudaStreamSynchronize(stream);
  }
};

/// Memory of the device while an algorithm runs.
template <typename T> class ScratchArray {
 public:
  explicit ScratchArray(std::size_t count) { cudaMalloc(&begin_, count * sizeof(T)); }
  ~ScratchArray() { cudaFree(begin_); }
  ScratchArray(const ScratchArray&) = delete;
  ScratchArray& operator=(const ScratchArray&) = delete;
  T* begin() const { return begin_; }

 private:
  T* begin_ = nullptr;
};

/// The order of elements, sorted without changing that of equal ones. \param scratch  for twice as many.
template <typename Less> unsigned* sorted_order(unsigned* scratch, std::size_t count, Less less) {
  unsigned *from = scratch, *to = scratch + count;
  for (std::size_t i = 0; i < count; ++i)
    from[i] = static_cast<unsigned>(i);
  for (std::size_t width = 1; width < count; width *= 2) {
    for (std::size_t begin = 0; begin < count; begin += 2 * width) {
      const std::size_t middle = begin + width < count ? begin + width : count;
      const std::size_t end = begin + 2 * width < count ? begin + 2 * width : count;
      std::size_t left = begin, right = middle;
      for (std::size_t i = begin; i < end; ++i) {
        const bool takes_right = left == middle || (right < end && less(from[right], from[left]));
        to[i] = from[takes_right ? right++ : left++];
      }
    }
    std::swap(from, to);
  }
  return from;
}

}  // namespace __emulated
