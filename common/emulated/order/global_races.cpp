#include "emulated/order/global_races.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "emulated/run/lanes.hpp"

namespace __emulated {
namespace {

/// The bytes of the word at offset `word` that lie between the two, a bit each.
std::uint8_t mask_of(std::size_t word, std::size_t begin, std::size_t end) {
  unsigned mask = 0;
  for (std::size_t i = 0; i < word_bytes; ++i)
    if (word + i >= begin && word + i < end) mask |= 1U << i;
  return static_cast<std::uint8_t>(mask);
}

/// That a block can make: as many numbers as a shadow word has bits for, and more than any kernel needs.
constexpr unsigned most_kinds = 1U << 20;

}  // namespace

// ---- while a block runs ----

GlobalRaces::Slot& GlobalRaces::slot_of(const std::byte* begin) {
  const std::size_t mixed = reinterpret_cast<std::uintptr_t>(begin) / line_bytes * 0x9e3779b97f4a7c15;
  std::size_t at = mixed >> 32 & (slots_.size() - 1);
  while (slots_[at].begin != nullptr && slots_[at].begin != begin)
    at = (at + 1) & (slots_.size() - 1);
  return slots_[at];
}

GlobalRaces::ShadowLine& GlobalRaces::line_of(Buffer& buffer, std::size_t offset) {
  const std::size_t number = offset / line_bytes;
  const std::byte* const begin = buffer.begin() + number * line_bytes;
  const Slot& slot = slot_of(begin);
  return slot.begin != nullptr ? *slot.line : new_line(buffer, number);
}

GlobalRaces::ShadowLine& GlobalRaces::new_line(Buffer& buffer, std::size_t number) {
  if (2 * (lines_ + 1) > slots_.size()) {
    const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& slot : before)
      if (slot.begin != nullptr) slot_of(slot.begin) = slot;
  }
  if (lines_ == slabs_.size() * lines_in_slab)
    slabs_.push_back(std::make_unique<ShadowLine[]>(lines_in_slab));
  ShadowLine& line = slabs_[lines_ / lines_in_slab][lines_ % lines_in_slab];
  ++lines_;
  line = {&buffer, number, {}};
  const std::byte* const begin = buffer.begin() + number * line_bytes;
  slot_of(begin) = {begin, &line};
  return line;
}

unsigned GlobalRaces::number_of(const AccessKind& kind) {
  unsigned& recent = recent_[(reinterpret_cast<std::uintptr_t>(kind.call_site) + kind.mask) % recent_.size()];
  if (recent != 0 && kinds_[recent - 1].equals(kind)) return recent - 1;
  const unsigned number = kinds_.number_of(kind);
  if (number >= most_kinds) throw std::length_error{"a block makes too many kinds of accesses to follow"};
  recent = number + 1;
  return number;
}

void GlobalRaces::check(const Access& access, Buffer& buffer, unsigned thread) {
  const auto offset = static_cast<std::size_t>(access.address - buffer.begin());
  const std::size_t end = offset + access.bytes;
  AccessKind kind{access.call_site, fences_.acquired(thread), access.operation,
                  static_cast<std::uint8_t>(access.bytes)};
  const unsigned flags = (fences_.is_acquired(thread) ? AccessKind::knows_atomics : 0U) |
                         (access.is_volatile ? AccessKind::is_volatile : 0U);
  const auto moment = now(thread);
  for (std::size_t at = offset / word_bytes * word_bytes; at < end; at += word_bytes) {
    const bool may_be_padding = access.may_be_padding(at < offset ? 0 : at - offset);
    const bool is_unwritten =
        access.operation != Operation::store && !may_be_padding && !buffer.is_initialised(at, word_bytes);
    kind.mask = mask_of(at, offset, end);
    kind.flags = static_cast<std::uint8_t>(flags | (is_unwritten ? AccessKind::unwritten : 0U));
    ShadowWord& shadow = line_of(buffer, at).words[at / word_bytes % words_in_line];
    const unsigned number = number_of(kind);
    const std::uint32_t bits = ShadowWord::bits_of(number, thread);
    if (shadow.is_empty() || shadow.bits == bits) {
      shadow = {moment, bits};
    } else {
      check_word(shadow, buffer.begin() + at, buffer, number, thread);
    }
  }
}

/// Others have accessed the word, or the thread has done so otherwise.
void GlobalRaces::check_word(ShadowWord& shadow, const std::byte* word, const Buffer& buffer, unsigned kind,
                             unsigned thread) {
  if (!shadow.has_groups()) {
    const ShadowWord before = std::exchange(shadow, ShadowWord{0, in_groups});
    note(shadow, before.kind(), before.thread(), before.moment);
  }
  // Loads among loads are most of what there is.
  if (shadow.moment != 0 || kinds_[kind].writes()) {
    kind = number_of(check_groups(shadow, word, buffer, kinds_[kind], thread));
  }
  note(shadow, kind, thread, now(thread));
}

