/// \file
/// How beyond/12_any_operation's header is called: what it takes and refuses, its init, storage, streams and graphs.
/// Skipped where there is no CUDA device.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "reduce_header.cuh"

namespace reduction {
namespace {

/// Of 4 bytes: one small block, one large block, a cluster, two kernels.
const std::vector<std::size_t> method_sizes{1, 3, 1000, 8000, 40000, (1 << 20) + 7};

constexpr std::size_t ordered_elements = (1 << 20) + 7;

/// In chunks, although any order gives the same sum: the header does not know that of this operation.
const SameBits sum_in_chunks{WithIdentity{Sum{}, 0}};

// ---- init ----

TEST_F(Reduce, InitIsFoldedInOnce) {
  const auto reference = [](const int* values, std::size_t n) { return sum_on_host<int>(values, n) + 1000; };
  expect_the_hosts_result<int>(small_numbers<int>(all_sizes.back() + 3), all_sizes, offsets, reference,
                               by(Sum{}, 1000));
  expect_the_hosts_result<float>(
      small_numbers<float>(all_sizes.back() + 3), all_sizes, offsets,
      [](const float* values, std::size_t n) { return sum_on_host<float>(values, n) - 1000; },
      by(Sum{}, -1000));
  expect_the_hosts_result<int>(small_numbers<int>(all_sizes.back() + 3), all_sizes, offsets, reference,
                               by(sum_in_chunks, 1000));
}

/// Any integer is an init, 0 too; nullptr is a stream.
template <typename T> void expect_zero_to_be_an_init() {
  const DeviceArray<T> in(std::vector<T>(method_sizes.back(), 1));
  const DeviceArray<T> out(1);
  for (const std::size_t n : method_sizes) {
    EXPECT_EQ(result<T>(in.get(), n, by(Product{}, 0)), 0) << n << " elements";
    EXPECT_EQ(result<T>(in.get(), n, by(Product{}, 0, nullptr)), 0) << n << " elements";
    EXPECT_EQ(result<T>(in.get(), n, by(Product{})), 1) << n << " elements";
    EXPECT_EQ(result<T>(in.get(), n, by(Product{}, nullptr)), 1) << n << " elements";
    ASSERT_EQ(reduction::reduce(in.get(), out.get(), n, Product{}, 0), cudaSuccess);
    EXPECT_EQ(out.download()[0], 0) << n << " elements";
    ASSERT_EQ(reduction::reduce(in.get(), out.get(), n, Product{}, nullptr), cudaSuccess);
    EXPECT_EQ(out.download()[0], 1) << n << " elements";
    ASSERT_EQ(reduction::reduce(in.get(), out.get(), n, Product{}, false, nullptr), cudaSuccess);
    EXPECT_EQ(out.download()[0], 0) << n << " elements";
  }
}

TEST_F(Reduce, ZeroIsAnInit) {
  expect_zero_to_be_an_init<int>();
  expect_zero_to_be_an_init<float>();
  expect_zero_to_be_an_init<double>();
}

TEST_F(Reduce, NothingGivesTheIdentity) {
  const float* const nowhere = nullptr;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(same(result<float>(nowhere, 0, by(Sum{})), 0.0f)) << "not -0";
  EXPECT_EQ(result<float>(nowhere, 0, by(Product{})), 1);
  EXPECT_EQ(result<float>(nowhere, 0, by(Min{})), infinity);
  EXPECT_EQ(result<float>(nowhere, 0, by(Max{})), -infinity);
  EXPECT_EQ(result<float>(nowhere, 0, by(MinOrNaN{})), infinity);
  EXPECT_EQ(result<float>(nowhere, 0, by(MaxOrNaN{})), -infinity);
  EXPECT_EQ(result<float>(nowhere, 0, by(LogicalAnd{})), 1);
  EXPECT_EQ(result<float>(nowhere, 0, by(LogicalOr{})), 0);
  EXPECT_EQ(result<float>(nowhere, 0, by(WithIdentity{Min{}, 17})), 17);
  EXPECT_TRUE(same(result<float>(nowhere, 0, by(SameBits{Sum{}})), 0.0f));
  EXPECT_EQ(result<float>(nowhere, 0, by(SameBits{WithIdentity{Min{}, 17}})), 17);
  const int* const no_ints = nullptr;
  EXPECT_EQ(result<int>(no_ints, 0, by(Sum{})), 0);
  EXPECT_EQ(result<int>(no_ints, 0, by(Min{})), std::numeric_limits<int>::max());
  EXPECT_EQ(result<int>(no_ints, 0, by(Max{})), std::numeric_limits<int>::lowest());
}

TEST_F(Reduce, NothingGivesTheInit) {
  const float* const nowhere = nullptr;
  EXPECT_EQ(result<float>(nowhere, 0, by(Sum{}, 3)), 3);
  EXPECT_TRUE(same(result<float>(nowhere, 0, by(Sum{}, -0.0f)), -0.0f));
  EXPECT_EQ(result<float>(nowhere, 0, by(Product{}, 0)), 0);
  EXPECT_EQ(result<float>(nowhere, 0, by(Min{}, 17.5)), 17.5);
  EXPECT_EQ(result<float>(nowhere, 0, by(WithIdentity{Min{}, 17}, 18)), 18);
  const DeviceArray<float> out(1);
  ASSERT_EQ(reduction::reduce(nowhere, out.get(), 0, Sum{}, 5), cudaSuccess);
  EXPECT_EQ(out.download()[0], 5);
}

// ---- n, and what is refused ----

TEST_F(Reduce, AnyIntegerIsANumberOfElements) {
  const DeviceArray<int> in(small_numbers<int>(100));
  const int expected = sum_on_host<int>(in.download().data(), 100);
  const DeviceArray<int> out(1);
  const auto expect_it_of = [&](auto n) {
    ASSERT_EQ(reduction::reduce(in.get(), out.get(), n, Sum{}), cudaSuccess);
    EXPECT_EQ(out.download()[0], expected) << sizeof(n) << " bytes";
    std::size_t bytes = 0;
    ASSERT_EQ(reduction::reduce(nullptr, bytes, in.get(), out.get(), n, Sum{}), cudaSuccess);
    const DeviceArray<std::byte> storage(bytes);
    out.set(0, 0);
    ASSERT_EQ(reduction::reduce(storage.get(), bytes, in.get(), out.get(), n, Sum{}), cudaSuccess);
    EXPECT_EQ(out.download()[0], expected) << sizeof(n) << " bytes";
    out.set(0, 0);
  };
  expect_it_of(char{100});
  expect_it_of(static_cast<signed char>(100));
  expect_it_of(static_cast<unsigned char>(100));
  expect_it_of(short{100});
  expect_it_of(static_cast<unsigned short>(100));
  expect_it_of(100);
  expect_it_of(100u);
  expect_it_of(100l);
  expect_it_of(100ul);
  expect_it_of(100ll);
  expect_it_of(100ull);
}

bool is_untouched(const DeviceArray<float>& out) {
  cuda_check(cudaDeviceSynchronize(), "waiting");
  const float value = out.download()[0];
  unsigned char bytes[sizeof(float)];
  std::memcpy(bytes, &value, sizeof bytes);
  for (const unsigned char byte : bytes)
    if (byte != poison) return false;
  return true;
}

struct Twice {
  __device__ float operator()(float value) const { return 2 * value; }
};

TEST_F(Reduce, RefusesANegativeNumberOfElements) {
  const DeviceArray<float> in(std::vector<float>(1000, 1.0f));
  const DeviceArray<float> out(1);
  const DeviceArray<std::byte> storage(1 << 20);
  const auto expect_a_refusal_of = [&](auto n) {
    std::size_t bytes = 77;
    EXPECT_EQ(reduction::reduce(nullptr, bytes, in.get(), out.get(), n, Sum{}), cudaErrorInvalidValue);
    EXPECT_EQ(bytes, 77u);
    bytes = 1 << 20;
    EXPECT_EQ(reduction::reduce(storage.get(), bytes, in.get(), out.get(), n, Sum{}), cudaErrorInvalidValue);
    EXPECT_EQ(reduction::reduce(storage.get(), bytes, in.get(), out.get(), n, Sum{}, 3),
              cudaErrorInvalidValue);
    EXPECT_EQ(reduction::reduce(in.get(), out.get(), n, Sum{}), cudaErrorInvalidValue);
    EXPECT_EQ(reduction::transform_reduce(in.get(), out.get(), n, Sum{}, Twice{}), cudaErrorInvalidValue);
    EXPECT_EQ(reduction::transform_reduce(storage.get(), bytes, in.get(), out.get(), n, Sum{}, Twice{}, 1),
              cudaErrorInvalidValue);
  };
  expect_a_refusal_of(-1);
  expect_a_refusal_of(-1ll);
  expect_a_refusal_of(short{-1});
  expect_a_refusal_of(static_cast<signed char>(-128));
  expect_a_refusal_of(std::numeric_limits<int>::min());
  expect_a_refusal_of(std::numeric_limits<long long>::min());
  EXPECT_TRUE(is_untouched(out)) << "something was launched";
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Reduce, RefusesMoreElementsThanAnIndexCanCount) {
  const DeviceArray<float> in(std::vector<float>(1000, 1.0f));
  const DeviceArray<Indexed<float, std::int8_t>> out(1);
  const auto status = [&](std::size_t n) { return reduction::reduce(in.get(), out.get(), n, ArgMin{}); };
  EXPECT_EQ(status(127), cudaSuccess);
  EXPECT_EQ(status(128), cudaErrorInvalidValue);
  EXPECT_EQ(reduction::transform_reduce(in.get(), out.get(), 128, ArgMax{}, Twice{}), cudaErrorInvalidValue);
  // Those that bring their index are not counted.
  const DeviceArray<Indexed<float, std::int8_t>> pairs(1000);
  EXPECT_EQ(reduction::reduce(pairs.get(), out.get(), 1000, ArgMin{}), cudaSuccess);
  cuda_check(cudaDeviceSynchronize(), "waiting");
}

TEST_F(Reduce, RefusesAddressesThatAreMisaligned) {
  const DeviceArray<double> in(std::vector<double>(1 << 18, 1.0));
  const DeviceArray<float> out(2);
  const auto* const bytes_in = reinterpret_cast<const std::byte*>(in.get());
  auto* const bytes_out = reinterpret_cast<std::byte*>(out.get());
  for (const std::size_t n : {std::size_t{0}, std::size_t{1000}, std::size_t{1} << 17}) {
    for (std::size_t past = 1; past < 4; ++past) {
      const auto* const floats = reinterpret_cast<const float*>(bytes_in + past);
      EXPECT_EQ(reduction::reduce(floats, out.get(), n, Sum{}), cudaErrorInvalidValue) << past;
      EXPECT_EQ(reduction::transform_reduce(floats, out.get(), n, Sum{}, Twice{}), cudaErrorInvalidValue)
          << past;
      EXPECT_EQ(reduction::reduce(in.get(), reinterpret_cast<float*>(bytes_out + past), n, Sum{}),
                cudaErrorInvalidValue)
          << past;
    }
    const auto* const doubles = reinterpret_cast<const double*>(bytes_in + 4);
    EXPECT_EQ(reduction::reduce(doubles, out.get(), n, Sum{}), cudaErrorInvalidValue);
    const auto* const shorts = reinterpret_cast<const short*>(bytes_in + 1);
    EXPECT_EQ(reduction::reduce(shorts, out.get(), n, Sum{}), cudaErrorInvalidValue);
  }
  EXPECT_TRUE(is_untouched(out)) << "something was launched";
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

// ---- storage ----

template <typename Out, typename T, typename Operation>
std::size_t storage_bytes(const T* in, std::size_t n, Operation operation) {
  std::size_t bytes = 0;
  cuda_check(reduction::reduce(nullptr, bytes, in, static_cast<Out*>(nullptr), n, operation),
             "asking reduce()");
  return bytes;
}

TEST_F(Reduce, OnlySaysHowMuchStorageItNeeds) {
  const DeviceArray<float> in(ordered_elements);
  const DeviceArray<float> out(1);
  for (const std::size_t n : all_sizes) {
    std::size_t bytes = 0;
    ASSERT_EQ(reduction::reduce(nullptr, bytes, in.get(), out.get(), n, Sum{}), cudaSuccess);
    EXPECT_GT(bytes, 0u);
    EXPECT_LT(bytes, std::size_t{1} << 20);
  }
  EXPECT_TRUE(is_untouched(out));
}

/// One number for each accumulator.
TEST_F(Reduce, NeedsTheSameStorageForEveryN) {
  const float* const floats = nullptr;
  const std::int8_t* const bytes = nullptr;
  const std::size_t of_float = storage_bytes<float>(floats, 0, Sum{});
  for (std::size_t n = 1; n <= std::size_t{1} << 40; n = 2 * n + 1) {
    EXPECT_EQ(storage_bytes<float>(floats, n, Sum{}), of_float) << n << " elements";
    EXPECT_EQ(storage_bytes<float>(floats, n, Max{}), of_float) << n << " elements";
    EXPECT_EQ(storage_bytes<float>(bytes, n, Sum{}), of_float) << n << " elements";
    EXPECT_EQ(storage_bytes<double>(floats, n, Sum{}), 2 * of_float) << n << " elements";
    EXPECT_EQ(storage_bytes<Indexed<float>>(floats, n, ArgMin{}), 4 * of_float) << n << " elements";
    EXPECT_EQ(storage_bytes<std::int8_t>(bytes, n, Sum{}), of_float / 4) << n << " elements";
    std::size_t of_doubles = 0;
    ASSERT_EQ(reduction::reduce<double>(nullptr, of_doubles, floats, static_cast<float*>(nullptr), n, Sum{}),
              cudaSuccess);
    EXPECT_EQ(of_doubles, 2 * of_float) << n << " elements";
    EXPECT_EQ(storage_bytes<float>(floats, n, SameBits{Sum{}}), 8192 * sizeof(float)) << n << " elements";
    EXPECT_EQ(storage_bytes<int>(floats, n, SameBits{Sum{}}), 8192 * sizeof(int)) << n << " elements";
  }
}

TEST_F(Reduce, RefusesStorageThatIsTooSmallOrMisaligned) {
  const DeviceArray<double> in(std::vector<double>(1 << 22, 1.0));
  const DeviceArray<double> out(1);
  const double before = out.download()[0];
  for (const std::size_t n : {std::size_t{0}, std::size_t{1000}, std::size_t{1} << 22}) {
    const auto needed = storage_bytes<double>(in.get(), n, Sum{});
    const DeviceArray<std::byte> storage(needed + 1);
    std::size_t too_few = needed - 1;
    EXPECT_EQ(reduction::reduce(storage.get(), too_few, in.get(), out.get(), n, Sum{}),
              cudaErrorInvalidValue);
    std::size_t enough = needed;
    EXPECT_EQ(reduction::reduce(storage.get() + 1, enough, in.get(), out.get(), n, Sum{}),
              cudaErrorInvalidValue);
    EXPECT_EQ(too_few, needed - 1);
    EXPECT_EQ(enough, needed);
    enough = needed;
    EXPECT_EQ(reduction::reduce(storage.get(), enough, in.get(), out.get(), n, SameBits{Sum{}}),
              cudaErrorInvalidValue)
        << "it needs more than Sum alone";
  }
  cuda_check(cudaDeviceSynchronize(), "waiting");
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  const double after = out.download()[0];
  EXPECT_TRUE(same(after, before)) << "something was launched";
}

// ---- accumulators ----

/// 1 + 2^-30, 2^20 times: a float would lose the small part of each.
TEST_F(Reduce, AccumulatesInWhatTheCallSays) {
  const DeviceArray<float> in(values_of<float>(
      2 << 20, [](std::size_t i) { return i % 2 == 0 ? 1.0f : 1.0f / static_cast<float>(1 << 30); }));
  const DeviceArray<float> out(1);
  for (const std::size_t n : {3000u, 16000u, 65000u, 2u << 20}) {
    const double half = static_cast<double>(n / 2);
    const double sum = half + half / (1 << 30);
    const auto in_double = [](void* storage, std::size_t& bytes, const float* from, auto* to,
                              std::size_t count) {
      return reduction::reduce<double>(storage, bytes, from, to, count, Sum{});
    };
    EXPECT_EQ(result<double>(in.get(), n, in_double), sum) << n << " elements";
    EXPECT_EQ(result<double>(in.get(), n, by(Sum{})), sum) << n << " elements";
    EXPECT_EQ(result<float>(in.get(), n, in_double), static_cast<float>(sum)) << n << " elements";
    // -n/2 as init leaves only what a float would have lost.
    ASSERT_EQ(reduction::reduce<double>(in.get(), out.get(), n, Sum{}, -half), cudaSuccess);
    EXPECT_EQ(out.download()[0], static_cast<float>(half / (1 << 30))) << n << " elements";
    ASSERT_EQ(reduction::transform_reduce<double>(in.get(), out.get(), n, Sum{}, Twice{}, -2 * half),
              cudaSuccess);
    EXPECT_EQ(out.download()[0], static_cast<float>(2 * half / (1 << 30))) << n << " elements";
  }
}

// ---- streams ----

/// Sets n elements to `value`, and takes its time.
__global__ void set_slowly(int* in, std::size_t n, int value) {
  const long long start = clock64();
  while (clock64() - start < 1000000) {
  }
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    in[i] = value;
}

/// With the caller's storage and with the stream's.
template <typename Call> void expect_the_order_of_streams(Call call) {
  constexpr int turns = 20;
  const Stream streams[2];
  const DeviceArray<int> in[2]{DeviceArray<int>(ordered_elements), DeviceArray<int>(ordered_elements)};
  const DeviceArray<int> out[2]{DeviceArray<int>(turns), DeviceArray<int>(turns)};
  const std::size_t bytes = storage_bytes<int>(in[0].get(), ordered_elements, Sum{});
  const DeviceArray<std::byte> storage[2]{DeviceArray<std::byte>(bytes), DeviceArray<std::byte>(bytes)};
  // Each call finds its storage and its input as the one before leaves them, on two streams at a time.
  for (int turn = 0; turn < turns; ++turn) {
    for (int k = 0; k < 2; ++k) {
      set_slowly<<<64, 256, 0, streams[k]>>>(in[k].get(), ordered_elements, turn + 100 * k);
      ASSERT_EQ(call(storage[k].get(), bytes, in[k].get(), out[k].get() + turn, streams[k]), cudaSuccess);
    }
  }
  for (int k = 0; k < 2; ++k) {
    streams[k].synchronize();
    const std::vector<int> sums = out[k].download();
    for (int turn = 0; turn < turns; ++turn)
      EXPECT_EQ(sums[static_cast<std::size_t>(turn)], static_cast<int>(ordered_elements) * (turn + 100 * k))
          << "stream " << k << ", turn " << turn;
  }
}

TEST_F(Reduce, KeepsTheOrderOfItsStream) {
  expect_the_order_of_streams(
      [](void* storage, std::size_t bytes, const int* in, int* out, const Stream& stream) {
        return reduction::reduce(storage, bytes, in, out, ordered_elements, Sum{}, stream);
      });
}

TEST_F(Reduce, KeepsTheOrderOfItsStreamWithItsMemory) {
  expect_the_order_of_streams([](void*, std::size_t, const int* in, int* out, const Stream& stream) {
    return reduction::reduce(in, out, ordered_elements, Sum{}, stream);
  });
}

/// What converts to a stream, as other libraries have it.
struct StreamView {
  cudaStream_t stream;
  operator cudaStream_t() const { return stream; }
};

/// Returns the number of nodes that `call` queues on `stream`.
template <typename Call> std::size_t captured_nodes(cudaStream_t stream, Call call) {
  cudaGraph_t graph = nullptr;
  std::size_t nodes = 0;
  cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "beginning a capture");
  EXPECT_EQ(call(), cudaSuccess);
  cuda_check(cudaStreamEndCapture(stream, &graph), "ending a capture");
  cuda_check(cudaGraphGetNodes(graph, nullptr, &nodes), "counting nodes");
  cuda_check(cudaGraphDestroy(graph), "destroying a graph");
  return nodes;
}

/// Every form queues what it queues on this stream: one kernel for a small input, two for a large one, and where it
/// brings no storage an allocation and its end.
template <typename Given> void expect_its_use(cudaStream_t stream, const Given& given) {
  const DeviceArray<float> in(small_numbers<float>(ordered_elements));
  const DeviceArray<float> out(1);
  std::size_t bytes = storage_bytes<float>(in.get(), ordered_elements, Sum{});
  const DeviceArray<std::byte> storage(bytes);
  for (const std::size_t n : {std::size_t{100}, ordered_elements}) {
    const std::size_t with_storage = n == 100 ? 1 : 2;
    const std::size_t alone = n == 100 ? 1 : 4;
    const auto expect_nodes = [&](std::size_t nodes, auto call) {
      EXPECT_EQ(captured_nodes(stream, call), nodes) << n << " elements";
    };
    expect_nodes(alone, [&] { return reduction::reduce(in.get(), out.get(), n, Sum{}, given); });
    expect_nodes(alone, [&] { return reduction::reduce(in.get(), out.get(), n, Sum{}, 0, given); });
    expect_nodes(alone,
                 [&] { return reduction::transform_reduce(in.get(), out.get(), n, Sum{}, Twice{}, given); });
    expect_nodes(
        alone, [&] { return reduction::transform_reduce(in.get(), out.get(), n, Sum{}, Twice{}, 7, given); });
    expect_nodes(with_storage, [&] {
      return reduction::reduce(storage.get(), bytes, in.get(), out.get(), n, Sum{}, given);
    });
    expect_nodes(with_storage, [&] {
      return reduction::reduce(storage.get(), bytes, in.get(), out.get(), n, Sum{}, 7, given);
    });
    expect_nodes(with_storage, [&] {
      return reduction::transform_reduce(storage.get(), bytes, in.get(), out.get(), n, Sum{}, Twice{}, given);
    });
    expect_nodes(with_storage, [&] {
      return reduction::transform_reduce(storage.get(), bytes, in.get(), out.get(), n, Sum{}, Twice{}, 7,
                                         given);
    });
  }
}

TEST_F(Reduce, TakesWhatConvertsToAStream) {
  const Stream stream;
  expect_its_use(stream, stream);
  expect_its_use(stream, static_cast<cudaStream_t>(stream));
  expect_its_use(stream, StreamView{stream});
  expect_its_use(cudaStreamPerThread, cudaStreamPerThread);
}

TEST_F(Reduce, TakesTheStreamsThatHaveNames) {
  const DeviceArray<int> in(small_numbers<int>(ordered_elements));
  const DeviceArray<int> out(4);
  const int expected = sum_on_host<int>(in.download().data(), ordered_elements);
  EXPECT_EQ(reduction::reduce(in.get(), out.get(), ordered_elements, Sum{}, nullptr), cudaSuccess);
  EXPECT_EQ(reduction::reduce(in.get(), out.get() + 1, ordered_elements, Sum{}, cudaStreamLegacy),
            cudaSuccess);
  EXPECT_EQ(reduction::reduce(in.get(), out.get() + 2, ordered_elements, Sum{}, cudaStreamPerThread),
            cudaSuccess);
  EXPECT_EQ(reduction::reduce(in.get(), out.get() + 3, ordered_elements, Sum{}, 5, cudaStreamPerThread),
            cudaSuccess);
  cuda_check(cudaDeviceSynchronize(), "waiting");
  EXPECT_EQ(out.download(), (std::vector<int>{expected, expected, expected, expected + 5}));
}

/// There are no global variables.
TEST_F(Reduce, MayBeCalledFromSeveralThreads) {
  constexpr int threads = 4;
  constexpr int turns = 200;
  const DeviceArray<int> in(small_numbers<int>(ordered_elements + threads));
  const DeviceArray<int> out(threads * turns);
  std::vector<std::thread> callers;
  std::vector<int> failures(threads, 0);
  for (int k = 0; k < threads; ++k) {
    callers.emplace_back([&, k] {
      for (int turn = 0; turn < turns; ++turn) {
        const auto n = ordered_elements / static_cast<std::size_t>(1 + turn % 7);
        if (reduction::reduce(in.get() + k, out.get() + k * turns + turn, n, Sum{}, cudaStreamPerThread) !=
            cudaSuccess)
          ++failures[static_cast<std::size_t>(k)];
      }
      if (cudaStreamSynchronize(cudaStreamPerThread) != cudaSuccess) ++failures[static_cast<std::size_t>(k)];
    });
  }
  for (std::thread& caller : callers)
    caller.join();
  EXPECT_EQ(failures, std::vector<int>(threads, 0));
  const std::vector<int> values = in.download();
  const std::vector<int> sums = out.download();
  for (std::size_t k = 0; k < threads; ++k) {
    for (std::size_t turn = 0; turn < turns; ++turn)
      ASSERT_EQ(sums[k * turns + turn],
                sum_on_host<int>(values.data() + k, ordered_elements / (1 + turn % 7)))
          << "thread " << k << ", turn " << turn;
  }
}

// ---- graphs and memory ----

/// A graph of one call, which replays read what the input then holds.
template <typename Call> void expect_replays(std::size_t n, Call call) {
  const Stream stream;
  const DeviceArray<int> in(n);
  const DeviceArray<int> out(1);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "beginning a capture");
  EXPECT_EQ(call(in.get(), out.get(), stream), cudaSuccess);
  cuda_check(cudaStreamEndCapture(stream, &graph), "ending a capture");
  cuda_check(cudaGraphInstantiate(&executable, graph, 0), "instantiating a graph");
  for (const int value : {1, -3, 8}) {
    set_slowly<<<64, 256, 0, stream>>>(in.get(), n, value);
    cuda_check(cudaGraphLaunch(executable, stream), "launching a graph");
    stream.synchronize();
    EXPECT_EQ(out.download()[0], static_cast<int>(n) * value + 5) << n << " elements";
  }
  cuda_check(cudaGraphExecDestroy(executable), "destroying a graph");
  cuda_check(cudaGraphDestroy(graph), "destroying a graph");
}

TEST_F(Reduce, CanBeCapturedIntoAGraph) {
  const std::size_t bytes = storage_bytes<int>(static_cast<const int*>(nullptr), 0, Sum{});
  const DeviceArray<std::byte> storage(bytes);
  for (const std::size_t n : method_sizes) {
    expect_replays(n, [&](const int* in, int* out, const Stream& stream) {
      std::size_t enough = bytes;
      return reduction::reduce(storage.get(), enough, in, out, n, Sum{}, 5, stream);
    });
  }
  const std::size_t bytes_of_chunks = storage_bytes<int>(static_cast<const int*>(nullptr), 0, sum_in_chunks);
  const DeviceArray<std::byte> storage_of_chunks(bytes_of_chunks);
  for (const std::size_t n : method_sizes) {
    expect_replays(n, [&](const int* in, int* out, const Stream& stream) {
      std::size_t enough = bytes_of_chunks;
      return reduction::reduce(storage_of_chunks.get(), enough, in, out, n, sum_in_chunks, 5, stream);
    });
  }
}

TEST_F(Reduce, CanBeCapturedIntoAGraphWithItsMemory) {
  for (const std::size_t n : method_sizes) {
    expect_replays(n, [&](const int* in, int* out, const Stream& stream) {
      return reduction::reduce(in, out, n, Sum{}, 5, stream);
    });
    expect_replays(n, [&](const int* in, int* out, const Stream& stream) {
      return reduction::reduce(in, out, n, sum_in_chunks, 5, stream);
    });
  }
  // What graphs have freed they give back on demand, and only that.
  std::uint64_t reserved = 1;
  cuda_check(cudaDeviceGraphMemTrim(0), "giving memory back");
  cuda_check(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &reserved),
             "asking for memory");
  EXPECT_EQ(reserved, 0u);
}

