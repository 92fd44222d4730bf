#include "device/emulated/global_checker.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>
#include <utility>

namespace reduction::emulated {
namespace {

Witness witness(std::size_t block, unsigned thread, Operation operation, const void* call_site) {
  return {describe_threads({thread}), block, verb_of(operation), call_site, {}};
}

bool can_race(Operation one, Operation other) { return one != other || one == Operation::store; }

}  // namespace

std::string describe_global(const Access& access, const Buffer& buffer) {
  const std::ptrdiff_t offset = access.address - buffer.begin();
  const auto bytes = static_cast<std::ptrdiff_t>(access.bytes);
  std::ostringstream text;
  text << bytes << "-byte word " << (offset < 0 ? (offset - bytes + 1) / bytes : offset / bytes)
       << " of a global buffer of " << buffer.bytes() / access.bytes;
  return std::move(text).str();
}

void GlobalChecker::check(const Access& access, Buffer& buffer, unsigned thread, std::size_t block,
                          const HappensBefore& order, CaseFile& findings) {
  const auto offset = static_cast<std::size_t>(access.address - buffer.begin());
  const bool reads = access.operation != Operation::store;
  if (access.operation == Operation::load && !buffer.is_recorded()) {
    if (!buffer.is_initialised(offset, access.bytes) &&
        findings.is_new(Fault::uninitialised_read, access.call_site)) {
      findings.add({Fault::uninitialised_read,
                    describe_global(access, buffer),
                    {witness(block, thread, access.operation, access.call_site)}});
    }
    return;
  }
  const FenceOrder::Point now = fences_.now();
  const std::size_t first = offset / Buffer::word_bytes * Buffer::word_bytes;
  for (std::size_t at = first; at < offset + access.bytes; at += Buffer::word_bytes) {
    const bool unwritten = reads && !buffer.is_initialised(at, Buffer::word_bytes);
    check_word(buffer.begin() + at, buffer,
               {access.operation, fences_.is_acquired(thread), unwritten, thread, access.call_site,
                access.bytes, order.now(thread), now},
               order);
  }
}

void GlobalChecker::check_word(const std::byte* address, const Buffer& buffer, Record self,
                               const HappensBefore& order) {
  Word& word = words_.try_emplace(address, Word{&buffer, {}}).first->second;
  for (const Record& other : word.records) {
    if (!can_race(self.operation, other.operation) && !self.unwritten) continue;
    const bool is_ordered = order.ordered(other.moment, other.thread, self.thread);
    if (is_ordered && other.operation != Operation::load) self.unwritten = false;
    if (!is_ordered && can_race(self.operation, other.operation)) note_race({address, &buffer, self, other});
  }
  const auto key = [](const Record& record) {
    return std::tie(record.operation, record.thread, record.call_site, record.acquired, record.unwritten,
                    record.bytes);
  };
  const auto place = std::ranges::lower_bound(word.records, key(self), {}, key);
  if (place != word.records.end() && key(*place) == key(self)) {
    *place = self;
  } else {
    word.records.insert(place, self);
  }
}

/// Of the races between two places, keeps the one of the lowest word and threads: it does not depend on the schedule.
void GlobalChecker::note_race(const Race& seen) {
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
  } else if (rank(race) < rank(*known)) {
    *known = race;
  }
}

void GlobalChecker::end_block(std::size_t block, CaseFile& findings, LaunchAccesses& launch) {
  std::ranges::sort(races_, {}, [](const Race& race) {
    return std::tuple{race.word, race.one.thread, race.other.thread, race.one.call_site,
                      race.other.call_site};
  });
  for (const Race& race : races_) {
    const Access access{race.one.operation, race.word, race.one.bytes, race.one.call_site};
    findings.add({Fault::race,
                  describe_global(access, *race.buffer),
                  {witness(block, race.one.thread, race.one.operation, race.one.call_site),
                   witness(block, race.other.thread, race.other.operation, race.other.call_site)}});
  }
  std::vector<LaunchAccesses::Entry> entries;
  for (const auto& [address, word] : words_) {
    for (const Record& record : word.records) {
      const LaunchAccesses::Kind kind{record.operation, fences_.is_released(record.thread, record.point),
                                      record.acquired,  record.unwritten,
                                      record.bytes,     record.call_site};
      entries.push_back({address, word.buffer, kind, record.thread});
    }
  }
  launch.add(block, entries);
  races_.clear();
  words_.clear();
}

}  // namespace reduction::emulated
