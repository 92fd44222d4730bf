#include "emulated/order/global_races.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <stdexcept>
#include <tuple>

#include "emulated/findings/memory_faults.hpp"
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

std::size_t first_of(std::uint8_t mask) { return static_cast<std::size_t>(std::countr_zero(mask)); }

/// Blocks that are remembered of those that made accesses of a kind. The highest is one of them. Where blocks pass on what
/// they know of others, which two are ordered depends on more than which is the lower one.
std::size_t most_visits(const GridRaces::Kind& kind) {
  return kind.released == GridOrder::none && kind.acquired == GridOrder::none ? 3 : 16;
}

}  // namespace

// ---- within a block ----

BlockRaces::Slot& BlockRaces::slot_of(const std::byte* begin) {
  const std::size_t mixed = reinterpret_cast<std::uintptr_t>(begin) / line_bytes * 0x9e3779b97f4a7c15;
  std::size_t at = mixed >> 32 & (slots_.size() - 1);
  while (slots_[at].begin != nullptr && slots_[at].begin != begin)
    at = (at + 1) & (slots_.size() - 1);
  return slots_[at];
}

BlockRaces::Line& BlockRaces::line_of(Buffer& buffer, std::size_t offset) {
  const std::size_t number = offset / line_bytes;
  const std::byte* const begin = buffer.begin() + number * line_bytes;
  const Slot& slot = slot_of(begin);
  return slot.begin != nullptr ? *slot.line : new_line(buffer, number);
}

BlockRaces::Line& BlockRaces::new_line(Buffer& buffer, std::size_t number) {
  if (2 * (lines_ + 1) > slots_.size()) {
    const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& slot : before)
      if (slot.begin != nullptr) slot_of(slot.begin) = slot;
  }
  if (lines_ == slabs_.size() * lines_in_slab) slabs_.push_back(std::make_unique<Line[]>(lines_in_slab));
  Line& line = slabs_[lines_ / lines_in_slab][lines_ % lines_in_slab];
  ++lines_;
  line = {&buffer, number, {}};
  const std::byte* const begin = buffer.begin() + number * line_bytes;
  slot_of(begin) = {begin, &line};
  return line;
}

unsigned BlockRaces::number_of(const Kind& kind) {
  const std::size_t place = (reinterpret_cast<std::uintptr_t>(kind.call_site) + kind.mask) % recent_.size();
  if (const unsigned recent = recent_[place]; recent != 0 && kinds_[recent - 1].equals(kind))
    return recent - 1;
  const auto [known, is_new] = numbers_.try_emplace(kind, static_cast<unsigned>(kinds_.size()));
  if (is_new) kinds_.push_back(kind);
  if (kinds_.size() > 1U << 20) throw std::length_error{"a block makes too many kinds of accesses to follow"};
  recent_[place] = known->second + 1;
  return known->second;
}

void BlockRaces::check(const Access& access, Buffer& buffer, unsigned thread, const HappensBefore& order) {
  const auto offset = static_cast<std::size_t>(access.address - buffer.begin());
  const std::size_t end = offset + access.bytes;
  Kind kind{access.call_site,
            fences_.acquired(thread),
            access.operation,
            static_cast<std::uint8_t>(access.bytes),
            0,
            static_cast<std::uint8_t>((fences_.is_acquired(thread) ? knows_atomics : 0) |
                                      (access.is_volatile ? is_volatile : 0))};
  const auto moment = static_cast<std::uint32_t>(order.now(thread) - order.block_begin());
  for (std::size_t at = offset / word_bytes * word_bytes; at < end; at += word_bytes) {
    kind.mask = mask_of(at, offset, end);
    const bool may_be_padding = access.may_be_padding(at < offset ? 0 : at - offset);
    const bool is_unwritten =
        access.operation != Operation::store && !may_be_padding && !buffer.is_initialised(at, word_bytes);
    kind.flags = static_cast<std::uint8_t>((kind.flags & ~unwritten) | (is_unwritten ? unwritten : 0));
    Cell& cell = line_of(buffer, at).cells[at / word_bytes % words_in_line];
    const unsigned number = number_of(kind);
    const std::uint32_t what = (number + 1) << 10 | thread;
    if (cell.what == 0 || cell.what == what) {
      cell = {moment, what};
    } else {
      check_cell(cell, buffer.begin() + at, buffer, number, thread, order);
    }
  }
}

