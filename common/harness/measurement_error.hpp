#pragma once

#include <stdexcept>

namespace reduction {

/// A measurement that cannot be true, such as a bandwidth above the device's peak.
struct MeasurementError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace reduction
