/// Instructions of PTX beside what they are in CUDA C++, of each line of the emulated device's table (ptx_table.hpp): prints what
/// differs. nvcc compiles it for GPUs of compute capability 9.0, too.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <climits>
#include <cmath>
#include <cstdio>

template <typename T> __device__ void expect(const char* what, T found, T expected) {
  if (found != expected)
    printf("%s: %lld (%g) instead of %lld (%g) in thread %d\n", what, static_cast<long long>(found),
           static_cast<double>(found), static_cast<long long>(expected), static_cast<double>(expected),
           threadIdx.x);
}

__device__ unsigned address_of(const void* shared) {
  unsigned address;
  asm("{ .reg .u64 wide; cvta.to.shared.u64 wide, %1; cvt.u32.u64 %0, wide; }" : "=r"(address) : "l"(shared));
  return address;
}

// An instruction of one, two, ... operands, whose registers have a letter and a type.
#define ONE(ptx, letter, T, a, expected)                                 \
  {                                                                      \
    T found;                                                             \
    asm(ptx " %0, %1;" : "=" letter(found) : letter(static_cast<T>(a))); \
    expect<T>(ptx, found, expected);                                     \
  }
#define TWO(ptx, letter, T, a, b, expected)                                                             \
  {                                                                                                     \
    T found;                                                                                            \
    asm(ptx " %0, %1, %2;" : "=" letter(found) : letter(static_cast<T>(a)), letter(static_cast<T>(b))); \
    expect<T>(ptx, found, expected);                                                                    \
  }
#define THREE(ptx, letter, T, a, b, c, expected)                                            \
  {                                                                                         \
    T found;                                                                                \
    asm(ptx " %0, %1, %2, %3;"                                                              \
        : "=" letter(found)                                                                 \
        : letter(static_cast<T>(a)), letter(static_cast<T>(b)), letter(static_cast<T>(c))); \
    expect<T>(ptx, found, expected);                                                        \
  }
// Numbers of two words, the lower one first.
#define PARTS(ptx, a, b, expected)                                               \
  {                                                                              \
    unsigned low, high;                                                          \
    asm(ptx                                                                      \
        : "=r"(low), "=r"(high)                                                  \
        : "r"(static_cast<unsigned>(a)), "r"(static_cast<unsigned>((a) >> 32)),  \
          "r"(static_cast<unsigned>(b)), "r"(static_cast<unsigned>((b) >> 32))); \
    expect<Word>(ptx, Word{high} << 32 | low, expected);                         \
  }
// The result, and operands of another type.
#define OTHER(ptx, letter, T, of, From, a, expected)                    \
  {                                                                     \
    T found;                                                            \
    asm(ptx " %0, %1;" : "=" letter(found) : of(static_cast<From>(a))); \
    expect<T>(ptx, found, expected);                                    \
  }
#define SHIFT(ptx, letter, T, a, by, expected)                                        \
  {                                                                                   \
    T found;                                                                          \
    asm(ptx " %0, %1, %2;" : "=" letter(found) : letter(static_cast<T>(a)), "r"(by)); \
    expect<T>(ptx, found, expected);                                                  \
  }
#define PREDICATE(ptx, letter, T, a, b, expected)                    \
  {                                                                  \
    unsigned found;                                                  \
    asm("{ .reg .pred p; " ptx " p, %1, %2; selp.u32 %0, 1, 0, p; }" \
        : "=r"(found)                                                \
        : letter(static_cast<T>(a)), letter(static_cast<T>(b)));     \
    expect<unsigned>(ptx, found, expected);                          \
  }
