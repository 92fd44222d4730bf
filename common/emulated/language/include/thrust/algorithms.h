#pragma once
/// \file
/// In place of Thrust: its algorithms, run by the emulated device's own code (library_algorithms.hpp).

#include <thrust/functional_objects.h>
#include <thrust/iterators.h>

#include <algorithm>
#include <numeric>

namespace thrust {

/// Who runs an algorithm.
template <bool on_device> struct execution_policy {
  using __emulated_policy = void;
  cudaStream_t stream = nullptr;
  execution_policy on(cudaStream_t in_stream) const { return {in_stream}; }
  template <typename Allocator> execution_policy operator()(Allocator&&) const { return *this; }
};
inline constexpr execution_policy<false> host, seq;
inline constexpr execution_policy<true> device;
namespace cuda {
inline constexpr execution_policy<true> par, par_nosync;
}
namespace omp {
inline constexpr execution_policy<false> par;
}

namespace details {

template <typename T>
concept IsPolicy = requires {
  typename T::__emulated_policy;
};

/// That of the iterators among the arguments; where none has memory, the device's.
template <typename First, typename... Rest> auto policy_for() {
  return execution_policy < joined_system<First, Rest...> != System::host &&
         (std::input_or_output_iterator<First>) > {};
}

template <bool on_device>
__emulated::AlgorithmPlace place(const char* name, const execution_policy<on_device>& policy) {
  return {name, on_device, policy.stream};
}

template <typename Iterator> using Value = std::iter_value_t<Iterator>;

template <typename Iterator> std::size_t count_of(const Iterator& first, const Iterator& last) {
  return static_cast<std::size_t>(last - first);
}

/// What is known of all accesses through an iterator.
template <typename Iterator> struct Use {
  Iterator iterator;
  bool writes;
  static constexpr bool is_array = std::is_pointer_v<Iterator>;
  static constexpr bool is_known = is_array || std::is_same_v<Iterator, counting_iterator<Value<Iterator>>> ||
                                   std::is_same_v<Iterator, constant_iterator<Value<Iterator>>>;
  auto array(std::size_t count) const {
    if constexpr (is_array) {
      return __emulated::ArrayUse<std::remove_pointer_t<Iterator>>{iterator, count, writes};
    } else {
      return __emulated::ArrayUse<char>{nullptr, 0, false};
    }
  }
};
template <typename Iterator> Use<Iterator> in(Iterator iterator) { return {iterator, false}; }
template <typename Iterator> Use<Iterator> out(Iterator iterator) { return {iterator, true}; }

template <typename Operation, typename... Uses>
inline constexpr bool may_be_hosts = __emulated::OfLibrary<Operation> && sizeof...(Uses) != 0 &&
                                     (Uses::is_known && ...);

template <typename Operation, typename Body, typename... Uses>
void each(const __emulated::AlgorithmPlace& place, std::size_t count, Body body, Uses... uses) {
  if constexpr (may_be_hosts<Operation, Uses...>) {
    place.for_each(count, body, uses.array(count)...);
  } else {
    place.for_each(count, body);
  }
}
template <typename Operation, typename Body, typename... Uses>
auto once(const __emulated::AlgorithmPlace& place, std::size_t count, Body body, Uses... uses) {
  if constexpr (may_be_hosts<Operation, Uses...>) {
    return place.once(body, uses.array(count)...);
  } else {
    return place.once(body);
  }
}

/// Of each element of all ranges, what `f` makes of them.
template <typename P, typename O, typename F, typename... I>
O transform_each(const P& policy, std::size_t count, O result, F f, I... from) {
  const auto to = raw(result);
  each<F>(
      place("thrust::transform", policy), count, [=](std::ptrdiff_t i) mutable { to[i] = f(from[i]...); },
      in(from)..., out(to));
  return result + static_cast<std::ptrdiff_t>(count);
}

/// And all of that in one result.
template <typename P, typename T, typename Operation, typename F, typename... I>
T reduce_each(const char* name, const P& policy, std::size_t count, T init, Operation operation, F f,
              I... from) {
  using Both = std::conditional_t<__emulated::OfLibrary<F>, Operation, void>;
  return once<Both>(
      place(name, policy), count,
      [=]() mutable {
        T result = init;
        for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(count); ++i)
          result = operation(result, f(from[i]...));
        return result;
      },
      in(from)...);
}

}  // namespace details

