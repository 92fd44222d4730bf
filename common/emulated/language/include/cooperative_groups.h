#pragma once
/// \file
/// Stands in for CUDA's header of this name on the emulated device: groups of threads, made of barriers of the block and of
/// parts of it, and of functions of a warp. (CUDA C++ Programming Guide, "Cooperative Groups")

#include "emulated/language/cuda.hpp"

namespace cooperative_groups {

namespace details {

inline unsigned rank_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
inline unsigned lane() { return rank_in_block() % 32; }

/// The lanes of a warp's part of `size` lanes that has the calling one.
inline unsigned lanes_of_part(unsigned size) {
  return (size == 32 ? 0xffffffff : (1U << size) - 1) << lane() / size * size;
}

/// The number-th lane of these, counted from 0; 32 where there are fewer.
inline unsigned lane_of_rank(unsigned lanes, unsigned number) {
  for (; number > 0; --number)
    lanes &= lanes - 1;
  return static_cast<unsigned>(std::countr_zero(lanes));
}

}  // namespace details

/// The threads of a block.
class thread_block {
 public:
  __EMULATED_INLINE static void sync() { __syncthreads(); }
  static unsigned thread_rank() { return details::rank_in_block(); }
  static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned size() { return num_threads(); }
  static dim3 group_index() { return dim3{blockIdx}; }
  static dim3 thread_index() { return dim3{threadIdx}; }
  static dim3 group_dim() { return dim3{blockDim}; }
  static dim3 dim_threads() { return dim3{blockDim}; }
};
inline thread_block this_thread_block() { return {}; }

/// What tiles of several warps exchange their values in on a GPU below compute capability 8.0.
template <unsigned threads = 1024> struct block_tile_memory {
  alignas(8) char scratch[32 + (threads + 31) / 32 * 8];
};
template <unsigned threads> thread_block this_thread_block(block_tile_memory<threads>&) { return {}; }

namespace details {

/// What groups of lanes of one warp have in common, by the lanes() of the group and its by_rank(), which has a bit for each rank.
template <typename Group> class group_of_lanes {
 public:
  __EMULATED_INLINE void sync() const { __syncwarp(group().lanes()); }
  __EMULATED_INLINE int any(int predicate) const { return __any_sync(group().lanes(), predicate); }
  __EMULATED_INLINE int all(int predicate) const { return __all_sync(group().lanes(), predicate); }
  __EMULATED_INLINE unsigned ballot(int predicate) const {
    return group().by_rank(__ballot_sync(group().lanes(), predicate));
  }
  template <typename T> __EMULATED_INLINE unsigned match_any(T value) const {
    return group().by_rank(__match_any_sync(group().lanes(), value));
  }
  template <typename T> __EMULATED_INLINE unsigned match_all(T value, int& is_same) const {
    return group().by_rank(__match_all_sync(group().lanes(), value, &is_same));
  }

 private:
  __EMULATED_INLINE const Group& group() const { return static_cast<const Group&>(*this); }
};

}  // namespace details

/// Lanes of one warp. A part of a group has a rank among all parts.
class coalesced_group : public details::group_of_lanes<coalesced_group> {
 public:
  explicit coalesced_group(unsigned lanes, unsigned meta_rank = 0, unsigned meta_size = 1)
      : lanes_{lanes}, meta_rank_{meta_rank}, meta_size_{meta_size} {}

  unsigned thread_rank() const {
    return static_cast<unsigned>(__popc(lanes_ & ((1U << details::lane()) - 1)));
  }
  unsigned num_threads() const { return static_cast<unsigned>(__popc(lanes_)); }
  unsigned size() const { return num_threads(); }
  unsigned meta_group_size() const { return meta_size_; }
  unsigned meta_group_rank() const { return meta_rank_; }

  /// Of the lanes of other ranks; one's own value where there is no such rank.
  template <typename T> __EMULATED_INLINE T shfl(T value, unsigned rank) const {
    return from_rank(value, rank);
  }
  template <typename T> __EMULATED_INLINE T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return from_rank(value, rank >= delta ? rank - delta : rank);
  }
  template <typename T> __EMULATED_INLINE T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return from_rank(value, rank + delta < num_threads() ? rank + delta : rank);
  }

  unsigned lanes() const { return lanes_; }
  unsigned by_rank(unsigned of_lanes) const {
    unsigned bits = 0;
    for (unsigned rank = 0; rank < num_threads(); ++rank)
      bits |= (of_lanes >> details::lane_of_rank(lanes_, rank) & 1) << rank;
    return bits;
  }

 private:
  template <typename T> __EMULATED_INLINE T from_rank(T value, unsigned rank) const {
    return __shfl_sync(lanes_, value, static_cast<int>(details::lane_of_rank(lanes_, rank)), 32);
  }

  unsigned lanes_, meta_rank_, meta_size_;
};
/// The lanes of the warp that come by this call together.
__EMULATED_INLINE coalesced_group coalesced_threads() { return coalesced_group{__activemask()}; }

