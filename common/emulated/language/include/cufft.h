#pragma once
/// \file
/// In place of cuFFT: transforms of any size, computed by the host, and not divided by it. (cuFFT Library, "Using the cuFFT API")

#include <cuComplex.h>
#include <cuda_runtime.h>

#include <cmath>
#include <complex>
#include <vector>

#include "emulated/language/runtime/libraries.hpp"

enum cufftResult_t {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_TYPE = 3,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_INTERNAL_ERROR = 5,
  CUFFT_EXEC_FAILED = 6,
  CUFFT_SETUP_FAILED = 7,
  CUFFT_INVALID_SIZE = 8,
  CUFFT_UNALIGNED_DATA = 9,
  CUFFT_INVALID_DEVICE = 11,
  CUFFT_NO_WORKSPACE = 13,
  CUFFT_NOT_IMPLEMENTED = 14,
  CUFFT_NOT_SUPPORTED = 16
};
using cufftResult = cufftResult_t;
enum cufftType_t {
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
  CUFFT_Z2Z = 0x69
};
using cufftType = cufftType_t;
using cufftReal = float;
using cufftDoubleReal = double;
using cufftComplex = cuComplex;
using cufftDoubleComplex = cuDoubleComplex;
using cufftHandle = int;
inline constexpr int CUFFT_FORWARD = -1, CUFFT_INVERSE = 1;

namespace __emulated {

/// Where the elements of one side are: of a row in the last dimension `step` apart, of transforms `distance`.
struct FftLayout {
  std::vector<int> embedding;
  int step = 1, distance = 0;
  bool is_chosen = false;  ///< by the caller; or it is dense
};

struct FftPlan {
  std::vector<int> sizes;  ///< the last one changes fastest
  cufftType type = CUFFT_C2C;
  int count = 1;
  FftLayout in, out;
  cudaStream_t stream = nullptr;
};

/// Plans by their handles, which are numbers from 1.
inline std::vector<FftPlan>& fft_plans() {
  static std::vector<FftPlan> plans;
  return plans;
}
inline FftPlan& fft_plan(cufftHandle handle) { return fft_plans()[static_cast<std::size_t>(handle) - 1]; }

/// By the smallest factor of the size at each level (Cooley and Tukey), n times the sum of its factors in all.
inline void transform_row(std::complex<double>* row, std::size_t size, std::size_t step, int direction) {
  std::size_t factor = 2;
  while (factor * factor <= size && size % factor != 0)
    ++factor;
  if (size % factor != 0) factor = size;
  if (size < 2) return;
  const std::size_t part = size / factor;
  for (std::size_t begin = 0; begin < factor && part > 1; ++begin)
    transform_row(row + begin * step, part, step * factor, direction);
  std::vector<std::complex<double>> roots(size), result(size);
  for (std::size_t i = 0; i < size; ++i)
    roots[i] = std::polar(1.0, direction * 2 * M_PI * static_cast<double>(i) / static_cast<double>(size));
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t begin = 0; begin < factor; ++begin)
      result[i] += roots[begin * i % size] * row[(i % part * factor + begin) * step];
  for (std::size_t i = 0; i < size; ++i)
    row[i * step] = result[i];
}

/// A whole transform, in place, dimension by dimension.
inline void transform_all(std::vector<std::complex<double>>& values, const std::vector<int>& sizes,
                          int direction) {
  std::size_t step = 1;
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    const auto length = static_cast<std::size_t>(*size);
    for (std::size_t begin = 0; begin < values.size(); begin += length * step)
      for (std::size_t i = 0; i < step; ++i)
        transform_row(values.data() + begin + i, length, step, direction);
    step *= length;
  }
}

/// Calls a function with each place of a transform's values and that of the element in memory; `last` is how many of a row are
/// there. Returns how far they reach.
template <typename Function>
std::size_t for_each_element(const FftPlan& plan, const FftLayout& layout, int last,
                             const Function& function) {
  std::size_t rows = 1;
  for (std::size_t d = 0; d + 1 < plan.sizes.size(); ++d)
    rows *= static_cast<std::size_t>(plan.sizes[d]);
  std::size_t end = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t place = 0, rest = row, scale = 1;
    for (std::size_t d = plan.sizes.size() - 1; d-- > 0;) {
      scale *= static_cast<std::size_t>(layout.embedding[d + 1]);
      place += rest % static_cast<std::size_t>(plan.sizes[d]) * scale;
      rest /= static_cast<std::size_t>(plan.sizes[d]);
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(last); ++i) {
      const std::size_t element = (place + i) * static_cast<std::size_t>(layout.step);
      function(row * static_cast<std::size_t>(plan.sizes.back()) + i, element);
      end = element + 1;
    }
  }
  return end;
}

