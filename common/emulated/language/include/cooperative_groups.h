#pragma once
/// \file
/// Stands in for CUDA's header of this name on the emulated device: groups of threads, as far as they are made of barriers of
/// the block and functions of a warp. (CUDA C++ Programming Guide, "Cooperative Groups")

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
  __EMULATED_INLINE void sync() const { __syncthreads(); }
  unsigned thread_rank() const { return details::rank_in_block(); }
  unsigned num_threads() const { return blockDim.x * blockDim.y * blockDim.z; }
  unsigned size() const { return num_threads(); }
  dim3 group_index() const { return dim3{blockIdx}; }
  dim3 thread_index() const { return dim3{threadIdx}; }
  dim3 group_dim() const { return dim3{blockDim}; }
  dim3 dim_threads() const { return dim3{blockDim}; }
};
inline thread_block this_thread_block() { return {}; }

/// What tiles of several warps exchange their values in.
template <unsigned threads = 1024> struct block_tile_memory {
  static_assert(__emulated::supports<block_tile_memory>,
                "block_tile_memory: tiles of more than 32 threads are not modelled on the emulated device: "
                "use a thread_block");
};
template <typename Scratch> thread_block this_thread_block(Scratch&) {
  static_assert(
      __emulated::supports<Scratch>,
      "this_thread_block(scratch): tiles of more than 32 threads are not modelled on the emulated device: "
      "use a thread_block");
  return {};
}

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

 private:
  __EMULATED_INLINE const Group& group() const { return static_cast<const Group&>(*this); }
};

}  // namespace details

/// Lanes of one warp.
class coalesced_group : public details::group_of_lanes<coalesced_group> {
 public:
  explicit coalesced_group(unsigned lanes) : lanes_{lanes} {}

  unsigned thread_rank() const {
    return static_cast<unsigned>(__popc(lanes_ & ((1U << details::lane()) - 1)));
  }
  unsigned num_threads() const { return static_cast<unsigned>(__popc(lanes_)); }
  unsigned size() const { return num_threads(); }
  unsigned meta_group_size() const { return 1; }
  unsigned meta_group_rank() const { return 0; }

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

  unsigned lanes_;
};
/// The lanes of the warp that come by this call together.
__EMULATED_INLINE coalesced_group coalesced_threads() { return coalesced_group{__activemask()}; }

/// A part of a warp, of a size known to the compiler.
template <unsigned count, typename Parent = thread_block>
class thread_block_tile : public details::group_of_lanes<thread_block_tile<count, Parent>> {
  static_assert(count != 0 && (count & (count - 1)) == 0, "a tile has a power of two threads");
  static_assert(
      count <= 32,
      "tiled_partition: tiles of more than 32 threads are not modelled on the emulated device: use a "
      "thread_block");

 public:
  unsigned thread_rank() const { return details::rank_in_block() % count; }
  static constexpr unsigned num_threads() { return count; }
  static constexpr unsigned size() { return count; }
  unsigned meta_group_rank() const { return details::rank_in_block() / count; }
  unsigned meta_group_size() const { return (this_thread_block().num_threads() + count - 1) / count; }

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

  template <typename T> __EMULATED_INLINE unsigned match_all(T value, int& is_same) const {
    return by_rank(__match_all_sync(lanes(), value, &is_same));
  }

  unsigned lanes() const { return details::lanes_of_part(count); }
  unsigned by_rank(unsigned of_lanes) const {
    return (of_lanes & lanes()) >> details::lane() / count * count;
  }
};

/// Any of these groups, as a parameter of a function that takes them all.
class thread_group {
 public:
  thread_group(const thread_block&) {}
  thread_group(const coalesced_group& group) : lanes_{group.lanes()} {}
  template <unsigned count, typename Parent>
  thread_group(const thread_block_tile<count, Parent>& tile) : lanes_{tile.lanes()} {}

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

 private:
  unsigned lanes_ = 0;  ///< of one warp, or 0: the whole block
};

template <unsigned count, typename Parent> thread_block_tile<count, Parent> tiled_partition(const Parent&) {
  return {};
}
inline thread_group tiled_partition(const thread_group&, unsigned count) {
  return coalesced_group{details::lanes_of_part(count)};
}

/// All threads of a launch.
class grid_group {
 public:
  unsigned long long num_threads() const {
    return static_cast<unsigned long long>(num_blocks()) * this_thread_block().num_threads();
  }
  unsigned long long size() const { return num_threads(); }
  unsigned long long thread_rank() const {
    return static_cast<unsigned long long>(block_rank()) * this_thread_block().num_threads() +
           details::rank_in_block();
  }
  unsigned num_blocks() const { return gridDim.x * gridDim.y * gridDim.z; }
  unsigned block_rank() const { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
  dim3 block_index() const { return dim3{blockIdx}; }
  dim3 group_dim() const { return dim3{gridDim}; }
  dim3 dim_blocks() const { return dim3{gridDim}; }
  bool is_valid() const { return false; }  ///< of a launch that is not cooperative

  template <typename T = void> void sync() const {
    static_assert(
        __emulated::supports<T>,
        "grid_group::sync(): there is no barrier of a grid on the emulated device: end the kernel there, and "
        "launch another");
  }
};
inline grid_group this_grid() { return {}; }

template <typename Group> __EMULATED_INLINE void sync(const Group& group) { group.sync(); }
template <typename Grid = grid_group> void sync(const grid_group&) {
  static_assert(
      __emulated::supports<Grid>,
      "sync(grid): there is no barrier of a grid on the emulated device: end the kernel there, and launch "
      "another");
}
template <typename Group> unsigned thread_rank(const Group& group) { return group.thread_rank(); }
template <typename Group> unsigned group_size(const Group& group) { return group.size(); }

}  // namespace cooperative_groups
