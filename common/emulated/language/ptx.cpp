/// \file
/// What the instructions do that ptx_table.hpp lists.

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "emulated/language/ptx_table.hpp"
#include "emulated/language/small_float_functions.hpp"
#include "emulated/order/host_order.hpp"
#include "emulated/run/block.hpp"
#include "emulated/run/device.hpp"

long long clock64();  // of cuda.hpp, which is for kernels

namespace __emulated::ptx {

// ---- one instruction of one thread ----

class Call {
 public:
  Call(const Instruction& instruction, std::uint64_t* cells, const Caller& caller)
      : is{instruction}, from{caller}, block{*Block::running()}, cells_{cells} {}

  bool has(Name modifier) const { return std::ranges::find(is.modifiers, modifier) != is.modifiers.end(); }
  Type type() const { return is.types[0]; }

  std::uint64_t word(const Argument& argument) const {
    std::uint64_t sum = argument.constant;
    if (argument.special != Name{}) sum += special(argument.special);
    if (argument.cell != Argument::none) sum += cells_[argument.cell];
    if (argument.added != Argument::none) sum += cells_[argument.added];
    return argument.is_negated ? 1 - sum : sum;
  }
  std::uint64_t word(unsigned i) const { return word(is.arguments[i]); }

  /// \param shift  where the number begins in a pair of halves.
  template <typename T> T get(unsigned i, unsigned shift = 0) const {
    const std::uint64_t bits = word(i) >> shift;
    if constexpr (std::integral<T>) {
      return static_cast<T>(bits);
    } else if (is.arguments[i].is_real) {
      return static_cast<T>(std::bit_cast<double>(bits));
    } else if constexpr (sizeof(T) == 8) {
      return std::bit_cast<T>(bits);
    } else if constexpr (sizeof(T) == 4) {
      return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
    } else {
      return T::of_bits(static_cast<std::uint16_t>(bits));
    }
  }

  /// A whole number keeps its sign in all bits of the cell.
  template <typename T> void set(unsigned i, T value) const {
    const int cell = is.arguments[i].cell;
    if (cell == Argument::none) return;
    if constexpr (std::integral<T>) {
      cells_[cell] = static_cast<std::uint64_t>(value);
    } else if constexpr (sizeof(T) == 8) {
      cells_[cell] = std::bit_cast<std::uint64_t>(value);
    } else if constexpr (sizeof(T) == 4) {
      cells_[cell] = std::bit_cast<std::uint32_t>(value);
    } else {
      cells_[cell] = value.bits();
    }
  }

  std::byte* pointer(unsigned i) const { return reinterpret_cast<std::byte*>(word(i)); }
  /// Addresses of shared memory have 32 bits.
  std::byte* shared(unsigned i) const {
    return const_cast<std::byte*>(block.shared_memory()) + get<std::uint32_t>(i);
  }
  std::byte* address(unsigned i) const {
    return has("shared") || has("shared::cta") ? shared(i) : pointer(i);
  }

  bool is_for_block() const { return has("cta") || has("cluster"); }
  void tell() const { block.fence(is_for_block() ? FenceScope::block : FenceScope::device, from.call_site); }
  /// What a release does before its access, and what an acquisition does behind it.
  void release() const {
    if (is_for_block()) block.narrow_next_atomic();
    if (has("release") || has("acq_rel")) tell();
  }
  void acquire() const {
    if (has("acquire") || has("acq_rel")) tell();
  }

  const Instruction& is;
  const Caller from;
  Block& block;

 private:
  std::uint64_t special(Name name) const;