/// Defines the algorithm without a policy. (No function makes a name of a name.)
#define __EMULATED_BY_ITERATORS(name)                                           \
  template <typename First, typename... Rest>                                   \
  requires(!details::IsPolicy<First>) auto name(First first, Rest... rest) {    \
    return thrust::name(details::policy_for<First, Rest...>(), first, rest...); \
  }

// ---- of each element ----

template <details::IsPolicy P, typename I, typename F>
I for_each_n(const P& policy, I first, std::size_t count, F f) {
  const auto it = details::raw(first);
  details::each<void>(details::place("thrust::for_each", policy), count,
                      [it, f](std::ptrdiff_t i) mutable { f(it[i]); });
  return first + static_cast<std::ptrdiff_t>(count);
}
template <details::IsPolicy P, typename I, typename F> I for_each(const P& policy, I first, I last, F f) {
  return thrust::for_each_n(policy, first, details::count_of(first, last), f);
}
template <details::IsPolicy P, typename I, typename O, typename F>
O transform(const P& policy, I first, I last, O result, F f) {
  return details::transform_each(policy, details::count_of(first, last), result, f, details::raw(first));
}
template <details::IsPolicy P, typename I, typename J, typename O, typename F>
O transform(const P& policy, I first, I last, J second, O result, F f) {
  return details::transform_each(policy, details::count_of(first, last), result, f, details::raw(first),
                                 details::raw(second));
}
template <details::IsPolicy P, typename I, typename S, typename O, typename F, typename Predicate>
O transform_if(const P& policy, I first, I last, S stencil, O result, F f, Predicate predicate) {
  const std::size_t count = details::count_of(first, last);
  const auto from = details::raw(first);
  const auto tested = details::raw(stencil);
  const auto to = details::raw(result);
  details::each<void>(details::place("thrust::transform_if", policy), count, [=](std::ptrdiff_t i) mutable {
    if (predicate(tested[i])) to[i] = f(from[i]);
  });
  return result + static_cast<std::ptrdiff_t>(count);
}
template <details::IsPolicy P, typename I, typename O, typename F, typename Predicate>
requires(!std::input_or_output_iterator<F>) O
    transform_if(const P& policy, I first, I last, O result, F f, Predicate predicate) {
  return thrust::transform_if(policy, first, last, first, result, f, predicate);
}
template <details::IsPolicy P, typename I, typename F> void generate(const P& policy, I first, I last, F f) {
  const auto it = details::raw(first);
  details::each<void>(details::place("thrust::generate", policy), details::count_of(first, last),
                      [it, f](std::ptrdiff_t i) mutable { it[i] = f(); });
}
template <details::IsPolicy P, typename I, typename F> void tabulate(const P& policy, I first, I last, F f) {
  const counting_iterator<details::Value<I>> numbers;
  thrust::transform(policy, numbers, numbers + (last - first), first, f);
}
template <details::IsPolicy P, typename I, typename T> void fill(const P& policy, I first, I last, T value) {
  const auto values = make_constant_iterator(static_cast<details::Value<I>>(value));
  thrust::transform(policy, values, values + (last - first), first, identity<>{});
}
template <details::IsPolicy P, typename I, typename T>
I fill_n(const P& policy, I first, std::size_t count, T value) {
  const I last = first + static_cast<std::ptrdiff_t>(count);
  thrust::fill(policy, first, last, value);
  return last;
}
template <details::IsPolicy P, typename I, typename T = details::Value<I>>
void sequence(const P& policy, I first, I last, T begin = T{}, T step = T{1}) {
  const auto it = details::raw(first);
  details::each<plus<>>(
      details::place("thrust::sequence", policy), details::count_of(first, last),
      [=](std::ptrdiff_t i) { it[i] = static_cast<details::Value<I>>(begin + static_cast<T>(i) * step); },
      details::out(it));
}
template <details::IsPolicy P, typename I, typename M, typename O>
O gather(const P& policy, M first, M last, I from, O result) {
  const auto begin = make_permutation_iterator(from, first);
  return thrust::transform(policy, begin, begin + (last - first), result, identity<>{});
}
template <details::IsPolicy P, typename I, typename M, typename O>
void scatter(const P& policy, I first, I last, M map, O result) {
  thrust::transform(policy, first, last, make_permutation_iterator(result, map), identity<>{});
}
template <details::IsPolicy P, typename I, typename Predicate, typename T>
void replace_if(const P& policy, I first, I last, Predicate predicate, T value) {
  const auto values = make_constant_iterator(value);
  thrust::transform_if(policy, values, values + (last - first), first, first, identity<>{}, predicate);
}
template <details::IsPolicy P, typename I, typename T>
void replace(const P& policy, I first, I last, T old_value, T value) {
  thrust::replace_if(policy, first, last, placeholders::_1 == old_value, value);
}
template <details::IsPolicy P, typename I, typename O, typename F = minus<>>
O adjacent_difference(const P& policy, I first, I last, O result, F f = {}) {
  const std::size_t count = details::count_of(first, last);
  const auto from = details::raw(first);
  const auto to = details::raw(result);
  // In one go, for the result may take the place of the elements.
  details::once<F>(
      details::place("thrust::adjacent_difference", policy), count,
      [=] { return std::adjacent_difference(from, from + static_cast<std::ptrdiff_t>(count), to, f) - to; },
      details::in(from), details::out(to));
  return result + static_cast<std::ptrdiff_t>(count);
}
template <details::IsPolicy P, typename I> void reverse(const P& policy, I first, I last) {
  const auto it = details::raw(first);
  const std::ptrdiff_t count = last - first;
  details::each<void>(details::place("thrust::reverse", policy), static_cast<std::size_t>(count / 2),
                      [it, count](std::ptrdiff_t i) { std::iter_swap(it + i, it + (count - 1 - i)); });
}

