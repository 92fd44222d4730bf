#pragma once
#include <cstddef>
#include <span>

#if defined(__SANITIZE_ADDRESS__)
#define REDUCTION_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REDUCTION_ADDRESS_SANITIZER
#endif
#endif

namespace __emulated {

/// Saves the registers that a call leaves as they are on the stack, keeps that stack's top in `from`, and goes on with the
/// registers on top of the stack `to`, where those were saved. (In assembly, in fiber.cpp.)
extern "C" void __emulated_switch_stack(const std::byte*& from, const std::byte* to);

/// One flow of control with a stack of its own. Fibers of one host thread take turns: each switch_to()
/// suspends the running fiber and continues another where that one was suspended.
class Fiber {
 public:
  /// The host thread itself, on the stack it came with.
  Fiber() = default;
  Fiber(Fiber&&) = delete;

  /// Makes this a fiber that runs body(), which never returns, on `stack` once switched to. What it was before is
  /// dropped. The body has to begin with take_up_stack().
  void prepare(std::span<std::byte> stack, void (*body)());

  /// Suspends this fiber, which is the running one, and continues `next`.
  void switch_to(Fiber& next) {
    announce_switch_to(next);
    __emulated_switch_stack(top_, next.top_);
    take_up_stack();
  }

  /// Fetches what is on top of the suspended fiber's stack: it is to continue soon, and all fibers together take more than
  /// the first cache.
  void prefetch() const {
    for (std::size_t line = 0; line < 4; ++line)
      __builtin_prefetch(top_ + line * 64);
  }

  /// The lowest byte of the suspended fiber's stack that is in use: its registers are saved from there on.
  const std::byte* top() const { return top_; }

#ifdef REDUCTION_ADDRESS_SANITIZER
  /// Tells AddressSanitizer that this fiber runs now.
  void take_up_stack();

  /// Tells it that no function on `stack` will return: it would take what comes there next for a fault.
  static void drop_frames(std::span<std::byte> stack);
#else
  void take_up_stack() {}
  static void drop_frames(std::span<std::byte>) {}
#endif

 private:
#ifdef REDUCTION_ADDRESS_SANITIZER
  void announce_switch_to(const Fiber& next);
#else
  void announce_switch_to(const Fiber&) {}
#endif

  const std::byte* top_ = nullptr;
#ifdef REDUCTION_ADDRESS_SANITIZER
  /// The fiber of this host thread that ran before the one that runs now.
  static inline thread_local constinit Fiber* departed_ = nullptr;

  const void* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  void* fake_stack_ = nullptr;  ///< where AddressSanitizer keeps this fiber's variables
#endif
};

}  // namespace __emulated
