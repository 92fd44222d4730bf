#pragma once
#include <cstddef>

namespace reduction::emulated {

/// What an access does to memory.
enum class Operation : unsigned char { load, store, atomic };

constexpr const char* verb_of(Operation operation) {
  switch (operation) {
    case Operation::load: return "reads";
    case Operation::store: return "writes";
    case Operation::atomic: return "atomically updates";
  }
  return "accesses";
}

/// One access of one thread.
struct Access {
  Operation operation;
  const std::byte* address;
  std::size_t bytes;
  const void* call_site;  ///< the place in the kernel, as a return address
};

}  // namespace reduction::emulated