namespace details {

/// What only a part of a warp can do.
template <unsigned count> class tile_of_lanes : public group_of_lanes<tile_of_lanes<count>> {
 public:
  template <typename T> __EMULATED_INLINE T shfl(T value, int rank) const {
    return __shfl_sync(lanes(), value, rank, count);
  }
  template <typename T> __EMULATED_INLINE T shfl_up(T value, unsigned delta) const {
    return __shfl_up_sync(lanes(), value, delta, count);
  }
  template <typename T> __EMULATED_INLINE T shfl_down(T value, unsigned delta) const {
    return __shfl_down_sync(lanes(), value, delta, count);
  }
  template <typename T> __EMULATED_INLINE T shfl_xor(T value, unsigned mask) const {
    return __shfl_xor_sync(lanes(), value, static_cast<int>(mask), count);
  }

  unsigned lanes() const { return lanes_of_part(count); }
  unsigned by_rank(unsigned of_lanes) const { return (of_lanes & lanes()) >> lane() / count * count; }
};

/// The barrier of the calling thread's tile: each tile of each size has one, beside the 16 that PTX knows.
__EMULATED_INLINE void meet_tile(unsigned count) {
  __emulated::named_barrier(16 + 1024 / count + rank_in_block() / count, count);
}

/// What several warps can do, all of which have to come. Values are shown to all between two of their barriers.
template <unsigned count> class tile_of_warps {
 public:
  __EMULATED_INLINE void sync() const { meet_tile(count); }
  template <typename T> __EMULATED_INLINE T shfl(T value, unsigned rank) const {
    return exchanged(value, [this, rank] { return shown<T>(rank); });
  }
  __EMULATED_INLINE int any(int predicate) const {
    return joined(__any_sync(0xffffffff, predicate), [](int a, int b) { return a | b; });
  }
  __EMULATED_INLINE int all(int predicate) const {
    return joined(__all_sync(0xffffffff, predicate), [](int a, int b) { return a & b; });
  }

  /// Joins the values that the warps have.
  template <typename T, typename Operation>
  __EMULATED_INLINE T joined(T of_warp, const Operation& operation) const {
    return exchanged(of_warp, [&] {
      T values[count / 32];
      for (unsigned warp = 0; warp < count / 32; ++warp)
        values[warp] = shown<T>(warp * 32);
      for (unsigned distance = count / 64; distance > 0; distance /= 2)
        for (unsigned warp = 0; warp < distance; ++warp)
          values[warp] = operation(values[warp], values[warp + distance]);
      return values[0];
    });
  }

  /// Joins the values of the last lanes of the warps before the calling thread's.
  template <typename T, typename Operation>
  __EMULATED_INLINE T joined_before(T of_lane, const Operation& operation) const {
    return exchanged(of_lane, [&] {
      T result{};
      for (unsigned warp = 0; warp < rank_in_block() % count / 32; ++warp)
        result = warp == 0 ? shown<T>(31) : operation(result, shown<T>(warp * 32 + 31));
      return result;
    });
  }

 private:
  template <typename T, typename Take> __EMULATED_INLINE T exchanged(T value, const Take& take) const {
    static_assert(sizeof(T) <= 8, "tiles of more than 32 threads exchange 8 bytes at most");
    __emulated::bring(std::as_bytes(std::span{&value, 1}));
    sync();
    const T result = take();
    sync();
    return result;
  }
  template <typename T> T shown(unsigned rank) const {
    T value;
    __emulated::take_from(rank_in_block() / count * count + rank % count,
                          std::as_writable_bytes(std::span{&value, 1}));
    return value;
  }
};

template <unsigned count>
using tile = std::conditional_t<(count <= 32), tile_of_lanes<count>, tile_of_warps<count>>;

}  // namespace details

/// A part of a block, of a size known to the compiler.
template <unsigned count, typename Parent = thread_block>
class thread_block_tile : public details::tile<count> {
  static_assert(count != 0 && count <= 1024 && (count & (count - 1)) == 0,
                "a tile has a power of two threads, 1024 at most");

 public:
  static unsigned thread_rank() { return details::rank_in_block() % count; }
  static constexpr unsigned num_threads() { return count; }
  static constexpr unsigned size() { return count; }
  static unsigned meta_group_rank() { return Parent::thread_rank() / count; }
  static unsigned meta_group_size() { return (Parent::num_threads() + count - 1) / count; }
};

/// Any of these groups, but for tiles of several warps, as a parameter of a function that takes them all.
class thread_group {
 public:
  thread_group(const thread_block&) {}
  thread_group(const coalesced_group& group) : lanes_{group.lanes()} {}
  template <unsigned count, typename Parent>
  requires(count <= 32) thread_group(const thread_block_tile<count, Parent>& tile) : lanes_{tile.lanes()} {}