template <typename T> inline constexpr bool is_real = std::is_floating_point_v<T>;

template <typename In, typename Out>
cufftResult execute(const char* name, cufftHandle handle, const In* in, Out* out, int direction) {
  if (handle < 1 || static_cast<std::size_t>(handle) > fft_plans().size()) return CUFFT_INVALID_PLAN;
  FftPlan plan = fft_plan(handle);
  std::size_t size = 1;
  for (const int of_dimension : plan.sizes)
    size *= static_cast<std::size_t>(of_dimension);
  const int width = plan.sizes.back();
  // In place a row of reals has the room of the complex numbers.
  FftLayout& of_reals = is_real<In> ? plan.in : plan.out;
  if (sizeof(In) != sizeof(Out) && static_cast<const void*>(in) == out && !of_reals.is_chosen) {
    of_reals.embedding.back() = width / 2 * 2 + 2;
    of_reals.distance = of_reals.distance / width * of_reals.embedding.back();
  }
  LibraryCall call{name, plan.stream};
  // What a real transform keeps of a row: the other half are the conjugates.
  const int width_in = is_real<Out> ? width / 2 + 1 : width;
  const int width_out = is_real<In> ? width / 2 + 1 : width;
  std::vector<std::vector<std::complex<double>>> all;
  for (int number = 0; number < plan.count; ++number) {
    const In* const from = in + static_cast<std::ptrdiff_t>(number) * plan.in.distance;
    const std::size_t end = for_each_element(plan, plan.in, width_in, [](std::size_t, std::size_t) {});
    // (Rows in place are padded.)
    const bool is_dense = plan.in.step == 1 &&
                          end == size / static_cast<std::size_t>(width) * static_cast<std::size_t>(width_in);
    if (is_dense && !call.reads(from, end)) return CUFFT_EXEC_FAILED;
    std::vector<std::complex<double>> values(size);
    bool is_right = true;
    for_each_element(plan, plan.in, width_in, [&](std::size_t place, std::size_t element) {
      is_right = is_right && (is_dense || call.reads(from + element, 1));
      if (!is_right) return;
      if constexpr (is_real<In>) {
        values[place] = from[element];
      } else {
        values[place] = {from[element].x, from[element].y};
      }
    });
    if (!is_right) return CUFFT_EXEC_FAILED;
    if constexpr (is_real<Out>) {
      for (std::size_t place = 0; place < size; ++place) {
        if (place % static_cast<std::size_t>(width) < static_cast<std::size_t>(width_in)) continue;
        // In each dimension the other way round.
        std::size_t mirrored = 0, rest = place, scale = 1;
        for (auto of = plan.sizes.rbegin(); of != plan.sizes.rend(); ++of) {
          const auto length = static_cast<std::size_t>(*of);
          mirrored += (length - rest % length) % length * scale;
          rest /= length;
          scale *= length;
        }
        values[place] = std::conj(values[mirrored]);
      }
    }
    all.push_back(std::move(values));
  }
  for (int number = 0; number < plan.count; ++number) {
    Out* const to = out + static_cast<std::ptrdiff_t>(number) * plan.out.distance;
    std::vector<std::complex<double>>& values = all[static_cast<std::size_t>(number)];
    transform_all(values, plan.sizes, direction);
    bool is_right = true;
    for_each_element(plan, plan.out, width_out, [&](std::size_t place, std::size_t element) {
      is_right = is_right && call.writes(to + element, 1);
      if (!is_right) return;
      if constexpr (is_real<Out>) {
        to[element] = static_cast<Out>(values[place].real());
      } else {
        using Real = decltype(to->x);
        to[element] = {static_cast<Real>(values[place].real()), static_cast<Real>(values[place].imag())};
      }
    });
    if (!is_right) return CUFFT_EXEC_FAILED;
  }
  return CUFFT_SUCCESS;
}

}  // namespace __emulated

inline cufftResult cufftCreate(cufftHandle* plan) {
  __emulated::fft_plans().emplace_back();
  *plan = static_cast<cufftHandle>(__emulated::fft_plans().size());
  return CUFFT_SUCCESS;
}
inline cufftResult cufftDestroy(cufftHandle plan) { return plan > 0 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN; }
inline cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  __emulated::fft_plan(plan).stream = stream;
  return CUFFT_SUCCESS;
}
inline cufftResult cufftSetAutoAllocation(cufftHandle, int) { return CUFFT_SUCCESS; }
inline cufftResult cufftSetWorkArea(cufftHandle, void*) { return CUFFT_SUCCESS; }

