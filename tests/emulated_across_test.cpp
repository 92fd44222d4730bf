/// reduction/across.cuh on emulated devices, each in a process of its own, which share memory: every one has the bits that one
/// device alone has from reduce() in SameBits.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <vector>

#include "emulated/device_array.hpp"
#include "emulated/memory/peer_memory.hpp"
#include "reduction/across.cuh"

namespace {

using __emulated::DeviceArray;

/// Memory that processes share which fork after it was made: zeros.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes)
      : bytes_(bytes),
        memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~SharedMemory() { munmap(memory_, bytes_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  std::byte* begin() const { return static_cast<std::byte*>(memory_); }

 private:
  std::size_t bytes_;
  void* memory_;
};

/// Runs body(0), body(1), ... at the same time, in processes of their own. This one has run no kernel, and has no threads.
void expect_all_end(unsigned count, const std::function<void(unsigned)>& body) {
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

/// Calls that follow each other without a pause: one has nothing at all, and some leave most ranks without a chunk, several
/// in a row. These use the same entries of the mailboxes, which nobody may overwrite before the last rank has read them.
constexpr std::size_t first_of_small = 3;
constexpr std::size_t calls[] = {100003, 0, 5, 70001, 1, 300000, 2, 16389, first_of_small, 4, 6, 7, 100003};

std::uint32_t drawn(std::size_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  return static_cast<std::uint32_t>(z >> 32);
}
template <typename T> T element(std::size_t index) { return static_cast<T>(drawn(index) % 2001) / T(7); }
template <> std::int8_t element(std::size_t index) { return static_cast<std::int8_t>(drawn(index)); }

struct Vector3 {
  float x, y, z;
};
template <> Vector3 element(std::size_t index) {
  return {element<float>(index), element<float>(index + 1), element<float>(index + 2)};
}
struct AddVectors {
  __device__ Vector3 operator()(const Vector3& a, const Vector3& b) const {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
};

/// Elements `first` to `first + count - 1` on the device, `start` elements after a multiple of 64 bytes.
template <typename T> class Elements {
 public:
  Elements(std::size_t first, std::size_t count, std::size_t start) : array_{start + count}, start_{start} {
    for (std::size_t i = 0; i < count; ++i)
      array_[start + i] = element<T>(first + i);
    array_.forget(0, start);
  }
  const T* begin() const { return array_.begin() + start_; }

 private:
  DeviceArray<T> array_;
  std::size_t start_;
};

/// Compares what 1, 2, 3, 5, 7 and 8 ranks leave with what one device does.
template <typename T, typename A, typename Out, typename Operation, typename... Rest>
void expect_bits_of_one(const Operation& operation, std::size_t start, const Rest&... rest) {
  const reduction::SameBits same{operation};
  constexpr std::size_t count_of_calls = sizeof(calls) / sizeof(calls[0]);
  const SharedMemory expected(count_of_calls * sizeof(Out));
  expect_all_end(1, [&](unsigned) {
    for (std::size_t call = 0; call < count_of_calls; ++call) {
      const Elements<T> in(0, calls[call], start);
      DeviceArray<Out> out{1};
      EXPECT_EQ(reduction::reduce(in.begin(), out.begin(), calls[call], same, rest...), cudaSuccess);
      std::memcpy(expected.begin() + call * sizeof(Out), out.begin(), sizeof(Out));
    }
  });
  for (const unsigned count : {1u, 2u, 3u, 5u, 7u, 8u}) {
    const std::size_t mailbox = reduction::mailbox_bytes<A>();
    const SharedMemory mailboxes(count * mailbox);
    expect_all_end(count, [&](unsigned rank) {
      DeviceArray<std::max_align_t> partial{reduction::partial_bytes<A>() / sizeof(std::max_align_t) + 1};
      reduction::Peers peers;
      peers.rank = rank;
      peers.count = count;
      peers.partial = partial.begin();
      for (unsigned k = 0; k < count; ++k)
        peers.mailboxes[k] = mailboxes.begin() + k * mailbox;
      for (std::size_t call = 0; call < count_of_calls; ++call) {
        const reduction::Part part = reduction::part_of<T>(calls[call], rank, count);
        const Elements<T> in(part.first, part.count, start);
        DeviceArray<Out> out{1};
        out.forget(0, 1);
        if (drawn(rank * 100 + call) % 4 == 0) usleep(3000);  // so that others are ahead of it
        if (calls[call] == first_of_small && rank == count - 1) usleep(50000);
        EXPECT_EQ(reduction::reduce_across(peers, in.begin(), out.begin(), calls[call], same, rest...),
                  cudaSuccess);
        EXPECT_EQ(std::memcmp(out.begin(), expected.begin() + call * sizeof(Out), sizeof(Out)), 0)
            << calls[call] << " elements, rank " << rank << " of " << count;
      }
    });
  }
}

TEST(Across, HasTheBitsOfOneDevice) {
  expect_bits_of_one<float, float, float>(reduction::Sum{}, 0);
  expect_bits_of_one<double, double, double>(reduction::Sum{}, 0);
}

TEST(Across, TakesElementsOfAnySizeFromAnyAddress) {
  expect_bits_of_one<std::int8_t, std::int8_t, std::int8_t>(reduction::Max{}, 3);
  expect_bits_of_one<float, float, float>(reduction::Sum{}, 1);
  expect_bits_of_one<Vector3, Vector3, Vector3>(reduction::WithIdentity{AddVectors{}, Vector3{0, 0, 0}}, 1);
}

TEST(Across, TakesWhatReduceTakes) {
  expect_bits_of_one<float, reduction::Compensated<double>, reduction::Bounded<double>>(
      reduction::CompensatedSum{}, 0);
  expect_bits_of_one<float, float, float>(reduction::Sum{}, 0, 0.1f, cudaStream_t{});
}

TEST(Across, PartsAreTheInputInOrderAndDifferByAChunk) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{8192}, std::size_t{8193},
                              std::size_t{1000003}, std::size_t{1} << 33}) {
    for (const unsigned count : {1u, 2u, 3u, 7u, 72u}) {
      std::size_t next = 0;
      const std::size_t longest = reduction::part_of<float>(n, 0, count).count;
      for (unsigned rank = 0; rank < count; ++rank) {
        const reduction::Part part = reduction::part_of<float>(n, rank, count);
        EXPECT_EQ(part.first, next);
        EXPECT_LE(part.count, longest);
        next += part.count;
      }
      EXPECT_EQ(next, n);
      EXPECT_LE(longest, n / count + (n >> 33 != 0 ? n / 8192 : 8192)) << n << " by " << count;
    }
  }
}

TEST(Across, RefusesARankThatCannotBe) {
  float* const none = nullptr;
  reduction::Peers peers;
  const reduction::SameBits sum{reduction::Sum{}};
  peers.count = 0;
  EXPECT_EQ(reduction::reduce_across(peers, none, none, 0, sum), cudaErrorInvalidValue);
  peers.count = reduction::most_peers + 1;
  EXPECT_EQ(reduction::reduce_across(peers, none, none, 0, sum), cudaErrorInvalidValue);
  peers.count = 2;
  peers.rank = 2;
  EXPECT_EQ(reduction::reduce_across(peers, none, none, 0, sum), cudaErrorInvalidValue);
  peers.rank = 0;
  EXPECT_EQ(reduction::reduce_across(peers, none, none, SIZE_MAX / 2, sum), cudaErrorInvalidValue);
  EXPECT_EQ(reduction::reduce_across(peers, none, none, std::size_t{1} << 46, sum), cudaErrorInvalidValue);
  alignas(8) std::byte mailbox[16];
  peers.mailboxes[0] = mailbox;
  peers.mailboxes[1] = mailbox + 4;
  EXPECT_EQ(reduction::reduce_across(peers, none, none, 0, sum), cudaErrorInvalidValue);
}

/// A mailbox with 4-byte results after so many calls.
void set_number_of_calls(const SharedMemory& mailbox, std::uint32_t number) {
  const std::uint64_t word = number;
  std::memcpy(mailbox.begin(), &word, sizeof(word));
}

TEST(Across, NumbersOfCallsMayWrapAround) {
  const std::size_t mailbox = reduction::mailbox_bytes<float>();
  const SharedMemory mailboxes[] = {SharedMemory(mailbox), SharedMemory(mailbox)};
  constexpr std::size_t n = 100003;
  const SharedMemory results(2 * sizeof(float));
  for (const SharedMemory& each : mailboxes)
    set_number_of_calls(each, 0xfffffffd);
  expect_all_end(2, [&](unsigned rank) {
    DeviceArray<float> partial{reduction::partial_bytes<float>() / sizeof(float)};
    reduction::Peers peers;
    peers.rank = rank;
    peers.count = 2;
    peers.partial = partial.begin();
    for (unsigned k = 0; k < 2; ++k)
      peers.mailboxes[k] = mailboxes[k].begin();
    const reduction::Part part = reduction::part_of<float>(n, rank, 2);
    const Elements<float> in(part.first, part.count, 0);
    DeviceArray<float> out{1};
    for (const std::size_t call : {std::size_t{0}, std::size_t{0}, n, std::size_t{0}}) {
      if (rank == 0) usleep(20000);  // its results come last, in words that were never written
      const float before = out[0];
      EXPECT_EQ(reduction::reduce_across(peers, in.begin(), out.begin(), call,
                                         reduction::SameBits{reduction::Sum{}}),
                cudaSuccess);
      if (call == 0) out[0] = before;
    }
    std::memcpy(results.begin() + rank * sizeof(float), out.begin(), sizeof(float));
  });
  float of_rank[2];
  std::memcpy(of_rank, results.begin(), sizeof(of_rank));
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    sum += static_cast<double>(element<float>(i));
  EXPECT_EQ(of_rank[0], of_rank[1]);
  EXPECT_NEAR(static_cast<double>(of_rank[0]), sum, 1e-5 * sum);
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
  const std::size_t mailbox = reduction::mailbox_bytes<T>();
  const SharedMemory mailboxes(2 * mailbox);
  expect_all_end(1, [&](unsigned) {
    __emulated::set_peer_limit(std::chrono::seconds(1));
    DeviceArray<std::max_align_t> partial{reduction::partial_bytes<T>() / sizeof(std::max_align_t) + 1};
    reduction::Peers peers;
    peers.rank = 1;
    peers.count = 2;
    peers.partial = partial.begin();
    peers.mailboxes[0] = mailboxes.begin();
    peers.mailboxes[1] = mailboxes.begin() + mailbox;
    const DeviceArray<T> in{reduction::part_of<T>(n, 1, 2).count};
    DeviceArray<T> out{1};
    EXPECT_THROW(static_cast<void>(reduction::reduce_across(peers, in.begin(), out.begin(), n,
                                                            reduction::SameBits{operation})),
                 __emulated::NoWordFromPeers);
  });
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
TEST(Across, AThreadThatWaitsLeavesTurnsToTheOthers) {
  expect_all_end(1, [](unsigned) {
    std::uint64_t word = 0;
    __emulated::set_peer_limit(std::chrono::seconds{5});
    __emulated::launch({1, 2, 0}, wait_for_the_other_thread, &word);
    EXPECT_EQ(word, 1u);
  });
}

/// However much the kernel computes between two questions.
TEST(Across, AWaitForPeersIsNoEndlessLoop) {
  expect_all_end(1, [](unsigned) {
    std::uint64_t word = 0;
    __emulated::set_loop_limit(std::chrono::milliseconds{100});
    __emulated::set_peer_limit(std::chrono::seconds{1});
    EXPECT_THROW(__emulated::launch({1, 1, 0}, wait_for_a_peer, &word), __emulated::NoWordFromPeers);
  });
}

TEST(Across, AKernelWhosePeersAreSilentEnds) {
  expect_silence_to_end<float>(reduction::Sum{}, 0);
  expect_silence_to_end<float>(reduction::Sum{}, 20000);
  expect_silence_to_end<Large>(reduction::WithIdentity{AddLarge{}, Large{}}, 1024);
}

}  // namespace
