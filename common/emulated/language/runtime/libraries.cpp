#include "emulated/language/runtime/libraries.hpp"

#include <errno.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include "emulated/memory/memory.hpp"
#include "emulated/order/host_order.hpp"
#include "emulated/run/block.hpp"
#include "emulated/run/launch.hpp"

namespace __emulated {

void say_of_library(const char* name, const char* text) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock{mutex};
  if (!said.insert(name).second) return;
  const std::string line =
      std::string{program_invocation_short_name} + ": note: " + name + ": " + text + '\n';
  std::fputs(line.c_str(), stderr);
}

void say_of_cub() {
  static std::atomic<bool> is_said = false;
  if (is_said || is_said.exchange(true)) return;
  std::fprintf(
      stderr,
      "%s: note: cub: what kernels call is of the emulated device's own: the values are CUB's, and the "
      "counters are not\n",
      program_invocation_short_name);
}

bool is_in_kernel() { return Block::running() != nullptr; }

bool LibraryCall::uses(Operation operation, const void* begin, std::size_t bytes, std::size_t element) {
  if (bytes == 0) return true;
  const bool writes = operation == Operation::store;
  const auto* const first = static_cast<const std::byte*>(begin);
  if (!writes) note_read(first, bytes);
  std::unique_lock lock{device_mutex()};
  Buffer* const buffer = global_memory().nearest(first);
  if (buffer == nullptr || !buffer->contains(first, bytes)) {
    const bool is_variable = buffer == nullptr && global_memory().find(first, bytes) != nullptr;
    lock.unlock();
    const bool begins_inside = buffer != nullptr && buffer->contains(first, 1);
    if (!is_variable)
      report(operation, begins_inside ? buffer->begin() + buffer->bytes() : first, element, false);
    return is_variable;
  }
  const auto offset = static_cast<std::size_t>(first - buffer->begin());
  const bool is_unwritten = !writes && !buffer->is_initialised(offset, bytes);
  std::size_t unwritten = offset;
  if (is_unwritten) {
    reads_unwritten_ = true;
    while (buffer->is_initialised(unwritten, 1))
      ++unwritten;
  } else if (writes && reads_unwritten_ && buffer->can_be_tainted()) {
    buffer->taint(offset, bytes);
  } else if (writes) {
    buffer->mark(offset, bytes, true);
  }
  lock.unlock();
  if (is_unwritten) report(operation, buffer->begin() + unwritten, element, true);
  host_order().add(stream_, {{first, first + bytes, operation, name_, nullptr, 0}});
  host_order().report_overlap();
  return true;
}

void LibraryCall::report(Operation operation, const std::byte* address, std::size_t element,
                         bool is_unwritten) {
  is_right_ = is_right_ && is_unwritten;
  const Buffer* const buffer = [&] {
    const std::lock_guard lock{device_mutex()};
    return global_memory().nearest(address);
  }();
  const std::size_t word = std::min(element, largest_access);
  closed_memory().report({address,
                          operation,
                          buffer != nullptr
                              ? buffer->describe(address, word)
                              : std::to_string(element) + " bytes outside of the device's memory",
                          false,
                          {},
                          false,
                          name_,
                          is_unwritten});
}

}  // namespace __emulated
