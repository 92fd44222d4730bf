/// Copies beside the threads that ask for them: kernels with and without a mistake, and programs that are drawn, beside an
/// oracle that knows when a copy is under way.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <cuda/pipeline>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/drawn_programs.hpp"
#include "emulated/expect_finding.hpp"

namespace {

using namespace __emulated;
using Words = DeviceArray<std::uint32_t>;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cg = cooperative_groups;

constexpr unsigned block = 64;

/// Expects that each block turns its part of the numbers round.
template <typename Kernel> void expect_reversed(Kernel kernel) {
  const Words in{2 * block}, out{2 * block};
  std::iota(in.begin(), in.end(), 0U);
  expect_finding([&] { kernel<<<2, block>>>(in, out); });
  for (unsigned i = 0; i < 2 * block; ++i)
    ASSERT_EQ(out[i], i / block * block + block - 1 - i % block);
}
template <typename Kernel> auto launch_of(Kernel kernel) {
  return [kernel] { kernel<<<2, block>>>(Words(2 * block, 1), Words(2 * block)); };
}
/// Expects one of several findings: which of them it is depends on who comes first.
template <typename Kernel> void expect_one_in_any_order(Kernel kernel) {
  for (const Order order : {Order::ascending, Order::descending, Order::random}) {
    set_schedule({order, 1});
    EXPECT_THROW(launch_of(kernel)(), KernelFinding);
  }
  set_schedule({});
}

// ---- copies that a thread waits for itself ----

enum class Mistake {
  none,
  no_commit,
  no_wait,
  one_group_too_few,
  no_barrier,
  not_aligned,
  no_second_barrier,
  too_few,
  too_many,
  not_made,
  other_barrier,
  odd_bytes
};
using enum Mistake;

template <Mistake mistake> __global__ void by_primitives(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ std::uint32_t tile[block];
  const unsigned tid = threadIdx.x, i = blockIdx.x * block + tid;
  if (mistake == not_aligned) {
    __pipeline_memcpy_async(&tile[tid], &in[i], 8);  // copy
  } else {
    __pipeline_memcpy_async(&tile[tid], &in[i], 4);  // ask
  }
  if (mistake != no_commit) __pipeline_commit();
  if (mistake != no_wait) __pipeline_wait_prior(mistake == one_group_too_few ? 1 : 0);
  if (mistake != no_barrier) __syncthreads();
  out[i] = tile[block - 1 - tid];  // read
}

TEST(AsynchronousCopies, OfAThreadAreThereOnceItHasWaited) {
  // no finding
  expect_reversed(by_primitives<none>);
  // unfinished copy in by_primitives: block 0, thread ... reads tile[...] at read; block 0, thread ... is copying to it at ask
  expect_finding(launch_of(by_primitives<no_commit>));
  // unfinished copy in by_primitives: block 0, thread ... reads tile[...] at read; block 0, thread ... is copying to it at ask
  expect_finding(launch_of(by_primitives<no_wait>));
  // unfinished copy in by_primitives: block 0, thread ... reads tile[...] at read; block 0, thread ... is copying to it at ask
  expect_finding(launch_of(by_primitives<one_group_too_few>));
  // misaligned access in by_primitives
  expect_finding(launch_of(by_primitives<not_aligned>));
}

TEST(AsynchronousCopies, OfAThreadAreItsOwnUntilABarrier) {
  expect_one_in_any_order(by_primitives<no_barrier>);
}

template <Mistake mistake> __global__ void in_two_buffers(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ std::uint32_t tile[2][block];
  const unsigned tid = threadIdx.x, i = blockIdx.x * block + tid;
  auto pipe = cuda::make_pipeline();
  for (unsigned turn = 0; turn <= 4; ++turn) {
    if (turn < 4) {
      pipe.producer_acquire();
      cuda::memcpy_async(&tile[turn % 2][tid], &in[i], sizeof(std::uint32_t), pipe);
      pipe.producer_commit();
    }
    if (turn == 0) continue;
    if (mistake != no_wait) {
      if (turn < 4) {
        cuda::pipeline_consumer_wait_prior<1>(pipe);
      } else {
        cuda::pipeline_consumer_wait_prior<0>(pipe);
      }
    }
    __syncthreads();
    out[i] = tile[(turn - 1) % 2][block - 1 - tid];
    if (mistake != no_second_barrier) __syncthreads();
  }
}

TEST(AsynchronousCopies, InTwoBuffers) {
  // no finding
  expect_reversed(in_two_buffers<none>);
  expect_one_in_any_order(in_two_buffers<no_wait>);
  expect_one_in_any_order(in_two_buffers<no_second_barrier>);
}

template <Mistake mistake> __global__ void by_a_group(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ std::uint32_t tile[block];
  const auto group = cg::this_thread_block();
  cg::memcpy_async(group, tile, in + blockIdx.x * block, sizeof(tile));  // ask
  if (mistake == no_wait) {
    group.sync();
  } else {
    cg::wait(group);
  }
  out[blockIdx.x * block + threadIdx.x] = tile[block - 1 - threadIdx.x];  // read
}

TEST(AsynchronousCopies, OfAGroup) {
  // no finding
  expect_reversed(by_a_group<none>);
  // unfinished copy in by_a_group: block 0, thread ... reads tile[...] at read; block 0, thread ... is copying to it at ask
  expect_finding(launch_of(by_a_group<no_wait>));
}

__global__ void copy_with_zeros(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ alignas(16) std::uint32_t tile[4];
  if (threadIdx.x != 0) return;
  __pipeline_memcpy_async(tile, in, 16, 8);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (unsigned k = 0; k < 4; ++k)
    out[k] = tile[k];
}

TEST(AsynchronousCopies, AreFilledUpWithZeros) {
  const Words in{4, 7}, out{4};
  copy_with_zeros<<<1, 32>>>(in, out);
  EXPECT_EQ((std::vector<std::uint32_t>{out.begin(), out.end()}), (std::vector<std::uint32_t>{7, 7, 0, 0}));
}

__global__ void write_the_source(std::uint32_t* in, std::uint32_t* out) {
  __shared__ std::uint32_t tile[block];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);  // ask
  __pipeline_commit();
  in[threadIdx.x] = 0;  // write
  __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[threadIdx.x];
}