  std::uint64_t* cells_;
};

namespace {

unsigned thread_number() {
  const auto& [x, y, z] = builtin::threadIdx;
  return x + builtin::blockDim.x * (y + builtin::blockDim.y * z);
}

/// Calls `use` with a value of the type.
template <typename Use> void with_integer(Type type, const Use& use) {
  const bool is_signed = type.letter == 's';
  switch (type.bits) {
    case 1:
    case 8: return is_signed ? use(std::int8_t{}) : use(std::uint8_t{});
    case 16: return is_signed ? use(std::int16_t{}) : use(std::uint16_t{});
    case 32: return is_signed ? use(std::int32_t{}) : use(std::uint32_t{});
    default: return is_signed ? use(std::int64_t{}) : use(std::uint64_t{});
  }
}
template <typename Use> void with_real(Type type, const Use& use) {
  if (type.letter == 'g' || type.letter == 'y') return use(__nv_bfloat16{});
  if (type.bits == 16 || type.letter == 'x') return use(__half{});
  return type.bits == 32 ? use(float{}) : use(double{});
}
bool is_real(Type type) { return std::string_view{"fgxy"}.find(type.letter) != std::string_view::npos; }
template <typename Use> void with_type(Type type, const Use& use) {
  return is_real(type) ? with_real(type, use) : with_integer(type, use);
}

/// The operation on the arguments behind the first, as many as it takes.
template <typename T, typename Operation>
T result(const Call& call, const Operation& operation, unsigned shift = 0) {
  if constexpr (std::is_invocable_v<Operation, T>) {
    return operation(call.get<T>(1, shift));
  } else if constexpr (std::is_invocable_v<Operation, T, T>) {
    return operation(call.get<T>(1, shift), call.get<T>(2, shift));
  } else {
    return operation(call.get<T>(1, shift), call.get<T>(2, shift), call.get<T>(3, shift));
  }
}
template <typename Operation> void compute_integers(Call& call, const Operation& operation) {
  with_integer(call.type(), [&]<typename T>(T) { call.set<T>(0, result<T>(call, operation)); });
}
template <typename Operation> void compute_reals(Call& call, const Operation& operation) {
  with_real(call.type(), [&]<typename T>(T) {
    if constexpr (Small<T>) {
      if (call.type().bits == 32) {
        const unsigned low = result<T>(call, operation).bits();
        return call.set<unsigned>(0, low | unsigned{result<T>(call, operation, 16).bits()} << 16);
      }
    }
    call.set<T>(0, result<T>(call, operation));
  });
}
template <typename Operation> void compute(Call& call, const Operation& operation) {
  is_real(call.type()) ? compute_reals(call, operation) : compute_integers(call, operation);
}

/// The operation, which computes whole numbers without a sign: they wrap around.
constexpr auto wrapping = [](auto operation) {
  return [operation]<typename T>(T first, std::same_as<T> auto... more)
             -> T requires std::invocable<decltype(operation), T, decltype(more)...> {
    if constexpr (std::integral<T>) {
      return static_cast<T>(
          operation(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(more)...));
    } else {
      return operation(first, more...);
    }
  };
};

__extension__ using Signed128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;
template <std::integral T> using Twice = std::conditional_t<std::is_signed_v<T>, Signed128, Unsigned128>;

/// Bits of T.
template <typename T> constexpr unsigned width = 8 * sizeof(T);

/// Ends the block where a GPU goes on with a value that nobody should use.
template <typename T> void require_quotient(const Call& call, T dividend, T divisor) {
  if constexpr (std::integral<T>) {
    const bool overflows =
        std::is_signed_v<T> && dividend == std::numeric_limits<T>::min() && divisor == static_cast<T>(-1);
    if (divisor == 0 || overflows) call.block.stop_for_crash(Crash::division, call.from.call_site);
  }
}

}  // namespace

// ---- registers ----

/// A value, or the parts of one, on either side.
void move(Call& call) {
  const unsigned sources = call.is.count - call.is.first;
  const unsigned whole = std::max(call.type().bits, 8U);
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < sources; ++i) {
    const unsigned part = whole / sources;
    bits |= (call.word(call.is.first + i) & (~std::uint64_t{} >> (64 - part))) << (i * part);
  }
  for (unsigned i = 0; i < call.is.first; ++i) {
    const unsigned part = whole / call.is.first;
    call.set(i, bits >> (i * part) & (~std::uint64_t{} >> (64 - part)));
  }
}

template <typename To, typename From> To converted(const Call& call, From value) {
  if constexpr (std::integral<From>) {
    if constexpr (std::integral<To>) {
      if (call.has("sat"))
        return std::in_range<To>(value) ? static_cast<To>(value)
               : value < From{}         ? std::numeric_limits<To>::min()
                                        : std::numeric_limits<To>::max();
    }
    return static_cast<To>(value);
  } else {
    // Of a float half has fewer digits than of a half: nothing is lost.
    using Real = std::conditional_t<Small<From>, float, From>;
    Real real{value};
    if (call.has("rni")) real = std::nearbyint(real);
    if (call.has("rzi")) real = std::trunc(real);
    if (call.has("rmi")) real = std::floor(real);
    if (call.has("rpi")) real = std::ceil(real);
    if constexpr (std::integral<To>) {
      return whole_number<To>(real);
    } else {
      if (call.has("sat")) real = real > 0 ? std::min(real, Real{1}) : Real{0};
      return static_cast<To>(real);
    }
  }
}

