// Not cuda.hpp, where kernels see the built-in variables as constants.
#include <ctime>

#include <cstdio>
#include <mutex>
#include <string>

#include "emulated/order/host_order.hpp"
#include "emulated/run/block.hpp"
#include "emulated/run/lanes.hpp"
#include "emulated/run/launch.hpp"

using __emulated::Block;
using __emulated::caller;
using __emulated::Fault;
using __emulated::FenceScope;

// ---- barriers, fences and shuffles ----

void __syncthreads() { Block::running()->barrier(false, caller()); }
int __syncthreads_or(int predicate) {
  return Block::running()->barrier(predicate != 0, caller()) != 0 ? 1 : 0;
}
int __syncthreads_and(int predicate) {
  // No thread brings a false one.
  return Block::running()->barrier(predicate == 0, caller()) == 0 ? 1 : 0;
}
int __syncthreads_count(int predicate) {
  return static_cast<int>(Block::running()->barrier(predicate != 0, caller()));
}
void __syncwarp(unsigned mask) { Block::running()->warp_barrier(mask, __builtin_return_address(0)); }
unsigned __activemask() { return Block::running()->active_lanes(__builtin_return_address(0)); }
void __trap() { Block::running()->fail(Fault::trap, "", "calls __trap()", __builtin_return_address(0)); }

// What a failing assert() calls. The linker takes it for the C library's (--wrap).
extern "C" {
[[noreturn]] void __real___assert_fail(const char* condition, const char* file, unsigned line,
                                       const char* function);
[[noreturn]] void __wrap___assert_fail(const char* condition, const char* file, unsigned line,
                                       const char* function) {
  Block* const block = Block::running();
  if (block == nullptr) __real___assert_fail(condition, file, line, function);
  const Block::AtWork at_work{*block};  // the text is no memory of the kernel's
  block->fail(Fault::trap, "", "fails the assertion `" + std::string{condition} + "`",
              __builtin_return_address(0));
}
}

namespace {

void say_that_there_is_no_time() {
  static std::once_flag said;
  std::call_once(said, [] {
    if (__emulated::LaunchListener* const listener = __emulated::launch_listener())
      return listener->asked_for_time("clock64() and its like gave counts of accesses");
    std::fputs("note: clock64: the emulated device has no time: this is a count of accesses\n", stderr);
  });
}

}  // namespace

long long clock64() {
  if (Block::running() == nullptr) return 0;
  say_that_there_is_no_time();
  return static_cast<long long>(Block::running()->time());
}
// The linker takes it for the C library's (--wrap).
extern "C" {
clock_t __real_clock();
clock_t __wrap_clock() { return Block::running() != nullptr ? clock64() : __real_clock(); }
}

void __nanosleep(unsigned) { Block::running()->give_way(); }
void __threadfence() { Block::running()->fence(FenceScope::device, __builtin_return_address(0)); }
void __threadfence_block() { Block::running()->fence(FenceScope::block, __builtin_return_address(0)); }

namespace __emulated {

void shuffle(Shuffle kind, unsigned mask, int operand, int width, std::span<std::byte> value) {
  Block::running()->shuffle(kind, mask, operand, width, value, __builtin_return_address(0));
}

void grid_barrier() { Block::running()->grid_barrier(__builtin_return_address(0)); }
bool is_cooperative() { return Block::running()->is_cooperative(); }
void named_barrier(unsigned id, unsigned threads) {
  Block::running()->named_barrier(id, threads, __builtin_return_address(0));
}
void bring(std::span<const std::byte> value) { Block::running()->bring(value); }
void take_from(unsigned thread, std::span<std::byte> value) { Block::running()->take_from(thread, value); }

std::uint64_t vote(VoteRule rule, unsigned mask, std::uint64_t value) {
  return Block::running()->vote(rule, mask, value, __builtin_return_address(0));
}

std::uint64_t ballot(const Votes& votes, unsigned) {
  std::uint64_t lanes = 0;
  for (const unsigned lane : lanes_of(votes.lanes))
    lanes |= votes.values[lane] != 0 ? bit_of(lane) : 0;
  return lanes;
}

std::uint64_t any(const Votes& votes, unsigned lane) { return ballot(votes, lane) != 0 ? 1 : 0; }
std::uint64_t all(const Votes& votes, unsigned lane) { return ballot(votes, lane) == votes.lanes ? 1 : 0; }

std::uint64_t lanes_with_equal_value(const Votes& votes, unsigned own) {
  std::uint64_t lanes = 0;
  for (const unsigned lane : lanes_of(votes.lanes))
    lanes |= votes.values[lane] == votes.values[own] ? bit_of(lane) : 0;
  return lanes;
}

std::uint64_t lanes_if_all_equal(const Votes& votes, unsigned lane) {
  const std::uint64_t lanes = lanes_with_equal_value(votes, lane);
  return lanes == votes.lanes ? lanes : 0;
}

void begin_atomic(const void* address, std::size_t bytes, const void* expected) {
  Block::running()->begin_atomic(address, bytes, __builtin_return_address(0), expected);
}

void begin_ordered(const void* address, std::size_t bytes, bool stores) {
  Block::running()->begin_atomic(address, bytes, __builtin_return_address(0), nullptr,
                                 stores ? Operation::store : Operation::load);
}

void narrow_next_atomic() { Block::running()->narrow_next_atomic(); }
void meet_host() { host_order().meet_kernel(); }

void refuse_misaligned(const void* address, std::size_t bytes, bool stores) {
  if (Block::running() == nullptr) return;
  const auto* const begin = static_cast<const std::byte*>(address);
  const Operation operation = stores ? Operation::store : Operation::load;
  Block::running()->refuse({operation, begin, bytes, __builtin_return_address(0)});
}

void* dynamic_shared_memory_begin(const SharedDeclaration& declaration) {
  return Block::running()->dynamic_shared_memory(declaration);
}
void require_launch_bounds(const Bounds& bounds) {
  Block::running()->require_launch_bounds(bounds.most_threads);
}
void* shared_variable_begin(const SharedDeclaration& declaration, std::size_t bytes) {
  return Block::running()->shared_variable(declaration, bytes);
}

}  // namespace __emulated