/// Others have accessed the word, or the thread has done so otherwise.
void BlockRaces::check_cell(Cell& cell, const std::byte* word, const Buffer& buffer, unsigned kind,
                            unsigned thread, const HappensBefore& order) {
  if ((cell.what & in_groups) == 0) {
    const Cell before = std::exchange(cell, Cell{0, in_groups});
    note(cell, (before.what >> 10) - 1, before.what & 0x3ff, before.moment);
  }
  // Loads among loads are most of what there is.
  if (cell.moment != 0 || kinds_[kind].operation != Operation::load) {
    kind = number_of(check_groups(cell, word, buffer, kinds_[kind], thread, order));
  }
  note(cell, kind, thread, static_cast<std::uint32_t>(order.now(thread) - order.block_begin()));
}

/// Notes the races of an access. Returns its kind, as what came before it makes it.
BlockRaces::Kind BlockRaces::check_groups(const Cell& cell, const std::byte* word, const Buffer& buffer,
                                          Kind self, unsigned thread, const HappensBefore& order) {
  for (std::uint32_t next = cell.what & ~in_groups; next != 0; next = groups_[next - 1].next) {
    const Group& group = groups_[next - 1];
    const Kind& other = kinds_[group.kind];
    if ((self.mask & other.mask) == 0) continue;
    const bool races = can_race(self.operation, other.operation);
    if (!races && !(self.has(unwritten) && other.operation != Operation::load)) continue;
    bool is_noted = false;
    for (const unsigned lane : lanes_of(group.lanes)) {
      const unsigned other_thread = group.warp * warp_size + lane;
      if (order.ordered(order.block_begin() + group.moment, other_thread, thread)) {
        if (other.operation != Operation::load) self.flags &= static_cast<std::uint8_t>(~unwritten);
        if (other.operation == Operation::atomic && self.operation != Operation::atomic) {
          self.flags |= follows_atomic;
        }
      } else if (races && !std::exchange(is_noted, true)) {
        const bool after_warp_barrier =
            order.met_in_parts(thread) || order.last_warp_barrier(thread) > order.last_block_barrier();
        note_race({word,
                   &buffer,
                   {self.operation, self.mask, thread, self.call_site, self.bytes},
                   {other.operation, other.mask, other_thread, other.call_site, other.bytes},
                   thread / warp_size != group.warp,
                   after_warp_barrier});
      }
    }
  }
  return self;
}

/// Of a thread's accesses of one kind, the last one is kept.
void BlockRaces::note(Cell& cell, unsigned kind, unsigned thread, std::uint32_t moment) {
  const unsigned own = bit_of(thread % warp_size);
  const auto warp = static_cast<std::uint16_t>(thread / warp_size);
  const std::uint32_t first = cell.what & ~in_groups;
  if (first != 0) {
    Group& last = groups_[first - 1];
    if (last.kind == kind && last.warp == warp && last.moment == moment && last.is_only_one) {
      last.lanes |= own;
      return;
    }
  }
  Group* place = nullptr;
  Group* unused = nullptr;
  bool is_only_one = true;
  for (std::uint32_t next = first; next != 0; next = groups_[next - 1].next) {
    Group& group = groups_[next - 1];
    if (group.kind == kind && group.warp == warp) {
      if (group.moment == moment) {
        place = &group;
      } else {
        group.lanes &= ~own;
        group.is_only_one = is_only_one = false;
      }
    }
    if (group.lanes == 0) unused = &group;
  }
  if (place != nullptr) {
    place->lanes |= own;
  } else if (unused != nullptr) {
    *unused = {kind, moment, own, unused->next, warp, is_only_one};
  } else {
    groups_.push_back({kind, moment, own, first, warp, is_only_one});
    cell.what = in_groups | static_cast<std::uint32_t>(groups_.size());
  }
  if (kinds_[kind].operation != Operation::load) cell.moment = 1;
}

