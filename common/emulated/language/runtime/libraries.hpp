#pragma once
/// \file
/// What NVIDIA's libraries have in common here: they compute in the host's code, and each call says what of the device's memory
/// it uses.

#include <cstddef>

#include "emulated/language/cuda.hpp"
#include "emulated/language/runtime/errors.hpp"
#include "emulated/memory/closed_memory.hpp"

namespace __emulated {

/// Says on stderr, once of each name, what of a library is not as on a GPU.
void say_of_library(const char* name, const char* text);

/// The same in a kernel, of CUB.
void say_of_cub();

/// Whether the caller is a thread of a kernel.
bool is_in_kernel();

/// One call of a library, which has the device's memory open while it lives.
class LibraryCall {
 public:
  explicit LibraryCall(const char* name, cudaStream_t stream = nullptr) : name_{name}, stream_{stream} {}

  /// Elements that it is to read, or to write: they have to be in the device's memory, and what is read has to be written. Else it
  /// is a finding, and the call must not touch them.
  template <typename T> bool reads(const T* begin, std::size_t count) {
    return uses(Operation::load, begin, count * sizeof(T), sizeof(T));
  }
  template <typename T> bool writes(T* begin, std::size_t count) {
    return uses(Operation::store, begin, count * sizeof(T), sizeof(T));
  }
  bool is_right() const { return is_right_; }

 private:
  bool uses(Operation operation, const void* begin, std::size_t bytes, std::size_t element);
  void report(Operation operation, const std::byte* address, std::size_t element, bool is_unwritten);

  const char* name_;
  cudaStream_t stream_;
  bool is_right_ = true;
  bool reads_unwritten_ = false;
  ClosedMemory::Open open_;
};

}  // namespace __emulated

enum cudaDataType_t {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_R_8I = 3,
  CUDA_C_32F = 4,
  CUDA_C_64F = 5,
  CUDA_R_8U = 8,
  CUDA_R_32I = 10,
  CUDA_R_16BF = 14,
};
using cudaDataType = cudaDataType_t;
