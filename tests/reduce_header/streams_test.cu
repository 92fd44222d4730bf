/// \file
/// What 12's header promises of streams, threads, graphs and memory, and of one call after another: on a GPU only.

#include <thread>

#include "reduce_header/suite.cuh"

namespace reduction {
namespace {

class Stream {
 public:
  Stream() { cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void synchronize() const { cuda_check(cudaStreamSynchronize(stream_), "waiting for a stream"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A graph of what `call` queues on a stream.
class Graph {
 public:
  template <typename Call> Graph(cudaStream_t stream, Call call) {
    cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "beginning a capture");
    EXPECT_EQ(call(), cudaSuccess);
    cuda_check(cudaStreamEndCapture(stream, &graph_), "ending a capture");
  }
  ~Graph() { cudaGraphDestroy(graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  operator cudaGraph_t() const { return graph_; }
  std::size_t nodes() const {
    std::size_t count = 0;
    cuda_check(cudaGraphGetNodes(graph_, nullptr, &count), "counting nodes");
    return count;
  }

 private:
  cudaGraph_t graph_ = nullptr;
};

/// Of 4 bytes: one small block, one large block, a block per tile of small ones and of large ones.
constexpr std::size_t method_sizes[] = {1, 1000, 8000, 40000, (1 << 22) + 7};
constexpr std::size_t n = (1 << 22) + 7;

/// In chunks, although any order gives the same sum: the header does not know that of this operation.
const SameBits sum_in_chunks{WithIdentity{Sum{}, 0}};

/// Sets `count` elements to `value`, and takes its time.
__global__ void set_slowly(int* in, std::size_t count, int value) {
  const long long start = clock64();
  while (clock64() - start < 1000000) {
  }
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x)
    in[i] = value;
}

/// Storage for any sum of int.
struct Storage {
  std::size_t bytes = 8192 * sizeof(int);
  DeviceArray<std::byte> memory{bytes};
};

// ---- streams ----

/// Each call finds its storage and its input as the one before leaves them, on two streams at a time.
template <typename Call> void expect_the_order_of_streams(Call call) {
  constexpr int turns = 20;
  const Stream streams[2];
  const DeviceArray<int> in[2]{DeviceArray<int>(n), DeviceArray<int>(n)};
  const DeviceArray<int> out[2]{DeviceArray<int>(turns), DeviceArray<int>(turns)};
  Storage storage[2];
  for (int turn = 0; turn < turns; ++turn) {
    for (int k = 0; k < 2; ++k) {
      set_slowly<<<64, 256, 0, streams[k]>>>(in[k].get(), n, turn + 100 * k);
      ASSERT_EQ(call(storage[k], in[k].get(), out[k].get() + turn, streams[k]), cudaSuccess);
    }
  }
  for (int k = 0; k < 2; ++k) {
    streams[k].synchronize();
    for (std::size_t turn = 0; turn < turns; ++turn)
      EXPECT_EQ(out[k].at(turn), static_cast<int>(n) * (static_cast<int>(turn) + 100 * k)) << "stream " << k;
  }
}

TEST_F(Reduce, KeepsTheOrderOfItsStream) {
  expect_the_order_of_streams([](Storage& storage, const int* in, int* out, const Stream& stream) {
    return reduction::reduce(storage.memory.get(), storage.bytes, in, out, n, Sum{}, stream);
  });
  expect_the_order_of_streams([](Storage&, const int* in, int* out, const Stream& stream) {
    return reduction::reduce(in, out, n, Sum{}, stream);
  });
}

/// What converts to a stream, as other libraries have it.
struct StreamView {
  cudaStream_t stream;
  operator cudaStream_t() const { return stream; }
};

struct Twice {
  __device__ int operator()(int value) const { return 2 * value; }
};

/// Every form queues what it queues on this stream: one kernel for a small input, two for a large one, and where it
/// brings no storage an allocation and its end.
template <typename Given> void expect_its_use(cudaStream_t stream, const Given& given) {
  const DeviceArray<int> in(std::vector<int>(n, 1));
  const DeviceArray<int> out(1);
  Storage storage;
  for (const std::size_t count : {std::size_t{100}, n}) {
    const auto expect_nodes = [&](auto call) {
      const std::size_t kernels = count == 100 ? 1 : 2;
      const Graph with_storage(
          stream, [&] { return call(storage.memory.get(), storage.bytes, in.get(), out.get(), count); });
      EXPECT_EQ(with_storage.nodes(), kernels) << count << " elements";
      const Graph alone(stream, [&] { return call(in.get(), out.get(), count); });
      EXPECT_EQ(alone.nodes(), count == 100 ? 1 : kernels + 2) << count << " elements";
    };
    expect_nodes(by(Sum{}, given));
    expect_nodes(by(Sum{}, 0, given));
    expect_nodes(transformed_by(Sum{}, Twice{}, given));
    expect_nodes(transformed_by(Sum{}, Twice{}, 7, given));
  }
}

TEST_F(Reduce, TakesWhatConvertsToAStream) {
  const Stream stream;
  expect_its_use(stream, static_cast<cudaStream_t>(stream));
  expect_its_use(stream, StreamView{stream});
  expect_its_use(cudaStreamPerThread, cudaStreamPerThread);
}

/// There are no global variables.
TEST_F(Reduce, MayBeCalledFromSeveralThreads) {
  constexpr std::size_t threads = 4;
  constexpr std::size_t turns = 200;
  const DeviceArray<int> in(std::vector<int>(n, 1));
  const DeviceArray<int> out(threads * turns);
  std::vector<std::thread> callers;
  std::vector<int> failures(threads, 0);
  for (std::size_t k = 0; k < threads; ++k) {
    callers.emplace_back([&, k] {
      for (std::size_t turn = 0; turn < turns; ++turn)
        failures[k] += reduction::reduce(in.get(), out.get() + k * turns + turn, n / (1 + turn % 7), Sum{},
                                         static_cast<int>(k), cudaStreamPerThread) != cudaSuccess;
      failures[k] += cudaStreamSynchronize(cudaStreamPerThread) != cudaSuccess;
    });
  }
  for (std::thread& caller : callers)
    caller.join();
  EXPECT_EQ(failures, std::vector<int>(threads, 0));
  const std::vector<int> sums = out.download();
  for (std::size_t k = 0; k < threads; ++k)
    for (std::size_t turn = 0; turn < turns; ++turn)
      ASSERT_EQ(sums[k * turns + turn], static_cast<int>(n / (1 + turn % 7) + k)) << "thread " << k;
}

// ---- graphs and memory ----

/// A graph of one call, which replays read what the input then holds.
template <typename Call> void expect_replays(std::size_t count, Call call) {
  const Stream stream;
  const DeviceArray<int> in(count);
  const DeviceArray<int> out(1);
  cudaGraphExec_t executable = nullptr;
  const Graph graph(stream, [&] { return call(in.get(), out.get(), stream); });
  cuda_check(cudaGraphInstantiate(&executable, graph, 0), "instantiating a graph");
  for (const int value : {1, -3, 8}) {
    set_slowly<<<64, 256, 0, stream>>>(in.get(), count, value);
    cuda_check(cudaGraphLaunch(executable, stream), "launching a graph");
    stream.synchronize();
    EXPECT_EQ(out.at(0), static_cast<int>(count) * value + 5) << count << " elements";
  }
  cuda_check(cudaGraphExecDestroy(executable), "destroying a graph");
}

template <typename Operation> void expect_to_be_captured(Operation operation) {
  for (const std::size_t count : method_sizes) {
    Storage storage;
    expect_replays(count, [&](const int* in, int* out, const Stream& stream) {
      return reduction::reduce(storage.memory.get(), storage.bytes, in, out, count, operation, 5, stream);
    });
    expect_replays(count, [&](const int* in, int* out, const Stream& stream) {
      return reduction::reduce(in, out, count, operation, 5, stream);
    });
  }
}

TEST_F(Reduce, CanBeCapturedIntoAGraph) {
  expect_to_be_captured(Sum{});
  expect_to_be_captured(sum_in_chunks);
  // What graphs have freed they give back on demand, and only that.
  std::uint64_t reserved = 1;
  cuda_check(cudaDeviceGraphMemTrim(0), "giving memory back");
  cuda_check(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &reserved),
             "asking for memory");
  EXPECT_EQ(reserved, 0u);
}

TEST_F(Reduce, LeavesNoMemoryBehind) {
  const DeviceArray<int> in(std::vector<int>(n, 1));
  const DeviceArray<int> out(1);
  cudaMemPool_t pool = nullptr;
  cuda_check(cudaDeviceGetDefaultMemPool(&pool, 0), "asking for the memory pool");
  const auto bytes = [pool](cudaMemPoolAttr attribute) {
    std::uint64_t value = 0;
    cuda_check(cudaDeviceSynchronize(), "waiting");
    cuda_check(cudaMemPoolGetAttribute(pool, attribute, &value), "asking for memory");
    return value;
  };
  EXPECT_EQ(bytes(cudaMemPoolAttrUsedMemCurrent), 0u);
  const Stream stream;
  for (int turn = 0; turn < 1000; ++turn) {
    ASSERT_EQ(reduction::reduce(in.get(), out.get(), n, Sum{}, stream), cudaSuccess);
    ASSERT_EQ(reduction::reduce(in.get(), out.get(), n, sum_in_chunks, stream), cudaSuccess);
    ASSERT_EQ(reduction::reduce(in.get(), out.get(), n, Sum{}), cudaSuccess);
    // What is refused takes no memory.
    ASSERT_EQ(reduction::reduce(in.get(), out.get(), -1, Sum{}, stream), cudaErrorInvalidValue);
  }
  EXPECT_EQ(bytes(cudaMemPoolAttrUsedMemCurrent), 0u);
  // One buffer at a time on each of two streams, not a thousand.
  EXPECT_LT(bytes(cudaMemPoolAttrUsedMemHigh), std::uint64_t{1} << 20);
}

// ---- one call after another ----

/// A number whose sums depend on the order in which they are added.
float rounded_number(std::size_t i) {
  return static_cast<float>(scattered(i)) * 1e-5f + small_number<float>(i) * 1e5f;
}

/// In every run; and in a copy at the same distance from a multiple of 128 bytes.
TEST_F(Reduce, GivesTheSameBitsInEveryRunAndOfACopy) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = rounded_number(i);
  const DeviceArray<float> in(values);
  for (const std::size_t count : method_sizes) {
    const auto once = result<float>(in, count, by(Sum{}));
    for (int run = 0; run < 500; ++run)
      ASSERT_TRUE(agree(result<float>(in, count, by(Sum{})), once))
          << "run " << run << ", " << count << " elements";
    for (const std::size_t past : {256, 4096, 1 << 20}) {
      const DeviceArray<float> copy(values.data(), count, past);
      EXPECT_TRUE(agree(result<float>(copy, count, by(Sum{})), once)) << past << " bytes further";
    }
  }
}

}  // namespace
}  // namespace reduction
