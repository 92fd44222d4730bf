#include "emulated/language/runtime/graphs.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "emulated/language/runtime/capture.hpp"
#include "emulated/memory/lasting.hpp"
#include "emulated/run/launch.hpp"

using __emulated::GraphWork;

struct CUgraphNode_st {
  cudaGraphNodeType type;
  GraphWork work;
  std::set<CUgraphNode_st*> after;
};
struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};
/// Nodes in an order in which they can run.
struct CUgraphExec_st {
  struct Step {
    const CUgraphNode_st* node;
    cudaGraphNodeType type;
    GraphWork work;
  };
  std::vector<Step> steps;
};

namespace __emulated {
namespace {

/// A stream that is captured, and streams that wait for what it records.
struct Capture {
  std::unique_ptr<CUgraph_st> graph;
  cudaStream_t origin;
  cudaStreamCaptureMode mode;
  unsigned long long id;
  bool is_valid = true;
};
/// What a stream, or an event, of a capture comes after.
struct Position {
  std::shared_ptr<Capture> capture;
  std::set<CUgraphNode_st*> after;
};
struct Captures {
  std::mutex mutex;
  std::map<cudaStream_t, Position> streams;
  std::map<cudaEvent_t, Position> events;
};
Captures& captures() { return lasting<Captures>(); }

/// The node whose work the calling thread is about to tell no stream.
thread_local GraphWork* made = nullptr;

cudaError_t make(GraphWork& work, const GraphWork& tell_stream) {
  made = &work;
  const cudaError_t status = tell_stream(nullptr);
  made = nullptr;
  return status;
}

CUgraphNode_st* append(CUgraph_st& graph, cudaGraphNodeType type, GraphWork work,
                       std::set<CUgraphNode_st*> after) {
  graph.nodes.push_back(
      std::make_unique<CUgraphNode_st>(CUgraphNode_st{type, std::move(work), std::move(after)}));
  return graph.nodes.back().get();
}

/// Those of a graph, each behind what it comes after.
std::vector<CUgraphExec_st::Step> steps_of(const CUgraph_st& graph) {
  std::vector<CUgraphExec_st::Step> steps;
  std::set<const CUgraphNode_st*> done;
  const auto visit = [&](const auto& self, const CUgraphNode_st& node) -> void {
    if (!done.insert(&node).second) return;
    for (const CUgraphNode_st* before : node.after)
      self(self, *before);
    steps.push_back({&node, node.type, node.work});
  };
  for (const auto& node : graph.nodes)
    visit(visit, *node);
  return steps;
}

cudaError_t run(const std::vector<CUgraphExec_st::Step>& steps, cudaStream_t stream) {
  for (const CUgraphExec_st::Step& step : steps)
    if (const cudaError_t status = step.work(stream)) return status;
  return cudaSuccess;
}

cudaError_t list(const CUgraph_st& graph, bool only_roots, cudaGraphNode_t* nodes, size_t* count) {
  size_t found = 0;
  for (const auto& node : graph.nodes) {
    if (only_roots && !node->after.empty()) continue;
    if (nodes != nullptr && found < *count) nodes[found] = node.get();
    ++found;
  }
  *count = nodes == nullptr ? found : std::min(found, *count);
  return cudaSuccess;
}

bool may_be_captured() {
  if (made != nullptr) return true;
  const std::lock_guard lock{captures().mutex};
  return !captures().streams.empty();
}

/// Memory of a kernel's arguments, whatever their alignment.
struct alignas(64) Piece {
  std::byte bytes[64];
};

}  // namespace

std::optional<cudaError_t> captured(cudaStream_t stream, cudaGraphNodeType type, const GraphWork& work) {
  if (made != nullptr) {
    *made = work;
    return cudaSuccess;
  }
  if (const cudaError_t error = error_if_destroyed(stream)) return error;
  Captures& all = captures();
  const std::lock_guard lock{all.mutex};
  const auto position = all.streams.find(stream);
  if (position == all.streams.end()) {
    // The legacy stream would have to wait for what has not happened.
    if (stream != nullptr || all.streams.empty()) return std::nullopt;
    for (auto& [other, at] : all.streams)
      at.capture->is_valid = false;
    return noted(cudaErrorStreamCaptureImplicit);
  }
  auto& [capture, after] = position->second;
  after.insert(append(*capture->graph, type, work, after));
  return capture->is_valid ? cudaSuccess : noted(cudaErrorStreamCaptureInvalidated);
}

bool captured_record(cudaEvent_t event, cudaStream_t stream) {
  Captures& all = captures();
  const std::lock_guard lock{all.mutex};
  const auto position = all.streams.find(stream);
  if (position == all.streams.end()) {
    all.events.erase(event);
    return false;
  }
  all.events[event] = position->second;
  return true;
}

bool captured_wait(cudaStream_t stream, cudaEvent_t event) {
  Captures& all = captures();
  const std::lock_guard lock{all.mutex};
  const auto recorded = all.events.find(event);
  if (recorded == all.events.end()) return false;
  Position& position = all.streams.emplace(stream, recorded->second).first->second;
  position.after.insert(recorded->second.after.begin(), recorded->second.after.end());
  return true;
}

cudaError_t error_while_captured(cudaError_t error, const cudaStream_t* stream) {
  if (const cudaError_t status = stream != nullptr ? error_if_destroyed(*stream) : cudaSuccess) return status;
  Captures& all = captures();
  const std::lock_guard lock{all.mutex};
  for (auto& [each, position] : all.streams) {
    Capture& capture = *position.capture;
    if (stream != nullptr ? each != *stream : capture.mode == cudaStreamCaptureModeRelaxed) continue;
    capture.is_valid = false;
    return noted(error);
  }
  return cudaSuccess;
}

void launch_in_stream(const ExecutionConfiguration& configuration, const KernelCall& kernel) {
  auto* const stream = const_cast<cudaStream_t>(configuration.stream);
  if (error_if_destroyed(stream) != cudaSuccess) return;
  if (!may_be_captured()) return launch_grid(configuration, kernel);
  std::vector<Piece> arguments(kernel.arguments.size() / sizeof(Piece) + 1);
  std::ranges::copy(kernel.arguments, std::as_writable_bytes(std::span{arguments}).begin());
  const std::vector<const void*> inputs(kernel.inputs.begin(), kernel.inputs.end());
  const auto launch_later = [=, run_thread = kernel.run_thread, bytes = kernel.arguments.size(),
                             entry = kernel.entry](cudaStream_t other) {
    ExecutionConfiguration in_stream = configuration;
    in_stream.stream = other;
    const auto copied = std::as_bytes(std::span{arguments}).first(bytes);
    return status_of([&] { launch_grid(in_stream, {run_thread, copied, entry, inputs}); });
  };
  if (!captured(stream, cudaGraphNodeTypeKernel, launch_later)) launch_grid(configuration, kernel);
}

cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                     cudaGraphNodeType type, const GraphWork& tell_stream) {
  GraphWork work;
  if (const cudaError_t status = make(work, tell_stream)) return status;
  *node = append(*graph, type, std::move(work), {after, after + count});
  return cudaSuccess;
}
cudaError_t set_node(cudaGraphNode_t node, const GraphWork& tell_stream) {
  return make(node->work, tell_stream);
}
cudaError_t set_node(cudaGraphExec_t exec, cudaGraphNode_t node, const GraphWork& tell_stream) {
  const auto step = std::ranges::find(exec->steps, node, &CUgraphExec_st::Step::node);
  return step == exec->steps.end() ? noted(cudaErrorInvalidValue) : make(step->work, tell_stream);
}