/// Between host and device, too.
template <typename I, typename O> O copy(I first, I last, O result) {
  using details::System;
  constexpr bool from_device = details::system_of<I> == System::device;
  constexpr bool to_device = details::system_of<O> == System::device;
  if constexpr (from_device && to_device) {
    return thrust::transform(device, first, last, result, identity<>{});
  } else if constexpr (from_device) {
    using T = details::Value<I>;
    const std::size_t count = details::count_of(first, last);
    std::vector<T> values(count);
    if constexpr (std::is_same_v<I, device_ptr<T>> || std::is_same_v<I, device_ptr<const T>>) {
      cudaMemcpy(values.data(), first.get(), count * sizeof(T), cudaMemcpyDefault);
    } else {
      device_vector<T> made(count);
      thrust::transform(device, first, last, made.begin(), identity<>{});
      values = made.on_host();
    }
    return std::copy(values.begin(), values.end(), result);
  } else if constexpr (to_device) {
    const device_vector<details::Value<O>> made(first, last);
    return thrust::copy(made.begin(), made.end(), result);
  } else {
    return std::copy(first, last, result);
  }
}
template <bool on_device, typename I, typename O>
O copy(const execution_policy<on_device>& policy, I first, I last, O result) {
  return thrust::transform(policy, first, last, result, identity<>{});
}
template <typename I, typename O> O copy_n(I first, std::size_t count, O result) {
  return thrust::copy(first, first + static_cast<std::ptrdiff_t>(count), result);
}

// ---- one result of all elements ----

template <details::IsPolicy P, typename I, typename F, typename T, typename Operation>
T transform_reduce(const P& policy, I first, I last, F f, T init, Operation operation) {
  return details::reduce_each("thrust::reduce", policy, details::count_of(first, last), init, operation, f,
                              details::raw(first));
}
template <details::IsPolicy P, typename I, typename T = details::Value<I>, typename Operation = plus<>>
T reduce(const P& policy, I first, I last, T init = T{}, Operation operation = {}) {
  return thrust::transform_reduce(policy, first, last, identity<>{}, init, operation);
}
template <details::IsPolicy P, typename I, typename J, typename T, typename Add = plus<>,
          typename Multiply = multiplies<>>
