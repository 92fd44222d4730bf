#include <cstdint>
#include <span>
#include <sstream>
#include <utility>

#include "device/emulated/access.hpp"
#include "device/emulated/device_variable.hpp"
#include "device/emulated/global_checker.hpp"
#include "device/emulated/grid.hpp"
#include "device/emulated/multiprocessor.hpp"

/// \file
/// How the threads of a block access memory: what an address belongs to, and what an access sets off.

namespace reduction::emulated {
namespace {

/// Accesses of a block's threads, without a barrier in between, after which it is taken to go on forever: enough to
/// touch every byte of global memory once, and many more.
std::size_t most_accesses() { return (std::size_t{1} << 24) + global_memory().bytes(); }

}  // namespace

void record_load(const void* address, std::size_t bytes) {
  Multiprocessor* const here = Multiprocessor::running();
  if (here == nullptr) return;
  here->access({Operation::load, static_cast<const std::byte*>(address), bytes, __builtin_return_address(0)});
}

void record_store(const void* address, std::size_t bytes) {
  Multiprocessor* const here = Multiprocessor::running();
  if (here == nullptr) return;
  here->access(
      {Operation::store, static_cast<const std::byte*>(address), bytes, __builtin_return_address(0)});
}

void Multiprocessor::access(const Access& access) {
  Thread& self = *current_;
  if (on_own_stack(access.address)) return;
  if (reinterpret_cast<std::uintptr_t>(access.address) % access.bytes != 0) abort_block(misaligned(access));
  if (in_shared_memory(access.address, access.bytes)) {
    if (instrumented_) {
      const auto offset = static_cast<std::size_t>(access.address - shared_begin());
      instrumentation_.shared_access(access, offset, self.index, findings_);
    }
  } else if (Buffer* const buffer = find_buffer(access)) {
    if (instrumented_) instrumentation_.global_access(access, *buffer, self.index, findings_);
  } else if (access.operation == Operation::atomic && in_device_variable(access.address)) {
    if (instrumented_) instrumentation_.variable_atomic(self.index);
  } else if (!in_arguments(access.address)) {
    abort_block(stray(access));
  }
  count_access(self, access.call_site);
}

void Multiprocessor::begin_atomic(const void* address, std::size_t bytes, const void* call_site) {
  const std::byte* const begin = static_cast<const std::byte*>(address);
  if (!has_turn_ && !in_shared_memory(begin, bytes)) {
    grid_->wait_for_turn(block_);
    has_turn_ = true;
  }
  access({Operation::atomic, begin, bytes, call_site});
  ++counters_.atomics;
}

/// Takes the turn from a thread that has made many accesses, and ends a block in which one makes nothing else.
inline void Multiprocessor::count_access(Thread& self, const void* call_site) {
  if (--accesses_left_ != 0 || failed_) return;
  const unsigned in_a_turn = ready_.accesses_in_a_turn();
  accesses_left_ = in_a_turn;
  accesses_ += in_a_turn;
  if (accesses_ > most_accesses()) {
    const char* const deed = "goes on without a barrier, for millions of accesses, the last";
    abort_block({Fault::endless_loop, "", {{describe_threads({self.index}), block_, deed, call_site, {}}}});
  }
  give_way(self);
}

Buffer* Multiprocessor::find_buffer(const Access& access) {
  if (last_buffer_ != nullptr && last_buffer_->contains(access.address, access.bytes)) return last_buffer_;
  Buffer* const buffer = global_memory().nearest(access.address);
  if (buffer == nullptr || !buffer->contains(access.address, access.bytes)) return nullptr;
  return last_buffer_ = buffer;
}

bool Multiprocessor::on_own_stack(const std::byte* address) const {
  const std::byte* const begin = stacks_.begin() + std::size_t{current_->index} * stack_bytes;
  return static_cast<std::size_t>(address - begin) < stack_bytes;
}

bool Multiprocessor::in_shared_memory(const std::byte* address, std::size_t bytes) const {
  const auto offset = static_cast<std::size_t>(address - shared_begin());
  return offset < shared_bytes_ && bytes <= shared_bytes_ - offset;
}

bool Multiprocessor::in_arguments(const std::byte* address) const {
  const std::span<const std::byte> arguments = grid_->kernel().arguments;
  return static_cast<std::size_t>(address - arguments.data()) < arguments.size();
}

/// A GPU loads and stores 4, 8 or 16 bytes only where the address is a multiple of as many.
Evidence Multiprocessor::misaligned(const Access& access) const {
  const std::string memory =
      std::to_string(access.bytes) + " bytes at an address that is no multiple of them";
  return {Fault::misaligned,
          memory,
          {{describe_threads({current_->index}), block_, verb_of(access.operation), access.call_site, {}}}};
}

Evidence Multiprocessor::stray(const Access& access) const {
  std::ostringstream memory;
  if (static_cast<std::size_t>(access.address - shared_.begin()) < shared_.bytes()) {
    const auto bytes = static_cast<std::ptrdiff_t>(access.bytes);
    const std::ptrdiff_t offset = access.address - shared_begin();
    memory << bytes << "-byte word " << (offset < 0 ? (offset - bytes + 1) / bytes : offset / bytes)
           << " of shared memory of " << shared_bytes_ / access.bytes;
  } else if (const Buffer* const buffer = global_memory().nearest(access.address)) {
    memory << describe_global(access, *buffer);
  } else {
    memory << access.bytes << " bytes that are in no memory of the device";
  }
  return {Fault::out_of_bounds,
          memory.str(),
          {{describe_threads({current_->index}), block_, verb_of(access.operation), access.call_site, {}}}};
}

}  // namespace reduction::emulated
