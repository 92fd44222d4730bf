/// Programs drawn at random, and for each what the device says of their races, beside an oracle that keeps a full vector
/// clock for every thread.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"

namespace {

using namespace __emulated;
using Word = std::uint32_t;

// ---- programs ----

enum class Does : unsigned char { nothing, load, store, add, fail_to_swap, fence, fence_block };

constexpr unsigned words = 4;  ///< of each memory: two for data, two to synchronise on

struct Action {
  Does does = Does::nothing;
  unsigned char word = 0;
  bool is_shared = false;
};

constexpr unsigned most_blocks = 4;
constexpr std::array<unsigned, 5> active{0, 1, 2, 32, 33};  ///< threads that do anything but wait
constexpr unsigned block_size = 34;
constexpr unsigned phases = 2;  ///< each ends at a block barrier
constexpr unsigned halves = 2;  ///< of a phase, for each warp with a warp barrier between them, or none
constexpr unsigned actions = 4;

struct Program {
  unsigned blocks = 1;
  std::array<std::array<std::array<unsigned, 2>, phases>, most_blocks>
      masks{};  ///< of the warp barriers; 0 is none
  Action action[most_blocks][active.size()][phases][halves][actions];
};

/// One program of a few threads, mostly in the shapes that order threads, or nearly do.
Program drawn(std::mt19937_64& random) {
  const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
  Program program;
  program.blocks = below(2) == 0 ? 1 : 2 + below(most_blocks - 1);
  const unsigned crowd = 2 + below(5);  // one of so many parts of a program does something
  const bool in_shared = below(2) == 0;
  const auto word = [&](bool is_data) {
    const bool is_swapped = below(16) == 0;
    return static_cast<unsigned char>(below(2) + (is_data != is_swapped ? 0 : 2));
  };
  for (unsigned block = 0; block < program.blocks; ++block) {
    for (unsigned phase = 0; phase < phases; ++phase) {
      constexpr std::array<unsigned, 4> masks{0, 0, ~0U, 0b11};
      for (unsigned& mask : program.masks[block][phase])
        mask = masks[below(masks.size())];
      for (unsigned thread = 0; thread < active.size(); ++thread) {
        for (auto& half : program.action[block][thread][phase]) {
          if (below(crowd) != 0) continue;
          const bool is_shared = in_shared && below(2) == 0;
          const bool syncs_shared = in_shared && below(4) == 0;
          const Action store{Does::store, word(true), is_shared};
          const Action load{Does::load, word(true), is_shared};
          const Action add{below(8) == 0 ? Does::fail_to_swap : Does::add, word(false), syncs_shared};
          const Action other_add{Does::add, word(false), syncs_shared};
          const Action fence{below(3) == 0 ? Does::fence_block : Does::fence};
          const std::array<std::array<Action, actions>, 10> shapes{{{store},
                                                                    {load},
                                                                    {store, fence, add},
                                                                    {load, fence, add},
                                                                    {add, load},
                                                                    {add, store},
                                                                    {add, fence, other_add},
                                                                    {fence, add, load},
                                                                    {add, store, fence, other_add},
                                                                    {add}}};
          std::ranges::copy(shapes[below(shapes.size())], half);
        }
      }
    }
  }
  return program;
}

// ---- the device ----

/// The threads whose atomics have happened in a block, in order.
struct Atomics {
  unsigned threads[active.size() * phases * halves * actions];
  std::size_t count;
};
Atomics atomics_seen[most_blocks];

/// No access of a kernel: not followed.
__attribute__((noinline, no_sanitize("thread"))) void note_atomic(unsigned block, unsigned thread) {
  Atomics& seen = atomics_seen[block];
  seen.threads[seen.count++] = thread;
}

__device__ void act(const Action& action, Word* global, Word* shared, unsigned thread) {
  const unsigned word = action.word;
  if (action.is_shared) {
    switch (action.does) {
      case Does::load: (void)*const_cast<volatile Word*>(shared + word); break;
      case Does::store: shared[word] = 1; break;
      case Does::add: atomicAdd(&shared[word], 1); break;
      case Does::fail_to_swap: atomicCAS(&shared[word], 77U, 1U); break;
      default: break;
    }
  } else {
    switch (action.does) {
      case Does::load: (void)*const_cast<volatile Word*>(global + word); break;
      case Does::store: global[word] = 1; break;
      case Does::add: atomicAdd(&global[word], 1); break;
      case Does::fail_to_swap: atomicCAS(&global[word], ~0U, 1U); break;
      default: break;
    }
  }
  if (action.does == Does::add || action.does == Does::fail_to_swap) note_atomic(blockIdx.x, thread);
  if (action.does == Does::fence) __threadfence();
  if (action.does == Does::fence_block) __threadfence_block();
}

__global__ void interpret(Program program, Word* global) {
  extern __shared__ Word shared[];
  const unsigned thread = threadIdx.x < 3 ? threadIdx.x : threadIdx.x >= 32 ? threadIdx.x - 29 : ~0U;
  if (threadIdx.x < words) shared[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned phase = 0; phase < phases; ++phase) {
    const unsigned mask = program.masks[blockIdx.x][phase][threadIdx.x / 32];
    for (unsigned half = 0; half < halves; ++half) {
      if (thread != ~0U)
        for (const Action& action : program.action[blockIdx.x][thread][phase][half])
          act(action, global, shared, thread);
      if (half == 0 && (mask >> threadIdx.x % 32 & 1) != 0) __syncwarp(mask);
    }
    __syncthreads();
  }
}

/// An access of a race as a finding has it.
struct Accessor {
  std::size_t block;
  unsigned thread;
  std::string verb;

