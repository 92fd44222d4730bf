#pragma once
/// \file
/// The input is a pure function of seed and index, so it is evaluated wherever it is needed: the device fills its
/// own buffer, the host sums its reference, and neither ships or keeps a copy for the other. C++17, constexpr: the
/// same functions run in device code.

#include <type_traits>

#include "harness/element_type.hpp"

namespace reduction {

/// random: integers over their whole range, reals uniform in [-1, 1).
/// ones: every element is 1.
/// cancelling: element n - 1 - i is minus element i, over 16 binary orders of magnitude; the sum is 0, or the middle
/// element.
enum class Data { random, ones, cancelling };

/// Returns the name that `--data` takes.
constexpr std::string_view to_string(Data data) {
  constexpr std::array<std::string_view, 3> names{"random", "ones", "cancelling"};
  return names[static_cast<std::size_t>(data)];
}

/// Describes n elements without storing any.
struct Input {
  Data data = Data::random;
  std::uint64_t seed = 0;
  std::uint64_t n = 0;
};

/// Returns 64 random bits for (seed, counter): the SplitMix64 generator, whose state is a counter
/// (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + (counter + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Returns the real component `counter` of a random input: an unsigned integer over its whole range, or a real in [-1,
/// 1).
template <typename Real> constexpr Real random_real(std::uint64_t seed, std::uint64_t counter) {
  const std::uint64_t bits = random_bits(seed, counter);
  if constexpr (std::is_integral_v<Real>) {
    return static_cast<Real>(bits >> (64 - 8 * sizeof(Real)));
  } else {
    // As many bits as the significand holds, so that nothing is rounded.
    constexpr int digits = sizeof(Real) == 4 ? 24 : 53;
    constexpr Real half = static_cast<Real>(std::uint64_t{1} << (digits - 1));
    return static_cast<Real>(bits >> (64 - digits)) / half - Real{1};
  }
}

/// Returns component `part` (0, or 1 for an imaginary part) of element i, which has `parts` components.
template <typename Real>
constexpr Real real_at(const Input& input, std::uint64_t i, std::uint64_t part, std::uint64_t parts) {
  if (input.data == Data::ones) return part == 0 ? Real{1} : Real{0};
  if (input.data == Data::random) return random_real<Real>(input.seed, i * parts + part);
  const std::uint64_t mirrored = input.n - 1 - i;
  const std::uint64_t first = i < mirrored ? i : mirrored;
  const std::uint64_t counter = first * parts + part;
  Real value = random_real<Real>(input.seed, counter);
  if constexpr (std::is_integral_v<Real>) {
    return i <= mirrored ? value : static_cast<Real>(Real{0} - value);
  } else {
    value *= static_cast<Real>(std::uint64_t{1} << (random_bits(~input.seed, counter) % 16));
    return i <= mirrored ? value : -value;
  }
}

/// Writes elements `first` to `first + count - 1` of `input` to host memory at `data`, on all CPUs of this process.
void fill_host(void* data, const Input& input, ElementType type, std::uint64_t first, std::uint64_t count);

}  // namespace reduction