TEST_F(Reduce, LeavesNoMemoryBehind) {
  const DeviceArray<int> in(small_numbers<int>(ordered_elements));
  const DeviceArray<int> out(1);
  cudaMemPool_t pool = nullptr;
  cuda_check(cudaDeviceGetDefaultMemPool(&pool, 0), "asking for the memory pool");
  const auto used = [pool] {
    std::uint64_t bytes = 0;
    cuda_check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes), "asking for memory");
    return bytes;
  };
  cuda_check(cudaDeviceSynchronize(), "waiting");
  EXPECT_EQ(used(), 0u);
  const Stream stream;
  for (int turn = 0; turn < 1000; ++turn) {
    ASSERT_EQ(reduction::reduce(in.get(), out.get(), ordered_elements, Sum{}, stream), cudaSuccess);
    ASSERT_EQ(reduction::reduce(in.get(), out.get(), ordered_elements, sum_in_chunks, stream), cudaSuccess);
    ASSERT_EQ(reduction::reduce(in.get(), out.get(), ordered_elements, Sum{}), cudaSuccess);
    // What is refused takes no memory.
    ASSERT_EQ(reduction::reduce(in.get(), out.get(), -1, Sum{}, stream), cudaErrorInvalidValue);
  }
  cuda_check(cudaDeviceSynchronize(), "waiting");
  EXPECT_EQ(used(), 0u);
  // One buffer at a time on each of two streams, not a thousand.
  std::uint64_t most = 0;
  cuda_check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most), "asking for memory");
  EXPECT_LT(most, std::uint64_t{1} << 20);
}

