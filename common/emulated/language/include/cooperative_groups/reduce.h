#pragma once
/// \file
/// Stands in for CUDA's header of this name on the emulated device. As on a GPU of compute capability 8.0 or above, whole
/// numbers of 4 bytes are reduced by one instruction of the warp, all other types by shuffles.

#include <type_traits>

#include "cooperative_groups/scan.h"

namespace cooperative_groups {

namespace details {

template <unsigned count, typename Parent, typename T, typename Operation>
__EMULATED_INLINE T reduce(const thread_block_tile<count, Parent>& tile, T value,
                           const Operation& operation) {
  for (unsigned distance = count / 2; distance > 0; distance /= 2)
    value = operation(value, tile.shfl_xor(value, distance));
  return value;
}

template <typename T, typename Operation>
__EMULATED_INLINE T reduce(const coalesced_group& group, T value, const Operation& operation) {
  if (group.num_threads() == 32) return reduce(thread_block_tile<32>{}, value, operation);
  return group.shfl(inclusive_scan(group, value, operation), group.num_threads() - 1);
}

template <typename Operation, template <typename> typename Template> inline constexpr bool is = false;
template <typename T, template <typename> typename Template>
inline constexpr bool is<Template<T>, Template> = true;

}  // namespace details

/// Joins the values of the group's threads; each gets the result.
template <typename Group, typename T, typename Operation>
__EMULATED_INLINE T reduce(const Group& group, T value, const Operation& operation) {
  constexpr bool is_word = std::is_same_v<T, int> || std::is_same_v<T, unsigned>;
  const auto natural = [](auto word) { return static_cast<unsigned>(word); };
  if constexpr (is_word && details::is<Operation, plus>) {
    return __reduce_add_sync(group.lanes(), value);
  } else if constexpr (is_word && details::is<Operation, less>) {
    return __reduce_min_sync(group.lanes(), value);
  } else if constexpr (is_word && details::is<Operation, greater>) {
    return __reduce_max_sync(group.lanes(), value);
  } else if constexpr (is_word && details::is<Operation, bit_and>) {
    return static_cast<T>(__reduce_and_sync(group.lanes(), natural(value)));
  } else if constexpr (is_word && details::is<Operation, bit_or>) {
    return static_cast<T>(__reduce_or_sync(group.lanes(), natural(value)));
  } else if constexpr (is_word && details::is<Operation, bit_xor>) {
    return static_cast<T>(__reduce_xor_sync(group.lanes(), natural(value)));
  } else {
    return details::reduce(group, value, operation);
  }
}

/// The same for several warps: each joins the values of its lanes first.
template <unsigned count, typename Parent, typename T, typename Operation>
requires(count > 32) __EMULATED_INLINE T
    reduce(const thread_block_tile<count, Parent>& tile, T value, const Operation& operation) {
  return tile.joined(reduce(tiled_partition<32>(tile), value, operation), operation);
}

}  // namespace cooperative_groups