#define SPECIAL(name, letter, T, expected)                          \
  {                                                                 \
    T found;                                                        \
    asm volatile("mov.b" #letter " %0, %%" name ";" : "=r"(found)); \
    expect<T>(name, found, expected);                               \
  }

using Long = long long;
using Word = unsigned long long;

__device__ unsigned bits(__half value) { return __half_as_ushort(value); }
__device__ unsigned bits(__nv_bfloat16 value) { return __bfloat16_as_ushort(value); }
template <typename T> __device__ unsigned pair(T low, T high) { return bits(low) | bits(high) << 16; }

__global__ void arithmetic(int seven, float half_of_five) {
  const int a = -seven, b = 3;
  TWO("add.s32", "r", int, INT_MAX, 1, INT_MIN)
  TWO("add.u64", "l", Word, ~0ULL, 2, 1)
  TWO("add.f32", "f", float, half_of_five, 1e-3F, half_of_five + 1e-3F)
  TWO("add.rn.f64", "d", double, half_of_five, 1e-9, half_of_five + 1e-9)
  TWO("add.s16", "h", short, SHRT_MAX, 1, SHRT_MIN)
  TWO("sub.s32", "r", int, a, b, -10)
  TWO("sub.ftz.f32", "f", float, half_of_five, 1, 1.5F)
  TWO("mul.lo.s32", "r", int, a, b, -21)
  TWO("mul.lo.u64", "l", Word, 1ULL << 63, 3, 1ULL << 63)
  TWO("mul.hi.s32", "r", int, INT_MIN, seven, -4)
  TWO("mul.hi.u32", "r", unsigned, ~0U, seven, 6)
  TWO("mul.hi.u64", "l", Word, ~0ULL, ~0ULL, ~0ULL - 1)
  TWO("mul.f32", "f", float, half_of_five, 3, 7.5F)
  TWO("mul.rn.f64", "d", double, half_of_five, 3, 7.5)
  THREE("mad.lo.s32", "r", int, a, b, 100, 79)
  THREE("mad.hi.u32", "r", unsigned, ~0U, seven, 10, 16)
  const Word first = 7ULL << 32 | 0xFFFFFFF0, second = 3ULL << 32 | 0xFFFFFFFE;
  const Word product = 0xFFFFFFF0ULL * 0xFFFFFFFEULL;
  PARTS("add.cc.u32 %0, %2, %4; addc.u32 %1, %3, %5;", first, second, first + second)
  PARTS("sub.cc.u32 %0, %2, %4; subc.u32 %1, %3, %5;", first, second, first - second)
  PARTS("mad.lo.cc.u32 %0, %2, %4, %2; madc.hi.u32 %1, %2, %4, %5;", first, second,
        product + 0xFFFFFFF0 + (3ULL << 32))
  PARTS("mad.hi.cc.u32 %0, %2, %4, %2; madc.lo.u32 %1, %2, %4, %3;", first, second, 40ULL << 32 | 0xFFFFFFDE)
  TWO("add.cc.u64 %0, %1, %1; addc.cc.u64", "l", Word, ~0ULL, 5, 5)
  TWO("sub.cc.s64 %0, %2, %1; subc.s64", "l", Long, 5, 3, 1)
  THREE("fma.rn.f32", "f", float, 1 + 0x1p-12F, 1 - 0x1p-12F, -1, -0x1p-24F)
  THREE("fma.rn.f64", "d", double, 1 + 0x1p-30, 1 - 0x1p-30, -1, -0x1p-60)
  THREE("mad.rn.f32", "f", float, half_of_five, 2, 1, 6)
  TWO("div.s32", "r", int, a, 2, -3)
  TWO("div.u32", "r", unsigned, 0x80000000, 3, 0x2AAAAAAA)
  TWO("div.rn.f32", "f", float, 1, 3, 1 / 3.0F)
  TWO("rem.s32", "r", int, a, 4, -3)
  TWO("min.s32", "r", int, a, b, a)
  TWO("min.u32", "r", unsigned, a, b, 3)
  TWO("min.f32", "f", float, NAN, 3, 3)
  TWO("max.u64", "l", Word, a, b, static_cast<Word>(static_cast<Long>(a)))
  TWO("max.f32", "f", float, half_of_five, -3, 2.5F)
  ONE("abs.s32", "r", int, a, 7)
  ONE("abs.f32", "f", float, -half_of_five, 2.5F)
  ONE("neg.s64", "l", Long, a, 7)
  ONE("neg.f32", "f", float, half_of_five, -2.5F)
  ONE("sqrt.rn.f32", "f", float, 6.25F, 2.5F)
  ONE("sqrt.rn.f64", "d", double, 2, sqrt(2.0))
  ONE("rcp.rn.f32", "f", float, half_of_five, 0.4F)
  ONE("rsqrt.approx.f32", "f", float, 0.25F, 2)
  ONE("ex2.approx.ftz.f32", "f", float, 3, 8)
  ONE("lg2.approx.f32", "f", float, 8, 3)
  ONE("sin.approx.f32", "f", float, 0, 0)
  ONE("cos.approx.f32", "f", float, 0, 1)
  ONE("tanh.approx.f32", "f", float, 0, 0)

  Long wide;
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(wide) : "r"(INT_MIN), "r"(3));
  expect("mul.wide.s32", wide, 3LL * INT_MIN);
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(wide) : "r"(~0U), "r"(2), "l"(5LL));
  expect("mad.wide.u32", wide, 2LL * UINT_MAX + 5);

  const __half2 halves{half_of_five, -3}, ones{1, 0.5F};
  const __nv_bfloat162 brains{half_of_five, -3}, others{1, 0.5F};
  TWO("add.f16", "h", unsigned short, bits(halves.x), bits(ones.x), bits(__half{3.5F}))
  TWO("add.f16x2", "r", unsigned, pair(halves.x, halves.y), pair(ones.x, ones.y),
      pair(__half{3.5F}, __half{-2.5F}))
  TWO("mul.f16x2", "r", unsigned, pair(halves.x, halves.y), pair(ones.x, ones.y),
      pair(__half{2.5F}, __half{-1.5F}))
  THREE("fma.rn.f16x2", "r", unsigned, pair(halves.x, halves.y), pair(ones.x, ones.y), pair(ones.x, ones.x),
        pair(__half{3.5F}, __half{-0.5F}))
  THREE("fma.rn.bf16x2", "r", unsigned, pair(brains.x, brains.y), pair(others.x, others.y),
        pair(others.x, others.x), pair(__nv_bfloat16{3.5F}, __nv_bfloat16{-0.5F}))
  TWO("max.f16x2", "r", unsigned, pair(halves.x, halves.y), pair(ones.x, ones.y), pair(halves.x, ones.y))
  ONE("neg.f16x2", "r", unsigned, pair(halves.x, halves.y), pair(__half{-2.5F}, __half{3.0F}))
  ONE("abs.bf16", "h", unsigned short, bits(brains.y), bits(__nv_bfloat16{3.0F}))
}

