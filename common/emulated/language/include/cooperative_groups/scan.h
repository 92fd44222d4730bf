#pragma once
/// \file
/// Stands in for CUDA's header of this name on the emulated device: each thread of a group has the values of those before it
/// joined, by as many shuffles as on a GPU. And what joins values, of which reduce.h knows, too.

#include <type_traits>

#include "cooperative_groups.h"

namespace cooperative_groups {

// (No function makes a name of a name.)
#define __EMULATED_OPERATION(name, joined)          \
  template <typename T = void> struct name {        \
    T operator()(T a, T b) const { return joined; } \
  };
__EMULATED_OPERATION(plus, a + b)
__EMULATED_OPERATION(less, b < a ? b : a)
__EMULATED_OPERATION(greater, a < b ? b : a)
__EMULATED_OPERATION(bit_and, (a & b))
__EMULATED_OPERATION(bit_or, a | b)
__EMULATED_OPERATION(bit_xor, a ^ b)
#undef __EMULATED_OPERATION

/// The thread's own value is one of them.
template <details::OfLanes Group, typename T, typename Operation>
__EMULATED_INLINE T inclusive_scan(const Group& group, T value, const Operation& operation) {
  for (unsigned distance = 1; distance < group.num_threads(); distance *= 2) {
    const T before = group.shfl_up(value, distance);
    if (group.thread_rank() >= distance) value = operation(value, before);
  }
  return value;
}

/// It is not: the first thread has `T{}`.
template <details::OfLanes Group, typename T, typename Operation>
__EMULATED_INLINE T exclusive_scan(const Group& group, T value, const Operation& operation) {
  const T inclusive = inclusive_scan(group, value, operation);
  if constexpr (std::is_same_v<Operation, plus<T>> && std::is_integral_v<T>) {
    return static_cast<T>(inclusive - value);
  } else {
    const T before = group.shfl_up(inclusive, 1);
    return group.thread_rank() == 0 ? T{} : before;
  }
}

// The same for several warps: each joins the values of its lanes first.
template <unsigned count, typename Parent, typename T, typename Operation>
requires(count > 32) __EMULATED_INLINE T
    inclusive_scan(const thread_block_tile<count, Parent>& tile, T value, const Operation& operation) {
  const T of_warp = inclusive_scan(tiled_partition<32>(tile), value, operation);
  const T before = tile.joined_before(of_warp, operation);
  return tile.thread_rank() < 32 ? of_warp : operation(of_warp, before);
}
template <unsigned count, typename Parent, typename T, typename Operation>
requires(count > 32) __EMULATED_INLINE T
    exclusive_scan(const thread_block_tile<count, Parent>& tile, T value, const Operation& operation) {
  const auto warp = tiled_partition<32>(tile);
  const T of_warp = inclusive_scan(warp, value, operation);
  const T before = tile.joined_before(of_warp, operation);
  const T of_lanes_before = warp.shfl_up(of_warp, 1);
  if (warp.thread_rank() == 0) return before;
  return tile.thread_rank() < 32 ? of_lanes_before : operation(of_lanes_before, before);
}

template <typename Group, typename T> __EMULATED_INLINE T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
template <typename Group, typename T> __EMULATED_INLINE T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
