#include "emulated/trace/activation.hpp"

#include <unwind.h>

#include <algorithm>
#include <cstring>

namespace __emulated {
namespace {

struct Search {
  std::uintptr_t call_site;
  Activation found;
};

/// Is called for each function on the stack, the innermost first.
_Unwind_Reason_Code look_at(_Unwind_Context* context, void* argument) {
  constexpr std::uint64_t most_bytes = 1024;
  auto& [call_site, found] = *static_cast<Search*>(argument);
  const std::uint64_t stack_pointer = _Unwind_GetCFA(context);
  if (found.stack_pointer != 0) {  // this is its caller
    found.end_of_frame = stack_pointer;
    const auto* const frame = reinterpret_cast<const std::byte*>(found.stack_pointer);
    found.frame.assign(frame, frame + std::min(most_bytes, stack_pointer - found.stack_pointer));
    return _URC_END_OF_STACK;
  }
  if (_Unwind_GetIP(context) == call_site) {
    found.stack_pointer = stack_pointer;
    std::ranges::transform(Activation::kept_registers, found.registers.begin(),
                           [&](int number) { return _Unwind_GetGR(context, number); });
  }
  return _URC_NO_REASON;
}

}  // namespace

std::optional<std::uint64_t> Activation::register_of(std::uint64_t number) const {
  const auto kept = std::ranges::find(kept_registers, static_cast<int>(number));
  if (kept == kept_registers.end()) return std::nullopt;
  return registers[static_cast<std::size_t>(kept - kept_registers.begin())];
}

std::optional<std::uint64_t> Activation::memory_at(std::uint64_t address, std::size_t bytes) const {
  const std::uint64_t offset = address - stack_pointer;
  std::uint64_t value = 0;
  if (offset > frame.size() || bytes > std::min(sizeof value, frame.size() - offset)) return std::nullopt;
  std::memcpy(&value, frame.data() + offset, bytes);
  return value;
}

Activation activation_of(const void* call_site) {
  Search search{reinterpret_cast<std::uintptr_t>(call_site), {}};
  _Unwind_Backtrace(look_at, &search);
  return std::move(search.found);
}

}  // namespace __emulated
