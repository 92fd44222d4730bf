#include "emulated/language/runtime/memory.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "emulated/language/runtime/device.hpp"
#include "emulated/language/runtime/streams.hpp"
#include "emulated/memory/closed_memory.hpp"
#include "emulated/memory/memory.hpp"
#include "emulated/order/host_order.hpp"
#include "emulated/run/device.hpp"
#include "emulated/run/launch.hpp"

namespace __emulated {

namespace {

/// The beginning of a new buffer is not zero, as on a GPU. What is behind it takes no memory before it is touched.
constexpr std::size_t most_filled_bytes = std::size_t{1} << 20;

/// What the host has asked for beside the device's plain buffers; device_mutex() guards it.
struct KnownMemory {
  std::map<const std::byte*, Allocation> host_buffers;  ///< that the host may use as well
  std::map<const std::byte*, std::size_t> variables;    ///< the bytes of those whose address it knows
};
KnownMemory& known_memory() {
  static KnownMemory& known = *std::make_unique<KnownMemory>().release();  // to the very end
  return known;
}

/// What may use some bytes.
struct Sides {
  bool host, device;
};

Sides sides_of(const void* begin, std::size_t bytes) {
  const std::lock_guard lock{device_mutex()};
  const auto* const first = static_cast<const std::byte*>(begin);
  const auto& [host_buffers, variables] = known_memory();
  if (const auto after = variables.upper_bound(first); after != variables.begin()) {
    const auto& [variable, size] = *std::prev(after);
    const auto offset = static_cast<std::size_t>(first - variable);
    if (offset < size) return {false, bytes <= size - offset};
  }
  const Buffer* const buffer = global_memory().nearest(first);
  if (buffer == nullptr) return {true, false};
  if (!buffer->contains(first, bytes)) return {false, false};
  return {host_buffers.contains(buffer->begin()), true};
}

bool can_copy(const void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const Sides target = sides_of(to, bytes);
  const Sides source = sides_of(from, bytes);
  switch (kind) {
    case cudaMemcpyHostToHost: return target.host && source.host;
    case cudaMemcpyHostToDevice: return target.device && source.host;
    case cudaMemcpyDeviceToHost: return target.host && source.device;
    case cudaMemcpyDeviceToDevice: return target.device && source.device;
    case cudaMemcpyDefault: return (target.host || target.device) && (source.host || source.device);
  }
  return false;
}

/// Kernels may read what the host has written; a variable they may read anyhow.
void mark_written(void* begin, std::size_t bytes) {
  const bool is_in_buffer = [begin] {
    const std::lock_guard lock{device_mutex()};
    return global_memory().nearest(static_cast<const std::byte*>(begin)) != nullptr;
  }();
  if (is_in_buffer) mark_initialised(begin, bytes);
}

cudaError_t release_if(bool is_pinned, void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  const auto* const begin = static_cast<const std::byte*>(pointer);
  {
    const std::lock_guard lock{device_mutex()};
    const Buffer* const buffer = global_memory().nearest(begin);
    auto& host_buffers = known_memory().host_buffers;
    const auto known = host_buffers.find(begin);
    const bool pinned = known != host_buffers.end() && known->second == Allocation::pinned;
    if (buffer == nullptr || buffer->begin() != begin || pinned != is_pinned)
      return noted(cudaErrorInvalidValue);
    host_buffers.erase(begin);
  }
  cudaDeviceSynchronize();
  closed_memory().remove(begin);
  release(pointer);
  return cudaSuccess;
}

const char* text_of(Allocation kind) {
  return kind == Allocation::device    ? "a global buffer"
         : kind == Allocation::managed ? "managed memory"
                                       : "pinned memory";
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return cudaSuccess;
  if (!can_copy(to, from, bytes, kind)) return noted(cudaErrorInvalidValue);
  note_read(from, bytes);
  const ClosedMemory::Open open;
  std::memcpy(to, from, bytes);
  mark_written(to, bytes);
  return cudaSuccess;
}

/// From one place in device memory to another, which the host does not wait for.
bool is_within_device(const void* to, const void* from) {
  return !sides_of(to, 1).host && !sides_of(from, 1).host;
}

/// What has been copied in a stream is used until the host waits for it. That waits itself where memory of the host's own is the
/// target (CUDA Runtime API, "API synchronization behavior").
void leave_behind(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  if (!closed_memory().is_on()) return;
  std::vector<HostOrder::Use> uses;
  const auto add = [&](const void* begin, bool writes) {
    const auto* const first = static_cast<const std::byte*>(begin);
    if (closed_memory().is_shared(first))
      uses.push_back({first, first + bytes, writes, "a copy", nullptr, 0});
  };
  add(to, true);
  add(from, false);
  host_order().add(stream, std::move(uses));
  if (sides_of(to, 1).host && !closed_memory().is_shared(static_cast<const std::byte*>(to)))
    cudaStreamSynchronize(stream);
}

}  // namespace

cudaError_t allocate_as(Allocation kind, void** pointer, std::size_t bytes) try {
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (bytes > memory_left()) return noted(cudaErrorMemoryAllocation);
  *pointer = allocate(bytes);
  std::memset(*pointer, 0xFF, std::min(bytes, most_filled_bytes));
  closed_memory().add(static_cast<std::byte*>(*pointer), bytes, text_of(kind), kind != Allocation::device);
  if (kind == Allocation::device) return cudaSuccess;
  mark_initialised(*pointer, bytes);  // nothing tells the device what the host writes there
  const std::lock_guard lock{device_mutex()};
  const auto* const begin = static_cast<const std::byte*>(*pointer);
  known_memory().host_buffers[begin] = kind;
  global_memory().nearest(begin)->share_with_host();
  return cudaSuccess;
} catch (const std::bad_alloc&) {
  return noted(cudaErrorMemoryAllocation);
}

cudaError_t error_unless_shared(const void* begin, std::size_t bytes) {
  const Sides sides = sides_of(begin, bytes);
  return error_unless(sides.host && sides.device);
}

bool is_managed(const void* variable) {
  return closed_memory().is_shared(static_cast<const std::byte*>(variable));
}

void know_variable(const void* begin, std::size_t bytes) {
  const std::lock_guard lock{device_mutex()};
  known_memory().variables[static_cast<const std::byte*>(begin)] = bytes;
}

}  // namespace __emulated