__global__ void bits_and_conversions(int seven, unsigned mixed) {
  TWO("and.b32", "r", unsigned, mixed, 0xffff, mixed & 0xffff)
  TWO("or.b64", "l", Word, mixed, 1ULL << 40, mixed | 1ULL << 40)
  TWO("xor.b32", "r", unsigned, mixed, ~0U, ~mixed)
  ONE("not.b32", "r", unsigned, mixed, ~mixed)
  SHIFT("shl.b32", "r", unsigned, mixed, seven, mixed << 7)
  SHIFT("shl.b32", "r", unsigned, mixed, 32, 0)
  SHIFT("shr.s32", "r", int, INT_MIN, 40, -1)
  SHIFT("shr.u32", "r", unsigned, mixed, seven, mixed >> 7)
  SHIFT("shr.b64", "l", Word, ~0ULL, 60, 15)
  THREE("shf.l.wrap.b32", "r", unsigned, mixed, 5, seven + 32, __funnelshift_l(mixed, 5, 7))
  THREE("shf.l.clamp.b32", "r", unsigned, mixed, 5, 40, mixed)
  THREE("shf.r.wrap.b32", "r", unsigned, mixed, 5, seven, __funnelshift_r(mixed, 5, 7))
  THREE("shf.r.clamp.b32", "r", unsigned, mixed, 5, 40, 5)
  THREE("prmt.b32", "r", unsigned, mixed, 0x12345678, 0x5140, __byte_perm(mixed, 0x12345678, 0x5140))
  THREE("bfe.u32", "r", unsigned, mixed, 4, 8, mixed >> 4 & 0xff)
  THREE("bfe.s32", "r", int, 0xf0, 4, 4, -1)
  THREE("bfe.s32", "r", int, INT_MIN, 28, 8, -8)
  ONE("bfind.u32", "r", unsigned, 0x00010000, 16)
  ONE("bfind.s32", "r", unsigned, ~0, ~0U)
  ONE("bfind.shiftamt.u32", "r", unsigned, 0x00010000, 15)
  ONE("popc.b32", "r", unsigned, mixed, __popc(mixed))
  OTHER("popc.b64", "r", unsigned, "l", Word, ~0ULL, 64)
  ONE("clz.b32", "r", unsigned, 1, 31)
  OTHER("clz.b64", "r", unsigned, "l", Word, 0, 64)
  ONE("brev.b32", "r", unsigned, mixed, __brev(mixed))
  ONE("brev.b64", "l", Word, mixed, __brevll(mixed))
  unsigned found;
  asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(found) : "r"(mixed), "r"(0xff00ff), "r"(0xffff));
  expect("lop3.b32", found, (mixed & 0xff00ff) | (mixed & 0xffff) | (0xff00ff & 0xffff));
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(found) : "r"(0x3ff), "r"(0U), "r"(4), "r"(8));
  expect("bfi.b32", found, 0xff0U);

  OTHER("cvt.u64.u32", "l", Word, "r", unsigned, mixed, mixed)
  OTHER("cvt.s64.s32", "l", Long, "r", int, -seven, -7)
  OTHER("cvt.u32.u64", "r", unsigned, "l", Word, 1ULL << 32 | 5, 5)
  OTHER("cvt.u16.u32", "h", unsigned short, "r", unsigned, 0x12345, 0x2345)
  OTHER("cvt.s32.s8", "r", int, "r", int, 0x80, -128)
  OTHER("cvt.sat.u8.s32", "r", unsigned, "r", int, 1000, 255)
  OTHER("cvt.rn.f32.s32", "f", float, "r", int, 0x1000001, 0x1000000)
  OTHER("cvt.rzi.s32.f32", "r", int, "f", float, -2.5F, -2)
  OTHER("cvt.rni.s32.f32", "r", int, "f", float, 2.5F, 2)
  OTHER("cvt.rpi.u32.f32", "r", unsigned, "f", float, 2.25F, 3)
  OTHER("cvt.rmi.s32.f32", "r", int, "f", float, 1e20F, INT_MAX)
  OTHER("cvt.f64.f32", "d", double, "f", float, 0.1F, 0.1F)
  OTHER("cvt.rn.f32.f64", "f", float, "d", double, 0.1, 0.1F)
  OTHER("cvt.rni.f32.f32", "f", float, "f", float, 3.5F, 4)
  OTHER("cvt.sat.f32.f32", "f", float, "f", float, 3.5F, 1)
  OTHER("cvt.rn.f16.f32", "h", unsigned short, "f", float, 0.1F, bits(__half{0.1F}))
  OTHER("cvt.rn.bf16.f32", "h", unsigned short, "f", float, 0.1F, bits(__nv_bfloat16{0.1F}))
  OTHER("cvt.f32.f16", "f", float, "h", unsigned short, bits(__half{0.1F}), static_cast<float>(__half{0.1F}))
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(found) : "f"(2.0F), "f"(0.5F));
  expect("cvt.rn.f16x2.f32", found, pair(__half{0.5F}, __half{2.0F}));
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(found) : "f"(2.0F), "f"(0.5F));
  expect("cvt.rn.bf16x2.f32", found, pair(__nv_bfloat16{0.5F}, __nv_bfloat16{2.0F}));

  PREDICATE("setp.lt.s32", "r", int, -1, 1, 1)
  PREDICATE("setp.lt.u32", "r", unsigned, -1, 1, 0)
  PREDICATE("setp.hs.u32", "r", unsigned, -1, 1, 1)
  PREDICATE("setp.ne.b64", "l", Word, 1ULL << 32, 0, 1)
  PREDICATE("setp.eq.f32", "f", float, NAN, NAN, 0)
  PREDICATE("setp.ge.f64", "d", double, 1, 1, 1)
  asm("{\n"
      "  .reg .pred p, q, %%r<2>;  // a comment; with a semicolon\n"
      "  setp.gt.s32 p|q, %1, 3;\n"
      "  setp.eq.and.s32 %%r1, %1, 7, p;\n"
      "  mov.u32 %0, 0; /* and\n another */\n"
      "  @q add.u32 %0, %0, 1;\n"
      "  @!q add.u32 %0, %0, 10;\n"
      "  @%%r1 add.u32 %0, %0, 100;\n"
      "  not.pred p, p;\n"
      "  @p add.u32 %0, %0, 1000;\n"
      "}"
      : "=r"(found)
      : "r"(seven));
  expect("predicates", found, 110U);
  asm("{\n .reg .pred p;\n mov.u32 %0, 0;\n"
      "AGAIN_%=:\n add.u32 %0, %0, %1;\n setp.lt.u32 p, %0, 0x40;\n @p bra AGAIN_%=;\n bra.uni DONE_%=;\n "
      "trap;\n DONE_%=:\n}"
      : "=r"(found)
      : "r"(seven));
  expect("bra", found, 70U);
  Word both;
  unsigned low, high;
  asm("mov.b64 %0, {%1, %2};" : "=l"(both) : "r"(mixed), "r"(7));
  expect("mov.b64 of parts", both, 7ULL << 32 | mixed);
  asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(both));
  expect("mov.b64 into parts", low - high, mixed - 7);
  float real;
  asm("mov.f32 %0, 0f3FC00000;" : "=f"(real));
  expect("mov.f32", real, 1.5F);
  asm("add.f32 %0, %0, 1.25;" : "+f"(real));
  expect("a real constant", real, 2.75F);
  asm("add.s32 %0, %1, -0x10;" : "=r"(found) : "n"(20));
  expect("a constant", found, 4U);
}

