#pragma once
/// \file
/// Words of several small integers: two of 16 bits, or four of 8. (CUDA Math API, "SIMD Intrinsics"; of the comparisons it
/// says less than they do: each pair has a result of its own.)

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>

namespace __emulated {

/// The number-th integer of a word, counted from its lowest bits.
template <typename T, typename Word> int part_of(Word word, unsigned number) {
  return static_cast<T>(static_cast<unsigned>(word) >> number * 8 * sizeof(T));
}

/// `operation` of the integers T that two words have at the same places: of each result the bits that fit.
template <typename T, typename Operation> unsigned of_each_part(unsigned a, unsigned b, Operation operation) {
  unsigned result = 0;
  for (unsigned k = 0; k < 4 / sizeof(T); ++k) {
    const auto part = static_cast<std::make_unsigned_t<T>>(operation(part_of<T>(a, k), part_of<T>(b, k)));
    result |= unsigned{part} << k * 8 * sizeof(T);
  }
  return result;
}

/// The T that is nearest to `value`.
template <typename T> int saturated(int value) {
  using Limits = std::numeric_limits<T>;
  return value < Limits::min() ? Limits::min() : value > Limits::max() ? Limits::max() : value;
}

/// The sum of |a - b| for all integers T of two words.
template <typename T> unsigned distance(unsigned a, unsigned b) {
  unsigned sum = 0;
  for (unsigned k = 0; k < 4 / sizeof(T); ++k)
    sum += static_cast<unsigned>(std::abs(part_of<T>(a, k) - part_of<T>(b, k)));
  return sum;
}

/// The dot product of the integers A of a word with as many integers B of another, from number `first` on, added to `sum`.
template <typename A, typename B, typename Word> Word dot_product(Word a, Word b, Word sum, unsigned first) {
  auto result = static_cast<unsigned>(sum);
  for (unsigned k = 0; k < 4 / sizeof(A); ++k)
    result += static_cast<unsigned>(part_of<A>(a, k)) * static_cast<unsigned>(part_of<B>(b, first + k));
  return static_cast<Word>(result);
}

}  // namespace __emulated

/// \cond
// name2 and name4, of integers T, each of which is (a, b) -> expression. (No function makes names of a name.)
#define __EMULATED_OF_PARTS_OF(name, T, expression)                                    \
  inline unsigned name(unsigned x, unsigned y) {                                       \
    return __emulated::of_each_part<T>(x, y, [](int a, int b) { return expression; }); \
  }
#define __EMULATED_OF_PARTS(name, sign, expression)            \
  __EMULATED_OF_PARTS_OF(name##2, std::sign##16_t, expression) \
  __EMULATED_OF_PARTS_OF(name##4, std::sign##8_t, expression)
#define __EMULATED_SATURATED(name, sign, expression)                                                   \
  __EMULATED_OF_PARTS_OF(name##2, std::sign##16_t, __emulated::saturated<std::sign##16_t>(expression)) \
  __EMULATED_OF_PARTS_OF(name##4, std::sign##8_t, __emulated::saturated<std::sign##8_t>(expression))
// As a mask, and as 0 or 1.
#define __EMULATED_COMPARISON(name, sign, comparison)              \
  __EMULATED_OF_PARTS(__vcmp##name, sign, a comparison b ? -1 : 0) \
  __EMULATED_OF_PARTS(__vset##name, sign, a comparison b ? 1 : 0)

__EMULATED_OF_PARTS(__vadd, uint, a + b)
__EMULATED_OF_PARTS(__vsub, uint, a - b)
__EMULATED_SATURATED(__vaddss, int, a + b)
__EMULATED_SATURATED(__vaddus, uint, a + b)
__EMULATED_SATURATED(__vsubss, int, a - b)
__EMULATED_SATURATED(__vsubus, uint, a - b)
__EMULATED_OF_PARTS(__vmins, int, a < b ? a : b)
__EMULATED_OF_PARTS(__vmaxs, int, a < b ? b : a)
__EMULATED_OF_PARTS(__vminu, uint, a < b ? a : b)
__EMULATED_OF_PARTS(__vmaxu, uint, a < b ? b : a)
__EMULATED_OF_PARTS(__vavgs, int, (a + b + 1) >> 1)
__EMULATED_OF_PARTS(__vavgu, uint, (a + b + 1) >> 1)
__EMULATED_OF_PARTS(__vhaddu, uint, (a + b) >> 1)
__EMULATED_OF_PARTS(__vabsdiffs, int, std::abs(a - b))
__EMULATED_OF_PARTS(__vabsdiffu, uint, std::abs(a - b))
__EMULATED_COMPARISON(eq, uint, ==)
__EMULATED_COMPARISON(ne, uint, !=)
__EMULATED_COMPARISON(lts, int, <)
__EMULATED_COMPARISON(les, int, <=)
__EMULATED_COMPARISON(gts, int, >)
__EMULATED_COMPARISON(ges, int, >=)
__EMULATED_COMPARISON(ltu, uint, <)
__EMULATED_COMPARISON(leu, uint, <=)
__EMULATED_COMPARISON(gtu, uint, >)
__EMULATED_COMPARISON(geu, uint, >=)
#undef __EMULATED_COMPARISON
#undef __EMULATED_SATURATED
#undef __EMULATED_OF_PARTS
#undef __EMULATED_OF_PARTS_OF
/// \endcond

inline unsigned __vabs2(unsigned a) { return __vabsdiffs2(a, 0); }
inline unsigned __vabs4(unsigned a) { return __vabsdiffs4(a, 0); }
inline unsigned __vabsss2(unsigned a) { return __vmaxs2(a, __vsubss2(0, a)); }
inline unsigned __vabsss4(unsigned a) { return __vmaxs4(a, __vsubss4(0, a)); }
inline unsigned __vneg2(unsigned a) { return __vsub2(0, a); }
inline unsigned __vneg4(unsigned a) { return __vsub4(0, a); }
inline unsigned __vnegss2(unsigned a) { return __vsubss2(0, a); }
inline unsigned __vnegss4(unsigned a) { return __vsubss4(0, a); }

inline unsigned __vsads2(unsigned a, unsigned b) { return __emulated::distance<std::int16_t>(a, b); }
inline unsigned __vsads4(unsigned a, unsigned b) { return __emulated::distance<std::int8_t>(a, b); }
inline unsigned __vsadu2(unsigned a, unsigned b) { return __emulated::distance<std::uint16_t>(a, b); }
inline unsigned __vsadu4(unsigned a, unsigned b) { return __emulated::distance<std::uint8_t>(a, b); }

/// \cond
#define __EMULATED_DOT_PRODUCTS(name, first, A, B)                                        \
  inline int name(int a, int b, int sum) {                                                \
    return __emulated::dot_product<std::int##A##_t, std::int##B##_t>(a, b, sum, first);   \
  }                                                                                       \
  inline unsigned name(unsigned a, unsigned b, unsigned sum) {                            \
    return __emulated::dot_product<std::uint##A##_t, std::uint##B##_t>(a, b, sum, first); \
  }
__EMULATED_DOT_PRODUCTS(__dp4a, 0, 8, 8)
__EMULATED_DOT_PRODUCTS(__dp2a_lo, 0, 16, 8)
__EMULATED_DOT_PRODUCTS(__dp2a_hi, 2, 16, 8)
#undef __EMULATED_DOT_PRODUCTS
/// \endcond