GraphWork work_of(const cudaMemsetParams* set) {
  return [set = *set](cudaStream_t stream) {
    const auto set_rows = [=](cudaStream_t in) {
      const size_t row = set.width * set.elementSize;
      if (set.elementSize == 1)
        return cudaMemset2DAsync(set.dst, set.pitch, static_cast<int>(set.value), row, set.height, in);
      const unsigned two = set.elementSize == 4 ? set.value : set.value << 16 | set.value;
      const std::vector<unsigned> elements(row / sizeof(two) + 1, two);
      cudaError_t result = cudaSuccess;
      for (size_t y = 0; y < set.height && result == cudaSuccess; ++y)
        result = cudaMemcpyAsync(static_cast<std::byte*>(set.dst) + y * set.pitch, elements.data(), row,
                                 cudaMemcpyHostToDevice, in);
      return result;
    };
    const auto kept = captured(stream, cudaGraphNodeTypeMemset, set_rows);
    return kept ? *kept : set_rows(stream);
  };
}

}  // namespace __emulated

// ---- what streams are told ----

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  static unsigned long long last = 0;
  if (stream == nullptr) return __emulated::noted(cudaErrorStreamCaptureUnsupported);
  __emulated::Captures& all = __emulated::captures();
  const std::lock_guard lock{all.mutex};
  if (all.streams.contains(stream)) return __emulated::noted(cudaErrorIllegalState);
  auto capture = std::make_shared<__emulated::Capture>(
      __emulated::Capture{std::make_unique<CUgraph_st>(), stream, mode, ++last});
  all.streams[stream] = {std::move(capture), {}};
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  __emulated::Captures& all = __emulated::captures();
  const std::lock_guard lock{all.mutex};
  const auto position = all.streams.find(stream);
  if (position == all.streams.end()) return __emulated::noted(cudaErrorIllegalState);
  const std::shared_ptr<__emulated::Capture> capture = position->second.capture;
  const size_t known = position->second.after.size();
  if (capture->origin != stream) return __emulated::noted(cudaErrorStreamCaptureUnmatched);
  const auto is_of_it = [&](const auto& each) { return each.second.capture == capture; };
  std::erase_if(all.streams, is_of_it);
  std::erase_if(all.events, is_of_it);
  if (!capture->is_valid) return __emulated::noted(cudaErrorStreamCaptureInvalidated);
  if (known != capture->graph->nodes.size()) return __emulated::noted(cudaErrorStreamCaptureUnjoined);
  *graph = capture->graph.release();
  return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id) {
  __emulated::Captures& all = __emulated::captures();
  const std::lock_guard lock{all.mutex};
  const auto position = all.streams.find(stream);
  *status = position == all.streams.end()        ? cudaStreamCaptureStatusNone
            : position->second.capture->is_valid ? cudaStreamCaptureStatusActive
                                                 : cudaStreamCaptureStatusInvalidated;
  if (id != nullptr && position != all.streams.end()) *id = position->second.capture->id;
  return cudaSuccess;
}

