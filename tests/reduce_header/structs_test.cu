/// \file
/// 12's header with structs of any size from any address, operations of one's own, and transforms.

#ifdef __CUDACC__
#include <cuda/std/complex>
#endif

#include "reduce_header/suite.cuh"

namespace reduction {
namespace {

template <typename T> class ReduceStructs : public Reduce {};
using Structs =
    testing::Types<Multiples<std::uint8_t, 3>, Multiples<std::uint8_t, 4>, Multiples<float, 2>,
                   Multiples<std::uint32_t, 3>, Multiples<double, 2>, Multiples<std::uint64_t, 3>,
                   // As large as an accumulator may be; the emulated device has one too large for registers.
                   Multiples<std::uint32_t, is_emulated ? 24 : 384>>;
TYPED_TEST_SUITE(ReduceStructs, Structs);

/// Where a struct is larger than its alignment, no vector can begin at some addresses.
TYPED_TEST(ReduceStructs, AreElements) {
  using Word = std::decay_t<decltype(TypeParam{}.word[0])>;
  const auto element = [](std::size_t i) { return TypeParam(small_number<Word>(i)); };
  expect<TypeParam, TypeParam>(element, folded(TypeParam(0), AddWords{}), by(AddWords{}));
}

/// The elements are numbers.
TYPED_TEST(ReduceStructs, AreAccumulators) {
  using Word = std::decay_t<decltype(TypeParam{}.word[0])>;
  expect<TypeParam, Word>(
      small_number<Word>,
      [](auto* begin, auto* end) { return TypeParam(begin == end ? Word{0} : sum<Word>()(begin, end)); },
      by(AddWords{}));
}

/// In the order of SameBits, a word of a vector may lie across two words of memory.
TEST_F(Reduce, StructsInOneOrderFromAnyByte) {
  using Bytes = Multiples<std::uint8_t, 4>;
  const auto element = [](std::size_t i) { return Bytes(any_number<std::uint8_t>(i)); };
  expect<Bytes, Bytes>(element, folded(Bytes(0), AddWords{}), by(SameBits{AddWords{}}));
}

#ifdef __CUDACC__
template <typename Real> void expect_complex() {
  using Complex = cuda::std::complex<Real>;
  const auto element = [](std::size_t i) {
    return Complex(small_number<Real>(i), small_number<Real>(i + 1));
  };
  expect<Complex, Complex>(element, folded(Complex(0), [](auto a, auto b) { return a + b; }), by(Sum{}));
  // Quarter turns. The sign of a zero in a product depends on the order, so 1 + i is multiplied once.
  const auto turn = [](std::size_t i) {
    const Complex turns[4]{{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    return i == 0 ? Complex(1, 1) : turns[scattered(i) % 4];
  };
  const auto times = [](auto a, auto b) { return a * b; };
  for (const std::size_t n : {1, 1000, 16385, 100003}) {
    std::vector<Complex> values;
    for (std::size_t i = 0; i < n; ++i)
      values.push_back(turn(i));
    const Complex expected = folded(Complex(1), times)(values.data(), values.data() + n);
    EXPECT_TRUE(result<Complex>(DeviceArray<Complex>(values), n, by(Product{})) == expected)
        << n << " elements";
  }
}

TEST_F(Reduce, ComplexNumbers) {
  expect_complex<float>();
  expect_complex<double>();
}
#endif

// ---- operations of one's own ----

/// The sum modulo a number that only a run knows.
struct AddModulo {
  unsigned modulus;
  __host__ __device__ unsigned operator()(unsigned a, unsigned b) const { return (a + b) % modulus; }
};

TEST_F(Reduce, OperationWithState) {
  for (const unsigned modulus : {7u, 1000003u}) {
    const auto element = [=](std::size_t i) { return scattered(i) % modulus; };
    const AddModulo add{modulus};
    expect<unsigned, unsigned>(element, folded(0u, add), by(WithIdentity{add, 0u}));
  }
}

/// Its identity is a member that depends on its state.
struct MostBelow {
  int bound;
  __host__ __device__ int operator()(int a, int b) const {
    if (a >= bound) return b;
    return b >= bound || b < a ? a : b;
  }
  template <typename A> __host__ __device__ A identity() const { return A(bound); }
};

TEST_F(Reduce, IdentityWithState) {
  for (const int bound : {-5, 3, 1000}) {
    const auto element = [=](std::size_t i) {
      return any_number<int>(i) < bound ? any_number<int>(i) : bound;
    };
    expect<int, int>(element, folded(bound, MostBelow{bound}), by(MostBelow{bound}));
  }
}

// An extended lambda may not be in a test's body, which is a private member function.

/// A const variable has another type for nvcc's host compiler than for its device compiler.
void expect_lambdas() {
  WithIdentity exclusive_or{[] __device__(unsigned a, unsigned b) { return a ^ b; }, 0u};
  const auto expected = folded(0u, [](auto a, auto b) { return a ^ b; });
  expect<unsigned, unsigned>(any_number<unsigned>, expected, by(exclusive_or));
  const auto divisor = [] __device__(unsigned a, unsigned b) {
    while (b != 0) {
      const unsigned rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  };
  const DeviceArray<unsigned> in(std::vector<unsigned>{12, 60, 30, 18});
  const DeviceArray<unsigned> out(1);
  ASSERT_EQ(reduction::reduce(in.get(), out.get(), 4, WithIdentity{divisor, 0u}), cudaSuccess);
  EXPECT_EQ(out.at(0), 6u);
}

TEST_F(Reduce, LambdaWithItsIdentity) { expect_lambdas(); }

// ---- transforms ----

struct Square {
  template <typename T> __device__ T operator()(const T& value) const { return value * value; }
};

/// Of the distances from a mean.
auto squares(float mean, double init) {
  return [=](auto* begin, auto* end) {
    return folded(init, [=](double a, float b) { return a + double(b - mean) * double(b - mean); })(begin,
                                                                                                    end);
  };
}

/// With a number in it that only a run knows.
void expect_squares_around(float mean) {
  const auto square = [mean] __device__(float value) { return (value - mean) * (value - mean); };
  expect<double, float>(small_number<float>, squares(mean, 0), transformed_by(Sum{}, square));
}

TEST_F(Reduce, Transforms) {
  expect<double, float>(small_number<float>, squares(0, 0), transformed_by(Sum{}, Square{}));
  expect<double, float>(small_number<float>, squares(0, 1000), transformed_by(Sum{}, Square{}, 1000));
  expect_squares_around(3);
}

}  // namespace
}  // namespace reduction