/// Of the races between two places, keeps the one of the lowest word and threads: it does not depend on the schedule.
void BlockRaces::note_race(const Race& seen) {
  const auto says_more = [](const OneAccess& access) {
    return std::tuple{access.operation == Operation::load, access.thread, access.operation, access.call_site};
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

void BlockRaces::report_races(std::size_t block, FaultLog& findings) {
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
  races_.clear();
}

// ---- the end of a block ----

/// The number of an access's kind for other blocks.
unsigned BlockRaces::visit_number_of(unsigned kind, unsigned thread, Moment moment) {
  Told told;
  if (fences_.has_device_fences()) {
    if (told_.size() <= thread) told_.resize(thread + 1);
    const bool knew = kinds_[kind].has(knows_atomics);
    auto& [of, known] = told_[thread];
    if (of != std::pair{moment, knew}) {
      of = {moment, knew};
      known.released = fences_.released(thread, moment);
      known.untold = known.released == GridOrder::none ? fences_.untold(thread, moment, knew) : Untold::no;
    }
    told = known;
  }
  const auto next = static_cast<unsigned>(visits_.kind_table.size());
  const auto [number, is_new] = visit_numbers_.try_emplace({kind, told}, next);
  if (is_new) {
    const Kind& of = kinds_[kind];
    visits_.kind_table.push_back({of.operation, told.released, of.acquired, of.has(knows_atomics),
                                  of.has(follows_atomic), of.has(unwritten), of.has(is_volatile), told.untold,
                                  of.mask, of.bytes, of.call_site});
  }
  return number->second;
}

/// The number of the kinds of a word; mostly it is the last word's.
unsigned BlockRaces::set_of(const GridRaces::Kinds& kinds) {
  if (kinds == kinds_of_word_) return set_of_word_;
  const auto [number, is_new] =
      set_numbers_.try_emplace(kinds, static_cast<unsigned>(set_numbers_.size() + 1));
  if (is_new) visits_.kinds_table.push_back(kinds);
  kinds_of_word_ = kinds;
  return set_of_word_ = number->second;
}

GridRaces::WordVisit BlockRaces::visit_of(const Cell& cell, Moment begin) {
  if (cell.what == 0) return {};
  GridRaces::Kinds& kinds = kinds_being_read_;
  kinds.clear();
  if ((cell.what & in_groups) == 0) {
    const unsigned kind = (cell.what >> 10) - 1;
    const unsigned thread = cell.what & 0x3ff;
    if (!fences_.has_device_fences() && kind < set_of_kind_.size() && set_of_kind_[kind] != 0) {
      return {set_of_kind_[kind], thread};
    }
    kinds.emplace_back(visit_number_of(kind, thread, begin + cell.moment), 0);
    const unsigned set = set_of(kinds);
    if (set_of_kind_.size() <= kind) set_of_kind_.resize(kind + 1);
    set_of_kind_[kind] = set;
    return {set, thread};
  }
  for (std::uint32_t next = cell.what & ~in_groups; next != 0; next = groups_[next - 1].next) {
    const Group& group = groups_[next - 1];
    for (const unsigned lane : lanes_of(group.lanes)) {
      const unsigned thread = group.warp * warp_size + lane;
      const unsigned number = visit_number_of(group.kind, thread, begin + group.moment);
      const auto known = std::ranges::find(kinds, number, [](const auto& entry) { return entry.first; });
      if (known == kinds.end()) {
        kinds.emplace_back(number, thread);
      } else {
        known->second = std::min(known->second, thread);
      }
      if (!fences_.has_device_fences()) break;  // the first lane stands for all
    }
  }
  std::ranges::sort(kinds);
  const unsigned thread = kinds.front().second;
  for (auto& entry : kinds)
    entry.second -= thread;
  return {set_of(kinds), thread};
}

void BlockRaces::end_block(std::size_t block, const HappensBefore& order, FaultLog& findings,
                           GridRaces& launch) {
  report_races(block, findings);
  for (std::size_t i = 0; i < lines_; ++i) {
    const Line& line = slabs_[i / lines_in_slab][i % lines_in_slab];
    std::array<GridRaces::WordVisit, words_in_line> words;
    for (std::size_t word = 0; word < words_in_line; ++word)
      words[word] = visit_of(line.cells[word], order.block_begin());
    const GridRaces::WordVisit first = words[0];
    const auto next =
        std::ranges::find_if(words, [&](const auto& word) { return word.thread != first.thread; });
    const auto shift =
        static_cast<unsigned>(std::bit_width(static_cast<std::size_t>(next - words.begin())) - 1);
    bool is_regular = first.kinds != 0;
    for (unsigned word = 0; word < words_in_line; ++word) {
      is_regular = is_regular && words[word].kinds == first.kinds &&
                   words[word].thread == first.thread + (word >> shift);
    }
    if (!is_regular) visits_.words.push_back(words);
    visits_.lines.push_back({line.buffer, line.number, first, shift, is_regular ? 0 : visits_.words.size()});
  }
  launch.add(block, visits_);

  visits_.clear();
  visit_numbers_.clear();
  set_numbers_.clear();
  set_of_kind_.clear();
  kinds_of_word_.clear();
  told_.clear();
  kinds_.clear();
  numbers_.clear();
  recent_.fill(0);
  groups_.clear();
  // What one large block took is not kept for small ones.
  if (lines_ > 64 * lines_in_slab) {
    slabs_.clear();
    slots_ = std::vector<Slot>(least_slots);
    groups_.shrink_to_fit();
    visits_ = {};
  }
  // A table that is mostly empty takes longer to clear than to fill.
  if (slots_.size() > least_slots && 8 * lines_ < slots_.size()) slots_.resize(slots_.size() / 2);
  std::ranges::fill(slots_, Slot{});
  lines_ = 0;
}

// ---- between blocks ----

void GridRaces::Visits::clear() {
  kind_table.clear();
  kinds_table.clear();
  lines.clear();
  words.clear();
}

unsigned GridRaces::number_of(const Kind& kind) {
  const auto [number, is_new] = kind_numbers_.try_emplace(kind, static_cast<unsigned>(kinds_.size()));
  if (is_new) kinds_.push_back(kind);
  return number->second;
}

std::size_t GridRaces::number_of(const Kinds& kinds) {
  const auto [number, is_new] = set_numbers_.try_emplace(kinds, sets_.size());
  if (is_new) sets_.push_back(kinds);
  return number->second;
}

GridRaces::Lines& GridRaces::lines_of(Buffer& buffer) {
  const auto [known, is_new] = lines_.try_emplace(buffer.begin());
  if (is_new) {
    const std::size_t lines = buffer.followed_bytes() / line_bytes + 1;
    known->second = {&buffer, Mapping{lines * sizeof(Cell), Backing::as_touched}, lines, 0};
  }
  return known->second;
}

void GridRaces::add(std::size_t block, const Visits& visits) {
  if (visits.lines.empty()) return;
  const std::lock_guard lock{mutex_};
  std::vector<unsigned> kinds;
  for (const Kind& kind : visits.kind_table)
    kinds.push_back(number_of(kind));
  std::vector<std::size_t> sets{0};
  for (Kinds entries : visits.kinds_table) {
    for (auto& entry : entries)
      entry.first = kinds[entry.first];
    sets.push_back(number_of(entries));
  }
  Lines* lines = nullptr;
  for (const LineVisit& visit : visits.lines) {
    if (lines == nullptr || lines->buffer != visit.buffer) lines = &lines_of(*visit.buffer);
    lines->begin = std::min(lines->begin, visit.line);
    lines->end = std::max(lines->end, visit.line + 1);
    Cell& line = lines->cell(visit.line);
    if (visit.words == 0 && line.tag() != Cell::Tag::words) {
      add(line, block, sets[visit.first.kinds], visit.first.thread, visit.shift);
      continue;
    }
    spread(line);
    for (unsigned word = 0; word < words_in_line; ++word) {
      const WordVisit own = visit.words == 0
                                ? WordVisit{visit.first.kinds, visit.first.thread + (word >> visit.shift)}
                                : visits.words[visit.words - 1][word];
      if (own.kinds != 0) add((*words_[line.index()])[word], block, sets[own.kinds], own.thread, 5);
    }
  }
}

/// A line that is not of words, or a word.
void GridRaces::add(Cell& cell, std::size_t block, std::size_t kinds, unsigned thread, unsigned shift) {
  if (cell.tag() == Cell::Tag::empty && Cell::fits(kinds, block)) {
    cell = {kinds, block, thread, shift};
    return;
  }
  if (cell.tag() != Cell::Tag::nodes) {
    const Cell before = std::exchange(cell, Cell{Cell::Tag::nodes, no_node});
    if (before.tag() == Cell::Tag::by_one_block) {
      add(cell, before.block(), before.kinds(), before.thread(), before.shift());
    }
  }
  for (const auto& [kind, offset] : sets_[kinds])
    add(cell, kind, {block, thread + offset}, shift);
}

/// To a cell of nodes.
void GridRaces::add(Cell& cell, unsigned kind, const Visit& visit, unsigned shift) {
  std::size_t count = 0;
  Node* highest = nullptr;
  Node* second = nullptr;
  for (std::uint32_t next = static_cast<std::uint32_t>(cell.index()); next != no_node;
       next = nodes_[next].next) {
    Node& node = nodes_[next];
    if (node.kind != kind || node.shift != shift) continue;
    if (node.block == visit.block) {
      node.thread = std::min<std::uint64_t>(node.thread, visit.thread) & 0xfff;
      return;
    }
    ++count;
    if (highest == nullptr || node.block > highest->block) {
      second = std::exchange(highest, &node);
    } else if (second == nullptr || node.block > second->block) {
      second = &node;
    }
  }
  const auto set = [&](Node& node) {
    node.kind = kind;
    node.block = visit.block & 0xffff'ffff'ffff;
    node.thread = visit.thread & 0xfff;
    node.shift = shift & 0xf;
  };
  if (count == most_visits(kinds_[kind])) {
    // The highest stays, and of the others those that are lower.
    if (visit.block > highest->block) {
      set(*highest);
    } else if (visit.block < second->block) {
      set(*second);
    }
    return;
  }
  std::uint32_t number = free_nodes_;
  if (number == no_node) {
    if (nodes_.size() > UINT32_MAX) throw std::bad_alloc{};
    number = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  } else {
    free_nodes_ = nodes_[number].next;
  }
  set(nodes_[number]);
  nodes_[number].next = static_cast<std::uint32_t>(cell.index());
  cell = {Cell::Tag::nodes, number};
}

/// Gives each word of a line a cell of its own.
void GridRaces::spread(Cell& line) {
  if (line.tag() == Cell::Tag::words) return;
  auto words = std::make_unique<Words>();
  if (line.tag() == Cell::Tag::by_one_block) {
    for (unsigned word = 0; word < words_in_line; ++word)
      (*words)[word] = {line.kinds(), line.block(), line.thread() + (word >> line.shift()), 5};
  } else if (line.tag() == Cell::Tag::nodes) {
    for (unsigned word = 0; word < words_in_line; ++word) {
      (*words)[word] = {Cell::Tag::nodes, no_node};
      for (const Visitors& visitors : record_of(line, word)) {
        for (const Visit& visit : visitors.visits)
          add((*words)[word], visitors.kind, visit, 5);
      }
    }
    for (std::uint32_t next = static_cast<std::uint32_t>(line.index()); next != no_node;) {
      const std::uint32_t freed = std::exchange(next, nodes_[next].next);
      nodes_[freed].next = std::exchange(free_nodes_, freed);
    }
  }
  line = {Cell::Tag::words, words_.size()};
  words_.push_back(std::move(words));
}

/// What the cell of a word, or of a line, says of a word.
GridRaces::Record GridRaces::record_of(const Cell& cell, unsigned word) const {
  Record record;
  const auto note = [&](unsigned kind, const Visit& visit) {
    auto known = std::ranges::find(record, kind, &Visitors::kind);
    if (known == record.end()) known = record.insert(record.end(), {kind, {}});
    known->visits.push_back(visit);
  };
  if (cell.tag() == Cell::Tag::by_one_block) {
    for (const auto& [kind, offset] : sets_[cell.kinds()])
      note(kind, {cell.block(), cell.thread() + offset + (word >> cell.shift())});
  } else if (cell.tag() == Cell::Tag::nodes) {
    for (std::size_t next = cell.index(); next != no_node; next = nodes_[next].next) {
      const Node& node = nodes_[next];
      note(node.kind, {node.block, static_cast<unsigned>(node.thread) + (word >> node.shift)});
    }
  }
  for (Visitors& visitors : record) {
    std::ranges::sort(visitors.visits);
    while (visitors.visits.size() > most_visits(kinds_[visitors.kind]))
      visitors.visits.erase(visitors.visits.end() - 2);
  }
  return record;
}

/// Whether a cell has nodes, one of them of such a kind.
template <typename Predicate> bool GridRaces::any_node_of(const Cell& cell, const Predicate& is_such) const {
  if (cell.tag() != Cell::Tag::nodes) return false;
  for (std::size_t next = cell.index(); next != no_node; next = nodes_[next].next)
    if (is_such(kinds_[nodes_[next].kind])) return true;
  return false;
}

/// Whether there is a read of an unwritten word, or a store that more than one block may have to do with.
bool GridRaces::may_be_wrong(const Cell& cell) const {
  if (cell.tag() == Cell::Tag::by_one_block) {
    return std::ranges::any_of(sets_[cell.kinds()],
                               [&](const auto& entry) { return kinds_[entry.first].unwritten; });
  }
  return any_node_of(cell,
                     [&](const Kind& kind) { return kind.unwritten || kind.operation != Operation::load; });
}

bool GridRaces::is_written(const Cell& cell) const {
  const auto writes = [&](unsigned kind) { return kinds_[kind].operation != Operation::load; };
  if (cell.tag() == Cell::Tag::by_one_block) {
    return std::ranges::any_of(sets_[cell.kinds()], [&](const auto& entry) { return writes(entry.first); });
  }
  return any_node_of(cell, [](const Kind& kind) { return kind.operation != Operation::load; });
}

std::vector<FaultRecord> GridRaces::faults() const {
  FaultLog findings;
  for (const auto& [begin, lines] : lines_) {
    for (std::size_t number = lines.begin; number < lines.end; ++number) {
      const Cell& line = lines.cell(number);
      const bool has_words = line.tag() == Cell::Tag::words;
      if (!has_words && !may_be_wrong(line)) continue;
      for (unsigned word = 0; word < words_in_line; ++word) {
        const Cell& cell = has_words ? (*words_[line.index()])[word] : line;
        if (!may_be_wrong(cell)) continue;
        judge(*lines.buffer, number * words_in_line + word, record_of(cell, has_words ? 0 : word), findings);
      }
    }
  }
  return findings.take();
}

void GridRaces::judge(const Buffer& buffer, std::size_t word, Record record, FaultLog& findings) const {
  // Two stores say most about a race, so that they come first.
  const auto rank = [&](const Visitors& visitors) {
    const Kind& kind = kinds_[visitors.kind];
    return std::tuple{kind.operation != Operation::store, visitors.visits.front(), kind};
  };
  std::ranges::sort(record, [&](const Visitors& a, const Visitors& b) { return rank(a) < rank(b); });
  judge_reads(buffer, word, record, findings);
  judge_races(buffer, word, record, findings);
}

/// A read is of an unwritten word unless a lower block has stored to it: with that one it is in order, or in a race.
void GridRaces::judge_reads(const Buffer& buffer, std::size_t word, const Record& record,
                            FaultLog& findings) const {
  for (const Visitors& read : record) {
    const Kind& kind = kinds_[read.kind];
    if (!kind.unwritten) continue;
    const Visit& lowest = read.visits.front();
    const bool is_written = std::ranges::any_of(record, [&](const Visitors& visitors) {
      return kinds_[visitors.kind].operation == Operation::store &&
             visitors.visits.front().block < lowest.block;
    });
    if (is_written || !findings.is_new(Fault::uninitialised_read, kind.call_site)) continue;
    findings.add(uninitialised_read(
        buffer.describe(buffer.begin() + word * word_bytes + first_of(kind.mask), kind.bytes),
        action_of(lowest.block, lowest.thread, kind.operation, kind.call_site), false));
  }
}

/// Whether an access in a lower block is ordered before one in a higher block. Atomic operations run in the order of
/// blocks, and one needs no release to be seen by those on the same word.
bool GridRaces::ordered(unsigned lower_kind, std::size_t lower, unsigned higher_kind,
                        std::size_t higher) const {
  const Kind& before = kinds_[lower_kind];
  const Kind& after = kinds_[higher_kind];
  if (before.operation == Operation::atomic && after.follows_atomic) return true;
  return order_.ordered(before.released, lower, after.acquired, higher);
}

void GridRaces::judge_races(const Buffer& buffer, std::size_t word, const Record& record,
                            FaultLog& findings) const {
  /// The lowest two blocks whose accesses of these kinds nothing orders.
  const auto racing = [&](const Visitors& one,
                          const Visitors& other) -> std::pair<const Visit*, const Visit*> {
    for (const Visit& lower : one.visits) {
      for (const Visit& higher : other.visits) {
        if (higher.block > lower.block && !ordered(one.kind, lower.block, other.kind, higher.block)) {
          return {&lower, &higher};
        }
      }
    }
    return {};
  };
  for (const Visitors& one : record) {
    for (const Visitors& other : record) {
      const Kind& before = kinds_[one.kind];
      const Kind& after = kinds_[other.kind];
      if ((before.mask & after.mask) == 0 || !can_race(before.operation, after.operation)) continue;
      const auto [lower, higher] = racing(one, other);
      const auto [low, high] = std::minmax(before.call_site, after.call_site);
      if (lower == nullptr || !findings.is_new(Fault::race, low, high)) continue;
      FaultRecord fault{
          Fault::race,
          buffer.describe(buffer.begin() + word * word_bytes + first_of(before.mask), before.bytes),
          {action_of(lower->block, lower->thread, before.operation, before.call_site),
           action_of(higher->block, higher->thread, after.operation, after.call_site)}};
      const bool may_be_told = after.knows_atomics || before.untold == Untold::lacks_atomic;
      fault.untold = may_be_told ? before.untold : Untold::no;
      fault.is_volatile = before.is_volatile || after.is_volatile;
      findings.add(std::move(fault));
    }
  }
}

void GridRaces::mark_initialised() const {
  for (const auto& [begin, lines] : lines_) {
    Buffer& buffer = *lines.buffer;
    if (buffer.is_static()) continue;
    for (std::size_t number = lines.begin; number < lines.end; ++number) {
      const Cell& line = lines.cell(number);
      if (line.tag() != Cell::Tag::words) {
        if (is_written(line)) buffer.mark(number * line_bytes, line_bytes, true);
        continue;
      }
      const Words& words = *words_[line.index()];
      for (std::size_t word = 0; word < words_in_line; ++word)
        if (is_written(words[word])) buffer.mark(number * line_bytes + word * word_bytes, word_bytes, true);
    }
  }
}

}  // namespace __emulated
