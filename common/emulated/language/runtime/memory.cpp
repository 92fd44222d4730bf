#include "emulated/language/runtime/memory.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "emulated/language/runtime/capture.hpp"
#include "emulated/language/runtime/device.hpp"
#include "emulated/language/runtime/memory_pools.hpp"
#include "emulated/language/runtime/streams.hpp"
#include "emulated/memory/closed_memory.hpp"
#include "emulated/memory/lasting.hpp"
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
KnownMemory& known_memory() { return lasting<KnownMemory>(); }

/// What may use some bytes.
struct Sides {
  bool host, device;
};

Sides sides_of(const void* begin, std::size_t bytes) {
  const std::lock_guard lock{device_mutex()};
  const auto* const first = static_cast<const std::byte*>(begin);
  const auto& [host_buffers, variables] = known_memory();
  if (const auto near = last_until(variables, first); near != variables.end()) {
    const std::span variable{near->first, near->second};
    if (contains(variable, first)) return {false, contains(variable, first, bytes)};
  }
  const Buffer* const buffer = global_memory().nearest(first);
  if (buffer == nullptr) return {true, closed_memory().is_shared(first)};  // a `__managed__` variable is
  // Beside registered memory is the host's own.
  if (!buffer->contains(first, bytes)) return {buffer->is_static() && !buffer->contains(first, 1), false};
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

/// \param stream  in which it is released; else all are waited for.
cudaError_t release_if(bool (*is_right)(Allocation), void* pointer, const cudaStream_t* stream = nullptr) {
  if (pointer == nullptr) return cudaSuccess;
  if (const cudaError_t error = error_while_captured(cudaErrorStreamCaptureUnsupported)) return error;
  const auto* const begin = static_cast<const std::byte*>(pointer);
  const std::byte* end = nullptr;
  {
    std::unique_lock lock{device_mutex()};
    const Buffer* const buffer = global_memory().nearest(begin);
    auto& host_buffers = known_memory().host_buffers;
    const auto known = host_buffers.find(begin);
    const Allocation kind = known != host_buffers.end() ? known->second : Allocation::device;
    if (buffer == nullptr || buffer->begin() != begin || !is_right(kind)) {
      lock.unlock();
      return noted(cudaErrorInvalidValue);
    }
    host_buffers.erase(begin);
    end = begin + buffer->bytes();
  }
  if (stream == nullptr) {
    cudaDeviceSynchronize();
  } else if (closed_memory().is_on()) {
    host_order().add(*stream, {{begin, end, Operation::store, "cudaFreeAsync()", nullptr, 0}});
    host_order().report_overlap();
  }
  host_order().forget(begin, end);
  closed_memory().remove(begin);
  release(pointer);
  return cudaSuccess;
}

const char* text_of(Allocation kind) {
  switch (kind) {
    case Allocation::device: return "a global buffer";
    case Allocation::managed: return "managed memory";
    case Allocation::pinned: return "pinned memory";
    case Allocation::registered: return "registered memory";
  }
  return "";
}

/// What nothing has written, as behind the end of a list, may be copied to the host if nobody looks at it there. Fewer words may
/// pad a struct.
void note_unwritten(const void* begin, std::size_t bytes) {
  constexpr std::size_t least = 16;
  if (!closed_memory().is_on()) return;
  std::unique_lock lock{device_mutex()};
  const auto* const first = static_cast<const std::byte*>(begin);
  const Buffer* const buffer = global_memory().nearest(first);
  if (buffer == nullptr || !buffer->contains(first, bytes)) return;
  std::size_t at = static_cast<std::size_t>(first - buffer->begin());
  const std::size_t end = at + bytes;
  if (buffer->is_initialised(at, bytes) || buffer->has_taint(at, bytes)) return;
  std::size_t unwritten = at;
  for (; at < end && at - unwritten < least; at += word_bytes)
    if (buffer->is_initialised(at, 1)) unwritten = at + word_bytes;
  if (at < unwritten + least) return;
  HostAccess access{buffer->begin() + unwritten,
                    Operation::load,
                    buffer->describe(buffer->begin() + unwritten, word_bytes),
                    false,
                    {}};
  lock.unlock();
  access.function_of_library = "cudaMemcpy";
  access.is_unwritten = access.may_be_meant = true;
  closed_memory().report(access);
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return cudaSuccess;
  if (!can_copy(to, from, bytes, kind)) return noted(cudaErrorInvalidValue);
  if (sides_of(to, 1).host) note_unwritten(from, bytes);
  note_read(from, bytes);
  const ClosedMemory::Open open;
  std::memcpy(to, from, bytes);
  mark_written(to, bytes);
  return cudaSuccess;
}

cudaError_t set(void* begin, int value, std::size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (!sides_of(begin, bytes).device) return noted(cudaErrorInvalidValue);
  const ClosedMemory::Open open;
  std::memset(begin, value, bytes);
  mark_written(begin, bytes);
  return cudaSuccess;
}

bool is_managed_buffer(const void* pointer) {
  const std::lock_guard lock{device_mutex()};
  const Buffer* const buffer = global_memory().nearest(static_cast<const std::byte*>(pointer));
  return buffer != nullptr && known_memory().host_buffers[buffer->begin()] == Allocation::managed;
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
  const auto add = [&](const void* begin, Operation operation) {
    const auto* const first = static_cast<const std::byte*>(begin);
    if (sides_of(begin, 1).device) uses.push_back({first, first + bytes, operation, "a copy", nullptr, 0});
  };
  add(to, Operation::store);
  add(from, Operation::load);
  host_order().add(stream, std::move(uses));
  host_order().report_overlap();
  if (sides_of(to, 1).host && !closed_memory().is_shared(static_cast<const std::byte*>(to)))
    cudaStreamSynchronize(stream);
}

}  // namespace

