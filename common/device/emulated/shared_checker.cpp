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
  const std::size_t end = (offset + access.bytes + word_bytes - 1) / word_bytes;
  for (std::size_t index = offset / word_bytes; index < end; ++index) {
    const Word& before = word(index);
    if (before.written < order.block_begin()) {
      if (access.operation != Operation::store &&
          findings.is_new(Fault::uninitialised_read, access.call_site)) {
        report(Fault::uninitialised_read, std::nullopt);
      }
    } else if (races_with_write(before, access.operation, thread, order) &&
               findings.is_new(Fault::race, access.call_site, before.write_site)) {
      const Operation operation = before.atomic ? Operation::atomic : Operation::store;
      report(Fault::race, witness(before.writer, block, operation, before.write_site));
    }
    if (access.operation == Operation::load) {
      note_read(index, thread, access.call_site, order);
      continue;
    }
    const std::optional<Reader> reader = racing_reader(index, thread, order);
    if (reader && findings.is_new(Fault::race, access.call_site, reader->call_site)) {
      report(Fault::race, witness(reader->thread, block, Operation::load, reader->call_site));
    }
    note_write(index, access, thread, order);
  }
}

bool SharedChecker::races_with_write(const Word& word, Operation operation, unsigned thread,
                                     const HappensBefore& order) const {
  if (word.atomic && operation == Operation::atomic) return false;
  if (word.atomic_by_warps && word.written >= order.last_block_barrier()) return true;
  return !order.ordered(word.written, word.writer, thread);
}

std::optional<SharedChecker::Reader> SharedChecker::racing_reader(std::size_t index, unsigned thread,
                                                                  const HappensBefore& order) const {
  const Word& read = word(index);
  if (read.readers == 0 || read.read < order.last_block_barrier()) return std::nullopt;
  const unsigned warp = thread / warp_size;
  const unsigned first = read.read_warp * warp_size;
  if (read.read_warp != warp) return Reader{first + *lanes_of{read.readers}.begin(), read.read_site};
  if (read.read_by_warps) return Reader{read.other_reader, read.other_read_site};
  for (const unsigned lane : lanes_of{read.readers}) {
    const Moment moment = order.in_parts(thread) ? std::max(read.read, read_moments(index)[lane]) : read.read;
    if (!order.ordered(moment, first + lane, thread)) return Reader{first + lane, read.read_site};
  }
  return std::nullopt;
}

void SharedChecker::note_read(std::size_t index, unsigned thread, const void* call_site,
                              const HappensBefore& order) {
  Word& read = word(index);
  const unsigned warp = thread / warp_size;
  const unsigned own = bit_of(thread % warp_size);
  if (order.in_parts(thread)) read_moments(index)[thread % warp_size] = order.now(thread);

  const Moment interval = order.last_warp_barrier(thread);
  if (read.readers == 0 || read.read < order.last_block_barrier()) {
    read.readers = own;
    read.read_warp = static_cast<std::uint16_t>(warp);
    read.read_by_warps = false;
    read.read = interval;
    read.read_site = call_site;
  } else if (read.read_warp != warp) {
    read.read_by_warps = true;
    read.other_reader = static_cast<std::uint16_t>(thread);
    read.other_read_site = call_site;
  } else {
    // What the warp has read before its last barrier cannot race with itself any more.
    read.readers = read.read < interval ? own : read.readers | own;
    read.read = interval;
    read.read_site = call_site;
  }
}

void SharedChecker::note_write(std::size_t index, const Access& access, unsigned thread,
                               const HappensBefore& order) {
  Word& written = word(index);
  const bool atomic = access.operation == Operation::atomic;
  const bool same_interval = written.written >= order.last_block_barrier();
  const bool other_warp = written.writer / warp_size != thread / warp_size;
  written.atomic_by_warps =
      atomic && same_interval && (written.atomic_by_warps || (written.atomic && other_warp));
  written.atomic = atomic;
  written.written = order.now(thread);
  written.writer = static_cast<std::uint16_t>(thread);
  written.write_site = access.call_site;
  // Whatever races with these reads from now on races with this write as well.
  written.readers = 0;
}

}  // namespace reduction::emulated
