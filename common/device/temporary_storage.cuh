#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "device/cuda_check.cuh"

/// Device memory for a library to work in. It only grows, so a timed run finds what the run before has allocated.
class TemporaryStorage {
 public:
  TemporaryStorage() = default;
  ~TemporaryStorage() { cudaFree(data_); }
  TemporaryStorage(const TemporaryStorage&) = delete;
  TemporaryStorage& operator=(const TemporaryStorage&) = delete;

  /// Returns at least so many bytes; their contents are lost if they move. Throws DeviceError.
  void* at_least(std::size_t bytes) {
    if (bytes <= bytes_) return data_;
    reduction::cuda_check(cudaFree(data_), "releasing temporary storage");
    data_ = nullptr;
    bytes_ = 0;
    reduction::cuda_check(cudaMalloc(&data_, bytes), "allocating temporary storage");
    bytes_ = bytes;
    return data_;
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};
