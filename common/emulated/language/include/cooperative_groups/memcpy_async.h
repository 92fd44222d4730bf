#pragma once
/// \file
/// Stands in for CUDA's header of this name on the emulated device. (CUDA C++ Programming Guide, "Cooperative Groups",
/// memcpy_async)

#include <cooperative_groups.h>

#include <algorithm>

namespace cooperative_groups {

/// All threads of the group copy a part each, `bytes` of them together. wait() says when they have come.
template <typename Group, typename T, typename Bytes>
__EMULATED_INLINE void memcpy_async(const Group& group, T* to, const T* from, const Bytes& bytes) {
  ::__emulated::copy_part(to, from, bytes, group.thread_rank(), group.size());
  ::__emulated::commit_copies();
}
/// The same of so many elements as both have.
template <typename Group, typename T, typename Length, typename SourceLength>
__EMULATED_INLINE void memcpy_async(const Group& group, T* to, const Length& length, const T* from,
                                    const SourceLength& source_length) {
  const std::size_t count = std::min<std::size_t>(length, source_length);
  memcpy_async(group, to, from, count * sizeof(T));
}

/// Waits for all copies of the group but the last ones.
template <unsigned last, typename Group> __EMULATED_INLINE void wait_prior(const Group& group) {
  ::__emulated::wait_for_copies(last);
  group.sync();
}
template <typename Group> __EMULATED_INLINE void wait(const Group& group) { wait_prior<0>(group); }

}  // namespace cooperative_groups