__global__ void memory(int* words) {
  __shared__ int tile[128];
  __shared__ Word sums[2];
  const unsigned shared = address_of(tile + 4 * threadIdx.x);
  int a, b, c, d;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.s32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "l"(words + 4 * threadIdx.x));
  expect<int>("ld.global.nc.v4", a + 10 * b + 100 * c + 1000 * d, 4 * threadIdx.x * 1111 + 3210);
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(shared), "r"(a), "r"(b) : "memory");
  asm volatile("st.shared::cta.b32 [%0+8], %1;" ::"r"(shared), "r"(c) : "memory");
  asm volatile(
      "{ .reg .u64 t; .reg .u32 s; cvta.to.shared.u64 t, %0; cvt.u32.u64 s, t; st.shared.u32 [s + 12], %1; "
      "}" ::"l"(tile + 4 * threadIdx.x),
      "r"(d)
      : "memory");
  __syncthreads();
  expect("st.shared", tile[127 - threadIdx.x], 127 - static_cast<int>(threadIdx.x));
  int loaded;
  asm volatile("ld.shared.s32 %0, [%1 + 4];" : "=r"(loaded) : "r"(shared));
  expect("ld.shared", loaded, b);
  asm volatile("ld.s8 %0, [%1];" : "=r"(loaded) : "l"(words + 128));
  expect("ld.s8", loaded, -1);
  asm volatile("ld.global.cg.u16 %0, [%1];" : "=r"(loaded) : "l"(words + 128));
  expect("ld.global.cg.u16", loaded, 0xffff);
  Word pointer;
  asm volatile("{ .reg .u64 s; cvt.u64.u32 s, %1; cvta.shared.u64 %0, s; }" : "=l"(pointer) : "r"(shared));
  expect("cvta.shared", pointer, reinterpret_cast<Word>(tile + 4 * threadIdx.x));
  asm volatile("cvta.to.global.u64 %0, %1;" : "=l"(pointer) : "l"(words));
  expect("cvta.to.global", pointer, reinterpret_cast<Word>(words));
  asm volatile("cvta.global.u64 %0, %1;" : "=l"(pointer) : "l"(words));
  expect("cvta.global", pointer, reinterpret_cast<Word>(words));
  unsigned found;
  asm volatile(
      "{ .reg .pred p, q; isspacep.shared p, %1; isspacep.global q, %1; selp.u32 %0, 1, 0, p; @q add.u32 %0, "
      "%0, 2; }"
      : "=r"(found)
      : "l"(tile));
  expect("isspacep", found, 1U);
  Word policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("ld.global.L2::cache_hint.s32 %0, [%1], %2;" : "=r"(loaded) : "l"(words + 5), "l"(policy));
  expect("ld.global.L2::cache_hint", loaded, 5);
  asm volatile("prefetch.global.L2 [%0];" ::"l"(words));
  asm volatile("prefetchu.L1 [%0];" ::"l"(words));
  asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(words));

  // Each thread changes words of its own.
  int* const own = words + 256 + 8 * threadIdx.x;
  asm volatile("st.global.wt.s32 [%0], %1;" ::"l"(own), "r"(40) : "memory");
  asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(own + 1), "r"(41) : "memory");
  asm volatile("st.release.sys.global.s32 [%0], %1;" ::"l"(own + 2), "r"(42) : "memory");
  asm volatile("st.volatile.global.s32 [%0], %1;" ::"l"(own + 3), "r"(43) : "memory");
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(words + 1024));
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(loaded) : "l"(own + 2));
  expect("ld.acquire", loaded, 42);
  asm volatile("ld.relaxed.cta.s32 %0, [%1];" : "=r"(loaded) : "l"(own + 1));
  expect("ld.relaxed", loaded, 41);
  asm volatile("atom.global.add.s32 %0, [%1], %2;" : "=r"(loaded) : "l"(own), "r"(2));
  expect("atom.add", 100 * loaded + own[0], 4042);
  asm volatile("atom.acq_rel.gpu.global.cas.b32 %0, [%1], %2, %3;"
               : "=r"(loaded)
               : "l"(own), "r"(42), "r"(7));
  expect("atom.cas", 100 * loaded + own[0], 4207);
  asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(loaded) : "l"(own), "r"(9));
  expect("atom.exch", 100 * loaded + own[0], 709);
  asm volatile("atom.inc.u32 %0, [%1], %2;" : "=r"(loaded) : "l"(own), "r"(9));
  expect("atom.inc", 100 * loaded + own[0], 900);
  asm volatile("atom.dec.u32 %0, [%1], %2;" : "=r"(loaded) : "l"(own), "r"(5));
  expect("atom.dec", own[0], 5);
  asm volatile("red.global.min.s32 [%0], %1;" ::"l"(own), "r"(-1) : "memory");
  expect("red.min", own[0], -1);
  asm volatile("red.global.max.u32 [%0], %1;" ::"l"(own), "r"(1) : "memory");
  expect("red.max of unsigned numbers", own[0], -1);
  asm volatile("red.release.gpu.global.and.b32 [%0], %1;" ::"l"(own), "r"(0xff) : "memory");
  asm volatile("red.global.or.b32 [%0], %1;" ::"l"(own), "r"(0x100) : "memory");
  asm volatile("red.global.xor.b32 [%0], %1;" ::"l"(own), "r"(1) : "memory");
  expect("red of bits", own[0], 0x1fe);
  if (threadIdx.x < 2) sums[threadIdx.x] = 0;
  __syncthreads();
  const unsigned sum = address_of(sums);
  asm volatile("red.shared.add.u64 [%0], %1;" ::"r"(sum), "l"(1LL << 40) : "memory");
  asm volatile("red.shared.add.f64 [%0+8], %1;" ::"r"(sum), "d"(0.5) : "memory");
  __syncthreads();
  expect("red.shared.add.u64", sums[0], 32ULL << 40);
  expect("red.shared.add.f64", __longlong_as_double(static_cast<Long>(sums[1])), 16.0);
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
  asm volatile("fence.sc.sys;" ::: "memory");
  asm volatile("membar.gl;" ::: "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__global__ void warps_and_blocks() {
  const unsigned thread = threadIdx.x + blockDim.x * threadIdx.y, lane = thread % 32, all = ~0U;
  SPECIAL("laneid", 32, unsigned, lane)
  SPECIAL("lanemask_eq", 32, unsigned, 1U << lane)
  SPECIAL("lanemask_lt", 32, unsigned, (1U << lane) - 1)
  SPECIAL("lanemask_le", 32, unsigned, (2U << lane) - 1)
  SPECIAL("lanemask_gt", 32, unsigned, ~((2U << lane) - 1))
  SPECIAL("lanemask_ge", 32, unsigned, ~((1U << lane) - 1))
  SPECIAL("warpid", 32, unsigned, thread / 32)
  SPECIAL("nwarpid", 32, unsigned, 64U)
  SPECIAL("tid.x", 32, unsigned, threadIdx.x)
  SPECIAL("tid.y", 32, unsigned, threadIdx.y)
  SPECIAL("tid.z", 32, unsigned, 0U)
  SPECIAL("ntid.x", 32, unsigned, 16U)
  SPECIAL("ntid.y", 32, unsigned, 4U)
  SPECIAL("ntid.z", 32, unsigned, 1U)
  SPECIAL("ctaid.x", 32, unsigned, blockIdx.x)
  SPECIAL("ctaid.y", 32, unsigned, blockIdx.y)
  SPECIAL("ctaid.z", 32, unsigned, 0U)
  SPECIAL("nctaid.x", 32, unsigned, 2U)
  SPECIAL("nctaid.y", 32, unsigned, 3U)
  SPECIAL("nctaid.z", 32, unsigned, 1U)
  SPECIAL("dynamic_smem_size", 32, unsigned, 48U)
  unsigned sm, sms;
  asm("mov.u32 %0, %%smid; mov.u32 %1, %%nsmid;" : "=r"(sm), "=r"(sms));
  expect("smid", sm < sms, true);

  unsigned found, inside;
#define SHUFFLE(mode, b, c, source, is_inside)                                                        \
  asm volatile("{ .reg .pred p; shfl.sync." mode ".b32 %0|p, %2, %3, %4, %5; selp.u32 %1, 1, 0, p; }" \
               : "=r"(found), "=r"(inside)                                                            \
               : "r"(lane), "r"(b), "n"(c), "r"(all));                                                \
  expect<unsigned>("shfl.sync." mode, found, source);                                                 \
  expect<unsigned>("the predicate of shfl.sync." mode, inside, is_inside);
  SHUFFLE("idx", 5, 31, 5U, 1)
  SHUFFLE("idx", 37, 31, 5U, 1)
  SHUFFLE("idx", lane & 3, 0x1c1f, (lane & 28) | (lane & 3), 1)
  SHUFFLE("up", 1, 0, lane == 0 ? 0 : lane - 1, lane != 0)
  SHUFFLE("up", 2, 0x1800, lane % 8 < 2 ? lane : lane - 2, lane % 8 >= 2)
  SHUFFLE("down", 4, 31, lane > 27 ? lane : lane + 4, lane <= 27)
  SHUFFLE("down", 4, 0x181f, lane % 8 > 3 ? lane : lane + 4, lane % 8 <= 3)
  SHUFFLE("bfly", 16, 31, lane ^ 16, 1)
  SHUFFLE("bfly", 4, 0x1803, lane & 4 ? lane ^ 4 : lane, (lane & 4) != 0)
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, -1;" : "=r"(found) : "r"(lane));
  expect("shfl.sync", found, lane ^ 1);

  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 3; vote.sync.ballot.b32 %0, p, %2; }"
               : "=r"(found)
               : "r"(lane), "r"(all));
  expect("vote.sync.ballot", found, 7U);
