#pragma once

#include <algorithm>
#include <cstddef>

#include "emulated/launches.hpp"

namespace __emulated {

/// A buffer in the emulated device's global memory whose elements have a value and count as written.
template <typename T> class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count, T value = {})
      : count_{count}, data_{static_cast<T*>(allocate(count * sizeof(T)))} {
    std::fill_n(data_, count, value);
    mark_initialised(data_, count * sizeof(T));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { release(data_); }

  operator T*() const { return data_; }
  T* begin() const { return data_; }
  T* end() const { return data_ + count_; }

  /// Makes elements count as unwritten.
  void forget(std::size_t first, std::size_t count) { mark_uninitialised(data_ + first, count * sizeof(T)); }

 private:
  std::size_t count_;
  T* data_;
};

}  // namespace __emulated
