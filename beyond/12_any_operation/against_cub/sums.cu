#include <cstdint>

#include "cases.cuh"

namespace reduction {

std::vector<Case> sums() {
  return {sum_case<std::int32_t>("sum_int32"),
          sum_case<std::int64_t>("sum_int64"),
          sum_case<float>("sum_float32"),
          sum_case<double>("sum_float64"),
          sum_case<cuda::std::complex<float>>("sum_complex64"),
          sum_case<cuda::std::complex<double>>("sum_complex128")};
}

std::string cub_version() {
  return std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
         std::to_string(CUB_SUBMINOR_VERSION);
}

}  // namespace reduction