void convert(Call& call) {
  const Type to = call.is.types[0], from = call.is.types[1];  // clang 14 captures no structured binding
  if (to.letter == 'x' || to.letter == 'y') {  // two numbers, the first of which is the upper half
    return with_real(to, [&]<typename T>(T) {
      if constexpr (Small<T>)
        call.set<unsigned>(0, unsigned{T{call.get<float>(1)}.bits()} << 16 | T{call.get<float>(2)}.bits());
    });
  }
  with_type(to, [&]<typename To>(To) {
    with_type(from, [&]<typename From>(From) { call.set<To>(0, converted<To>(call, call.get<From>(1))); });
  });
}

template <typename T> bool compared(const Call& call, T a, T b) {
  if (call.has("eq")) return a == b;
  if (call.has("ne")) return a < b || b < a;
  if (call.has("lt") || call.has("lo")) return a < b;
  if (call.has("le") || call.has("ls")) return a <= b;
  if (call.has("gt") || call.has("hi")) return a > b;
  return a >= b;
}

/// `p|q` are the comparison and its opposite, both joined with a third predicate if there is one.
void compare(Call& call) {
  bool is_true = false;
  const unsigned first = call.is.first;
  with_type(call.type(),
            [&]<typename T>(T) { is_true = compared(call, call.get<T>(first), call.get<T>(first + 1)); });
  for (unsigned i = 0; i < first; ++i) {
    const bool value = i == 0 ? is_true : !is_true;
    const bool other = call.word(first + 2) != 0;
    call.set(i, call.has("and")   ? value && other
                : call.has("or")  ? value || other
                : call.has("xor") ? value != other
                                  : value);
  }
}

void select(Call& call) { call.set(0, call.word(call.word(3U) != 0 ? 1U : 2U)); }

// ---- arithmetic ----

void add(Call& call) { compute(call, wrapping(std::plus{})); }
void subtract(Call& call) { compute(call, wrapping(std::minus{})); }

/// And adds a third number, if there is one.
void multiply(Call& call) {
  if (call.is.count == 3) return compute(call, wrapping(std::multiplies{}));
  compute(call, []<typename T>(T a, T b, T c) {
    if constexpr (std::integral<T>) {
      return wrapping(std::plus{})(wrapping(std::multiplies{})(a, b), c);
    } else if constexpr (Small<T>) {
      return __hfma(a, b, c);
    } else {
      return std::fma(a, b, c);
    }
  });
}
void multiply_high(Call& call) {
  compute_integers(call, [&]<typename T>(T a, T b) {
    const T high = static_cast<T>(static_cast<Twice<T>>(a) * b >> width<T>);
    return call.is.count == 3 ? high : wrapping(std::plus{})(high, call.get<T>(3));
  });
}
void multiply_wide(Call& call) {
  with_integer(call.type(), [&]<typename T>(T) {
    call.set(0, static_cast<std::uint64_t>(std::int64_t{0} + call.get<T>(1)) *
                        static_cast<std::uint64_t>(std::int64_t{0} + call.get<T>(2)) +
                    (call.is.count == 3 ? 0 : call.word(3U)));
  });
}

