/// \file
/// How 12's header is called: init, nothing at all, the number of elements, the size of the storage, and what is refused.

#include <algorithm>

#include "reduce_header/suite.cuh"

namespace reduction {
namespace {

/// In chunks, although any order gives the same sum: the header does not know that of this operation.
const SameBits sum_in_chunks{WithIdentity{Sum{}, 0}};

struct Twice {
  __device__ float operator()(float value) const { return 2 * value; }
};
/// What fills no vector.
struct Three {
  int x, y, z;
  Three() = default;
  __host__ __device__ explicit Three(int value, int second = 2, int third = -3)
      : x(value), y(second), z(third) {}
  __host__ __device__ Three operator+(const Three& other) const {
    return Three(x + other.x, y + other.y, z + other.z);
  }
};

// ---- init ----

TEST_F(Reduce, InitIsFoldedInOnce) {
  const auto sum_plus_1000 = [](auto* begin, auto* end) {
    return sum<std::decay_t<decltype(*begin)>>()(begin, end) + 1000;
  };
  expect<int, int>(small_number<int>, sum_plus_1000, by(Sum{}, 1000));
  expect<unsigned, unsigned>(any_number<unsigned>, sum_plus_1000, by(sum_in_chunks, 1000));
  expect<float, float>(small_number<float>, sum_plus_1000, by(Sum{}, 1000));
}

/// Any integer is an init, 0 too; nullptr is a stream.
template <typename T> void expect_zero_to_be_an_init() {
  const auto one = [](std::size_t) { return T(1); };
  const auto of_all = [](T value) { return [=](auto*, auto*) { return value; }; };
  expect<T, T>(one, of_all(0), by(Product{}, 0));
  expect<T, T>(one, of_all(0), by(Product{}, false, nullptr));
  expect<T, T>(one, of_all(1), by(Product{}, nullptr));
}

TEST_F(Reduce, ZeroIsAnInit) {
  expect_zero_to_be_an_init<int>();
  expect_zero_to_be_an_init<double>();
}

// ---- nothing ----

/// Of no elements, wherever they are not.
template <typename Out, typename T = Out, typename... Rest> Out of_nothing(const Rest&... rest) {
  return result<Out>(static_cast<const T*>(nullptr), 0, by(rest...));
}

TEST_F(Reduce, NothingGivesTheIdentity) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(agree(of_nothing<float>(Sum{}), 0.0f)) << "not -0";
  EXPECT_TRUE(agree(of_nothing<float>(SameBits{Sum{}}), 0.0f)) << "not -0";
  EXPECT_EQ(of_nothing<float>(Product{}), 1);
  EXPECT_EQ(of_nothing<float>(Min{}), infinity);
  EXPECT_EQ(of_nothing<float>(Max{}), -infinity);
  EXPECT_EQ(of_nothing<float>(MinOrNaN{}), infinity);
  EXPECT_EQ(of_nothing<float>(MaxOrNaN{}), -infinity);
  EXPECT_EQ(of_nothing<float>(LogicalAnd{}), 1);
  EXPECT_EQ(of_nothing<float>(LogicalOr{}), 0);
  EXPECT_EQ(of_nothing<float>(WithIdentity{Min{}, 17}), 17);
  EXPECT_EQ(of_nothing<float>(SameBits{WithIdentity{Min{}, 17}}), 17);
  EXPECT_EQ(of_nothing<int>(Sum{}), 0);
  EXPECT_EQ(of_nothing<int>(Min{}), std::numeric_limits<int>::max());
  EXPECT_EQ(of_nothing<int>(Max{}), std::numeric_limits<int>::lowest());
  EXPECT_EQ((of_nothing<Indexed<float, unsigned>, float>(ArgMax{}).index), ~0u);
}

TEST_F(Reduce, NothingGivesTheInit) {
  EXPECT_EQ(of_nothing<float>(Sum{}, 3), 3);
  EXPECT_TRUE(agree(of_nothing<float>(Sum{}, -0.0f), -0.0f));
  EXPECT_EQ(of_nothing<float>(Product{}, 0), 0);
  EXPECT_EQ(of_nothing<float>(Min{}, 17.5), 17.5);
  EXPECT_EQ(of_nothing<float>(WithIdentity{Min{}, 17}, 18), 18);
  const Indexed<float> init{-8, 1000000};
  EXPECT_EQ((of_nothing<Indexed<float>, float>(ArgMin{}, init).index), 1000000);
}

// ---- n on the device ----

/// Calls for at most n elements, of which the device counts fewer, all, none, or more than there may be.
template <typename Out, typename T, typename ByHost, typename Operation>
void expect_as_many_as_counted(ByHost by_host, Operation operation) {
  for (const std::size_t n : sizes<T>()) {
    std::vector<T> values(n);
    for (std::size_t i = 0; i < n; ++i)
      values[i] = small_number<T>(i);
    const DeviceArray<T> in(values);
    const DeviceArray<long long> counted(1);
    const auto most = static_cast<long long>(n);
    for (const long long count : {most, most / 2, most - 1, most + 1, 1LL << 60, 1LL, 0LL, -1LL}) {
      counted.set(0, count);
      const auto found = result<Out>(in, OnDevice{counted.get(), n}, by(operation));
      const T* const end = values.data() + std::clamp(count, 0LL, most);
      ASSERT_TRUE(agree(found, by_host(values.data(), end))) << count << " of " << n;
    }
  }
}

TEST_F(Reduce, TakesTheNumberOfElementsFromTheDevice) {
  expect_as_many_as_counted<int, int>(sum<int>(), Sum{});
  expect_as_many_as_counted<float, float>(sum<float>(), Sum{});
  expect_as_many_as_counted<float, float>(sum<float>(), SameBits{Sum{}});
  expect_as_many_as_counted<short, short>(largest<short>(), Max{});
  expect_as_many_as_counted<Three, Three>(folded(Three(0, 0, 0), Sum{}), Sum{});
}

TEST_F(Reduce, ReplaysACapturedCallWithAnotherNumberOfElements) {
  constexpr std::size_t n = 40000;
  const DeviceArray<int> in(std::vector<int>(n, 1));
  const DeviceArray<int> out(2);
  const DeviceArray<unsigned> counted(1);
  const DeviceArray<std::byte> storage(8192 * sizeof(int));
  std::size_t bytes = 8192 * sizeof(int);
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cuda_check(cudaStreamCreate(&stream), "creating a stream");
  cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "beginning a capture");
  const OnDevice count{counted.get(), n};
  EXPECT_EQ(reduction::reduce(storage.get(), bytes, in.get(), out.get(), count, Sum{}, stream), cudaSuccess);
  EXPECT_EQ(reduction::reduce(storage.get(), bytes, in.get(), out.get() + 1, count, sum_in_chunks, 5, stream),
            cudaSuccess);
  cuda_check(cudaStreamEndCapture(stream, &graph), "ending a capture");
  cuda_check(cudaGraphInstantiate(&executable, graph, 0), "instantiating a graph");
  for (const unsigned now : {40000u, 0u, 12345u, 70000u}) {
    counted.set(0, now);
    cuda_check(cudaGraphLaunch(executable, stream), "launching a graph");
    cuda_check(cudaStreamSynchronize(stream), "waiting for a stream");
    EXPECT_EQ(out.at(0), static_cast<int>(std::min<std::size_t>(now, n)));
    EXPECT_EQ(out.at(1), out.at(0) + 5);
  }
  cuda_check(cudaGraphExecDestroy(executable), "destroying a graph");
  cuda_check(cudaGraphDestroy(graph), "destroying a graph");
  cuda_check(cudaStreamDestroy(stream), "destroying a stream");
}