/// Notes the races of an access. Returns its kind, as what came before it makes it.
AccessKind GlobalRaces::check_groups(const ShadowWord& shadow, const std::byte* word, const Buffer& buffer,
                                     AccessKind self, unsigned thread) {
  for (std::uint32_t next = shadow.first_group(); next != 0; next = groups_[next - 1].next) {
    const LaneGroup& group = groups_[next - 1];
    const AccessKind& other = kinds_[group.kind];
    if ((self.mask & other.mask) == 0) continue;
    const bool races = can_race(self.operation, other.operation);
    if (!races && !(self.has(AccessKind::unwritten) && other.writes())) continue;
    bool is_noted = false;
    for (const unsigned lane : lanes_of(group.lanes)) {
      const unsigned other_thread = group.warp * warp_size + lane;
      if (order_.ordered(order_.block_begin() + group.moment, other_thread, thread)) {
        if (other.writes()) self.flags &= static_cast<std::uint8_t>(~AccessKind::unwritten);
        if (other.operation == Operation::atomic && self.operation != Operation::atomic) {
          self.flags |= AccessKind::follows_atomic;
        }
      } else if (races && !std::exchange(is_noted, true)) {
        note_race({word,
                   &buffer,
                   {self, thread},
                   {other, other_thread},
                   thread / warp_size != group.warp,
                   order_.follows_warp_barrier(thread)});
      }
    }
  }
  return self;
}

/// Of a thread's accesses of one kind, the last one is kept.
void GlobalRaces::note(ShadowWord& shadow, unsigned kind, unsigned thread, std::uint32_t moment) {
  const unsigned own = bit_of(thread % warp_size);
  const auto warp = static_cast<std::uint16_t>(thread / warp_size);
  const std::uint32_t first = shadow.first_group();
  if (first != 0) {
    LaneGroup& last = groups_[first - 1];
    if (last.kind == kind && last.warp == warp && last.moment == moment && last.is_only_one) {
      last.lanes |= own;
      return;
    }
  }
  LaneGroup* same = nullptr;
  LaneGroup* unused = nullptr;
  bool is_only_one = true;
  for (std::uint32_t next = first; next != 0; next = groups_[next - 1].next) {
    LaneGroup& group = groups_[next - 1];
    if (group.kind == kind && group.warp == warp) {
      if (group.moment == moment) {
        same = &group;
      } else {
        group.lanes &= ~own;
        group.is_only_one = is_only_one = false;
      }
    }
    if (group.lanes == 0) unused = &group;
  }
  if (same != nullptr) {
    same->lanes |= own;
  } else if (unused != nullptr) {
    *unused = {kind, moment, own, unused->next, warp, is_only_one};
  } else {
    groups_.push_back({kind, moment, own, first, warp, is_only_one});
    shadow.bits = in_groups | static_cast<std::uint32_t>(groups_.size());
  }
  if (kinds_[kind].writes()) shadow.moment = 1;
}

/// Of the races between two access sites, keeps the one of the lowest word and threads: it does not depend on the schedule.
void GlobalRaces::note_race(const Race& seen) {
  const auto says_more = [](const RacingAccess& access) {
    return std::tuple{!access.kind.writes(), access.thread, access.kind.operation, access.kind.call_site};
  };
  const auto rank = [&](const Race& race) {
    return std::tuple{race.word, says_more(race.one), says_more(race.other)};
  };
  Race race = seen;
  if (says_more(race.other) < says_more(race.one)) std::swap(race.one, race.other);
  const auto sites = [](const Race& of) {
    const auto [low, high] = std::minmax(of.one.kind.call_site, of.other.kind.call_site);
    return std::pair{low, high};
  };
  const auto known = std::ranges::find(races_, sites(race), sites);
  if (known == races_.end()) {
    races_.push_back(race);
    return;
  }
  race.between_warps = known->between_warps = race.between_warps || known->between_warps;
  if (rank(race) < rank(*known)) *known = race;
}

void GlobalRaces::report_races(std::size_t block, FaultLog& faults) {
  std::ranges::sort(races_, {}, [](const Race& race) {
    return std::tuple{race.word, race.one.thread, race.other.thread, race.one.kind.call_site,
                      race.other.kind.call_site};
  });
  for (const auto& [word, buffer, one, other, between_warps, after_warp_barrier] : races_) {
    FaultRecord record{Fault::race,
                       one.kind.describe(*buffer, word),
                       {one.kind.action(block, one.thread), other.kind.action(block, other.thread)}};
    record.after_warp_barrier = after_warp_barrier;
    if (between_warps) faults.add_race_between_warps(one.kind.call_site, other.kind.call_site);
    faults.add(std::move(record));
  }
  races_.clear();
}