/// Of a value the bits of one number.
Unsigned128 part(const Call& call, Unsigned128 value) {
  return value & ~std::uint64_t{} >> (64 - call.type().bits);
}
/// \param operation  on as many bits as a product has.
template <typename Operation> void compute_part(Call& call, const Operation& operation) {
  const Unsigned128 whole = operation(part(call, call.word(1U)), part(call, call.word(2U)));
  call.set(0, static_cast<std::uint64_t>(part(call, whole)));
  if (call.has("cc")) call.block.carry() = (whole >> call.type().bits & 1) != 0;
}
void add_part(Call& call, std::uint64_t carry) {
  compute_part(call, [=](Unsigned128 a, Unsigned128 b) { return a + b + carry; });
}
void subtract_part(Call& call, std::uint64_t borrow) {
  compute_part(call, [=](Unsigned128 a, Unsigned128 b) { return a - b - borrow; });
}
void multiply_part(Call& call, std::uint64_t carry) {
  compute_part(call, [&](Unsigned128 a, Unsigned128 b) {
    const Unsigned128 product = call.has("hi") ? a * b >> call.type().bits : part(call, a * b);
    return product + part(call, call.word(3U)) + carry;
  });
}
void add_low(Call& call) { add_part(call, 0); }
void add_on(Call& call) { add_part(call, call.block.carry()); }
void subtract_low(Call& call) { subtract_part(call, 0); }
void subtract_on(Call& call) { subtract_part(call, call.block.carry()); }
void multiply_low(Call& call) { multiply_part(call, 0); }
void multiply_on(Call& call) { multiply_part(call, call.block.carry()); }

void divide(Call& call) {
  compute(call, [&]<typename T>(T a, T b) {
    require_quotient(call, a, b);
    return static_cast<T>(a / b);
  });
}
void remainder(Call& call) {
  compute_integers(call, [&]<typename T>(T a, T b) {
    require_quotient(call, a, b);
    return static_cast<T>(a % b);
  });
}
void least(Call& call) {
  compute(call, []<typename T>(T a, T b) {
    if constexpr (Small<T>)
      return __hmin(a, b);
    else if constexpr (std::integral<T>)
      return std::min(a, b);
    else
      return std::fmin(a, b);
  });
}
void greatest(Call& call) {
  compute(call, []<typename T>(T a, T b) {
    if constexpr (Small<T>)
      return __hmax(a, b);
    else if constexpr (std::integral<T>)
      return std::max(a, b);
    else
      return std::fmax(a, b);
  });
}
void negate(Call& call) { compute(call, wrapping(std::negate{})); }
void absolute(Call& call) {
  compute(call, []<typename T>(T a) {
    if constexpr (Small<T>)
      return __habs(a);
    else if constexpr (std::integral<T>)
      return a < 0 ? wrapping(std::negate{})(a) : a;
    else
      return std::fabs(a);
  });
}

void square_root(Call& call) {
  compute_reals(call, [](auto a) { return decltype(a){std::sqrt(a)}; });
}
void reciprocal(Call& call) {
  compute_reals(call, []<typename T>(T a) { return T{1} / a; });
}
void reciprocal_root(Call& call) {
  compute_reals(call, []<typename T>(T a) { return static_cast<T>(1 / std::sqrt(double{a})); });
}
void power_of_two(Call& call) { call.set(0, std::exp2(call.get<float>(1))); }
void logarithm(Call& call) { call.set(0, std::log2(call.get<float>(1))); }
void sine(Call& call) { call.set(0, std::sin(call.get<float>(1))); }
void cosine(Call& call) { call.set(0, std::cos(call.get<float>(1))); }
void tanh(Call& call) { call.set(0, std::tanh(call.get<float>(1))); }

// ---- bits ----

void both(Call& call) { call.set(0, call.word(1U) & call.word(2U)); }
void either(Call& call) { call.set(0, call.word(1U) | call.word(2U)); }
void differing(Call& call) { call.set(0, call.word(1U) ^ call.word(2U)); }
void inverted(Call& call) { call.set(0, call.type().bits == 1 ? 1 - call.word(1U) : ~call.word(1U)); }

void shift_left(Call& call) {
  with_integer(call.type(), [&]<typename T>(T) {
    const auto shift = call.get<std::uint32_t>(2);
    call.set<T>(0,
                shift < width<T> ? static_cast<T>(static_cast<std::uint64_t>(call.get<T>(1)) << shift) : T{});
  });
}
void shift_right(Call& call) {
  with_integer(call.type(), [&]<typename T>(T) {
    const auto shift = std::min(call.get<std::uint32_t>(2), width<T>);
    call.set<T>(0, static_cast<T>(static_cast<Signed128>(call.get<T>(1)) >> shift));
  });
}
void funnel_left(Call& call) {
  const auto shift = call.has("clamp") ? __funnelshift_lc : __funnelshift_l;
  call.set(0, shift(call.get<unsigned>(1), call.get<unsigned>(2), call.get<unsigned>(3)));
}
void funnel_right(Call& call) {
  const auto shift = call.has("clamp") ? __funnelshift_rc : __funnelshift_r;
  call.set(0, shift(call.get<unsigned>(1), call.get<unsigned>(2), call.get<unsigned>(3)));
}

