#include "device/emulated/global_races.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace reduction::emulated {
namespace {

ThreadAction action_of(std::size_t block, unsigned thread, Operation operation, const void* call_site) {
  return {{thread}, block, verb_of(operation), call_site, {}};
}

/// The bytes of the word at offset `word` that lie between the two, a bit each.
std::uint8_t mask_of(std::size_t word, std::size_t begin, std::size_t end) {
  unsigned mask = 0;
  for (std::size_t i = 0; i < word_bytes; ++i)
    if (word + i >= begin && word + i < end) mask |= 1U << i;
  return static_cast<std::uint8_t>(mask);
}

/// An uninitialised read.
FaultRecord unwritten_read(std::string memory, ThreadAction action) {
  return {Fault::uninitialised_read,
          std::move(memory),
          {std::move(action)},
          "global memory begins without values: fill the buffer before the launch, or write the word first"};
}

std::size_t first_of(std::uint8_t mask) { return static_cast<std::size_t>(std::countr_zero(mask)); }

/// Whether an access in a lower block is ordered before one in a higher block. Atomic operations run in the order of
/// blocks, and one needs no fence to be seen by them; but to have come later it has to know of an earlier one.
bool ordered(const GridRaces::Kind& lower, const GridRaces::Kind& higher) {
  return (lower.released || lower.operation == Operation::atomic) && higher.acquired;
}

}  // namespace

// ---- within a block ----

void BlockRaces::check(const Access& access, Buffer& buffer, unsigned thread, std::size_t block,
                       const HappensBefore& order, FaultLog& findings) {
  const auto offset = static_cast<std::size_t>(access.address - buffer.begin());
  const bool reads = access.operation != Operation::store;
  if (access.operation == Operation::load && !buffer.is_recorded()) {
    const std::size_t surely_a_member = access.may_be_padding(0)  ? 0
                                        : access.may_have_padding ? 1
                                                                  : access.bytes;
    if (!buffer.is_initialised(offset, surely_a_member) &&
        findings.is_new(Fault::uninitialised_read, access.call_site)) {
      findings.add(unwritten_read(buffer.describe(access.address, access.bytes),
                                  action_of(block, thread, access.operation, access.call_site)));
    }
    return;
  }
  if (!buffer.is_recorded()) buffer.mark(offset, access.bytes, true);
  const FenceOrder::Point now = fences_.now();
  const std::size_t first = offset / word_bytes * word_bytes;
  for (std::size_t at = first; at < offset + access.bytes; at += word_bytes) {
    const bool may_be_padding = access.may_be_padding(at < offset ? 0 : at - offset);
    const bool unwritten = reads && !may_be_padding && !buffer.is_initialised(at, word_bytes);
    check_word(
        buffer.begin() + at, buffer,
        {access.operation, fences_.is_acquired(thread), unwritten, mask_of(at, offset, offset + access.bytes),
         thread, access.call_site, access.bytes, order.now(thread), now},
        order);
  }
}

void BlockRaces::check_word(const std::byte* address, const Buffer& buffer, Record self,
                            const HappensBefore& order) {
  Word& word = words_.try_emplace(address, Word{&buffer, {}}).first->second;
  for (const Record& other : word.records) {
    if ((self.mask & other.mask) == 0) continue;
    if (!can_race(self.operation, other.operation) && !self.unwritten) continue;
    const bool is_ordered = order.ordered(other.moment, other.thread, self.thread);
    if (is_ordered && other.operation != Operation::load) self.unwritten = false;
    if (is_ordered || !can_race(self.operation, other.operation)) continue;
    const bool after_warp_barrier =
        order.in_parts(self.thread) || order.last_warp_barrier(self.thread) > order.last_block_barrier();
    note_race({address, &buffer, self, other, self.thread / warp_size != other.thread / warp_size,
               after_warp_barrier});
  }
  const auto key = [](const Record& record) {
    return std::tie(record.operation, record.thread, record.call_site, record.acquired, record.unwritten,
                    record.mask, record.bytes);
  };
  const auto place = std::ranges::lower_bound(word.records, key(self), {}, key);
  if (place != word.records.end() && key(*place) == key(self)) {
    *place = self;
  } else {
    word.records.insert(place, self);
  }
}

/// Of the races between two places, keeps the one of the lowest word and threads: it does not depend on the schedule.
void BlockRaces::note_race(const Race& seen) {
  const auto says_more = [](const Record& record) {
    return std::tuple{record.operation == Operation::load, record.thread, record.operation, record.call_site};
  };
  Race race = seen;
  if (says_more(race.other) < says_more(race.one)) std::swap(race.one, race.other);
  const auto places = [](const Race& each) { return std::minmax(each.one.call_site, each.other.call_site); };
  const auto rank = [&](const Race& each) {
    return std::tuple{each.word, says_more(each.one), says_more(each.other)};
  };
  const auto known = std::ranges::find_if(races_, [&](const Race& r) {
    return std::pair<const void*, const void*>{places(r)} ==
           std::pair<const void*, const void*>{places(race)};
  });
  if (known == races_.end()) {
    races_.push_back(race);
    return;
  }
  race.between_warps = known->between_warps = race.between_warps || known->between_warps;
  if (rank(race) < rank(*known)) *known = race;
}