TEST(AsynchronousCopies, ReadTheirSourceUntilTheyAreThere) {
  // unfinished copy in write_the_source: block 0, thread ... writes ... at write; block 0, thread ... is copying from it at ask
  expect_finding([] { write_the_source<<<1, block>>>(Words(block, 1), Words(block)); });
}

// ---- barrier objects ----

template <Mistake mistake> __global__ void at_a_barrier(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ std::uint32_t tile[block];
  __shared__ Barrier filled;
  const unsigned made_for = mistake == too_many ? block - 1 : mistake == too_few ? block + 1 : block;
  if (threadIdx.x == 0 && mistake != not_made) init(&filled, made_for);
  __syncthreads();
  cuda::memcpy_async(cg::this_thread_block(), tile, in + blockIdx.x * block, sizeof(tile), filled);  // ask
  if (mistake == no_wait) {
    (void)filled.arrive();
    __syncthreads();
  } else {
    filled.arrive_and_wait();  // meet
  }
  out[blockIdx.x * block + threadIdx.x] = tile[block - 1 - threadIdx.x];  // read
}

TEST(BarrierObjects, OpenOnceAllCopiesAreThere) {
  // no finding
  expect_reversed(at_a_barrier<none>);
  // unfinished copy in at_a_barrier: block 0, thread ... reads tile[...] at read; block 0, thread ... is copying to it at ask
  expect_finding(launch_of(at_a_barrier<no_wait>));
  // deadlock in at_a_barrier: block 0, threads 0-63 wait at the barrier filled at meet; help: of the 65 arrivals
  expect_finding(launch_of(at_a_barrier<too_few>));
  // uninitialised read in at_a_barrier: block 0, thread ... uses a barrier object that nobody has made at ask
  expect_finding(launch_of(at_a_barrier<not_made>));
}