cudaError_t allocate_as(Allocation kind, void** pointer, std::size_t bytes) try {
  *pointer = nullptr;
  if (const cudaError_t error = error_while_captured(cudaErrorStreamCaptureUnsupported)) return error;
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

namespace __emulated {
namespace {

bool can_be_freed(Allocation kind) { return kind == Allocation::device || kind == Allocation::managed; }

/// \param copy_row  copies, or sets, the row of a layer.
template <typename Row> cudaError_t for_rows(cudaExtent extent, bool has_room, const Row& row) {
  cudaError_t status = error_unless(has_room, cudaErrorInvalidPitchValue);
  for (size_t z = 0; z < extent.depth; ++z)
    for (size_t y = 0; y < extent.height && status == cudaSuccess; ++y)
      status = row(y, z);
  return status;
}

std::byte* row_of(const cudaPitchedPtr& volume, size_t x, size_t y, size_t z) {
  return static_cast<std::byte*>(volume.ptr) + (z * volume.ysize + y) * volume.pitch + x;
}

template <typename Copy> cudaError_t copy_volume(const cudaMemcpy3DParms& copy, const Copy& copy_row) {
  const cudaPos &from = copy.srcPos, &to = copy.dstPos;
  const size_t width = copy.extent.width;
  const bool has_room = from.x + width <= copy.srcPtr.pitch && to.x + width <= copy.dstPtr.pitch;
  return for_rows(copy.extent, has_room, [&](size_t y, size_t z) {
    return copy_row(row_of(copy.dstPtr, to.x, to.y + y, to.z + z),
                    row_of(copy.srcPtr, from.x, from.y + y, from.z + z), width, copy.kind);
  });
}

}  // namespace
}  // namespace __emulated

cudaError_t cudaFree(void* pointer) { return __emulated::release_if(__emulated::can_be_freed, pointer); }
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return __emulated::release_if(__emulated::can_be_freed, pointer, &stream);
}
cudaError_t cudaFreeHost(void* pointer) {
  return __emulated::release_if([](auto kind) { return kind == __emulated::Allocation::pinned; }, pointer);
}

