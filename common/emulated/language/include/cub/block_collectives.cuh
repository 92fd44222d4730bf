#pragma once
/// \file
/// In place of CUB: what a block does together. As CUB's own it exchanges values in the storage that it is given, between barriers:
/// to use that again takes another one. (CUB, "Block-wide collective primitives")

#include <cub/warp_collectives.cuh>

#include <functional>

namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

namespace details {

/// What is common to the collectives of a block: the storage that the caller gives, or one of its own.
template <typename Storage, int threads> class BlockCollective {
 public:
  using TempStorage = Storage;
  explicit BlockCollective(TempStorage& storage) : storage_{storage} { __emulated::say_of_cub(); }
  BlockCollective() : BlockCollective{own_storage()} {}

 protected:
  static constexpr int warps = (threads + 31) / 32;

  TempStorage& storage_;
  const int thread_ = thread_of_block();
  const int warp_ = thread_ / 32;
  const Lanes lanes_ = part_of_warp(32);

 private:
  static TempStorage& own_storage() {
    TempStorage& storage = __emulated::shared_variable([] { return "TempStorage"; });
    return storage;
  }
};

}  // namespace details

template <typename T, int x, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int y = 1, int z = 1,
          int = 0>
class BlockReduce : public details::BlockCollective<details::Room<T, (x * y * z + 31) / 32>, x * y * z> {
  using Base = details::BlockCollective<details::Room<T, (x * y * z + 31) / 32>, x * y * z>;

 public:
  using Base::Base;

  /// Of the first thread; those of others are undefined. \param valid  threads whose values count.
  template <typename Operation> T Reduce(T value, Operation operation, int valid = x * y * z) {
    value = this->lanes_.reduced(value, operation, valid - this->warp_ * 32);
    if (this->lanes_.lane == 0) this->storage_[this->warp_] = value;
    __syncthreads();
    if (this->thread_ != 0) {
      details::leave_undefined(value);
      return value;
    }
    for (int warp = 1; warp < Base::warps && warp * 32 < valid; ++warp)
      value = operation(value, this->storage_[warp]);
    return value;
  }
  template <int count, typename Operation> T Reduce(T (&values)[count], Operation operation) {
    T value = values[0];
    for (int i = 1; i < count; ++i)
      value = operation(value, values[i]);
    return Reduce(value, operation);
  }
  T Sum(T value, int valid = x * y * z) { return Reduce(value, cub::Sum{}, valid); }
  template <int count> T Sum(T (&values)[count]) { return Reduce(values, cub::Sum{}); }
};

namespace details {

template <typename T, int warps> struct ScanStorage {
  Room<T, warps> of_warps;
  Room<T, 1> prefix;
};

}  // namespace details

template <typename T, int x, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int y = 1, int z = 1, int = 0>
class BlockScan : public details::BlockCollective<details::ScanStorage<T, (x * y * z + 31) / 32>, x * y * z> {
  using Base = details::BlockCollective<details::ScanStorage<T, (x * y * z + 31) / 32>, x * y * z>;

 public:
  using Base::Base;

  // Each of a value or of an array of them; `rest` is the block's aggregate, or who is asked for the prefix.
  template <typename V, typename... Rest> void InclusiveSum(const V& values, V& results, Rest&&... rest) {
    InclusiveScan(values, results, cub::Sum{}, rest...);
  }
  template <typename V, typename... Rest> void ExclusiveSum(const V& values, V& results, Rest&&... rest) {
    if constexpr ((std::is_same_v<std::remove_cvref_t<Rest>, T> && ...)) {
      ExclusiveScan(values, results, T{}, cub::Sum{}, rest...);
    } else {
      ExclusiveScan(values, results, cub::Sum{}, rest...);
    }
  }
  template <typename V, typename Operation, typename... Rest>
  void InclusiveScan(const V& values, V& results, Operation operation, Rest&&... rest) {
    scan(false, items_of(values), items_of(results), nullptr, operation, rest...);
  }
  template <typename V, typename Operation, typename... Rest>
  requires std::is_invocable_v<Operation, T, T>
  void ExclusiveScan(const V& values, V& results, Operation operation, Rest&&... rest) {
    scan(true, items_of(values), items_of(results), nullptr, operation, rest...);
  }
  template <typename V, typename Operation, typename... Rest>
  void ExclusiveScan(const V& values, V& results, T first, Operation operation, Rest&&... rest) {
    scan(true, items_of(values), items_of(results), &first, operation, rest...);
  }