void BlockRaces::end_block(std::size_t block, FaultLog& findings, GridRaces& launch) {
  std::ranges::sort(races_, {}, [](const Race& race) {
    return std::tuple{race.word, race.one.thread, race.other.thread, race.one.call_site,
                      race.other.call_site};
  });
  for (const Race& race : races_) {
    FaultRecord record{Fault::race,
                       race.buffer->describe(race.word + first_of(race.one.mask), race.one.bytes),
                       {action_of(block, race.one.thread, race.one.operation, race.one.call_site),
                        action_of(block, race.other.thread, race.other.operation, race.other.call_site)}};
    record.after_warp_barrier = race.after_warp_barrier;
    if (race.between_warps) findings.add_race_between_warps(race.one.call_site, race.other.call_site);
    findings.add(std::move(record));
  }
  std::vector<GridRaces::Entry> entries;
  for (const auto& [address, word] : words_) {
    for (const Record& record : word.records) {
      const GridRaces::Kind kind{record.operation, fences_.is_released(record.thread, record.point),
                                 record.acquired,  record.unwritten,
                                 record.mask,      record.bytes,
                                 record.call_site};
      entries.push_back({address, word.buffer, kind, record.thread});
    }
  }
  launch.add(block, entries);
  races_.clear();
  words_.clear();
}

// ---- between blocks ----

void GridRaces::Visits::add(const Visit& visit) {
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
const GridRaces::Visit* GridRaces::Visits::after(std::size_t block) const {
  for (const Visit* visit : {&lowest, &second, &highest})
    if (visit->block > block) return visit;
  return nullptr;
}

void GridRaces::add(std::size_t block, const std::vector<Entry>& entries) {
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

std::vector<FaultRecord> GridRaces::faults() const {
  std::vector<std::pair<const std::byte*, Word>> suspects;
  for (const auto& [address, word] : words_) {
    const bool unwritten = std::ranges::any_of(word.kinds, [](const Visits& v) { return v.kind.unwritten; });
    if (unwritten || is_shared(word)) suspects.emplace_back(address, word);
  }
  std::ranges::sort(suspects, {}, [](const auto& suspect) { return suspect.first; });
  FaultLog findings;
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

bool GridRaces::is_shared(const Word& word) {
  return std::ranges::any_of(word.kinds, [&](const Visits& visits) {
    return visits.lowest.block != visits.highest.block || visits.lowest.block != word.kinds[0].lowest.block;
  });
}

/// A read is of an unwritten word unless a lower block has stored to it: with that one it is in order, or in a race.
void GridRaces::judge_reads(const std::byte* address, const Word& word, FaultLog& findings) {
  for (const Visits& read : word.kinds) {
    if (!read.kind.unwritten) continue;
    const bool is_written = std::ranges::any_of(word.kinds, [&](const Visits& visits) {
      return visits.kind.operation == Operation::store && visits.lowest.block < read.lowest.block;
    });
    if (is_written || !findings.is_new(Fault::uninitialised_read, read.kind.call_site)) continue;
    findings.add(unwritten_read(
        word.buffer->describe(address + first_of(read.kind.mask), read.kind.bytes),
        action_of(read.lowest.block, read.lowest.thread, read.kind.operation, read.kind.call_site)));
  }
}

void GridRaces::judge_races(const std::byte* address, const Word& word, FaultLog& findings) {
  for (const Visits& one : word.kinds) {
    for (const Visits& other : word.kinds) {
      if ((one.kind.mask & other.kind.mask) == 0) continue;
      if (!can_race(one.kind.operation, other.kind.operation) || ordered(one.kind, other.kind)) continue;
      const Visit* const higher = other.after(one.lowest.block);
      const auto [low, high] = std::minmax(one.kind.call_site, other.kind.call_site);
      if (higher == nullptr || !findings.is_new(Fault::race, low, high)) continue;
      FaultRecord record{
          Fault::race,
          word.buffer->describe(address + first_of(one.kind.mask), one.kind.bytes),
          {action_of(one.lowest.block, one.lowest.thread, one.kind.operation, one.kind.call_site),
           action_of(higher->block, higher->thread, other.kind.operation, other.kind.call_site)}};
      record.is_unreleased = other.kind.acquired;
      findings.add(std::move(record));
    }
  }
}

void GridRaces::mark_initialised() const {
  for (const auto& [address, word] : words_) {
    const bool written =
        std::ranges::any_of(word.kinds, [](const Visits& v) { return v.kind.operation != Operation::load; });
    if (!written) continue;
    const auto offset = static_cast<std::size_t>(address - word.buffer->begin());
    const_cast<Buffer*>(word.buffer)->mark(offset, word_bytes, true);
  }
}

}  // namespace reduction::emulated