#define VOTE(mode, limit, expected)                                        \
  asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, %2; vote.sync." mode \
               ".pred q, p, -1; selp.u32 %0, 1, 0, q; }"                   \
               : "=r"(found)                                               \
               : "r"(lane), "n"(limit));                                   \
  expect<unsigned>("vote.sync." mode, found, expected);
  VOTE("any", 1, 1)
  VOTE("any", 0, 0)
  VOTE("all", 31, 0)
  VOTE("all", 32, 1)
  VOTE("uni", 0, 1)
  VOTE("uni", 1, 0)
  asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(found) : "r"(lane / 8), "r"(all));
  expect("match.any.sync", found, 0xffU << lane / 8 * 8);
  asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %1, -1; selp.u32 %0, %0, 5, p; }"
               : "=r"(found)
               : "r"(lane / 16));
  expect("match.all.sync", found, 5U);
#define REDUCE(mode, value, expected)                                                   \
  asm volatile("redux.sync." mode " %0, %1, %2;" : "=r"(found) : "r"(value), "r"(all)); \
  expect("redux.sync." mode, static_cast<int>(found), static_cast<int>(expected));
  REDUCE("add.s32", lane - 16, -16)
  REDUCE("min.s32", lane - 16, -16)
  REDUCE("max.u32", lane - 16, -1)
  REDUCE("and.b32", ~(1U << lane), 0)
  REDUCE("or.b32", lane, 31)
  REDUCE("xor.b32", 1U << lane, all)
  asm volatile("activemask.b32 %0;" : "=r"(found));
  expect("activemask", found, all);
  asm volatile("{ .reg .pred P1; .reg .b32 r; elect.sync r|P1, %1; selp.u32 %0, 1, 0, P1; }"
               : "=r"(found)
               : "r"(all));
  expect<unsigned>("elect.sync", found, lane == 0);
  asm volatile("bar.warp.sync %0;" ::"r"(all));

  __shared__ int tile[64];
  tile[thread] = static_cast<int>(thread);
  asm volatile("bar.sync 0;" ::: "memory");
  expect("bar.sync", tile[63 - thread], 63 - static_cast<int>(thread));
  asm volatile("barrier.sync 0;" ::: "memory");
  tile[thread] = static_cast<int>(lane);
  asm volatile("bar.sync %0, %1;" ::"r"(1 + thread / 32), "n"(32) : "memory");
  expect("bar.sync of a warp", tile[thread ^ 31], static_cast<int>(lane ^ 31));
  asm volatile("barrier.cta.sync 3, 64;" ::: "memory");
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 5; bar.red.popc.u32 %0, 0, p; }"
               : "=r"(found)
               : "r"(thread));
  expect("bar.red.popc", found, 5U);
  asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 5; bar.red.and.pred q, 0, p; selp.u32 %0, 1, 0, q; }"
               : "=r"(found)
               : "r"(thread));
  expect("bar.red.and", found, 0U);
  if (thread < 32) {
    asm volatile("barrier.cta.arrive 4, 64;" ::: "memory");
  } else {
    asm volatile("barrier.cta.sync 4, 64;" ::: "memory");
  }
  asm volatile("nanosleep.u32 20;");
  if (thread == 40) asm volatile("exit;");
  __syncwarp(thread / 32 == 0 ? all : all & ~(1U << 8));
  asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 40; @p trap; }" ::"r"(thread));
}

