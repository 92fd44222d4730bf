#include "emulated/order/shared_races.hpp"

#include <algorithm>
#include <utility>

#include "emulated/findings/memory_faults.hpp"
#include "emulated/run/lanes.hpp"

namespace __emulated {

SharedRaces::SharedRaces(const SharedMemory& memory, const HappensBefore& order, FaultLog& faults)
    : memory_{memory},
      order_{order},
      faults_{faults},
      words_{SharedMemory::capacity() / word_bytes},
      bytes_{SharedMemory::capacity()} {}

[[gnu::cold]] void SharedRaces::report_race(const Access& access, unsigned thread, const Accessor& other,
                                            Operation operation) {
  if (other.thread / warp_size != thread / warp_size) {
    faults_.add_race_between_warps(access.call_site, other.call_site);
  }
  if (!faults_.is_new(Fault::race, access.call_site, other.call_site)) return;
  FaultRecord race{Fault::race,
                   describe(access),
                   {access_by(block_, thread, access.operation, access.call_site),
                    access_by(block_, other.thread, operation, other.call_site)}};
  race.after_warp_barrier = order_.follows_warp_barrier(thread);
  faults_.add(std::move(race));
}

[[gnu::cold]] void SharedRaces::report_read_of_nothing(const Access& access, unsigned thread) {
  faults_.add(uninitialised_read(
      describe(access), access_by(block_, thread, access.operation, access.call_site), Unwritten::shared));
}

/// A whole word, or several, or parts of one.
void SharedRaces::check_parts(const Access& access, unsigned thread) {
  const std::size_t begin = memory_.offset_of(access.address);
  const std::size_t end = begin + access.bytes;
  for (std::size_t word = begin / word_bytes; word * word_bytes < end; ++word) {
    const bool is_whole = begin <= word * word_bytes && (word + 1) * word_bytes <= end;
    if (is_whole && !is_split(word)) {
      check_cell(words_.cell(word), words_.moments(word), access, thread,
                 access.may_be_padding(word * word_bytes - begin));
      continue;
    }
    if (!is_split(word)) split(word);
    // A struct is copied with what pads it, which nobody has written.
    const bool may_be_padding = (is_whole && is_partly_written(word)) ||
                                access.may_be_padding(std::max(begin, word * word_bytes) - begin);
    const std::size_t first = std::max(begin, word * word_bytes);
    const std::size_t last = std::min(end, (word + 1) * word_bytes);
    for (std::size_t byte = first; byte < last; ++byte)
      check_cell(bytes_.cell(byte), bytes_.moments(byte), access, thread, may_be_padding);
  }
}

bool SharedRaces::is_written(const Cell& cell) const {
  return cell.written >= order_.block_begin() ||
         (cell.atomics.lanes != 0 && cell.atomics.interval >= order_.block_begin());
}

bool SharedRaces::is_partly_written(std::size_t word) const {
  for (std::size_t byte = word * word_bytes; byte < (word + 1) * word_bytes; ++byte)
    if (is_written(bytes_.cell(byte))) return true;
  return false;
}

/// What was done to the word so far was done to each of its bytes.
void SharedRaces::split(std::size_t word) {
  for (std::size_t byte = word * word_bytes; byte < (word + 1) * word_bytes; ++byte) {
    Cell& cell = bytes_.cell(byte) = words_.cell(word);
    for (Accessors* const accessors : {&cell.readers, &cell.atomics}) {
      const bool counts = accessors->interval >= order_.last_block_barrier() && accessors->by_warps;
      accessors->others = counts ? copied(accessors->others) : 0;
    }
    bytes_.moments(byte) = words_.moments(word);
  }
  words_.cell(word).split = order_.last_block_barrier();
}

void SharedRaces::check_cell(Cell& before, CellMoments& moments, const Access& access, unsigned thread,
                             bool may_be_padding) {
  const bool stored = before.written >= order_.block_begin();
  if (!is_written(before) && !may_be_padding && access.operation != Operation::store &&
      faults_.is_new(Fault::uninitialised_read, access.call_site)) {
    report_read_of_nothing(access, thread);
  }
  if (stored && !order_.ordered(before.written, before.writer, thread)) {
    report_race(access, thread, {before.writer, before.write_site}, Operation::store);
  }
  if (access.operation != Operation::atomic && may_race(before.atomics, thread)) {
    const auto other = racing(before.atomics, moments.atomics, thread);
    if (other) report_race(access, thread, *other, Operation::atomic);
  }
  if (access.operation != Operation::load && may_race(before.readers, thread)) {
    const auto other = racing(before.readers, moments.readers, thread);
    if (other) report_race(access, thread, *other, Operation::load);
  }
  switch (access.operation) {
    case Operation::load: note(before.readers, moments.readers, thread, access.call_site); break;
    case Operation::atomic: note(before.atomics, moments.atomics, thread, access.call_site); break;
    case Operation::store:
      before.written = order_.now(thread);
      before.writer = static_cast<std::uint16_t>(thread);
      before.write_site = access.call_site;
      break;
  }
}

std::optional<Accessor> SharedRaces::racing(const Accessors& accessors, const LaneMoments& moments,
                                            unsigned thread) const {
  const unsigned warp = thread / warp_size;
  const unsigned first = accessors.warp * warp_size;
  const bool by_barriers = !order_.has_acquired();
  if (by_barriers && accessors.warp == warp && accessors.by_warps) {
    return Accessor{accessors.other, accessors.other_site};
  }
  std::optional<Accessor> found;
  for (const unsigned lane : lanes_of{accessors.lanes}) {
    const Moment moment = order_.in_parts(thread) || !by_barriers
                              ? std::max(accessors.interval, moments[lane])
                              : accessors.interval;
    if (order_.ordered(moment, first + lane, thread)) continue;
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
      if (!order_.ordered(group.moment, other, thread)) return Accessor{other, group.site};
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

void SharedRaces::note(Accessors& accessors, LaneMoments& moments, unsigned thread, const void* call_site) {
  const unsigned warp = thread / warp_size;
  const unsigned own = bit_of(thread % warp_size);
  const Moment interval = order_.last_warp_barrier(thread);
  if (accessors.lanes == 0 || accessors.interval < order_.last_block_barrier()) {
    accessors = {interval, call_site, nullptr, own, own, 0, static_cast<std::uint16_t>(warp), 0, false, 0};
  } else if (accessors.warp != warp) {
    accessors.by_warps = true;
    accessors.other = static_cast<std::uint16_t>(thread);
    accessors.other_site = call_site;
    accessors.at_other_site = 0;
    note_other(accessors, thread, call_site);
  } else {
    // What the warp did before its last barrier cannot race with the warp itself any more.
    if (accessors.interval < interval) accessors.lanes = accessors.at_site = accessors.at_other_site = 0;
    accessors.lanes |= own;
    accessors.interval = interval;
    note_site(accessors, own, call_site);
  }
  if (accessors.warp == warp && order_.in_parts(thread)) moments[thread % warp_size] = order_.now(thread);
}

/// Of each thread, the last time is kept.
void SharedRaces::note_other(Accessors& accessors, unsigned thread, const void* call_site) {
  if (groups_begin_ != order_.last_block_barrier()) groups_.clear();
  groups_begin_ = order_.last_block_barrier();
  const auto warp = static_cast<std::uint16_t>(thread / warp_size);
  const unsigned own = bit_of(thread % warp_size);
  const Moment now = order_.now(thread);
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
