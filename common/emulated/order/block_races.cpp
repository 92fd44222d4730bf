#include "emulated/order/block_races.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "emulated/findings/memory_faults.hpp"
#include "emulated/run/lanes.hpp"

namespace __emulated {
namespace {

/// The bytes of the word at offset `word` that lie between the two, a bit each.
constexpr unsigned mask_of(std::size_t word, std::size_t begin, std::size_t end) {
  const std::size_t low = begin > word ? begin - word : 0;
  const std::size_t high = std::min(end - word, word_bytes);
  return (1U << high) - (1U << low);
}

/// Kinds that a block can make, and sets of them: as many numbers as a shadow word has bits for, and more than any kernel needs.
constexpr unsigned most_kinds = 1U << 19;

/// Of these so many may be left of a block for the next.
constexpr std::size_t kept_sets = 1024;

unsigned checked(unsigned number) {
  if (number >= most_kinds) throw std::length_error{"a block makes too many kinds of accesses to follow"};
  return number;
}

}  // namespace

// ---- what is kept of a word ----

/// Where the line is in the table, or is to be.
inline BlockRaces::ShadowLine*& BlockRaces::slot_of(const std::byte* begin) {
  const std::size_t mixed = reinterpret_cast<std::uintptr_t>(begin) / line_bytes * 0x9e3779b97f4a7c15;
  std::size_t at = mixed >> 32 & (slots_.size() - 1);
  while (slots_[at] != nullptr && slots_[at]->begin != begin)
    at = (at + 1) & (slots_.size() - 1);
  return slots_[at];
}

inline BlockRaces::ShadowWord& BlockRaces::shared_word(std::size_t number) {
  if (number >= shared_words_.size()) {
    shared_words_.resize(number + words_in_line);
    written_.resize(shared_words_.size());
  }
  return shared_words_[number];
}

inline BlockRaces::ShadowLine& BlockRaces::line_of(Buffer& buffer, std::size_t number) {
  const std::byte* const begin = buffer.begin() + number * line_bytes;
  ShadowLine* const known = slot_of(begin);
  ShadowLine& line = known != nullptr ? *known : new_line(buffer, begin);
  if (line.is_published) {
    line.is_published = false;
    touched_.push_back(&line);
  }
  return line;
}

BlockRaces::ShadowLine& BlockRaces::new_line(Buffer& buffer, const std::byte* begin) {
  if (2 * (lines_ + 1) > slots_.size()) {
    for (ShadowLine* const line : std::exchange(slots_, std::vector<ShadowLine*>(2 * slots_.size())))
      if (line != nullptr) slot_of(line->begin) = line;
  }
  if (lines_ == slabs_.size() * lines_in_slab)
    slabs_.push_back(std::make_unique<ShadowLine[]>(lines_in_slab));
  ShadowLine& line = slabs_[lines_ / lines_in_slab][lines_ % lines_in_slab];
  ++lines_;
  line = {&buffer, begin, true, {}};
  slot_of(begin) = &line;
  return line;
}

inline const BlockRaces::Recent& BlockRaces::number_of(const AccessKind& kind) {
  const std::uintptr_t mixed = reinterpret_cast<std::uintptr_t>(kind.call_site()) * 0x9e3779b97f4a7c15;
  Recent& recent = recent_[((mixed >> 32) + kind.mask()) % recent_.size()];
  return recent.kind == kind ? recent : recent = look_up(kind);
}

BlockRaces::Recent BlockRaces::look_up(const AccessKind& kind) {
  const unsigned number = checked(kinds_.number_of(kind));
  return {kind, number, number_of_set({number})};
}

unsigned BlockRaces::number_of_set(const std::vector<unsigned>& kinds) {
  const unsigned number = checked(sets_.number_of(kinds));
  if (number == summaries_.size()) summaries_.push_back(0);
  return number;
}

/// The set with one more kind, of which nothing follows from those before it; else no_set.
inline unsigned BlockRaces::with(unsigned set, unsigned kind) {
  Joined& joined = joined_[(set + 5 * kind) % joined_.size()];
  if (!joined.is_known || joined.set != set || joined.kind != kind) join(joined, set, kind);
  return joined.both;
}

void BlockRaces::join(Joined& joined, unsigned set, unsigned kind) {
  std::vector<unsigned> both = sets_[set];
  const bool may_read = !kinds_[kind].writes() || kinds_[kind].has(AccessKind::unwritten);
  const bool follows = std::ranges::any_of(both, [&](unsigned before) {
    return kinds_[before].operation() == Operation::atomic || (kinds_[before].writes() && may_read);
  });
  const auto place = std::ranges::lower_bound(both, kind);
  if (place == both.end() || *place != kind) both.insert(place, kind);
  joined = {true, set, kind, follows ? no_set : number_of_set(both)};
}

// ---- while a block runs ----

void BlockRaces::begin_block(std::size_t block, unsigned threads, GridRaces& grid) {
  block_ = block;
  grid_ = &grid;
  has_run_atomics_ = false;
  order_.begin_block(block, threads, grid.releases());
}

void BlockRaces::atomic(unsigned thread, const HappensBefore::Update& update) {
  has_run_atomics_ = has_run_atomics_ || update.is_global;
  order_.atomic(thread, update);
}

/// Whether the block has written what it reads of shared memory: of a whole word, any of its bytes, as a struct is copied with
/// what pads it.
inline void BlockRaces::check_written(const Access& access, std::uint8_t& written, unsigned mask,
                                      unsigned thread, bool may_be_padding) {
  const bool is_written = mask == whole_word ? written != 0 : (mask & ~written) == 0;
  if (access.operation != Operation::store && !is_written && !may_be_padding) report_read(access, thread);
  if (access.operation != Operation::load) written |= static_cast<std::uint8_t>(mask);
}

void BlockRaces::report_read(const Access& access, unsigned thread) {
  if (!faults_.is_new(Fault::uninitialised_read, access.call_site)) return;
  faults_.add(uninitialised_read(shared_.describe(shared_.offset_of(access.address), access.bytes),
                                 access_by(block_, thread, access.operation, access.call_site),
                                 Unwritten::shared));
}

template <bool is_shared> void BlockRaces::check(const Access& access, Buffer* buffer, unsigned thread) {
  const std::byte* const begin = is_shared ? shared_.dynamic() : buffer->begin();
  const auto offset = static_cast<std::size_t>(access.address - begin);
  if (is_shared && std::exchange(groups_since_, order_.last_block_barrier()) != groups_since_)
    shared_groups_.clear();
  if (access.bytes == word_bytes && offset % word_bytes == 0)
    return check_part<is_shared>(access, buffer, thread, begin, offset, whole_word);
  const std::size_t end = offset + access.bytes;
  for (std::size_t at = offset / word_bytes * word_bytes; at < end; at += word_bytes)
    check_part<is_shared>(access, buffer, thread, begin, at, mask_of(at, offset, end));
}

/// Of a word of the memory that begins there.
template <bool is_shared>
[[gnu::always_inline]] inline void BlockRaces::check_part(const Access& access, Buffer* buffer,
                                                          unsigned thread, const std::byte* begin,
                                                          std::size_t at, unsigned mask) {
  const Moment moment = order_.now(thread);
  const std::size_t word = at / word_bytes;
  const std::ptrdiff_t before = begin + at - access.address;
  const bool may_be_padding = access.may_be_padding(before > 0 ? static_cast<std::size_t>(before) : 0);
  unsigned flags = (access.is_volatile ? AccessKind::is_volatile : 0U) |
                   (access.is_for_block ? AccessKind::is_for_block : 0U) |
                   (order_.knows_atomics(thread) ? AccessKind::knows_atomics : 0U) |
                   (order_.has_device_fence(thread) ? AccessKind::follows_fence : 0U);
  ShadowWord& shadow =
      is_shared ? shared_word(word) : line_of(*buffer, word / words_in_line).words[word % words_in_line];
  if (is_shared) {
    check_written(access, written_[word], mask, thread, may_be_padding);
    // What is before the last barrier can race with nothing any more.
    if (shadow.moment < order_.last_block_barrier()) shadow = {};
  } else if (access.operation != Operation::store && !may_be_padding &&
             !buffer->is_initialised(at, word_bytes)) {
    flags |= AccessKind::unwritten;
  }
  const Recent& kind = number_of({access, mask, flags});
  Groups& groups = is_shared ? shared_groups_ : global_groups_;
  if (shadow.is_empty()) {
    shadow = ShadowWord::by_thread(kind.alone, thread, moment);
  } else if (!is_joined(shadow, kind, thread, moment, groups)) {
    check_word(shadow, begin + at, buffer, kind.number, thread, groups);
  }
}

template void BlockRaces::check<true>(const Access& access, Buffer* buffer, unsigned thread);
template void BlockRaces::check<false>(const Access& access, Buffer* buffer, unsigned thread);

/// Adds an access to accesses of which nothing follows for it: of the thread itself, or loads of its warp among loads.
inline bool BlockRaces::is_joined(ShadowWord& shadow, const Recent& kind, unsigned thread, Moment moment,
                                  Groups& groups) {
  if (shadow.has_groups()) {
    LaneGroup& first = groups[shadow.first_group() - 1];
    const bool is_same = first.kind == kind.number && first.warp == thread / warp_size &&
                         first.moment == moment && first.is_only_one && !shadow.has_writes();
    if (is_same) first.lanes |= bit_of(thread % warp_size);
    return is_same;
  }
  if (shadow.thread() != thread) return false;
  if (shadow.set() == kind.alone) {
    shadow.moment = moment;
    return true;
  }
  const unsigned both = shadow.moment == moment ? with(shadow.set(), kind.number) : no_set;
  if (both != no_set) shadow = ShadowWord::by_thread(both, thread, moment);
  return both != no_set;
}

/// Others have accessed the word, or the thread has done so at another moment.
void BlockRaces::check_word(ShadowWord& shadow, const std::byte* word, const Buffer* buffer, unsigned kind,
                            unsigned thread, Groups& groups) {
  const Moment moment = order_.now(thread);
  if (!shadow.has_groups()) {
    const ShadowWord before = std::exchange(shadow, ShadowWord::of_groups(0, 0, 0));
    for (const unsigned each : sets_[before.set()])
      note(shadow, each, before.thread(), before.moment, groups);
  }
  // Loads among loads are most of what there is, and atomics among atomics.
  const AccessKind& self = kinds_[kind];
  const bool is_atomic = self.operation() == Operation::atomic && !self.has(AccessKind::unwritten);
  if (is_atomic ? shadow.has_plain() : shadow.has_writes() || self.writes())
    kind = number_of(check_groups(shadow, word, buffer, kinds_[kind], thread, groups)).number;
  note(shadow, kind, thread, moment, groups);
}

/// Notes the races of an access. Returns its kind, as what came before it makes it.
AccessKind BlockRaces::check_groups(const ShadowWord& shadow, const std::byte* word, const Buffer* buffer,
                                    AccessKind self, unsigned thread, const Groups& groups) {
  for (std::uint32_t next = shadow.first_group(); next != 0; next = groups[next - 1].next) {
    const LaneGroup& group = groups[next - 1];
    const AccessKind& other = kinds_[group.kind];
    if ((self.mask() & other.mask()) == 0) continue;
    const bool races = can_race(self.operation(), other.operation());
    // What is told of the word may be older than what the block itself has written.
    const bool is_plain = self.operation() != Operation::atomic;
    const bool follows =
        other.writes() && (!self.writes() || (is_plain && other.operation() == Operation::atomic));
    if (!races && !follows) continue;
    bool is_noted = false;
    for (const unsigned lane : lanes_of(group.lanes)) {
      const unsigned other_thread = group.warp * warp_size + lane;
      if (order_.ordered(group.moment, other_thread, thread)) {
        if (other.writes()) self.remove(AccessKind::unwritten);
        if (!follows || buffer == nullptr) continue;
        const bool is_new = group.moment >= order_.slice();
        if (!self.writes()) self.add(is_new ? AccessKind::just_follows_write : AccessKind::follows_write);
        if (other.operation() == Operation::atomic)
          self.add(is_new ? AccessKind::just_follows_atomic : AccessKind::follows_atomic);
      } else if (races && !std::exchange(is_noted, true)) {
        note_race(self, thread, other, other_thread, word, buffer);
      }
    }
  }
  return self;
}

/// Of a thread's accesses of one kind, the last one is kept. Groups are in the order of their warps, the highest first: it is
/// mostly the last to come.
void BlockRaces::note(ShadowWord& shadow, unsigned kind, unsigned thread, Moment moment, Groups& groups) {
  const unsigned own = bit_of(thread % warp_size);
  const auto warp = static_cast<std::uint16_t>(thread / warp_size);
  std::uint32_t first = shadow.first_group();
  const std::uint32_t operations = shadow.operations() | (kinds_[kind].writes() ? with_writes : 0) |
                                   (kinds_[kind].operation() != Operation::atomic ? with_plain : 0);
  std::uint32_t before = 0;
  std::uint32_t next = first;
  while (next != 0 && groups[next - 1].warp > warp)
    before = std::exchange(next, groups[next - 1].next);
  LaneGroup* same = nullptr;
  LaneGroup* unused = nullptr;
  bool is_only_one = true;
  for (std::uint32_t at = next; at != 0 && groups[at - 1].warp == warp; at = groups[at - 1].next) {
    LaneGroup& group = groups[at - 1];
    if (group.kind == kind && group.moment == moment) {
      same = &group;
      if (group.is_only_one) break;
    } else if (group.kind == kind) {
      group.lanes &= ~own;
      group.is_only_one = is_only_one = false;
    }
    if (group.lanes == 0) unused = &group;
  }
  if (same != nullptr) {
    same->lanes |= own;
  } else if (unused != nullptr) {
    *unused = {kind, moment, own, unused->next, warp, is_only_one};
  } else {
    groups.push_back({kind, moment, own, next, warp, is_only_one});
    (before == 0 ? first : groups[before - 1].next) = static_cast<std::uint32_t>(groups.size());
  }
  shadow = ShadowWord::of_groups(first, operations, std::max(shadow.moment, moment));
}

/// Of the races between two access sites in global memory that of the lowest word and threads is kept; in shared memory the first.
void BlockRaces::note_race(const AccessKind& self, unsigned thread, const AccessKind& other,
                           unsigned other_thread, const std::byte* word, const Buffer* buffer) {
  if (thread / warp_size != other_thread / warp_size) {
    faults_.add_race_between_warps(self.call_site(), other.call_site());
  }
  struct Racing {
    const AccessKind& kind;
    unsigned thread;
  };
  const bool is_other_first =
      buffer != nullptr && std::pair{!other.writes(), other_thread} < std::pair{!self.writes(), thread};
  const Racing one = is_other_first ? Racing{other, other_thread} : Racing{self, thread};
  const Racing two = is_other_first ? Racing{self, thread} : Racing{other, other_thread};
  const auto number = [](const void* address) { return reinterpret_cast<std::uintptr_t>(address); };
  const RankedFaults::Rank rank = buffer != nullptr ? RankedFaults::Rank{1,
                                                                         number(word),
                                                                         one.thread,
                                                                         two.thread,
                                                                         number(one.kind.call_site()),
                                                                         number(two.kind.call_site())}
                                                    : RankedFaults::Rank{0, shared_races_};
  if (!races_.is_wanted(Fault::race, self.call_site(), other.call_site(), rank)) return;
  const auto action_of = [&](const Racing& racing) {
    const bool is_copier = racing.thread >= order_.first_copier();
    return racing.kind.action(block_, is_copier ? copies_of_[racing.thread % warp_size] : racing.thread);
  };
  ++shared_races_;
  const std::byte* const first = word + std::countr_zero(one.kind.mask());
  FaultRecord record{Fault::race,
                     buffer != nullptr ? one.kind.describe(*buffer, word)
                                       : shared_.describe(shared_.offset_of(first), one.kind.bytes()),
                     {action_of(one), action_of(two)}};
  record.after_warp_barrier = order_.follows_warp_barrier(thread);
  record.is_of_copy = std::max(one.thread, two.thread) >= order_.first_copier();
  races_.keep(self.call_site(), other.call_site(), {rank, std::move(record)});
}

// ---- for other blocks ----

void BlockRaces::publish(bool is_last) {
  are_threads_alike_ = is_last && !order_.has_met_others();
  const auto hand_over = [&] {
    if (!summary_.lines.empty()) grid_->add(block_, summary_, kinds_.values(), order_, is_last);
    summary_.lines.clear();
    summary_.words.clear();
  };
  for (ShadowLine* const line : touched_) {
    line->is_published = true;
    summarise(*line);
    if (summary_.lines.size() == most_lines_in_summary) hand_over();
  }
  hand_over();
  touched_.clear();
  summary_.sets.clear();
  of_last_word_.clear();
  has_run_atomics_ = false;
  if (!is_last) order_.begin_slice();
}

/// What was done to a word since it was last published. Mostly it is the same as what was done to the last word.
BlockSummary::Word BlockRaces::summary_of(const ShadowWord& shadow) {
  if (shadow.moment < order_.slice()) return {};
  if (!shadow.has_groups() && are_threads_alike_) {
    unsigned& summary = summaries_[shadow.set()];
    if (summary == 0) {
      KindSet set;
      for (const unsigned kind : sets_[shadow.set()])
        set.push_back({kind, 0, 0});
      summary = summary_.sets.number_of(set) + 1;
    }
    return {summary, shadow.thread()};
  }
  of_word_.clear();
  const auto add = [&](unsigned kind, unsigned thread, Moment moment) {
    if (!are_threads_alike_) return of_word_.push_back({kind, thread, moment});
    // The lowest thread stands for all.
    const auto known = std::ranges::find(of_word_, kind, &KindAccess::kind);
    if (known == of_word_.end()) {
      of_word_.push_back({kind, thread, 0});
    } else {
      known->thread = std::min(known->thread, thread);
    }
  };
  if (!shadow.has_groups()) {
    for (const unsigned kind : sets_[shadow.set()])
      add(kind, shadow.thread(), shadow.moment);
  }
  for (std::uint32_t next = shadow.has_groups() ? shadow.first_group() : 0; next != 0;
       next = global_groups_[next - 1].next) {
    const LaneGroup& group = global_groups_[next - 1];
    if (group.moment < order_.slice()) continue;
    for (const unsigned lane : lanes_of(group.lanes)) {
      add(group.kind, group.warp * warp_size + lane, group.moment);
      if (are_threads_alike_) break;
    }
  }
  std::ranges::sort(of_word_);
  const unsigned first = std::ranges::min(of_word_, {}, &KindAccess::thread).thread;
  for (KindAccess& access : of_word_)
    access.thread -= first;
  if (of_word_ != of_last_word_) {
    set_of_last_word_ = summary_.sets.number_of(of_word_) + 1;
    of_last_word_ = of_word_;
  }
  return {set_of_last_word_, first};
}

void BlockRaces::summarise(const ShadowLine& line) {
  BlockSummary::Words words;
  std::ranges::transform(line.words, words.begin(),
                         [&](const ShadowWord& shadow) { return summary_of(shadow); });
  const BlockSummary::Word first = words[0];
  const auto next =
      std::ranges::find_if(words, [&](const auto& word) { return word.thread != first.thread; });
  const auto shift =
      static_cast<unsigned>(std::bit_width(static_cast<std::size_t>(next - words.begin())) - 1);
  bool is_regular = first.set != 0;
  for (unsigned word = 0; word < words_in_line; ++word) {
    is_regular =
        is_regular && words[word].set == first.set && words[word].thread == first.thread + (word >> shift);
  }
  if (!is_regular) summary_.words.push_back(words);
  const auto number = static_cast<std::size_t>(line.begin - line.buffer->begin()) / line_bytes;
  summary_.lines.push_back({line.buffer, number, first, shift, is_regular ? 0 : summary_.words.size()});
}

void BlockRaces::give_way() {
  if (has_run_atomics_) publish(false);
}

void BlockRaces::grid_barrier() {
  publish(false);
  order_.grid_barrier();
}

void BlockRaces::end_block() {
  for (RankedFaults::Ranked& race : races_.in_order())
    faults_.add(std::move(race.record));
  publish(true);
  grid_->end_block(block_, order_);
  clear();
}

void BlockRaces::clear() {
  std::ranges::fill(shared_words_, ShadowWord{});
  std::ranges::fill(written_, std::uint8_t{0});
  races_.clear();
  shared_races_ = 0;
  // Kinds outlive the block: the next one makes the same accesses.
  std::ranges::fill(summaries_, 0);
  if (sets_.values().size() > kept_sets || kinds_.values().size() > kept_sets) {
    kinds_.clear();
    recent_.fill({});
    sets_.clear();
    joined_.fill({});
    summaries_.clear();
  }
  global_groups_.clear();
  shared_groups_.clear();
  groups_since_ = 0;
  // What one large block took is not kept for small ones.
  if (lines_ > 64 * lines_in_slab) {
    slabs_.clear();
    slots_ = std::vector<ShadowLine*>(least_slots);
    global_groups_.shrink_to_fit();
    summary_ = {};
  }
  // A table that is mostly empty takes longer to clear than to fill.
  if (slots_.size() > least_slots && 8 * lines_ < slots_.size()) slots_.resize(slots_.size() / 2);
  std::ranges::fill(slots_, nullptr);
  lines_ = 0;
}

}  // namespace __emulated