cudaError_t cudaHostRegister(void* begin, size_t bytes, unsigned) {
  if (begin == nullptr || bytes == 0) return __emulated::noted(cudaErrorInvalidValue);
  auto* const first = static_cast<std::byte*>(begin);
  const std::lock_guard lock{__emulated::device_mutex()};
  if (!__emulated::global_memory().add_registered(first, bytes))
    return __emulated::noted(cudaErrorHostMemoryAlreadyRegistered);
  constexpr auto kind = __emulated::Allocation::registered;
  __emulated::closed_memory().add(first, bytes, __emulated::text_of(kind), true, false);
  __emulated::known_memory().host_buffers[first] = kind;
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* begin) {
  constexpr auto is_right = [](auto kind) { return kind == __emulated::Allocation::registered; };
  const cudaError_t status =
      begin == nullptr ? __emulated::noted(cudaErrorInvalidValue) : __emulated::release_if(is_right, begin);
  return status == cudaSuccess ? status : __emulated::noted(cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  const auto [on_host, on_device] = __emulated::sides_of(pointer, 1);
  auto* const address = const_cast<void*>(pointer);
  *attributes = {cudaMemoryTypeUnregistered, on_device ? 0 : cudaInvalidDeviceId, nullptr, address};
  if (!on_device) return cudaSuccess;
  const bool is_managed = on_host && __emulated::is_managed_buffer(pointer);
  attributes->type = !on_host     ? cudaMemoryTypeDevice
                     : is_managed ? cudaMemoryTypeManaged
                                  : cudaMemoryTypeHost;
  attributes->devicePointer = address;
  if (!on_host) attributes->hostPointer = nullptr;
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (const cudaError_t error = __emulated::error_while_captured(cudaErrorStreamCaptureImplicit))
    return error;
  const cudaError_t status = __emulated::copy(to, from, bytes, kind);
  if (status == cudaSuccess) __emulated::leave_behind(to, from, bytes, nullptr);
  if (!__emulated::is_within_device(to, from)) cudaStreamSynchronize(nullptr);
  return status;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const auto copy_later = [=](cudaStream_t in) { return cudaMemcpyAsync(to, from, bytes, kind, in); };
  if (const auto kept = __emulated::captured(stream, cudaGraphNodeTypeMemcpy, copy_later)) return *kept;
  const cudaError_t status = __emulated::copy(to, from, bytes, kind);
  if (status == cudaSuccess) __emulated::leave_behind(to, from, bytes, stream);
  return status;
}

cudaError_t cudaMemset(void* begin, int value, size_t bytes) {
  if (const cudaError_t error = __emulated::error_while_captured(cudaErrorStreamCaptureImplicit))
    return error;
  const cudaError_t status = __emulated::set(begin, value, bytes);
  const bool is_shared = __emulated::closed_memory().is_shared(static_cast<std::byte*>(begin));
  if (status == cudaSuccess && !is_shared) __emulated::leave_behind(begin, begin, bytes, nullptr);
  return status;
}
cudaError_t cudaMemsetAsync(void* begin, int value, size_t bytes, cudaStream_t stream) {
  const auto set_later = [=](cudaStream_t in) { return cudaMemsetAsync(begin, value, bytes, in); };
  if (const auto kept = __emulated::captured(stream, cudaGraphNodeTypeMemset, set_later)) return *kept;
  const cudaError_t status = __emulated::set(begin, value, bytes);
  if (status == cudaSuccess) __emulated::leave_behind(begin, begin, bytes, stream);
  return status;
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) { return __emulated::copy_volume(*copy, cudaMemcpy); }
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream) {
  const auto copy_later = [copy = *copy](cudaStream_t in) { return cudaMemcpy3DAsync(&copy, in); };
  if (const auto kept = __emulated::captured(stream, cudaGraphNodeTypeMemcpy, copy_later)) return *kept;
  return __emulated::copy_volume(*copy, [=](void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpyAsync(to, from, bytes, kind, stream);
  });
}
cudaError_t cudaMemset3D(cudaPitchedPtr volume, int value, cudaExtent extent) {
  return __emulated::for_rows(extent, extent.width <= volume.pitch, [&](size_t y, size_t z) {
    return cudaMemset(__emulated::row_of(volume, 0, y, z), value, extent.width);
  });
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr volume, int value, cudaExtent extent, cudaStream_t stream) {
  const auto set_later = [=](cudaStream_t in) { return cudaMemset3DAsync(volume, value, extent, in); };
  if (const auto kept = __emulated::captured(stream, cudaGraphNodeTypeMemset, set_later)) return *kept;
  return __emulated::for_rows(extent, extent.width <= volume.pitch, [&](size_t y, size_t z) {
    return cudaMemsetAsync(__emulated::row_of(volume, 0, y, z), value, extent.width, stream);
  });
}

// ---- pools ----

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
  *pool = std::make_unique<CUmemPoolHandle_st>().release();
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  if (pool == &__emulated::default_pool) return __emulated::noted(cudaErrorInvalidValue);
  const std::unique_ptr<CUmemPoolHandle_st> to_be_deleted{pool};
  return cudaSuccess;
}
namespace {

size_t bytes_of(cudaMemPoolAttr attribute) {
  return attribute < cudaMemPoolAttrReleaseThreshold ? sizeof(int) : sizeof(std::uint64_t);
}

}  // namespace
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  std::memcpy(&pool->attributes.at(attribute), value, bytes_of(attribute));
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  std::memcpy(value, &pool->attributes.at(attribute), bytes_of(attribute));
  return cudaSuccess;
}