template <bool waits> __global__ void exchange(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ std::uint32_t tile[block];
  __shared__ Barrier full, empty;
  if (threadIdx.x == 0) {
    init(&full, block);
    init(&empty, block);
  }
  __syncthreads();
  for (unsigned turn = 0; turn < 3; ++turn) {
    tile[threadIdx.x] = in[blockIdx.x * block + threadIdx.x];  // write
    auto token = full.arrive();
    full.wait(std::move(token));
    out[blockIdx.x * block + threadIdx.x] = tile[block - 1 - threadIdx.x];  // read
    if (waits) empty.arrive_and_wait();
  }
}

TEST(BarrierObjects, OrderWhatIsBeforeAndBehind) {
  // no finding
  expect_reversed(exchange<true>);
  // race in exchange: block 0, thread ... tile[...] at ...; block 0, thread ... it at ...
  expect_finding(launch_of(exchange<false>));
}

template <Mistake mistake> __global__ void with_stages(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ std::uint32_t tile[2][block];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const auto group = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(group, &state);
  for (unsigned turn = 0; turn <= 4; ++turn) {
    if (turn < 4) {
      if (mistake != no_second_barrier) pipe.producer_acquire();
      cuda::memcpy_async(group, tile[turn % 2], in + blockIdx.x * block, sizeof(tile[0]), pipe);
      pipe.producer_commit();
    }
    if (turn == 0) continue;
    if (mistake != no_wait) pipe.consumer_wait();
    out[blockIdx.x * block + threadIdx.x] = tile[(turn - 1) % 2][block - 1 - threadIdx.x];
    pipe.consumer_release();
  }
}

TEST(BarrierObjects, MakePipelines) {
  // no finding
  expect_reversed(with_stages<none>);
  expect_one_in_any_order(with_stages<no_wait>);
  expect_one_in_any_order(with_stages<no_second_barrier>);
}

// ---- copies in bulk ----

template <Mistake mistake> __global__ void in_bulk(const std::uint32_t* in, std::uint32_t* out) {
  __shared__ alignas(128) std::uint32_t tile[block];
  __shared__ alignas(128) std::uint32_t beside[block];
  __shared__ Barrier filled, other;
  const unsigned tid = threadIdx.x;
  constexpr std::size_t bytes = sizeof(tile) - (mistake == odd_bytes ? 4 : 0);
  constexpr std::ptrdiff_t expected = mistake == too_few    ? bytes + 16
                                      : mistake == too_many ? bytes - 16
                                                            : bytes;
  if (tid == 0) {
    init(&filled, 1);
    init(&other, 1);
  }
  __syncthreads();
  if (tid == 0) {
    const cuda::aligned_size_t<16> size{bytes};
    cuda::device::memcpy_async_tx(tile, in + blockIdx.x * block, size, filled);  // ask
    (void)cuda::device::barrier_arrive_tx(filled, 1, expected);
    cuda::device::memcpy_async_tx(beside, in, cuda::aligned_size_t<16>(16), other);
    (void)cuda::device::barrier_arrive_tx(other, 1, 16);
  }
  if (mistake == no_wait) __syncthreads();
  if (mistake == other_barrier ? tid == 5 : mistake != no_wait) filled.wait_parity(false);  // await
  other.wait_parity(false);
  out[blockIdx.x * block + tid] = tile[block - 1 - tid];  // read
}

