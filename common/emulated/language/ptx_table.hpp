#pragma once
/// \file
/// What of PTX the emulated device has, a line each. (NVIDIA, PTX ISA, "Instruction Set".) ptx.cpp says what each does.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace __emulated::ptx {

// ---- an instruction, once it has been read ----

/// A name in place of its text, which takes long to compare.
struct Name {
  constexpr Name(std::string_view text = {}) {
    for (const char c : text)
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  }
  consteval Name(const char* text) : Name{std::string_view{text}} {}
  bool operator==(const Name&) const = default;

  std::uint32_t hash = 0x811c9dc5;
};

/// As `s32`: a letter and bits. Of `f16x2` the letter is 'x', of `bf16` 'g' and of `bf16x2` 'y'; a predicate is `b1`.
struct Type {
  char letter = 'b';
  unsigned bits = 0;
};

/// The sum of what a cell, or a special register, holds, of a constant, and of what another cell holds. Each register has a
/// cell of 64 bits: first come the operands of the asm statement, then those that its text declares.
struct Argument {
  static constexpr int none = -1;

  int cell = none;
  int added = none;
  Name special{};  ///< or a label
  std::uint64_t constant = 0;
  bool is_negated = false;  ///< a predicate's "!"
  bool is_real = false;     ///< the constant has the bits of a double
};

class Call;
using Meaning = void (*)(Call&);

struct Instruction {
  Meaning meaning = nullptr;
  std::array<Name, 12> modifiers{};
  std::array<Type, 2> types{};
  Argument guard{.constant = 1};  ///< what is behind the "@"
  std::array<Argument, 10> arguments{};
  unsigned count = 0;      ///< of arguments,
  unsigned first = 0;      ///< and of those before the first comma, as of {%0, %1} or p|q
  std::size_t target = 0;  ///< of a branch: the number of the instruction
};

// ---- the table ----

void move(Call&), add(Call&), subtract(Call&), multiply(Call&), multiply_high(Call&), multiply_wide(Call&);
void add_low(Call&), add_on(Call&), subtract_low(Call&), subtract_on(Call&), multiply_low(Call&),
    multiply_on(Call&);
void divide(Call&), remainder(Call&), least(Call&), greatest(Call&), absolute(Call&), negate(Call&);
void square_root(Call&), reciprocal(Call&), reciprocal_root(Call&), power_of_two(Call&), logarithm(Call&);
void sine(Call&), cosine(Call&), tanh(Call&), both(Call&), either(Call&), differing(Call&), inverted(Call&);
void shift_left(Call&), shift_right(Call&), funnel_left(Call&), funnel_right(Call&), look_up(Call&),
    permute(Call&);
void extract(Call&), insert(Call&), find(Call&), count_ones(Call&), leading_zeros(Call&), reverse(Call&);
void convert(Call&), compare(Call&), select(Call&), branch(Call&), leave(Call&), trap(Call&), give_way(Call&);
void load(Call&), store(Call&), update_and_tell(Call&), update(Call&), fence(Call&), nothing(Call&);
void to_shared(Call&), to_generic(Call&), is_shared(Call&), is_global(Call&);
void shuffle(Call&), vote(Call&), match(Call&), match_all(Call&), reduce(Call&), active_lanes(Call&),
    elect(Call&), meet_lanes(Call&);
void meet(Call&), arrive(Call&), meet_and_count(Call&), copy_async(Call&), commit_copies(Call&),
    wait_for_copies(Call&);
void wait_for_all_copies(Call&), copy_bulk(Call&), init_arrivals(Call&), count_arrival(Call&),
    expect_bytes(Call&);
void bind_copies(Call&), await_arrivals(Call&);

/// An instruction is known if its name begins with `name`, and what follows are types and modifiers of these.
struct Row {
  std::string_view name, types, modifiers;
  Meaning meaning;
};