 private:
  template <std::size_t count> static std::span<const T, count> items_of(const T (&items)[count]) {
    return items;
  }
  template <std::size_t count> static std::span<T, count> items_of(T (&items)[count]) { return items; }
  static std::span<const T, 1> items_of(const T& item) { return std::span<const T, 1>{&item, 1}; }
  static std::span<T, 1> items_of(T& item) { return std::span<T, 1>{&item, 1}; }

  template <std::size_t count, typename Operation, typename... Rest>
  void scan(bool is_exclusive, std::span<const T, count> values, std::span<T, count> results, const T* first,
            const Operation& operation, Rest&... rest) {
    T own = values[0];
    for (std::size_t i = 1; i < count; ++i)
      own = operation(own, values[i]);
    const T inclusive = this->lanes_.scanned(own, operation);
    const T of_lane_before = this->lanes_.of_lane_before(inclusive);
    auto& [of_warps, prefix] = this->storage_;
    if (this->lanes_.lane == this->lanes_.count() - 1) of_warps[this->warp_] = inclusive;
    __syncthreads();
    // What is before this thread, if anything is.
    T before = first != nullptr ? *first : own;
    bool has_before = first != nullptr;
    const auto append = [&](const T& value) {
      before = has_before ? operation(before, value) : value;
      has_before = true;
    };
    T sum = of_warps[0];
    for (int warp = 1; warp < Base::warps; ++warp) {
      if (warp == this->warp_) append(sum);
      sum = operation(sum, of_warps[warp]);
    }
    if (this->lanes_.lane != 0) append(of_lane_before);
    if constexpr ((std::is_same_v<Rest, T> && ...)) {
      ((rest = sum), ...);
    } else {
      if (this->warp_ == 0) {
        const T asked = (rest(sum), ...);
        if (this->thread_ == 0) prefix[0] = asked;
      }
      __syncthreads();
      before = has_before ? operation(prefix[0], before) : prefix[0];
      has_before = true;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const T next = has_before ? operation(before, values[i]) : values[i];
      if (!has_before) details::leave_undefined(before);
      results[i] = is_exclusive ? before : next;
      before = next;
      has_before = true;
    }
  }
};

/// Each thread has `count` items: in blocked order the ones after those of the thread before, striped all `threads` ones.
template <typename T, int x, int count, bool = false, int y = 1, int z = 1, int = 0>
class BlockExchange : public details::BlockCollective<details::Room<T, x * y * z * count>, x * y * z> {
  using Base = details::BlockCollective<details::Room<T, x * y * z * count>, x * y * z>;

 public:
  using Base::Base;

  void StripedToBlocked(const T (&from)[count], T (&to)[count]) {
    move(from, to, &BlockExchange::striped, &BlockExchange::blocked);
  }
  void BlockedToStriped(const T (&from)[count], T (&to)[count]) {
    move(from, to, &BlockExchange::blocked, &BlockExchange::striped);
  }
  void WarpStripedToBlocked(const T (&from)[count], T (&to)[count]) {
    move(from, to, &BlockExchange::striped_in_warp, &BlockExchange::blocked, true);
  }
  void BlockedToWarpStriped(const T (&from)[count], T (&to)[count]) {
    move(from, to, &BlockExchange::blocked, &BlockExchange::striped_in_warp, true);
  }
  template <typename Rank>
  void ScatterToBlocked(const T (&from)[count], T (&to)[count], Rank (&ranks)[count]) {
    move(from, to, by_rank(ranks), &BlockExchange::blocked);
  }
  template <typename Rank>
  void ScatterToStriped(const T (&from)[count], T (&to)[count], Rank (&ranks)[count]) {
    move(from, to, by_rank(ranks), &BlockExchange::striped);
  }
  void StripedToBlocked(T (&items)[count]) { StripedToBlocked(items, items); }
  void BlockedToStriped(T (&items)[count]) { BlockedToStriped(items, items); }
  template <typename Rank> void ScatterToBlocked(T (&items)[count], Rank (&ranks)[count]) {
    ScatterToBlocked(items, items, ranks);
  }
  template <typename Rank> void ScatterToStriped(T (&items)[count], Rank (&ranks)[count]) {
    ScatterToStriped(items, items, ranks);
  }

