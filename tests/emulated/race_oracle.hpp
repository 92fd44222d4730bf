#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Programs of a few threads, and an oracle that sees their races with a full vector clock for every thread.
namespace race_programs {

// ---- programs ----

enum class Does : unsigned char {
  nothing,
  load,
  look,  ///< load what is volatile
  store,
  add,
  cas,  ///< that finds another value
  fence,
  fence_block,
  // Only in programs that are written: what these do takes turns that the oracle does not know.
  wait,    ///< for an addition, by atomics
  poll,    ///< the same by loads
  lock,    ///< by atomics
  unlock,  ///< by an atomic
  open     ///< by a store
};
constexpr std::array<std::string_view, 13> names{"",     "load",   "look",        "store", "add",
                                                 "cas",  "fence",  "fence_block", "wait",  "poll",
                                                 "lock", "unlock", "open"};

constexpr unsigned words = 4;  ///< of each memory: mostly two for data, two to synchronise on

struct Action {
  Does does = Does::nothing;
  unsigned char word = 0;
  bool is_shared = false;
  bool is_elsewhere = false;  ///< at another place in the source

  bool has_word() const { return does != Does::nothing && does != Does::fence && does != Does::fence_block; }
  bool is_atomic() const { return does == Does::add || does == Does::cas; }
  bool is_load() const { return does == Does::load || does == Does::look; }
};

constexpr unsigned most_blocks = 4;
constexpr std::array<unsigned, 5> active{0, 1, 2, 32, 33};  ///< threads that do anything but wait
constexpr unsigned block_size = 34;
constexpr unsigned phases = 2;  ///< each ends at a block barrier
constexpr unsigned steps = 3;   ///< of a phase, for each warp with a warp barrier between them, or none
constexpr unsigned actions = 6;

/// As text, such as "0:w0 / 3 | ffffffff; 0:0 store s1 / add g2; 1:33 load' g0 fence | store g0": of block 0 the masks of
/// warp 0, then what threads do. `/` is between steps, `|` between phases, and load' is at another place than load. "grid"
/// makes the first barrier between phases one of all blocks.
struct Program {
  unsigned blocks = 1;
  bool meets_grid = false;
  /// Of the warp barriers behind the steps; 0 is none.
  std::array<std::array<std::array<std::array<unsigned, steps>, 2>, phases>, most_blocks> masks{};
  Action action[most_blocks][active.size()][phases][steps][actions]{};
};

inline Program program_of(const std::string& text) {
  Program program;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line, ';');) {
    std::istringstream tokens{line};
    program.meets_grid = program.meets_grid || line == "grid";
    if (line == "grid") continue;
    unsigned block = 0, number = 0, phase = 0, step = 0, next = 0;
    char colon = 0;
    tokens >> block >> colon;
    const bool is_mask = (tokens >> std::ws).peek() == 'w';
    if (is_mask) tokens.get();
    tokens >> number;
    program.blocks = std::max(program.blocks, block + 1);
    const auto* const thread = std::ranges::find(active, number);
    if (!tokens || (!is_mask && thread == active.end())) throw std::invalid_argument{line};
    for (std::string token; tokens >> token;) {
      if (token == "/" || token == "|") {
        step = token == "/" ? step + 1 : 0;
        phase += token == "|";
        next = 0;
      } else if (is_mask) {
        program.masks.at(block).at(phase).at(number).at(step) =
            static_cast<unsigned>(std::stoul(token, nullptr, 16));
      } else {
        Action& action = program.action[block][thread - active.begin()][phase][step][next++];
        action.is_elsewhere = token.ends_with('\'');
        if (action.is_elsewhere) token.pop_back();
        const auto* const name = std::ranges::find(names, token);
        if (name == names.end()) throw std::invalid_argument{token};
        action.does = static_cast<Does>(name - names.begin());
        if (!action.has_word()) continue;
        char memory = 0, word = 0;
        tokens >> memory >> word;
        action.is_shared = memory == 's';
        action.word = static_cast<unsigned char>(word - '0');
      }
    }
  }
  return program;
}