// ---- graphs ----

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  *graph = std::make_unique<CUgraph_st>().release();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const std::unique_ptr<CUgraph_st> to_be_deleted{graph};
  return cudaSuccess;
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  cudaGraphCreate(clone, 0);
  std::map<const CUgraphNode_st*, CUgraphNode_st*> clones;
  for (const auto& node : graph->nodes)
    clones[node.get()] = __emulated::append(**clone, node->type, node->work, {});
  for (const auto& node : graph->nodes)
    for (const CUgraphNode_st* before : node->after)
      clones[node.get()]->after.insert(clones[before]);
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return __emulated::list(*graph, false, nodes, count);
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return __emulated::list(*graph, true, nodes, count);
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  *type = node->type;
  return cudaSuccess;
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     size_t count) {
  for (size_t i = 0; i < count; ++i)
    to[i]->after.insert(from[i]);
  return cudaSuccess;
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  size_t count) {
  const auto nothing = [](cudaStream_t) { return cudaSuccess; };
  *node = __emulated::append(*graph, cudaGraphNodeTypeEmpty, nothing, {after, after + count});
  return cudaSuccess;
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       size_t count, cudaGraph_t child) {
  const auto run_child = [steps = __emulated::steps_of(*child)](cudaStream_t stream) {
    return __emulated::run(steps, stream);
  };
  *node = __emulated::append(*graph, cudaGraphNodeTypeGraph, run_child, {after, after + count});
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  *exec = std::make_unique<CUgraphExec_st>(CUgraphExec_st{__emulated::steps_of(*graph)}).release();
  return cudaSuccess;
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  const auto steps = __emulated::steps_of(*graph);
  *info = {};
  const bool is_alike =
      std::ranges::equal(exec->steps, steps, {}, &CUgraphExec_st::Step::type, &CUgraphExec_st::Step::type);
  if (!is_alike) {
    info->result = cudaGraphExecUpdateErrorTopologyChanged;
    return __emulated::noted(cudaErrorGraphExecUpdateFailure);
  }
  for (size_t i = 0; i < steps.size(); ++i)
    exec->steps[i].work = steps[i].work;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  const auto run = [steps = exec->steps](cudaStream_t in) { return __emulated::run(steps, in); };
  const auto kept = __emulated::captured(stream, cudaGraphNodeTypeGraph, run);
  return kept ? *kept : run(stream);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  const std::unique_ptr<CUgraphExec_st> to_be_deleted{exec};
  return cudaSuccess;
}