T inner_product(const P& policy, I first, I last, J second, T init, Add add = {}, Multiply multiply = {}) {
  return details::reduce_each("thrust::inner_product", policy, details::count_of(first, last), init, add,
                              multiply, details::raw(first), details::raw(second));
}
template <details::IsPolicy P, typename I, typename Predicate>
std::ptrdiff_t count_if(const P& policy, I first, I last, Predicate predicate) {
  const auto counts = [predicate](const auto& value) mutable -> std::ptrdiff_t {
    return predicate(value) ? 1 : 0;
  };
  return thrust::transform_reduce(policy, first, last, counts, std::ptrdiff_t{0}, plus<>{});
}
template <details::IsPolicy P, typename I, typename T>
std::ptrdiff_t count(const P& policy, I first, I last, T value) {
  return thrust::count_if(policy, first, last, placeholders::_1 == value);
}

namespace details {

/// Runs an algorithm of the C++ library that returns one of the iterators into this range.
template <typename Operation, typename P, typename I, typename Body>
I place_in(const char* name, const P& policy, I first, I last, Body body, bool writes = false) {
  const auto begin = raw(first);
  const auto end = raw(last);
  return first + once<Operation>(
                     place(name, policy), count_of(first, last),
                     [=] { return static_cast<std::ptrdiff_t>(body(begin, end) - begin); },
                     Use<std::remove_const_t<decltype(begin)>>{begin, writes});
}

}  // namespace details

template <details::IsPolicy P, typename I, typename Less = less<>>
I max_element(const P& policy, I first, I last, Less less = {}) {
  return details::place_in<Less>("thrust::max_element", policy, first, last,
                                 [less](auto begin, auto end) { return std::max_element(begin, end, less); });
}
template <details::IsPolicy P, typename I, typename Less = less<>>
I min_element(const P& policy, I first, I last, Less less = {}) {
  return details::place_in<Less>("thrust::min_element", policy, first, last,
                                 [less](auto begin, auto end) { return std::min_element(begin, end, less); });
}
template <details::IsPolicy P, typename I, typename Less = less<>>
std::pair<I, I> minmax_element(const P& policy, I first, I last, Less less = {}) {
  return {thrust::min_element(policy, first, last, less), thrust::max_element(policy, first, last, less)};
}
template <details::IsPolicy P, typename I, typename Predicate>
I find_if(const P& policy, I first, I last, Predicate predicate) {
  return details::place_in<void>("thrust::find_if", policy, first, last, [predicate](auto begin, auto end) {
    return std::find_if(begin, end, predicate);
  });
}
template <details::IsPolicy P, typename I, typename T> I find(const P& policy, I first, I last, T value) {
  return thrust::find_if(policy, first, last, placeholders::_1 == value);
}
template <details::IsPolicy P, typename I, typename F>
bool any_of(const P& policy, I first, I last, F predicate) {
  return thrust::find_if(policy, first, last, predicate) != last;
}
template <details::IsPolicy P, typename I, typename F>
bool all_of(const P& policy, I first, I last, F predicate) {
  return !thrust::any_of(policy, first, last, not1(predicate));
}
template <details::IsPolicy P, typename I, typename F>
bool none_of(const P& policy, I first, I last, F predicate) {
  return !thrust::any_of(policy, first, last, predicate);
}
template <details::IsPolicy P, typename I, typename J, typename Equal = equal_to<>>
bool equal(const P& policy, I first, I last, J second, Equal equal = {}) {
  return thrust::inner_product(policy, first, last, second, true, logical_and<>{}, equal);
}
template <details::IsPolicy P, typename I, typename Less = less<>>
bool is_sorted(const P& policy, I first, I last, Less less = {}) {
  return details::place_in<Less>("thrust::is_sorted", policy, first, last, [less](auto begin, auto end) {
           return std::is_sorted_until(begin, end, less);
         }) == last;
}

// ---- scans ----

namespace details {

template <bool is_exclusive, typename P, typename I, typename O, typename F, typename T, typename Operation>
O scan(const P& policy, I first, I last, O result, F f, std::optional<T> init, Operation operation) {
  const std::size_t count = count_of(first, last);
  const auto from = raw(first);
  const auto to = raw(result);
  using Both = std::conditional_t<__emulated::OfLibrary<F>, Operation, void>;
  once<Both>(
      place("thrust::scan", policy), count,
      [=] {
        std::optional<T> sum = init;
        for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(count); ++i) {
          const T value = f(from[i]);
          const T next = sum ? static_cast<T>(operation(*sum, value)) : value;
          to[i] = is_exclusive ? *sum : next;
          sum = next;
        }
        return 0;
      },
      in(from), out(to));
  return result + static_cast<std::ptrdiff_t>(count);
}

}  // namespace details

