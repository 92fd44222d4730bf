#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
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
constexpr std::array<std::string_view, 12> names{
    "", "load", "store", "add", "cas", "fence", "fence_block", "wait", "poll", "lock", "unlock", "open"};

constexpr unsigned words = 4;  ///< of each memory: mostly two for data, two to synchronise on

struct Action {
  Does does = Does::nothing;
  unsigned char word = 0;
  bool is_shared = false;
  bool is_elsewhere = false;  ///< at another place in the source

  bool has_word() const { return does != Does::nothing && does != Does::fence && does != Does::fence_block; }
  bool is_atomic() const { return does == Does::add || does == Does::cas; }
};

constexpr unsigned most_blocks = 4;
constexpr std::array<unsigned, 5> active{0, 1, 2, 32, 33};  ///< threads that do anything but wait
constexpr unsigned block_size = 34;
constexpr unsigned phases = 2;  ///< each ends at a block barrier
constexpr unsigned steps = 3;   ///< of a phase, for each warp with a warp barrier between them, or none
constexpr unsigned actions = 6;

/// As text, such as "0:w0 / 3 | ffffffff; 0:0 store s1 / add g2; 1:33 load' g0 fence | store g0": of block 0 the masks of
/// warp 0, then what threads do. `/` is between steps, `|` between phases, and load' is at another place than load.
struct Program {
  unsigned blocks = 1;
  /// Of the warp barriers behind the steps; 0 is none.
  std::array<std::array<std::array<std::array<unsigned, steps>, 2>, phases>, most_blocks> masks{};
  Action action[most_blocks][active.size()][phases][steps][actions]{};
};

inline Program program_of(const std::string& text) {
  Program program;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line, ';');) {
    std::istringstream tokens{line};
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
  std::string text;
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
  std::string verb;  ///< with ' elsewhere, and with ? where the place is not known

  auto operator<=>(const RaceMember&) const = default;
};

struct Race {
  Race(RaceMember a, RaceMember b, std::string at)
      : one{std::move(a)}, other{std::move(b)}, word{std::move(at)} {
    if (other < one) std::swap(one, other);
  }

  RaceMember one, other;  ///< the lower one first
  std::string word;

  auto operator<=>(const Race&) const = default;
};

inline std::string text_of(const std::set<Race>& races) {
  std::string text;
  for (const auto& [one, other, word] : races)
    text += fmt::format("{}{}:{} {}, {}:{} {} {}", text.empty() ? "" : "; ", one.block, one.thread, one.verb,
                        other.block, other.thread, other.verb, word);
  return text;
}

// ---- the oracle ----

/// The threads whose atomics have happened in a block, in order.
struct Atomics {
  unsigned threads[active.size() * phases * steps * actions];
  std::size_t count;
};

using VectorClock = std::vector<unsigned>;

