/// \file
/// reduce_across() of 12's header: each of several ranks has the bits that reduce() alone has in SameBits.
///
/// On the emulated device each rank is a process of its own, which shares the mailboxes. On a GPU one device stands for all, each
/// with a stream of its own; many_gpus_on_gpus_test.py has the same on several.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>

#ifndef __CUDACC__
#include "emulated/memory/peer_memory.hpp"
#include "emulated/run/launch.hpp"
#endif
#include "reduce_header/suite.cuh"
#include "reduction/across.cuh"

namespace reduction {
namespace {

// ---- ranks ----

/// Memory that processes share which fork after it was made: zeros.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes)
      : bytes_(bytes),
        memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~SharedMemory() { munmap(memory_, bytes_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  std::byte* get() const { return static_cast<std::byte*>(memory_); }

 private:
  std::size_t bytes_;
  void* memory_;
};

#ifdef __CUDACC__
/// Kernels that wait for each other must not share one of the queues to the GPU, of which a process has 8 by default; and no
/// kernel may be loaded while one waits.
const bool can_wait_for_each_other =
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1) == 0 && setenv("CUDA_MODULE_LOADING", "EAGER", 1) == 0;

/// On the device, zeros.
class Mailboxes {
 public:
  explicit Mailboxes(std::size_t bytes) : memory_(bytes) {
    cuda_check(cudaMemset(memory_.get(), 0, bytes), "clearing mailboxes");
    cuda_check(cudaDeviceSynchronize(), "clearing mailboxes");
  }
  std::byte* get() const { return memory_.get(); }