inline std::string text_of(const Program& program) {
  std::string text = program.meets_grid ? "grid;" : "";
  // Without the separators behind which there is nothing.
  const auto end_line = [&] { text.erase(text.find_last_not_of(" /|") + 1) += ";\n"; };
  for (unsigned block = 0; block < program.blocks; ++block) {
    for (unsigned warp = 0; warp < 2; ++warp) {
      text += fmt::format("{}:w{}", block, warp);
      for (const auto& of_phase : program.masks[block]) {
        for (const unsigned mask : of_phase[warp])
          text += fmt::format(" {:x} /", mask);
        text.back() = '|';
      }
      end_line();
    }
    for (unsigned thread = 0; thread < active.size(); ++thread) {
      text += fmt::format("{}:{}", block, active[thread]);
      for (const auto& of_phase : program.action[block][thread]) {
        for (const auto& of_step : of_phase) {
          for (const Action& action : of_step) {
            if (action.does == Does::nothing) continue;
            text += fmt::format(" {}{}", names[static_cast<std::size_t>(action.does)],
                                action.is_elsewhere ? "'" : "");
            if (action.has_word()) text += fmt::format(" {}{}", action.is_shared ? 's' : 'g', action.word);
          }
          text += " /";
        }
        text.back() = '|';
      }
      end_line();
    }
  }
  return text;
}

// ---- races ----

/// An access of a race as a finding has it.
struct RaceMember {
  std::size_t block;
  unsigned thread;
  std::string verb;  ///< with ' elsewhere

  auto operator<=>(const RaceMember&) const = default;
};

/// What is missing between two accesses.
enum class Lack : unsigned char {
  order,
  a_fence,         ///< between an atomic that orders the two and the one that reads
  perhaps_a_fence  ///< the same, of a word with races, where what is read is anybody's guess
};

struct Race {
  Race(RaceMember a, RaceMember b, std::string at, Lack what)
      : one{std::move(a)}, other{std::move(b)}, word{std::move(at)}, lack{what} {
    if (other < one) std::swap(one, other);
  }

  RaceMember one, other;  ///< the lower one first
  std::string word;
  Lack lack;

  auto operator<=>(const Race&) const = default;
};

/// The words of races.
inline std::set<std::string> words_of(const std::set<Race>& races) {
  std::set<std::string> all;
  for (const Race& race : races)
    all.insert(race.word);
  return all;
}

inline std::string text_of(const std::set<Race>& races) {
  std::string text;
  for (const auto& [one, other, word, lack] : races)
    text += fmt::format("{}{}:{} {}, {}:{} {} {}{}", text.empty() ? "" : "; ", one.block, one.thread,
                        one.verb, other.block, other.thread, other.verb, word,
                        lack == Lack::order ? "" : " without a fence");
  return text;
}

// ---- the oracle ----

/// The threads whose atomics have happened, in order.
struct Atomics {
  struct By {
    unsigned block, thread;
    bool operator==(const By&) const = default;
  };
  By by[most_blocks * active.size() * phases * steps * actions];
  std::atomic<std::size_t> count;
};

using VectorClock = std::vector<unsigned>;

