#pragma once
/// \file
/// In place of CUB: algorithms of the whole device, which are Thrust's here. A first call, without storage, only asks how much of
/// it a second one takes. (CUB, "Device-wide primitives")

#include <thrust/algorithms.h>
#include <cub/block_collectives.cuh>

namespace cub {

template <typename T> using CountingInputIterator = thrust::counting_iterator<T>;
template <typename T> using ConstantInputIterator = thrust::constant_iterator<T>;
template <typename T, typename Operation, typename Iterator>
using TransformInputIterator = thrust::transform_iterator<Operation, Iterator, T>;

/// Two arrays of which one is current.
template <typename T> struct DoubleBuffer {
  T* d_buffers[2] = {nullptr, nullptr};
  int selector = 0;
  DoubleBuffer() = default;
  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[1 - selector]; }
};

struct CachingDeviceAllocator {
  template <typename... Options> explicit CachingDeviceAllocator(Options...) {}
  template <typename T> cudaError_t DeviceAllocate(T** pointer, std::size_t bytes, cudaStream_t = nullptr) {
    return cudaMalloc(pointer, bytes);
  }
  cudaError_t DeviceFree(void* pointer) { return cudaFree(pointer); }
  cudaError_t FreeAllCached() { return cudaSuccess; }
};

namespace details {

using Policy = thrust::execution_policy<true>;

template <typename Run> cudaError_t with_storage(void* storage, std::size_t& bytes, const Run& run) {
  if (storage == nullptr) {
    bytes = 1;
  } else {
    run();
  }
  return cudaSuccess;
}

template <typename Iterator, typename T> void give(cudaStream_t stream, Iterator to, const T& value) {
  thrust::fill(Policy{stream}, to, to + 1, value);
}

/// Keys in the order of some of their bits.
template <bool is_descending> struct ByBits {
  using __emulated_of_library = void;
  int begin, end;
  template <typename Key> auto bits_of(const Key& key) const {
    const auto bits = static_cast<unsigned long long>(ordered_bits(key)) >> begin;
    return end - begin == 64 ? bits : bits & ((1ULL << (end - begin)) - 1);
  }
  template <typename Key> bool operator()(const Key& a, const Key& b) const {
    return is_descending ? bits_of(b) < bits_of(a) : bits_of(a) < bits_of(b);
  }
};

}  // namespace details

struct DeviceReduce {
  template <typename I, typename O, typename N, typename Operation, typename T>
  static cudaError_t Reduce(void* storage, std::size_t& bytes, I in, O out, N count, Operation operation,
                            T init, cudaStream_t stream = nullptr) {
    return details::with_storage(storage, bytes, [&] {
      details::give(stream, out, thrust::reduce(details::Policy{stream}, in, in + count, init, operation));
    });
  }
// (No function makes a name of a name.)
#define __EMULATED_REDUCTION(name, operation, first)                                \
  template <typename I, typename O, typename N, typename T = std::iter_value_t<I>>  \
  static cudaError_t name(void* storage, std::size_t& bytes, I in, O out, N count,  \
                          cudaStream_t stream = nullptr) {                          \
    return Reduce(storage, bytes, in, out, count, operation<>{}, T(first), stream); \
  }
  __EMULATED_REDUCTION(Sum, thrust::plus, T{})
  __EMULATED_REDUCTION(Max, thrust::maximum, std::numeric_limits<T>::lowest())
  __EMULATED_REDUCTION(Min, thrust::minimum, std::numeric_limits<T>::max())
#undef __EMULATED_REDUCTION
// The first of the best ones.
#define __EMULATED_BEST(name, algorithm)                                                                   \
  template <typename I, typename O, typename N>                                                            \
  static cudaError_t name(void* storage, std::size_t& bytes, I in, O out, N count,                         \
                          cudaStream_t stream = nullptr) {                                                 \
    return details::with_storage(storage, bytes, [&] {                                                     \
      const int place = static_cast<int>(thrust::algorithm(details::Policy{stream}, in, in + count) - in); \
      std::iter_value_t<I> value;                                                                          \
      cudaMemcpy(&value, in + place, sizeof value, cudaMemcpyDefault);                                     \
      details::give(stream, out, KeyValuePair<int, std::iter_value_t<I>>{place, value});                   \
    });                                                                                                    \
  }
  __EMULATED_BEST(ArgMax, max_element)
  __EMULATED_BEST(ArgMin, min_element)
#undef __EMULATED_BEST
  template <typename I, typename O, typename N, typename Operation, typename F, typename T>
  static cudaError_t TransformReduce(void* storage, std::size_t& bytes, I in, O out, N count,
                                     Operation operation, F f, T init, cudaStream_t stream = nullptr) {
    return Reduce(storage, bytes, thrust::make_transform_iterator(in, f), out, count, operation, init,
                  stream);
  }
  template <typename K, typename U, typename I, typename O, typename R, typename Operation, typename N>
  static cudaError_t ReduceByKey(void* storage, std::size_t& bytes, K keys, U unique, I values, O out, R runs,
                                 Operation operation, N count, cudaStream_t stream = nullptr) {
    return details::with_storage(storage, bytes, [&] {
      const auto ends = thrust::reduce_by_key(details::Policy{stream}, keys, keys + count, values, unique,
                                              out, thrust::equal_to<>{}, operation);
      details::give(stream, runs, ends.first - unique);
    });
  }
};

