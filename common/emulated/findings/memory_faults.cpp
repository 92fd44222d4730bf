#include "emulated/findings/memory_faults.hpp"

#include <cstdint>
#include <utility>

#include "emulated/memory/kernel_heap.hpp"

namespace __emulated {
namespace {

/// No memory of a process is below it.
constexpr std::uintptr_t least_address = 4096;

constexpr const char* below_zero = "the index is below 0: check it before the access, as in `if (i >= 0)`";
constexpr const char* array_too_small = "check the index before the access, or make the array larger";

std::string byte_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " byte" : " bytes"); }

/// What memory a stray access is to, and what helps.
struct Stray {
  std::string memory;
  std::string help;
  std::string page{};
};

Stray stray_on_the_heap(const Access& access) {
  const KernelHeap& heap = kernel_heap();
  return {heap.describe(access.address, access.bytes),
          heap.is_released(access.address) ? "the memory has been released: use it before that"
                                           : "check the index before the access, or ask for more memory"};
}

Stray stray_beside_shared_memory(const Access& access, const SharedMemory& shared) {
  std::string memory = shared.describe_with_size(access.address, access.bytes);
  if (access.address < shared.dynamic()) return {std::move(memory), below_zero};
  if (shared.dynamic_bytes() != 0) {
    return {std::move(memory), "check the index before the access, or give the block more shared memory",
            "tail_past_shared_memory"};
  }
  if (shared.has_static_variables()) return {std::move(memory), array_too_small, "array_smaller_than_a_warp"};
  if (shared.uses_dynamic()) {
    return {std::move(memory),
            "give the block shared memory: its bytes are the third value in `<<<...>>>`, and there is none"};
  }
  return {byte_text(access.bytes) + " of what was shared memory in another launch",
          "what a block has in shared memory ends with it: pass it on through a buffer"};
}

Stray stray_beside_a_buffer(const Access& access, const Buffer& buffer) {
  std::string memory = buffer.describe(access.address, access.bytes);
  if (access.address < buffer.begin()) return {std::move(memory), below_zero};
  if (access.operation == Operation::load) {
    return {std::move(memory), "check the index before the access: it is past the buffer's end",
            "unguarded_second_load"};
  }
  return {std::move(memory),
          "check the index before the access, or launch fewer blocks: it is past the buffer's end",
          "grid_from_bytes"};
}

/// \param is_local  whether it is to the thread's own stack.
Stray stray_of(const Access& access, bool is_local, const SharedMemory& shared) {
  if (is_local) {
    return {byte_text(access.bytes) + " of a local variable",
            "atomic operations are for shared and global memory: no other thread has this variable, so that "
            "`+=` or its like will do"};
  }
  if (is_constant_memory(access.address)) {
    return {byte_text(access.bytes) + " of a __constant__ variable",
            "a kernel may only read it: let the host copy the value there, or make it a __device__ variable"};
  }
  if (kernel_heap().is_near(access.address)) return stray_on_the_heap(access);
  if (shared.is_near(access.address)) return stray_beside_shared_memory(access, shared);
  GlobalMemory& global = global_memory();
  if (const Buffer* const buffer = global.nearest(access.address))
    return stray_beside_a_buffer(access, *buffer);
  if (std::string variable = global.describe_beside_variable(access.address, access.bytes);
      !variable.empty()) {
    const bool is_hosts = variable.find("the host's variable") != variable.npos;
    return {std::move(variable), is_hosts
                                     ? "a kernel has no access to it: copy it to memory from `cudaMalloc()`; "
                                       "`cudaGetSymbolAddress()` has the address of a __device__ variable"
                                     : array_too_small};
  }
  if (std::string released = global.describe_released(access.address, access.bytes); !released.empty()) {
    return {std::move(released), "the buffer has been released: use it before that"};
  }
  std::string outside = byte_text(access.bytes) + " outside of the device's memory";
  if (reinterpret_cast<std::uintptr_t>(access.address) < least_address) {
    return {std::move(outside), "the pointer is null, or next to it"};
  }
  if (is_mapped(access.address)) {
    return {std::move(outside),
            "this is memory of the host, or of another thread or block: a kernel reaches its block's shared "
            "memory and what comes from `cudaMalloc()`, so copy there what it needs"};
  }
  return {std::move(outside), "no memory is there: look at the pointer, and at the index"};
}

}  // namespace

FaultRecord stray_access(Witness by, const Access& access, bool is_local, const SharedMemory& shared) {
  auto [memory, help, page] = stray_of(access, is_local, shared);
  return {Fault::out_of_bounds, std::move(memory), {std::move(by)}, std::move(help), std::move(page)};
}

FaultRecord misaligned_access(Witness by, const Access& access) {
  const std::string bytes = std::to_string(access.bytes);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(access.address) % access.bytes;
  return {Fault::misaligned,
          bytes + " bytes at an address that is no multiple of " + bytes,
          {std::move(by)},
          "the address is " + byte_text(past) + " past a multiple of " + bytes +
              ": align the memory, and begin at an element that is aligned, too"};
}

FaultRecord uninitialised_read(std::string memory, Witness reader, Unwritten word) {
  FaultRecord record{
      Fault::uninitialised_read,
      std::move(memory),
      {std::move(reader)},
      word == Unwritten::shared
          ? "shared memory begins without values: write the word first, with 0 where there is no input"
          : "global memory begins without values: fill the buffer before the launch, or write the word "
            "first"};
  record.unwritten = word;
  return record;
}

}  // namespace __emulated
