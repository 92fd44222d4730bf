#include "device/emulated/mapping.hpp"

#include <sys/mman.h>

#include <new>

namespace reduction::emulated {

Mapping::Mapping(std::size_t bytes, Backing backing) : bytes_{bytes} {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (backing == Backing::as_touched ? MAP_NORESERVE : 0);
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc{};
  begin_ = static_cast<std::byte*>(pages);
}

Mapping::~Mapping() {
  if (begin_ != nullptr) munmap(begin_, bytes_);
}

}  // namespace reduction::emulated
