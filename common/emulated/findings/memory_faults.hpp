#pragma once
#include <string>

#include "emulated/findings/report.hpp"
#include "emulated/memory/memory.hpp"

/// The faults of one thread's use of memory, as records: what memory it is, and what helps.
namespace __emulated {

/// An access outside of the device's memory. \param is_local  whether it is to the thread's own stack; \param shared  the
/// block's.
FaultRecord stray_access(Witness by, const Access& access, bool is_local, const SharedMemory& shared);

/// An access at an address that is no multiple of its size.
FaultRecord misaligned_access(Witness by, const Access& access);

/// A read of a word that nothing has written. \param memory  the word.
FaultRecord uninitialised_read(std::string memory, Witness reader, Unwritten word);

}  // namespace __emulated
