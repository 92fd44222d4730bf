#pragma once
#include <cstddef>
#include <string>

#include "device/emulated/evidence.hpp"
#include "device/emulated/global_memory.hpp"
#include "device/emulated/happens_before.hpp"
#include "device/emulated/operation.hpp"
#include "device/emulated/store_conflicts.hpp"

namespace reduction::emulated {

/// "4-byte word 10 of a global buffer of 10": words as wide as the access, counted from the buffer's
/// beginning.
std::string describe_global(const Access& access, const Buffer& buffer);

/// Checks one thread's access to global memory: reads of what nobody has written, stores to one word by
/// threads that no barrier orders. Blocks are not ordered in a launch, so two that store to one word, not
/// both atomically, are a conflict. Reads of another block's words are not judged: fences and tickets may
/// order them. \param launch  a number that tells this launch from those before.
void check_global(const Access& access, Buffer& buffer, std::size_t launch, std::size_t block,
                  unsigned thread, const HappensBefore& order, CaseFile& findings, StoreConflicts& conflicts);

}  // namespace reduction::emulated
