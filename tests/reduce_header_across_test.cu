/// \file
/// reduce_across() of beyond/12_any_operation's header on one GPU that stands for several: each has its own stream, part of
/// the input and memory for the others' results. All have the bits that reduce() has in SameBits. Skipped where there is no
/// CUDA device; many_gpus_on_gpus_test.py has the same on several.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "reduce_header.cuh"
#include "reduction/across.cuh"

namespace reduction {
namespace {

/// Kernels that wait for each other must not share one of the queues to the GPU, of which a process has 8 by default; and no
/// kernel may be loaded while one waits.
const bool can_wait_for_each_other =
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1) == 0 && setenv("CUDA_MODULE_LOADING", "EAGER", 1) == 0;

/// Calls that follow each other without a pause: some leave most GPUs without a chunk, and one has nothing at all.
const std::vector<std::size_t> calls{100003,        0,   5, 70001, 1, 300000, 2, 16389, (1 << 20) + 7,
                                     (1 << 24) + 3, 8192};
constexpr std::size_t most = (1 << 24) + 3;

template <typename T, typename A, typename Out> class Gpus {
 public:
  explicit Gpus(unsigned count) {
    for (unsigned rank = 0; rank < count; ++rank)
      gpus_.push_back(std::make_unique<Gpu>());
    for (unsigned rank = 0; rank < count; ++rank) {
      Peers& peers = gpus_[rank]->peers;
      peers.rank = rank;
      peers.count = count;
      peers.partial = gpus_[rank]->partial.get();
      for (unsigned k = 0; k < count; ++k)
        peers.mailboxes[k] = gpus_[k]->mailbox.get();
    }
  }

  /// Queues all calls on one GPU after the other: the first is as far ahead of the last as it may be. Returns each GPU's
  /// results.
  template <typename Operation, typename... Rest>
  std::vector<std::vector<Out>> results_of(const T* in, const std::vector<std::size_t>& sizes,
                                           const Operation& operation, const Rest&... rest) {
    for (const std::unique_ptr<Gpu>& gpu : gpus_) {
      gpu->results = std::make_unique<DeviceArray<Out>>(sizes.size());
      gpu->inputs.clear();
      for (const std::size_t n : sizes)
        gpu->inputs.push_back(in + part_of<T>(n, gpu->peers.rank, gpu->peers.count).first);
    }
    for (const std::unique_ptr<Gpu>& gpu : gpus_) {
      for (std::size_t call = 0; call < sizes.size(); ++call) {
        EXPECT_EQ(reduce_across(gpu->peers, gpu->inputs[call], gpu->results->get() + call, sizes[call],
                                SameBits{operation}, rest..., static_cast<cudaStream_t>(gpu->stream)),
                  cudaSuccess);
      }
    }
    std::vector<std::vector<Out>> results;
    for (const std::unique_ptr<Gpu>& gpu : gpus_) {
      gpu->stream.synchronize();
      results.push_back(gpu->results->download());
    }
    return results;
  }

 private:
  struct Gpu {
    Gpu() {
      cuda_check(cudaMemset(mailbox.get(), 0, mailbox_bytes<A>()), "clearing a mailbox");
      cuda_check(cudaDeviceSynchronize(), "clearing a mailbox");
    }

    Peers peers;
    DeviceArray<std::byte> mailbox{mailbox_bytes<A>()};
    DeviceArray<std::byte> partial{partial_bytes<A>()};
    Stream stream;
    std::vector<const T*> inputs;
    std::unique_ptr<DeviceArray<Out>> results;
  };
  std::vector<std::unique_ptr<Gpu>> gpus_;
};

/// Compares what 1, 2, 3, 5, 7 and 8 GPUs find with what one does; `start` elements after a multiple of 256 bytes.
template <typename A, typename Out, typename T, typename Operation, typename... Rest>
void expect_bits_of_one(const std::vector<T>& values, std::size_t start, const Operation& operation,
                        const Rest&... rest) {
  const DeviceArray<T> memory(values);
  const T* const in = memory.get() + start;
  const std::vector<Out> expected =
      results_of<Out>(calls.size(), [&](std::size_t i, void* storage, std::size_t& bytes, Out* out) {
        return reduction::reduce(storage, bytes, in, out, calls[i], SameBits{operation}, rest...);
      });
  for (const unsigned count : {1u, 2u, 3u, 5u, 7u, 8u}) {
    Gpus<T, A, Out> gpus(count);
    const auto results = gpus.results_of(in, calls, operation, rest...);
    for (unsigned rank = 0; rank < count; ++rank) {
      for (std::size_t call = 0; call < calls.size(); ++call)
        EXPECT_TRUE(same(results[rank][call], expected[call]))
            << calls[call] << " elements, GPU " << rank << " of " << count;
    }
  }
}

struct Vector3 {
  float x, y, z;
};
struct AddVectors {
  __device__ Vector3 operator()(const Vector3& a, const Vector3& b) const {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
};

TEST_F(Reduce, AcrossHasTheBitsOfOneGpu) {
  // Sevenths: the order shows in the bits.
  const auto element = [](std::size_t i) { return static_cast<float>(scattered(i) % 2001) / 7; };
  expect_bits_of_one<float, float>(values_of<float>(most, element), 0, Sum{});
  expect_bits_of_one<float, float>(values_of<float>(most + 1, element), 1, Sum{}, 0.1f);
  expect_bits_of_one<double, double>(values_of<double>(most, element), 0, Sum{});
  expect_bits_of_one<Compensated<double>, Bounded<double>>(values_of<float>(most, element), 0,
                                                           CompensatedSum{});
}

TEST_F(Reduce, AcrossTakesElementsOfAnySizeFromAnyAddress) {
  const auto byte = [](std::size_t i) { return static_cast<std::int8_t>(scattered(i)); };
  expect_bits_of_one<std::int8_t, std::int8_t>(values_of<std::int8_t>(most + 3, byte), 3, Max{});
  const auto vector = [](std::size_t i) {
    const auto component = [&](std::size_t k) { return static_cast<float>(scattered(i + k) % 2001) / 7; };
    return Vector3{component(0), component(1), component(2)};
  };
  expect_bits_of_one<Vector3, Vector3>(values_of<Vector3>(most + 1, vector), 1,
                                       WithIdentity{AddVectors{}, Vector3{0, 0, 0}});
}

/// Two GPUs in turn ahead of each other, for thousands of calls: an entry that is overwritten too early, or read half, changes
/// a sum.
TEST_F(Reduce, AcrossStaysRightForThousandsOfCalls) {
  constexpr std::size_t thousands = 20000;
  const DeviceArray<std::uint64_t> in(
      values_of<std::uint64_t>(40000, [](std::size_t i) { return scattered(i); }));
  const std::vector<std::uint64_t> values = in.download();
  std::vector<std::size_t> sizes;
  for (std::size_t call = 0; call < thousands; ++call)
    sizes.push_back(call % 7 == 0 ? 40000 - call % 100 : scattered(call) % 64);
  for (const unsigned count : {2u, 4u}) {
    Gpus<std::uint64_t, std::uint64_t, std::uint64_t> gpus(count);
    for (std::size_t first = 0; first < thousands;
         first += 200) {  // no more: a host waits where a queue is full
      const std::vector<std::size_t> some(sizes.begin() + static_cast<std::ptrdiff_t>(first),
                                          sizes.begin() + static_cast<std::ptrdiff_t>(first + 200));
      const auto results = gpus.results_of(in.get(), some, Sum{});
      for (std::size_t call = 0; call < some.size(); ++call) {
        const auto expected = sum_on_host<std::uint64_t>(values.data(), some[call]);
        for (unsigned rank = 0; rank < count; ++rank)
          ASSERT_EQ(results[rank][call], expected)
              << "call " << first + call << ", GPU " << rank << " of " << count;
      }
    }
  }
}

}  // namespace
}  // namespace reduction
