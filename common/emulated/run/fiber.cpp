#include "emulated/run/fiber.hpp"

#include <array>
#include <cstdint>
#include <cstring>

#ifdef REDUCTION_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

/// Where it looks for uses after a return, AddressSanitizer moves variables to stacks of its own. A
/// variable's address would not tell any more that it is a register here. Some compilers do that by default.
extern "C" const char* __asan_default_options() { return "detect_stack_use_after_return=0"; }
#endif

// A switch ends in a return, as it began with a call, so that the processor predicts it and the returns that follow. It
// leaves the modes of floating-point arithmetic alone, which all fibers share. For a new fiber, to return is to begin.
#if defined(__x86_64__)
asm(R"(
.text
.p2align 4
.globl __emulated_switch_stack
.type __emulated_switch_stack, @function
__emulated_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size __emulated_switch_stack, . - __emulated_switch_stack
)");
#elif defined(__aarch64__)
asm(R"(
.text
.p2align 4
.globl __emulated_switch_stack
.type __emulated_switch_stack, %function
__emulated_switch_stack:
  stp x19, x20, [sp, #-160]!
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x19, x20, [sp], #160
  ret
.size __emulated_switch_stack, . - __emulated_switch_stack
)");
#else
#error "the emulated device switches stacks on x86-64 and AArch64 only: add how this processor does"
#endif

namespace __emulated {
namespace {

/// What a switch to a new fiber takes for its registers.
struct NewRegisters {
#if defined(__x86_64__)
  std::array<std::uint64_t, 6> zero;  // r15, r14, r13, r12, rbx, rbp
  void (*body)();                     // the return address
  void* caller;                       // the body's own, where a call would have put it: there is none
#elif defined(__aarch64__)
  std::array<std::uint64_t, 11> zero;           // x19 to x29
  void (*body)();                               // x30
  std::array<std::uint64_t, 8> floating_point;  // d8 to d15
#endif
};

}  // namespace

void Fiber::prepare(std::span<std::byte> stack, void (*body)()) {
  drop_frames(stack);
#ifdef REDUCTION_ADDRESS_SANITIZER
  stack_bottom_ = stack.data();
  stack_bytes_ = stack.size();
  fake_stack_ = nullptr;
#endif
  NewRegisters registers{};
  registers.body = body;
  constexpr std::size_t alignment = 16;
  std::byte* const end = stack.data() + stack.size();
  std::byte* const bottom = end - reinterpret_cast<std::uintptr_t>(end) % alignment;
  top_ = static_cast<std::byte*>(std::memcpy(bottom - sizeof(registers), &registers, sizeof(registers)));
}

#ifdef REDUCTION_ADDRESS_SANITIZER

void Fiber::drop_frames(std::span<std::byte> stack) {
  __asan_unpoison_memory_region(stack.data(), stack.size());
}

void Fiber::announce_switch_to(const Fiber& next) {
  departed_ = this;
  __sanitizer_start_switch_fiber(&fake_stack_, next.stack_bottom_, next.stack_bytes_);
}

void Fiber::take_up_stack() {
  // The host thread's own stack is not known before a fiber has come from it.
  __sanitizer_finish_switch_fiber(fake_stack_, &departed_->stack_bottom_, &departed_->stack_bytes_);
}

#endif

}  // namespace __emulated