template <details::IsPolicy P, typename I, typename O, typename Operation = plus<>>
O inclusive_scan(const P& policy, I first, I last, O result, Operation operation = {}) {
  return details::scan<false>(policy, first, last, result, identity<>{}, std::optional<details::Value<I>>{},
                              operation);
}
template <details::IsPolicy P, typename I, typename O, typename T = details::Value<I>,
          typename Operation = plus<>>
O exclusive_scan(const P& policy, I first, I last, O result, T init = T{}, Operation operation = {}) {
  return details::scan<true>(policy, first, last, result, identity<>{}, std::optional<T>{init}, operation);
}
template <details::IsPolicy P, typename I, typename O, typename F, typename Operation>
O transform_inclusive_scan(const P& policy, I first, I last, O result, F f, Operation operation) {
  using T = std::remove_cvref_t<std::invoke_result_t<F, details::Value<I>>>;
  return details::scan<false>(policy, first, last, result, f, std::optional<T>{}, operation);
}
template <details::IsPolicy P, typename I, typename O, typename F, typename T, typename Operation>
O transform_exclusive_scan(const P& policy, I first, I last, O result, F f, T init, Operation operation) {
  return details::scan<true>(policy, first, last, result, f, std::optional<T>{init}, operation);
}

namespace details {

/// Visits elements with whether each begins a segment of equal keys.
template <typename P, typename K, typename Equal, typename Visit>
std::ptrdiff_t visit_segments(const char* name, const P& policy, K first, K last, Equal equal, Visit visit) {
  const std::ptrdiff_t count = last - first;
  const auto keys = raw(first);
  return place(name, policy).once([=]() mutable {
    std::ptrdiff_t segments = 0;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const bool begins = i == 0 || !equal(keys[i - 1], keys[i]);
      if (begins) ++segments;
      visit(i, segments - 1, begins);
    }
    return segments;
  });
}

}  // namespace details

template <details::IsPolicy P, typename K, typename I, typename O, typename Equal = equal_to<>,
          typename Operation = plus<>>
O inclusive_scan_by_key(const P& policy, K first, K last, I values, O result, Equal equal = {},
                        Operation operation = {}) {
  const auto from = details::raw(values);
  const auto to = details::raw(result);
  details::visit_segments("thrust::inclusive_scan_by_key", policy, first, last, equal,
                          [=, sum = std::optional<details::Value<I>>{}](auto i, auto, bool begins) mutable {
                            const details::Value<I> value = from[i];
                            sum = begins ? value : static_cast<details::Value<I>>(operation(*sum, value));
                            to[i] = *sum;
                          });
  return result + (last - first);
}
template <details::IsPolicy P, typename K, typename I, typename O, typename T = details::Value<I>,
          typename Equal = equal_to<>, typename Operation = plus<>>
O exclusive_scan_by_key(const P& policy, K first, K last, I values, O result, T init = T{}, Equal equal = {},
                        Operation operation = {}) {
  const auto from = details::raw(values);
  const auto to = details::raw(result);
  details::visit_segments("thrust::exclusive_scan_by_key", policy, first, last, equal,
                          [=, sum = init](auto i, auto, bool begins) mutable {
                            if (begins) sum = init;
                            const T value = from[i];
                            to[i] = sum;
                            sum = operation(sum, value);
                          });
  return result + (last - first);
}
template <details::IsPolicy P, typename K, typename I, typename L, typename O, typename Equal = equal_to<>,
          typename Operation = plus<>>
