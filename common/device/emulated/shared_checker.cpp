#include "device/emulated/shared_checker.hpp"

#include <algorithm>
#include <sstream>

#include "device/emulated/lanes.hpp"

namespace reduction::emulated {
namespace {

Witness witness(unsigned thread, std::size_t block, Operation operation, const void* call_site) {
  return {describe_threads({thread}), block, verb_of(operation), call_site, {}};
}

std::string describe(std::size_t offset, std::size_t bytes) {
  std::ostringstream text;
  text << bytes << "-byte word " << offset / bytes << " of shared memory";
  return std::move(text).str();
}

}  // namespace

void SharedChecker::check(const Access& access, std::size_t offset, unsigned thread, std::size_t block,
                          const HappensBefore& order, CaseFile& findings) {
  const auto report = [&](Fault fault, std::optional<Witness> other) {
    Evidence evidence{fault, describe(offset, access.bytes), {}};
    evidence.witnesses.push_back(witness(thread, block, access.operation, access.call_site));
    if (other) evidence.witnesses.push_back(*std::move(other));
    findings.add(std::move(evidence));
  };
  const auto report_race = [&](unsigned other, Operation operation, const void* call_site) {
    if (!findings.is_new(Fault::race, access.call_site, call_site)) return;
    report(Fault::race, witness(other, block, operation, call_site));
  };
  const std::size_t end = (offset + access.bytes + word_bytes - 1) / word_bytes;
  for (std::size_t index = offset / word_bytes; index < end; ++index) {
    Word& before = word(index);
    WordMoments& lane_moments = moments(index);
    const bool stored = before.written >= order.block_begin();
    const bool updated = before.atomics.lanes != 0 && before.atomics.interval >= order.block_begin();
    if (!stored && !updated && access.operation != Operation::store &&
        findings.is_new(Fault::uninitialised_read, access.call_site)) {
      report(Fault::uninitialised_read, std::nullopt);
    }
    if (stored && !order.ordered(before.written, before.writer, thread)) {
      report_race(before.writer, Operation::store, before.write_site);
    }
    if (access.operation != Operation::atomic) {
      const auto other = racing(before.atomics, lane_moments.atomics, thread, order);
      if (other) report_race(other->thread, Operation::atomic, other->call_site);
    }
    if (access.operation != Operation::load) {
      const auto other = racing(before.readers, lane_moments.readers, thread, order);
      if (other) report_race(other->thread, Operation::load, other->call_site);
    }
    switch (access.operation) {
      case Operation::load:
        note(before.readers, lane_moments.readers, thread, access.call_site, order);
        break;
      case Operation::atomic:
        note(before.atomics, lane_moments.atomics, thread, access.call_site, order);
        break;
      case Operation::store:
        before.written = order.now(thread);
        before.writer = static_cast<std::uint16_t>(thread);
        before.write_site = access.call_site;
        break;
    }
  }
}

std::optional<SharedChecker::Accessor> SharedChecker::racing(const Accessors& accessors,
                                                             const LaneMoments& moments, unsigned thread,
                                                             const HappensBefore& order) {
  if (accessors.lanes == 0 || accessors.interval < order.last_block_barrier()) return std::nullopt;
  const unsigned warp = thread / warp_size;
  const unsigned first = accessors.warp * warp_size;
  if (accessors.warp != warp) return Accessor{first + *lanes_of{accessors.lanes}.begin(), accessors.site};
  if (accessors.by_warps) return Accessor{accessors.other, accessors.other_site};
  for (const unsigned lane : lanes_of{accessors.lanes}) {
    const Moment moment =
        order.in_parts(thread) ? std::max(accessors.interval, moments[lane]) : accessors.interval;
    if (!order.ordered(moment, first + lane, thread)) return Accessor{first + lane, accessors.site};
  }
  return std::nullopt;
}

void SharedChecker::note(Accessors& accessors, LaneMoments& moments, unsigned thread, const void* call_site,
                         const HappensBefore& order) {
  const unsigned warp = thread / warp_size;
  const unsigned own = bit_of(thread % warp_size);
  if (order.in_parts(thread)) moments[thread % warp_size] = order.now(thread);

  const Moment interval = order.last_warp_barrier(thread);
  if (accessors.lanes == 0 || accessors.interval < order.last_block_barrier()) {
    accessors = {interval, call_site, nullptr, own, static_cast<std::uint16_t>(warp), 0, false};
  } else if (accessors.warp != warp) {
    accessors.by_warps = true;
    accessors.other = static_cast<std::uint16_t>(thread);
    accessors.other_site = call_site;
  } else {
    // What the warp did before its last barrier cannot race with the warp itself any more.
    accessors.lanes = accessors.interval < interval ? own : accessors.lanes | own;
    accessors.interval = interval;
    accessors.site = call_site;
  }
}

}  // namespace reduction::emulated
