/// \file
/// beyond/12_any_operation's header with accumulators of 3 to 1536 bytes, the most that it takes. Skipped where there is no
/// CUDA device. A file of its own, because ptxas takes minutes for hundreds of words that are shuffled one by one.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "reduce_header.cuh"

namespace reduction {
namespace {

/// A number and its multiples, as many as `count` words hold. Added word by word.
template <typename Word, unsigned count> struct Multiples {
  Word word[count];

  Multiples() = default;
  __host__ __device__ Multiples(Word number) {
#pragma unroll 1
    for (unsigned k = 0; k < count; ++k)
      word[k] = static_cast<Word>(number * (2 * k + 1));
  }
};

struct AddWords {
  template <typename Word, unsigned count>
  __device__ Multiples<Word, count> operator()(const Multiples<Word, count>& a,
                                               const Multiples<Word, count>& b) const {
    Multiples<Word, count> sum;
#pragma unroll 1
    for (unsigned k = 0; k < count; ++k)
      sum.word[k] = static_cast<Word>(a.word[k] + b.word[k]);
    return sum;
  }
  template <typename Many> static __host__ __device__ Many identity() { return Many(0); }
};

using Of3Bytes = Multiples<std::uint8_t, 3>;
using Of12Bytes = Multiples<std::uint32_t, 3>;
using Of24Bytes = Multiples<std::uint64_t, 3>;
using Of1536Bytes = Multiples<std::uint32_t, 384>;
static_assert(sizeof(Of3Bytes) == 3 && sizeof(Of24Bytes) == 24 && sizeof(Of1536Bytes) == 1536);

template <typename T> class ReduceStructs : public Reduce {};
using Structs = testing::Types<Of3Bytes, Of12Bytes, Of24Bytes, Of1536Bytes>;
TYPED_TEST_SUITE(ReduceStructs, Structs);

/// The accumulator is a struct, the elements are numbers.
TYPED_TEST(ReduceStructs, AreAccumulators) {
  using Word = std::decay_t<decltype(TypeParam{}.word[0])>;
  using T = std::conditional_t<sizeof(Word) == 8, std::uint32_t, Word>;
  expect_the_hosts_result<TypeParam>(
      values_of<T>((1 << 20) + 20, quick_number<T>),
      {0, 1, 2, 31, 1000, 3000, (1 << 14) + 1, 40000, (1 << 16) + 3, 200000, (1 << 18) + 1, (1 << 20) + 7}, 9,
      [](const T* values, std::size_t n) { return TypeParam(sum_on_host<Word>(values, n)); }, by(AddWords{}));
}

/// The elements are structs too; the largest take 768 KB where two kernels begin.
TYPED_TEST(ReduceStructs, AreElements) {
  using Word = std::decay_t<decltype(TypeParam{}.word[0])>;
  const auto values =
      values_of<TypeParam>(30000, [](std::size_t i) { return TypeParam(quick_number<Word>(i)); });
  expect_the_hosts_result<TypeParam>(
      values, {0, 1, 2, 9, 10, 11, 40, 50, 100, 170, 500, 2000, 3000, 4000, 12000, 29997}, 4,
      [](const TypeParam* structs, std::size_t n) {
        Word sum = 0;
        for (std::size_t i = 0; i < n; ++i)
          sum = static_cast<Word>(sum + structs[i].word[0]);
        return TypeParam(sum);
      },
      by(AddWords{}));
}

// ---- beyond 1 GiB, where the header copies in bulk ----

class ReduceLargeStructs : public Reduce {
 protected:
  static constexpr std::size_t n = bulk_elements<std::uint32_t>;

  template <typename Accumulator> static void expect_multiples(const std::uint32_t* in, std::uint32_t sum) {
    using Word = std::decay_t<decltype(Accumulator{}.word[0])>;
    const auto call = [](void* storage, std::size_t& bytes, const std::uint32_t* from, Accumulator* out,
                         std::size_t count) {
      return reduction::reduce(storage, bytes, from, out, count, AddWords{});
    };
    EXPECT_TRUE(same(result<Accumulator>(in, n, call), Accumulator(static_cast<Word>(sum))))
        << sizeof(Accumulator) << " bytes";
  }
};

TEST_F(ReduceLargeStructs, AreAccumulators) {
  const std::string reason = too_large(n * sizeof(std::uint32_t));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const DeviceArray<std::uint32_t> in(n);
  set_quick_numbers<<<1024, 256>>>(in.get(), n);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    sum += quick_number<std::uint32_t>(i);
  expect_multiples<Multiples<std::uint8_t, 3>>(in.get(), static_cast<std::uint32_t>(sum));
  expect_multiples<Multiples<std::uint32_t, 3>>(in.get(), static_cast<std::uint32_t>(sum));
  expect_multiples<Multiples<std::uint32_t, 384>>(in.get(), static_cast<std::uint32_t>(sum));
  const auto wide = [](void* storage, std::size_t& bytes, const std::uint32_t* from, Of24Bytes* out,
                       std::size_t count) {
    return reduction::reduce(storage, bytes, from, out, count, AddWords{});
  };
  EXPECT_TRUE(same(result<Of24Bytes>(in.get(), n, wide), Of24Bytes(sum))) << "24 bytes";
}

}  // namespace
}  // namespace reduction
