/// \file
/// Drawn calls of reduce() in the order of SameBits: a line of each with the bits of its result, which are the same on each GPU,
/// on the emulated device and in a loop on the host. same_bits_test.py has the lines' digest.
///
/// same_bits            prints the lines of 500 cases
/// same_bits --large    of some that are too large for the emulated device
///
/// Exits with 1 if a result differs from the loop's, with 2 if a call fails.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "order.hpp"
#include "reduction/reduce.cuh"

namespace {

using same_bits::in_order;

void check(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", doing, cudaGetErrorString(status));
  std::exit(2);
}

/// Random numbers, SplitMix64's, from one seed per case.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_{seed * 0xd1342543de82ef95} {}

  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// One of 0, 1, ..., count - 1.
  std::uint64_t below(std::uint64_t count) { return bits() % count; }

 private:
  std::uint64_t state_;
};

// ---- elements ----

struct Triple {
  double x, y, z;
};
struct Complex {
  float re, im;
};

/// Reals over 40 binary orders of magnitude, or from the denormal ones on, with both signs. A double has all its digits.
double real(Draws& draws, bool small) {
  const auto digits = static_cast<double>(static_cast<std::int64_t>(draws.bits()) >> 11);
  return std::ldexp(digits, static_cast<int>(draws.below(40)) - (small ? 1100 : 72));
}

template <typename T> void draw(T& element, Draws& draws, std::string_view kind) {
  if constexpr (std::is_same_v<T, Triple>) {
    element = {real(draws, false), real(draws, false), real(draws, true)};
  } else if constexpr (std::is_same_v<T, Complex>) {
    draw(element.re, draws, kind);
    draw(element.im, draws, kind);
  } else if constexpr (std::is_integral_v<T>) {
    element = static_cast<T>(draws.bits() >> 32);
  } else {
    double value = real(draws, false);
    if (kind == "factors")  // near to 1, so that a product of many has digits left
      value = 1 + std::ldexp(static_cast<double>(static_cast<std::int64_t>(draws.bits()) >> 11), -68);
    if (kind == "small") value = std::ldexp(value, std::is_same_v<T, double> ? -1040 : -140);
    if (kind == "extremes") {
      const std::uint64_t choice = draws.below(64);
      if (choice == 0) value = std::nan("");
      if (choice == 1) value = -0.0;
      if (choice == 2) value = 0.0;
    }
    element =
        static_cast<T>(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value));
  }
}

// ---- operations of a user's ----

/// Order matters: what is cut off at one end does not come back.
struct SaturatedSum {
  template <typename T> __host__ __device__ T operator()(const T& a, const T& b) const {
    const int sum = int{a} + int{b};
    const int most = (1 << (8 * sizeof(T) - 1)) - 1;
    return static_cast<T>(sum > most ? most : sum < -most - 1 ? -most - 1 : sum);
  }
};

struct MemberwiseSum {
  __host__ __device__ Triple operator()(const Triple& a, const Triple& b) const {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  __host__ __device__ Complex operator()(const Complex& a, const Complex& b) const {
    return {a.re + b.re, a.im + b.im};
  }
};

struct Square {
  template <typename T> __host__ __device__ T operator()(const T& a) const { return a * a; }
};
struct Same {
  template <typename T> __host__ __device__ const T& operator()(const T& a) const { return a; }
};

// ---- bits ----

std::string hexadecimal(const void* value, std::size_t bytes) {
  const auto* const begin = static_cast<const unsigned char*>(value);
  std::string text;
  char two[3];
  for (std::size_t i = bytes; i > 0; --i) {
    std::snprintf(two, sizeof(two), "%02x", static_cast<unsigned>(begin[i - 1]));
    text += two;
  }
  return text;
}

/// NaNs count as one.
template <typename T> std::string bits(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return "nan";
  }
  return hexadecimal(&value, sizeof(T));
}
std::string bits(const __half& value) { return bits(static_cast<float>(value)); }
std::string bits(const __nv_bfloat16& value) { return bits(static_cast<float>(value)); }
std::string bits(const Triple& value) { return bits(value.x) + "," + bits(value.y) + "," + bits(value.z); }
std::string bits(const Complex& value) { return bits(value.re) + "," + bits(value.im); }
template <typename T> std::string bits(const reduction::Extremes<T>& value) {
  return bits(value.smallest) + "," + bits(value.largest);
}
template <typename T> std::string bits(const reduction::Indexed<T>& value) {
  return bits(value.value) + "," + std::to_string(value.index);
}
template <typename T> std::string bits(const reduction::Bounded<T>& value) {
  return bits(value.value) + "," + bits(value.error_bound);
}

// ---- a case ----

