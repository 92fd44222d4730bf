#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>

/// \file
/// A function that has not been inlined has one place in the code for all its calls. What tells them apart are the calls
/// through which a thread has come there: its stack's frames.

namespace __emulated {

/// What a frame pointer points to, on x86-64 as on AArch64. Kernels keep one (-fno-omit-frame-pointer).
struct Frame {
  const Frame* caller;
  const void* return_address;
};

/// From where a kernel calls the device: the place in the code, as a return address, and the frame of the function there.
struct Caller {
  const void* call_site;
  const Frame* function;
};

/// Of the function that this is inlined into.
[[gnu::always_inline]] inline Caller caller() {
  return {__builtin_return_address(0), static_cast<const Frame*>(__builtin_frame_address(0))->caller};
}

/// Numbers the chains of calls from a launch's kernel to its functions, so that equal numbers mean equal chains.
class CallChains {
 public:
  void begin_launch() {
    return_of_kernel_ = nullptr;
    numbers_.clear();
  }

  /// 0 for the kernel itself. \param start  the frame of what has called the launch's run_thread() in this thread.
  std::uint16_t number_of(const Frame* function, const Frame* start) {
    // A library's function in between may have no frame, and anything in its place.
    if (function < __builtin_frame_address(0) || function >= start) return 0;
    return function->return_address == return_of_kernel_ ? 0 : number_of_callee(function, start);
  }

 private:
  std::uint16_t number_of_callee(const Frame* function, const Frame* start) {
    std::uint64_t hash = 0;
    // Frames lie above each other, up to `start`. Code without a frame pointer in between may leave anything in its place.
    for (const Frame* frame = function; frame < frame->caller && frame->caller < start;
         frame = frame->caller) {
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

  const void* return_of_kernel_ = nullptr;  ///< in run_thread(), once it is known
  std::unordered_map<std::uint64_t, std::uint16_t> numbers_;
};

}  // namespace __emulated
