#pragma once
/// \file
/// CUDA's atomic operations (CUDA C++ Programming Guide, "Atomic Functions"). Each returns the value before it. Here the forms
/// for a block and for the system, `_block` and `_system`, do what those for the device do.

#include <cstddef>
#include <type_traits>
#include <utility>

#include "emulated/language/vectors.hpp"
#include "emulated/memory/word.hpp"

namespace __emulated {

/// Waits until no lower block can update memory. One host thread at a time gets past it, so that plain accesses are
/// indivisible until the running thread calls the device again. \param expected  a value is only stored where this one is
/// found, or nullptr.
void begin_atomic(const void* address, std::size_t bytes, const void* expected);

/// The thread's next atomic operation is one to its own block only.
void narrow_next_atomic();

/// The kernel works together with the host on its way, which need not wait for its end.
void meet_host();

/// What no hook sees.
template <typename T> __attribute__((no_sanitize("thread"), noinline)) T load_unseen(const T* address) {
  return *address;
}
template <typename T>
__attribute__((no_sanitize("thread"), noinline)) void store_unseen(T* address, T value) {
  *address = value;
}

/// Replaces *address by update(*address) as one indivisible operation and returns the value before it.
template <typename T, typename Update>
__EMULATED_INLINE T update_atomically(T* address, const Update& update, const T* expected = nullptr) {
  begin_atomic(address, sizeof(T), expected);
  const T before = load_unseen(address);
  store_unseen(address, static_cast<T>(update(before)));
  return before;
}

/// The sum, which wraps around where T is an integer.
template <typename T> T wrapped_sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}

template <typename T, typename... Types>
concept OneOf = (std::is_same_v<T, Types> || ...);

/// Such as a uint4, or a struct of a program that is aligned as one is.
template <typename T>
concept OfSixteenBytes = sizeof(T) == 16 && alignof(T) == 16;

/// Stores 16 bytes if these are there, or in any case without them, and returns those before.
template <typename T>
__EMULATED_INLINE T exchange_sixteen_bytes(T* address, const T& value, const T* expected = nullptr) {
  const auto* const new_word = reinterpret_cast<const Word16*>(&value);
  const auto* const expected_word = reinterpret_cast<const Word16*>(expected);
  T before;
  *reinterpret_cast<Word16*>(&before) = update_atomically(
      reinterpret_cast<Word16*>(address),
      [=](Word16 found) { return expected == nullptr || found == *expected_word ? *new_word : found; },
      expected_word);
  return before;
}

/// What a pointer, or what becomes one, points to.
template <typename Address> using Pointed = std::remove_pointer_t<decltype(+std::declval<Address&>())>;

}  // namespace __emulated

/// \cond
// An operation on what is there, `before`, and a value, of one of these types. (No function makes a name of a name.)
#define __EMULATED_ATOMIC(name, update, ...)                                                             \
  template <typename Address, __emulated::OneOf<__VA_ARGS__> T = __emulated::Pointed<Address>>           \
  __EMULATED_INLINE T name(Address address, std::type_identity_t<T> value) {                             \
    return __emulated::update_atomically<T>(address, [=]([[maybe_unused]] T before) { return update; }); \
  }
__EMULATED_ATOMIC(atomicAdd, __emulated::wrapped_sum(before, value), int, unsigned, unsigned long long, float,
                  double)
__EMULATED_ATOMIC(atomicSub, static_cast<unsigned>(before) - static_cast<unsigned>(value), int, unsigned)
__EMULATED_ATOMIC(atomicExch, value, int, unsigned, unsigned long long, float)
__EMULATED_ATOMIC(atomicMin, value < before ? value : before, int, unsigned, long long, unsigned long long)
__EMULATED_ATOMIC(atomicMax, before < value ? value : before, int, unsigned, long long, unsigned long long)
__EMULATED_ATOMIC(atomicAnd, (before & value), int, unsigned, long long, unsigned long long)
__EMULATED_ATOMIC(atomicOr, (before | value), int, unsigned, long long, unsigned long long)
__EMULATED_ATOMIC(atomicXor, (before ^ value), int, unsigned, long long, unsigned long long)
#undef __EMULATED_ATOMIC
/// \endcond

template <typename Address, __emulated::OfSixteenBytes T = __emulated::Pointed<Address>>
__EMULATED_INLINE T atomicExch(Address address, std::type_identity_t<T> value) {
  return __emulated::exchange_sixteen_bytes<T>(address, value);
}

/// Adds 1, or sets the value to 0 where it is `last` already or above it.
__EMULATED_INLINE unsigned atomicInc(unsigned* address, unsigned last) {
  return __emulated::update_atomically(address,
                                       [=](unsigned before) { return before >= last ? 0 : before + 1; });
}

/// Subtracts 1, or sets the value to `last` where it is 0 or above that.
__EMULATED_INLINE unsigned atomicDec(unsigned* address, unsigned last) {
  return __emulated::update_atomically(
      address, [=](unsigned before) { return before == 0 || before > last ? last : before - 1; });
}

template <typename Address, __emulated::OneOf<int, unsigned, long long, unsigned long long, unsigned short>
                                T = __emulated::Pointed<Address>>
__EMULATED_INLINE T atomicCAS(Address address, std::type_identity_t<T> expected,
                              std::type_identity_t<T> value) {
  return __emulated::update_atomically<T>(
      address, [=](T before) { return before == expected ? value : before; }, &expected);
}

template <typename Address, __emulated::OfSixteenBytes T = __emulated::Pointed<Address>>
__EMULATED_INLINE T atomicCAS(Address address, std::type_identity_t<T> expected,
                              std::type_identity_t<T> value) {
  return __emulated::exchange_sixteen_bytes<T>(address, value, &expected);
}

/// Not indivisible as a whole: each component is.
__EMULATED_INLINE float2 atomicAdd(float2* address, float2 value) {
  return float2{atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
}
__EMULATED_INLINE float4 atomicAdd(float4* address, float4 value) {
  return float4{atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y),
                atomicAdd(&address->z, value.z), atomicAdd(&address->w, value.w)};
}

// The names of the other scopes. (No function makes a name of a name.)
#define __EMULATED_SCOPES(name)                                                                \
  template <typename... Arguments>                                                             \
  __EMULATED_INLINE auto name##_block(Arguments... arguments)->decltype(name(arguments...)) {  \
    __emulated::narrow_next_atomic();                                                          \
    return name(arguments...);                                                                 \
  }                                                                                            \
  template <typename... Arguments>                                                             \
  __EMULATED_INLINE auto name##_system(Arguments... arguments)->decltype(name(arguments...)) { \
    __emulated::meet_host();                                                                   \
    return name(arguments...);                                                                 \
  }
__EMULATED_SCOPES(atomicAdd)
__EMULATED_SCOPES(atomicSub)
__EMULATED_SCOPES(atomicExch)
__EMULATED_SCOPES(atomicMin)
__EMULATED_SCOPES(atomicMax)
__EMULATED_SCOPES(atomicInc)
__EMULATED_SCOPES(atomicDec)
__EMULATED_SCOPES(atomicCAS)
__EMULATED_SCOPES(atomicAnd)
__EMULATED_SCOPES(atomicOr)
__EMULATED_SCOPES(atomicXor)
#undef __EMULATED_SCOPES
