#include "emulated/run/call_chain.hpp"

#include <algorithm>
#include <limits>

namespace __emulated {

std::uint16_t CallChains::number_of_callee(const Frame* function, const Frame* start) {
  std::uint64_t hash = 0;
  // Frames lie above each other, up to `start`. Code without a frame pointer in between may leave anything in its place.
  for (const Frame* frame = function; frame < frame->caller && frame->caller < start; frame = frame->caller) {
    if (frame->caller->caller == start) {
      return_of_kernel_ = frame->return_address;
      break;
    }
    hash = (hash + reinterpret_cast<std::uintptr_t>(frame->return_address)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  if (hash == 0) return 0;
  const std::size_t most = std::numeric_limits<std::uint16_t>::max();
  const auto next = static_cast<std::uint16_t>(std::min(numbers_.size() + 1, most));
  return numbers_.try_emplace(hash, next).first->second;
}

}  // namespace __emulated
