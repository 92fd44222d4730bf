#pragma once
/// \file
/// What the rest of the runtime asks before it does what a stream is told: it may be told for a graph (graphs.cpp).

#include <optional>

#include "emulated/language/runtime/graphs.hpp"

namespace __emulated {

/// Where the stream is captured, which keeps the work for later: what the call returns.
std::optional<cudaError_t> captured(cudaStream_t stream, cudaGraphNodeType type, const GraphWork& work);

// The same for events; they tell what the streams know that wait for them.
bool captured_record(cudaEvent_t event, cudaStream_t stream);
bool captured_wait(cudaStream_t stream, cudaEvent_t event);

/// What must not be called while a stream is captured ends the capture. \param stream  only of this one; else of any.
cudaError_t error_while_captured(cudaError_t error, const cudaStream_t* stream = nullptr);

}  // namespace __emulated