// ---- n, and what is refused ----

class ReduceRefuses : public Reduce {
 protected:
  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(out_->at(0), 17) << "something was launched";
  }
  void SetUp() override {
    Reduce::SetUp();
    if (IsSkipped()) return;
    in_ = std::make_unique<DeviceArray<double>>(std::vector<double>(1 << 18, 1.0));
    out_ = std::make_unique<DeviceArray<float>>(std::vector<float>{17, 17});
  }
  std::unique_ptr<DeviceArray<double>> in_;
  std::unique_ptr<DeviceArray<float>> out_;
};

TEST_F(ReduceRefuses, ANegativeNumberOfElements) {
  const auto* const in = reinterpret_cast<const float*>(in_->get());
  float* const out = out_->get();
  const DeviceArray<std::byte> storage(1 << 20);
  const auto expect_a_refusal_of = [&](auto n) {
    std::size_t bytes = 77;
    EXPECT_EQ(reduction::reduce(nullptr, bytes, in, out, n, Sum{}), cudaErrorInvalidValue);
    EXPECT_EQ(bytes, 77u);
    bytes = 1 << 20;
    EXPECT_EQ(reduction::reduce(storage.get(), bytes, in, out, n, Sum{}, 3), cudaErrorInvalidValue);
    EXPECT_EQ(reduction::reduce(in, out, n, Sum{}), cudaErrorInvalidValue);
    EXPECT_EQ(reduction::transform_reduce(storage.get(), bytes, in, out, n, Sum{}, Twice{}, 1),
              cudaErrorInvalidValue);
    EXPECT_EQ(reduction::transform_reduce(in, out, n, Sum{}, Twice{}), cudaErrorInvalidValue);
  };
  expect_a_refusal_of(-1);
  expect_a_refusal_of(short{-1});
  expect_a_refusal_of(static_cast<signed char>(-128));
  expect_a_refusal_of(std::numeric_limits<long long>::min());
  expect_a_refusal_of(OnDevice{static_cast<const int*>(nullptr), -1});
}