std::pair<L, O> reduce_by_key(const P& policy, K first, K last, I values, L result_keys, O result,
                              Equal equal = {}, Operation operation = {}) {
  const auto keys = details::raw(first);
  const auto from = details::raw(values);
  const auto to_keys = details::raw(result_keys);
  const auto to = details::raw(result);
  const std::ptrdiff_t segments = details::visit_segments(
      "thrust::reduce_by_key", policy, first, last, equal,
      [=, sum = std::optional<details::Value<I>>{}](auto i, auto segment, bool begins) mutable {
        const details::Value<I> value = from[i];
        if (begins) to_keys[segment] = keys[i];
        sum = begins ? value : static_cast<details::Value<I>>(operation(*sum, value));
        to[segment] = *sum;
      });
  return {result_keys + segments, result + segments};
}
template <details::IsPolicy P, typename K, typename I, typename L, typename O, typename Equal = equal_to<>>
std::pair<L, O> unique_by_key_copy(const P& policy, K first, K last, I values, L result_keys, O result,
                                   Equal equal = {}) {
  const auto keep_first = [](const auto& kept, const auto&) { return kept; };
  return thrust::reduce_by_key(policy, first, last, values, result_keys, result, equal, keep_first);
}
template <details::IsPolicy P, typename K, typename I, typename Equal = equal_to<>>
std::pair<K, I> unique_by_key(const P& policy, K first, K last, I values, Equal equal = {}) {
  return thrust::unique_by_key_copy(policy, first, last, values, first, values, equal);
}

// ---- which elements stay ----

template <details::IsPolicy P, typename I, typename S, typename O, typename Predicate>
O copy_if(const P& policy, I first, I last, S stencil, O result, Predicate predicate) {
  const std::ptrdiff_t count = last - first;
  const auto from = details::raw(first);
  const auto tested = details::raw(stencil);
  const auto to = details::raw(result);
  return result + details::place("thrust::copy_if", policy).once([=]() mutable {
    std::ptrdiff_t kept = 0;
    for (std::ptrdiff_t i = 0; i < count; ++i)
      if (predicate(tested[i])) to[kept++] = from[i];
    return kept;
  });
}
template <details::IsPolicy P, typename I, typename O, typename Predicate>
O copy_if(const P& policy, I first, I last, O result, Predicate predicate) {
  return thrust::copy_if(policy, first, last, first, result, predicate);
}
template <details::IsPolicy P, typename I, typename O, typename Predicate>
O remove_copy_if(const P& policy, I first, I last, O result, Predicate predicate) {
  return thrust::copy_if(policy, first, last, result, not1(predicate));
}
template <details::IsPolicy P, typename I, typename Predicate>
I remove_if(const P& policy, I first, I last, Predicate predicate) {
  return thrust::copy_if(policy, first, last, first, not1(predicate));
}
template <details::IsPolicy P, typename I, typename S, typename Predicate>
I remove_if(const P& policy, I first, I last, S stencil, Predicate predicate) {
  return thrust::copy_if(policy, first, last, stencil, first, not1(predicate));
}
template <details::IsPolicy P, typename I, typename T> I remove(const P& policy, I first, I last, T value) {
  return thrust::remove_if(policy, first, last, placeholders::_1 == value);
}
template <details::IsPolicy P, typename I, typename O, typename Equal = equal_to<>>
O unique_copy(const P& policy, I first, I last, O result, Equal equal = {}) {
  return thrust::unique_by_key_copy(policy, first, last, first, discard_iterator{}, result, equal).second;
}
template <details::IsPolicy P, typename I, typename Equal = equal_to<>>
I unique(const P& policy, I first, I last, Equal equal = {}) {
  return thrust::unique_copy(policy, first, last, first, equal);
}

// ---- order ----

