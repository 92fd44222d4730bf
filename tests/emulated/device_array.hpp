#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "emulated/findings/finding.hpp"
#include "emulated/run/device.hpp"

namespace __emulated {

/// A buffer in the emulated device's global memory whose elements are T{} and count as written.
template <typename T> class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count)
      : count_{count}, data_{static_cast<T*>(allocate(count * sizeof(T)))} {
    std::fill_n(data_, count, T{});
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

/// Every launch of the test program.
inline const LaunchRecord all_launches;

/// What the last launch that ended without a finding did.
inline Counters last_launch_counters() { return all_launches.launches().back(); }

/// The findings' texts of a launch, or "".
std::string finding_of(const auto& launch_kernel) {
  try {
    launch_kernel();
  } catch (const KernelFinding& finding) {
    return finding.what();
  }
  return "";
}

}  // namespace __emulated
