#include "device/emulated/launch_accesses.hpp"

#include <algorithm>
#include <tuple>

#include "device/emulated/global_checker.hpp"

namespace reduction::emulated {
namespace {

/// Whether an access in a lower block is ordered before one in a higher block. Atomic operations run in the order of
/// blocks, and one needs no fence to be seen by them; but to have come later it has to know of an earlier one.
bool ordered(const LaunchAccesses::Kind& lower, const LaunchAccesses::Kind& higher) {
  return (lower.released || lower.operation == Operation::atomic) && higher.acquired;
}

bool can_race(Operation one, Operation other) { return one != other || one == Operation::store; }

Witness witness(std::size_t block, unsigned thread, const LaunchAccesses::Kind& kind) {
  return {describe_threads({thread}), block, verb_of(kind.operation), kind.call_site, {}};
}

}  // namespace

void LaunchAccesses::Visits::add(const Visit& visit) {
  const auto keep = [this](const Visit& other) {
    if (other.block == lowest.block) {
      lowest = std::min(lowest, other);
    } else if (other < lowest) {
      second = std::exchange(lowest, other);
    } else if (second.block == lowest.block || other < second) {
      second = other;
    }
  };
  keep(visit);
  if (visit.block > highest.block) highest = visit;
}

/// The lowest known block above `block`.
const LaunchAccesses::Visit* LaunchAccesses::Visits::after(std::size_t block) const {
  for (const Visit* visit : {&lowest, &second, &highest})
    if (visit->block > block) return visit;
  return nullptr;
}

void LaunchAccesses::add(std::size_t block, const std::vector<Entry>& entries) {
  if (entries.empty()) return;
  const std::lock_guard lock{mutex_};
  for (const Entry& entry : entries) {
    Word& word = words_.try_emplace(entry.word, Word{entry.buffer, {}}).first->second;
    const Visit visit{block, entry.thread};
    const auto known = std::ranges::find(word.kinds, entry.kind, &Visits::kind);
    if (known != word.kinds.end()) {
      known->add(visit);
    } else {
      word.kinds.push_back({entry.kind, visit, visit, visit});
    }
  }
}

std::vector<Evidence> LaunchAccesses::evidence() const {
  std::vector<std::pair<const std::byte*, Word>> suspects;
  for (const auto& [address, word] : words_) {
    const bool unwritten = std::ranges::any_of(word.kinds, [](const Visits& v) { return v.kind.unwritten; });
    if (unwritten || is_shared(word)) suspects.emplace_back(address, word);
  }
  std::ranges::sort(suspects, {}, [](const auto& suspect) { return suspect.first; });
  CaseFile findings;
  for (auto& [address, word] : suspects) {
    // Two stores say most about a race, so that they come first.
    std::ranges::sort(word.kinds, [](const Visits& a, const Visits& b) {
      const auto rank = [](const Visits& v) {
        return std::tuple{v.kind.operation != Operation::store, v.lowest, v.kind};
      };
      return rank(a) < rank(b);
    });
    judge_reads(address, word, findings);
    judge_races(address, word, findings);
  }
  return findings.take();
}

bool LaunchAccesses::is_shared(const Word& word) {
  return std::ranges::any_of(word.kinds, [&](const Visits& visits) {
    return visits.lowest.block != visits.highest.block || visits.lowest.block != word.kinds[0].lowest.block;
  });
}

/// A read is of an unwritten word unless a lower block has stored to it: with that one it is in order, or in a race.
void LaunchAccesses::judge_reads(const std::byte* address, const Word& word, CaseFile& findings) {
  for (const Visits& read : word.kinds) {
    if (!read.kind.unwritten) continue;
    const bool is_written = std::ranges::any_of(word.kinds, [&](const Visits& visits) {
      return visits.kind.operation == Operation::store && visits.lowest.block < read.lowest.block;
    });
    if (is_written || !findings.is_new(Fault::uninitialised_read, read.kind.call_site)) continue;
    const Access access{read.kind.operation, address, read.kind.bytes, read.kind.call_site};
    findings.add({Fault::uninitialised_read,
                  describe_global(access, *word.buffer),
                  {witness(read.lowest.block, read.lowest.thread, read.kind)}});
  }
}

void LaunchAccesses::judge_races(const std::byte* address, const Word& word, CaseFile& findings) {
  for (const Visits& one : word.kinds) {
    for (const Visits& other : word.kinds) {
      if (!can_race(one.kind.operation, other.kind.operation) || ordered(one.kind, other.kind)) continue;
      const Visit* const higher = other.after(one.lowest.block);
      const auto [low, high] = std::minmax(one.kind.call_site, other.kind.call_site);
      if (higher == nullptr || !findings.is_new(Fault::race, low, high)) continue;
      const Access access{one.kind.operation, address, one.kind.bytes, one.kind.call_site};
      findings.add({Fault::race,
                    describe_global(access, *word.buffer),
                    {witness(one.lowest.block, one.lowest.thread, one.kind),
                     witness(higher->block, higher->thread, other.kind)}});
    }
  }
}

void LaunchAccesses::mark_initialised() const {
  for (const auto& [address, word] : words_) {
    const bool written =
        std::ranges::any_of(word.kinds, [](const Visits& v) { return v.kind.operation != Operation::load; });
    if (!written) continue;
    const auto offset = static_cast<std::size_t>(address - word.buffer->begin());
    const_cast<Buffer*>(word.buffer)->mark(offset, Buffer::word_bytes, true);
  }
}

}  // namespace reduction::emulated