/// Each bit is that of the table whose number the three bits are.
void look_up(Call& call) {
  const auto table = call.get<unsigned>(4);
  unsigned bits = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const auto bit = [&](unsigned argument) { return call.get<unsigned>(argument) >> i & 1; };
    bits |= (table >> (bit(1) << 2 | bit(2) << 1 | bit(3)) & 1) << i;
  }
  call.set(0, bits);
}
void permute(Call& call) {
  call.set(0, __byte_perm(call.get<unsigned>(1), call.get<unsigned>(2), call.get<unsigned>(3)));
}

/// Bits that are not there are the sign.
void extract(Call& call) {
  with_integer(call.type(), [&]<typename T>(T) {
    const auto begin = std::min<unsigned>(call.get<std::uint8_t>(2), 127);
    const auto others = 128 - std::min<unsigned>(call.get<std::uint8_t>(3), 128);
    const auto bits = static_cast<Twice<T>>(call.get<T>(1)) >> begin;
    call.set<T>(0, others == 128 ? T{} : static_cast<T>(bits << others >> others));
  });
}
void insert(Call& call) {
  const unsigned begin = call.get<std::uint8_t>(3);
  const unsigned count = call.get<std::uint8_t>(4);
  std::uint64_t bits = call.word(2U);
  for (unsigned i = 0; i < count && begin + i < call.type().bits; ++i) {
    const std::uint64_t place = std::uint64_t{1} << (begin + i);
    bits = (bits & ~place) | ((call.word(1U) >> i & 1) != 0 ? place : 0);
  }
  call.set(0, bits);
}
void find(Call& call) {
  with_integer(call.type(), [&]<typename T>(T) {
    using Bits = std::make_unsigned_t<T>;
    const auto value = call.get<T>(1);
    const auto bits = static_cast<Bits>(value < T{} ? ~value : value);
    const auto above = static_cast<unsigned>(std::countl_zero(bits));
    call.set(0, bits == 0 ? ~0U : call.has("shiftamt") ? above : width<T> - 1 - above);
  });
}
void count_ones(Call& call) {
  with_integer(call.type(),
               [&]<typename T>(T) { call.set(0, std::popcount(std::make_unsigned_t<T>(call.get<T>(1)))); });
}
void leading_zeros(Call& call) {
  with_integer(call.type(), [&]<typename T>(T) {
    call.set(0, std::countl_zero(std::make_unsigned_t<T>(call.get<T>(1))));
  });
}
void reverse(Call& call) {
  const std::uint64_t bits = __brevll(call.word(1U));
  call.set(0, call.type().bits == 32 ? bits >> 32 : bits);
}

// ---- the thread itself ----

void branch(Call&) {}  // run() does it
void nothing(Call&) {}
void give_way(Call& call) { call.block.give_way(); }
void leave(Call& call) { call.block.leave(); }
void trap(Call& call) { call.block.fail(Fault::trap, "", "calls __trap()", call.from.call_site); }

