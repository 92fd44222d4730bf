/// \file
/// All that reduction/reduce.cuh has, for many types. It is compiled and never run: header_matrix_test.py says by what.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cuda/std/complex>
#include <reduction/across.cuh>
#include <reduction/reduce.cuh>
#include <reduction/rows.cuh>

namespace {

using reduction::reduce;
using reduction::transform_reduce;

struct Point {
  float x, y, z;
};

/// An operation with a member.
struct AddPoints {
  float scale;
  __host__ __device__ Point operator()(const Point& a, const Point& b) const {
    return {scale * (a.x + b.x), a.y + b.y, a.z + b.z};
  }
  template <typename A> static __host__ __device__ A identity() { return A{}; }
};

/// An operation that the host cannot call, and without an identity.
struct BitOr {
  template <typename T> __device__ T operator()(const T& a, const T& b) const { return T(a | b); }
};

/// As large as an accumulator may be.
struct Large {
  double values[192];
};
struct AddLarge {
  __device__ Large operator()(const Large& a, const Large& b) const {
    Large sum;
    for (int k = 0; k < 192; ++k)
      sum.values[k] = a.values[k] + b.values[k];
    return sum;
  }
  template <typename A> static __host__ __device__ A identity() { return A{}; }
};

struct Square {
  template <typename T> __device__ T operator()(const T& x) const { return T(x * x); }
};

struct Times {
  template <typename T, typename U>
  __device__ auto operator()(const T& a, const U& b) const -> decltype(a * b) {
    return a * b;
  }
};

/// A stream as libraries have them.
struct Stream {
  operator cudaStream_t() const { return nullptr; }
};

template <typename T> constexpr const T* in = nullptr;
template <typename T> T* const out = nullptr;

template <typename T, typename Operation> void same_type(Operation operation) {
  reduce(in<T>, out<T>, 1000, operation);
}

template <typename Operation> void small_types(Operation operation) {
  same_type<std::int8_t>(operation);
  same_type<std::uint8_t>(operation);
  same_type<std::int16_t>(operation);
  same_type<std::uint16_t>(operation);
  same_type<__half>(operation);
  same_type<__nv_bfloat16>(operation);
}

template <typename Operation> void types(Operation operation) {
  small_types(operation);
  same_type<int>(operation);
  same_type<unsigned long long>(operation);
  same_type<float>(operation);
  same_type<double>(operation);
}

template <typename Operation> void operations_with_index(Operation operation) {
  reduce(in<std::int8_t>, out<reduction::Indexed<std::int8_t, int>>, 1000, operation);
  reduce(in<__half>, out<reduction::Indexed<__half>>, 1000, operation);
  reduce(in<float>, out<reduction::Indexed<float>>, 1000, operation);
  reduce(in<reduction::Indexed<double>>, out<reduction::Indexed<double>>, 1000, operation);
}

}  // namespace

/// Every operation.
void operations() {
  types(reduction::Sum{});
  types(reduction::Min{});
  small_types(reduction::Max{});
  same_type<std::int8_t>(reduction::MinOrNaN{});
  same_type<__nv_bfloat16>(reduction::MaxOrNaN{});
  same_type<double>(reduction::MaxOrNaN{});
  same_type<std::int16_t>(reduction::Product{});
  same_type<bool>(reduction::LogicalAnd{});
  same_type<int>(reduction::LogicalOr{});
  operations_with_index(reduction::ArgMin{});
  operations_with_index(reduction::ArgMax{});
  reduce(in<std::int16_t>, out<reduction::Extremes<std::int16_t>>, 1000, reduction::MinMax{});
  reduce(in<__nv_bfloat16>, out<reduction::Extremes<__nv_bfloat16>>, 1000, reduction::MinMax{});
  reduce(in<double>, out<reduction::Extremes<double>>, 1000, reduction::MinMax{});
  reduce(in<float>, out<reduction::Bounded<float>>, 1000, reduction::CompensatedSum{}, 1.0f);
  reduce(in<double>, out<reduction::Bounded<double>>, 1000, reduction::CompensatedSum{});
  reduce(in<float>, out<reduction::Bounded<double>>, 1000, reduction::CompensatedSum{}, 1);
  reduce(in<__half>, out<reduction::Bounded<float>>, 1000, reduction::CompensatedSum{});
  transform_reduce(in<float>, out<reduction::Bounded<float>>, 1000, reduction::CompensatedSum{}, Square{});
}

