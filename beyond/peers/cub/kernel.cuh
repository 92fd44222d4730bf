#pragma once
#include <cstddef>
#include <cub/device/device_reduce.cuh>

#include "device/cuda_check.cuh"

/// Device memory that CUB works in. It only grows, so that a timed run finds what the run before it has allocated.
class TemporaryStorage {
 public:
  TemporaryStorage() = default;
  ~TemporaryStorage() { cudaFree(data_); }
  TemporaryStorage(const TemporaryStorage&) = delete;
  TemporaryStorage& operator=(const TemporaryStorage&) = delete;

  void* at_least(std::size_t bytes) {
    if (bytes <= bytes_) return data_;
    reduction::cuda_check(cudaFree(data_), "releasing CUB's temporary storage");
    data_ = nullptr;
    bytes_ = 0;
    reduction::cuda_check(cudaMalloc(&data_, bytes), "allocating CUB's temporary storage");
    bytes_ = bytes;
    return data_;
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// CUB leaves one sum, however many kernels it takes.
template <typename T> std::size_t grid_size(std::size_t, unsigned) { return 1; }

/// Queues the whole reduction on the default stream: the n elements at `in` become one sum at `out`.
/// CUB chooses grid and block itself. Its first call only says how much temporary storage the second one needs.
template <typename T> void launch_reduce(std::size_t, unsigned, const T* in, T* out, std::size_t n) {
  static TemporaryStorage storage;
  std::size_t bytes = 0;
  reduction::cuda_check(cub::DeviceReduce::Sum(nullptr, bytes, in, out, n),
                        "asking CUB for the temporary storage it needs");
  reduction::cuda_check(cub::DeviceReduce::Sum(storage.at_least(bytes), bytes, in, out, n),
                        "launching cub::DeviceReduce::Sum");
}