inline cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* sizes, int* in_embedding, int in_step,
                                     int in_distance, int* out_embedding, int out_step, int out_distance,
                                     cufftType type, int count, size_t* work_bytes) {
  if (rank < 1 || rank > 3 || count < 1) return CUFFT_INVALID_SIZE;
  __emulated::FftPlan made{std::vector<int>(sizes, sizes + rank), type, count, {}, {},
                           __emulated::fft_plan(plan).stream};
  int rows = 1;
  for (int d = 0; d < rank; ++d) {
    if (sizes[d] < 1) return CUFFT_INVALID_SIZE;
    if (d + 1 < rank) rows *= sizes[d];
  }
  // One without an embedding is dense; of a real transform the complex side has half the row, and a bit.
  const auto layout = [&](const int* embedding, int step, int distance, bool is_half) {
    if (embedding != nullptr)
      return __emulated::FftLayout{std::vector<int>(embedding, embedding + rank), step, distance, true};
    __emulated::FftLayout dense{made.sizes, 1, 0};
    if (is_half) dense.embedding.back() = sizes[rank - 1] / 2 + 1;
    dense.distance = rows * dense.embedding.back();
    return dense;
  };
  made.in = layout(in_embedding, in_step, in_distance, type == CUFFT_C2R || type == CUFFT_Z2D);
  made.out = layout(out_embedding, out_step, out_distance, type == CUFFT_R2C || type == CUFFT_D2Z);
  __emulated::fft_plan(plan) = made;
  if (work_bytes != nullptr) *work_bytes = 0;
  return CUFFT_SUCCESS;
}
inline cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* sizes, int* in_embedding, int in_step,
                                 int in_distance, int* out_embedding, int out_step, int out_distance,
                                 cufftType type, int count) {
  cufftCreate(plan);
  return cufftMakePlanMany(*plan, rank, sizes, in_embedding, in_step, in_distance, out_embedding, out_step,
                           out_distance, type, count, nullptr);
}
inline cufftResult cufftMakePlan1d(cufftHandle plan, int x, cufftType type, int count, size_t* work_bytes) {
  return cufftMakePlanMany(plan, 1, &x, nullptr, 1, 0, nullptr, 1, 0, type, count, work_bytes);
}
inline cufftResult cufftMakePlan2d(cufftHandle plan, int x, int y, cufftType type, size_t* work_bytes) {
  int sizes[] = {x, y};
  return cufftMakePlanMany(plan, 2, sizes, nullptr, 1, 0, nullptr, 1, 0, type, 1, work_bytes);
}
inline cufftResult cufftMakePlan3d(cufftHandle plan, int x, int y, int z, cufftType type,
                                   size_t* work_bytes) {
  int sizes[] = {x, y, z};
  return cufftMakePlanMany(plan, 3, sizes, nullptr, 1, 0, nullptr, 1, 0, type, 1, work_bytes);
}
inline cufftResult cufftPlan1d(cufftHandle* plan, int x, cufftType type, int count) {
  cufftCreate(plan);
  return cufftMakePlan1d(*plan, x, type, count, nullptr);
}
inline cufftResult cufftPlan2d(cufftHandle* plan, int x, int y, cufftType type) {
  cufftCreate(plan);
  return cufftMakePlan2d(*plan, x, y, type, nullptr);
}
inline cufftResult cufftPlan3d(cufftHandle* plan, int x, int y, int z, cufftType type) {
  cufftCreate(plan);
  return cufftMakePlan3d(*plan, x, y, z, type, nullptr);
}

// (No function makes a name of a name.)
#define __EMULATED_FFT(name, In, Out, direction, ...)                                                    \
  inline cufftResult cufftExec##name(cufftHandle plan, In* in, Out* out __VA_OPT__(, int) __VA_ARGS__) { \
    return __emulated::execute(__func__, plan, in, out, direction);                                      \
  }
__EMULATED_FFT(C2C, cufftComplex, cufftComplex, direction, direction)
__EMULATED_FFT(Z2Z, cufftDoubleComplex, cufftDoubleComplex, direction, direction)
__EMULATED_FFT(R2C, cufftReal, cufftComplex, CUFFT_FORWARD)
__EMULATED_FFT(D2Z, cufftDoubleReal, cufftDoubleComplex, CUFFT_FORWARD)
__EMULATED_FFT(C2R, cufftComplex, cufftReal, CUFFT_INVERSE)
__EMULATED_FFT(Z2D, cufftDoubleComplex, cufftDoubleReal, CUFFT_INVERSE)
#undef __EMULATED_FFT