__global__ void asynchronous_copies(const int* words) {
  __shared__ alignas(16) int tile[128];
  __shared__ Word barrier;
  const unsigned object = address_of(&barrier);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(object), "r"(32) : "memory");
  __syncthreads();
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address_of(tile + 4 * thread)),
               "l"(words + 4 * thread)
               : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(object) : "memory");
  asm volatile(
      "{\n .reg .pred p;\n WAIT_%=: mbarrier.test_wait.parity.shared.b64 p, [%0], 0;\n @!p bra WAIT_%=;\n}" ::
          "r"(object)
      : "memory");
  expect("cp.async", tile[127 - thread], 127 - thread);
  __syncwarp();
  Word state;
  if (thread == 0) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(object) : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"(
            address_of(tile)),
        "l"(words + 4), "r"(object)
        : "memory");
  }
  if (thread != 31) {
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(object) : "memory");
  } else {
    asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(object) : "memory");
  }
  asm volatile(
      "{\n .reg .pred p;\n WAIT_%=: mbarrier.try_wait.shared::cta.b64 p, [%0], %1;\n @!p bra WAIT_%=;\n}" ::
          "r"(object),
      "l"(state)
      : "memory");
  expect("cp.async.bulk", tile[thread % 4], 4 + thread % 4);
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  if (thread == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(object) : "memory");
  Word earlier, later;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(earlier));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(later));
  expect("clock64", earlier <= later, true);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(earlier));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(later));
  expect("globaltimer", earlier <= later, true);
}

int main() {
  arithmetic<<<1, 1>>>(7, 2.5F);
  bits_and_conversions<<<1, 1>>>(7, 0x89abcdef);
  int words[2048], *on_device;
  for (int i = 0; i < 2048; ++i)
    words[i] = i == 128 ? -1 : i;
  cudaMalloc(&on_device, sizeof words);
  cudaMemcpy(on_device, words, sizeof words, cudaMemcpyHostToDevice);
  memory<<<1, 32>>>(on_device);
  asynchronous_copies<<<1, 32>>>(on_device);
  warps_and_blocks<<<dim3(2, 3), dim3(16, 4), 48>>>();
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorString(error));
}
