#pragma once

#include <stdexcept>

namespace reduction {

/// A device that is not there, refuses a call or has not enough memory. what() is one line for the user.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace reduction