TEST(BulkCopies, AreThereForThoseWhoWaitAtTheirBarrier) {
  // no finding
  expect_reversed(in_bulk<none>);
  // unfinished copy in in_bulk: block 0, thread ... reads tile[...] at read; block 0, thread 0 is copying to it at ask
  expect_finding(launch_of(in_bulk<no_wait>));
  // deadlock in in_bulk: block 0, threads 0-63 wait at the barrier filled at await; help: the barrier expects 16 bytes more
  expect_finding(launch_of(in_bulk<too_few>));
  // deadlock in in_bulk: block 0, threads 0-63 wait at the barrier filled at await; help: the copies bring 16 bytes more
  expect_finding(launch_of(in_bulk<too_many>));
  // misaligned access in in_bulk: block 0, thread 0 copies 252 bytes in bulk at ask
  expect_finding(launch_of(in_bulk<odd_bytes>));
  expect_one_in_any_order(in_bulk<other_barrier>);
}

// ---- programs that are drawn ----

constexpr unsigned threads = 4, words = 4, most_actions = 3;
constexpr unsigned steps = 4;
constexpr unsigned slots =
    2 * steps;  ///< of each step what is before its barrier, and between arriving and waiting there

enum class Does : unsigned char { nothing, load, store, copy, commit, wait, bind, write_source, bulk, await };
struct Action {
  Does does = Does::nothing;
  unsigned char operand = 0;  ///< a word, a number of groups, or a thread
};
enum class Meets : unsigned char { block_barrier, barrier_object, in_two_parts };
struct Program {
  Action action[threads][slots][most_actions];
  Meets meets[steps];
};

__attribute__((noinline)) void note_word(std::uint32_t word) { asm volatile("" : : "r"(word)); }

__device__ void act(const Action& action, unsigned self, std::uint32_t* tile, std::uint32_t* in, Barrier* all,
                    Barrier* of_threads) {
  const unsigned operand = action.operand;
  switch (action.does) {
    case Does::nothing: break;
    case Does::load: note_word(tile[operand]); break;
    case Does::store: tile[operand] = 1; break;
    case Does::copy: __pipeline_memcpy_async(tile + operand, in + operand, 4); break;
    case Does::commit: __pipeline_commit(); break;
    case Does::wait: __pipeline_wait_prior(operand); break;
    case Does::bind: __pipeline_arrive_on(cuda::device::barrier_native_handle(*all)); break;
    case Does::write_source: in[operand] = 1; break;
    case Does::bulk:
      cuda::device::memcpy_async_tx(tile, in, cuda::aligned_size_t<16>(16), of_threads[self]);
      (void)cuda::device::barrier_arrive_tx(of_threads[self], 1, 16);
      break;
    case Does::await: of_threads[operand].wait_parity(false); break;
  }
}

__global__ void interpret(Program program, std::uint32_t* in) {
  __shared__ alignas(16) std::uint32_t tile[words];
  __shared__ Barrier all, of_threads[threads];
  const unsigned self = threadIdx.x < 2                             ? threadIdx.x
                        : threadIdx.x / 32 == 1 && threadIdx.x < 34 ? threadIdx.x - 30
                                                                    : ~0U;
  if (threadIdx.x == 0) {
    init(&all, threads);
    for (unsigned k = 0; k < threads; ++k) {
      init(of_threads + k, 1);
      tile[k] = 0;
    }
  }
  __syncthreads();
  for (unsigned step = 0; step < steps; ++step) {
    for (unsigned k = 0; k < most_actions && self != ~0U; ++k)
      act(program.action[self][2 * step][k], self, tile, in, &all, of_threads);
    if (program.meets[step] == Meets::block_barrier) {
      __syncthreads();
    } else if (self != ~0U) {
      auto token = all.arrive();
      for (unsigned k = 0; k < most_actions && program.meets[step] == Meets::in_two_parts; ++k)
        act(program.action[self][2 * step + 1][k], self, tile, in, &all, of_threads);
      all.wait(std::move(token));
    }
  }
}

/// Says whether a program has a mistake, by what is before what: the closure of all that orders two actions.
class Oracle {
 public:
  explicit Oracle(const Program& program) : program_{program} {
    for (unsigned from = 0; from < nodes; ++from)
      for (unsigned to = 0; to < nodes; ++to)
        if (is_ordered(from, to)) before_[from].set(to);
    for (unsigned through = 0; through < nodes; ++through)
      for (unsigned from = 0; from < nodes; ++from)
        if (before_[from][through]) before_[from] |= before_[through];
    for (unsigned thread = 0; thread < threads; ++thread)
      follow(thread);
  }

