#include "emulated/order/grid_races.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "emulated/findings/memory_faults.hpp"

namespace __emulated {
namespace {

/// What a line's shift is where it has one word.
constexpr unsigned one_word = 5;

/// Blocks that are remembered of those that made accesses of a kind. The highest one is one of them. Where blocks tell each other
/// of what they did, which two are ordered depends on more than which is the lower one.
constexpr std::size_t most_blocks = 3;
constexpr std::size_t most_blocks_that_tell = 16;

}  // namespace

// ---- while blocks run ----

GridRaces::Lines& GridRaces::lines_of(Buffer& buffer) {
  const auto [known, is_new] = lines_.try_emplace(buffer.begin());
  if (is_new) {
    const std::size_t lines = buffer.followed_bytes() / line_bytes + 1;
    known->second = {&buffer, Mapping{lines * sizeof(PackedHistory), Backing::as_touched}, lines, 0};
  }
  return known->second;
}

void GridRaces::add(std::size_t block, const BlockSummary& summary, const std::vector<AccessKind>& kinds,
                    const HappensBefore& order, bool is_last) {
  const std::lock_guard lock{mutex_};
  ++additions_;
  may_tell_later_ = may_tell_later_ || !is_last;
  if (!is_last) running_.insert(block);
  std::vector<unsigned> sets{0};
  for (KindSet set : summary.sets.values()) {
    for (KindAccess& access : set)
      access.kind = kinds_.number_of(kinds[access.kind]);
    std::ranges::sort(set);
    sets.push_back(sets_.number_of(set));
  }
  Lines* lines = nullptr;
  for (const BlockSummary::Line& added : summary.lines) {
    if (lines == nullptr || lines->buffer != added.buffer) lines = &lines_of(*added.buffer);
    lines->begin = std::min(lines->begin, added.number);
    lines->end = std::max(lines->end, added.number + 1);
    PackedHistory& line = lines->at(added.number);
    const std::byte* const begin = added.buffer->begin() + added.number * line_bytes;
    const Addition to_line{order,         *added.buffer,         begin,
                           words_in_line, sets[added.first.set], {block, added.first.thread},
                           added.shift};
    if (added.words == 0 && line.form() != Form::words && !may_find_written(line, to_line.set)) {
      add(line, to_line);
      continue;
    }
    spread(line);
    for (unsigned word = 0; word < words_in_line; ++word) {
      const BlockSummary::Word own =
          added.words == 0 ? BlockSummary::Word{added.first.set, added.first.thread + (word >> added.shift)}
                           : summary.words[added.words - 1][word];
      if (own.set == 0) continue;
      add((*words_[line.index()])[word],
          {order, *added.buffer, begin + word * word_bytes, 1, sets[own.set], {block, own.thread}, one_word});
    }
  }
}

/// To the history of a line that is not of words, or of a word.
void GridRaces::add(PackedHistory& history, Addition added) {
  if (may_conflict(history, added.set)) {
    KindSet set = sets_[added.set];
    for (unsigned word = 0; word < added.words; ++word) {
      for (KindAccess& access : set) {
        const AccessKind kind = check(history, added, access, word);
        if (kind != kinds_[access.kind]) access.kind = kinds_.number_of(kind);
      }
    }
    added.set = sets_.number_of(set);
  }
  note(history, added);
}

/// Notes the races of an access to one of the words. Returns its kind, as what came before it makes it.
AccessKind GridRaces::check(const PackedHistory& history, const Addition& added, const KindAccess& access,
                            unsigned word) {
  AccessKind kind = kinds_[access.kind];
  const GridThread by{added.first.block, added.first.thread + access.thread + (word >> added.shift)};
  const HappensBefore::Others& others = added.order.others(by.thread);
  const auto is_atomic = [](const AccessKind& each) {
    return each.operation() == Operation::atomic && !each.has(AccessKind::is_for_block);
  };
  const auto is_write = [](const AccessKind& each) { return each.writes(); };
  const std::uint32_t own_atomic = kind.has(AccessKind::just_follows_atomic) ? additions_
                                   : kind.has(AccessKind::follows_atomic)
                                       ? last_own(history, by.block, is_atomic)
                                       : 0;
  const std::uint32_t own_write = kind.has(AccessKind::just_follows_write) ? additions_
                                  : kind.has(AccessKind::follows_write)
                                      ? last_own(history, by.block, is_write)
                                      : 0;
  for_each_entry(history, [&](const HistoryEntry& entry) {
    const AccessKind& other = kinds_[entry.kind];
    if (entry.block == by.block || (kind.mask() & other.mask()) == 0) return;
    const unsigned thread = entry.thread + (word >> entry.shift);
    bool is_told = others.told.knows(entry.block, thread, entry.moment);
    // An atomic operation needs no release to be seen by the next on the same word.
    is_told = is_told || (is_atomic(other) && entry.added < own_atomic);
    if (is_told && other.writes()) kind.remove(AccessKind::unwritten);
    if (!kind.can_race_across(other)) return;
    const bool is_seen = kind.operation() != Operation::load || kind.has(AccessKind::is_volatile) ||
                         entry.added < own_write || others.fenced.knows(entry.block, thread, entry.moment);
    if (is_told && is_seen) return;
    Racing first{other, {entry.block, thread}};
    Racing second{kind, by};
    if (!is_told && second.by < first.by) std::swap(first, second);
    note_race(is_told ? Fault::missing_fence : Fault::race, added.buffer, added.word + word * word_bytes,
              first, second);
  });
  return kind;
}

/// When the last such access of the block was added.
template <typename Predicate>
std::uint32_t GridRaces::last_own(const PackedHistory& history, std::size_t block,
                                  const Predicate& is_such) const {
  std::uint32_t last = 0;
  for_each_entry(history, [&](const HistoryEntry& entry) {
    if (entry.block == block && is_such(kinds_[entry.kind])) last = std::max(last, entry.added);
  });
  return last;
}

void GridRaces::note_race(Fault fault, const Buffer& buffer, const std::byte* word, const Racing& first,
                          const Racing& second) {
  const auto stores_first = [](const AccessKind& kind) {
    return kind.operation() == Operation::store ? 0U : 1U + static_cast<unsigned>(kind.operation());
  };
  const auto number_of = [](const Racing& racing) {
    return (racing.by.block << 16 | racing.by.thread) << 2 |
           (racing.kind.has(AccessKind::follows_fence) ? 2U : 0U) |
           (racing.kind.has(AccessKind::knows_atomics) ? 1U : 0U);
  };
  const void* const site = first.kind.call_site();
  const void* const other = second.kind.call_site();
  // Two stores say most about a race, so that they come first.
  const RankedFaults::Rank rank{reinterpret_cast<std::uintptr_t>(word),
                                1,
                                stores_first(first.kind),
                                number_of(first),
                                stores_first(second.kind),
                                number_of(second)};
  if (!faults_.is_wanted(fault, site, other, rank)) return;
  FaultRecord record{fault,
                     first.kind.describe(buffer, word),
                     {first.kind.action(first.by.block, first.by.thread),
                      second.kind.action(second.by.block, second.by.thread)}};
  record.to_tell = second.kind.writes() && !first.kind.writes() ? 1 : 0;
  const auto [told, other_one] = record.to_tell == 0 ? std::tie(first, second) : std::tie(second, first);
  record.asks = other_one.kind.has(AccessKind::knows_atomics);
  record.fences_in_vain = !told.kind.has(AccessKind::follows_fence);  // if its block has one at all
  record.is_volatile = first.kind.has(AccessKind::is_volatile) || second.kind.has(AccessKind::is_volatile);
  faults_.keep(site, other, {rank, std::move(record)});
}

void GridRaces::note(PackedHistory& history, const Addition& added) {
  const auto& [block, thread] = added.first;
  if (history.form() == Form::empty && PackedHistory::fits(added.set, block)) {
    history = {added.set, block, thread, added.shift};
    return;
  }
  if (history.form() != Form::entries) {
    Entries before;
    for_each_entry(history, [&](const HistoryEntry& entry) { before.push_back(entry); });
    history = {Form::entries, entries_.size()};
    entries_.push_back(std::move(before));
  }
  for (const KindAccess& access : sets_[added.set]) {
    note_access(entries_[history.index()], {block, access.kind, access.moment, additions_,
                                            static_cast<std::uint16_t>(thread + access.thread),
                                            static_cast<std::uint16_t>(added.shift)});
  }
}

void GridRaces::note_access(Entries& entries, const HistoryEntry& access) const {
  const auto place = std::ranges::lower_bound(entries, access.place(), {}, &HistoryEntry::place);
  if (place != entries.end() && place->place() == access.place()) {
    place->moment = std::max(place->moment, access.moment);
    place->added = access.added;
    return;
  }
  const auto at = entries.insert(place, access);
  // The highest block stays, and so do those that still run: their own atomics order what they do later. Of the others those
  // that are lower.
  const auto is_other_kind = [&](const HistoryEntry& entry) {
    return entry.kind != access.kind || entry.shift != access.shift;
  };
  const auto end = std::find_if(at, entries.end(), is_other_kind);
  std::size_t blocks = 1;
  auto first = end;  // entries of the block that gives way, and of the next one
  auto last = end;
  for (auto block = std::find_if(std::reverse_iterator{at}, entries.rend(), is_other_kind).base();;) {
    const auto next =
        std::find_if(block, end, [&](const auto& entry) { return entry.block != block->block; });
    if (next == end) break;
    ++blocks;
    if (!running_.contains(block->block)) std::tie(first, last) = std::tuple{block, next};
    block = next;
  }
  const std::size_t most = releases_.empty() && !may_tell_later_ ? most_blocks : most_blocks_that_tell;
  if (blocks > most) entries.erase(first, last);
}

/// Gives each word of a line a history of its own.
void GridRaces::spread(PackedHistory& line) {
  if (line.form() == Form::words) return;
  auto words = std::make_unique<Words>();
  for (unsigned word = 0; word < words_in_line; ++word) {
    PackedHistory& own = (*words)[word];
    if (line.form() == Form::by_one_block) {
      own = {line.set(), line.block(), line.thread() + (word >> line.shift()), one_word};
    } else if (line.form() == Form::entries) {
      Entries entries = entries_[line.index()];
      for (HistoryEntry& entry : entries) {
        entry.thread = static_cast<std::uint16_t>(entry.thread + (word >> entry.shift));
        entry.shift = one_word;
      }
      own = {Form::entries, entries_.size()};
      entries_.push_back(std::move(entries));
    }
  }
  if (line.form() == Form::entries) entries_[line.index()] = {};
  line = {Form::words, words_.size()};
  words_.push_back(std::move(words));
}

/// Of a line that is not of words, or of a word: a line's threads are those of its first word.
template <typename Visit>
void GridRaces::for_each_entry(const PackedHistory& history, const Visit& visit) const {
  if (history.form() == Form::by_one_block) {
    for (const KindAccess& access : sets_[history.set()]) {
      visit(HistoryEntry{history.block(), access.kind, access.moment, 0,
                         static_cast<std::uint16_t>(history.thread() + access.thread),
                         static_cast<std::uint16_t>(history.shift())});
    }
  } else if (history.form() == Form::entries) {
    std::ranges::for_each(entries_[history.index()], visit);
  }
}

template <typename Predicate> bool GridRaces::any_kind_in(unsigned set, const Predicate& is_such) const {
  return std::ranges::any_of(sets_[set],
                             [&](const KindAccess& access) { return is_such(kinds_[access.kind]); });
}

template <typename Predicate>
bool GridRaces::any_kind_in(const PackedHistory& history, const Predicate& is_such) const {
  if (history.form() == Form::by_one_block) return any_kind_in(history.set(), is_such);
  return history.form() == Form::entries &&
         std::ranges::any_of(entries_[history.index()],
                             [&](const HistoryEntry& entry) { return is_such(kinds_[entry.kind]); });
}

bool GridRaces::is_written(const PackedHistory& history) const {
  return any_kind_in(history, [](const AccessKind& kind) { return kind.writes(); });
}

/// Whether one of the two has a write, and one what is no atomic to the other or has found nothing.
bool GridRaces::may_conflict(const PackedHistory& history, unsigned set) const {
  if (history.form() == Form::empty) return false;
  const auto writes = [](const AccessKind& kind) { return kind.writes(); };
  const auto matters = [](const AccessKind& kind) {
    return kind.operation() != Operation::atomic || kind.has(AccessKind::unwritten) ||
           kind.has(AccessKind::is_for_block);
  };
  return (any_kind_in(set, writes) || any_kind_in(history, writes)) &&
         (any_kind_in(set, matters) || any_kind_in(history, matters));
}

/// Whether reads that found nothing may have found what another block has written.
bool GridRaces::may_find_written(const PackedHistory& history, unsigned set) const {
  return is_written(history) &&
         any_kind_in(set, [](const AccessKind& kind) { return kind.has(AccessKind::unwritten); });
}

void GridRaces::end_block(std::size_t block, const HappensBefore& order) {
  const std::lock_guard lock{mutex_};
  running_.erase(block);
  if (order.fences_in_vain()) fence_in_vain_.insert(block);
}

void GridRaces::begin_phase() {
  check_all_reads(faults_);
  for_each_use_of_phase(
      [&](Buffer& buffer, std::size_t offset, std::size_t bytes, Operation operation, unsigned) {
        if (operation != Operation::load) buffer.mark(offset, bytes, true);
        // Neighbours become one.
        const auto before = std::ranges::find_if(uses_, [&](const auto& use) {
          return std::get<0>(use) == &buffer && std::get<1>(use) + std::get<2>(use) == offset &&
                 std::get<3>(use) == operation;
        });
        if (before != uses_.end()) {
          bytes += std::get<2>(*before);
          offset = std::get<1>(*before);
          uses_.erase(before);
        }
        uses_.emplace(&buffer, offset, bytes, operation);
      });
  lines_.clear();
  entries_.clear();
  words_.clear();
  releases_.clear();
  running_.clear();
}

// ---- when the launch has ended ----

std::vector<FaultRecord> GridRaces::faults() const {
  RankedFaults ranked = faults_;
  check_all_reads(ranked);
  ranked.drop_beside_races(Fault::missing_fence);
  FaultLog faults;
  for (auto& [rank, record] : ranked.in_order()) {
    record.fences_in_vain =
        record.fences_in_vain && fence_in_vain_.contains(record.witnesses[record.to_tell].block);
    faults.add(std::move(record));
  }
  return faults.take();
}

void GridRaces::check_all_reads(RankedFaults& faults) const {
  const auto is_unwritten = [](const AccessKind& kind) { return kind.has(AccessKind::unwritten); };
  for_each_history([&](const Buffer& buffer, std::size_t first, unsigned words, const auto& history) {
    for (unsigned word = 0; word < words && any_kind_in(history, is_unwritten); ++word)
      check_reads(buffer, buffer.begin() + (first + word) * word_bytes, history, word, faults);
  });
}

/// A read is of an unwritten word unless a lower block has stored to it: with that one it is in order, or in a race.
void GridRaces::check_reads(const Buffer& buffer, const std::byte* word, const PackedHistory& history,
                            unsigned word_in_line, RankedFaults& faults) const {
  std::size_t lowest_store = SIZE_MAX;
  std::map<unsigned, GridThread> lowest;  // for each kind of such reads
  for_each_entry(history, [&](const HistoryEntry& entry) {
    const AccessKind& kind = kinds_[entry.kind];
    const GridThread by{entry.block, entry.thread + (word_in_line >> entry.shift)};
    if (kind.operation() == Operation::store) lowest_store = std::min(lowest_store, by.block);
    if (!kind.has(AccessKind::unwritten)) return;
    GridThread& known = lowest.try_emplace(entry.kind, by).first->second;
    known = std::min(known, by);
  });
  for (const auto& [number, by] : lowest) {
    if (lowest_store < by.block) continue;
    const AccessKind& kind = kinds_[number];
    const bool is_tainted = buffer.has_taint(static_cast<std::size_t>(word - buffer.begin()), 1);
    const void* const of_taint = is_tainted ? &buffer : nullptr;
    const RankedFaults::Rank rank{reinterpret_cast<std::uintptr_t>(word), 0, by.block, by.thread};
    if (!faults.is_wanted(Fault::uninitialised_read, kind.call_site(), of_taint, rank)) continue;
    faults.keep(kind.call_site(), of_taint,
                {rank, uninitialised_read(kind.describe(buffer, word), kind.action(by.block, by.thread),
                                          is_tainted ? Unwritten::tainted : Unwritten::global)});
  }
}

void GridRaces::for_each_use(const VisitUse& visit) const {
  for (const auto& [buffer, offset, bytes, operation] : uses_)
    visit(*buffer, offset, bytes, operation, whole_word);
  for_each_use_of_phase(visit);
}

void GridRaces::for_each_use_of_phase(const VisitUse& visit) const {
  for_each_history([&](Buffer& buffer, std::size_t first, unsigned words, const PackedHistory& history) {
    unsigned mask = 0;
    bool is_plain = false;
    any_kind_in(history, [&](const AccessKind& kind) {
      mask |= kind.mask();
      is_plain = is_plain || kind.operation() != Operation::atomic;
      return false;
    });
    const Operation writes = is_plain ? Operation::store : Operation::atomic;
    visit(buffer, first * word_bytes, words * word_bytes, is_written(history) ? writes : Operation::load,
          mask);
  });
}

/// Those of lines, and of words that each have their own: calls visit(buffer, number of the first word, words, history).
template <typename Visit> void GridRaces::for_each_history(const Visit& visit) const {
  for (const auto& [begin, lines] : lines_) {
    for (std::size_t number = lines.begin; number < lines.end; ++number) {
      const PackedHistory& line = lines.at(number);
      const std::size_t first = number * words_in_line;
      if (line.form() != Form::words) {
        if (line.form() != Form::empty) visit(*lines.buffer, first, words_in_line, line);
        continue;
      }
      for (std::size_t word = 0; word < words_in_line; ++word) {
        const PackedHistory& history = (*words_[line.index()])[word];
        if (history.form() != Form::empty) visit(*lines.buffer, first + word, 1, history);
      }
    }
  }
}

void GridRaces::mark_initialised() const {
  bool is_seen = false;
  for_each_use([&](Buffer& buffer, std::size_t offset, std::size_t bytes, Operation operation, unsigned) {
    if (operation == Operation::load) return;
    const bool taints = is_tainted_ && buffer.can_be_tainted();
    is_seen = is_seen || taints;
    if (taints) return buffer.taint(offset, bytes);
    if (is_tainted_) global_memory().lose_taint();
    buffer.mark(offset, bytes, true);
  });
  if (is_tainted_ && !is_seen) global_memory().lose_taint();
}

}  // namespace __emulated