template <typename Operation> const Operation& callable(const Operation& operation) { return operation; }
template <typename Operation, typename T>
const Operation& callable(const reduction::WithIdentity<Operation, T>& operation) {
  return operation.operation;
}

/// What SameBits should give, by in_order(); of operations whose order does not matter, too.
template <typename A, typename T, typename Operation, typename Transform>
A expected(const T* in, std::size_t n, const Operation& operation, const Transform& transform) {
  using Value = std::decay_t<decltype(transform(*in))>;
  const auto combine = [&](const A& a, const A& b) { return static_cast<A>(callable(operation)(a, b)); };
  const auto element = [&](const T& value, std::size_t index) {
    (void)index;
    if constexpr (std::is_convertible_v<Value, A>)
      return static_cast<A>(transform(value));
    else
      return operation.template element<A>(transform(value), index);
  };
  constexpr std::size_t width = 16 % sizeof(T) == 0 ? 16 / sizeof(T) : 1;
  const auto of_vector = [&](const T* first, std::size_t count) {
    if constexpr (std::is_same_v<Operation, reduction::CompensatedSum> && width > 1) {
      if (count == width) {
        T values[width];
        std::memcpy(values, first, sizeof(values));
        return Operation::template neighbours<A>(values, 0);
      }
    }
    A result = element(first[0], static_cast<std::size_t>(first - in));
    for (std::size_t k = 1; k < count; ++k)
      result = combine(result, element(first[k], static_cast<std::size_t>(first - in) + k));
    return result;
  };
  return in_order<A>(in, n, width, sizeof(T) <= 64 ? 4 : 1, operation.template identity<A>(), combine,
                     of_vector);
}

struct Drawn {
  std::uint64_t number;
  std::size_t n;
  std::size_t start;  ///< elements from a multiple of 256 bytes to the first one
  bool is_right = true;
};

/// Reduces drawn elements and prints the case's line. A is what is accumulated in, Out what the result is.
template <typename A, typename T, typename Out = A, typename Operation, typename Transform = Same>
void run(Drawn& drawn, const char* name, const char* kind, const Operation& operation,
         const Transform& transform = {}) {
  Draws draws(drawn.number + 1);
  std::vector<T> in(drawn.n);
  for (T& element : in)
    draw(element, draws, kind);

  T* buffer = nullptr;
  Out* out = nullptr;
  check(cudaMalloc(&buffer, (drawn.start + drawn.n + 1) * sizeof(T)), "cudaMalloc");
  check(cudaMalloc(&out, sizeof(Out)), "cudaMalloc");
  const Out nothing{};
  check(cudaMemcpy(out, &nothing, sizeof(Out), cudaMemcpyHostToDevice), "cudaMemcpy");  // padding, too
  if (drawn.n > 0)
    check(cudaMemcpy(buffer + drawn.start, in.data(), drawn.n * sizeof(T), cudaMemcpyHostToDevice),
          "cudaMemcpy");
  const reduction::SameBits<Operation> same{operation};
  if constexpr (std::is_same_v<Transform, Same>)
    check(reduction::reduce<A>(buffer + drawn.start, out, drawn.n, same), "reduce");
  else
    check(reduction::transform_reduce<A>(buffer + drawn.start, out, drawn.n, same, transform),
          "transform_reduce");
  Out found;
  check(cudaMemcpy(&found, out, sizeof(Out), cudaMemcpyDeviceToHost), "cudaMemcpy");
  check(cudaFree(buffer), "cudaFree");
  check(cudaFree(out), "cudaFree");

  const std::string text = bits(found);
  std::printf("%llu %s %zu %zu %s\n", static_cast<unsigned long long>(drawn.number), name, drawn.n,
              drawn.start, text.c_str());
  if (drawn.n == 0) return;  // a result for no elements is reduce()'s, whatever the order
  const auto wanted = bits(static_cast<Out>(expected<A>(in.data(), drawn.n, operation, transform)));
  if (text == wanted) return;
  std::fprintf(stderr, "case %llu: %s, and in a loop %s\n", static_cast<unsigned long long>(drawn.number),
               text.c_str(), wanted.c_str());
  drawn.is_right = false;
}

// ---- the cases ----

using reduction::Bounded;
using reduction::Compensated;
using reduction::Extremes;
using reduction::Indexed;
using reduction::WithIdentity;

using Run = void (*)(Drawn&);

