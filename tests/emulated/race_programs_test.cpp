/// Programs of a few threads, and what the device says of their races: of some that are written, and of many that are drawn,
/// beside an oracle that keeps a full vector clock for every thread.
#include <cooperative_groups.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/drawn_programs.hpp"
#include "emulated/race_oracle.hpp"

namespace {

using namespace __emulated;
using namespace race_programs;
using Word = std::uint32_t;

// ---- the device ----

Atomics atomics_seen;

/// No access of a kernel: not followed.
__attribute__((noinline, no_sanitize("thread"))) void note_atomic(unsigned block, unsigned thread) {
  atomics_seen.by[atomics_seen.count++] = {block, thread};
}

/// Keeps a load.
__attribute__((noinline)) void note_word(Word word) { asm volatile("" : : "r"(word)); }

constexpr unsigned first_line_elsewhere = __LINE__ + 18;
/// Findings are told apart by their lines: each memory and each place has some of its own.
__device__ void act(const Action& action, Word* word) {
  const Does does = action.does;
  Word seen = 0;
  if (!action.is_elsewhere && action.is_shared) {
    if (does == Does::load) seen = *word;
    if (does == Does::look) seen = *const_cast<volatile Word*>(word);
    if (does == Does::store) *word = 1;
    if (does == Does::add) atomicAdd(word, 1);
    if (does == Does::cas) atomicCAS(word, 77U, 1U);
  } else if (!action.is_elsewhere) {
    if (does == Does::load) seen = *word;
    if (does == Does::look) seen = *const_cast<volatile Word*>(word);
    if (does == Does::store) *word = 1;
    if (does == Does::add) atomicAdd(word, 1);
    if (does == Does::cas) atomicCAS(word, 77U, 1U);
  } else if (action.is_shared) {
    if (does == Does::load) seen = *word;
    if (does == Does::look) seen = *const_cast<volatile Word*>(word);
    if (does == Does::store) *word = 1;
    if (does == Does::add) atomicAdd(word, 1);
    if (does == Does::cas) atomicCAS(word, 77U, 1U);
  } else {
    if (does == Does::load) seen = *word;
    if (does == Does::look) seen = *const_cast<volatile Word*>(word);
    if (does == Does::store) *word = 1;
    if (does == Does::add) atomicAdd(word, 1);
    if (does == Does::cas) atomicCAS(word, 77U, 1U);
  }
  while (does == Does::wait && atomicAdd(word, 0U) == 0) {
  }
  while (does == Does::poll && *const_cast<volatile Word*>(word) == 0) {
  }
  while (does == Does::lock && atomicCAS(word, 0U, 1U) != 0) {
  }
  if (does == Does::unlock) atomicExch(word, 0U);
  if (does == Does::open) *word = 0;
  note_word(seen);
}

__global__ void interpret(Program program, Word* global) {
  extern __shared__ Word shared[];
  const unsigned thread = threadIdx.x < 3 ? threadIdx.x : threadIdx.x >= 32 ? threadIdx.x - 29 : ~0U;
  if (threadIdx.x < words) shared[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned phase = 0; phase < phases; ++phase) {
    for (unsigned step = 0; step < steps; ++step) {
      for (unsigned i = 0; i < actions && thread != ~0U; ++i) {
        const Action& action = program.action[blockIdx.x][thread][phase][step][i];
        act(action, (action.is_shared ? shared : global) + action.word);
        if (action.is_atomic()) note_atomic(blockIdx.x, thread);
        if (action.does == Does::fence) __threadfence();
        if (action.does == Does::fence_block) __threadfence_block();
      }
      const unsigned mask = program.masks[blockIdx.x][phase][threadIdx.x / 32][step];
      if ((mask >> threadIdx.x % 32 & 1) != 0) __syncwarp(mask);
    }
    if (program.meets_grid && phase == 0) {
      cooperative_groups::this_grid().sync();
    } else {
      __syncthreads();
    }
  }
}

std::string word_of(const std::string& memory) {
  const auto number = memory.find_first_of("0123");
  return memory.starts_with("shared[") ? "s" + memory.substr(number, 1)
                                       : "g" + memory.substr(memory.find(" word ") + 6, 1);
}

/// \param help  a line for each.
std::set<Race> races_on_device(const Program& program, const Schedule& schedule, std::string& help) {
  static DeviceArray<Word> global{words};
  std::ranges::fill(global, 0);
  atomics_seen.count = 0;
  set_schedule(schedule);
  std::set<Race> races;
  try {
    ExecutionConfiguration configuration{program.blocks, block_size, words * sizeof(Word)};
    configuration.is_cooperative = program.meets_grid;
    launch(configuration, interpret, program, global);
  } catch (const KernelFinding& finding) {
    for (const Finding& each : finding.findings()) {
      const bool lacks_fence = name_of(each.fault) == "missing fence";
      EXPECT_TRUE(each.fault == Fault::race || lacks_fence) << each.text;
      const auto accessor = [](const Witness& witness) {
        const char* const place = witness.location.line >= first_line_elsewhere ? "'" : "";
        return RaceMember{witness.block, witness.threads.front(), witness.action + place};
      };
      races.emplace(accessor(each.witnesses.front()), accessor(each.witnesses.back()), word_of(each.memory),
                    lacks_fence ? Lack::a_fence : Lack::order);
      const std::string page = std::filesystem::path{each.page}.stem().string();
      help += each.help + (page.empty() ? "" : "; see " + page) + '\n';
    }
  }
  set_schedule({});
  return races;
}

// ---- programs that are written ----

struct Row {
  std::string program;
  std::string races{};  ///< "some" where the schedule decides which
  std::string help{};   ///< a part of what is said of them
};

/// In every schedule, and on one and several host threads.
void expect_races(const std::vector<Row>& rows) {
  std::vector<Schedule> schedules{{Order::ascending, 0}, {Order::descending, 0}};
  for (unsigned seed = 0; seed < 5; ++seed)
    schedules.push_back({Order::random, seed});
  for (const Row& row : rows) {
    SCOPED_TRACE(row.program);
    for (const unsigned host_threads : {1U, 4U}) {
      set_host_threads(host_threads);
      for (const Schedule& schedule : schedules) {
        std::string help;
        const std::set<Race> races = races_on_device(program_of(row.program), schedule, help);
        const std::string text = row.races == "some" && !races.empty() ? "some" : text_of(races);
        ASSERT_EQ(text, row.races) << "seed " << schedule.seed << ", " << host_threads << " host threads";
        ASSERT_NE(help.find(row.help), std::string::npos) << help;
      }
    }
    set_host_threads(0);
  }
}

TEST(WrittenPrograms, RaceWhereNoBarrierOfBothIsBetween) {
  const std::string warp = "0:w0 ffffffff; 0:w1 3; ";
  expect_races({
      {"0:0 store s0; 0:1 load s0", "0:0 writes, 0:1 reads s0",
       "put a `__syncwarp()` between the read and the write; see warp_synchronous_tail"},
      {"0:0 store s0; 0:32 load s0", "0:0 writes, 0:32 reads s0",
       "put a `__syncthreads()` between the read and the write, where all threads of the block reach it; see "
       "no_barrier_between_levels"},
      {"0:0 store s0 |; 0:1 | load s0; 0:32 | load s0"},
      {warp + "0:0 store s0; 0:1 / load s0; 0:2 / load s0"},
      {warp + "0:0 store s0; 0:32 / load s0", "0:0 writes, 0:32 reads s0", "put a `__syncthreads()` between"},
      // Of parts of a warp, which pass on what they know.
      {"0:w0 3; 0:0 store s0; 0:1 / load s0"},
      {"0:w0 3; 0:0 store s0; 0:2 / load s0", "0:0 writes, 0:2 reads s0"},
      {"0:w0 6; 0:0 store s0; 0:2 / load s0", "0:0 writes, 0:2 reads s0",
       "put one more `__syncwarp()` between the read and the write; see one_syncwarp_a_level"},
      {"0:w0 3 / 6; 0:0 store s0; 0:2 / / store s0"},
      {"0:w0 3 / 0; 0:0 store s0; 0:2 / / store s0", "0:0 writes, 0:2 writes s0"},
      // Of lanes that read at the same place, those that have met the writer and those that have not.
      {"0:w0 5; 0:0 load g0 load' g0; 0:1 load g0; 0:2 / store g0", "0:1 reads, 0:2 writes g0"},
      {"0:w0 5; 0:0 load s0 load' s0; 0:1 load s0; 0:2 / store s0", "0:1 reads, 0:2 writes s0"},
      // What is read before a part meets, and after it.
      {"0:w0 ffffffff / 3; 0:0 / / store s0; 0:1 / load s0"},
      {"0:w0 ffffffff / 3; 0:0 / / store s0; 0:1 / load s0 / load' s0", "0:0 writes, 0:1 reads' s0"},
      // A barrier of the writer's warp does not wait for a reader of another one; each has an order of its own.
      {warp + "0:0 / store s0; 0:1 load s0; 0:32 load s0", "0:0 writes, 0:32 reads s0"},
      {"0:w0 1 / 3; 0:w1 1; 0:0 / load s0; 0:1 / / wait s2 store s0; 0:32 / load s0 fence_block add s2"},
  });
}

TEST(WrittenPrograms, RaceWithAtomicsThatNoBarrierSeparates) {
  for (const std::string other : {"0:1", "0:32"}) {
    expect_races({
        {"0:0 store s2; " + other + " add s2", "0:0 writes, " + other + " atomically updates s2"},
        {"0:0 load g2; " + other + " add g2", "0:0 reads, " + other + " atomically updates g2",
         "if they are meant to meet, as before a loop of `atomicCAS()`, read by an atomic, too, as in "
         "`atomicAdd(&word, 0)`"},
        {"0:0 store s2 | load' s2; " + other + " | add s2",
         "0:0 reads', " + other + " atomically updates s2"},
        {"0:0 store s2 load g2 |; " + other + " | add s2 add g2"},
    });
  }
  expect_races({
      {"0:0 load g2 cas g2; 1:0 load g2 cas g2", "0:0 reads, 1:0 atomically updates g2",
       "blocks run in any order: read in the next launch, or read by an atomic, too, as in `atomicAdd(&word, "
       "0)`"},
      {"0:0 store g2 add g2; 1:0 add g2", "0:0 writes, 1:0 atomically updates g2"},
      {"0:0 store g2 fence add g2; 1:0 add g2", "0:0 writes, 1:0 atomically updates g2"},
      // An atomic of another block has been when one of its own finds what it has left, and needs no release for that.
      {"0:0 add g2; 1:0 wait g2 load g2"},
      {"0:0 add g2; 1:0 add g3 load g2", "0:0 atomically updates, 1:0 reads g2"},
  });
}

TEST(WrittenPrograms, RaceUnlessALockIsOpenedByAnAtomicBehindAFence) {
  for (const std::string s : {"s", "g"}) {
    const auto count_under = [&](const std::string& lock, const std::string& unlock,
                                 const std::string& other_lock) {
      std::string program;
      for (const std::string thread : {"0:0", "0:2", "0:32", "0:33"}) {
        const std::string word = s + (thread < "0:3" ? lock : other_lock);
        program += thread + " lock " + word + " load " + s + "0 store " + s + "0 " + unlock + word + ";";
      }
      return program;
    };
    expect_races({{count_under("2", "fence unlock ", "2")},
                  {count_under("2", "fence_block unlock ", "2")},
                  {count_under("2", "unlock ", "2"), "some"},
                  {count_under("2", "fence open ", "2"), "some"},
                  {count_under("2", "fence unlock ", "3"), "some"}});
  }
}

TEST(WrittenPrograms, RaceUnlessAFlagIsRaisedAndSeenByAtomicsBehindAFence) {
  const std::string warps = "0:w0 ffffffff; 0:w1 3; ";
  expect_races({
      {warps + "0:32 store s0 fence_block / add s2; 0:0 wait s2; 0:1 / load s0 store s0"},
      {warps + "0:33 store s0 fence_block; 0:32 / add s2; 0:0 wait s2; 0:1 / load s0 store s0"},
      {warps + "0:32 store s0 / add s2; 0:0 wait s2; 0:1 / load s0 store' s0", "some"},
      {warps + "0:32 fence_block store s0 / add s2; 0:0 wait s2; 0:1 / load s0 store' s0", "some"},
      {warps + "0:32 add s3 store s0 fence_block / add s2; 0:0 wait s3; 0:1 / load s0 store' s0", "some"},
      {warps + "0:32 store s0 fence_block / add s2; 0:0 poll s2; 0:1 / load s0 store' s0", "some"},
      // Each of the readers of several warps tells that it has read.
      {"0:1 load s0 fence_block add s1; 0:32 load s0 fence_block add s2; 0:33 load s0 fence_block add s3; "
       "0:0 wait s1 wait s2 wait s3 store s0"},
      {"0:1 load s0 fence_block add s1; 0:32 load s0 fence_block add s2; 0:33 load s0 add s3; 0:0 wait s1 "
       "wait s2 wait s3 store s0",
       "0:0 writes, 0:33 reads s0"},
  });
}

TEST(WrittenPrograms, RaceUnlessAFenceAndATicketTellOtherBlocks) {
  const std::string fence =
      "put a `__threadfence()` after the write in block 0, before the atomic that tells other blocks of it; "
      "see ticket_without_a_fence";
  const std::string in_vain =
      "the `__threadfence()` after the write in block 0 tells nobody of it: let an atomic behind it do so";
  const std::string race = "0:0 writes, 1:0 reads g0";
  expect_races({
      {"0:0 store g0 fence add g2; 1:0 wait g2 fence load g0"},
      {"0:0 store g0 add g2; 1:0 add g2 fence load g0", race, fence},
      {"0:0 store g0 add g2 fence; 1:0 add g2 fence load g0", race, in_vain},
      {"1:0 store g0 add g2; 0:0 add g2 fence load g0", "0:0 reads, 1:0 writes g0",
       "put a `__threadfence()` after the write in block 1"},
      {"0:0 store g0 fence; 1:0 load g0", race, in_vain},
      {"0:0 store g0; 1:0 load g0", race,
       "blocks run in any order: read in the next launch, or in the block that a ticket shows to be the "
       "last, as in beyond/10_single_pass"},
      // Behind barriers other threads may do it, but a fence orders what its own has done before.
      {"0:0 store g0 fence |; 0:1 | add g2; 1:1 wait g2 fence |; 1:32 | load g0"},
      {"0:0 fence store g0 |; 0:1 | add g2; 1:1 add g2 fence |; 1:0 | load g0", race, fence},
      // A fence of the thread that takes the ticket, before the barrier, takes nothing away from that of another.
      {"0:0 fence | add g2; 0:1 store g0 fence; 1:0 wait g2 fence load g0"},
      // Who has not met the thread with the ticket has not heard of it.
      {"0:0 store g0 fence add g2; 1:1 add g2 fence; 1:0 load g0", race, "blocks run in any order"},
      {"1:w0 ffffffff; 0:0 store g0 fence add g2; 1:0 wait g2 fence; 1:1 / load g0"},
      {"1:w0 6; 0:0 store g0 fence add g2; 1:0 add g2 fence; 1:1 / load g0", "0:0 writes, 1:1 reads g0"},
      // Behind its own atomic a block may set the ticket back.
      {"0:0 add g2; 1:0 wait g2 load g2 store g2"},
      {"0:0 add g2; 1:0 store g2 add g2", "0:0 atomically updates, 1:0 writes g2"},
      // A warp barrier carries a fence.
      {"0:w0 3; 0:0 store g0 fence; 0:1 / add g2; 1:0 wait g2 fence load g0"},
      {"0:0 store g0 fence; 0:1 / add g2; 1:0 add g2 fence load g0", race, in_vain},
      {"0:w1 3; 0:0 store g0 fence; 0:32 / add g2; 1:0 add g2 fence load g0", race, in_vain},
      {"0:w0 3; 0:0 / store g0 fence; 0:1 / add g2; 1:0 add g2 fence load g0", race, in_vain},
  });
}

TEST(WrittenPrograms, LackAFenceWhereALoadIsOfWhatAnAtomicTells) {
  const std::string store = "0:0 store g0 fence add g2; ", lacks = "0:0 writes, 1:0 reads g0 without a fence",
                    other_lacks = "0:0 writes, 1:32 reads g0 without a fence";
  expect_races({
      {store + "1:0 wait g2 load g0", lacks},
      {store + "1:0 wait g2 fence load g0"},
      {store + "1:0 fence wait g2 load g0", lacks},
      {store + "1:0 wait g2 fence_block load g0", lacks},
      // Loads are told alone, and those alone that may be of a cache.
      {store + "1:0 wait g2 look g0"},
      {store + "1:0 wait g2 add g0"},
      {store + "1:0 wait g2 store g0 load g0"},
      // Barriers carry the fence of who has heard of it, and each may have one of its own.
      {store + "1:0 wait g2 fence |; 1:32 | load g0"},
      {store + "1:0 wait g2 |; 1:32 | fence load g0"},
      {store + "1:0 wait g2 |; 1:32 | load g0; 1:33 | fence", other_lacks},
      {store + "1:0 fence wait g2 |; 1:32 | load g0", other_lacks},
      {store + "1:w0 3; 1:0 wait g2 fence; 1:1 / load g0"},
      {store + "1:w0 3; 1:0 wait g2; 1:1 / load g0", "0:0 writes, 1:1 reads g0 without a fence"},
      // So do atomics within the block.
      {store + "1:0 wait g2 fence add s2; 1:32 wait s2 load g0"},
      // Within a block nothing is in the way.
      {store + "0:32 wait g2 load g0"},
      {"0:0 store s0 fence_block add s2; 0:32 wait s2 load s0"},
      // An atomic of a third block, behind whose fence there is none.
      {store + "1:0 wait g2 fence add g3; 2:0 wait g3 load g0", "0:0 writes, 2:0 reads g0 without a fence"},
  });
}

TEST(WrittenPrograms, RaceUnlessAChainOfAtomicsLeadsFromBlockToBlock) {
  const std::string race = "0:0 writes, 3:0 reads g0";
  const std::string zero = "0:0 store g0 fence add g2; ";
  expect_races({
      {zero + "1:0 wait g2 store g1 fence add g3; 3:0 wait g3 fence load g0 load g1"},
      {zero + "1:0 wait g2 fence add g3; 3:0 wait g3 fence load g0"},
      {zero + "1:0 wait g2 fence add g3; 2:0 store g1 fence; 3:0 wait g3 fence load g1",
       "2:0 writes, 3:0 reads g1"},
      // What it released before it stored tells nothing of that.
      {"0:0 store g1 fence add g2; 1:0 add g2 fence add g3 store g0 fence / add g2; 2:0 wait g3 fence load "
       "g0",
       "1:0 writes, 2:0 reads g0"},
      // On two words different threads of a block tell of what each has done.
      {zero + "0:32 store g1 fence add g3; 1:0 wait g2 wait g3 fence load g0 load g1"},
      {zero + "1:0 fence add g3; 3:0 wait g3 fence load g0", race},
      {zero + "1:0 wait g2 add g3; 3:0 wait g3 fence load g0", race},
      {"0:0 store g0 fence_block add g2; 3:0 wait g2 fence load g0", race},
  });
}

TEST(WrittenPrograms, RaceUnlessTheGridMeets) {
  expect_races({
      {"grid;0:0 store g0; 1:0 | load g0; 2:33 | look g0"},
      {"grid;0:0 | store g0; 1:0 load g0"},
      {"grid;0:0 store g0; 1:0 load g0 | load' g0", "0:0 writes, 1:0 reads g0"},
      {"grid;0:0 | store g0; 1:0 | load g0", "0:0 writes, 1:0 reads g0"},
      {"grid;0:0 add g2; 1:0 | load g2 store g2"},
  });
}

// ---- programs that are drawn ----

/// One program of a few threads, mostly in the shapes that order threads, or nearly do.
Program drawn(std::mt19937_64& random) {
  const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
  Program program;
  program.blocks = below(2) == 0 ? 1 : 2 + below(most_blocks - 1);
  program.meets_grid = below(4) == 0;
  const unsigned crowd = 3 + below(6);  // one of so many parts of a program does something
  const bool in_shared = below(2) == 0;
  const auto word = [&](bool is_data) {
    const bool is_swapped = below(16) == 0;
    return static_cast<unsigned char>(below(2) + (is_data != is_swapped ? 0 : 2));
  };
  for (unsigned block = 0; block < program.blocks; ++block) {
    for (unsigned phase = 0; phase < phases; ++phase) {
      constexpr std::array<unsigned, 6> masks{0, 0, ~0U, 0b11, 0b110, 0b101};
      for (unsigned warp = 0; warp < 2; ++warp)
        for (unsigned step = 0; step + 1 < steps; ++step)
          program.masks[block][phase][warp][step] = masks[below(warp == 0 ? 6 : 4)] & (warp == 0 ? ~0U : 3U);
      for (unsigned thread = 0; thread < active.size(); ++thread) {
        for (auto& step : program.action[block][thread][phase]) {
          if (below(crowd) != 0) continue;
          const bool is_shared = in_shared && below(2) == 0;
          const bool syncs_shared = in_shared && below(4) == 0;
          const bool is_elsewhere = below(2) == 0;
          const Action store{Does::store, word(true), is_shared, is_elsewhere};
          const Action load{Does::load, word(true), is_shared, is_elsewhere};
          const Action add{below(8) == 0 ? Does::cas : Does::add, word(false), syncs_shared, is_elsewhere};
          const Action other_add{Does::add, word(false), syncs_shared};
          const Action fence{below(3) == 0 ? Does::fence_block : Does::fence};
          const Action look{Does::look, word(true), is_shared, is_elsewhere};
          const std::array<std::array<Action, actions>, 14> shapes{{{store},
                                                                    {load},
                                                                    {store, fence, add},
                                                                    {load, fence, add},
                                                                    {add, load},
                                                                    {add, look},
                                                                    {add, fence},
                                                                    {add, fence, load},
                                                                    {add, store},
                                                                    {add, fence, other_add},
                                                                    {fence, add, load},
                                                                    {add, store, fence, other_add},
                                                                    {add, load, fence, other_add},
                                                                    {add}}};
          std::ranges::copy(shapes[below(shapes.size())], step);
        }
      }
    }
  }
  return program;
}

/// What of two accesses the device reports once: their places, and whether they are of one block.
using Sites = std::tuple<bool, char, std::string, std::string>;
std::set<Sites> sites_of(const std::set<Race>& races, Lack lack) {
  std::set<Sites> sites;
  for (const Race& race : races) {
    const auto [low, high] = std::minmax(race.one.verb, race.other.verb);
    if (race.lack == lack) sites.emplace(race.one.block == race.other.block, race.word[0], low, high);
  }
  return sites;
}

/// Whether the two agree: on all places, and the device names threads and words that the oracle sees, too.
bool agree(const std::set<Race>& device, const std::set<Race>& oracle) {
  const auto is_seen = [&](Race race) {
    if (oracle.contains(race)) return true;
    race.lack = Lack::perhaps_a_fence;
    return oracle.contains(race);
  };
  const std::set<Sites> races = sites_of(device, Lack::order), unfenced = sites_of(device, Lack::a_fence);
  return races == sites_of(oracle, Lack::order) && std::ranges::all_of(device, is_seen) &&
         std::ranges::all_of(sites_of(oracle, Lack::a_fence), [&](const Sites& sites) {
           return unfenced.contains(sites) || races.contains(sites);  // of the two, the race is reported
         });
}

TEST(DrawnPrograms, HaveTheRacesThatVectorClocksSee) {
  draw_programs([](std::mt19937_64& random, const Schedule& schedule) {
    const Program program = drawn(random);
    std::string help;
    const std::set<Race> device = races_on_device(program, schedule, help);
    const std::set<Race> oracle = Oracle{program, atomics_seen}.races();
    EXPECT_TRUE(agree(device, oracle))
        << "the device says " << text_of(device) << "\nand the oracle " << text_of(oracle) << "\nof\n"
        << text_of(program);
    return !oracle.empty();
  });
}

}  // namespace
