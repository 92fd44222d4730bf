#include "emulated/language/runtime/random_streams.hpp"

#include <bit>
#include <cstddef>

namespace __emulated {
namespace {

/// Squares of a step, as each recurrence is linear: the k-th makes 2^k steps. They are made in place, since kernels ask for them.
template <typename Matrix, unsigned subsequence_exponent> class Squares {
 public:
  explicit Squares(const Matrix& step) {
    squares_[0] = step;
    for (std::size_t k = 1; k < squares_.size(); ++k)
      squares_[k] = squares_[k - 1] * squares_[k - 1];
  }

  template <typename State>
  State after(State state, unsigned long long subsequence, unsigned long long offset) const {
    const auto skip = [&](unsigned long long steps, std::size_t exponent) {
      for (; steps != 0; steps >>= 1, ++exponent)
        if ((steps & 1) != 0) state = squares_[exponent] * state;
    };
    skip(subsequence, subsequence_exponent);
    skip(offset, 0);
    return state;
  }

 private:
  std::array<Matrix, subsequence_exponent + 64> squares_;
};

using Register = std::array<unsigned, 5>;

/// What each bit of the register contributes to the next one.
struct BitMatrix {
  std::array<Register, 160> columns;

  Register operator*(const Register& state) const {
    Register product{};
    for (std::size_t word = 0; word < state.size(); ++word) {
      for (unsigned bits = state[word]; bits != 0; bits &= bits - 1) {
        const Register& column = columns[word * 32 + static_cast<unsigned>(std::countr_zero(bits))];
        for (std::size_t i = 0; i < product.size(); ++i)
          product[i] ^= column[i];
      }
    }
    return product;
  }
  BitMatrix operator*(const BitMatrix& other) const {
    BitMatrix product;
    for (std::size_t i = 0; i < columns.size(); ++i)
      product.columns[i] = *this * other.columns[i];
    return product;
  }
};

/// (Marsaglia, "Xorshift RNGs", section 3.1)
BitMatrix step_of_xorwow() {
  BitMatrix step;
  for (std::size_t bit = 0; bit < step.columns.size(); ++bit) {
    Register v{};
    v[bit / 32] = 1U << bit % 32;
    const unsigned t = v[0] ^ v[0] >> 2;
    step.columns[bit] = {v[1], v[2], v[3], v[4], v[4] ^ v[4] << 4 ^ t ^ t << 1};
  }
  return step;
}

/// Modulo one of the generator's two moduli.
struct ModularMatrix {
  std::array<std::array<unsigned long long, 3>, 3> rows;
  unsigned long long modulus;

  std::array<unsigned, 3> operator*(const std::array<unsigned, 3>& state) const {
    std::array<unsigned, 3> product;
    for (std::size_t i = 0; i < product.size(); ++i) {
      unsigned long long sum = 0;
      for (std::size_t k = 0; k < state.size(); ++k)
        sum = (sum + rows[i][k] * state[k] % modulus) % modulus;
      product[i] = static_cast<unsigned>(sum);
    }
    return product;
  }
  ModularMatrix operator*(const ModularMatrix& other) const {
    ModularMatrix product = *this;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = 0; j < rows.size(); ++j) {
        product.rows[i][j] = 0;
        for (std::size_t k = 0; k < rows.size(); ++k)
          product.rows[i][j] = (product.rows[i][j] + rows[i][k] * other.rows[k][j] % modulus) % modulus;
      }
    }
    return product;
  }
};

/// (L'Ecuyer, "Good Parameters and Implementations for Combined Multiple Recursive Random Number Generators")
ModularMatrix step_of_mrg(unsigned component) {
  const unsigned long long modulus = mrg_moduli[component];
  if (component == 0) return {{{{0, 1, 0}, {0, 0, 1}, {modulus - 810728, 1403580, 0}}}, modulus};
  return {{{{0, 1, 0}, {0, 0, 1}, {modulus - 1370589, 0, 527612}}}, modulus};
}

}  // namespace

std::array<unsigned, 5> xorwow_after(const std::array<unsigned, 5>& state, unsigned long long subsequence,
                                     unsigned long long offset) {
  static const Squares<BitMatrix, 67> squares{step_of_xorwow()};
  return squares.after(state, subsequence, offset);
}

std::array<unsigned, 3> mrg_after(unsigned component, const std::array<unsigned, 3>& state,
                                  unsigned long long subsequence, unsigned long long offset) {
  static const Squares<ModularMatrix, 76> first{step_of_mrg(0)}, second{step_of_mrg(1)};
  return (component == 0 ? first : second).after(state, subsequence, offset);
}

}  // namespace __emulated
