#pragma once
/// \file
/// In place of cuRAND's header for kernels: XORWOW, Philox and MRG32k3a give the numbers that they give on a GPU, but for the last
/// bits of sines, and for Poisson's distribution above 64. (cuRAND Library, "Device API Overview")

#include <cmath>

#include "emulated/language/cuda.hpp"
#include "emulated/language/runtime/random_streams.hpp"

#define CURAND_KERNEL_H_

struct curandStateXORWOW {
  unsigned d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned STATE;  ///< how many numbers of `output` have been taken
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
struct curandStateMRG32k3a {
  unsigned s1[3], s2[3];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
using curandStateXORWOW_t = curandStateXORWOW;
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;
using curandStateMRG32k3a_t = curandStateMRG32k3a;
using curandState_t = curandStateXORWOW;
using curandState = curandStateXORWOW;

namespace __emulated {

template <typename State> void forget_normal(State* state) {
  state->boxmuller_flag = state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0;
  state->boxmuller_extra_double = 0;
}

inline float uniform_of(unsigned bits) { return static_cast<float>(bits) * 0x1p-32F + 0x1p-33F; }
inline double uniform_of(unsigned low, unsigned high) {
  return static_cast<double>(low ^ static_cast<unsigned long long>(high) << 21) * 0x1p-53 + 0x1p-54;
}

/// Two independent normal numbers of two uniform ones. (Box and Muller)
inline float2 normal_pair(float radius, float angle) {
  const float length = sqrtf(-2 * logf(radius));
  return {sinf(angle) * length, cosf(angle) * length};
}
inline double2 normal_pair(double radius, double half_turns) {
  const double length = sqrt(-2 * log(radius));
  return {sin(half_turns * M_PI) * length, cos(half_turns * M_PI) * length};
}
inline float2 normal_pair_of(unsigned x, unsigned y) {
  constexpr float unit = 0x1p-32F * 2 * static_cast<float>(M_PI);
  return normal_pair(uniform_of(x), static_cast<float>(y) * unit + unit / 2);
}
inline double2 normal_pair_of(const uint4& bits) {
  return normal_pair(uniform_of(bits.x, bits.y), 2 * uniform_of(bits.z, bits.w));
}

/// The block of four numbers that a counter and a key stand for. (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3")
inline uint4 philox(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ULL * counter.x;
    const unsigned long long b = 0xCD9E8D57ULL * counter.z;
    counter = {static_cast<unsigned>(b >> 32) ^ counter.y ^ key.x, static_cast<unsigned>(b),
               static_cast<unsigned>(a >> 32) ^ counter.w ^ key.y, static_cast<unsigned>(a)};
    key = {key.x + 0x9E3779B9, key.y + 0xBB67AE85};
  }
  return counter;
}

}  // namespace __emulated

// ---- XORWOW ----

inline void skipahead(unsigned long long count, curandStateXORWOW* state) {
  const auto [v0, v1, v2, v3, v4] =
      __emulated::xorwow_after({state->v[0], state->v[1], state->v[2], state->v[3], state->v[4]}, 0, count);
  *state = {state->d + 362437 * static_cast<unsigned>(count),
            {v0, v1, v2, v3, v4},
            state->boxmuller_flag,
            state->boxmuller_flag_double,
            state->boxmuller_extra,
            state->boxmuller_extra_double};
}
inline void skipahead_sequence(unsigned long long count, curandStateXORWOW* state) {
  const auto skipped =
      __emulated::xorwow_after({state->v[0], state->v[1], state->v[2], state->v[3], state->v[4]}, count, 0);
  for (int i = 0; i < 5; ++i)
    state->v[i] = skipped[static_cast<unsigned>(i)];
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStateXORWOW* state) {
  const unsigned low = 1099087573U * (static_cast<unsigned>(seed) ^ 0xaad26b49U);
  const unsigned high = 2591861531U * (static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddU);
  const auto skipped = __emulated::xorwow_after(
      {123456789U + low, 362436069U ^ low, 521288629U + high, 88675123U ^ high, 5783321U + low}, subsequence,
      offset);
  state->d = 6615241U + high + low + 362437U * static_cast<unsigned>(offset);
  for (int i = 0; i < 5; ++i)
    state->v[i] = skipped[static_cast<unsigned>(i)];
  __emulated::forget_normal(state);
}
inline unsigned curand(curandStateXORWOW* state) {
  const unsigned first = state->v[0], last = state->v[4];
  const unsigned t = first ^ first >> 2;
  for (int i = 0; i < 4; ++i)
    state->v[i] = state->v[i + 1];
  state->v[4] = last ^ last << 4 ^ t ^ t << 1;
  state->d += 362437;
  return state->v[4] + state->d;
}

// ---- Philox ----

inline void skipahead_sequence(unsigned long long count, curandStatePhilox4_32_10* state) {
  const unsigned long long high =
      (static_cast<unsigned long long>(state->ctr.w) << 32 | state->ctr.z) + count;
  state->ctr.z = static_cast<unsigned>(high);
  state->ctr.w = static_cast<unsigned>(high >> 32);
  state->output = __emulated::philox(state->ctr, state->key);
}
inline void skipahead(unsigned long long count, curandStatePhilox4_32_10* state) {
  const unsigned taken = state->STATE + static_cast<unsigned>(count % 4);
  const unsigned long long blocks = count / 4 + taken / 4;
  const unsigned long long low =
      (static_cast<unsigned long long>(state->ctr.y) << 32 | state->ctr.x) + blocks;
  state->STATE = taken % 4;
  state->ctr.x = static_cast<unsigned>(low);
  state->ctr.y = static_cast<unsigned>(low >> 32);
  skipahead_sequence(low < blocks ? 1 : 0, state);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStatePhilox4_32_10* state) {
  state->ctr = {0, 0, static_cast<unsigned>(subsequence), static_cast<unsigned>(subsequence >> 32)};
  state->key = {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
  state->STATE = 0;
  __emulated::forget_normal(state);
  skipahead(offset, state);
}
inline unsigned curand(curandStatePhilox4_32_10* state) {
  const uint4 output = state->output;
  const unsigned numbers[] = {output.x, output.y, output.z, output.w};
  const unsigned number = numbers[state->STATE];
  if (state->STATE == 3) {
    skipahead(1, state);
  } else {
    ++state->STATE;
  }
  return number;
}
inline uint4 curand4(curandStatePhilox4_32_10* state) {
  const uint4 first = state->output;
  skipahead(4, state);
  const uint4 next = state->output;
  const unsigned numbers[] = {first.x, first.y, first.z, first.w, next.x, next.y, next.z};
  const unsigned* const begin = numbers + state->STATE;
  return {begin[0], begin[1], begin[2], begin[3]};
}

// ---- MRG32k3a ----

namespace __emulated {

/// From 1 to the modulus.
inline double mrg_number(curandStateMRG32k3a* state) {
  const auto [m1, m2] = mrg_moduli;
  const unsigned long long a =
      (1403580 * static_cast<unsigned long long>(state->s1[1]) + 810728 * (m1 - state->s1[0])) % m1;
  const unsigned long long b =
      (527612 * static_cast<unsigned long long>(state->s2[2]) + 1370589 * (m2 - state->s2[0])) % m2;
  for (int i = 0; i < 2; ++i) {
    state->s1[i] = state->s1[i + 1];
    state->s2[i] = state->s2[i + 1];
  }
  state->s1[2] = static_cast<unsigned>(a);
  state->s2[2] = static_cast<unsigned>(b);
  return static_cast<double>(a > b ? a - b : a + m1 - b);
}

inline void skip(curandStateMRG32k3a* state, unsigned long long subsequence, unsigned long long offset) {
  const auto first = mrg_after(0, {state->s1[0], state->s1[1], state->s1[2]}, subsequence, offset);
  const auto second = mrg_after(1, {state->s2[0], state->s2[1], state->s2[2]}, subsequence, offset);
  for (unsigned i = 0; i < 3; ++i) {
    state->s1[i] = first[i];
    state->s2[i] = second[i];
  }
}

}  // namespace __emulated

inline void skipahead(unsigned long long count, curandStateMRG32k3a* state) {
  __emulated::skip(state, 0, count);
}
inline void skipahead_subsequence(unsigned long long count, curandStateMRG32k3a* state) {
  __emulated::skip(state, count, 0);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStateMRG32k3a* state) {
  const unsigned long long low = static_cast<unsigned>(seed) ^ 0x55555555U;
  const unsigned long long high = static_cast<unsigned>(seed >> 32) ^ 0xAAAAAAAAU;
  for (unsigned i = 0; i < 3; ++i) {
    const auto start = [&](unsigned long long factor, unsigned long long modulus) {
      return static_cast<unsigned>(seed == 0 ? 12345 : factor * 12345 % modulus);
    };
    state->s1[i] = start(i % 2 == 0 ? low : high, __emulated::mrg_moduli[0]);
    state->s2[i] = start(i % 2 == 0 ? high : low, __emulated::mrg_moduli[1]);
  }
  __emulated::forget_normal(state);
  __emulated::skip(state, subsequence, offset);
}
inline unsigned curand(curandStateMRG32k3a* state) {
  return static_cast<unsigned>(__emulated::mrg_number(state) * 1.000000048662);
}

// ---- distributions ----

template <typename State> float curand_uniform(State* state) { return __emulated::uniform_of(curand(state)); }
inline float curand_uniform(curandStateMRG32k3a* state) {
  return static_cast<float>(__emulated::mrg_number(state) * 2.3283065498378288e-10);
}
inline double curand_uniform_double(curandStateXORWOW* state) {
  const unsigned low = curand(state);
  return __emulated::uniform_of(low, curand(state));
}
inline double curand_uniform_double(curandStatePhilox4_32_10* state) {
  return static_cast<double>(curand(state)) * 0x1p-32 + 0x1p-32;
}
inline double curand_uniform_double(curandStateMRG32k3a* state) {
  return __emulated::mrg_number(state) * 2.3283065498378288e-10;
}
inline float4 curand_uniform4(curandStatePhilox4_32_10* state) {
  const uint4 bits = curand4(state);
  return {__emulated::uniform_of(bits.x), __emulated::uniform_of(bits.y), __emulated::uniform_of(bits.z),
          __emulated::uniform_of(bits.w)};
}
inline double2 curand_uniform2_double(curandStatePhilox4_32_10* state) {
  const uint4 bits = curand4(state);
  return {__emulated::uniform_of(bits.x, bits.y), __emulated::uniform_of(bits.z, bits.w)};
}

template <typename State> float2 curand_normal2(State* state) {
  const unsigned x = curand(state);
  return __emulated::normal_pair_of(x, curand(state));
}
inline float2 curand_normal2(curandStateMRG32k3a* state) {
  const float radius = curand_uniform(state);
  return __emulated::normal_pair(radius, curand_uniform(state) * 2 * static_cast<float>(M_PI));
}
template <typename State> double2 curand_normal2_double(State* state) {
  uint4 bits;
  bits.x = curand(state);
  bits.y = curand(state);
  bits.z = curand(state);
  bits.w = curand(state);
  return __emulated::normal_pair_of(bits);
}
inline double2 curand_normal2_double(curandStateMRG32k3a* state) {
  const double radius = curand_uniform_double(state);
  return __emulated::normal_pair(radius, curand_uniform_double(state) * 2);
}
inline float4 curand_normal4(curandStatePhilox4_32_10* state) {
  const float2 first = curand_normal2(state);
  const float2 second = curand_normal2(state);
  return {first.x, first.y, second.x, second.y};
}

namespace __emulated {

/// The other one of a pair is kept for the next call that asks for the same kind, which is 1 for normal and 2 for their exponentials.
template <typename T, typename Draw> T one_of_pair(int kind, int& kept_kind, T& kept, const Draw& draw) {
  if (kept_kind == kind) {
    kept_kind = 0;
    return kept;
  }
  const auto pair = draw();
  kept_kind = kind;
  kept = pair.y;
  return pair.x;
}

}  // namespace __emulated

template <typename State> float2 curand_log_normal2(State* state, float mean, float deviation) {
  const float2 pair = curand_normal2(state);
  return {expf(mean + deviation * pair.x), expf(mean + deviation * pair.y)};
}
template <typename State> double2 curand_log_normal2_double(State* state, double mean, double deviation) {
  const double2 pair = curand_normal2_double(state);
  return {exp(mean + deviation * pair.x), exp(mean + deviation * pair.y)};
}
template <typename State> float curand_normal(State* state) {
  return __emulated::one_of_pair(1, state->boxmuller_flag, state->boxmuller_extra,
                                 [&] { return curand_normal2(state); });
}
template <typename State> double curand_normal_double(State* state) {
  return __emulated::one_of_pair(1, state->boxmuller_flag_double, state->boxmuller_extra_double,
                                 [&] { return curand_normal2_double(state); });
}
template <typename State> float curand_log_normal(State* state, float mean, float deviation) {
  return __emulated::one_of_pair(2, state->boxmuller_flag, state->boxmuller_extra,
                                 [&] { return curand_log_normal2(state, mean, deviation); });
}
template <typename State> double curand_log_normal_double(State* state, double mean, double deviation) {
  return __emulated::one_of_pair(2, state->boxmuller_flag_double, state->boxmuller_extra_double,
                                 [&] { return curand_log_normal2_double(state, mean, deviation); });
}

/// (Knuth, "Seminumerical Algorithms", section 3.4.1). A sum of two numbers of half the mean has the same distribution.
template <typename State> unsigned curand_poisson(State* state, double mean) {
  if (mean > 4000)
    return static_cast<unsigned>(fmax(0.0, sqrt(mean) * curand_normal_double(state) + mean + 0.5));
  if (mean > 64) {
    const unsigned half = curand_poisson(state, mean / 2);
    return half + curand_poisson(state, mean / 2);
  }
  unsigned count = 0;
  for (float product = expf(static_cast<float>(mean)) * curand_uniform(state); product > 1;
       product *= curand_uniform(state))
    ++count;
  return count;
}