// ---- the order of the operations ----

TEST_F(Reduce, GivesTheSameBitsInEveryRunAndForm) {
  constexpr std::size_t runs = 1000;
  // Numbers whose sum depends on the order in which they are added.
  const DeviceArray<float> in(values_of<float>(ordered_elements, [](std::size_t i) {
    return static_cast<float>(any_number(i)) * 1e-5f + static_cast<float>(small_number(i)) * 1e5f;
  }));
  for (const std::size_t n : method_sizes) {
    const std::vector<float> sums =
        results_of<float>(runs, [&](std::size_t run, void* storage, std::size_t& bytes, float* out) {
          if (storage != nullptr && run % 2 == 1) return reduction::reduce(in.get(), out, n, Sum{});
          return reduction::reduce(storage, bytes, in.get(), out, n, Sum{});
        });
    for (const float sum : sums)
      ASSERT_TRUE(same(sum, sums[0])) << sum << " and " << sums[0] << " of " << n << " elements";
  }
}

/// The same distance from a multiple of 16 bytes, so the same order.
TEST_F(Reduce, GivesTheSameBitsForACopySomewhereElse) {
  const auto values = values_of<float>(ordered_elements, [](std::size_t i) {
    return static_cast<float>(any_number(i)) * 1e-5f + static_cast<float>(small_number(i)) * 1e5f;
  });
  const DeviceArray<float> here(values);
  const DeviceArray<float> there(2 * ordered_elements);
  for (const std::size_t shift : {4u, 64u, 100u, 4096u, 1000000u}) {
    cuda_check(cudaMemcpy(there.get() + shift, values.data(), ordered_elements * sizeof(float),
                          cudaMemcpyHostToDevice),
               "uploading");
    const auto a = result<float>(here.get(), ordered_elements, by(Sum{}));
    const auto b = result<float>(there.get() + shift, ordered_elements, by(Sum{}));
    EXPECT_TRUE(same(a, b)) << a << " and " << b << " from " << shift;
  }
}