  __EMULATED_INLINE void sync() const {
    if (lanes_ == 0) {
      __syncthreads();
    } else {
      __syncwarp(lanes_);
    }
  }
  unsigned thread_rank() const {
    return lanes_ == 0 ? details::rank_in_block() : coalesced_group{lanes_}.thread_rank();
  }
  unsigned num_threads() const {
    return lanes_ == 0 ? this_thread_block().num_threads() : coalesced_group{lanes_}.num_threads();
  }
  unsigned size() const { return num_threads(); }
  unsigned lanes() const { return lanes_; }

 private:
  unsigned lanes_ = 0;  ///< of one warp, or 0: the whole block
};

template <unsigned count, typename Parent> thread_block_tile<count, Parent> tiled_partition(const Parent&) {
  return {};
}
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned count) {
  const unsigned part = parent.thread_rank() / count;
  unsigned lanes = 0;
  for (unsigned rank = part * count; rank < min((part + 1) * count, parent.num_threads()); ++rank)
    lanes |= 1U << details::lane_of_rank(parent.lanes(), rank);
  return coalesced_group{lanes, part, (parent.num_threads() + count - 1) / count};
}
inline thread_group tiled_partition(const thread_group& parent, unsigned count) {
  if (parent.lanes() != 0) return tiled_partition(coalesced_group{parent.lanes()}, count);
  return coalesced_group{details::lanes_of_part(count)};
}

namespace details {

template <typename Group>
concept OfLanes = requires(const Group& group) {
  group.by_rank(group.lanes());
};

template <typename T> unsigned long long bits_of(T label) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<std::uintptr_t>(label);
  } else {
    return static_cast<unsigned long long>(label);
  }
}

}  // namespace details

/// Those threads of the group that bring the same as the calling one.
template <details::OfLanes Group, typename T>
requires std::is_integral_v<T> || std::is_pointer_v<T> __EMULATED_INLINE coalesced_group
labeled_partition(const Group& group, T label) {
  const unsigned lanes = __match_any_sync(group.lanes(), details::bits_of(label));
  const unsigned first = static_cast<unsigned>(std::countr_zero(lanes));
  const unsigned leaders = __ballot_sync(group.lanes(), first == details::lane());
  const auto rank = static_cast<unsigned>(__popc(leaders & ((1U << first) - 1)));
  return coalesced_group{lanes, rank, static_cast<unsigned>(__popc(leaders))};
}
template <details::OfLanes Group>
__EMULATED_INLINE coalesced_group binary_partition(const Group& group, bool predicate) {
  const unsigned all = group.lanes();
  const unsigned lanes = __ballot_sync(all, predicate);
  if (lanes == 0 || lanes == all) return coalesced_group{all};
  return coalesced_group{predicate ? lanes : all & ~lanes, predicate ? 1U : 0U, 2};
}
template <details::OfLanes Group>
__EMULATED_INLINE coalesced_group labeled_partition(const Group& group, bool label) {
  return binary_partition(group, label);
}

/// Has one thread of the group call the function,
template <typename Group, typename Function, typename... Arguments>
__EMULATED_INLINE void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
}
/// and all have the result.
template <details::OfLanes Group, typename Function, typename... Arguments>
__EMULATED_INLINE auto invoke_one_broadcast(const Group& group, Function&& function,
                                            Arguments&&... arguments) {
  std::decay_t<std::invoke_result_t<Function, Arguments...>> result{};
  if (group.thread_rank() == 0)
    result = std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
  return group.shfl(result, 0);
}

/// All threads of a launch.
class grid_group {
 public:
  static unsigned long long num_threads() {
    return static_cast<unsigned long long>(num_blocks()) * this_thread_block().num_threads();
  }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long thread_rank() {
    return static_cast<unsigned long long>(block_rank()) * this_thread_block().num_threads() +
           details::rank_in_block();
  }
  static unsigned num_blocks() { return gridDim.x * gridDim.y * gridDim.z; }
  static unsigned block_rank() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
  static dim3 block_index() { return dim3{blockIdx}; }
  static dim3 group_dim() { return dim3{gridDim}; }
  static dim3 dim_blocks() { return dim3{gridDim}; }
  bool is_valid() const { return __emulated::is_cooperative(); }
  __EMULATED_INLINE void sync() const { __emulated::grid_barrier(); }
};
inline grid_group this_grid() { return {}; }

template <typename Group> __EMULATED_INLINE void sync(const Group& group) { group.sync(); }
template <typename Group> auto thread_rank(const Group& group) { return group.thread_rank(); }
template <typename Group> auto group_size(const Group& group) { return group.size(); }

}  // namespace cooperative_groups
