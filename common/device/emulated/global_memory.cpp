#include "device/emulated/global_memory.hpp"

#include <limits>
#include <new>

#include "device/emulated/device.hpp"

namespace reduction::emulated {
namespace {

/// Bytes on either side of a buffer that belong to no other, so that an access past its end is seen as one.
constexpr std::size_t margin = std::size_t{64} << 10;

}  // namespace

std::byte* GlobalMemory::allocate(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() - 2 * margin) throw std::bad_alloc{};
  Mapping pages{bytes + 2 * margin};
  std::byte* begin = pages.begin() + margin;
  buffers_.emplace(begin, Buffer{std::move(pages), begin, bytes});
  return begin;
}

void GlobalMemory::release(std::byte* begin) noexcept { buffers_.erase(begin); }

const Buffer* GlobalMemory::nearest(const std::byte* address) const {
  const auto above = buffers_.upper_bound(address + margin);
  if (above == buffers_.begin()) return nullptr;
  const Buffer& buffer = std::prev(above)->second;
  return address < buffer.begin + buffer.bytes + margin ? &buffer : nullptr;
}

GlobalMemory& global_memory() {
  static GlobalMemory memory;
  return memory;
}

std::mutex& device_mutex() {
  static std::mutex mutex;
  return mutex;
}

void* allocate(std::size_t bytes) {
  const std::lock_guard lock{device_mutex()};
  return global_memory().allocate(bytes);
}

void release(void* buffer) noexcept {
  const std::lock_guard lock{device_mutex()};
  global_memory().release(static_cast<std::byte*>(buffer));
}

void mark_initialised(void*, std::size_t) {}

void mark_uninitialised(void*, std::size_t) {}

}  // namespace reduction::emulated