std::uint64_t Call::special(Name name) const {
  const unsigned thread = thread_number();
  const unsigned lower_lanes = bit_of(thread % warp_size) - 1;
  switch (name.hash) {
    case Name{"laneid"}.hash: return thread % warp_size;
    case Name{"lanemask_lt"}.hash: return lower_lanes;
    case Name{"lanemask_eq"}.hash: return lower_lanes + 1;
    case Name{"lanemask_le"}.hash: return 2 * lower_lanes + 1;
    case Name{"lanemask_gt"}.hash: return ~(2 * lower_lanes + 1);
    case Name{"lanemask_ge"}.hash: return ~lower_lanes;
    case Name{"warpid"}.hash: return thread / warp_size;
    case Name{"nwarpid"}.hash: return 64;  // of a multiprocessor, as an H100 says
    case Name{"tid.x"}.hash: return builtin::threadIdx.x;
    case Name{"tid.y"}.hash: return builtin::threadIdx.y;
    case Name{"tid.z"}.hash: return builtin::threadIdx.z;
    case Name{"ntid.x"}.hash: return builtin::blockDim.x;
    case Name{"ntid.y"}.hash: return builtin::blockDim.y;
    case Name{"ntid.z"}.hash: return builtin::blockDim.z;
    case Name{"ctaid.x"}.hash: return builtin::blockIdx.x;
    case Name{"ctaid.y"}.hash: return builtin::blockIdx.y;
    case Name{"ctaid.z"}.hash: return builtin::blockIdx.z;
    case Name{"nctaid.x"}.hash: return builtin::gridDim.x;
    case Name{"nctaid.y"}.hash: return builtin::gridDim.y;
    case Name{"nctaid.z"}.hash: return builtin::gridDim.z;
    case Name{"dynamic_smem_size"}.hash: return block.dynamic_shared_bytes();
    case Name{"clock"}.hash: return static_cast<std::uint32_t>(clock64());
    case Name{"clock64"}.hash:
    case Name{"globaltimer"}.hash: return static_cast<std::uint64_t>(clock64());
    case Name{"nsmid"}.hash: return properties().sms;
    case Name{"smid"}.hash: return block.number() % properties().sms;
    default: return 0;
  }
}

// ---- memory ----

namespace {

/// Before an access: what it is to observers. One that is relaxed, or stronger, orders as an atomic operation does.
void begin_access(const Call& call, Operation operation, const std::byte* address, std::size_t bytes) {
  const Caller& from = call.from;
  const bool passes_first_cache = call.has("volatile") || call.has("cg") || call.has("cv");
  if (call.has("relaxed") || call.has("acquire") || call.has("release")) {
    call.block.begin_atomic(address, bytes, from.call_site, nullptr, operation);
  } else {
    call.block.access({operation, address, bytes, from.call_site, false, from.function, false,
                       operation == Operation::load ? passes_first_cache : call.has("volatile")});
  }
}

unsigned lanes_of_vector(const Call& call) { return call.has("v4") ? 4 : call.has("v2") ? 2 : 1; }

}  // namespace

void load(Call& call) {
  const unsigned lanes = lanes_of_vector(call);
  const std::byte* const address = call.address(lanes);
  begin_access(call, Operation::load, address, lanes * call.type().bits / 8);
  with_type(call.type(), [&]<typename T>(T) {
    for (unsigned i = 0; i < lanes; ++i)
      call.set(i, reinterpret_cast<const T*>(address)[i]);
  });
  call.acquire();
}

void store(Call& call) {
  const unsigned lanes = lanes_of_vector(call);
  std::byte* const address = call.address(0);
  call.release();
  begin_access(call, Operation::store, address, lanes * call.type().bits / 8);
  with_type(call.type(), [&]<typename T>(T) {
    for (unsigned i = 0; i < lanes; ++i)
      reinterpret_cast<T*>(address)[i] = call.get<T>(1 + i);
  });
}

namespace {

template <typename T> T updated(const Call& call, T before, T value) {
  if (call.has("add")) return wrapped_sum(before, value);
  if (call.has("min")) return value < before ? value : before;
  if (call.has("max")) return before < value ? value : before;
  if constexpr (std::integral<T>) {
    if (call.has("and")) return before & value;
    if (call.has("or")) return before | value;
    if (call.has("xor")) return before ^ value;
    if (call.has("inc")) return before >= value ? T{} : before + 1;
    if (call.has("dec")) return before == T{} || before > value ? value : before - 1;
  }
  return value;
}

/// \param operand  the number of the address; what is behind it are values.
template <typename T> T update_at(const Call& call, unsigned operand) {
  auto* const address = reinterpret_cast<T*>(call.address(operand));
  const bool compares = call.has("cas");
  const auto expected = call.get<T>(operand + 1);
  call.release();
  call.block.begin_atomic(reinterpret_cast<std::byte*>(address), sizeof(T), call.from.call_site,
                          compares ? &expected : nullptr);
  const T before = *address;
  if (!compares) {
    *address = updated(call, before, expected);
  } else if (before == expected) {
    *address = call.get<T>(operand + 2);
  }
  call.acquire();
  return before;
}

}  // namespace