 private:
  DeviceArray<std::byte> memory_;
};

void in_processes(unsigned, const std::function<void(unsigned)>& body) { body(0); }
#else
using Mailboxes = SharedMemory;

/// Runs body(0), body(1), ... at the same time, in processes of their own. This one has run no kernel, and has no threads.
void in_processes(unsigned count, const std::function<void(unsigned)>& body) {
  std::vector<pid_t> processes;
  for (unsigned rank = 0; rank < count; ++rank) {
    const pid_t process = fork();
    if (process == 0) {
      try {
        body(rank);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %u: %s\n", rank, error.what());
        _exit(1);
      }
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    processes.push_back(process);
  }
  for (const pid_t process : processes) {
    int status = 0;
    ASSERT_EQ(waitpid(process, &status, 0), process);
    EXPECT_EQ(status, 0) << "of " << count << " ranks";
  }
}
#endif

/// Makes a rank of each number, has all queue their calls and then check the results, `turns` times.
template <typename Make> void run_ranks(unsigned count, int turns, const Make& make) {
#ifdef __CUDACC__
  std::vector<decltype(make(0))> ranks;
  for (unsigned rank = 0; rank < count; ++rank)
    ranks.push_back(make(rank));
  for (int turn = 0; turn < turns && !testing::Test::HasFailure(); ++turn) {
    for (const auto& rank : ranks)
      rank->queue();
    for (const auto& rank : ranks)
      rank->check();
  }
#else
  in_processes(count, [&](unsigned number) {
    const auto rank = make(number);
    for (int turn = 0; turn < turns; ++turn) {
      rank->queue();
      rank->check();
    }
  });
#endif
}

/// The first elements of one input, which begins `past` bytes after a multiple of 256.
template <typename T> struct Calls {
  std::vector<std::size_t> sizes;
  std::vector<T> values;
  std::size_t past;
};

template <typename T, typename A, typename Out> class Rank {
 public:
  using Call = std::function<cudaError_t(const Peers& peers, const T* in, Out* out, std::size_t n,
                                         cudaStream_t stream)>;

  Rank(unsigned rank, unsigned count, const Mailboxes& mailboxes, const Calls<T>& calls, const Out* expected,
       Call call)
      : calls_(calls), expected_(expected), call_(std::move(call)), out_(calls.sizes.size()) {
    peers_.rank = rank;
    peers_.count = count;
    peers_.partial = partial_.get();
    for (unsigned k = 0; k < count; ++k)
      peers_.mailboxes[k] = mailboxes.get() + k * mailbox_bytes<A>();
    for (const std::size_t n : calls.sizes) {
      const Part part = part_of<T>(n, rank, count);
      in_.push_back(
          std::make_unique<DeviceArray<T>>(calls.values.data() + part.first, part.count, calls.past));
    }
    cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
  }
  ~Rank() { cudaStreamDestroy(stream_); }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  /// On a GPU the first rank is as far ahead of the last as it may be, on the emulated device any is ahead of others.
  void queue() {
    for (std::size_t i = 0; i < calls_.sizes.size(); ++i) {
      if (is_emulated && scattered(peers_.rank * 100 + i) % 4 == 0) usleep(3000);
      if (is_emulated && calls_.sizes[i] == 3 && peers_.rank == peers_.count - 1) usleep(50000);
      EXPECT_EQ(call_(peers_, in_[i]->get(), out_.get() + i, calls_.sizes[i], stream_), cudaSuccess);
    }
  }
  void check() {
    cuda_check(cudaStreamSynchronize(stream_), "waiting for a rank");
    const std::vector<Out> results = out_.download();
    for (std::size_t i = 0; i < results.size(); ++i)
      EXPECT_TRUE(agree(results[i], expected_[i]))
          << calls_.sizes[i] << " elements, rank " << peers_.rank << " of " << peers_.count;
  }

 private:
  const Calls<T>& calls_;
  const Out* expected_;
  Call call_;
  Peers peers_;
  DeviceArray<std::byte> partial_{partial_bytes<A>()};
  DeviceArray<Out> out_;
  std::vector<std::unique_ptr<DeviceArray<T>>> in_;
  cudaStream_t stream_ = nullptr;
};

/// Compares what `counts` ranks leave with what one device does alone.
template <typename A, typename Out, typename T, typename Operation, typename... Rest>
void expect_bits_of_one(const Calls<T>& calls, const std::vector<unsigned>& counts, int turns,
                        const Operation& operation, const Rest&... rest) {
  const SharedMemory memory(calls.sizes.size() * sizeof(Out));
  auto* const expected = reinterpret_cast<Out*>(memory.get());
  in_processes(1, [&](unsigned) {
    for (std::size_t i = 0; i < calls.sizes.size(); ++i) {
      const DeviceArray<T> in(calls.values.data(), calls.sizes[i], calls.past);
      expected[i] = result<Out>(in, calls.sizes[i], by(SameBits<Operation>{operation}, rest...));
    }
  });
  for (const unsigned count : counts) {
    const Mailboxes mailboxes(count * mailbox_bytes<A>());
    run_ranks(count, turns, [&](unsigned rank) {
      return std::make_unique<Rank<T, A, Out>>(
          rank, count, mailboxes, calls, expected,
          [&](const Peers& peers, const T* in, Out* out, std::size_t n, cudaStream_t stream) {
            return reduce_across(peers, in, out, n, SameBits<Operation>{operation}, rest..., stream);
          });
    });
  }
}

// ---- the bits ----

const std::vector<unsigned> all_counts{1, 2, 3, 5, 7, 8};

/// Calls that follow each other without a pause: one has nothing at all, and some leave most ranks without a chunk, several
/// in a row. These use the same entries of the mailboxes, which nobody may overwrite before the last rank has read them.
template <typename T, typename Element> Calls<T> calls_of(Element element, std::size_t past) {
  Calls<T> calls{{100003, 0, 5, 70001, 1, 300000, 2, 16389, 3, 4, 6, 7, 100003}, {}, past};
  if (!is_emulated) calls.sizes.insert(calls.sizes.end(), {(1 << 20) + 7, (1 << 22) + 3, 8192});
  for (std::size_t i = 0; i < (is_emulated ? 300000 : (1 << 22) + 3); ++i)
    calls.values.push_back(element(i));
  return calls;
}

/// Sevenths: the order shows in the bits.
template <typename T> T sevenths(std::size_t i) { return static_cast<T>(scattered(i) % 2001) / T(7); }

class ReduceAcross : public Reduce {};

TEST_F(ReduceAcross, HasTheBitsOfOneDevice) {
  const auto floats = calls_of<float>(sevenths<float>, 0);
  expect_bits_of_one<float, float>(floats, all_counts, 1, Sum{});
  expect_bits_of_one<float, float>(floats, all_counts, 1, Sum{}, 0.1f);
  expect_bits_of_one<Compensated<double>, Bounded<double>>(floats, all_counts, 1, CompensatedSum{});
}

struct Vector3 {
  float x, y, z;
};
struct AddVectors {
  __device__ Vector3 operator()(const Vector3& a, const Vector3& b) const {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
};

TEST_F(ReduceAcross, TakesElementsOfAnySizeFromAnyAddress) {
  expect_bits_of_one<float, float>(calls_of<float>(sevenths<float>, 4), all_counts, 1, Sum{});
  expect_bits_of_one<double, double>(calls_of<double>(sevenths<double>, 0), all_counts, 1, Sum{});
  expect_bits_of_one<std::int8_t, std::int8_t>(calls_of<std::int8_t>(any_number<std::int8_t>, 3), all_counts,
                                               1, Max{});
  const auto vector = [](std::size_t i) {
    return Vector3{sevenths<float>(i), sevenths<float>(i + 1), sevenths<float>(i + 2)};
  };
  expect_bits_of_one<Vector3, Vector3>(calls_of<Vector3>(vector, 12), all_counts, 1,
                                       WithIdentity<AddVectors, Vector3>{{}, {0, 0, 0}});
}

TEST(ReduceAcrossParts, AreTheInputInOrderAndDifferByAChunk) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{8192}, std::size_t{8193},
                              std::size_t{1000003}, std::size_t{1} << 33}) {
    for (const unsigned count : {1u, 2u, 3u, 7u, 72u}) {
      std::size_t next = 0;
      const std::size_t longest = part_of<float>(n, 0, count).count;
      for (unsigned rank = 0; rank < count; ++rank) {
        const Part part = part_of<float>(n, rank, count);
        EXPECT_EQ(part.first, next);
        EXPECT_LE(part.count, longest);
        next += part.count;
      }
      EXPECT_EQ(next, n);
      EXPECT_LE(longest, n / count + (n >> 33 != 0 ? n / 8192 : 8192)) << n << " by " << count;
    }
  }
}

TEST_F(ReduceAcross, RefusesARankThatCannotBe) {
  float* const none = nullptr;
  Peers peers;
  const auto expect_a_refusal = [&](unsigned rank, unsigned count, std::size_t n) {
    peers.rank = rank;
    peers.count = count;
    EXPECT_EQ(reduce_across(peers, none, none, n, SameBits<Sum>{}), cudaErrorInvalidValue)
        << rank << count << n;
  };
  expect_a_refusal(0, 0, 0);
  expect_a_refusal(0, most_peers + 1, 0);
  expect_a_refusal(2, 2, 0);
  expect_a_refusal(0, 2, SIZE_MAX / 2);
  expect_a_refusal(0, 2, std::size_t{1} << 46);
  alignas(8) std::byte mailbox[16];
  peers.mailboxes[0] = mailbox;
  peers.mailboxes[1] = mailbox + 4;
  expect_a_refusal(0, 2, 0);
}

#ifdef __CUDACC__
/// In turn ahead of each other: an entry that is overwritten too early, or read half, changes a sum.
TEST_F(ReduceAcross, StaysRightForThousandsOfCalls) {
  Calls<std::uint64_t> calls{{}, {}, 0};
  for (std::size_t i = 0; i < 200; ++i)  // no more: a host waits where a queue is full
    calls.sizes.push_back(i % 7 == 0 ? 40000 - i : scattered(i) % 64);
  for (std::size_t i = 0; i < 40000; ++i)
    calls.values.push_back(scattered(i));
  expect_bits_of_one<std::uint64_t, std::uint64_t>(calls, {2, 4}, 100, Sum{});
}
#else
// ---- on the emulated device, whose kernels say that nothing comes ----

TEST_F(ReduceAcross, NumbersOfCallsMayWrapAround) {
  Calls<float> calls{{0, 0, 100003, 0}, {}, 0};
  for (std::size_t i = 0; i < 100003; ++i)
    calls.values.push_back(static_cast<float>(scattered(i) % 8));
  const float expected[] = {0, 0, sum<float>()(calls.values.data(), calls.values.data() + 100003), 0};
  const Mailboxes mailboxes(2 * mailbox_bytes<float>());
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const std::uint64_t number = 0xfffffffd;
    std::memcpy(mailboxes.get() + rank * mailbox_bytes<float>(), &number, sizeof(number));
  }
  run_ranks(2, 1, [&](unsigned number) {
    return std::make_unique<Rank<float, float, float>>(
        number, 2, mailboxes, calls, expected,
        [](const Peers& peers, const float* in, float* out, std::size_t n, cudaStream_t stream) {
          if (peers.rank == 0) usleep(20000);  // its results come last, in words that were never written
          return reduce_across(peers, in, out, n, SameBits<Sum>{}, stream);
        });
  });
}

