#pragma once
#include <cublas_v2.h>

#include <cstddef>
#include <cstdint>
#include <cuda/std/complex>
#include <string>
#include <type_traits>

#include "device/cuda_check.cuh"
#include "device/step_traits.hpp"

inline void cublas_check(cublasStatus_t status, const char* doing) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw reduction::DeviceError(std::string(doing) + ": " + cublasGetStatusString(status));
}

/// A cuBLAS handle that leaves results on the device, so that calls need not wait for them.
class Cublas {
 public:
  Cublas() {
    cublas_check(cublasCreate(&handle_), "starting cuBLAS");
    cublas_check(cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_DEVICE), "starting cuBLAS");
  }
  ~Cublas() { cublasDestroy(handle_); }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  cublasHandle_t handle() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

/// Holds a single 1 in device memory.
template <typename T> class One {
 public:
  One() {
    const T one{1};
    reduction::cuda_check(cudaMalloc(&data_, sizeof(T)), "allocating a 1");
    reduction::cuda_check(cudaMemcpy(data_, &one, sizeof(T), cudaMemcpyHostToDevice), "copying a 1");
  }
  ~One() { cudaFree(data_); }
  One(const One&) = delete;
  One& operator=(const One&) = delete;

  const T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

// The dot product for each type that cuBLAS knows, without conjugation for complex numbers.
inline auto dot(cublasHandle_t handle, std::int64_t n, const float* x, const float* y, float* result) {
  return cublasSdot_64(handle, n, x, 1, y, 0, result);
}
inline auto dot(cublasHandle_t handle, std::int64_t n, const double* x, const double* y, double* result) {
  return cublasDdot_64(handle, n, x, 1, y, 0, result);
}
template <typename Real>
auto dot(cublasHandle_t handle, std::int64_t n, const cuda::std::complex<Real>* x,
         const cuda::std::complex<Real>* y, cuda::std::complex<Real>* result) {
  if constexpr (std::is_same_v<Real, float>) {
    return cublasCdotu_64(handle, n, reinterpret_cast<const cuComplex*>(x), 1,
                          reinterpret_cast<const cuComplex*>(y), 0, reinterpret_cast<cuComplex*>(result));
  } else {
    return cublasZdotu_64(handle, n, reinterpret_cast<const cuDoubleComplex*>(x), 1,
                          reinterpret_cast<const cuDoubleComplex*>(y), 0,
                          reinterpret_cast<cuDoubleComplex*>(result));
  }
}

inline constexpr StepTraits traits{.chooses_launch = true};

/// cuBLAS leaves one sum, however many kernels it takes. Throws DeviceError for integers, which cuBLAS does not know.
template <typename T> std::size_t grid_size(std::size_t, unsigned) {
  if constexpr (std::is_integral_v<T>) {
    throw reduction::DeviceError(
        "cuBLAS knows no integers: choose -t float32, float64, complex64 or complex128");
  }
  return 1;
}

/// Queues the whole reduction: the n elements at `in` become one sum at `out`, as their dot product with ones. An
/// increment of 0 reads the same 1 again and again, because a vector of ones would double the bytes.
template <typename T> void launch_reduce(unsigned, unsigned, const T* in, T* out, std::size_t n) {
  if constexpr (!std::is_integral_v<T>) {
    static const Cublas cublas;
    static const One<T> one;
    cublas_check(dot(cublas.handle(), static_cast<std::int64_t>(n), in, one.data(), out),
                 "launching cuBLAS's dot product");
  }
}
