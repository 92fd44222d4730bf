#pragma once
/// \file
/// CUDA's runtime: graphs, made by hand or of what a stream is told while it is captured. A graph runs its work when it is
/// launched, each piece as if its stream had just been told of it. (CUDA C++ Programming Guide, "CUDA Graphs")

#include <functional>

#include "emulated/language/cuda.hpp"
#include "emulated/language/runtime/kernels.hpp"
#include "emulated/language/runtime/memory.hpp"
#include "emulated/language/runtime/streams.hpp"

using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
using cudaGraphNode_t = struct CUgraphNode_st*;

enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel,
  cudaGraphNodeTypeMemcpy,
  cudaGraphNodeTypeMemset,
  cudaGraphNodeTypeHost,
  cudaGraphNodeTypeGraph,
  cudaGraphNodeTypeEmpty
};
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated
};
enum cudaGraphExecUpdateResult {
  cudaGraphExecUpdateSuccess,
  cudaGraphExecUpdateError,
  cudaGraphExecUpdateErrorTopologyChanged,
  cudaGraphExecUpdateErrorNodeTypeChanged
};
struct cudaGraphExecUpdateResultInfo {
  cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
};
struct cudaGraphEdgeData {
  unsigned char from_port, to_port, type, reserved[5];
};
struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void **kernelParams, **extra;
};
struct cudaMemsetParams {
  void* dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};
struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void* userData;
};
inline constexpr unsigned cudaGraphInstantiateFlagAutoFreeOnLaunch = 1, cudaGraphInstantiateFlagUpload = 2,
                          cudaGraphInstantiateFlagDeviceLaunch = 4,
                          cudaGraphInstantiateFlagUseNodePriority = 8;

// ---- what streams are told ----

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id = nullptr);
inline cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status);
}
inline cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }

namespace __emulated {

/// What a node does in the stream that its graph is launched in.
using GraphWork = std::function<cudaError_t(cudaStream_t)>;

}  // namespace __emulated

// ---- graphs by hand ----

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, size_t count);
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                            const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                            size_t count) {
  return cudaGraphAddDependencies(graph, from, to, count);
}

namespace __emulated {

/// Adds a node that does what `tell_stream` tells the stream that it is given.
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                     cudaGraphNodeType type, const GraphWork& tell_stream);
/// The same in place of what a node does, in a graph or in one that is ready to be launched.
cudaError_t set_node(cudaGraphNode_t node, const GraphWork& tell_stream);
cudaError_t set_node(cudaGraphExec_t exec, cudaGraphNode_t node, const GraphWork& tell_stream);

// What to tell it, by the parameters of each kind of node.
inline GraphWork work_of(const cudaKernelNodeParams* kernel) {
  return [=, parms = *kernel](cudaStream_t stream) {
    return launch_known({parms.gridDim, parms.blockDim, parms.sharedMemBytes, stream}, parms.func,
                        parms.kernelParams);
  };
}
inline GraphWork work_of(const cudaMemcpy3DParms* copy) {
  return [parms = *copy](cudaStream_t stream) { return cudaMemcpy3DAsync(&parms, stream); };
}
GraphWork work_of(const cudaMemsetParams* set);
inline GraphWork work_of(const cudaHostNodeParams* host) {
  return
      [parms = *host](cudaStream_t stream) { return cudaLaunchHostFunc(stream, parms.fn, parms.userData); };
}

}  // namespace __emulated

/// \cond
// A kind of node: how it is added and given other parameters. (No function makes a name of a name.)
#define __EMULATED_NODE(kind, Parameters)                                                            \
  inline cudaError_t cudaGraphAdd##kind##Node(cudaGraphNode_t* node, cudaGraph_t graph,              \
                                              const cudaGraphNode_t* after, size_t count,            \
                                              const Parameters* parms) {                             \
    return __emulated::add_node(node, graph, after, count, cudaGraphNodeType##kind,                  \
                                __emulated::work_of(parms));                                         \
  }                                                                                                  \
  inline cudaError_t cudaGraph##kind##NodeSetParams(cudaGraphNode_t node, const Parameters* parms) { \
    return __emulated::set_node(node, __emulated::work_of(parms));                                   \
  }                                                                                                  \
  inline cudaError_t cudaGraphExec##kind##NodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,  \
                                                        const Parameters* parms) {                   \
    return __emulated::set_node(exec, node, __emulated::work_of(parms));                             \
  }
__EMULATED_NODE(Kernel, cudaKernelNodeParams)
__EMULATED_NODE(Memcpy, cudaMemcpy3DParms)
__EMULATED_NODE(Memset, cudaMemsetParams)
__EMULATED_NODE(Host, cudaHostNodeParams)
#undef __EMULATED_NODE
/// \endcond

inline cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                            const cudaGraphNode_t* after, size_t count, void* to,
                                            const void* from, size_t bytes, cudaMemcpyKind kind) {
  const auto copy = __emulated::copy_of_rows(to, bytes, from, bytes, bytes, 1, kind);
  return cudaGraphAddMemcpyNode(node, graph, after, count, &copy);
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  size_t count);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       size_t count, cudaGraph_t child);

// ---- graphs that are ready ----

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags = 0);
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                 unsigned long long flags = 0) {
  return cudaGraphInstantiate(exec, graph, flags);
}
/// Before CUDA 12: where to say what is wrong.
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t*, char*,
                                        size_t) {
  return cudaGraphInstantiate(exec, graph);
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info);
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t* error_node,
                                       cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info;
  const cudaError_t status = cudaGraphExecUpdate(exec, graph, &info);
  if (error_node != nullptr) *error_node = info.errorNode;
  *result = info.result;
  return status;
}
inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