/// In the one order of SameBits.
void same_bits() {
  using reduction::SameBits;
  types(SameBits{reduction::Sum{}});
  same_type<float>(SameBits{reduction::Min{}});
  same_type<float>(SameBits{reduction::Product{}});
  reduce(in<float>, out<reduction::Extremes<float>>, 1000, SameBits{reduction::MinMax{}});
  reduce(in<float>, out<reduction::Bounded<float>>, 1000, SameBits{reduction::CompensatedSum{}}, 1.0f);
  reduce(in<double>, out<reduction::Bounded<double>>, 1000, SameBits{reduction::CompensatedSum{}});
  same_type<::cuda::std::complex<float>>(SameBits{reduction::Sum{}});
  same_type<Point>(SameBits{AddPoints{1}});
  same_type<Large>(SameBits{AddLarge{}});
  same_type<std::uint8_t>(SameBits{reduction::WithIdentity{BitOr{}, std::uint8_t{0}}});
  reduce<double>(in<float>, out<float>, 1000, SameBits{reduction::Sum{}}, 0.0, nullptr);
  transform_reduce(in<__half>, out<float>, 1000, SameBits{reduction::Sum{}}, Square{});
#ifdef __CUDACC_EXTENDED_LAMBDA__
  const auto larger = [] __device__(float a, float b) { return a < b ? b : a; };
  same_type<float>(SameBits{reduction::WithIdentity{larger, 0.0f}});
#endif
}

/// Of matrices.
template <typename T, typename Out, typename Operation, typename... Rest>
void matrix(Operation operation, Rest... rest) {
  reduction::reduce_rows(in<T>, out<Out>, 10, 1000LL, std::size_t{1000}, operation, rest...);
  reduction::reduce_columns(in<T>, out<Out>, 10, 1000, 1000, operation, rest...);
}

void matrices() {
  using reduction::SameBits;
  using reduction::Sum;
  matrix<std::int8_t, int>(Sum{});
  matrix<std::uint8_t, std::uint8_t>(reduction::Max{});
  matrix<__half, __half>(Sum{}, 0.0f);
  matrix<__nv_bfloat16, __nv_bfloat16>(reduction::Min{});
  matrix<__nv_bfloat16, float>(SameBits{Sum{}});
  matrix<double, double>(SameBits{Sum{}}, 1.0, nullptr);
  matrix<double, reduction::Indexed<double>>(reduction::ArgMax{});
  matrix<float, reduction::Extremes<float>>(reduction::MinMax{});
  matrix<float, reduction::Bounded<float>>(reduction::CompensatedSum{});
  matrix<float, reduction::Bounded<float>>(SameBits{reduction::CompensatedSum{}});
  matrix<Point, Point>(AddPoints{1});
  matrix<Large, Large>(SameBits{AddLarge{}});
  matrix<std::uint16_t, std::uint16_t>(reduction::WithIdentity{BitOr{}, std::uint16_t{0}});
  reduction::transform_reduce_rows<double>(in<float>, out<float>, 1, 1, 1, Sum{}, Square{}, 0.0);
  reduction::transform_reduce_columns(in<float>, out<float>, 1, 1, 1, Sum{}, Square{}, nullptr);
#ifdef __CUDACC_EXTENDED_LAMBDA__
  const auto larger = [] __device__(float a, float b) { return a < b ? b : a; };
  matrix<float, float>(reduction::WithIdentity{larger, 0.0f});
#endif
}

