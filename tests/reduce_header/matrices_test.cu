/// \file
/// 12's header for each row or column of a matrix: rows.cuh.

#include "reduction/rows.cuh"

#include "reduce_header/suite.cuh"

namespace reduction {
namespace {

// ---- matrices ----

struct Shape {
  std::size_t rows;
  std::size_t width;
  std::size_t gap = 0;  ///< elements between two rows
};

/// A matrix on the device, at any address, and on the host. Nobody may read what is between two rows.
template <typename T> class Matrix {
 public:
  template <typename Element>
  Matrix(Shape shape, std::size_t past, Element element)
      : rows(shape.rows),
        width(shape.width),
        stride(shape.width + shape.gap),
        values_(rows * stride, number<T>(100.0f)),
        past_(past) {
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t i = 0; i < width; ++i)
        values_[row * stride + i] = element(row * width + i);
    const std::size_t n = rows == 0 ? 0 : values_.size() - shape.gap;
    in_ = std::make_unique<DeviceArray<T>>(values_.data(), n, past);
  }

  const T* in() const { return in_->get(); }
  std::vector<T> row(std::size_t number) const {
    const auto first = values_.begin() + static_cast<std::ptrdiff_t>(number * stride);
    return {first, first + static_cast<std::ptrdiff_t>(width)};
  }
  std::vector<T> column(std::size_t number) const {
    std::vector<T> elements;
    for (std::size_t row = 0; row < rows; ++row)
      elements.push_back(values_[row * stride + number]);
    return elements;
  }
  std::string text() const {
    return std::to_string(rows) + " rows of " + std::to_string(width) + ", " + std::to_string(stride) +
           " apart, " + std::to_string(past_) + " bytes from a vector's start";
  }

  const std::size_t rows, width, stride;