  /// Of an item in memory, by a BlockLoadAlgorithm or a BlockStoreAlgorithm.
  int place(int algorithm, int i) const {
    if (algorithm >= BLOCK_LOAD_WARP_TRANSPOSE) return striped_in_warp(i);
    const bool is_striped = algorithm == BLOCK_LOAD_STRIPED || algorithm == BLOCK_LOAD_TRANSPOSE;
    return is_striped ? striped(i) : blocked(i);
  }
  int blocked(int i) const { return this->thread_ * count + i; }
  int striped(int i) const { return i * x * y * z + this->thread_; }
  int striped_in_warp(int i) const {
    return this->warp_ * 32 * count + i * this->lanes_.count() + this->lanes_.lane;
  }

 private:
  template <typename Rank> static auto by_rank(const Rank (&ranks)[count]) {
    return [&ranks](const BlockExchange&, int i) { return static_cast<int>(ranks[i]); };
  }

  /// \param put, get  the place of an item in the storage.
  template <typename Put, typename Get>
  void move(const T (&from)[count], T (&to)[count], const Put& put, const Get& get, bool in_warp = false) {
    for (int i = 0; i < count; ++i)
      this->storage_[std::invoke(put, *this, i)] = from[i];
    if (in_warp) {
      __syncwarp(this->lanes_.lanes);
    } else {
      __syncthreads();
    }
    for (int i = 0; i < count; ++i)
      to[i] = this->storage_[std::invoke(get, *this, i)];
  }
};

template <typename T, int x, int count, BlockLoadAlgorithm algorithm = BLOCK_LOAD_DIRECT, int y = 1,
          int z = 1, int = 0>
class BlockLoad : public BlockExchange<T, x, count, false, y, z> {
  using Base = BlockExchange<T, x, count, false, y, z>;

 public:
  using Base::Base;

  template <typename Iterator> void Load(Iterator from, T (&items)[count], int valid = x * y * z * count) {
    for (int i = 0; i < count; ++i) {
      const int place = this->place(algorithm, i);
      if (place < valid) items[i] = from[place];
    }
    if constexpr (algorithm >= BLOCK_LOAD_WARP_TRANSPOSE) {
      this->WarpStripedToBlocked(items, items);
    } else if constexpr (algorithm == BLOCK_LOAD_TRANSPOSE) {
      this->StripedToBlocked(items, items);
    }
  }
  template <typename Iterator, typename Default>
  void Load(Iterator from, T (&items)[count], int valid, Default instead) {
    for (T& item : items)
      item = static_cast<T>(instead);
    Load(from, items, valid);
  }
};

template <typename T, int x, int count, BlockStoreAlgorithm algorithm = BLOCK_STORE_DIRECT, int y = 1,
          int z = 1, int = 0>
class BlockStore : public BlockExchange<T, x, count, false, y, z> {
  using Base = BlockExchange<T, x, count, false, y, z>;

 public:
  using Base::Base;

  template <typename Iterator> void Store(Iterator to, T (&items)[count], int valid = x * y * z * count) {
    if constexpr (algorithm >= BLOCK_STORE_WARP_TRANSPOSE) {
      this->BlockedToWarpStriped(items, items);
    } else if constexpr (algorithm == BLOCK_STORE_TRANSPOSE) {
      this->BlockedToStriped(items, items);
    }
    for (int i = 0; i < count; ++i) {
      const int place = this->place(algorithm, i);
      if (place < valid) to[place] = items[i];
    }
  }
};

template <typename T, int x, int count, int bins, BlockHistogramAlgorithm = BLOCK_HISTO_SORT, int y = 1,
          int z = 1, int = 0>
class BlockHistogram : public details::BlockCollective<NullType, x * y * z> {
 public:
  using details::BlockCollective<NullType, x * y * z>::BlockCollective;

  template <typename Count> void InitHistogram(Count (&counts)[bins]) {
    for (int bin = this->thread_; bin < bins; bin += x * y * z)
      counts[bin] = 0;
  }
  template <typename Count> void Composite(T (&items)[count], Count (&counts)[bins]) {
    for (const T item : items)
      atomicAdd(&counts[static_cast<int>(item)], Count{1});
  }
  template <typename Count> void Histogram(T (&items)[count], Count (&counts)[bins]) {
    InitHistogram(counts);
    __syncthreads();
    Composite(items, counts);
  }
};

