#include "emulated/order/grid_races.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <tuple>

#include "emulated/findings/memory_faults.hpp"

namespace __emulated {
namespace {

/// What a line's shift is where it has one word.
constexpr unsigned one_word = 5;

/// Threads that are remembered of those that made accesses of a kind, one of each block. That of the highest block is one of
/// them. Where blocks pass on what they know of others, which two are ordered depends on more than which is the lower one.
std::size_t most_threads(const GridAccessKind& kind) {
  return kind.released == GridOrder::none && kind.acquired == GridOrder::none ? 3 : 16;
}

}  // namespace

void BlockSummary::clear() {
  kinds.clear();
  sets.clear();
  lines.clear();
  words.clear();
}

// ---- while blocks run ----

GridRaces::Lines& GridRaces::lines_of(Buffer& buffer) {
  const auto [known, is_new] = lines_.try_emplace(buffer.begin());
  if (is_new) {
    const std::size_t lines = buffer.followed_bytes() / line_bytes + 1;
    known->second = {&buffer, Mapping{lines * sizeof(PackedHistory), Backing::as_touched}, lines, 0};
  }
  return known->second;
}

void GridRaces::add(std::size_t block, const BlockSummary& summary) {
  if (summary.lines.empty()) return;
  const std::lock_guard lock{mutex_};
  std::vector<unsigned> kinds;
  for (const GridAccessKind& kind : summary.kinds.values())
    kinds.push_back(kinds_.number_of(kind));
  std::vector<unsigned> sets{0};
  for (BlockSummary::KindSet set : summary.sets.values()) {
    for (auto& [kind, thread] : set)
      kind = kinds[kind];
    sets.push_back(sets_.number_of(set));
  }
  Lines* lines = nullptr;
  for (const BlockSummary::Line& added : summary.lines) {
    if (lines == nullptr || lines->buffer != added.buffer) lines = &lines_of(*added.buffer);
    lines->begin = std::min(lines->begin, added.number);
    lines->end = std::max(lines->end, added.number + 1);
    PackedHistory& line = lines->at(added.number);
    if (added.words == 0 && line.form() != Form::words) {
      note_block(line, sets[added.first.kinds], {block, added.first.thread}, added.shift);
      continue;
    }
    spread(line);
    for (unsigned word = 0; word < words_in_line; ++word) {
      const BlockSummary::Word own =
          added.words == 0 ? BlockSummary::Word{added.first.kinds, added.first.thread + (word >> added.shift)}
                           : summary.words[added.words - 1][word];
      if (own.kinds != 0) {
        note_block((*words_[line.index()])[word], sets[own.kinds], {block, own.thread}, one_word);
      }
    }
  }
}

/// To the history of a line that is not of words, or of a word.
void GridRaces::note_block(PackedHistory& history, unsigned kinds, const GridThread& first, unsigned shift) {
  if (history.form() == Form::empty && PackedHistory::fits(kinds, first.block)) {
    history = {kinds, first.block, first.thread, shift};
    return;
  }
  if (history.form() != Form::entries) {
    const PackedHistory before = std::exchange(history, PackedHistory{Form::entries, no_entry});
    if (before.form() == Form::by_one_block) {
      note_block(history, before.kinds(), {before.block(), before.thread()}, before.shift());
    }
  }
  for (const auto& [kind, offset] : sets_[kinds])
    note_access(history, kind, {first.block, first.thread + offset}, shift);
}

/// To a history of entries.
void GridRaces::note_access(PackedHistory& history, unsigned kind, const GridThread& by, unsigned shift) {
  std::size_t count = 0;
  HistoryEntry* highest = nullptr;
  HistoryEntry* second = nullptr;
  for (std::size_t next = history.index(); next != no_entry; next = entries_[next].next) {
    HistoryEntry& entry = entries_[next];
    if (entry.kind != kind || entry.shift != shift) continue;
    if (entry.block == by.block) {
      entry.thread = std::min<std::uint64_t>(entry.thread, by.thread) & 0xfff;
      return;
    }
    ++count;
    if (highest == nullptr || entry.block > highest->block) {
      second = std::exchange(highest, &entry);
    } else if (second == nullptr || entry.block > second->block) {
      second = &entry;
    }
  }
  const auto set = [&](HistoryEntry& entry) {
    entry.kind = kind;
    entry.block = by.block & 0xffff'ffff'ffff;
    entry.thread = by.thread & 0xfff;
    entry.shift = shift & 0xf;
  };
  if (count == most_threads(kinds_[kind])) {
    // The highest stays, and of the others those that are lower.
    if (by.block > highest->block) {
      set(*highest);
    } else if (by.block < second->block) {
      set(*second);
    }
    return;
  }
  std::uint32_t number = free_entries_;
  if (number == no_entry) {
    if (entries_.size() > UINT32_MAX) throw std::bad_alloc{};
    number = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    free_entries_ = entries_[number].next;
  }
  set(entries_[number]);
  entries_[number].next = static_cast<std::uint32_t>(history.index());
  history = {Form::entries, number};
}

/// Gives each word of a line a history of its own.
void GridRaces::spread(PackedHistory& line) {
  if (line.form() == Form::words) return;
  auto words = std::make_unique<Words>();
  for (unsigned word = 0; word < words_in_line; ++word) {
    PackedHistory& own = (*words)[word];
    if (line.form() == Form::by_one_block) {
      own = {line.kinds(), line.block(), line.thread() + (word >> line.shift()), one_word};
    } else if (line.form() == Form::entries) {
      own = {Form::entries, no_entry};
      for (const KindAccessors& accessors : unpacked(line, word)) {
        for (const GridThread& by : accessors.threads)
          note_access(own, accessors.kind, by, one_word);
      }
    }
  }
  if (line.form() == Form::entries) {
    for (auto next = static_cast<std::uint32_t>(line.index()); next != no_entry;) {
      const std::uint32_t freed = std::exchange(next, entries_[next].next);
      entries_[freed].next = std::exchange(free_entries_, freed);
    }
  }
  line = {Form::words, words_.size()};
  words_.push_back(std::move(words));
}

// ---- when the launch has ended ----

/// What the history of a word, or of a line, says of a word.
GridRaces::AccessHistory GridRaces::unpacked(const PackedHistory& packed, unsigned word) const {
  AccessHistory history;
  const auto note = [&](unsigned kind, const GridThread& by) {
    auto known = std::ranges::find(history, kind, &KindAccessors::kind);
    if (known == history.end()) known = history.insert(history.end(), {kind, {}});
    known->threads.push_back(by);
  };
  if (packed.form() == Form::by_one_block) {
    for (const auto& [kind, offset] : sets_[packed.kinds()])
      note(kind, {packed.block(), packed.thread() + offset + (word >> packed.shift())});
  } else if (packed.form() == Form::entries) {
    for (std::size_t next = packed.index(); next != no_entry; next = entries_[next].next) {
      const HistoryEntry& entry = entries_[next];
      note(entry.kind, {entry.block, static_cast<unsigned>(entry.thread) + (word >> entry.shift)});
    }
  }
  for (auto& [kind, threads] : history) {
    std::ranges::sort(threads);
    while (threads.size() > most_threads(kinds_[kind]))
      threads.erase(threads.end() - 2);
  }
  return history;
}

template <typename Predicate>
bool GridRaces::any_kind_in(const PackedHistory& history, const Predicate& is_such) const {
  if (history.form() == Form::by_one_block) {
    return std::ranges::any_of(sets_[history.kinds()],
                               [&](const auto& entry) { return is_such(kinds_[entry.first]); });
  }
  if (history.form() != Form::entries) return false;
  for (std::size_t next = history.index(); next != no_entry; next = entries_[next].next)
    if (is_such(kinds_[entries_[next].kind])) return true;
  return false;
}

/// Whether there is a read of an unwritten word, or a store that more than one block may have to do with.
bool GridRaces::may_be_wrong(const PackedHistory& history) const {
  const bool may_be_shared = history.form() == Form::entries;
  return any_kind_in(history, [&](const GridAccessKind& kind) {
    return kind.has(AccessKind::unwritten) || (may_be_shared && kind.writes());
  });
}

bool GridRaces::is_written(const PackedHistory& history) const {
  return any_kind_in(history, std::mem_fn(&GridAccessKind::writes));
}

std::vector<FaultRecord> GridRaces::faults() const {
  FaultLog faults;
  for (const auto& [begin, lines] : lines_) {
    for (std::size_t number = lines.begin; number < lines.end; ++number) {
      const PackedHistory& line = lines.at(number);
      const bool has_words = line.form() == Form::words;
      if (!has_words && !may_be_wrong(line)) continue;
      for (unsigned word = 0; word < words_in_line; ++word) {
        const PackedHistory& history = has_words ? (*words_[line.index()])[word] : line;
        if (!may_be_wrong(history)) continue;
        check_word(*lines.buffer, begin + number * line_bytes + word * word_bytes,
                   unpacked(history, has_words ? 0 : word), faults);
      }
    }
  }
  return faults.take();
}

void GridRaces::check_word(const Buffer& buffer, const std::byte* word, AccessHistory history,
                           FaultLog& faults) const {
  // Two stores say most about a race, so that they come first.
  const auto rank = [&](const KindAccessors& accessors) {
    const GridAccessKind& kind = kinds_[accessors.kind];
    return std::tuple{kind.operation != Operation::store,
                      accessors.threads.front(),
                      kind.operation,
                      kind.released,
                      kind.acquired,
                      kind.flags,
                      kind.untold,
                      kind.mask,
                      kind.bytes,
                      kind.call_site};
  };
  std::ranges::sort(history, {}, rank);
  check_reads(buffer, word, history, faults);
  check_races(buffer, word, history, faults);
}

/// A read is of an unwritten word unless a lower block has stored to it: with that one it is in order, or in a race.
void GridRaces::check_reads(const Buffer& buffer, const std::byte* word, const AccessHistory& history,
                            FaultLog& faults) const {
  for (const KindAccessors& read : history) {
    const GridAccessKind& kind = kinds_[read.kind];
    if (!kind.has(AccessKind::unwritten)) continue;
    const GridThread& lowest = read.threads.front();
    const bool is_stored_to = std::ranges::any_of(history, [&](const KindAccessors& other) {
      return kinds_[other.kind].operation == Operation::store && other.threads.front().block < lowest.block;
    });
    const bool is_tainted = buffer.has_taint(static_cast<std::size_t>(word - buffer.begin()), 1);
    const void* const of_taint = is_tainted ? &buffer : nullptr;
    if (is_stored_to || !faults.is_new(Fault::uninitialised_read, kind.call_site, of_taint)) continue;
    faults.add(uninitialised_read(kind.describe(buffer, word), kind.action(lowest.block, lowest.thread),
                                  is_tainted ? Unwritten::tainted : Unwritten::global));
  }
}

/// Whether an access in a lower block is ordered before one in a higher block. Atomic operations run in the order of
/// blocks, and one needs no release to be seen by those on the same word.
bool GridRaces::ordered(const GridAccessKind& before, std::size_t lower, const GridAccessKind& after,
                        std::size_t higher) const {
  if (before.operation == Operation::atomic && after.has(AccessKind::follows_atomic)) return true;
  return order_.ordered(before.released, lower, after.acquired, higher);
}

void GridRaces::check_races(const Buffer& buffer, const std::byte* word, const AccessHistory& history,
                            FaultLog& faults) const {
  for (const KindAccessors& one : history) {
    for (const KindAccessors& other : history) {
      const GridAccessKind& before = kinds_[one.kind];
      const GridAccessKind& after = kinds_[other.kind];
      if (!before.can_race_with(after)) continue;
      // The lowest two blocks whose accesses of these kinds nothing orders.
      const GridThread* higher = nullptr;
      const auto lower = std::ranges::find_if(one.threads, [&](const GridThread& by) {
        const auto racing = std::ranges::find_if(other.threads, [&](const GridThread& candidate) {
          return candidate.block > by.block && !ordered(before, by.block, after, candidate.block);
        });
        if (racing != other.threads.end()) higher = &*racing;
        return higher != nullptr;
      });
      const auto [low, high] = std::minmax(before.call_site, after.call_site);
      if (higher == nullptr || !faults.is_new(Fault::race, low, high)) continue;
      FaultRecord fault{
          Fault::race,
          before.describe(buffer, word),
          {before.action(lower->block, lower->thread), after.action(higher->block, higher->thread)}};
      const bool may_be_told = after.has(AccessKind::knows_atomics) || before.untold == Untold::lacks_atomic;
      fault.untold = may_be_told ? before.untold : Untold::no;
      fault.is_volatile = before.has(AccessKind::is_volatile) || after.has(AccessKind::is_volatile);
      faults.add(std::move(fault));
    }
  }
}

void GridRaces::for_each_use(const BufferPredicate& is_wanted, const VisitUse& visit) const {
  for (const auto& [begin, lines] : lines_) {
    if (!is_wanted(*lines.buffer)) continue;
    for (std::size_t number = lines.begin; number < lines.end; ++number) {
      const PackedHistory& line = lines.at(number);
      if (line.form() == Form::empty) continue;
      if (line.form() != Form::words) {
        visit(*lines.buffer, number * line_bytes, line_bytes, is_written(line));
        continue;
      }
      const Words& words = *words_[line.index()];
      for (std::size_t word = 0; word < words_in_line; ++word) {
        if (words[word].form() == Form::empty) continue;
        visit(*lines.buffer, number * line_bytes + word * word_bytes, word_bytes, is_written(words[word]));
      }
    }
  }
}

void GridRaces::mark_initialised() const {
  bool is_seen = false;
  const auto is_any = [](const Buffer&) { return true; };
  for_each_use(is_any, [&](Buffer& buffer, std::size_t offset, std::size_t bytes, bool writes) {
    if (!writes) return;
    const bool taints = is_tainted_ && buffer.can_be_tainted();
    is_seen = is_seen || taints;
    if (taints) return buffer.taint(offset, bytes);
    if (is_tainted_) global_memory().lose_taint();
    buffer.mark(offset, bytes, true);
  });
  if (is_tainted_ && !is_seen) global_memory().lose_taint();
}

}  // namespace __emulated
