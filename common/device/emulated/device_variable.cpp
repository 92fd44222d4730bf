#include "device/emulated/device_variable.hpp"

#include <link.h>

#include <cstdint>
#include <span>

namespace reduction::emulated {

bool in_device_variable(const std::byte* address) {
  auto wanted = reinterpret_cast<std::uintptr_t>(address);
  // Static storage is what the program's files, it and its libraries, have of writable memory.
  const int found = dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* opaque) {
        const std::uintptr_t offset = *static_cast<std::uintptr_t*>(opaque) - object->dlpi_addr;
        for (const auto& segment : std::span{object->dlpi_phdr, object->dlpi_phnum}) {
          const bool is_writable = segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0;
          if (is_writable && offset - segment.p_vaddr < segment.p_memsz) return 1;
        }
        return 0;
      },
      &wanted);
  return found != 0;
}

}  // namespace reduction::emulated