struct DeviceScan {
  template <typename I, typename O, typename Operation, typename T, typename N>
  static cudaError_t ExclusiveScan(void* storage, std::size_t& bytes, I in, O out, Operation operation,
                                   T init, N count, cudaStream_t stream = nullptr) {
    return details::with_storage(storage, bytes, [&] {
      thrust::exclusive_scan(details::Policy{stream}, in, in + count, out, init, operation);
    });
  }
  template <typename I, typename O, typename Operation, typename N>
  static cudaError_t InclusiveScan(void* storage, std::size_t& bytes, I in, O out, Operation operation,
                                   N count, cudaStream_t stream = nullptr) {
    return details::with_storage(storage, bytes, [&] {
      thrust::inclusive_scan(details::Policy{stream}, in, in + count, out, operation);
    });
  }
  template <typename I, typename O, typename N>
  static cudaError_t ExclusiveSum(void* storage, std::size_t& bytes, I in, O out, N count,
                                  cudaStream_t stream = nullptr) {
    return ExclusiveScan(storage, bytes, in, out, thrust::plus<>{}, std::iter_value_t<I>{}, count, stream);
  }
  template <typename I, typename O, typename N>
  static cudaError_t InclusiveSum(void* storage, std::size_t& bytes, I in, O out, N count,
                                  cudaStream_t stream = nullptr) {
    return InclusiveScan(storage, bytes, in, out, thrust::plus<>{}, count, stream);
  }
};

struct DeviceRadixSort {
  template <typename K, typename N>
  static cudaError_t SortKeys(void* storage, std::size_t& bytes, const K* in, K* out, N count, int begin = 0,
                              int end = sizeof(K) * 8, cudaStream_t stream = nullptr) {
    return sort<false>(storage, bytes, in, out, count, begin, end, stream);
  }
  template <typename K, typename N>
  static cudaError_t SortKeysDescending(void* storage, std::size_t& bytes, const K* in, K* out, N count,
                                        int begin = 0, int end = sizeof(K) * 8,
                                        cudaStream_t stream = nullptr) {
    return sort<true>(storage, bytes, in, out, count, begin, end, stream);
  }
  template <typename K, typename V, typename N>
  static cudaError_t SortPairs(void* storage, std::size_t& bytes, const K* in, K* out, const V* values,
                               V* values_out, N count, int begin = 0, int end = sizeof(K) * 8,
                               cudaStream_t stream = nullptr) {
    return sort<false>(storage, bytes, in, out, count, begin, end, stream, values, values_out);
  }
  template <typename K, typename V, typename N>
  static cudaError_t SortPairsDescending(void* storage, std::size_t& bytes, const K* in, K* out,
                                         const V* values, V* values_out, N count, int begin = 0,
                                         int end = sizeof(K) * 8, cudaStream_t stream = nullptr) {
    return sort<true>(storage, bytes, in, out, count, begin, end, stream, values, values_out);
  }
  template <typename K, typename N>
  static cudaError_t SortKeys(void* storage, std::size_t& bytes, DoubleBuffer<K>& keys, N count,
                              int begin = 0, int end = sizeof(K) * 8, cudaStream_t stream = nullptr) {
    return SortKeys(storage, bytes, keys.Current(), keys.Current(), count, begin, end, stream);
  }
  template <typename K, typename V, typename N>
  static cudaError_t SortPairs(void* storage, std::size_t& bytes, DoubleBuffer<K>& keys,
                               DoubleBuffer<V>& values, N count, int begin = 0, int end = sizeof(K) * 8,
                               cudaStream_t stream = nullptr) {
    return SortPairs(storage, bytes, keys.Current(), keys.Current(), values.Current(), values.Current(),
                     count, begin, end, stream);
  }