  bool has_mistake() const {
    for (const Copy& copy : copies_) {
      for (const Copy& other : copies_) {
        if (&copy < &other && (copy.words & other.words) != 0 && !is_over(copy, other.issue) &&
            !is_over(other, copy.issue))
          return true;
      }
      for (unsigned node = 0; node < nodes; ++node) {
        if ((words_of(node) & copy.words) != 0 && !before_[node][copy.issue] && !is_over(copy, node))
          return true;
      }
    }
    for (unsigned one = 0; one < nodes; ++one) {
      for (unsigned two = 0; two < nodes; ++two) {
        const bool writes = action(one).does == Does::store || action(one).does == Does::write_source;
        if (writes && one != two && (words_of(one) & words_of(two)) != 0 && !before_[one][two] &&
            !before_[two][one])
          return true;
      }
    }
    return false;
  }

 private:
  // Each slot of a thread is its actions, behind the end of the wait before it.
  static constexpr unsigned in_slot = most_actions + 1;
  static constexpr unsigned nodes = threads * slots * in_slot;
  static unsigned node_of(unsigned thread, unsigned slot, unsigned number) {
    return (thread * slots + slot) * in_slot + number;
  }
  static unsigned thread_of(unsigned node) { return node / in_slot / slots; }
  static unsigned slot_of(unsigned node) { return node / in_slot % slots; }

  struct Copy {
    unsigned issue;
    unsigned words;                ///< a bit each: of shared memory, then of its source
    std::vector<unsigned> over{};  ///< behind one of these it has arrived
  };

  Action action(unsigned node) const {
    const unsigned number = node % in_slot;
    const bool is_window = slot_of(node) % 2 != 0;
    if (number == 0 || (is_window && program_.meets[slot_of(node) / 2] != Meets::in_two_parts)) return {};
    return program_.action[thread_of(node)][slot_of(node)][number - 1];
  }
  unsigned words_of(unsigned node) const {
    const auto [does, operand] = action(node);
    if (does == Does::load || does == Does::store) return 1U << operand;
    return does == Does::write_source ? 1U << (words + operand) : 0;
  }
  bool is_ordered(unsigned from, unsigned to) const {
    if (thread_of(from) == thread_of(to)) return from < to;
    const bool is_awaited = action(from).does == Does::bulk && action(to).does == Does::await &&
                            action(to).operand == thread_of(from);
    return is_awaited || slot_of(to) >= (slot_of(from) + 1) / 2 * 2 + 2;
  }
  bool is_over(const Copy& copy, unsigned node) const {
    return std::ranges::any_of(copy.over, [&](unsigned over) { return over == node || before_[over][node]; });
  }

  /// Which copies a thread has asked for, and when they have arrived.
  void follow(unsigned thread) {
    std::vector<std::vector<std::size_t>> groups(1);  // of copies; the last one is not committed
    for (unsigned node = node_of(thread, 0, 0); node < node_of(thread + 1, 0, 0); ++node) {
      const auto [does, operand] = action(node);
      if (does == Does::copy) {
        groups.back().push_back(copies_.size());
        copies_.push_back({node, (1U | 1U << words) << operand});
      }
      if (does == Does::commit) groups.emplace_back();
      while (does == Does::wait && groups.size() > operand + 1U) {
        for (const std::size_t copy : groups.front())
          copies_[copy].over.push_back(node);
        groups.erase(groups.begin());
      }
      if (does == Does::bind) {
        unsigned step = slot_of(node) / 2;
        while (step < steps && program_.meets[step] == Meets::block_barrier)
          ++step;
        for (const auto& group : groups) {
          for (const std::size_t copy : group) {
            for (unsigned other = 0; other < threads && step + 1 < steps; ++other)
              copies_[copy].over.push_back(node_of(other, 2 * step + 2, 0));
          }
        }
        groups.assign(1, {});
      }
      if (does == Does::bulk) {
        copies_.push_back({node, (1U << words) - 1});
        for (unsigned other = 0; other < nodes; ++other)
          if (action(other).does == Does::await && action(other).operand == thread)
            copies_.back().over.push_back(other);
      }
    }
  }

