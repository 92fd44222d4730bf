#pragma once
#include <cstddef>
#include <string>

#include "emulated/findings/report.hpp"
#include "emulated/memory/memory.hpp"

/// The faults of one thread's use of memory, as records: what memory it is, and what helps.
namespace __emulated {

/// Who accesses memory, and how.
struct ThreadAccess {
  std::size_t block;
  unsigned thread;
  const Access& access;
};

/// An access outside of the device's memory. \param is_local  whether it is to the thread's own stack; \param shared  the
/// block's.
FaultRecord stray_access(const ThreadAccess& by, bool is_local, const SharedMemory& shared);

/// An access at an address that is no multiple of its size.
FaultRecord misaligned_access(const ThreadAccess& by);

/// A read of a word that nothing has written. \param memory  the word.
FaultRecord uninitialised_read(std::string memory, Witness reader, bool is_shared);

/// `delete` or `free()` of what the kernel does not hold.
FaultRecord stray_release(std::size_t block, unsigned thread, const void* call_site);

}  // namespace __emulated