namespace details {

/// A key's bits in the order of the keys.
template <typename Key> auto ordered_bits(Key key) {
  using Bits = std::conditional_t<
      sizeof(Key) == 1, unsigned char,
      std::conditional_t<sizeof(Key) == 2, unsigned short,
                         std::conditional_t<sizeof(Key) == 4, unsigned, unsigned long long>>>;
  const Bits bits = std::bit_cast<Bits>(key);
  constexpr Bits sign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
  if constexpr (std::is_unsigned_v<Key>) {
    return bits;
  } else if constexpr (std::is_integral_v<Key>) {
    return static_cast<Bits>(bits ^ sign);
  } else {
    return static_cast<Bits>((bits & sign) != 0 ? ~bits : bits | sign);
  }
}

template <typename Key, typename Value, int threads, int count> union SortStorage {
  Room<unsigned short, 16 * threads> counts;
  ScanStorage<int, (threads + 31) / 32> sums;
  Room<Key, threads * count> keys;
  Room<Value, threads * count> values;
};

}  // namespace details

/// By four bits at a time.
template <typename Key, int x, int count, typename Value = NullType, int = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int = 0, int y = 1, int z = 1, int = 0>
class BlockRadixSort
    : public details::BlockCollective<details::SortStorage<Key, Value, x * y * z, count>, x * y * z> {
  static constexpr int threads = x * y * z;
  static constexpr int all_bits = static_cast<int>(sizeof(Key)) * 8;
  using Base = details::BlockCollective<details::SortStorage<Key, Value, threads, count>, threads>;

 public:
  using Base::Base;

  void Sort(Key (&keys)[count], int begin = 0, int end = all_bits) { sort(false, begin, end, keys); }
  void Sort(Key (&keys)[count], Value (&values)[count], int begin = 0, int end = all_bits) {
    sort(false, begin, end, keys, values);
  }
  void SortDescending(Key (&keys)[count], int begin = 0, int end = all_bits) { sort(true, begin, end, keys); }
  void SortDescending(Key (&keys)[count], Value (&values)[count], int begin = 0, int end = all_bits) {
    sort(true, begin, end, keys, values);
  }
  void SortBlockedToStriped(Key (&keys)[count], int begin = 0, int end = all_bits) {
    Sort(keys, begin, end);
    exchange(this->storage_.keys).BlockedToStriped(keys);
  }
  void SortBlockedToStriped(Key (&keys)[count], Value (&values)[count], int begin = 0, int end = all_bits) {
    Sort(keys, values, begin, end);
    exchange(this->storage_.keys).BlockedToStriped(keys);
    exchange(this->storage_.values).BlockedToStriped(values);
  }

 private:
  /// For another use of the storage than the last one.
  template <typename T> auto exchange(details::Room<T, threads * count>& room) {
    __syncthreads();
    return BlockExchange<T, x, count, false, y, z>{room};
  }

  template <typename... V>
  void sort(bool is_descending, int begin, int end, Key (&keys)[count], V (&... values)[count]) {
    for (int bit = begin; bit < end; bit += 4) {
      const auto digit_of = [&](Key key) {
        const auto bits = details::ordered_bits(key);
        const int mask = (1 << (end - bit < 4 ? end - bit : 4)) - 1;
        const int digit = static_cast<int>(bits >> bit) & mask;
        return is_descending ? mask - digit : digit;
      };
      int counts[16]{}, ranks[count];
      for (int i = 0; i < count; ++i)
        ranks[i] = counts[digit_of(keys[i])]++;
      // Digit by digit, and of each thread by thread: the sums of all before are the places.
      if (bit != begin) __syncthreads();
      for (int digit = 0; digit < 16; ++digit)
        this->storage_.counts[digit * threads + this->thread_] = static_cast<unsigned short>(counts[digit]);
      __syncthreads();
      int own[16];
      for (int i = 0; i < 16; ++i)
        own[i] = this->storage_.counts[this->thread_ * 16 + i];
      __syncthreads();
      BlockScan<int, x, BLOCK_SCAN_WARP_SCANS, y, z>{this->storage_.sums}.ExclusiveSum(own, own);
      __syncthreads();
      for (int i = 0; i < 16; ++i)
        this->storage_.counts[this->thread_ * 16 + i] = static_cast<unsigned short>(own[i]);
      __syncthreads();
      for (int i = 0; i < count; ++i)
        ranks[i] += this->storage_.counts[digit_of(keys[i]) * threads + this->thread_];
      exchange(this->storage_.keys).ScatterToBlocked(keys, ranks);
      (exchange(this->storage_.values).ScatterToBlocked(values, ranks), ...);
    }
  }
};

}  // namespace cub