// ---- beyond 1 GiB, where the header copies in bulk ----

class ReduceLargeCalls : public Reduce {};

TEST_F(ReduceLargeCalls, InitStreamsAndGraphs) {
  constexpr std::size_t n = bulk_elements<int>;
  const std::string reason = too_large((n + 1) * sizeof(int));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const DeviceArray<int> in(n + 1);
  set_all<<<1024, 256>>>(in.get(), n + 1, 1);
  const int count = static_cast<int>(n);
  EXPECT_EQ(result<int>(in.get(), n, by(Sum{})), count);
  EXPECT_EQ(result<int>(in.get(), n, by(Sum{}, 1000)), count + 1000);
  EXPECT_EQ(result<int>(in.get() + 1, n, by(Sum{}, -1000)), count - 1000);
  EXPECT_EQ(result<int>(in.get(), n, by(Product{})), 1);
  EXPECT_EQ(result<int>(in.get(), n, by(Product{}, 0)), 0);
  const DeviceArray<int> out(1);
  ASSERT_EQ(reduction::reduce(in.get(), out.get(), n, Sum{}, 7), cudaSuccess);
  EXPECT_EQ(out.download()[0], count + 7);
  for (const int* const from : {in.get(), in.get() + 1}) {
    ASSERT_EQ(reduction::reduce(from, out.get(), n, sum_in_chunks, 7), cudaSuccess);
    EXPECT_EQ(out.download()[0], count + 7);
  }
  expect_replays(n, [](const int* from, int* to, const Stream& stream) {
    return reduction::reduce(from, to, n, Sum{}, 5, stream);
  });
}

TEST_F(ReduceLargeCalls, GivesTheSameBitsInEveryRun) {
  constexpr std::size_t n = bulk_elements<float>;
  const std::string reason = too_large(n * sizeof(float));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const DeviceArray<std::uint32_t> numbers(n);
  set_quick_numbers<<<1024, 256>>>(numbers.get(), n);
  // As floats their sum rounds.
  const std::vector<float> sums =
      results_of<float>(20, [&](std::size_t, void* storage, std::size_t& bytes, float* out) {
        return reduction::reduce(storage, bytes, numbers.get(), out, n, Sum{});
      });
  for (const float sum : sums)
    ASSERT_TRUE(same(sum, sums[0])) << sum << " and " << sums[0];
}

}  // namespace
}  // namespace reduction
