#include "emulated/order/shared_races.hpp"

#include <algorithm>
#include <utility>

#include "emulated/findings/memory_faults.hpp"
#include "emulated/run/lanes.hpp"

namespace __emulated {
namespace {

/// Adds what is wrong with an access to the faults of its block. It is rare, and built where it is used.
struct Report {
  const SharedMemory& memory;
  const Access& access;
  unsigned thread;
  std::size_t block;
  const HappensBefore& order;
  FaultLog& faults;

  [[gnu::cold]] void race(const Accessor& other, Operation operation) const {
    if (other.thread / warp_size != thread / warp_size) {
      faults.add_race_between_warps(access.call_site, other.call_site);
    }
    if (!faults.is_new(Fault::race, access.call_site, other.call_site)) return;
    FaultRecord race{
        Fault::race, where(), {by(), access_by(block, other.thread, operation, other.call_site)}};
    race.after_warp_barrier = order.follows_warp_barrier(thread);
    faults.add(std::move(race));
  }
  [[gnu::cold]] void read_of_nothing() const { faults.add(uninitialised_read(where(), by(), true)); }

  std::string where() const { return memory.describe(memory.offset_of(access.address), access.bytes); }
  Witness by() const { return access_by(block, thread, access.operation, access.call_site); }
};

}  // namespace

SharedRaces::SharedRaces(const SharedMemory& memory)
    : memory_{memory}, words_{SharedMemory::capacity() / word_bytes}, bytes_{SharedMemory::capacity()} {}

/// A whole word, or several, or parts of one.
void SharedRaces::check_parts(const Access& access, unsigned thread, std::size_t block,
                              const HappensBefore& order, FaultLog& faults) {
  const std::size_t begin = memory_.offset_of(access.address);
  const std::size_t end = begin + access.bytes;
  for (std::size_t word = begin / word_bytes; word * word_bytes < end; ++word) {
    const bool is_whole = begin <= word * word_bytes && (word + 1) * word_bytes <= end;
    if (is_whole && !is_split(word, order)) {
      check_cell(words_.cell(word), words_.moments(word), access, thread, block, order, faults,
                 access.may_be_padding(word * word_bytes - begin));
      continue;
    }
    if (!is_split(word, order)) split(word, order);
    // A struct is copied with what pads it, which nobody has written.
    const bool may_be_padding = (is_whole && is_partly_written(word, order)) ||
                                access.may_be_padding(std::max(begin, word * word_bytes) - begin);
    const std::size_t first = std::max(begin, word * word_bytes);
    const std::size_t last = std::min(end, (word + 1) * word_bytes);
    for (std::size_t byte = first; byte < last; ++byte)
      check_cell(bytes_.cell(byte), bytes_.moments(byte), access, thread, block, order, faults,
                 may_be_padding);
  }
}

bool SharedRaces::is_written(const Cell& cell, const HappensBefore& order) {
  return cell.written >= order.block_begin() ||
         (cell.atomics.lanes != 0 && cell.atomics.interval >= order.block_begin());
}

bool SharedRaces::is_partly_written(std::size_t word, const HappensBefore& order) const {
  for (std::size_t byte = word * word_bytes; byte < (word + 1) * word_bytes; ++byte)
    if (is_written(bytes_.cell(byte), order)) return true;
  return false;
}

/// What was done to the word so far was done to each of its bytes.
void SharedRaces::split(std::size_t word, const HappensBefore& order) {
  for (std::size_t byte = word * word_bytes; byte < (word + 1) * word_bytes; ++byte) {
    Cell& cell = bytes_.cell(byte) = words_.cell(word);
    for (Accessors* const accessors : {&cell.readers, &cell.atomics}) {
      const bool counts = accessors->interval >= order.last_block_barrier() && accessors->by_warps;
      accessors->others = counts ? copied(accessors->others) : 0;
    }
    bytes_.moments(byte) = words_.moments(word);
  }
  words_.cell(word).split = order.last_block_barrier();
}

void SharedRaces::check_cell(Cell& before, CellMoments& moments, const Access& access, unsigned thread,
                             std::size_t block, const HappensBefore& order, FaultLog& faults,
                             bool may_be_padding) {
  const auto report = [&] { return Report{memory_, access, thread, block, order, faults}; };
  const bool stored = before.written >= order.block_begin();
  if (!is_written(before, order) && !may_be_padding && access.operation != Operation::store &&
      faults.is_new(Fault::uninitialised_read, access.call_site)) {
    report().read_of_nothing();
  }
  if (stored && !order.ordered(before.written, before.writer, thread)) {
    report().race({before.writer, before.write_site}, Operation::store);
  }
  if (access.operation != Operation::atomic && may_race(before.atomics, thread, order)) {
    const auto other = racing(before.atomics, moments.atomics, thread, order);
    if (other) report().race(*other, Operation::atomic);
  }
  if (access.operation != Operation::load && may_race(before.readers, thread, order)) {
    const auto other = racing(before.readers, moments.readers, thread, order);
    if (other) report().race(*other, Operation::load);
  }
  switch (access.operation) {
    case Operation::load: note(before.readers, moments.readers, thread, access.call_site, order); break;
    case Operation::atomic: note(before.atomics, moments.atomics, thread, access.call_site, order); break;
    case Operation::store:
      before.written = order.now(thread);
      before.writer = static_cast<std::uint16_t>(thread);
      before.write_site = access.call_site;
      break;
  }
}

std::optional<Accessor> SharedRaces::racing(const Accessors& accessors, const LaneMoments& moments,
                                            unsigned thread, const HappensBefore& order) const {
  const unsigned warp = thread / warp_size;
  const unsigned first = accessors.warp * warp_size;
  const bool by_barriers = !order.has_acquired();
  if (by_barriers && accessors.warp == warp && accessors.by_warps) {
    return Accessor{accessors.other, accessors.other_site};
  }
  std::optional<Accessor> found;
  for (const unsigned lane : lanes_of{accessors.lanes}) {
    const Moment moment = order.in_parts(thread) || !by_barriers ? std::max(accessors.interval, moments[lane])
                                                                 : accessors.interval;
    if (order.ordered(moment, first + lane, thread)) continue;
    const void* const site = site_of(accessors, lane);
    // One of which the place is known says more.
    if (!found || site != nullptr) found = Accessor{first + lane, site};
    if (site != nullptr) break;
  }
  if (found || !accessors.by_warps) return found;
  for (std::uint32_t next = accessors.others; next != 0; next = groups_[next - 1].next) {
    const Group& group = groups_[next - 1];
    for (const unsigned lane : lanes_of{group.lanes}) {
      const unsigned other = group.warp * warp_size + lane;
      if (!order.ordered(group.moment, other, thread)) return Accessor{other, group.site};
    }
  }
  return std::nullopt;
}

/// Where the lane was the last time; nullptr if lanes of its warp were at more places than are kept.
const void* SharedRaces::site_of(const Accessors& accessors, unsigned lane) {
  if ((accessors.at_site & bit_of(lane)) != 0) return accessors.site;
  return (accessors.at_other_site & bit_of(lane)) != 0 ? accessors.other_site : nullptr;
}

void SharedRaces::note_site(Accessors& accessors, std::uint32_t own, const void* call_site) {
  accessors.at_site &= ~own;
  accessors.at_other_site &= ~own;
  if (call_site != accessors.site) {
    const std::uint32_t at_site = std::exchange(accessors.at_site, 0);
    if (!accessors.by_warps) {
      if (call_site == accessors.other_site) accessors.at_site = accessors.at_other_site;
      accessors.other_site = accessors.site;
      accessors.at_other_site = at_site;
    }
    accessors.site = call_site;
  }
  accessors.at_site |= own;
}

void SharedRaces::note(Accessors& accessors, LaneMoments& moments, unsigned thread, const void* call_site,
                       const HappensBefore& order) {
  const unsigned warp = thread / warp_size;
  const unsigned own = bit_of(thread % warp_size);
  const Moment interval = order.last_warp_barrier(thread);
  if (accessors.lanes == 0 || accessors.interval < order.last_block_barrier()) {
    accessors = {interval, call_site, nullptr, own, own, 0, static_cast<std::uint16_t>(warp), 0, false, 0};
  } else if (accessors.warp != warp) {
    accessors.by_warps = true;
    accessors.other = static_cast<std::uint16_t>(thread);
    accessors.other_site = call_site;
    accessors.at_other_site = 0;
    note_other(accessors, thread, call_site, order);
  } else {
    // What the warp did before its last barrier cannot race with the warp itself any more.
    if (accessors.interval < interval) accessors.lanes = accessors.at_site = accessors.at_other_site = 0;
    accessors.lanes |= own;
    accessors.interval = interval;
    note_site(accessors, own, call_site);
  }
  if (accessors.warp == warp && order.in_parts(thread)) moments[thread % warp_size] = order.now(thread);
}

/// Of each thread, the last time is kept.
void SharedRaces::note_other(Accessors& accessors, unsigned thread, const void* call_site,
                             const HappensBefore& order) {
  if (groups_begin_ != order.last_block_barrier()) groups_.clear();
  groups_begin_ = order.last_block_barrier();
  const auto warp = static_cast<std::uint16_t>(thread / warp_size);
  const unsigned own = bit_of(thread % warp_size);
  const Moment now = order.now(thread);
  // Mostly lanes of one warp do it one after the other. What they did before orders no less than this.
  if (accessors.others != 0) {
    Group& last = groups_[accessors.others - 1];
    if (last.warp == warp && last.moment == now && last.site == call_site) {
      last.lanes |= own;
      return;
    }
  }
  Group* place = nullptr;
  for (std::uint32_t next = accessors.others; next != 0; next = groups_[next - 1].next) {
    Group& group = groups_[next - 1];
    if (group.warp != warp) continue;
    group.lanes &= ~own;
    if ((group.moment == now && group.site == call_site) || group.lanes == 0) place = &group;
  }
  if (place != nullptr) {
    *place = {now, call_site, (place->moment == now && place->site == call_site ? place->lanes : 0) | own,
              place->next, warp};
  } else {
    groups_.push_back({now, call_site, own, accessors.others, warp});
    accessors.others = static_cast<std::uint32_t>(groups_.size());
  }
}

/// The same groups once more, for another to go on with.
std::uint32_t SharedRaces::copied(std::uint32_t group) {
  std::uint32_t first = 0;
  for (std::uint32_t next = group; next != 0; next = groups_[next - 1].next) {
    groups_.push_back(Group{groups_[next - 1]});
    groups_.back().next = std::exchange(first, static_cast<std::uint32_t>(groups_.size()));
  }
  return first;
}

}  // namespace __emulated
