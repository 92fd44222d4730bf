/// \file
/// Calls through pointers in kernels: the compiler makes each a call of one of these functions, whose names say where the
/// pointer is (-mindirect-branch=thunk-extern, with Clang -mretpoline-external-thunk). On AArch64 there is no such option.
#if defined(__x86_64__)

#include <array>
#include <atomic>
#include <cstdint>

#define __EMULATED_HOST_PASS
#include "emulated/language/counterparts.hpp"
#include "emulated/run/block.hpp"

/// What may be called, by the address modulo their number: what is found there goes on at once.
extern "C" {
constinit std::array<std::atomic<const void*>, 1024> __emulated_callable{};

/// In a program that was compiled twice, what has a counterpart is the host's.
void __emulated_require_callable(const void* called, const void* call_site) {
  using __emulated::Block;
  Block* const block = Block::running();
  if (block == nullptr) return;
  const Block::AtWork at_work{*block};
  if (__emulated::on_device(called) != called) {
    block->fail(__emulated::Fault::invalid_call, "", "calls a function of the host", call_site,
                "a pointer to a function, or an object with virtual ones, has to be made on the device: in a "
                "kernel, or as a `__device__` variable");
  }
  const auto place = reinterpret_cast<std::uintptr_t>(called) / 16 % __emulated_callable.size();
  __emulated_callable[place].store(called, std::memory_order_relaxed);
}
}

// They change r10 and r11 only, which a call may. The registers of arguments are kept.
asm(R"(
.text
.irp register, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r12, r13, r14, r15
.globl __x86_indirect_thunk_\register
.type __x86_indirect_thunk_\register, @function
__x86_indirect_thunk_\register:
  movq %\register, %r11
  jmp __x86_indirect_thunk_r11
.size __x86_indirect_thunk_\register, . - __x86_indirect_thunk_\register
.endr
.globl __x86_indirect_thunk_r11
.type __x86_indirect_thunk_r11, @function
__x86_indirect_thunk_r11:
  movq %r11, %r10
  shrq $4, %r10
  andl $1023, %r10d
  pushq %rax
  leaq __emulated_callable(%rip), %rax
  cmpq %r11, (%rax, %r10, 8)
  popq %rax
  jne 1f
  jmp *%r11
1:
  pushq %rbp
  movq %rsp, %rbp
.irp register, rax, rcx, rdx, rsi, rdi, r8, r9, r11
  pushq %\register
.endr
  subq $128, %rsp
.irp number, 0, 1, 2, 3, 4, 5, 6, 7
  movups %xmm\number, 16 * \number(%rsp)
.endr
  movq %r11, %rdi
  movq 8(%rbp), %rsi
  andq $-16, %rsp
  call __emulated_require_callable
  leaq -192(%rbp), %rsp
.irp number, 0, 1, 2, 3, 4, 5, 6, 7
  movups 16 * \number(%rsp), %xmm\number
.endr
  addq $128, %rsp
.irp register, r11, r9, r8, rdi, rsi, rdx, rcx, rax
  popq %\register
.endr
  popq %rbp
  jmp *%r11
.size __x86_indirect_thunk_r11, . - __x86_indirect_thunk_r11
)");

#endif
