#pragma once
/// \file
/// The page around the traces, which bundle.cmake puts together.

namespace reduction {

extern const unsigned char page_before_traces[];
extern const unsigned page_before_traces_size;
extern const unsigned char page_after_traces[];
extern const unsigned page_after_traces_size;

}  // namespace reduction