void update(Call& call) {
  with_type(call.type(), [&]<typename T>(T) { update_at<T>(call, 0); });
}
void update_and_tell(Call& call) {
  with_type(call.type(), [&]<typename T>(T) { call.set(0, update_at<T>(call, 1)); });
}

void fence(Call& call) { call.tell(); }

void to_shared(Call& call) { call.set(0, call.pointer(1) - call.block.shared_memory()); }
void to_generic(Call& call) { call.set(0, reinterpret_cast<std::uintptr_t>(call.shared(1))); }
void is_shared(Call& call) { call.set(0, call.block.is_shared(call.pointer(1))); }
void is_global(Call& call) { call.set(0, call.block.is_global(call.pointer(1))); }

// ---- warps and blocks ----

/// From which lane: PTX ISA, shfl.sync. The predicate says whether that is another one than where the range ends.
void shuffle(Call& call) {
  const unsigned first = call.is.first;
  const unsigned lane = thread_number() % warp_size;
  const unsigned operand = call.get<unsigned>(first + 1) % warp_size;
  const unsigned segments = call.get<unsigned>(first + 2) >> 8 & 31;
  const unsigned last = (lane & segments) | (call.get<unsigned>(first + 2) & 31 & ~segments);
  const unsigned source = call.has("up")     ? lane - operand
                          : call.has("down") ? lane + operand
                          : call.has("bfly") ? lane ^ operand
                                             : (lane & segments) | (operand & ~segments);
  const bool is_inside = call.has("up") ? static_cast<int>(source) >= static_cast<int>(last) : source <= last;
  auto value = call.get<unsigned>(first);
  call.block.shuffle(Shuffle::indexed, call.get<unsigned>(first + 3),
                     static_cast<int>(is_inside ? source : lane), warp_size,
                     std::as_writable_bytes(std::span{&value, 1}), call.from.call_site);
  call.set(0, value);
  if (first > 1) call.set(1, is_inside);
}

namespace {

/// What the lanes of the mask bring, by a rule.
std::uint64_t vote_by(const Call& call, VoteRule rule, unsigned mask, std::uint64_t value) {
  return call.block.vote(rule, call.get<unsigned>(mask), value, call.from.call_site);
}

template <typename T> VoteRule reduction(const Call& call) {
  const auto by = [](auto join) -> VoteRule {
    return [](const Votes& votes, unsigned) { return reduced<T>(votes, decltype(join){}); };
  };
  if (call.has("add")) return by([](T a, T b) { return wrapped_sum(a, b); });
  if (call.has("min")) return by([](T a, T b) { return std::min(a, b); });
  if (call.has("max")) return by([](T a, T b) { return std::max(a, b); });
  if (call.has("and")) return by(std::bit_and{});
  if (call.has("or")) return by(std::bit_or{});
  return by(std::bit_xor{});
}

}  // namespace

void vote(Call& call) {
  const VoteRule uniform = [](const Votes& votes, unsigned lane) {
    return std::uint64_t{ballot(votes, lane) == 0} | all(votes, lane);
  };
  const VoteRule rule = call.has("ballot") ? ballot : call.has("any") ? any : call.has("all") ? all : uniform;
  call.set(0, vote_by(call, rule, 2, call.word(1U) != 0));
}
void match(Call& call) { call.set(0, vote_by(call, lanes_with_equal_value, 2, call.word(1U))); }
void match_all(Call& call) {
  const unsigned first = call.is.first;
  const std::uint64_t lanes = vote_by(call, lanes_if_all_equal, first + 1, call.word(first));
  call.set(0, lanes);
  if (first > 1) call.set(1, lanes != 0);
}
void reduce(Call& call) {
  const VoteRule rule = call.type().letter == 's' ? reduction<int>(call) : reduction<unsigned>(call);
  call.set(0, vote_by(call, rule, 2, call.get<unsigned>(1)));
}
void active_lanes(Call& call) { call.set(0, call.block.active_lanes(call.from.call_site)); }
void elect(Call& call) {
  const VoteRule rule = [](const Votes& votes, unsigned) {
    return std::uint64_t(std::countr_zero(votes.lanes));
  };
  const std::uint64_t leader = vote_by(call, rule, call.is.first, 1);
  call.set(0, leader);
  if (call.is.first > 1) call.set(1, leader == thread_number() % warp_size);
}
void meet_lanes(Call& call) { call.block.warp_barrier(call.get<unsigned>(0), call.from.call_site); }

