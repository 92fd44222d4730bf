#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "device/emulated/mapping.hpp"

namespace reduction::emulated {

/// A buffer in global memory, and which of its 4-byte words have been written.
class Buffer {
 public:
  static constexpr std::size_t word_bytes = 4;

  explicit Buffer(std::size_t bytes);

  std::byte* begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }
  bool contains(const std::byte* address, std::size_t count) const {
    const std::size_t offset = static_cast<std::size_t>(address - begin_);
    return offset < bytes_ && count <= bytes_ - offset;
  }

  /// Marks the words that hold these bytes, on behalf of any number of host threads at once.
  void mark(std::size_t offset, std::size_t count, bool initialised);
  bool is_initialised(std::size_t offset, std::size_t count) const {
    for (std::size_t word = offset / word_bytes; word * word_bytes < offset + count; ++word) {
      const std::uint64_t bits = std::atomic_ref{initialised_bits(word)}.load(std::memory_order_relaxed);
      if ((bits >> (word % 64) & 1) == 0) return false;
    }
    return true;
  }

  /// Whether the launch that runs may store to the buffer, so that all accesses to it are recorded.
  bool is_recorded() const { return recorded_; }
  void set_recorded(bool on) { recorded_ = on; }

 private:
  std::uint64_t& initialised_bits(std::size_t word) const {
    return reinterpret_cast<std::uint64_t*>(initialised_.begin())[word / 64];
  }

  Mapping pages_;  ///< the buffer between two margins
  Mapping initialised_;
  std::byte* begin_;
  std::size_t bytes_;
  bool recorded_ = false;
};

/// The emulated device's global memory: every buffer that has been allocated and not yet released.
class GlobalMemory {
 public:
  std::byte* allocate(std::size_t bytes);
  void release(std::byte* begin) noexcept;

  /// The buffer that holds the address, or one that ends shortly before it or begins shortly after; or
  /// nullptr.
  Buffer* nearest(const std::byte* address);

  /// Whether accesses are recorded, for every buffer.
  void set_recorded(bool on);

  /// Bytes of all buffers.
  std::size_t bytes() const;

 private:
  std::map<const std::byte*, Buffer> buffers_;
};

/// The one device, and the lock that a launch, or a change to its memory, holds.
GlobalMemory& global_memory();
std::mutex& device_mutex();

}  // namespace reduction::emulated
