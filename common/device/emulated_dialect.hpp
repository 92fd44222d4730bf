#pragma once
/// \file
/// The dialect of kernel.cuh for a host compiler: the parts of CUDA C++ that kernels use, on the emulated
/// device.

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <tuple>
#include <type_traits>

#include "device/emulated/access.hpp"
#include "device/emulated/builtin_variables.hpp"
#include "device/emulated/device.hpp"
#include "device/emulated/intrinsics.hpp"
#include "device/emulated/launch.hpp"
#include "device/emulated/traced.hpp"
#include "device/launch_config.hpp"

// Keywords of the language, which no function can stand for.
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

template <typename A, typename B> constexpr std::common_type_t<A, B> min(A a, B b) { return b < a ? b : a; }
template <typename A, typename B> constexpr std::common_type_t<A, B> max(A a, B b) { return a < b ? b : a; }

inline void __syncthreads(
    reduction::emulated::SourceLine where = reduction::emulated::SourceLine::current()) {
  reduction::emulated::block_barrier(where);
}

/// Whether any thread of the block brings a predicate that is not 0.
inline int __syncthreads_or(
    int predicate, reduction::emulated::SourceLine where = reduction::emulated::SourceLine::current()) {
  return reduction::emulated::block_barrier(where, predicate != 0) ? 1 : 0;
}

inline void __syncwarp(unsigned mask = 0xffffffff,
                       reduction::emulated::SourceLine where = reduction::emulated::SourceLine::current()) {
  reduction::emulated::warp_barrier(mask, where);
}

/// Orders what the calling thread did before with its atomic operations after.
inline void __threadfence() { reduction::emulated::memory_fence(); }

template <typename T>
T __shfl_sync(unsigned mask, T value, int source_lane, int width = warpSize,
              reduction::emulated::SourceLine where = reduction::emulated::SourceLine::current()) {
  using reduction::emulated::Shuffle;
  static_assert(sizeof(T) <= reduction::emulated::largest_access, "a shuffle moves 16 bytes at most");
  reduction::emulated::shuffle(Shuffle::indexed, mask, source_lane, width, &value, sizeof(T), where);
  return value;
}

template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                 reduction::emulated::SourceLine where = reduction::emulated::SourceLine::current()) {
  using reduction::emulated::Shuffle;
  static_assert(sizeof(T) <= reduction::emulated::largest_access, "a shuffle moves 16 bytes at most");
  reduction::emulated::shuffle(Shuffle::up, mask, static_cast<int>(delta), width, &value, sizeof(T), where);
  return value;
}

template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                   reduction::emulated::SourceLine where = reduction::emulated::SourceLine::current()) {
  using reduction::emulated::Shuffle;
  static_assert(sizeof(T) <= reduction::emulated::largest_access, "a shuffle moves 16 bytes at most");
  reduction::emulated::shuffle(Shuffle::down, mask, static_cast<int>(delta), width, &value, sizeof(T), where);
  return value;
}

template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize,
                  reduction::emulated::SourceLine where = reduction::emulated::SourceLine::current()) {
  using reduction::emulated::Shuffle;
  static_assert(sizeof(T) <= reduction::emulated::largest_access, "a shuffle moves 16 bytes at most");
  reduction::emulated::shuffle(Shuffle::exclusive_or, mask, lane_mask, width, &value, sizeof(T), where);
  return value;
}

/// What the lane `delta` higher up in the warp brings as `value`; its own for a lane that has none there. All 32 lanes
/// have to take part.
template <typename T>
T shuffle_down(T value, unsigned delta,
               reduction::emulated::SourceLine where = reduction::emulated::SourceLine::current()) {
  return __shfl_down_sync(0xffffffff, value, delta, warpSize, where);
}

/// As many neighbouring elements as one load of 16 bytes, the widest there is, brings.
template <typename T> struct alignas(16) Vector {
  static constexpr unsigned width = 16 / sizeof(T);
  T elements[width];

  T sum() const {
    T sum = elements[0];
    for (unsigned k = 1; k < width; ++k)
      sum += elements[k];
    return sum;
  }
};

/// Vector number i of those that begin at `from`, whose address is a multiple of 16, in one load.
template <typename T> REDUCTION_INLINE Vector<T> load_vector(const T* from, std::size_t i) {
  const T* const first = from + i * Vector<T>::width;
  reduction::emulated::record_load(first, sizeof(Vector<T>));
  Vector<T> loaded;
  std::memcpy(static_cast<void*>(loaded.elements), static_cast<const void*>(first), sizeof(loaded));
  return loaded;
}