namespace details {

/// The comparison by which a stable sort has the elements that a predicate picks first.
template <typename Predicate> struct PickedFirst {
  mutable Predicate predicate;
  template <typename T> bool operator()(const T& a, const T& b) const {
    return predicate(a) && !predicate(b);
  }
};

/// Orders arrays by the first of them.
template <typename P, typename Less, typename K, typename... I>
void sort_arrays(const P& policy, Less less, std::size_t count, K keys, I... values) {
  if (count < 2) return;
  const __emulated::AlgorithmPlace where = place("thrust::sort", policy);
  auto sort = [=](unsigned* order, auto... buffers) mutable {
    order = __emulated::sorted_order(order, count,
                                     [=](unsigned a, unsigned b) mutable { return less(keys[a], keys[b]); });
    const auto permute = [&](auto array, auto* buffer) {
      for (std::size_t i = 0; i < count; ++i)
        buffer[i] = array[static_cast<std::ptrdiff_t>(order[i])];
      for (std::size_t i = 0; i < count; ++i)
        array[static_cast<std::ptrdiff_t>(i)] = buffer[i];
    };
    [&]<typename First, typename... Rest>(First first, Rest... rest) {
      permute(keys, first);
      (permute(values, rest), ...);
    }(buffers...);
    return 0;
  };
  auto by_host = [&]() mutable {
    std::vector<unsigned> order(2 * count);
    sort(order.data(), std::make_unique<Value<K>[]>(count).get(),
         std::make_unique<Value<I>[]>(count).get()...);
    return 0;
  };
  if constexpr (may_be_hosts<Less, Use<K>, Use<I>...>) {
    const auto all = [&](auto... uses) {
      if constexpr (sizeof...(I) == 0) {
        return where.once([&] { return std::stable_sort(keys, keys + count, less), 0; }, uses...);
      } else {
        return where.once(by_host, uses...);
      }
    };
    all(in(keys).array(count), in(values).array(count)..., out(keys).array(count),
        out(values).array(count)...);
  } else if (!where.is_on_device || __emulated::is_in_kernel()) {
    by_host();
  } else {
    const __emulated::ScratchArray<unsigned> order{2 * count};
    [&](const auto&... buffers) {
      where.once([sort, begin = order.begin(), ... each = buffers.begin()]() mutable {
        return sort(begin, each...);
      });
    }(__emulated::ScratchArray<Value<K>>{count}, __emulated::ScratchArray<Value<I>>{count}...);
  }
}

}  // namespace details

template <details::IsPolicy P, typename I, typename Less = less<>>
void stable_sort(const P& policy, I first, I last, Less less = {}) {
  details::sort_arrays(policy, less, details::count_of(first, last), details::raw(first));
}
template <details::IsPolicy P, typename I, typename Less = less<>>
void sort(const P& policy, I first, I last, Less less = {}) {
  thrust::stable_sort(policy, first, last, less);
}
template <details::IsPolicy P, typename K, typename I, typename Less = less<>>
void stable_sort_by_key(const P& policy, K first, K last, I values, Less less = {}) {
  details::sort_arrays(policy, less, details::count_of(first, last), details::raw(first),
                       details::raw(values));
}
template <details::IsPolicy P, typename K, typename I, typename Less = less<>>
void sort_by_key(const P& policy, K first, K last, I values, Less less = {}) {
  thrust::stable_sort_by_key(policy, first, last, values, less);
}
template <details::IsPolicy P, typename I, typename Predicate>
I stable_partition(const P& policy, I first, I last, Predicate predicate) {
  const auto picked = thrust::count_if(policy, first, last, predicate);
  thrust::stable_sort(policy, first, last, details::PickedFirst<Predicate>{predicate});
  return first + picked;
}
template <details::IsPolicy P, typename I, typename Predicate>
I partition(const P& policy, I first, I last, Predicate predicate) {
  return thrust::stable_partition(policy, first, last, predicate);
}

namespace details {

/// Runs an algorithm of the C++ library that writes what it makes of two ranges.
template <typename P, typename I, typename J, typename O, typename Body>
O join(const char* name, const P& policy, I first, I last, J second, J second_last, O result, Body body) {
  return result + place(name, policy)
                      .once([body, a = raw(first), a_end = raw(last), b = raw(second),
                             b_end = raw(second_last), to = raw(result)] {
                        return static_cast<std::ptrdiff_t>(body(a, a_end, b, b_end, to) - to);
                      });
}

}  // namespace details

