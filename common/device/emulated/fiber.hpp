#pragma once
#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstring>
#include <functional>
#include <new>
#include <span>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define REDUCTION_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REDUCTION_ADDRESS_SANITIZER
#endif
#endif

namespace reduction::emulated {

/// One flow of control with a stack of its own. Fibers of one host thread take turns: each switch_to()
/// suspends the running fiber and continues another where that one was suspended.
class Fiber {
 public:
  /// The host thread itself, on the stack it came with.
  Fiber() : continuation_{} {}
  Fiber(Fiber&&) = delete;
  /// Drops what is suspended: Boost would throw through it, which kernels need not bear.
  ~Fiber() {}

  /// Makes this a fiber that runs `body`, which never returns, on `stack` once switched to. What it was before is dropped.
  void prepare(std::span<std::byte> stack, std::function<void()> body);

  /// Suspends this fiber, which is the running one, and continues `next`. Inline, because a return after a
  /// switch is one that the processor mispredicts: there should be as few as possible.
  void switch_to(Fiber& next) {
    announce_switch_to(next);
    departed = this;
    arrive(std::move(next.continuation_).resume());
  }

  /// Fetches what is on top of the suspended fiber's stack: it is to continue soon, and all fibers together take more than
  /// the first cache.
  void prefetch() const {
    for (std::size_t line = 0; line < 4; ++line)
      __builtin_prefetch(top() + line * 64);
  }

  /// The lowest byte of the suspended fiber's stack that is in use: its registers are saved from there on.
  const std::byte* top() const {
    static_assert(sizeof(continuation_) == sizeof(void*));  // Boost's fiber is a pointer to that place
    const std::byte* top = nullptr;
    std::memcpy(&top, static_cast<const void*>(&continuation_), sizeof(top));
    return top;
  }

 private:
  /// To be called where a fiber continues, with what is left of the one that ran before it.
  void arrive(boost::context::fiber&& previous) {
    take_up_stack();
    new (&departed->continuation_) boost::context::fiber{std::move(previous)};
  }

#ifdef REDUCTION_ADDRESS_SANITIZER
  void announce_switch_to(const Fiber& next);
  void take_up_stack();
#else
  void announce_switch_to(const Fiber&) {}
  void take_up_stack() {}
#endif

  /// The fiber of this host thread that ran before the one that runs now.
  static inline thread_local constinit Fiber* departed = nullptr;

  union {
    boost::context::fiber continuation_;  ///< never destroyed
  };
#ifdef REDUCTION_ADDRESS_SANITIZER
  const void* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  void* fake_stack_ = nullptr;  ///< where AddressSanitizer keeps this fiber's variables
#endif
};

}  // namespace reduction::emulated
