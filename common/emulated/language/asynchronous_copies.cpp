#include "emulated/language/asynchronous_copies.hpp"

#include "emulated/memory/memory.hpp"
#include "emulated/run/block.hpp"

using __emulated::Block;

namespace {

std::byte* bytes_at(void* address) { return static_cast<std::byte*>(address); }
const std::byte* bytes_at(const void* address) { return static_cast<const std::byte*>(address); }

}  // namespace

std::size_t __cvta_generic_to_shared(const void* pointer) {
  return static_cast<std::size_t>(bytes_at(pointer) - Block::running()->shared_memory());
}
void* __cvta_shared_to_generic(std::size_t address) {
  return const_cast<std::byte*>(Block::running()->shared_memory()) + address;
}
unsigned __isShared(const void* pointer) { return Block::running()->is_shared(bytes_at(pointer)) ? 1 : 0; }
unsigned __isGlobal(const void* pointer) { return Block::running()->is_global(bytes_at(pointer)) ? 1 : 0; }

namespace __emulated {

void copy_async(void* shared, const void* global, unsigned bytes, unsigned source_bytes) {
  const Caller from = caller();
  Block::running()->copy_async(
      {bytes_at(shared), bytes_at(global), bytes, source_bytes, 0, from.call_site, false}, from.function);
}
void commit_copies() { Block::running()->commit_copies(); }
void wait_for_copies(unsigned groups_left) { Block::running()->wait_for_copies(groups_left, false); }
void copy_bulk(void* shared, const void* global, unsigned bytes, void* barrier) {
  Block::running()->copy_bulk(
      {bytes_at(shared), bytes_at(global), bytes, bytes, 0, __builtin_return_address(0), true},
      bytes_at(barrier));
}

void mbarrier_init(void* barrier, unsigned count) {
  Block::running()->init_arrivals(bytes_at(barrier), count, __builtin_return_address(0));
}
std::uint64_t mbarrier_arrive(void* barrier, unsigned count, unsigned bytes, bool drops) {
  return Block::running()->arrive(bytes_at(barrier), count, bytes, drops, __builtin_return_address(0));
}
void mbarrier_arrive_copies(void* barrier) {
  Block::running()->bind_copies(bytes_at(barrier), false, __builtin_return_address(0));
}
bool mbarrier_await(void* barrier, std::uint64_t token, bool waits) {
  return Block::running()->await_phase(bytes_at(barrier), token, waits, __builtin_return_address(0));
}
bool mbarrier_await_parity(void* barrier, bool parity, bool waits) {
  return Block::running()->await_parity(bytes_at(barrier), parity, waits, __builtin_return_address(0));
}

}  // namespace __emulated