/// Replaces *address by update(*address) as one indivisible operation and returns the value before it.
template <typename T, typename Update> REDUCTION_INLINE T update_atomically(T* address, Update update) {
  using Value = reduction::emulated::Untraced<T>;
  reduction::emulated::begin_atomic(address, sizeof(T));
  // One host thread at a time gets here, so plain accesses are indivisible; Traced<Value> has Value's layout.
  Value* const target = reinterpret_cast<Value*>(address);
  const Value before = *target;
  *target = update(before);
  return before;
}

/// Adds to *address.
template <typename T> REDUCTION_INLINE T atomicAdd(T* address, std::type_identity_t<T> value) {
  using Value = reduction::emulated::Untraced<T>;
  const Value summand = static_cast<Value>(value);
  return update_atomically(address, [&](Value before) { return static_cast<Value>(before + summand); });
}

/// Adds 1 to *address, or sets it to 0 where it is `last` already.
template <typename T> REDUCTION_INLINE T atomicInc(T* address, unsigned last) {
  return update_atomically(address, [&](unsigned before) { return before >= last ? 0 : before + 1; });
}

/// The pointer through which a kernel may store to its parameter's buffer, or nullptr.
template <typename Parameter> const void* output_of(const Parameter& parameter) {
  if constexpr (std::is_pointer_v<Parameter> && !std::is_const_v<std::remove_pointer_t<Parameter>>) {
    return parameter;
  }
  return nullptr;
}

/// Whether such pointers may hide within a parameter: a class, but for a Traced value.
template <typename Parameter>
inline constexpr bool may_hold_pointers =
    std::is_class_v<Parameter>&& std::is_same_v<Parameter, reduction::emulated::Untraced<Parameter>>;

namespace reduction::emulated {

/// Launches kernel(arguments...) and waits for it, as a launch in CUDA does.
template <typename... Parameters, typename... Arguments>
void launch(const LaunchConfig& config, void (*kernel)(Parameters...), const Arguments&... arguments) {
  using Kernel = void (*)(Parameters...);
  using Call = std::tuple<Kernel, Parameters...>;
  const Call call{kernel, static_cast<Parameters>(arguments)...};
  const auto run_thread = [](const void* opaque) {
    std::apply([](Kernel entry, const Parameters&... parameters) { entry(parameters...); },
               *static_cast<const Call*>(opaque));
  };
  // The first is not a parameter's: a kernel may have none.
  const auto outputs = std::apply(
      [](Kernel, const Parameters&... parameters) {
        return std::array<const void*, sizeof...(Parameters) + 1>{nullptr, output_of(parameters)...};
      },
      call);
  reduction::emulated::launch_grid(
      config, {run_thread, std::as_bytes(std::span{&call, 1}), reinterpret_cast<const void*>(kernel), outputs,
               (may_hold_pointers<Parameters> || ...)});
}

/// What the rewriter makes of `kernel<<<grid, block, shared_bytes, stream>>>`, to be called with the arguments.
template <typename... Parameters> class Launch {
 public:
  Launch(void (*kernel)(Parameters...), std::size_t grid, unsigned block, std::size_t shared_bytes = 0)
      : kernel_{kernel}, config_{grid, block, shared_bytes} {}

  template <typename... Arguments> void operator()(const Arguments&... arguments) const {
    launch(config_, kernel_, arguments...);
  }

 private:
  void (*kernel_)(Parameters...);
  LaunchConfig config_;
};

}  // namespace reduction::emulated

/// The number of blocks that are resident at once when `kernel` has the device to itself.
template <typename... Parameters>
std::size_t blocks_to_fill_device(void (*)(Parameters...), unsigned block, std::size_t shared_bytes) {
  return reduction::emulated::resident_blocks(block, shared_bytes);
}

/// Adds to *address, which other threads may be adding to: each component of a complex number as one indivisible
/// operation, so as two.
template <typename T> REDUCTION_INLINE void add_atomically(T* address, T value) {
  using Value = reduction::emulated::Untraced<T>;
  if constexpr (reduction::emulated::is_complex<Value>) {
    const Value summand = static_cast<Value>(value);
    auto* const parts = reinterpret_cast<typename Value::value_type*>(address);
    atomicAdd(&parts[0], summand.real());
    atomicAdd(&parts[1], summand.imag());
  } else {
    atomicAdd(address, value);
  }
}

/// Sets *address, in device memory, to zero before the next launch.
template <typename T> void set_to_zero(T* address) {
  std::memset(static_cast<void*>(address), 0, sizeof(T));
  reduction::emulated::mark_initialised(address, sizeof(T));
}
