#include "emulated/memory/kernel_heap.hpp"

#include <mutex>

#include "emulated/memory/lasting.hpp"

namespace __emulated {
namespace {

constexpr std::size_t alignment = 16;

/// Bytes between two pieces of memory that belong to neither, so that an access past the end of one is seen.
constexpr std::size_t between = 128;

}  // namespace

KernelHeap& kernel_heap() { return lasting<KernelHeap>(); }

bool KernelHeap::set_capacity(std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  if (words_) return bytes <= capacity_;
  capacity_ = bytes;
  return true;
}

void KernelHeap::reuse_if_empty() {
  const std::lock_guard lock{mutex_};
  if (held_bytes_ != 0 || used_ == 0) return;
  words_->mark(0, used_, false);
  pieces_.clear();
  used_ = 0;
}

void* KernelHeap::allocate(std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  if (bytes == 0 || bytes > capacity_ - held_bytes_) return nullptr;
  if (!words_) {
    words_.emplace(Buffer::for_heap(all_bytes()));
    begin_ = words_->begin();
  }
  const std::size_t taken = (bytes + alignment - 1) / alignment * alignment + between;
  if (taken > all_bytes() - used_) return nullptr;
  std::byte* const memory = words_->begin() + used_;
  used_ += taken;
  held_bytes_ += bytes;
  pieces_.emplace(memory, Piece{bytes, true});
  return memory;
}

bool KernelHeap::release(const void* begin) {
  const std::lock_guard lock{mutex_};
  const auto piece = pieces_.find(static_cast<const std::byte*>(begin));
  if (piece == pieces_.end() || !piece->second.is_held) return false;
  held_bytes_ -= piece->second.bytes;
  piece->second.is_held = false;
  return true;
}

bool KernelHeap::is_near(const void* address) const {
  const std::byte* const begin = begin_.load(std::memory_order_relaxed);
  return begin != nullptr &&
         __emulated::contains({begin, all_bytes()}, static_cast<const std::byte*>(address));
}

bool KernelHeap::contains(const std::byte* address, std::size_t bytes) const {
  const std::shared_lock lock{mutex_};
  const auto piece = last_until(pieces_, address);
  return piece != pieces_.end() && piece->second.is_held &&
         __emulated::contains({piece->first, piece->second.bytes}, address, bytes);
}

bool KernelHeap::is_released(const std::byte* address) const {
  const std::shared_lock lock{mutex_};
  const auto piece = last_until(pieces_, address);
  return piece != pieces_.end() && !piece->second.is_held;
}

std::string KernelHeap::describe(const std::byte* address, std::size_t bytes) const {
  const std::shared_lock lock{mutex_};
  const auto piece = last_until(pieces_, address);
  if (piece == pieces_.end()) return std::to_string(bytes) + " bytes of memory that no kernel holds";
  return word_text(address - piece->first, bytes, "a kernel's memory", piece->second.bytes);
}

}  // namespace __emulated