 private:
  template <bool is_descending, typename K, typename N, typename... V>
  static cudaError_t sort(void* storage, std::size_t& bytes, const K* in, K* out, N count, int begin, int end,
                          cudaStream_t stream, V*... values) {
    return details::with_storage(storage, bytes, [&] {
      const details::Policy policy{stream};
      const details::ByBits<is_descending> less{begin, end};
      if (in != out) thrust::copy(policy, in, in + count, out);
      if constexpr (sizeof...(V) == 0) {
        thrust::stable_sort(policy, out, out + count, less);
      } else {
        const auto [from, to] = std::tuple{values...};
        if (from != to) thrust::copy(policy, from, from + count, to);
        thrust::stable_sort_by_key(policy, out, out + count, to, less);
      }
    });
  }
};

struct DeviceSelect {
  template <typename I, typename O, typename R, typename N, typename Predicate>
  static cudaError_t If(void* storage, std::size_t& bytes, I in, O out, R selected, N count,
                        Predicate predicate, cudaStream_t stream = nullptr) {
    return details::with_storage(storage, bytes, [&] {
      details::give(stream, selected,
                    thrust::copy_if(details::Policy{stream}, in, in + count, out, predicate) - out);
    });
  }
  template <typename I, typename F, typename O, typename R, typename N>
  static cudaError_t Flagged(void* storage, std::size_t& bytes, I in, F flags, O out, R selected, N count,
                             cudaStream_t stream = nullptr) {
    return details::with_storage(storage, bytes, [&] {
      const auto end =
          thrust::copy_if(details::Policy{stream}, in, in + count, flags, out, thrust::identity<>{});
      details::give(stream, selected, end - out);
    });
  }
  template <typename I, typename O, typename R, typename N>
  static cudaError_t Unique(void* storage, std::size_t& bytes, I in, O out, R selected, N count,
                            cudaStream_t stream = nullptr) {
    return details::with_storage(storage, bytes, [&] {
      details::give(stream, selected,
                    thrust::unique_copy(details::Policy{stream}, in, in + count, out) - out);
    });
  }
};

struct DeviceRunLengthEncode {
  template <typename I, typename U, typename O, typename R, typename N>
  static cudaError_t Encode(void* storage, std::size_t& bytes, I in, U unique, O lengths, R runs, N count,
                            cudaStream_t stream = nullptr) {
    return DeviceReduce::ReduceByKey(storage, bytes, in, unique, thrust::constant_iterator<int>{1}, lengths,
                                     runs, thrust::plus<>{}, count, stream);
  }
};

struct DeviceHistogram {
  template <typename I, typename Count, typename Level, typename N>
  static cudaError_t HistogramEven(void* storage, std::size_t& bytes, I in, Count* counts, int levels,
                                   Level lower, Level upper, N count, cudaStream_t stream = nullptr) {
    return details::with_storage(storage, bytes, [&] {
      const details::Policy policy{stream};
      thrust::fill(policy, counts, counts + (levels - 1), Count{0});
      thrust::for_each(policy, in, in + count, [=](const auto& value) {
        const auto level = static_cast<Level>(value);
        if (level < lower || !(level < upper)) return;
        const double bin =
            static_cast<double>(level - lower) / static_cast<double>(upper - lower) * (levels - 1);
        atomicAdd(&counts[static_cast<int>(bin)], Count{1});
      });
    });
  }
};

struct DeviceSegmentedReduce {
  template <typename I, typename O, typename B, typename E, typename Operation, typename T>
  static cudaError_t Reduce(void* storage, std::size_t& bytes, I in, O out, int segments, B begins, E ends,
                            Operation operation, T init, cudaStream_t stream = nullptr) {
    return details::with_storage(storage, bytes, [&] {
      const thrust::counting_iterator<int> first{0};
      thrust::for_each(details::Policy{stream}, first, first + segments, [=](int segment) mutable {
        T result = init;
        for (auto i = begins[segment]; i < ends[segment]; ++i)
          result = operation(result, in[i]);
        out[segment] = result;
      });
    });
  }
  template <typename I, typename O, typename B, typename E>
  static cudaError_t Sum(void* storage, std::size_t& bytes, I in, O out, int segments, B begins, E ends,
                         cudaStream_t stream = nullptr) {
    return Reduce(storage, bytes, in, out, segments, begins, ends, thrust::plus<>{}, std::iter_value_t<I>{},
                  stream);
  }
};

}  // namespace cub
