#pragma once
/// \file
/// In place of CUB: what a warp does together, by shuffles. (CUB, "Warp-wide collective primitives")

#include <cstring>
#include <limits>

#include "emulated/language/cuda.hpp"
#include "emulated/language/runtime/libraries.hpp"

namespace cub {

struct Sum {
  template <typename T, typename U> auto operator()(const T& a, const U& b) const { return a + b; }
};
struct Difference {
  template <typename T, typename U> auto operator()(const T& a, const U& b) const { return a - b; }
};
struct Max {
  template <typename T> T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
struct Min {
  template <typename T> T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
struct Equality {
  template <typename T, typename U> bool operator()(const T& a, const U& b) const { return a == b; }
};
struct Inequality {
  template <typename T, typename U> bool operator()(const T& a, const U& b) const { return a != b; }
};
template <typename Key, typename Value> struct KeyValuePair {
  Key key;
  Value value;
};
/// The smaller key wins among equal values.
struct ArgMax {
  template <typename Pair> Pair operator()(const Pair& a, const Pair& b) const {
    return a.value < b.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <typename Pair> Pair operator()(const Pair& a, const Pair& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct NullType {};

namespace details {

/// Room for elements that nobody constructs, as shared memory has it.
template <typename T, int count> struct Room {
  T& operator[](int index) { return reinterpret_cast<T*>(bytes)[index]; }
  alignas(T) unsigned char bytes[sizeof(T) * count];
};

/// What CUB leaves undefined: a value that is seen.
template <typename T> void leave_undefined(T& value) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    std::memset(static_cast<void*>(&value), 0xFF, sizeof(T));
  }
}

/// In pieces, where a value is larger than a shuffle moves.
template <typename T>
T exchanged(__emulated::Shuffle kind, unsigned lanes, const T& value, int operand, int width) {
  constexpr int piece = 16;
  alignas(T) std::byte bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  for (std::size_t begin = 0; begin < sizeof(T); begin += piece)
    __emulated::shuffle(kind, lanes, operand, width,
                        {bytes + begin, sizeof(T) - begin < piece ? sizeof(T) - begin : piece});
  T result = value;
  std::memcpy(static_cast<void*>(&result), bytes, sizeof(T));
  return result;
}

/// `width` lanes of one warp, or its first ones where the block ends.
struct Lanes {
  unsigned lanes;
  int lane, width;

  int count() const { return __popc(lanes); }

  /// Joins the values of the first `valid` lanes; the first one has the result.
  template <typename T, typename Operation> T reduced(T value, const Operation& operation, int valid) const {
    for (int distance = 1; distance < width; distance *= 2) {
      const T other = of_lane(value, lane + distance < count() ? lane + distance : lane);
      if (lane + distance < valid) value = operation(value, other);
    }
    return value;
  }
  template <typename T, typename Operation> T scanned(T value, const Operation& operation) const {
    for (int distance = 1; distance < width; distance *= 2) {
      const T other = exchanged(__emulated::Shuffle::up, lanes, value, distance, width);
      if (lane >= distance) value = operation(other, value);
    }
    return value;
  }
  template <typename T> T of_lane(const T& value, int source) const {
    return exchanged(__emulated::Shuffle::indexed, lanes, value, source, width);
  }
  template <typename T> T of_lane_before(const T& value) const {
    return exchanged(__emulated::Shuffle::up, lanes, value, 1, width);
  }
};

inline int thread_of_block() {
  return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

inline Lanes part_of_warp(int width) {
  const int thread = thread_of_block();
  const int threads = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
  const int begin = thread / width * width;
  const int count = threads - begin < width ? threads - begin : width;
  const unsigned all = count == 32 ? 0xffffffff : (1U << count) - 1;
  return {all << begin % 32, thread - begin, width};
}

}  // namespace details

/// What is common to the collectives of a warp.
template <typename T, int threads> class WarpCollective {
  static_assert(
      threads > 0 && threads <= 32 && (threads & (threads - 1)) == 0,
      "cub: logical warps of another size than a power of two are not modelled on the emulated device");

 public:
  struct TempStorage {};
  explicit WarpCollective(TempStorage&) { __emulated::say_of_cub(); }

 protected:
  const details::Lanes lanes_ = details::part_of_warp(threads);
};

template <typename T, int threads = 32, int = 0> class WarpReduce : public WarpCollective<T, threads> {
 public:
  using WarpCollective<T, threads>::WarpCollective;

  T Sum(T value, int valid = threads) { return Reduce(value, cub::Sum{}, valid); }
  T Max(T value, int valid = threads) { return Reduce(value, cub::Max{}, valid); }
  T Min(T value, int valid = threads) { return Reduce(value, cub::Min{}, valid); }
  /// Of the first lane; those of others are undefined.
  template <typename Operation> T Reduce(T value, Operation operation, int valid = threads) {
    T result = this->lanes_.reduced(value, operation, valid);
    if (this->lanes_.lane != 0) details::leave_undefined(result);
    return result;
  }
};

template <typename T, int threads = 32, int = 0> class WarpScan : public WarpCollective<T, threads> {
 public:
  using WarpCollective<T, threads>::WarpCollective;

  // `all` is the aggregate of all lanes, if it is asked for.
  template <typename... All> void InclusiveSum(T value, T& result, All&... all) {
    InclusiveScan(value, result, cub::Sum{}, all...);
  }
  template <typename... All> void ExclusiveSum(T value, T& result, All&... all) {
    ExclusiveScan(value, result, T{}, cub::Sum{}, all...);
  }
  template <typename Operation, typename... All>
  void InclusiveScan(T value, T& result, Operation operation, All&... all) {
    result = this->lanes_.scanned(value, operation);
    ((all = this->lanes_.of_lane(result, this->lanes_.count() - 1)), ...);
  }
  template <typename Operation> void ExclusiveScan(T value, T& result, Operation operation) {
    result = this->lanes_.of_lane_before(this->lanes_.scanned(value, operation));
    if (this->lanes_.lane == 0) details::leave_undefined(result);
  }
  template <typename Operation, typename... All>
  void ExclusiveScan(T value, T& result, T first, Operation operation, All&... all) {
    const T inclusive = this->lanes_.scanned(value, operation);
    const T before = this->lanes_.of_lane_before(inclusive);
    result = this->lanes_.lane == 0 ? first : operation(first, before);
    const T sum = this->lanes_.of_lane(inclusive, this->lanes_.count() - 1);
    ((all = sum), ...);
  }
  T Broadcast(T value, unsigned source) { return this->lanes_.of_lane(value, static_cast<int>(source)); }
};

}  // namespace cub