/// Over several GPUs.
void across() {
  using reduction::reduce_across;
  using reduction::SameBits;
  const reduction::Peers peers;
  reduce_across(peers, in<float>, out<float>, 1000, SameBits{reduction::Sum{}}, 1.0f, nullptr);
  reduce_across(peers, in<std::int8_t>, out<std::int8_t>, 1000, SameBits{reduction::Max{}});
  reduce_across(peers, in<double>, out<reduction::Bounded<double>>, 1000,
                SameBits{reduction::CompensatedSum{}});
  reduce_across(peers, in<float>, out<reduction::Extremes<float>>, 1000, SameBits{reduction::MinMax{}});
  reduce_across(peers, in<Large>, out<Large>, 1000, SameBits{AddLarge{}});
  static_assert(reduction::mailbox_bytes<Large>() > reduction::partial_bytes<float>());
  reduction::part_of<Point>(1000, 1, 2);
}

/// Operations of one's own, and types that are no numbers or fill no vector.
void own() {
  same_type<::cuda::std::complex<float>>(reduction::Sum{});
  same_type<Point>(AddPoints{1});
  same_type<Large>(AddLarge{});
  same_type<std::uint16_t>(reduction::WithIdentity{BitOr{}, std::uint16_t{0}});
#ifdef __CUDACC_EXTENDED_LAMBDA__
  const float scale = 2;
  const auto larger = [] __device__(float a, float b) { return a < b ? b : a; };
  const auto smaller = [] __host__ __device__(float a, float b) { return a < b ? a : b; };
  const auto scaled = [=] __device__(float a) { return scale * a; };
  same_type<float>(reduction::WithIdentity{larger, 0.0f});
  same_type<float>(reduction::WithIdentity{smaller, 1.0f});
  transform_reduce(in<float>, out<float>, 1000, reduction::WithIdentity{larger, 0.0f}, scaled, 1.0f);
#endif
}

/// Another accumulator, an init, a transform.
void accumulators() {
  reduce(in<std::int8_t>, out<int>, 1000, reduction::Sum{});
  reduce(in<std::uint16_t>, out<unsigned long long>, 1000, reduction::Sum{}, 1);
  reduce(in<__half>, out<float>, 1000, reduction::Sum{});
  reduce<double>(in<float>, out<float>, 1000, reduction::Sum{}, 0.0);
  reduce<long long>(in<int>, out<float>, 1000, reduction::Max{}, 0);
  transform_reduce(in<__nv_bfloat16>, out<float>, 1000, reduction::Max{}, Square{}, 0.0f, nullptr);
  transform_reduce(in<float>, out<reduction::Indexed<float>>, 1000, reduction::ArgMax{}, Square{});
}

/// Every form of a call.
cudaError_t calls(void* storage, std::size_t& bytes, cudaStream_t stream) {
  const reduction::Sum sum;
  const reduction::SameBits same{sum};
  reduce(in<int>, out<int>, std::size_t{1}, sum);
  reduce(in<int>, out<int>, 1LL, sum, nullptr);
  reduce(in<int>, out<int>, std::int8_t{1}, sum, Stream{});
  reduce(out<int>, out<int>, 1, sum, 0, Stream{});
  reduce(storage, bytes, in<int>, out<int>, 1, sum);
  reduce(storage, bytes, in<int>, out<int>, 1, sum, 0, stream);
  reduce<long long>(storage, bytes, in<int>, out<int>, 1, sum, 0, stream);
  transform_reduce(nullptr, bytes, in<int>, out<int>, 1, sum, Square{});
  transform_reduce(in<int>, out<float>, out<float>, 1, sum, Times{}, 0.0f, stream);
  transform_reduce(storage, bytes, in<std::int8_t>, in<double>, out<double>, 1, same, Times{});
  reduce(in<int>, out<int>, reduction::OnDevice{out<int>, 1}, sum, stream);
  transform_reduce(storage, bytes, in<int>, in<int>, out<int>, reduction::OnDevice{in<short>, 1}, same,
                   Times{});
  return transform_reduce<long long>(storage, bytes, in<int>, out<int>, 1, sum, Square{}, 0, stream);
}
