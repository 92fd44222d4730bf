#pragma once
/// \file
/// In place of Thrust: its operations, placeholders, tuples and random numbers.

#include <cmath>
#include <complex>
#include <random>
#include <tuple>
#include <utility>

#include "emulated/language/cuda.hpp"

namespace thrust {

using std::abs, std::arg, std::conj, std::cos, std::exp, std::log, std::norm, std::polar, std::pow, std::proj,
    std::sin, std::sqrt;
using std::complex;
using std::get, std::make_pair, std::make_tuple, std::pair, std::swap, std::tie, std::tuple,
    std::tuple_element, std::tuple_size;

namespace details {

/// What an operation of T takes an argument as.
template <typename T, typename Argument> using As = std::conditional_t<std::is_void_v<T>, Argument, T>;

}  // namespace details

// (No function makes a name of a name.)
#define __EMULATED_BINARY(name, joined)                                                                  \
  template <typename T = void> struct name {                                                             \
    using __emulated_of_library = void;                                                                  \
    template <typename A, typename B> constexpr auto operator()(const A& first, const B& second) const { \
      const details::As<T, A>& a = first;                                                                \
      const details::As<T, B>& b = second;                                                               \
      return joined;                                                                                     \
    }                                                                                                    \
  };
__EMULATED_BINARY(plus, a + b)
__EMULATED_BINARY(minus, a - b)
__EMULATED_BINARY(multiplies, a* b)
__EMULATED_BINARY(divides, a / b)
__EMULATED_BINARY(modulus, a % b)
__EMULATED_BINARY(maximum, a < b ? b : a)
__EMULATED_BINARY(minimum, b < a ? b : a)
__EMULATED_BINARY(equal_to, a == b)
__EMULATED_BINARY(not_equal_to, a != b)
__EMULATED_BINARY(less, a < b)
__EMULATED_BINARY(less_equal, a <= b)
__EMULATED_BINARY(greater, a > b)
__EMULATED_BINARY(greater_equal, a >= b)
__EMULATED_BINARY(logical_and, a&& b)
__EMULATED_BINARY(logical_or, a || b)
__EMULATED_BINARY(bit_and, a& b)
__EMULATED_BINARY(bit_or, a | b)
__EMULATED_BINARY(bit_xor, a ^ b)
#undef __EMULATED_BINARY
#define __EMULATED_UNARY(name, result)                                                   \
  template <typename T = void> struct name {                                             \
    using __emulated_of_library = void;                                                  \
    template <typename A> constexpr auto operator()(const A& a) const { return result; } \
  };
__EMULATED_UNARY(negate, -a)
__EMULATED_UNARY(square, a* a)
__EMULATED_UNARY(logical_not, !a)
__EMULATED_UNARY(identity, A(a))
#undef __EMULATED_UNARY

template <typename Predicate> struct unary_negate {
  mutable Predicate predicate;  // its operator may be none for constants
  template <typename T> bool operator()(const T& value) const { return !predicate(value); }
};
template <typename Predicate> unary_negate<Predicate> not1(const Predicate& predicate) { return {predicate}; }
template <typename Argument, typename Result> struct unary_function {
  using argument_type = Argument;
  using result_type = Result;
};
template <typename First, typename Second, typename Result> struct binary_function {
  using first_argument_type = First;
  using second_argument_type = Second;
  using result_type = Result;
};

/// What an expression with placeholders is: a function of what they stand for.
namespace placeholders {

template <typename Function> struct Expression {
  Function function;
  template <typename... Arguments> auto operator()(const Arguments&... arguments) const {
    return function(arguments...);
  }
};
template <typename Function> Expression(Function) -> Expression<Function>;
template <typename T> inline constexpr bool is_expression = false;
template <typename Function> inline constexpr bool is_expression<Expression<Function>> = true;

template <typename T, typename... Arguments> auto value_of(const T& operand, const Arguments&... arguments) {
  if constexpr (is_expression<T>) {
    return operand(arguments...);
  } else {
    return operand;
  }
}
template <std::size_t index> struct Argument {
  template <typename... Arguments> auto operator()(const Arguments&... arguments) const {
    return std::get<index>(std::tuple<const Arguments&...>{arguments...});
  }
};
inline constexpr Expression<Argument<0>> _1{};
inline constexpr Expression<Argument<1>> _2{};
inline constexpr Expression<Argument<2>> _3{};

#define __EMULATED_OPERATOR(sign)                                                             \
  template <typename A, typename B>                                                           \
  requires(is_expression<A> || is_expression<B>) auto operator sign(const A& a, const B& b) { \
    return Expression{[a, b](const auto&... arguments) {                                      \
      return value_of(a, arguments...) sign value_of(b, arguments...);                        \
    }};                                                                                       \
  }
__EMULATED_OPERATOR(+)
__EMULATED_OPERATOR(-)
__EMULATED_OPERATOR(*)
__EMULATED_OPERATOR(/)
__EMULATED_OPERATOR(%)
__EMULATED_OPERATOR(==)
__EMULATED_OPERATOR(!=)
__EMULATED_OPERATOR(<)
__EMULATED_OPERATOR(<=)
__EMULATED_OPERATOR(>)
__EMULATED_OPERATOR(>=)
__EMULATED_OPERATOR(&&)
__EMULATED_OPERATOR(||)
#undef __EMULATED_OPERATOR
template <typename Function> auto operator-(const Expression<Function>& a) { return 0 - a; }
template <typename Function> auto operator!(const Expression<Function>& a) { return a == false; }

}  // namespace placeholders

/// Engines are those of C++; distributions have Thrust's own rules.
namespace random {

using default_random_engine = std::minstd_rand;
using std::minstd_rand, std::minstd_rand0, std::ranlux24, std::ranlux48;

template <typename Real = double> class uniform_real_distribution {
 public:
  explicit uniform_real_distribution(Real first = 0, Real last = 1) : first_{first}, last_{last} {}
  template <typename Engine> Real operator()(Engine& engine) const {
    const Real drawn = static_cast<Real>(engine() - Engine::min());
    return drawn / (1 + static_cast<Real>(Engine::max() - Engine::min())) * (last_ - first_) + first_;
  }

 private:
  Real first_, last_;
};
template <typename Integer = int> class uniform_int_distribution {
 public:
  explicit uniform_int_distribution(Integer first = 0, Integer last = std::numeric_limits<Integer>::max())
      : real_{static_cast<double>(first), static_cast<double>(last) + 1} {}
  template <typename Engine> Integer operator()(Engine& engine) const {
    return static_cast<Integer>(real_(engine));
  }

 private:
  uniform_real_distribution<double> real_;
};
template <typename Real = double> class normal_distribution {
 public:
  explicit normal_distribution(Real mean = 0, Real deviation = 1) : mean_{mean}, deviation_{deviation} {}
  template <typename Engine> Real operator()(Engine& engine) const {
    const uniform_real_distribution<Real> uniform;
    const Real radius = std::sqrt(-2 * std::log(1 - uniform(engine)));
    return mean_ + deviation_ * radius * std::cos(2 * static_cast<Real>(M_PI) * uniform(engine));
  }

 private:
  Real mean_, deviation_;
};

}  // namespace random
using namespace random;

}  // namespace thrust