#define __EMULATED_JOIN(name)                                                                       \
  template <details::IsPolicy P, typename I, typename J, typename O, typename Less = less<>>        \
  O name(const P& policy, I first, I last, J second, J second_last, O result, Less less = {}) {     \
    const auto join = [less](auto... ranges) { return std::name(ranges..., less); };                \
    return details::join("thrust::" #name, policy, first, last, second, second_last, result, join); \
  }                                                                                                 \
  __EMULATED_BY_ITERATORS(name)
__EMULATED_JOIN(merge)
__EMULATED_JOIN(set_union)
__EMULATED_JOIN(set_intersection)
__EMULATED_JOIN(set_difference)
__EMULATED_JOIN(set_symmetric_difference)
#undef __EMULATED_JOIN

// Of one value, or of each of a range.
#define __EMULATED_BOUND(name)                                                                       \
  template <details::IsPolicy P, typename I, typename T>                                             \
  I name(const P& policy, I first, I last, const T& value) {                                         \
    const auto search = [value](auto begin, auto end) { return std::name(begin, end, value); };      \
    return details::place_in<void>("thrust::" #name, policy, first, last, search);                   \
  }                                                                                                  \
  template <details::IsPolicy P, typename I, typename J, typename O>                                 \
  O name(const P& policy, I first, I last, J values, J values_last, O result) {                      \
    const auto search = [begin = details::raw(first), end = details::raw(last)](const auto& value) { \
      return static_cast<std::ptrdiff_t>(std::name(begin, end, value) - begin);                      \
    };                                                                                               \
    return thrust::transform(policy, values, values_last, result, search);                           \
  }                                                                                                  \
  __EMULATED_BY_ITERATORS(name)
__EMULATED_BOUND(lower_bound)
__EMULATED_BOUND(upper_bound)
#undef __EMULATED_BOUND
template <details::IsPolicy P, typename I, typename T>
bool binary_search(const P& policy, I first, I last, const T& value) {
  return thrust::lower_bound(policy, first, last, value) != thrust::upper_bound(policy, first, last, value);
}

__EMULATED_BY_ITERATORS(adjacent_difference)
__EMULATED_BY_ITERATORS(all_of)
__EMULATED_BY_ITERATORS(any_of)
__EMULATED_BY_ITERATORS(binary_search)
__EMULATED_BY_ITERATORS(copy_if)
__EMULATED_BY_ITERATORS(count)
__EMULATED_BY_ITERATORS(count_if)
__EMULATED_BY_ITERATORS(equal)
__EMULATED_BY_ITERATORS(exclusive_scan)
__EMULATED_BY_ITERATORS(exclusive_scan_by_key)
__EMULATED_BY_ITERATORS(fill)
__EMULATED_BY_ITERATORS(fill_n)
__EMULATED_BY_ITERATORS(find)
__EMULATED_BY_ITERATORS(find_if)
__EMULATED_BY_ITERATORS(for_each)
__EMULATED_BY_ITERATORS(for_each_n)
__EMULATED_BY_ITERATORS(gather)
__EMULATED_BY_ITERATORS(generate)
__EMULATED_BY_ITERATORS(inclusive_scan)
__EMULATED_BY_ITERATORS(inclusive_scan_by_key)
__EMULATED_BY_ITERATORS(inner_product)
__EMULATED_BY_ITERATORS(is_sorted)
__EMULATED_BY_ITERATORS(max_element)
__EMULATED_BY_ITERATORS(min_element)
__EMULATED_BY_ITERATORS(minmax_element)
__EMULATED_BY_ITERATORS(none_of)
__EMULATED_BY_ITERATORS(partition)
__EMULATED_BY_ITERATORS(reduce)
__EMULATED_BY_ITERATORS(reduce_by_key)
__EMULATED_BY_ITERATORS(remove)
__EMULATED_BY_ITERATORS(remove_copy_if)
__EMULATED_BY_ITERATORS(remove_if)
__EMULATED_BY_ITERATORS(replace)
__EMULATED_BY_ITERATORS(replace_if)
__EMULATED_BY_ITERATORS(reverse)
__EMULATED_BY_ITERATORS(scatter)
__EMULATED_BY_ITERATORS(sequence)
__EMULATED_BY_ITERATORS(sort)
__EMULATED_BY_ITERATORS(sort_by_key)
__EMULATED_BY_ITERATORS(stable_partition)
__EMULATED_BY_ITERATORS(stable_sort)
__EMULATED_BY_ITERATORS(stable_sort_by_key)
__EMULATED_BY_ITERATORS(tabulate)
__EMULATED_BY_ITERATORS(transform)
__EMULATED_BY_ITERATORS(transform_exclusive_scan)
__EMULATED_BY_ITERATORS(transform_if)
__EMULATED_BY_ITERATORS(transform_inclusive_scan)
__EMULATED_BY_ITERATORS(transform_reduce)
__EMULATED_BY_ITERATORS(unique)
__EMULATED_BY_ITERATORS(unique_by_key)
__EMULATED_BY_ITERATORS(unique_by_key_copy)
__EMULATED_BY_ITERATORS(unique_copy)
#undef __EMULATED_BY_ITERATORS

}  // namespace thrust