  const Program& program_;
  std::array<std::bitset<nodes>, nodes> before_{};
  std::vector<Copy> copies_;
};

Program drawn(std::mt19937_64& random) {
  const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
  Program program{};
  for (Meets& meets : program.meets)
    meets = static_cast<Meets>(below(3));
  const unsigned crowd = 2 + below(6);
  const bool by_threads = below(2) == 0;  // else for barrier objects
  std::array<unsigned, threads> bulk_in;
  bulk_in.fill(slots);
  for (unsigned slot = 0; slot < slots; ++slot) {
    const bool is_window = slot % 2 != 0;
    if (is_window && program.meets[slot / 2] != Meets::in_two_parts) continue;
    for (unsigned thread = 0; thread < threads; ++thread) {
      if (below(crowd) > 1) continue;
      const auto word = [&] { return static_cast<unsigned char>(below(words)); };
      auto& actions = program.action[thread][slot];
      const unsigned other = below(threads);
      switch (below(8)) {
        case 0: actions[0] = {Does::load, word()}; break;
        case 1: actions[0] = {Does::store, word()}; break;
        case 2:
        case 3:
          actions[0] = {Does::copy, word()};
          if (by_threads) actions[1] = {Does::commit};
          if (by_threads && below(2) == 0) actions[2] = {Does::wait, static_cast<unsigned char>(below(2))};
          if (!by_threads && !is_window) actions[1] = {Does::bind};
          break;
        case 4:
          if (by_threads) actions[0] = {Does::wait, static_cast<unsigned char>(below(2))};
          if (by_threads) actions[1] = {Does::load, word()};
          break;
        case 5:
          if (by_threads) actions[0] = {Does::write_source, word()};
          break;
        case 6:
          if (by_threads || bulk_in[thread] < slots) break;
          actions[0] = {Does::bulk};
          bulk_in[thread] = slot;
          break;
        default:
          if (bulk_in[other] >= slot) break;
          actions[0] = {Does::await, static_cast<unsigned char>(other)};
          actions[1] = {below(2) == 0 ? Does::load : Does::store, word()};
      }
    }
  }
  return program;
}

std::string text_of(const Program& program) {
  constexpr std::array names{"",     "load", "store",        "copy", "commit",
                             "wait", "bind", "write_source", "bulk", "await"};
  constexpr std::array meets{"block barrier", "barrier object", "barrier object in two parts"};
  std::string text;
  for (unsigned slot = 0; slot < slots; ++slot) {
    for (unsigned thread = 0; thread < threads; ++thread) {
      text += slot % 2 == 0 ? "  " : "    ";
      text += std::to_string(thread) + ':';
      for (const auto& [does, operand] : program.action[thread][slot])
        text += std::string{" "} + names[static_cast<std::size_t>(does)] +
                (does == Does::nothing ? "" : std::to_string(operand));
      text += '\n';
    }
    if (slot % 2 == 0)
      text += std::string{"-- "} + meets[static_cast<std::size_t>(program.meets[slot / 2])] + '\n';
  }
  return text;
}

TEST(DrawnCopies, HaveTheMistakesThatTheOracleSees) {
  const Words in{words, 5};
  draw_programs([&](std::mt19937_64& random, const Schedule& schedule) {
    const Program program = drawn(random);
    const bool has_mistake = Oracle{program}.has_mistake();
    set_schedule(schedule);
    const std::string found = finding_of([&] { interpret<<<1, block>>>(program, in); });
    set_schedule({});
    EXPECT_EQ(!found.empty(), has_mistake) << found << "\nof\n" << text_of(program);
    return has_mistake;
  });
}

}  // namespace