/// As large as results may be.
struct Large {
  float content[384];
};
struct AddLarge {
  __device__ Large operator()(const Large& a, const Large&) const { return a; }
};

template <typename T, typename Operation>
void expect_silence_to_end(const Operation& operation, std::size_t n) {
  const Mailboxes mailboxes(2 * mailbox_bytes<T>());
  in_processes(1, [&](unsigned) {
    __emulated::set_peer_limit(std::chrono::seconds(1));
    const Calls<T> calls{{n}, std::vector<T>(n), 0};
    Rank<T, T, T> rank(1, 2, mailboxes, calls, nullptr,
                       [&](const Peers& peers, const T* in, T* out, std::size_t count, cudaStream_t) {
                         return reduce_across(peers, in, out, count, SameBits<Operation>{operation});
                       });
    EXPECT_THROW(rank.queue(), __emulated::NoWordFromPeers);
  });
}

TEST_F(ReduceAcross, KernelWhosePeersAreSilentEnds) {
  expect_silence_to_end<float>(Sum{}, 0);
  expect_silence_to_end<float>(Sum{}, 20000);
  expect_silence_to_end<Large>(WithIdentity<AddLarge, Large>{{}, {}}, 1024);
}

__global__ void wait_for_a_peer(std::uint64_t* word) {
  while (cuda::atomic_ref<std::uint64_t>{*word}.load(cuda::memory_order_relaxed) == 0) {
    for (volatile unsigned i = 0; i < 100'000;)
      i = i + 1;
  }
}

__global__ void wait_for_the_other_thread(std::uint64_t* word) {
  const cuda::atomic_ref<std::uint64_t> shared{*word};
  if (threadIdx.x == 1) shared.store(1, cuda::memory_order_relaxed);
  while (shared.load(cuda::memory_order_relaxed) == 0) {
  }
}

/// As on a GPU, where each thread goes on.
TEST_F(ReduceAcross, ThreadThatWaitsLeavesTurnsToTheOthers) {
  in_processes(1, [](unsigned) {
    std::uint64_t word = 0;
    __emulated::set_peer_limit(std::chrono::seconds{5});
    wait_for_the_other_thread<<<1, 2>>>(&word);
    EXPECT_EQ(word, 1u);
  });
}

/// However much the kernel computes between two questions.
TEST_F(ReduceAcross, WaitForPeersIsNoEndlessLoop) {
  in_processes(1, [](unsigned) {
    std::uint64_t word = 0;
    __emulated::set_loop_limit(std::chrono::milliseconds{100});
    __emulated::set_peer_limit(std::chrono::seconds{1});
    EXPECT_THROW((wait_for_a_peer<<<1, 1>>>(&word)), __emulated::NoWordFromPeers);
  });
}
#endif

}  // namespace
}  // namespace reduction