cudaError_t cudaFree(void* pointer) { return __emulated::release_if(false, pointer); }
cudaError_t cudaFreeHost(void* pointer) { return __emulated::release_if(true, pointer); }

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (!__emulated::is_within_device(to, from)) cudaStreamSynchronize(nullptr);
  return __emulated::copy(to, from, bytes, kind);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const cudaError_t status = __emulated::copy(to, from, bytes, kind);
  if (status == cudaSuccess) __emulated::leave_behind(to, from, bytes, stream);
  return status;
}

cudaError_t cudaMemset(void* begin, int value, size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (!__emulated::sides_of(begin, bytes).device) return __emulated::noted(cudaErrorInvalidValue);
  const __emulated::ClosedMemory::Open open;
  std::memset(begin, value, bytes);
  __emulated::mark_written(begin, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
  cudaError_t status = __emulated::error_unless(width <= to_pitch && width <= from_pitch);
  for (size_t row = 0; row < height && status == cudaSuccess; ++row) {
    status = cudaMemcpy(static_cast<std::byte*>(to) + row * to_pitch,
                        static_cast<const std::byte*>(from) + row * from_pitch, width, kind);
  }
  return status;
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  cudaError_t status = __emulated::error_unless(width <= to_pitch && width <= from_pitch);
  for (size_t row = 0; row < height && status == cudaSuccess; ++row) {
    status = cudaMemcpyAsync(static_cast<std::byte*>(to) + row * to_pitch,
                             static_cast<const std::byte*>(from) + row * from_pitch, width, kind, stream);
  }
  return status;
}
cudaError_t cudaMemset2D(void* begin, size_t pitch, int value, size_t width, size_t height) {
  cudaError_t status = __emulated::error_unless(width <= pitch);
  for (size_t row = 0; row < height && status == cudaSuccess; ++row)
    status = cudaMemset(static_cast<std::byte*>(begin) + row * pitch, value, width);
  return status;
}