TEST_F(ReduceRefuses, MoreElementsThanAnIndexCanCount) {
  const auto* const in = reinterpret_cast<const float*>(in_->get());
  using Pair = Indexed<float, std::int8_t>;
  const DeviceArray<Pair> found(1);
  EXPECT_EQ(reduction::reduce(in, found.get(), 127, ArgMin{}), cudaSuccess);
  EXPECT_EQ(reduction::reduce(in, found.get(), 128, ArgMin{}), cudaErrorInvalidValue);
  EXPECT_EQ(reduction::transform_reduce(in, found.get(), 128, ArgMax{}, Twice{}), cudaErrorInvalidValue);
  // Those that bring their index are not counted.
  const DeviceArray<Pair> pairs(std::vector<Pair>(1000, Pair{1, 2}));
  EXPECT_EQ(reduction::reduce(pairs.get(), found.get(), 1000, ArgMin{}), cudaSuccess);
}

TEST_F(ReduceRefuses, MisalignedAddresses) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(in_->get());
  float* const out = out_->get();
  for (const std::size_t n : {std::size_t{0}, std::size_t{1000}, std::size_t{1} << 17}) {
    for (std::size_t past = 1; past < 4; ++past) {
      const auto* const floats = reinterpret_cast<const float*>(bytes + past);
      EXPECT_EQ(reduction::reduce(floats, out, n, Sum{}), cudaErrorInvalidValue) << past;
      EXPECT_EQ(reduction::transform_reduce(floats, out, n, Sum{}, Twice{}), cudaErrorInvalidValue) << past;
      auto* const beside = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(out) + past);
      EXPECT_EQ(reduction::reduce(in_->get(), beside, n, Sum{}), cudaErrorInvalidValue) << past;
    }
    EXPECT_EQ(reduction::reduce(reinterpret_cast<const double*>(bytes + 4), out, n, Sum{}),
              cudaErrorInvalidValue);
    EXPECT_EQ(reduction::reduce(reinterpret_cast<const short*>(bytes + 1), out, n, Sum{}),
              cudaErrorInvalidValue);
    const OnDevice counted{reinterpret_cast<const int*>(bytes + 2), n};
    EXPECT_EQ(reduction::reduce(in_->get(), out, counted, Sum{}), cudaErrorInvalidValue);
  }
}

// ---- storage ----

template <typename Out, typename T, typename Call>
std::size_t storage_bytes(std::size_t n, const Call& call) {
  std::size_t bytes = 0;
  cuda_check(call(nullptr, bytes, static_cast<const T*>(nullptr), static_cast<Out*>(nullptr), n),
             "asking reduce()");
  return bytes;
}

/// What is enough for n elements is so for fewer. It is little beside them.
TEST_F(Reduce, NeedsNoMoreStorageForFewerElements) {
  std::size_t before = 0;
  for (std::size_t n = 1; n <= std::size_t{1} << 40; n = n + n / 3 + 1) {
    const auto of_float = storage_bytes<float, float>(n, by(Sum{}));
    EXPECT_GE(of_float, before) << n;
    EXPECT_LE(of_float, n / 500 + 8) << n;
    before = of_float;
    EXPECT_EQ((storage_bytes<float, float>(n, by(Max{}))), of_float) << n;
    EXPECT_EQ((storage_bytes<double, float>(n, by(Sum{}))), 2 * of_float) << n;
    EXPECT_EQ((storage_bytes<float, float>(n, by<double>(Sum{}))), 2 * of_float) << n;
    EXPECT_EQ((storage_bytes<Indexed<float>, float>(n, by(ArgMin{}))), 4 * of_float) << n;
    EXPECT_EQ((storage_bytes<float, float>(n, by(SameBits{Sum{}}))), 8192 * sizeof(float)) << n;
    EXPECT_EQ((storage_bytes<int, int>(n, by(SameBits{Sum{}}))), (storage_bytes<int, int>(n, by(Sum{}))))
        << n << ", of integers every order has the same bits";
  }
}

TEST_F(ReduceRefuses, StorageThatIsTooSmallOrMisaligned) {
  const double* const in = in_->get();
  for (const std::size_t n : {std::size_t{0}, std::size_t{1000}, std::size_t{1} << 18}) {
    const auto needed = storage_bytes<float, double>(n, by(Sum{}));
    const DeviceArray<std::byte> storage(needed + 1);
    const auto expect_a_refusal = [&](std::size_t past, std::size_t bytes, auto operation) {
      const std::size_t given = bytes;
      EXPECT_EQ(reduction::reduce(storage.get() + past, bytes, in, out_->get(), n, operation),
                cudaErrorInvalidValue);
      EXPECT_EQ(bytes, given);
    };
    if (needed > 0) expect_a_refusal(0, needed - 1, Sum{});
    expect_a_refusal(1, needed, Sum{});
    expect_a_refusal(0, needed, SameBits{Sum{}});
  }
}

}  // namespace
}  // namespace reduction