inline void join(VectorClock& clock, const VectorClock& other) {
  for (std::size_t i = 0; i < clock.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

class Oracle {
 public:
  /// \param atomics  of each block.
  Oracle(const Program& program, const Atomics* atomics)
      : program_{program}, atomics_{atomics}, nothing_(program.blocks * active.size(), 0) {
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
  struct Position {
    unsigned step = 0, action = 0;
  };

  static unsigned of(unsigned block, unsigned thread) {
    return block * static_cast<unsigned>(active.size()) + thread;
  }

  void run(unsigned block) {
    std::ranges::fill(released_in_block_, nothing_);
    std::size_t next_atomic = 0;
    for (unsigned phase = 0; phase < phases; ++phase) {
      std::array<Position, active.size()> at;
      // Each thread goes on until it has to wait for an atomic of another one, or for its warp.
      for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (unsigned thread = 0; thread < active.size(); ++thread) {
          auto& [step, number] = at[thread];
          while (number < actions) {
            const Action& action = program_.action[block][thread][phase][step][number];
            if (action.is_atomic() && atomics_[block].threads[next_atomic] != thread) break;
            next_atomic += action.is_atomic();
            perform(block, of(block, thread), action);
            ++number;
            goes_on = true;
          }
        }
        for (unsigned warp = 0; warp < 2; ++warp)
          for (unsigned step = 0; step + 1 < steps; ++step)
            goes_on = end_step(block, warp, step, program_.masks[block][phase][warp][step], at) || goes_on;
      }
      for (const Position& position : at)
        if (position.step != steps - 1 || position.action != actions)
          throw std::logic_error{"the oracle is stuck"};
      meet(block, {0, 1, 2, 3, 4});
    }
  }

  /// Lets the threads go on that are at the end of the step and need not wait for others of the mask.
  bool end_step(unsigned block, unsigned warp, unsigned step, unsigned mask,
                std::array<Position, active.size()>& at) {
    std::vector<unsigned> members, going;
    bool all_are_here = true;
    for (unsigned thread = 0; thread < active.size(); ++thread) {
      if (active[thread] / 32 != warp) continue;
      const bool is_here = at[thread].step == step && at[thread].action == actions;
      const bool meets = (mask >> active[thread] % 32 & 1) != 0;
      if (meets) all_are_here = all_are_here && is_here;
      if (is_here) (meets ? members : going).push_back(thread);
    }
    if (all_are_here && !members.empty()) {
      meet(block, members);
      std::ranges::copy(members, std::back_inserter(going));
    }
    for (const unsigned thread : going)
      at[thread] = {step + 1, 0};
    return !going.empty();
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
    if (!action.is_atomic()) return;
    VectorClock& in_block = released_in_block_[action.word + (action.is_shared ? words : 0)];
    join(now, in_block);
    if (!action.is_shared) join(now, released_[action.word]);
    if (action.does == Does::cas) return;
    join(in_block, at_block_fence_[thread]);
    if (!action.is_shared) join(released_[action.word], at_fence_[thread]);
  }

  static bool knows(const Access& later, const Access& earlier) {
    return earlier.number <= later.known[earlier.thread];
  }

  static bool share_a_word(const Access& one, const Access& other) {
    return one.action.word == other.action.word && one.action.is_shared == other.action.is_shared;
  }

  /// A plain access in a higher block comes after an atomic of a lower one if it comes after one of its own on the word.
  bool follows_atomic(const Access& lower, const Access& higher) const {
    if (lower.block >= higher.block || !lower.action.is_atomic() || higher.action.is_atomic()) return false;
    return std::ranges::any_of(accesses_, [&](const Access& own) {
      return own.block == higher.block && own.action.is_atomic() && share_a_word(own, higher) &&
             knows(higher, own);
    });
  }

  std::set<Race> races_in(unsigned low, unsigned high) const {
    std::set<Race> races;
    for (const Access& one : accesses_) {
      if (one.block != low) continue;
      for (const Access& other : accesses_) {
        if (other.block != high || one.thread == other.thread || (low != high && one.action.is_shared))
          continue;
        if (!share_a_word(one, other)) continue;
        const bool both_load = one.action.does == Does::load && other.action.does == Does::load;
        if (both_load || (one.action.is_atomic() && other.action.is_atomic())) continue;
        if (knows(one, other) || knows(other, one) || follows_atomic(one, other)) continue;
        races.emplace(accessor(one), accessor(other),
                      fmt::format("{}{}", one.action.is_shared ? 's' : 'g', one.action.word));
      }
    }
    return races;
  }

  static RaceMember accessor(const Access& access) {
    const std::string verb = access.action.is_atomic()           ? "atomically updates"
                             : access.action.does == Does::store ? "writes"
                                                                 : "reads";
    return {access.block, active[access.thread % active.size()],
            verb + (access.action.is_elsewhere ? "'" : "")};
  }

  const Program& program_;
  const Atomics* atomics_;
  VectorClock nothing_;
  std::vector<VectorClock> now_, at_fence_, at_block_fence_;
  std::vector<VectorClock> released_;           ///< by word of global memory
  std::vector<VectorClock> released_in_block_;  ///< by word of global memory, then of shared
  std::vector<Access> accesses_;
};

}  // namespace race_programs
