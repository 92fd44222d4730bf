#include "device/emulated/global_memory.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "device/emulated/device.hpp"

namespace reduction::emulated {
namespace {

/// Bytes on either side of a buffer that belong to no other, so that an access past its end is seen as one.
constexpr std::size_t margin = std::size_t{64} << 10;

/// Leaves room for all that is kept beside a buffer of the largest size.
constexpr std::size_t largest_buffer = std::numeric_limits<std::size_t>::max() / 16;

std::size_t words_in(std::size_t bytes) { return bytes / Buffer::word_bytes + 1; }

/// The buffer that holds these bytes; the host has passed something else where there is none.
Buffer& buffer_of(void* begin, std::size_t bytes) {
  Buffer* const buffer = global_memory().nearest(static_cast<const std::byte*>(begin));
  if (buffer == nullptr || (bytes != 0 && !buffer->contains(static_cast<const std::byte*>(begin), bytes))) {
    throw std::invalid_argument{"these bytes are in no buffer of the emulated device"};
  }
  return *buffer;
}

void mark(void* begin, std::size_t bytes, bool initialised) {
  const std::lock_guard lock{device_mutex()};
  if (bytes == 0) return;
  Buffer& buffer = buffer_of(begin, bytes);
  buffer.mark(static_cast<std::size_t>(static_cast<std::byte*>(begin) - buffer.begin()), bytes, initialised);
}

}  // namespace

Buffer::Buffer(std::size_t bytes)
    : pages_{bytes + 2 * margin},
      initialised_{(words_in(bytes) / 64 + 1) * sizeof(std::uint64_t), Backing::as_touched},
      begin_{pages_.begin() + margin},
      bytes_{bytes} {}

void Buffer::mark(std::size_t offset, std::size_t count, bool initialised) {
  const std::size_t end = (offset + count + word_bytes - 1) / word_bytes;
  for (std::size_t word = offset / word_bytes; word < end;) {
    // As many words as one word of bits has, or what is left of them.
    const std::size_t next = std::min(end, (word / 64 + 1) * 64);
    const std::uint64_t ones = ~std::uint64_t{0} >> (64 - (next - word));
    const std::uint64_t mask = ones << (word % 64);
    const std::atomic_ref bits{initialised_bits(word)};
    if (!initialised) {
      bits.fetch_and(~mask, std::memory_order_relaxed);
    } else if ((bits.load(std::memory_order_relaxed) & mask) != mask) {
      bits.fetch_or(mask, std::memory_order_relaxed);
    }
    word = next;
  }
}

std::byte* GlobalMemory::allocate(std::size_t bytes) {
  if (bytes > largest_buffer) throw std::bad_alloc{};
  Buffer buffer{bytes};
  std::byte* const begin = buffer.begin();
  buffers_.emplace(begin, std::move(buffer));
  return begin;
}

void GlobalMemory::release(std::byte* begin) noexcept { buffers_.erase(begin); }

Buffer* GlobalMemory::nearest(const std::byte* address) {
  const auto above = buffers_.upper_bound(address + margin);
  if (above == buffers_.begin()) return nullptr;
  Buffer& buffer = std::prev(above)->second;
  return address < buffer.begin() + buffer.bytes() + margin ? &buffer : nullptr;
}

void GlobalMemory::set_recorded(bool on) {
  for (auto& [begin, buffer] : buffers_)
    buffer.set_recorded(on);
}

std::size_t GlobalMemory::bytes() const {
  return std::accumulate(buffers_.begin(), buffers_.end(), std::size_t{0},
                         [](std::size_t sum, const auto& entry) { return sum + entry.second.bytes(); });
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

void mark_initialised(void* begin, std::size_t bytes) { mark(begin, bytes, true); }

void mark_uninitialised(void* begin, std::size_t bytes) { mark(begin, bytes, false); }

}  // namespace reduction::emulated