inline void join(VectorClock& clock, const VectorClock& other) {
  for (std::size_t i = 0; i < clock.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

/// What somebody knows of, and what of it plain loads may see: a fence follows each atomic that another block's accesses have
/// come by.
struct Knowledge {
  VectorClock told, fenced;

  void join_all(const Knowledge& other) {
    join(told, other.told);
    join(fenced, other.fenced);
  }
};

/// Keeps a full vector clock for every thread, and compares every access with every other one.
class Oracle {
 public:
  Oracle(const Program& program, const Atomics& atomics)
      : program_{program}, threads_(program.blocks * active.size()) {
    const Knowledge nothing{VectorClock(threads_.size()), VectorClock(threads_.size())};
    std::ranges::fill(threads_, Thread{nothing, nothing.told, nothing});
    released_.assign(words, nothing.told);
    released_in_block_.assign(program.blocks * 2 * words, nothing);
    run(atomics);
  }

  /// All races of the lowest block that has any, or else what is wrong between blocks.
  std::set<Race> races() const {
    std::map<unsigned, std::set<Race>> races;
    for (const Access& one : accesses_)
      for (const Access& other : accesses_)
        if (is_race(one, other))
          add(races[one.block == other.block ? one.block : most_blocks], one, other, Lack::order);
    if (!races.empty() && races.begin()->first != most_blocks) return races.begin()->second;
    std::set<Race>& between_blocks = races[most_blocks];
    const auto racing = words_of(between_blocks);
    for (const Access& write : accesses_)
      for (const Access& load : accesses_)
        if (is_unfenced(write, load))
          add(between_blocks, write, load,
              racing.contains(word_of(load)) ? Lack::perhaps_a_fence : Lack::a_fence);
    return between_blocks;
  }

 private:
  struct Thread {
    Knowledge now;
    VectorClock at_fence;
    Knowledge at_block_fence;
  };
  struct Access {
    unsigned block;
    unsigned thread;  ///< of all
    Action action;
    unsigned number;  ///< of the thread's own
    Knowledge known;
    std::size_t place;  ///< among all atomics, if it is one

    bool is_write() const { return !action.is_load(); }
  };
  struct Position {
    unsigned phase = 0, step = 0, action = 0;
    bool operator==(const Position&) const = default;
  };

  static unsigned of(unsigned block, unsigned thread) {
    return block * static_cast<unsigned>(active.size()) + thread;
  }

  // ---- the run ----

  void run(const Atomics& atomics) {
    std::vector<Position> at(threads_.size());
    std::size_t next_atomic = 0;
    // Each thread goes on until it has to wait for an atomic of another one, or for others at a barrier.
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (unsigned block = 0; block < program_.blocks; ++block) {
        for (unsigned thread = 0; thread < active.size(); ++thread) {
          auto& [phase, step, number] = at[of(block, thread)];
          for (; phase < phases && number < actions; ++number) {
            const Action& action = program_.action[block][thread][phase][step][number];
            if (action.is_atomic()) {
              const bool is_next =
                  next_atomic < atomics.count && atomics.by[next_atomic] == Atomics::By{block, thread};
              if (!is_next) break;
              ++next_atomic;
            }
            perform(block, of(block, thread), action, next_atomic);
            goes_on = true;
          }
        }
        for (unsigned warp = 0; warp < 2; ++warp)
          goes_on = end_steps(block, warp, at) || goes_on;
        goes_on = end_phase(block, block + 1, at) || goes_on;
      }
      goes_on = end_phase(0, program_.blocks, at) || goes_on;
    }
    // Blocks that did not run any more have done nothing that the others knew of.
    if (next_atomic < atomics.count) throw std::logic_error{"the oracle is stuck"};
  }

  /// Lets the threads go on that are at the end of a step and need not wait for others of its mask.
  bool end_steps(unsigned block, unsigned warp, std::vector<Position>& at) {
    bool goes_on = false;
    for (unsigned phase = 0; phase < phases; ++phase) {
      for (unsigned step = 0; step + 1 < steps; ++step) {
        std::vector<unsigned> members, going;
        bool all_are_here = true;
        for (unsigned thread = 0; thread < active.size(); ++thread) {
          if (active[thread] / 32 != warp) continue;
          const bool is_here = at[of(block, thread)] == Position{phase, step, actions};
          const bool meets = (program_.masks[block][phase][warp][step] >> active[thread] % 32 & 1) != 0;
          if (meets) all_are_here = all_are_here && is_here;
          if (is_here) (meets ? members : going).push_back(of(block, thread));
        }
        if (all_are_here && !members.empty()) {
          meet(members);
          std::ranges::copy(members, std::back_inserter(going));
        }
        for (const unsigned thread : going)
          at[thread] = {phase, step + 1, 0};
        goes_on = goes_on || !going.empty();
      }
    }
    return goes_on;
  }

  /// The same at the end of a phase, for all threads of these blocks.
  bool end_phase(unsigned first_block, unsigned end_block, std::vector<Position>& at) {
    const unsigned phase = at[of(first_block, 0)].phase;
    const bool is_of_grid = program_.meets_grid && phase == 0;
    if (phase == phases ||
        (is_of_grid ? end_block - first_block != program_.blocks : end_block != first_block + 1))
      return false;
    std::vector<unsigned> all;
    for (unsigned thread = of(first_block, 0); thread < of(end_block, 0); ++thread) {
      if (at[thread] != Position{phase, steps - 1, actions}) return false;
      all.push_back(thread);
    }
    meet(all);
    for (const unsigned thread : all) {
      at[thread] = {phase + 1, 0, 0};
      // A barrier of all blocks is a fence of each of their threads, too.
      if (is_of_grid) fence(threads_[thread]);
    }
    return true;
  }

  void meet(const std::vector<unsigned>& threads) {
    Thread all = threads_[threads.front()];
    for (const unsigned thread : threads) {
      all.now.join_all(threads_[thread].now);
      join(all.at_fence, threads_[thread].at_fence);
      all.at_block_fence.join_all(threads_[thread].at_block_fence);
    }
    for (const unsigned thread : threads)
      threads_[thread] = all;
  }

  static void fence(Thread& thread) {
    thread.now.fenced = thread.at_fence = thread.now.told;
    thread.at_block_fence = thread.now;
  }

  void perform(unsigned block, unsigned number, const Action& action, std::size_t place) {
    Thread& thread = threads_[number];
    if (action.does == Does::nothing) return;
    if (action.does == Does::fence) return fence(thread);
    if (action.does == Does::fence_block) {
      // Of other blocks it covers what one of the device has covered before.
      thread.at_block_fence = {thread.now.fenced, thread.now.fenced};
      std::copy_n(thread.now.told.begin() + of(block, 0), active.size(),
                  thread.at_block_fence.told.begin() + of(block, 0));
      return;
    }
    ++thread.now.told[number];
    accesses_.push_back({block, number, action, thread.now.told[number], thread.now, place});
    if (!action.is_atomic()) return;
    Knowledge& in_block = released_in_block_[(block * 2 + (action.is_shared ? 1 : 0)) * words + action.word];
    thread.now.join_all(in_block);
    if (!action.is_shared) join(thread.now.told, released_[action.word]);
    if (action.does == Does::cas) return;
    in_block.join_all(thread.at_block_fence);
    if (!action.is_shared) join(released_[action.word], thread.at_fence);
  }

  // ---- its accesses ----

  static bool knows(const VectorClock& clock, const Access& earlier) {
    return earlier.number <= clock[earlier.thread];
  }

  static bool share_a_word(const Access& one, const Access& other) {
    return one.action.word == other.action.word && one.action.is_shared == other.action.is_shared &&
           (!one.action.is_shared || one.block == other.block);
  }

  /// An access comes after an atomic of another block if it comes after a later one of its own block on the word.
  bool follows_atomic(const Access& earlier, const Access& later) const {
    if (!earlier.action.is_atomic() || earlier.block == later.block) return false;
    return std::ranges::any_of(accesses_, [&](const Access& own) {
      return own.block == later.block && own.action.is_atomic() && share_a_word(own, later) &&
             own.place > earlier.place && knows(later.known.told, own);
    });
  }

  bool is_race(const Access& one, const Access& other) const {
    if (one.thread >= other.thread || !share_a_word(one, other)) return false;
    if (one.action.is_load() && other.action.is_load()) return false;
    if (one.action.is_atomic() && other.action.is_atomic()) return false;
    return !knows(one.known.told, other) && !knows(other.known.told, one) && !follows_atomic(one, other) &&
           !follows_atomic(other, one);
  }

  /// Whether the load may miss the write: no fence is between, nor a later write of its own block.
  bool is_unfenced(const Access& write, const Access& load) const {
    if (!write.is_write() || load.action.does != Does::load || write.block == load.block) return false;
    if (!share_a_word(write, load) || follows_atomic(write, load)) return false;
    if (!knows(load.known.told, write) || knows(load.known.fenced, write)) return false;
    return std::ranges::none_of(accesses_, [&](const Access& own) {
      return own.block == load.block && own.is_write() && share_a_word(own, load) &&
             knows(own.known.told, write) && knows(load.known.told, own);
    });
  }

  static void add(std::set<Race>& races, const Access& one, const Access& other, Lack lack) {
    const auto accessor = [](const Access& access) {
      const std::string verb = access.action.is_atomic()           ? "atomically updates"
                               : access.action.does == Does::store ? "writes"
                                                                   : "reads";
      return RaceMember{access.block, active[access.thread % active.size()],
                        verb + (access.action.is_elsewhere ? "'" : "")};
    };
    races.emplace(accessor(one), accessor(other), word_of(one), lack);
  }

  static std::string word_of(const Access& access) {
    return fmt::format("{}{}", access.action.is_shared ? 's' : 'g', access.action.word);
  }

  const Program& program_;
  std::vector<Thread> threads_;
  std::vector<VectorClock> released_;         ///< by word of global memory
  std::vector<Knowledge> released_in_block_;  ///< by block, and word of global memory, then of shared
  std::vector<Access> accesses_;
};

}  // namespace race_programs
