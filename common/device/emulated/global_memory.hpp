#pragma once
#include <cstddef>
#include <map>
#include <mutex>

#include "device/emulated/mapping.hpp"

namespace reduction::emulated {

/// A buffer in global memory.
struct Buffer {
  Mapping pages;  ///< the buffer between two margins
  std::byte* begin = nullptr;
  std::size_t bytes = 0;

  bool contains(const std::byte* address, std::size_t count) const {
    const std::size_t offset = static_cast<std::size_t>(address - begin);
    return address >= begin && count <= bytes && offset <= bytes - count;
  }
};

/// The emulated device's global memory: every buffer that has been allocated and not yet released.
class GlobalMemory {
 public:
  std::byte* allocate(std::size_t bytes);
  void release(std::byte* begin) noexcept;

  /// The buffer with the greatest address not above `address`, within whose margins it may lie, or nullptr.
  const Buffer* nearest(const std::byte* address) const;

 private:
  std::map<const std::byte*, Buffer> buffers_;
};

/// The one device, and the lock that a launch, or a change to its memory, holds.
GlobalMemory& global_memory();
std::mutex& device_mutex();

}  // namespace reduction::emulated