  auto operator<=>(const Accessor&) const = default;
};

struct Race {
  Accessor one, other;  ///< the lower one first
  std::string word;

  auto operator<=>(const Race&) const = default;
};

std::string word_text(unsigned word, bool is_shared) {
  if (is_shared) return "shared[" + std::to_string(word) + "]";
  return "4-byte word " + std::to_string(word) + " of a global buffer (" + std::to_string(words) + " words)";
}

std::set<Race> races_on_device(const Program& program, const Schedule& schedule, DeviceArray<Word>& global) {
  std::ranges::fill(global, 0);
  std::ranges::fill(atomics_seen, Atomics{});
  set_schedule(schedule);
  std::set<Race> races;
  try {
    launch({program.blocks, block_size, words * sizeof(Word)}, interpret, program, global);
  } catch (const KernelFinding& finding) {
    for (const Finding& each : finding.findings()) {
      EXPECT_EQ(each.fault, Fault::race) << each.text;
      const auto accessor = [](const Witness& witness) {
        return Accessor{witness.block, witness.threads.front(), witness.action};
      };
      Race race{accessor(each.witnesses.front()), accessor(each.witnesses.back()), each.memory};
      if (race.other < race.one) std::swap(race.one, race.other);
      races.insert(race);
    }
  }
  set_schedule({});
  return races;
}

// ---- the oracle ----

using VectorClock = std::vector<unsigned>;

void join(VectorClock& clock, const VectorClock& other) {
  for (std::size_t i = 0; i < clock.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

class Oracle {
 public:
  explicit Oracle(const Program& program) : program_{program}, nothing_(program.blocks * active.size(), 0) {
    for (auto* const clocks : {&now_, &at_fence_, &at_block_fence_})
      clocks->assign(nothing_.size(), nothing_);
    released_.assign(words, nothing_);
    released_in_block_.assign(2 * words, nothing_);
  }

  /// All races of the lowest block that has any, or else those between blocks.
  std::set<Race> races() {
    for (unsigned block = 0; block < program_.blocks; ++block) {
      run(block);
      const std::set<Race> found = races_in(block, block);
      if (!found.empty()) return found;
    }
    std::set<Race> found;
    for (unsigned low = 0; low < program_.blocks; ++low)
      for (unsigned high = low + 1; high < program_.blocks; ++high)
        found.merge(races_in(low, high));
    return found;
  }

 private:
  struct Access {
    unsigned block;
    unsigned thread;  ///< of all
    Action action;
    unsigned number;  ///< of the thread's own
    VectorClock known;
  };

  static bool is_atomic(const Action& action) {
    return action.does == Does::add || action.does == Does::fail_to_swap;
  }

  unsigned of(unsigned block, unsigned thread) const {
    return block * static_cast<unsigned>(active.size()) + thread;
  }

  void run(unsigned block) {
    std::ranges::fill(released_in_block_, nothing_);
    std::size_t next_atomic = 0;
    for (unsigned phase = 0; phase < phases; ++phase) {
      struct Position {
        unsigned half = 0, action = 0;
      };
      std::array<Position, active.size()> at;
      // Each thread goes on until it has to wait for an atomic of another one, or for its warp.
      for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (unsigned thread = 0; thread < active.size(); ++thread) {
          auto& [half, number] = at[thread];
          while (half < halves && number < actions) {
            const Action& action = program_.action[block][thread][phase][half][number];
            if (is_atomic(action) && atomics_seen[block].threads[next_atomic] != thread) break;
            next_atomic += is_atomic(action);
            perform(block, of(block, thread), action);
            ++number;
            goes_on = true;
          }
        }
        for (unsigned warp = 0; warp < 2; ++warp) {
          std::vector<unsigned> members, alone;
          bool all_are_here = true;
          for (unsigned thread = 0; thread < active.size(); ++thread) {
            if (active[thread] / 32 != warp) continue;
            const bool meets = (program_.masks[block][phase][warp] >> active[thread] % 32 & 1) != 0;
            (meets ? members : alone).push_back(thread);
            if (meets) all_are_here = all_are_here && at[thread].half == 0 && at[thread].action == actions;
          }
          if (all_are_here && !members.empty()) {
            meet(block, members);
            std::ranges::move(members, std::back_inserter(alone));
          }
          for (const unsigned thread : alone) {
            if (at[thread].half != 0 || at[thread].action != actions) continue;
            at[thread] = {1, 0};
            goes_on = true;
          }
        }
      }
      for (const Position& position : at)
        ASSERT_TRUE(position.half == 1 && position.action == actions) << "the oracle is stuck";
      meet(block, {0, 1, 2, 3, 4});
    }
  }

  void meet(unsigned block, const std::vector<unsigned>& threads) {
    for (auto* const clocks : {&now_, &at_fence_, &at_block_fence_}) {
      VectorClock all = nothing_;
      for (const unsigned thread : threads)
        join(all, (*clocks)[of(block, thread)]);
      for (const unsigned thread : threads)
        (*clocks)[of(block, thread)] = all;
    }
  }

  void perform(unsigned block, unsigned thread, const Action& action) {
    VectorClock& now = now_[thread];
    if (action.does == Does::nothing) return;
    if (action.does == Does::fence) at_fence_[thread] = now;
    if (action.does == Does::fence || action.does == Does::fence_block) {
      at_block_fence_[thread] = now;
      return;
    }
    accesses_.push_back({block, thread, action, ++now[thread], now});
    if (!is_atomic(action)) return;
    VectorClock& in_block = released_in_block_[action.word + (action.is_shared ? words : 0)];
    join(now, in_block);
    if (!action.is_shared) join(now, released_[action.word]);
    if (action.does == Does::fail_to_swap) return;
    join(in_block, at_block_fence_[thread]);
    if (!action.is_shared) join(released_[action.word], at_fence_[thread]);
  }

  static bool knows(const Access& later, const Access& earlier) {
    return earlier.number <= later.known[earlier.thread];
  }

  /// A plain access in a higher block comes after an atomic of a lower one if it comes after one of its own on the word.
  bool follows_atomic(const Access& lower, const Access& higher) const {
    if (lower.block >= higher.block || !is_atomic(lower.action) || is_atomic(higher.action)) return false;
    return std::ranges::any_of(accesses_, [&](const Access& own) {
      return own.block == higher.block && is_atomic(own.action) && own.action.word == higher.action.word &&
             own.action.is_shared == higher.action.is_shared && knows(higher, own);
    });
  }

  std::set<Race> races_in(unsigned low, unsigned high) const {
    std::set<Race> races;
    for (const Access& one : accesses_) {
      if (one.block != low) continue;
      for (const Access& other : accesses_) {
        if (other.block != high || one.thread == other.thread || (low != high && one.action.is_shared))
          continue;
        if (one.action.word != other.action.word || one.action.is_shared != other.action.is_shared) continue;
        const bool both_load = one.action.does == Does::load && other.action.does == Does::load;
        if (both_load || (is_atomic(one.action) && is_atomic(other.action))) continue;
        if (knows(one, other) || knows(other, one) || follows_atomic(one, other)) continue;
        Race race{accessor(one), accessor(other), word_text(one.action.word, one.action.is_shared)};
        if (race.other < race.one) std::swap(race.one, race.other);
        races.insert(race);
      }
    }
    return races;
  }

  static Accessor accessor(const Access& access) {
    const std::string verb = is_atomic(access.action)            ? "atomically updates"
                             : access.action.does == Does::store ? "writes"
                                                                 : "reads";
    return {access.block, active[access.thread % active.size()], verb};
  }

  const Program& program_;
  VectorClock nothing_;
  std::vector<VectorClock> now_, at_fence_, at_block_fence_;
  std::vector<VectorClock> released_;           ///< by word of global memory
  std::vector<VectorClock> released_in_block_;  ///< by word of global memory, then of shared
  std::vector<Access> accesses_;
};

// ---- the two ----

bool is_in_shared(const Race& race) { return race.word.starts_with("shared["); }

/// What races in global memory have in common that the device reports as one.
std::set<std::tuple<bool, std::string, std::string>> kinds_in_global(const std::set<Race>& races) {
  std::set<std::tuple<bool, std::string, std::string>> kinds;
  for (const Race& race : races) {
    const auto [low, high] = std::minmax(race.one.verb, race.other.verb);
    if (!is_in_shared(race)) kinds.emplace(race.one.block != race.other.block, low, high);
  }
  return kinds;
}

/// Whether the two agree. In shared memory one store of a word is remembered: of the kinds of races that a block has
/// there, the device need not name all.
bool agree(const std::set<Race>& device, const std::set<Race>& oracle) {
  return device.empty() == oracle.empty() && std::ranges::includes(oracle, device) &&
         kinds_in_global(device) == kinds_in_global(oracle) &&
         std::ranges::any_of(device, is_in_shared) == std::ranges::any_of(oracle, is_in_shared);
}

std::string text_of(const std::set<Race>& races) {
  std::string text;
  for (const auto& [one, other, word] : races)
    text += fmt::format("{}:{} {}, {}:{} {}, {}\n", one.block, one.thread, one.verb, other.block,
                        other.thread, other.verb, word);
  return text;
}

std::string text_of(const Program& program) {
  constexpr std::array names{"", "load", "store", "add", "cas", "fence", "fence_block"};
  std::string text;
  for (unsigned block = 0; block < program.blocks; ++block) {
    for (unsigned phase = 0; phase < phases; ++phase) {
      text +=
          fmt::format("masks {:x} {:x}\n", program.masks[block][phase][0], program.masks[block][phase][1]);
      for (unsigned thread = 0; thread < active.size(); ++thread) {
        text += fmt::format("{}:{}", block, active[thread]);
        for (const auto& half : program.action[block][thread][phase]) {
          for (const auto& [does, word, is_shared] : half)
            if (does != Does::nothing)
              text +=
                  fmt::format(" {} {}{}", names[static_cast<unsigned>(does)], is_shared ? 's' : 'g', word);
          text += " |";
        }
        text += '\n';
      }
    }
  }
  return text;
}

/// DRAWN_PROGRAMS is their number, DRAWN_SEED that of the first.
std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(DrawnPrograms, HaveTheRacesThatVectorClocksSee) {
  const std::uint64_t programs = number_from("DRAWN_PROGRAMS", 10'000);
  const std::uint64_t first = number_from("DRAWN_SEED", std::random_device{}());
  std::cout << "DRAWN_SEED=" << first << " DRAWN_PROGRAMS=" << programs << '\n';
  DeviceArray<Word> global{words};
  std::uint64_t racing = 0;
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    std::mt19937_64 random{seed};
    const Program program = drawn(random);
    constexpr std::array orders{Order::ascending, Order::descending, Order::random, Order::random};
    const Schedule schedule{orders[seed % orders.size()], seed};
    const std::set<Race> device = races_on_device(program, schedule, global);
    const std::set<Race> oracle = Oracle{program}.races();
    racing += !oracle.empty();
    ASSERT_TRUE(agree(device, oracle)) << "with DRAWN_SEED=" << seed << " DRAWN_PROGRAMS=1 the device says\n"
                                       << text_of(device) << "and the oracle\n"
                                       << text_of(oracle) << "of\n"
                                       << text_of(program);
  }
  // Both verdicts have been put to the test.
  if (programs < 1000) return;
  EXPECT_GT(racing, programs / 10);
  EXPECT_LT(racing, programs - programs / 10);
}

}  // namespace
