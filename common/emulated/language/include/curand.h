#pragma once
/// \file
/// In place of cuRAND for the host: pseudorandom numbers of XORWOW, Philox and MRG32k3a, in the order of
/// CURAND_ORDERING_PSEUDO_LEGACY. (cuRAND Library, "Host API Overview")

#include <cuda_runtime.h>
#include <curand_kernel.h>

#include <type_traits>
#include <variant>
#include <vector>

#include "emulated/language/runtime/libraries.hpp"

#define CURAND_H_  // which helper_cuda.h of NVIDIA's samples asks for

enum curandStatus_t {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999
};
using curandStatus = curandStatus_t;
enum curandRngType_t {
  CURAND_RNG_TEST = 0,
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200,
  CURAND_RNG_QUASI_SOBOL32 = 201,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
  CURAND_RNG_QUASI_SOBOL64 = 203,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
};
enum curandOrdering_t {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103,
  CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
  CURAND_ORDERING_QUASI_DEFAULT = 201
};

namespace __emulated {

/// States of one generator. Numbers come from one after the other, `width` at a time from each.
template <typename State> class RandomStreams {
 public:
  static constexpr bool is_philox = std::is_same_v<State, curandStatePhilox4_32_10>;

  template <typename T, typename Draw>
  void fill(unsigned long long seed, unsigned long long& position, unsigned width, std::span<T> numbers,
            const Draw& draw) {
    constexpr unsigned count = is_philox ? 65536 : 4096;
    if (is_philox) width = 4;
    for (T& number : numbers) {
      const unsigned long long stream = position / width % count;
      while (states_.size() <= stream) {
        // The numbers of it before the position have been skipped.
        const unsigned long long own = states_.size() * width, round = count * width;
        const unsigned long long rest = position % round;
        const unsigned long long in_round = rest < own ? 0 : std::min<unsigned long long>(rest - own, width);
        states_.emplace_back();
        curand_init(seed, states_.size() - 1, position / round * width + in_round, &states_.back());
      }
      number = static_cast<T>(draw(&states_[stream]));
      ++position;
    }
  }

 private:
  std::vector<State> states_;
};

}  // namespace __emulated

struct curandGenerator_st {
  std::variant<__emulated::RandomStreams<curandStateXORWOW>,
               __emulated::RandomStreams<curandStatePhilox4_32_10>,
               __emulated::RandomStreams<curandStateMRG32k3a>>
      streams;
  bool is_on_host = false;
  cudaStream_t stream = nullptr;
  unsigned long long seed = 0;
  unsigned long long position = 0;  ///< of the next number
};
using curandGenerator_t = curandGenerator_st*;

inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  if (type == CURAND_RNG_PSEUDO_DEFAULT || type == CURAND_RNG_PSEUDO_XORWOW) {
    *generator = new curandGenerator_st{};
  } else if (type == CURAND_RNG_PSEUDO_PHILOX4_32_10) {
    *generator = new curandGenerator_st{__emulated::RandomStreams<curandStatePhilox4_32_10>{}};
  } else if (type == CURAND_RNG_PSEUDO_MRG32K3A) {
    *generator = new curandGenerator_st{__emulated::RandomStreams<curandStateMRG32k3a>{}};
  } else {
    __emulated::say_of_library("curandCreateGenerator",
                               "only XORWOW, Philox and MRG32k3a are modelled on the emulated device");
    return CURAND_STATUS_TYPE_ERROR;
  }
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  const curandStatus_t status = curandCreateGenerator(generator, type);
  if (status == CURAND_STATUS_SUCCESS) (*generator)->is_on_host = true;
  return status;
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  std::visit([](auto& streams) { streams = {}; }, generator->streams);
  generator->position = offset;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                         unsigned long long seed) {
  generator->seed = seed;
  return curandSetGeneratorOffset(generator, 0);
}
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t, curandOrdering_t) {
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t, unsigned) {
  return CURAND_STATUS_TYPE_ERROR;
}
inline curandStatus_t curandGenerateSeeds(curandGenerator_t) { return CURAND_STATUS_SUCCESS; }
inline curandStatus_t curandGetVersion(int* version) {
  *version = 10400;
  return CURAND_STATUS_SUCCESS;
}

namespace __emulated {

/// \param draw  gives the next number of a state.
template <typename T, typename Draw>
curandStatus_t generate(const char* name, curandGenerator_t generator, T* begin, std::size_t count,
                        unsigned width, const Draw& draw) {
  LibraryCall call{name, generator->stream};
  if (!generator->is_on_host && !call.writes(begin, count)) return CURAND_STATUS_LAUNCH_FAILURE;
  return std::visit(
      [&](auto& streams) {
        if (width == 2 && count % 2 != 0 && !streams.is_philox) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
        streams.fill(generator->seed, generator->position, width, std::span{begin, count}, draw);
        return CURAND_STATUS_SUCCESS;
      },
      generator->streams);
}

template <typename State> double next_uniform_double(State* state) { return curand_uniform_double(state); }
inline double next_uniform_double(curandStatePhilox4_32_10* state) {
  return one_of_pair(3, state->boxmuller_flag_double, state->boxmuller_extra_double,
                     [&] { return curand_uniform2_double(state); });
}

}  // namespace __emulated

// What is behind `next` are parameters of the function, beside the array. (No function makes a name of a name.)
#define __EMULATED_GENERATE(name, T, width, next, ...)                                  \
  inline curandStatus_t curandGenerate##name(curandGenerator_t generator, T* begin,     \
                                             size_t count __VA_OPT__(, ) __VA_ARGS__) { \
    return __emulated::generate(__func__, generator, begin, count, width,               \
                                [&](auto* state) { return next; });                     \
  }
__EMULATED_GENERATE(, unsigned, 1, curand(state))
__EMULATED_GENERATE(Uniform, float, 1, curand_uniform(state))
__EMULATED_GENERATE(UniformDouble, double, 1, __emulated::next_uniform_double(state))
__EMULATED_GENERATE(Normal, float, 2, mean + deviation * curand_normal(state), float mean, float deviation)
__EMULATED_GENERATE(NormalDouble, double, 2, mean + deviation * curand_normal_double(state), double mean,
                    double deviation)
__EMULATED_GENERATE(LogNormal, float, 2, curand_log_normal(state, mean, deviation), float mean,
                    float deviation)
__EMULATED_GENERATE(LogNormalDouble, double, 2, curand_log_normal_double(state, mean, deviation), double mean,
                    double deviation)
__EMULATED_GENERATE(Poisson, unsigned, 1, curand_poisson(state, mean), double mean)
#undef __EMULATED_GENERATE