// ---- when it ends ----

/// The number of an access's kind for other blocks.
unsigned GlobalRaces::grid_kind_of(unsigned kind, unsigned thread, std::uint32_t since_begin) {
  Told told;
  if (fences_.has_device_fences()) {
    const Moment moment = order_.block_begin() + since_begin;
    if (told_.size() <= thread) told_.resize(thread + 1);
    const bool knew = kinds_[kind].has(AccessKind::knows_atomics);
    Told& known = told_[thread];
    if (known.moment != moment || known.knew != knew) {
      known = {moment, knew, fences_.released(thread, moment), Untold::no};
      if (known.released == GridOrder::none) known.untold = fences_.untold(thread, moment, knew);
    }
    told = known;
  }
  return summary_.kinds.number_of({kinds_[kind], told.released, told.untold});
}

/// The number of the kinds of a word, from 1; mostly it is the last word's.
unsigned GlobalRaces::set_of(const BlockSummary::KindSet& kinds) {
  if (kinds == kinds_of_last_word_) return set_of_last_word_;
  kinds_of_last_word_ = kinds;
  return set_of_last_word_ = summary_.sets.number_of(kinds) + 1;
}

BlockSummary::Word GlobalRaces::summary_of(const ShadowWord& shadow) {
  if (shadow.is_empty()) return {};
  BlockSummary::KindSet& kinds = kinds_of_word_;
  kinds.clear();
  if (!shadow.has_groups()) {
    const unsigned kind = shadow.kind();
    if (set_of_kind_.size() <= kind) set_of_kind_.resize(kind + 1);
    unsigned& set = set_of_kind_[kind];
    if (fences_.has_device_fences() || set == 0) {
      kinds.emplace_back(grid_kind_of(kind, shadow.thread(), shadow.moment), 0);
      set = set_of(kinds);
    }
    return {set, shadow.thread()};
  }
  for (std::uint32_t next = shadow.first_group(); next != 0; next = groups_[next - 1].next) {
    const LaneGroup& group = groups_[next - 1];
    for (const unsigned lane : lanes_of(group.lanes)) {
      const unsigned thread = group.warp * warp_size + lane;
      const unsigned kind = grid_kind_of(group.kind, thread, group.moment);
      const auto known = std::ranges::find(kinds, kind, [](const auto& entry) { return entry.first; });
      if (known == kinds.end()) {
        kinds.emplace_back(kind, thread);
      } else {
        known->second = std::min(known->second, thread);
      }
      if (!fences_.has_device_fences()) break;  // the first lane stands for all
    }
  }
  std::ranges::sort(kinds);
  const unsigned first = kinds.front().second;
  for (auto& [kind, thread] : kinds)
    thread -= first;
  return {set_of(kinds), first};
}

void GlobalRaces::summarise(const ShadowLine& line) {
  BlockSummary::Words words;
  std::ranges::transform(line.words, words.begin(),
                         [&](const ShadowWord& shadow) { return summary_of(shadow); });
  const BlockSummary::Word first = words[0];
  const auto next =
      std::ranges::find_if(words, [&](const auto& word) { return word.thread != first.thread; });
  const auto shift =
      static_cast<unsigned>(std::bit_width(static_cast<std::size_t>(next - words.begin())) - 1);
  bool is_regular = first.kinds != 0;
  for (unsigned word = 0; word < words_in_line; ++word) {
    is_regular = is_regular && words[word].kinds == first.kinds &&
                 words[word].thread == first.thread + (word >> shift);
  }
  if (!is_regular) summary_.words.push_back(words);
  summary_.lines.push_back({line.buffer, line.number, first, shift, is_regular ? 0 : summary_.words.size()});
}

void GlobalRaces::end_block(std::size_t block, FaultLog& faults, GridRaces& grid) {
  report_races(block, faults);
  for (std::size_t i = 0; i < lines_; ++i)
    summarise(slabs_[i / lines_in_slab][i % lines_in_slab]);
  grid.add(block, summary_);
  clear();
}

void GlobalRaces::clear() {
  summary_.clear();
  set_of_kind_.clear();
  kinds_of_last_word_.clear();
  told_.clear();
  kinds_.clear();
  recent_.fill(0);
  groups_.clear();
  // What one large block took is not kept for small ones.
  if (lines_ > 64 * lines_in_slab) {
    slabs_.clear();
    slots_ = std::vector<Slot>(least_slots);
    groups_.shrink_to_fit();
    summary_ = {};
  }
  // A table that is mostly empty takes longer to clear than to fill.
  if (slots_.size() > least_slots && 8 * lines_ < slots_.size()) slots_.resize(slots_.size() / 2);
  std::ranges::fill(slots_, Slot{});
  lines_ = 0;
}

}  // namespace __emulated