constexpr std::string_view of_integers = "s16 s32 s64 u16 u32 u64";
constexpr std::string_view of_reals = "f16 f16x2 bf16 bf16x2 f32 f64";
constexpr std::string_view of_numbers = "s16 s32 s64 u16 u32 u64 f16 f16x2 bf16 bf16x2 f32 f64";
constexpr std::string_view of_bits = "b16 b32 b64 pred";
constexpr std::string_view of_memory = "b8 b16 b32 b64 s8 s16 s32 s64 u8 u16 u32 u64 f32 f64";

// (Behind each: what it is in CUDA C++.)
constexpr Row rows[] = {
    // clang-format off
    // Registers
    {"mov", "b16 b32 b64 s16 s32 s64 u16 u32 u64 f16 f32 f64 pred", "", move},  // `=`; `{a, b}` are parts of one value
    {"cvt", "s8 s16 s32 s64 u8 u16 u32 u64 f16 f16x2 bf16 bf16x2 f32 f64", "rn rni rzi rmi rpi sat ftz", convert},  // a conversion
    {"setp", "b16 b32 b64 s16 s32 s64 u16 u32 u64 f32 f64", "eq ne lt le gt ge lo ls hi hs and or xor ftz", compare},  // a comparison
    {"selp", "b16 b32 b64 s16 s32 s64 u16 u32 u64 f32 f64", "", select},  // `p ? a : b`
    {"bra", "", "uni", branch},  // `goto`
    {"exit", "", "", leave},  // `return` from the kernel
    {"trap", "", "", trap},  // `__trap()`
    {"nanosleep", "u32", "", give_way},  // `__nanosleep()`
    // Arithmetic: approximations are exact, and denormals stay
    {"add", of_numbers, "rn ftz", add},  // `a + b`
    {"sub", of_numbers, "rn ftz", subtract},  // `a - b`
    {"mul.lo", of_integers, "", multiply},  // `a * b`
    {"mul.hi", of_integers, "", multiply_high},  // `__mulhi()` and its like
    {"mul.wide", "s16 s32 u16 u32", "", multiply_wide},  // `a * b` of twice the bits
    {"mul", of_reals, "rn ftz", multiply},  // `a * b`
    {"mad.lo", of_integers, "", multiply},  // `a * b + c`
    {"mad.hi", of_integers, "", multiply_high},  // `__mulhi(a, b) + c`
    {"mad.wide", "s16 s32 u16 u32", "", multiply_wide},  // `a * b + c` of twice the bits
    {"mad", "f32 f64", "rn ftz", multiply},  // `fma(a, b, c)`
    {"fma", of_reals, "rn ftz", multiply},  // `fma(a, b, c)`
    {"add", "s32 s64 u32 u64", "cc", add_low},  // of numbers of many words the lowest: what it carries is for the next
    {"addc", "s32 s64 u32 u64", "cc", add_on},  // the others
    {"sub", "s32 s64 u32 u64", "cc", subtract_low},  // the same
    {"subc", "s32 s64 u32 u64", "cc", subtract_on},  // the same
    {"mad", "u32 u64", "lo hi cc", multiply_low},  // the same
    {"madc", "u32 u64", "lo hi cc", multiply_on},  // the same
    {"div", "s16 s32 s64 u16 u32 u64 f32 f64", "rn approx full ftz", divide},  // `a / b`
    {"rem", of_integers, "", remainder},  // `a % b`
    {"min", of_numbers, "ftz", least},  // `min()`, `fmin()`
    {"max", of_numbers, "ftz", greatest},  // `max()`, `fmax()`
    {"abs", "s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64", "ftz", absolute},  // `abs()`
    {"neg", "s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64", "ftz", negate},  // `-a`
    {"sqrt", "f32 f64", "rn approx ftz", square_root},  // `sqrt()`
    {"rcp", "f32 f64", "rn approx ftz", reciprocal},  // `1 / a`
    {"rsqrt", "f32 f64", "approx ftz", reciprocal_root},  // `rsqrt()`
    {"ex2", "f32", "approx ftz", power_of_two},  // `exp2f()`
    {"lg2", "f32", "approx ftz", logarithm},  // `__log2f()`
    {"sin", "f32", "approx ftz", sine},  // `__sinf()`
    {"cos", "f32", "approx ftz", cosine},  // `__cosf()`
    {"tanh", "f32", "approx", tanh},  // `__tanhf()`
    // Bits
    {"and", of_bits, "", both},  // `a & b`
    {"or", of_bits, "", either},  // `a | b`
    {"xor", of_bits, "", differing},  // `a ^ b`
    {"not", of_bits, "", inverted},  // `~a`
    {"shl", "b16 b32 b64", "", shift_left},  // `a << b`, also by all bits
    {"shr", "b16 b32 b64 s16 s32 s64 u16 u32 u64", "", shift_right},  // `a >> b`, also by all bits
    {"shf.l", "b32", "wrap clamp", funnel_left},  // `__funnelshift_l()`, `__funnelshift_lc()`
    {"shf.r", "b32", "wrap clamp", funnel_right},  // `__funnelshift_r()`, `__funnelshift_rc()`
    {"lop3", "b32", "", look_up},  // any operation on the bits of three
    {"prmt", "b32", "", permute},  // `__byte_perm()`
    {"bfe", "s32 s64 u32 u64", "", extract},  // `c` bits of `a` from bit `b` on
    {"bfi", "b32 b64", "", insert},  // the same bits of `b` become the lowest of `a`
    {"bfind", "s32 s64 u32 u64", "shiftamt", find},  // the highest bit that is no sign
    {"popc", "b32 b64", "", count_ones},  // `__popc()`
    {"clz", "b32 b64", "", leading_zeros},  // `__clz()`
    {"brev", "b32 b64", "", reverse},  // `__brev()`
    // Memory
    {"ld", of_memory, "global shared shared::cta v2 v4 nc ca cg cs lu cv weak volatile relaxed acquire cta cluster gpu sys "
     "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate L2::cache_hint L2::evict_normal "
     "L2::evict_first L2::evict_last L2::64B L2::128B L2::256B", load},  // `*p`, `__ldcg()` and its like
    {"st", of_memory, "global shared shared::cta v2 v4 wb cg cs wt weak volatile relaxed release cta cluster gpu sys "
     "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate L2::cache_hint L2::evict_normal "
     "L2::evict_first L2::evict_last", store},  // `*p = value`
    {"atom", "b16 b32 b64 s32 s64 u32 u64 f16 bf16 f32 f64", "global shared shared::cta add min max and or xor exch cas inc dec "
     "noftz relaxed acquire release acq_rel cta cluster gpu sys L2::cache_hint", update_and_tell},  // `atomicAdd()` and its like
    {"red", "b32 b64 s32 s64 u32 u64 f16 bf16 f32 f64", "global shared shared::cta add min max and or xor inc dec "
     "noftz relaxed release cta cluster gpu sys L2::cache_hint", update},  // the same
    {"fence.proxy", "", "async global shared::cta shared::cluster", nothing},  // nothing
    {"fence.mbarrier_init", "", "release cluster", nothing},  // nothing
    {"fence", "", "sc acq_rel acquire release cta cluster gpu sys", fence},  // `__threadfence()` and its like
    {"membar", "", "cta gl sys", fence},  // the same
    {"prefetch", "", "global L1 L2 L2::evict_normal L2::evict_last", nothing},  // nothing
    {"prefetchu", "", "L1", nothing},  // nothing
    {"discard", "", "global L2", nothing},  // nothing
    {"applypriority", "", "global L2::evict_normal", nothing},  // nothing
    {"createpolicy.fractional", "b64", "L2::evict_first L2::evict_last L2::evict_normal L2::evict_unchanged", nothing},  // nothing
    {"cvta.to.shared", "u32 u64", "", to_shared},  // `__cvta_generic_to_shared()`
    {"cvta.to.global", "u32 u64", "", move},  // the same address
    {"cvta.shared", "u32 u64", "", to_generic},  // `__cvta_shared_to_generic()`
    {"cvta.global", "u32 u64", "", move},  // the same address
    {"isspacep.shared", "", "", is_shared},  // `__isShared()`
    {"isspacep.global", "", "", is_global},  // `__isGlobal()`
    // Warps and blocks
    {"shfl.sync", "b32", "idx up down bfly", shuffle},  // `__shfl_sync()` and its like
    {"vote.sync", "b32 pred", "all any uni ballot", vote},  // `__ballot_sync()` and its like
    {"match.any.sync", "b32 b64", "", match},  // `__match_any_sync()`
    {"match.all.sync", "b32 b64", "", match_all},  // `__match_all_sync()`
    {"redux.sync", "b32 s32 u32", "add min max and or xor", reduce},  // `__reduce_add_sync()` and its like
    {"activemask", "b32", "", active_lanes},  // `__activemask()`
    {"elect.sync", "", "", elect},  // the first lane of the mask
    {"bar.warp.sync", "", "", meet_lanes},  // `__syncwarp()`
    {"bar.red", "u32 pred", "popc and or", meet_and_count},  // `__syncthreads_count()` and its like
    {"bar.arrive", "", "", arrive},  // comes to a barrier of a part of the block, and goes on
    {"barrier.arrive", "", "aligned", arrive},  // the same
    {"barrier.cta.arrive", "", "aligned", arrive},  // the same
    {"bar.sync", "", "", meet},  // `__syncthreads()`, or a barrier of a part of the block
    {"barrier.sync", "", "aligned", meet},  // the same
    {"barrier.cta.sync", "", "aligned", meet},  // the same
    // Asynchronous copies, and barrier objects
    {"cp.async.commit_group", "", "", commit_copies},  // `__pipeline_commit()`
    {"cp.async.wait_group", "", "", wait_for_copies},  // `__pipeline_wait_prior()`
    {"cp.async.wait_all", "", "", wait_for_all_copies},  // the same of all copies
    {"cp.async.mbarrier.arrive", "b64", "noinc shared shared::cta", bind_copies},  // the object waits for the thread's copies
    {"cp.async.bulk", "", "shared::cta shared::cluster global mbarrier::complete_tx::bytes L2::cache_hint", copy_bulk},  // a copy by one thread for many, which the object counts
    {"cp.async", "", "ca cg shared shared::cta global L2::64B L2::128B L2::256B L2::cache_hint", copy_async},  // `__pipeline_memcpy_async()`
    {"mbarrier.init", "b64", "shared shared::cta", init_arrivals},  // `init()` of a `cuda::barrier`
    {"mbarrier.inval", "b64", "shared shared::cta", nothing},  // nothing
    {"mbarrier.arrive", "b64", "expect_tx release relaxed cta shared shared::cta", count_arrival},  // `arrive()`
    {"mbarrier.arrive_drop", "b64", "expect_tx release relaxed cta shared shared::cta", count_arrival},  // `arrive_and_drop()`
    {"mbarrier.expect_tx", "b64", "relaxed cta shared shared::cta", expect_bytes},  // so many bytes more are to come
    {"mbarrier.test_wait", "b64", "parity acquire relaxed cta shared shared::cta", await_arrivals},  // whether a phase is over
    {"mbarrier.try_wait", "b64", "parity acquire relaxed cta shared shared::cta", await_arrivals},  // waits for the end of a phase
    // clang-format on
};

/// What `%` and these names hold. A block's multiprocessor is made up, and so is the time.
constexpr std::string_view special_registers =
    "laneid warpid nwarpid tid.x tid.y tid.z ntid.x ntid.y ntid.z ctaid.x ctaid.y ctaid.z nctaid.x nctaid.y "
    "nctaid.z "
    "lanemask_eq lanemask_lt lanemask_le lanemask_gt lanemask_ge smid nsmid dynamic_smem_size clock clock64 "
    "globaltimer";

}  // namespace __emulated::ptx