 private:
  std::vector<T> values_;
  std::size_t past_;
  std::unique_ptr<DeviceArray<T>> in_;
};

/// Rows for one thread, some lanes, a block or several, in vectors of 16 bytes or not; and columns for as many.
template <typename T> std::vector<Shape> shapes() {
  constexpr std::size_t vector = sizeof(T) < 16 ? 16 / sizeof(T) : 1;
  std::vector<Shape> all{{0, 5}, {5, 0}, {3, 0, 4}, {1, 1}, {70, 1, 3}, {2000, 3}, {300, vector, vector}};
  for (const std::size_t vectors : {1, 2, 3, 4, 7, 33}) {
    all.push_back({70, vectors * vector});
    all.push_back({9, vectors * vector + 1, vector - 1});
  }
  all.push_back({3, 400 * vector - 1, 2});
  all.push_back({3, (4096 + 7) * vector});
  all.push_back({2, (2048 + 100) * vector + vector / 2, 1});
  if (!is_emulated) {
    all.push_back({40000, 100 * vector + 1});
    all.push_back({5000, 300 * vector});
    all.push_back({2100, 9000 * vector + 3, 5});
    all.push_back({100, 20000 * vector, vector});
  }
  return all;
}

/// Compares what call(in, out, rows, width, stride) leaves with by_host(begin, end) of each row or column.
template <typename Out, bool columns, typename T, typename ByHost, typename Call>
void expect_of(const Matrix<T>& matrix, ByHost by_host, const Call& call) {
  const std::size_t count = columns ? matrix.width : matrix.rows;
  const Out untouched = by_host(static_cast<T*>(nullptr), static_cast<T*>(nullptr));
  const DeviceArray<Out> out(std::vector<Out>(count + 1, untouched));
  cuda_check(call(matrix.in(), out.get(), matrix.rows, matrix.width, matrix.stride), "reducing");
  const std::vector<Out> found = out.download();
  for (std::size_t k = 0; k < count; ++k) {
    const std::vector<T> elements = columns ? matrix.column(k) : matrix.row(k);
    ASSERT_TRUE(
        agree(found[k], static_cast<Out>(by_host(elements.data(), elements.data() + elements.size()))))
        << (columns ? "column " : "row ") << k << " of " << matrix.text();
  }
  EXPECT_TRUE(agree(found[count], untouched)) << "behind the results of " << matrix.text();
}

template <typename Accumulator = detail::Default, typename... Rest> auto rows_by(Rest... rest) {
  return [=](auto... call) { return reduction::reduce_rows<Accumulator>(call..., rest...); };
}
template <typename Accumulator = detail::Default, typename... Rest> auto columns_by(Rest... rest) {
  return [=](auto... call) { return reduction::reduce_columns<Accumulator>(call..., rest...); };
}

/// Rows and columns of each shape, from two addresses.
template <typename Out, typename T, typename Element, typename ByHost, typename... Rest>
void expect_rows_and_columns(Element element, ByHost by_host, const Rest&... rest) {
  for (const Shape& shape : shapes<T>()) {
    for (const std::size_t past : {std::size_t{0}, alignof(T)}) {
      const Matrix<T> matrix(shape, past, element);
      expect_of<Out, false>(matrix, by_host, rows_by(rest...));
      if (matrix.rows * matrix.width < 1000000) expect_of<Out, true>(matrix, by_host, columns_by(rest...));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// ---- operations and types ----

TEST_F(Reduce, SumsRowsAndColumns) {
  expect_rows_and_columns<int, std::int8_t>(any_number<std::int8_t>, sum<int>(), Sum{});
  expect_rows_and_columns<short, short>(any_number<short>, sum<short>(), Sum{});
  expect_rows_and_columns<int, int>(any_number<int>, sum<int>(), SameBits{Sum{}});
  expect_rows_and_columns<float, __half>(small_number<__half>, sum<float>(), Sum{});
  expect_rows_and_columns<float, float>(small_number<float>, sum<float>(), Sum{});
  expect_rows_and_columns<float, float>(small_number<float>, sum<float>(), SameBits{Sum{}});
  expect_rows_and_columns<double, double>(small_number<double>, sum<double>(), Sum{});
}

TEST_F(Reduce, FindsExtremesOfRowsAndColumns) {
  expect_rows_and_columns<std::int8_t, std::int8_t>(any_number<std::int8_t>, largest<std::int8_t>(), Max{});
  expect_rows_and_columns<std::uint8_t, std::uint8_t>(any_number<std::uint8_t>, least<std::uint8_t>(), Min{});
  expect_rows_and_columns<__nv_bfloat16, __nv_bfloat16>(any_number<__nv_bfloat16>, largest<__nv_bfloat16>(),
                                                        Max{});
  expect_rows_and_columns<std::int64_t, std::int64_t>(any_number<std::int64_t>, least<std::int64_t>(), Min{});
  const auto nan = [](std::size_t) { return std::numeric_limits<float>::quiet_NaN(); };
  expect_rows_and_columns<float, float>(nan, least<float>(), Min{});
}

/// The place within the row or the column, of equal elements the first.
template <typename Out, typename T> auto first_of_largest() {
  return [](const T* begin, const T* end) {
    Out first{lowest<T>(), std::numeric_limits<decltype(Out::index)>::max()};
    if constexpr (Limits<T>::has_quiet_NaN) first.value = number<T>(Limits<T>::quiet_NaN());
    for (const T* at = begin; at != end; ++at)
      if (at == begin || plain(first.value) < plain(*at))
        first = {*at, static_cast<decltype(Out::index)>(at - begin)};
    return first;
  };
}

TEST_F(Reduce, FindsPlacesInRowsAndColumns) {
  using reduction::Indexed;
  expect_rows_and_columns<Indexed<float>, float>(small_number<float>,
                                                 first_of_largest<Indexed<float>, float>(), ArgMax{});
  expect_rows_and_columns<Indexed<std::int8_t, int>, std::int8_t>(
      any_number<std::int8_t>, first_of_largest<Indexed<std::int8_t, int>, std::int8_t>(), ArgMax{});
}

/// What fills no vector.
struct Three {
  float x, y, z;
  Three() = default;
  __host__ __device__ explicit Three(float value) : x(value), y(2 * value), z(-value) {}
  __host__ __device__ Three(float a, float b, float c) : x(a), y(b), z(c) {}
  __host__ __device__ Three operator+(const Three& other) const {
    return {x + other.x, y + other.y, z + other.z};
  }
};
/// Too large for many per block.
struct Large {
  float words[40];
  Large() = default;
  __host__ __device__ explicit Large(float value) {
    for (float& word : words)
      word = value++;
  }
  __host__ __device__ Large operator+(const Large& other) const {
    Large sum;
    for (int k = 0; k < 40; ++k)
      sum.words[k] = words[k] + other.words[k];
    return sum;
  }
};

TEST_F(Reduce, AddsStructsOfRowsAndColumns) {
  const auto three = [](std::size_t i) { return Three(small_number<float>(i)); };
  expect_rows_and_columns<Three, Three>(three, folded(Three(0), Sum{}), WithIdentity{Sum{}, 0.0f});
  expect_rows_and_columns<Three, Three>(three, folded(Three(0), Sum{}), SameBits{WithIdentity{Sum{}, 0.0f}});
  const auto large = [](std::size_t i) { return Large(small_number<float>(i)); };
  for (const Shape shape : {Shape{3, 70}, Shape{100, 5, 1}}) {
    const Matrix<Large> matrix(shape, 0, large);
    const auto added = [](const Large* begin, const Large* end) {
      Large total{};
      for (; begin != end; ++begin)
        total = total + *begin;
      return total;
    };
    expect_of<Large, false>(matrix, added, rows_by(WithIdentity{Sum{}, Large{}}));
    expect_of<Large, true>(matrix, added, columns_by(WithIdentity{Sum{}, Large{}}));
  }
}

struct Square {
  template <typename T> __device__ T operator()(const T& value) const { return T(value * value); }
};

TEST_F(Reduce, TransformsRowsAndColumnsAndBeginsEachWithTheInit) {
  const auto squares = [](const float* begin, const float* end) {
    double total = 1000;
    for (; begin != end; ++begin)
      total += *begin * *begin;
    return static_cast<float>(total);
  };
  cudaStream_t stream = nullptr;
  cuda_check(cudaStreamCreate(&stream), "creating a stream");
  for (const Shape& shape : shapes<float>()) {
    const Matrix<float> matrix(shape, 0, small_number<float>);
    expect_of<float, false>(matrix, squares, [&](auto... call) {
      const auto status = reduction::transform_reduce_rows<double>(call..., Sum{}, Square{}, 1000, stream);
      EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
      return status;
    });
    if (shape.rows * shape.width > 1000000) continue;
    expect_of<float, true>(matrix, squares, [&](auto... call) {
      return reduction::transform_reduce_columns(call..., SameBits{Sum{}}, Square{}, 1000.0f);
    });
  }
  cuda_check(cudaStreamDestroy(stream), "destroying a stream");
}

// ---- the same bits ----

/// No sum of these is exact.
template <typename T> T rounded_number(std::size_t i) {
  return number<T>(1.0 / static_cast<double>(scattered(i) % 1000 + 3) - 0.01);
}

/// A row alone, by reduce().
template <typename Out, typename T> auto alone() {
  return [](const T* begin, const T* end) {
    const auto n = static_cast<std::size_t>(end - begin);
    const DeviceArray<T> in(begin, n);
    const DeviceArray<Out> out(1);
    cuda_check(reduction::reduce(in.get(), out.get(), n, SameBits{Sum{}}), "reducing");
    return out.at(0);
  };
}

template <typename Out, typename T, typename Element> void expect_bits_of_rows_alone(Element element) {
  constexpr std::size_t vector = 16 % sizeof(T) == 0 ? 16 / sizeof(T) : 1;
  for (const std::size_t vectors : {1, 3, 16, 32, 33, 100, 511, 512, 513, 2048, 2049, 5000}) {
    for (const std::size_t more : {std::size_t{0}, vector - 1}) {
      for (const std::size_t gap : {std::size_t{0}, vector + 1}) {
        const Matrix<T> matrix({3, vectors * vector + more, gap}, more == 0 ? 0 : alignof(T), element);
        expect_of<Out, false>(matrix, alone<Out, T>(), rows_by(SameBits{Sum{}}));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(Reduce, LeavesARowTheBitsThatItHasAlone) {
  expect_bits_of_rows_alone<float, float>(rounded_number<float>);
  expect_bits_of_rows_alone<double, double>(rounded_number<double>);
  expect_bits_of_rows_alone<float, __half>(rounded_number<__half>);
  expect_bits_of_rows_alone<Three, Three>([](std::size_t i) { return Three(rounded_number<float>(i)); });
  const Matrix<float> many_chunks({2, 280001}, 0, rounded_number<float>);
  expect_of<float, false>(many_chunks, alone<float, float>(), rows_by(SameBits{Sum{}}));
}

/// A column of a matrix of its own, where nothing is beside it.
TEST_F(Reduce, LeavesAColumnTheBitsThatItHasAlone) {
  for (const std::size_t rows : {1, 40, 1000, 9000}) {
    for (const auto& [width, gap] : {std::pair{5, 0}, std::pair{8, 4}, std::pair{33, 2}}) {
      const Shape shape{rows, static_cast<std::size_t>(width), static_cast<std::size_t>(gap)};
      const Matrix<float> matrix(shape, 0, rounded_number<float>);
      const auto column_alone = [](const float* begin, const float* end) {
        const auto n = static_cast<std::size_t>(end - begin);
        const DeviceArray<float> in(begin, n);
        const DeviceArray<float> out(1);
        cuda_check(reduction::reduce_columns(in.get(), out.get(), n, 1, 1, SameBits{Sum{}}), "reducing");
        return out.at(0);
      };
      expect_of<float, true>(matrix, column_alone, columns_by(SameBits{Sum{}}));
    }
  }
}

/// CompensatedSum's bound is right for 2^20 additions, one after the other (compensated_sum.cuh).
TEST_F(Reduce, GivesNoThreadMoreOfAColumnThanABoundAllowsFor) {
  for (unsigned bits = 0; bits < 36; ++bits) {
    const std::size_t rows = (std::size_t{1} << bits) + 1;
    for (const unsigned enough : {1u, detail::same_column_parts, detail::enough_column_blocks}) {
      constexpr std::size_t tile_rows = detail::column_block<Compensated<double>> / 32;
      const std::size_t parts = detail::column_parts(rows, tile_rows, enough);
      EXPECT_LE(rows, parts * tile_rows << 20) << rows << " rows in " << parts << " parts";
    }
  }
}

// ---- what is refused ----

TEST_F(Reduce, RefusesWhatNoMatrixIs) {
  const DeviceArray<float> in(std::vector<float>(100, 1));
  const DeviceArray<float> out(std::vector<float>(10, 17));
  const DeviceArray<Indexed<float, std::int8_t>> places(200);
  const auto* const misaligned = reinterpret_cast<const float*>(reinterpret_cast<const char*>(in.get()) + 2);
  auto* const misaligned_out = reinterpret_cast<float*>(reinterpret_cast<char*>(out.get()) + 2);
  const auto expect_a_refusal_by = [&](const auto& reduce) {
    EXPECT_EQ(reduce(in.get(), out.get(), 3, 5, 4, Sum{}), cudaErrorInvalidValue)
        << "a stride below the width";
    EXPECT_EQ(reduce(in.get(), out.get(), -1, 5, 5, Sum{}), cudaErrorInvalidValue);
    EXPECT_EQ(reduce(in.get(), out.get(), 3, -5, 5, Sum{}), cudaErrorInvalidValue);
    EXPECT_EQ(reduce(in.get(), out.get(), 3, 0, -5, Sum{}), cudaErrorInvalidValue);
    EXPECT_EQ(reduce(in.get(), out.get(), 1ull << 40, 1, 1ull << 40, Sum{}), cudaErrorInvalidValue);
    EXPECT_EQ(reduce(in.get(), out.get(), 1ull << 62, 1, 1, Sum{}), cudaErrorInvalidValue);
    EXPECT_EQ(reduce(misaligned, out.get(), 3, 5, 5, Sum{}), cudaErrorInvalidValue);
    EXPECT_EQ(reduce(in.get(), misaligned_out, 3, 5, 5, Sum{}), cudaErrorInvalidValue);
  };
  expect_a_refusal_by([](auto... call) { return reduction::reduce_rows(call...); });
  expect_a_refusal_by([](auto... call) { return reduction::reduce_columns(call...); });
  EXPECT_EQ(reduction::reduce_rows(in.get(), places.get(), 1, 128, 128, ArgMax{}), cudaErrorInvalidValue);
  EXPECT_EQ(reduction::reduce_columns(in.get(), places.get(), 128, 1, 1, ArgMax{}), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.at(0), 17) << "something was launched";
}

// ---- more than 2^32 elements, on a GPU ----

class ReduceLargeRows : public Reduce {
 protected:
  /// Expects a call to leave `expected` in each of `count` results.
  template <typename Call> static void expect_all(std::size_t count, int expected, const Call& call) {
    const DeviceArray<int> out(count);
    const DeviceArray<Extremes<int>> both(1);
    cuda_check(call(out.get()), "reducing");
    cuda_check(reduction::reduce(out.get(), both.get(), count, MinMax{}), "comparing");
    EXPECT_EQ(both.at(0).smallest, expected);
    EXPECT_EQ(both.at(0).largest, expected);
  }
};

TEST_F(ReduceLargeRows, NeedMoreThan32BitsForAnIndex) {
  if (is_emulated) GTEST_SKIP() << "for a GPU's memory";
  constexpr std::size_t n = (std::size_t{1} << 32) + (1 << 20);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for the free memory");
  if (free_bytes < 2 * n) GTEST_SKIP() << "the GPU has too little free memory";
  const DeviceArray<std::int8_t> in(n);
  cuda_check(cudaMemset(in.get(), 1, n), "setting elements");
  for (const std::size_t width : {17, 1000, 65536, 1 << 20, 1 << 30}) {
    const std::size_t rows = n / width;
    expect_all(rows, static_cast<int>(width),
               [&](int* out) { return reduction::reduce_rows(in.get(), out, rows, width, width, Sum{}); });
    expect_all(width, static_cast<int>(rows),
               [&](int* out) { return reduction::reduce_columns(in.get(), out, rows, width, width, Sum{}); });
  }
  in.set(n - 1, 7);
  const DeviceArray<Indexed<std::int8_t>> place(1);
  cuda_check(reduction::reduce_rows(in.get(), place.get(), 1, n, n, ArgMax{}), "reducing");
  EXPECT_EQ(place.at(0).index, static_cast<long long>(n - 1));
  cuda_check(reduction::reduce_columns(in.get(), place.get(), n, 1, 1, ArgMax{}), "reducing");
  EXPECT_EQ(place.at(0).index, static_cast<long long>(n - 1));
}

}  // namespace
}  // namespace reduction
