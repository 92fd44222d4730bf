#include "device/emulated/fiber.hpp"

#include <boost/context/preallocated.hpp>
#include <boost/context/stack_context.hpp>
#include <cfenv>
#include <cstdlib>

#ifdef REDUCTION_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

/// Where it looks for uses after a return, AddressSanitizer moves variables to stacks of its own. A
/// variable's address would not tell any more that it is a register here, and Boost enters a new fiber once
/// before AddressSanitizer can be told. Some compilers do that by default.
extern "C" const char* __asan_default_options() { return "detect_stack_use_after_return=0"; }
#endif

namespace reduction::emulated {
namespace {

/// The stacks belong to whoever made the fibers.
struct BorrowedStack {
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context&) noexcept {}
};

}  // namespace

void Fiber::prepare(std::span<std::byte> stack, std::function<void()> body) {
#ifdef REDUCTION_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(stack.data(), stack.size());  // a dropped fiber has left its frames there
  stack_bottom_ = stack.data();
  stack_bytes_ = stack.size();
  fake_stack_ = nullptr;
#endif
  boost::context::stack_context context;
  context.sp = stack.data() + stack.size();
  context.size = stack.size();
  new (&continuation_) boost::context::fiber{
      std::allocator_arg, boost::context::preallocated{context.sp, context.size, context}, BorrowedStack{},
      [this, body = std::move(body)](boost::context::fiber&& previous) -> boost::context::fiber {
        arrive(std::move(previous));
        // A switch restores the floating-point status, and is ten times slower where it has to change it.
        // Once all its flags are up, no arithmetic of a kernel makes two fibers differ.
        std::feraiseexcept(FE_ALL_EXCEPT);
        body();
        std::abort();  // it never returns
      }};
}

#ifdef REDUCTION_ADDRESS_SANITIZER

void Fiber::announce_switch_to(const Fiber& next) {
  __sanitizer_start_switch_fiber(&fake_stack_, next.stack_bottom_, next.stack_bytes_);
}

void Fiber::take_up_stack() {
  // The host thread's own stack is not known before a fiber has come from it.
  __sanitizer_finish_switch_fiber(fake_stack_, &departed->stack_bottom_, &departed->stack_bytes_);
}

#endif

}  // namespace reduction::emulated
