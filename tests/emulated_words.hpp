#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "device/emulated/device.hpp"

namespace reduction::emulated {

using Word = std::uint32_t;

/// A buffer of words in the emulated device's global memory that are 0 and count as written.
class Words {
 public:
  explicit Words(std::size_t count) : data_{static_cast<std::uint32_t*>(allocate(count * sizeof(Word)))} {
    std::fill_n(data_, count, 0U);
    mark_initialised(data_, count * sizeof(Word));
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() { release(data_); }
  operator Word*() const { return data_; }
  void forget(std::size_t first, std::size_t count) {
    mark_uninitialised(data_ + first, count * sizeof(Word));
  }
  std::uint32_t& operator[](std::size_t i) const { return data_[i]; }

 private:
  std::uint32_t* data_;
};

}  // namespace reduction::emulated
