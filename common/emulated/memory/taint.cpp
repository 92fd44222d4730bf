#include <algorithm>

#include "emulated/memory/memory.hpp"

/// \file
/// Words that a launch has made of what nobody had written. They count as unwritten, and are marked beside that, so that any
/// store ends it, and whoever reads one is known.

namespace __emulated {
namespace {

constexpr std::size_t words_in_entry = 64;

std::uint64_t& entry(const Mapping& bits, std::size_t word) {
  return reinterpret_cast<std::uint64_t*>(bits.begin())[word / words_in_entry];
}

}  // namespace

void Buffer::taint(std::size_t offset, std::size_t count) {
  if (tainted_.begin() == nullptr) tainted_ = Mapping{initialised_.bytes(), Backing::as_touched};
  const std::size_t end = std::min(offset + count, bytes_);
  mark(offset, end - offset, false);
  for (std::size_t word = offset / word_bytes; word * word_bytes < end; ++word)
    entry(tainted_, word) |= std::uint64_t{1} << (word % words_in_entry);
}

bool Buffer::has_taint(std::size_t offset, std::size_t count) const {
  if (tainted_.begin() == nullptr) return false;
  for (std::size_t word = offset / word_bytes; word * word_bytes < offset + count;) {
    const std::uint64_t of_entry = entry(tainted_, word) & ~entry(initialised_, word);
    if (of_entry == 0) {
      word = (word / words_in_entry + 1) * words_in_entry;
    } else if ((of_entry >> (word++ % words_in_entry) & 1) != 0) {
      return true;
    }
  }
  return false;
}

void Buffer::end_taint() {
  if (tainted_.begin() == nullptr) return;
  for (std::size_t word = 0; word * word_bytes < bytes_; word += words_in_entry)
    entry(initialised_, word) |= entry(tainted_, word);
  tainted_ = {};
}

bool GlobalMemory::has_taint() const {
  return taint_is_lost_ || std::ranges::any_of(buffers_, [](const auto& entry) {
           return entry.second.has_taint(0, entry.second.bytes());
         });
}

void GlobalMemory::end_taint() {
  taint_is_lost_ = false;
  for (auto& [begin, buffer] : buffers_)
    buffer.end_taint();
}

}  // namespace __emulated