/// Each with what it is called, what its elements are drawn from, and its operation.
constexpr Run kinds[] = {
    [](Drawn& d) { run<float, float>(d, "float.sum", "reals", reduction::Sum{}); },
    [](Drawn& d) { run<double, double>(d, "double.sum", "reals", reduction::Sum{}); },
    [](Drawn& d) { run<float, float>(d, "float.sum_of_small", "small", reduction::Sum{}); },
    [](Drawn& d) { run<double, double>(d, "double.sum_of_small", "small", reduction::Sum{}); },
    [](Drawn& d) { run<double, float>(d, "float.sum_in_double", "reals", reduction::Sum{}); },
    [](Drawn& d) { run<float, __half>(d, "half.sum_in_float", "factors", reduction::Sum{}); },
    [](Drawn& d) {
      run<float, __nv_bfloat16, __nv_bfloat16>(d, "bfloat16.sum_in_float", "reals", reduction::Sum{});
    },
    [](Drawn& d) { run<float, float>(d, "float.product", "factors", reduction::Product{}); },
    [](Drawn& d) { run<double, double>(d, "double.product", "factors", reduction::Product{}); },
    [](Drawn& d) { run<float, float>(d, "float.min", "extremes", reduction::Min{}); },
    [](Drawn& d) { run<double, double>(d, "double.max", "extremes", reduction::Max{}); },
    [](Drawn& d) { run<__half, __half>(d, "half.max", "extremes", reduction::Max{}); },
    [](Drawn& d) { run<double, double>(d, "double.min_or_nan", "extremes", reduction::MinOrNaN{}); },
    [](Drawn& d) { run<Extremes<float>, float>(d, "float.min_max", "extremes", reduction::MinMax{}); },
    [](Drawn& d) { run<Indexed<float>, float>(d, "float.arg_min", "extremes", reduction::ArgMin{}); },
    [](Drawn& d) { run<int, int>(d, "int.sum", "", reduction::Sum{}); },
    [](Drawn& d) { run<unsigned char, unsigned char>(d, "uint8.min", "", reduction::Min{}); },
    [](Drawn& d) {
      run<signed char, signed char>(d, "int8.saturated_sum", "",
                                    WithIdentity<SaturatedSum, signed char>{{}, 0});
    },
    [](Drawn& d) {
      run<short, short>(d, "int16.saturated_sum", "", WithIdentity<SaturatedSum, short>{{}, 0});
    },
    [](Drawn& d) {
      run<Triple, Triple>(d, "triple.sum", "reals",
                          WithIdentity<MemberwiseSum, Triple>{{}, {-0.0, -0.0, -0.0}});
    },
    [](Drawn& d) {
      run<Complex, Complex>(d, "complex.sum", "reals",
                            WithIdentity<MemberwiseSum, Complex>{{}, {-0.0F, -0.0F}});
    },
    [](Drawn& d) { run<float, float>(d, "float.sum_of_squares", "factors", reduction::Sum{}, Square{}); },
    [](Drawn& d) { run<double, double>(d, "double.sum_of_squares", "factors", reduction::Sum{}, Square{}); },
    [](Drawn& d) {
      run<Compensated<float>, float, Bounded<float>>(d, "float.compensated_sum", "reals",
                                                     reduction::CompensatedSum{});
    },
    [](Drawn& d) {
      run<Compensated<double>, double, Bounded<double>>(d, "double.compensated_sum", "reals",
                                                        reduction::CompensatedSum{});
    },
};

/// A case for each of 500 numbers: kinds in turn, sizes over 18 binary orders of magnitude, any start. Five have more chunks
/// than a GPU has blocks at once.
bool run_small() {
  bool all_are_right = true;
  for (std::uint64_t number = 0; number < 500; ++number) {
    Draws draws(~number);
    const std::uint64_t magnitude = std::uint64_t{1} << (number % 101 == 0 ? 22 : draws.below(18));
    Drawn drawn{number, magnitude + draws.below(magnitude) - 1, draws.below(2) * draws.below(16)};
    kinds[number % std::size(kinds)](drawn);
    all_are_right &= drawn.is_right;
  }
  return all_are_right;
}

/// Chunks of more than one tile, and inputs of more than 1 GiB, for which there are bulk copies.
bool run_large() {
  const std::size_t tile = 4 * 512 * 4;  // floats
  bool all_are_right = true;
  std::uint64_t number = 500;
  for (const std::size_t n : {8192 * tile + 1, 3 * 8192 * tile - 5, (std::size_t{1} << 28) + 4321}) {
    for (const std::size_t start : {0, 1, 32}) {
      for (const std::size_t kind : {0, 23}) {
        Drawn drawn{number++, n, start};
        kinds[kind](drawn);
        all_are_right &= drawn.is_right;
      }
    }
  }
  return all_are_right;
}

}  // namespace

int main(int argc, char** argv) {
  const bool large = argc == 2 && std::string_view{argv[1]} == "--large";
  if (argc > 1 && !large) {
    std::fprintf(stderr, "same_bits takes --large or nothing\n");
    return 2;
  }
  return (large ? run_large() : run_small()) ? 0 : 1;
}
