#include "device/emulated/global_checker.hpp"

#include <atomic>
#include <cstdint>
#include <sstream>

namespace reduction::emulated {
namespace {

/// Who stored to a word, as one number that host threads can exchange at once.
struct Owner {
  static constexpr unsigned thread_bits = 10, block_bits = 31, launch_bits = 22;

  std::size_t launch, block;
  unsigned thread;
  bool atomic;

  static std::size_t wrapped(std::size_t launch) { return launch % (std::size_t{1} << launch_bits); }

  std::uint64_t packed() const {
    return ((wrapped(launch) << block_bits | block) << thread_bits | thread) << 1 | (atomic ? 1U : 0U);
  }

  static Owner unpacked(std::uint64_t bits) {
    const auto take = [&bits](unsigned count) {
      const std::uint64_t low = bits & ((std::uint64_t{1} << count) - 1);
      bits >>= count;
      return low;
    };
    const bool atomic = take(1) != 0;
    const auto thread = static_cast<unsigned>(take(thread_bits));
    const std::size_t block = take(block_bits);
    return {take(launch_bits), block, thread, atomic};
  }
};

Operation operation_of(const Owner& owner) { return owner.atomic ? Operation::atomic : Operation::store; }

Witness witness(std::size_t block, unsigned thread, Operation operation, const void* call_site) {
  return {describe_threads({thread}), block, verb_of(operation), call_site, {}};
}

}  // namespace

std::string describe_global(const Access& access, const Buffer& buffer) {
  const std::ptrdiff_t offset = access.address - buffer.begin();
  const auto bytes = static_cast<std::ptrdiff_t>(access.bytes);
  std::ostringstream text;
  text << bytes << "-byte word " << (offset < 0 ? (offset - bytes + 1) / bytes : offset / bytes)
       << " of a global buffer of " << buffer.bytes() / access.bytes;
  return std::move(text).str();
}

void check_global(const Access& access, Buffer& buffer, std::size_t launch, std::size_t block,
                  unsigned thread, const HappensBefore& order, CaseFile& findings,
                  StoreConflicts& conflicts) {
  const std::size_t offset = static_cast<std::size_t>(access.address - buffer.begin());
  const bool stores = access.operation != Operation::load;
  const bool is_atomic = access.operation == Operation::atomic;
  const auto here = [&] { return witness(block, thread, access.operation, access.call_site); };

  if (access.operation != Operation::store && !buffer.is_initialised(offset, access.bytes) &&
      findings.is_new(Fault::uninitialised_read, access.call_site)) {
    findings.add({Fault::uninitialised_read, describe_global(access, buffer), {here()}});
  }
  if (stores) {
    buffer.mark(offset, access.bytes, true);
    if (!buffer.has_stores()) buffer.note_stores();
  } else if (!buffer.has_stores()) {
    return;
  }

  for (std::size_t at = offset; at < offset + access.bytes; at += Buffer::word_bytes) {
    Buffer::Store& store = buffer.store_of(at);
    const std::atomic_ref owner_bits{store.owner};
    const std::atomic_ref moment{store.moment};
    const std::atomic_ref call_site{store.call_site};
    const Owner self{launch, block, thread, is_atomic};
    const std::uint64_t bits = stores ? owner_bits.exchange(self.packed(), std::memory_order_relaxed)
                                      : owner_bits.load(std::memory_order_relaxed);
    const Owner before = Owner::unpacked(bits);
    const void* const place = call_site.load(std::memory_order_relaxed);
    if (place != nullptr && before.launch == Owner::wrapped(launch) && !(before.atomic && is_atomic)) {
      if (before.block != block) {
        if (stores) {
          conflicts.add(access.address, describe_global(access, buffer),
                        {before.block, before.thread, operation_of(before), place},
                        {block, thread, access.operation, access.call_site});
        }
      } else if (!order.ordered(moment.load(std::memory_order_relaxed), before.thread, thread) &&
                 findings.is_new(Fault::race, access.call_site, place)) {
        findings.add({Fault::race,
                      describe_global(access, buffer),
                      {here(), witness(block, before.thread, operation_of(before), place)}});
      }
    }
    if (stores) {
      moment.store(order.now(thread), std::memory_order_relaxed);
      call_site.store(access.call_site, std::memory_order_relaxed);
    }
  }
}

}  // namespace reduction::emulated