namespace {

/// How many threads the barrier is for: all of the block, unless an argument says so.
unsigned threads_of(const Call& call) {
  const auto said = call.is.count > 1 ? call.get<unsigned>(1) : call.block.threads();
  if (call.get<unsigned>(0) > 15 || said == 0 || said % warp_size != 0)
    call.block.fail(Fault::trap, "",
                    "comes to barrier " + std::to_string(call.get<unsigned>(0)) + " of " +
                        std::to_string(said) + " threads",
                    call.from.call_site, "a block has the barriers 0 to 15, each for whole warps");
  return said;
}

}  // namespace

/// That of __syncthreads() is 0, for all threads of the block.
void meet(Call& call) {
  if (call.get<unsigned>(0) == 0 && call.is.count == 1) {
    call.block.barrier(false, call.from);
  } else {
    call.block.named_barrier(call.get<unsigned>(0), threads_of(call), call.from.call_site);
  }
}
void meet_and_count(Call& call) {
  const bool wants_all = call.has("and");
  const unsigned count = call.block.barrier((call.word(call.is.count - 1) != 0) != wants_all, call.from);
  call.set(0, call.has("popc") ? count : wants_all ? unsigned{count == 0} : unsigned{count != 0});
}

void arrive(Call& call) {
  call.block.arrive_at_named_barrier(call.get<unsigned>(0), threads_of(call), call.from.call_site);
}

// ---- asynchronous copies, and barrier objects ----

/// The size, how much of it comes from global memory, and a hint for the cache.
void copy_async(Call& call) {
  const bool has_source_bytes = call.is.count > (call.has("L2::cache_hint") ? 4 : 3);
  const auto bytes = call.get<unsigned>(2);
  call.block.copy_async({call.shared(0), call.pointer(1), bytes,
                         has_source_bytes ? call.get<unsigned>(3) : bytes, 0, call.from.call_site, false},
                        call.from.function);
}
void commit_copies(Call& call) { call.block.commit_copies(); }
void wait_for_copies(Call& call) { call.block.wait_for_copies(call.get<unsigned>(0), false); }
void wait_for_all_copies(Call& call) { call.block.wait_for_copies(0, true); }
void copy_bulk(Call& call) {
  const auto bytes = call.get<unsigned>(2);
  call.block.copy_bulk({call.shared(0), call.pointer(1), bytes, bytes, 0, call.from.call_site, true},
                       call.shared(3));
}

void init_arrivals(Call& call) {
  call.block.init_arrivals(call.address(0), call.get<unsigned>(1), call.from.call_site);
}
void count_arrival(Call& call) {
  const bool expects_bytes = call.has("expect_tx");
  const unsigned count = call.is.count > 2 && !expects_bytes ? call.get<unsigned>(2) : 1;
  const std::int64_t bytes = expects_bytes ? call.get<unsigned>(2) : 0;
  call.set(0, call.block.arrive(call.address(1), count, bytes, call.has("arrive_drop"), call.from.call_site));
}
void expect_bytes(Call& call) {
  call.block.arrive(call.address(0), 0, call.get<unsigned>(1), false, call.from.call_site);
}
void bind_copies(Call& call) {
  call.block.bind_copies(call.address(0), call.has("noinc"), call.from.call_site);
}
void await_arrivals(Call& call) {
  const bool blocks = call.has("try_wait");
  const std::byte* const barrier = call.address(1);
  call.set(0, call.has("parity")
                  ? call.block.await_parity(barrier, call.get<unsigned>(2), blocks, call.from.call_site)
                  : call.block.await_phase(barrier, call.word(2U), blocks, call.from.call_site));
}

// ---- a whole program ----

void run(std::span<const Instruction> program, std::uint64_t* cells) {
  const Caller from = caller();
  for (std::size_t i = 0; i < program.size(); ++i) {
    Call call{program[i], cells, from};
    if (call.word(program[i].guard) == 0) continue;
    if (program[i].meaning == branch) {
      i = program[i].target - 1;
    } else {
      program[i].meaning(call);
    }
  }
}

}  // namespace __emulated::ptx
