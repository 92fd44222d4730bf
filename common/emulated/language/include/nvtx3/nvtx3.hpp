#pragma once
/// \file
/// Stands in for NVIDIA's header of this name on the emulated device: no profiler looks on, so marks and ranges do nothing.

#include "nvtx3/nvToolsExt.h"

namespace nvtx3 {

/// Made of anything, and nothing itself.
struct scoped_range {
  template <typename... Arguments> explicit scoped_range(const Arguments&...) {}
};
template <typename> struct scoped_range_in : scoped_range { using scoped_range::scoped_range; };
template <typename> struct unique_range_in : scoped_range { using scoped_range::scoped_range; };
using unique_range = scoped_range;
using event_attributes = scoped_range;
using rgb = scoped_range;
using argb = scoped_range;
using payload = scoped_range;
using category = scoped_range;
template <typename... Arguments> void mark(const Arguments&...) {}

}  // namespace nvtx3

#define NVTX3_FUNC_RANGE() static_cast<void>(0)
#define NVTX3_FUNC_RANGE_IN(domain) static_cast<void>(0)
