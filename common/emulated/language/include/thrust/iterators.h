#pragma once
/// \file
/// In place of Thrust: pointers to the device's memory, whose elements the host gets by copies, vectors there, and iterators.

#include <initializer_list>
#include <iterator>
#include <memory>
#include <vector>

#include "emulated/language/library_algorithms.hpp"

namespace thrust {

using std::advance, std::distance, std::next, std::prev;

template <typename I> struct iterator_value { using type = std::iter_value_t<I>; };
template <typename I> struct iterator_reference { using type = std::iter_reference_t<I>; };
template <typename I> struct iterator_difference { using type = std::iter_difference_t<I>; };

template <typename T> class device_ptr;

/// An element of the device's memory.
template <typename T> class device_reference {
 public:
  explicit device_reference(T* place) : place_{place} {}
  device_reference(const device_reference&) = default;

  operator std::remove_cv_t<T>() const {
#ifdef __EMULATED_HOST_PASS
    std::remove_cv_t<T> value;
    cudaMemcpy(static_cast<void*>(&value), place_, sizeof(T), cudaMemcpyDefault);
    return value;
#else
    return *place_;
#endif
  }
  const device_reference& operator=(const T& value) const {
#ifdef __EMULATED_HOST_PASS
    cudaMemcpy(static_cast<void*>(place_), &value, sizeof(T), cudaMemcpyDefault);
#else
    *place_ = value;
#endif
    return *this;
  }
  device_reference& operator=(const device_reference& other) {
    static_cast<const device_reference&>(*this) = static_cast<T>(other);
    return *this;
  }
  template <typename U> const device_reference& operator+=(const U& value) const {
    return *this = T(*this) + value;
  }
  template <typename U> const device_reference& operator-=(const U& value) const {
    return *this = T(*this) - value;
  }
  template <typename U> const device_reference& operator*=(const U& value) const {
    return *this = T(*this) * value;
  }
  template <typename U> const device_reference& operator/=(const U& value) const {
    return *this = T(*this) / value;
  }
  const device_reference& operator++() const { return *this += 1; }
  const device_reference& operator--() const { return *this -= 1; }
  device_ptr<T> operator&() const { return device_ptr<T>{place_}; }
  template <typename Stream> friend Stream& operator<<(Stream& stream, const device_reference& element) {
    stream << static_cast<std::remove_cv_t<T>>(element);
    return stream;
  }

 private:
  T* place_;
};
template <typename T> T& raw_reference_cast(T& element) { return element; }

/// What random access takes, of iterators that know how to advance(), how far another one is, and their element.
template <typename Iterator, typename Value, typename Reference> class random_access {
 public:
  using value_type = Value;
  using reference = Reference;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;

  Iterator& operator++() { return own() += 1; }
  Iterator& operator--() { return own() += -1; }
  Iterator operator++(int) {
    Iterator before = own();
    own() += 1;
    return before;
  }
  Iterator operator--(int) {
    Iterator before = own();
    own() += -1;
    return before;
  }
  Iterator& operator+=(std::ptrdiff_t n) {
    own().advance(n);
    return own();
  }
  Iterator& operator-=(std::ptrdiff_t n) { return own() += -n; }
  friend Iterator operator+(Iterator i, std::ptrdiff_t n) { return i += n; }
  friend Iterator operator+(std::ptrdiff_t n, Iterator i) { return i += n; }
  friend Iterator operator-(Iterator i, std::ptrdiff_t n) { return i += -n; }
  friend std::ptrdiff_t operator-(const Iterator& a, const Iterator& b) { return b.distance_to(a); }
  friend bool operator==(const Iterator& a, const Iterator& b) { return b.distance_to(a) == 0; }
  friend auto operator<=>(const Iterator& a, const Iterator& b) { return b.distance_to(a) <=> 0; }
  Reference operator[](std::ptrdiff_t n) const { return *(static_cast<const Iterator&>(*this) + n); }

 private:
  Iterator& own() { return static_cast<Iterator&>(*this); }
};

template <typename T>
class device_ptr : public random_access<device_ptr<T>, std::remove_cv_t<T>, device_reference<T>> {
 public:
  using element_type = T;
  device_ptr() = default;
  device_ptr(std::nullptr_t) {}
  explicit device_ptr(T* pointer) : pointer_{pointer} {}
  template <typename U>
  requires std::is_convertible_v<U*, T*> device_ptr(const device_ptr<U>& other) : pointer_{other.get()} {}

  T* get() const { return pointer_; }
  device_reference<T> operator*() const { return device_reference<T>{pointer_}; }
  explicit operator bool() const { return pointer_ != nullptr; }
  void advance(std::ptrdiff_t n) { pointer_ += n; }
  std::ptrdiff_t distance_to(const device_ptr& other) const { return other.pointer_ - pointer_; }

 private:
  T* pointer_ = nullptr;
};

template <typename T> T* raw_pointer_cast(T* pointer) { return pointer; }
template <typename T> T* raw_pointer_cast(const device_ptr<T>& pointer) { return pointer.get(); }
template <typename T> device_ptr<T> device_pointer_cast(T* pointer) { return device_ptr<T>{pointer}; }
template <typename T> device_ptr<T> device_malloc(std::size_t count) {
  T* pointer = nullptr;
  cudaMalloc(&pointer, count * sizeof(T));
  return device_ptr<T>{pointer};
}
template <typename T> void device_free(const device_ptr<T>& pointer) {
  cudaFree(const_cast<std::remove_const_t<T>*>(pointer.get()));
}

template <typename T, typename Allocator> class device_vector;

template <typename T, typename Allocator = std::allocator<T>> class host_vector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  host_vector() = default;
  host_vector(const std::vector<T>& other) : std::vector<T>(other) {}
  template <typename U, typename A>
  host_vector(const host_vector<U, A>& other) : std::vector<T>(other.begin(), other.end()) {}
  template <typename A> host_vector(const device_vector<T, A>& other) : std::vector<T>(other.on_host()) {}
  template <typename A> host_vector& operator=(const device_vector<T, A>& other) {
    return *this = host_vector(other);
  }
};

/// What changes its size goes by way of the host, but for push_back().
template <typename T, typename Allocator = std::allocator<T>> class device_vector {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using iterator = device_ptr<T>;
  using const_iterator = device_ptr<const T>;
  using reference = device_reference<T>;
  using pointer = device_ptr<T>;

  device_vector() = default;
  explicit device_vector(std::size_t count) : device_vector(count, T{}) {}
  device_vector(std::size_t count, const T& value) { assign(count, value); }
  template <std::input_iterator Iterator> device_vector(Iterator first, Iterator last) {
    assign(first, last);
  }
  device_vector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  device_vector(const device_vector& other) { *this = other; }
  device_vector(device_vector&& other) noexcept { swap(other); }
  template <typename U> device_vector(const std::vector<U>& values) { assign(values.begin(), values.end()); }
  template <typename U, typename A> device_vector(const device_vector<U, A>& other) {
    *this = other.on_host();
  }
  ~device_vector() { cudaFree(begin_); }

  device_vector& operator=(const device_vector& other) {
    make_room(size_ = other.size_, 0);
    cudaMemcpy(begin_, other.begin_, size_ * sizeof(T), cudaMemcpyDefault);
    return *this;
  }
  device_vector& operator=(device_vector&& other) noexcept {
    swap(other);
    return *this;
  }
  template <typename U> device_vector& operator=(const std::vector<U>& values) {
    assign(values.begin(), values.end());
    return *this;
  }

  iterator begin() { return iterator{begin_}; }
  iterator end() { return begin() + static_cast<std::ptrdiff_t>(size_); }
  const_iterator begin() const { return const_iterator{begin_}; }
  const_iterator end() const { return begin() + static_cast<std::ptrdiff_t>(size_); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  auto rbegin() { return std::reverse_iterator(end()); }
  auto rend() { return std::reverse_iterator(begin()); }
  iterator data() { return begin(); }
  const_iterator data() const { return begin(); }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  reference operator[](std::size_t i) { return begin()[static_cast<std::ptrdiff_t>(i)]; }
  device_reference<const T> operator[](std::size_t i) const {
    return begin()[static_cast<std::ptrdiff_t>(i)];
  }
  reference front() { return *begin(); }
  reference back() { return *(end() - 1); }
  device_reference<const T> front() const { return *begin(); }
  device_reference<const T> back() const { return *(end() - 1); }

  void reserve(std::size_t count) { make_room(count, size_); }
  void shrink_to_fit() {}
  void resize(std::size_t count, const T& value = T{}) {
    change([&](std::vector<T>& values) { values.resize(count, value); });
  }
  void push_back(const T& value) {
    if (size_ == capacity_) make_room(size_ == 0 ? 4 : 2 * size_, size_);
    ++size_;
    back() = value;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void assign(std::size_t count, const T& value) { copy_from(std::vector<T>(count, value)); }
  template <std::input_iterator Iterator> void assign(Iterator first, Iterator last) {
    copy_from(std::vector<T>(first, last));
  }
  template <typename U> void assign(device_ptr<U> first, device_ptr<U> last) {
    std::vector<T> values(static_cast<std::size_t>(last - first));
    cudaMemcpy(values.data(), first.get(), values.size() * sizeof(T), cudaMemcpyDefault);
    copy_from(values);
  }
  iterator insert(iterator place, const T& value) { return insert(place, &value, &value + 1); }
  template <std::input_iterator Iterator> iterator insert(iterator place, Iterator first, Iterator last) {
    const auto at = place - begin();
    change([&](std::vector<T>& values) { values.insert(values.begin() + at, first, last); });
    return begin() + at;
  }
  iterator erase(iterator place) { return erase(place, place + 1); }
  iterator erase(iterator first, iterator last) {
    const auto at = first - begin(), end_at = last - begin();
    change([&](std::vector<T>& values) { values.erase(values.begin() + at, values.begin() + end_at); });
    return begin() + at;
  }
  void swap(device_vector& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  std::vector<T> on_host() const {
    std::vector<T> values(size_);
    cudaMemcpy(values.data(), begin_, size_ * sizeof(T), cudaMemcpyDefault);
    return values;
  }
  template <typename A> friend bool operator==(const device_vector& a, const device_vector<T, A>& b) {
    return a.on_host() == b.on_host();
  }
  friend bool operator==(const device_vector& a, const std::vector<T>& b) { return a.on_host() == b; }

 private:
  void make_room(std::size_t count, std::size_t kept) {
    if (count <= capacity_) return;
    T* more = nullptr;
    __emulated::allocate_as(
        std::is_same_v<Allocator, void> ? __emulated::Allocation::managed : __emulated::Allocation::device,
        &more, count * sizeof(T));
    cudaMemcpy(more, begin_, kept * sizeof(T), cudaMemcpyDefault);
    cudaFree(begin_);
    begin_ = more;
    capacity_ = count;
  }
  void copy_from(const std::vector<T>& values) {
    make_room(size_ = values.size(), 0);
    cudaMemcpy(begin_, values.data(), size_ * sizeof(T), cudaMemcpyDefault);
  }
  template <typename Change> void change(const Change& change) {
    std::vector<T> values = on_host();
    change(values);
    copy_from(values);
  }

  T* begin_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};
template <typename T> using universal_vector = device_vector<T, void>;

// ---- iterators that have no memory of their own ----

template <typename T> class counting_iterator : public random_access<counting_iterator<T>, T, T> {
 public:
  explicit counting_iterator(T value = T{}) : value_{value} {}
  T operator*() const { return value_; }
  void advance(std::ptrdiff_t n) { value_ = static_cast<T>(value_ + static_cast<T>(n)); }
  std::ptrdiff_t distance_to(const counting_iterator& other) const {
    return static_cast<std::ptrdiff_t>(other.value_) - static_cast<std::ptrdiff_t>(value_);
  }

 private:
  T value_;
};
template <typename T> counting_iterator<T> make_counting_iterator(T value) {
  return counting_iterator<T>{value};
}

template <typename T> class constant_iterator : public random_access<constant_iterator<T>, T, T> {
 public:
  explicit constant_iterator(const T& value, std::ptrdiff_t place = 0) : value_{value}, place_{place} {}
  T operator*() const { return value_; }
  void advance(std::ptrdiff_t n) { place_ += n; }
  std::ptrdiff_t distance_to(const constant_iterator& other) const { return other.place_ - place_; }

 private:
  T value_;
  std::ptrdiff_t place_;
};
template <typename T> constant_iterator<T> make_constant_iterator(const T& value) {
  return constant_iterator<T>{value};
}

/// Takes what is written, and forgets it.
class discard_iterator : public random_access<discard_iterator, int, decltype((std::ignore))> {
 public:
  auto& operator*() const { return std::ignore; }
  void advance(std::ptrdiff_t n) { place_ += n; }
  std::ptrdiff_t distance_to(const discard_iterator& other) const { return other.place_ - place_; }

 private:
  std::ptrdiff_t place_ = 0;
};
inline discard_iterator make_discard_iterator() { return {}; }

template <typename Function, typename Iterator,
          typename Result = std::invoke_result_t<Function&, std::iter_value_t<Iterator>>>
class transform_iterator;
template <typename Elements, typename Places> class permutation_iterator;
template <typename Iterators> class zip_iterator;

namespace details {

/// An iterator as the device's code uses it: with pointers in place of device_ptr.
template <typename Iterator> Iterator raw(Iterator iterator) { return iterator; }
template <typename T> T* raw(device_ptr<T> pointer) { return pointer.get(); }
template <typename Iterator> auto raw(const std::reverse_iterator<Iterator>& iterator) {
  return std::reverse_iterator(raw(iterator.base()));
}
template <typename Function, typename Iterator, typename Result>
auto raw(const transform_iterator<Function, Iterator, Result>& iterator);
template <typename Elements, typename Places>
auto raw(const permutation_iterator<Elements, Places>& iterator);
template <typename... Iterator> auto raw(const zip_iterator<std::tuple<Iterator...>>& iterator);

}  // namespace details

template <typename Function, typename Iterator, typename Result>
class transform_iterator : public random_access<transform_iterator<Function, Iterator, Result>,
                                                std::remove_cvref_t<Result>, Result> {
 public:
  transform_iterator(Iterator iterator, Function function) : iterator_{iterator}, function_{function} {}
  Result operator*() const { return static_cast<Result>(function_(*iterator_)); }
  void advance(std::ptrdiff_t n) { iterator_ += n; }
  std::ptrdiff_t distance_to(const transform_iterator& other) const { return other.iterator_ - iterator_; }
  const Iterator& base() const { return iterator_; }
  const Function& functor() const { return function_; }

 private:
  Iterator iterator_;
  mutable Function function_;
};
template <typename Iterator, typename Function>
transform_iterator<Function, Iterator> make_transform_iterator(Iterator iterator, Function function) {
  return {iterator, function};
}

template <typename Elements, typename Places>
class permutation_iterator
    : public random_access<permutation_iterator<Elements, Places>, std::iter_value_t<Elements>,
                           std::iter_reference_t<Elements>> {
 public:
  permutation_iterator(Elements elements, Places places) : elements_{elements}, places_{places} {}
  decltype(auto) operator*() const { return elements_[static_cast<std::ptrdiff_t>(*places_)]; }
  void advance(std::ptrdiff_t n) { places_ += n; }
  std::ptrdiff_t distance_to(const permutation_iterator& other) const { return other.places_ - places_; }
  const Elements& elements() const { return elements_; }
  const Places& places() const { return places_; }

 private:
  Elements elements_;
  Places places_;
};
template <typename Elements, typename Places>
permutation_iterator<Elements, Places> make_permutation_iterator(Elements elements, Places places) {
  return {elements, places};
}

template <typename... Iterator>
class zip_iterator<std::tuple<Iterator...>>
    : public random_access<zip_iterator<std::tuple<Iterator...>>, std::tuple<std::iter_value_t<Iterator>...>,
                           std::tuple<std::iter_reference_t<Iterator>...>> {
 public:
  zip_iterator(const std::tuple<Iterator...>& iterators) : iterators_{iterators} {}
  auto operator*() const {
    return std::apply(
        [](const auto&... each) { return std::tuple<std::iter_reference_t<Iterator>...>{*each...}; },
        iterators_);
  }
  void advance(std::ptrdiff_t n) {
    std::apply([n](auto&... each) { ((each += n), ...); }, iterators_);
  }
  std::ptrdiff_t distance_to(const zip_iterator& other) const {
    return std::get<0>(other.iterators_) - std::get<0>(iterators_);
  }
  const std::tuple<Iterator...>& get_iterator_tuple() const { return iterators_; }

 private:
  std::tuple<Iterator...> iterators_;
};
template <typename... Iterator>
zip_iterator<std::tuple<Iterator...>> make_zip_iterator(const std::tuple<Iterator...>& all) {
  return all;
}
template <typename... Iterator>
requires(sizeof...(Iterator) > 1) zip_iterator<std::tuple<Iterator...>> make_zip_iterator(Iterator... all) {
  return std::tuple{all...};
}
/// Calls a function with the elements of a tuple.
template <typename Function> struct zip_function {
  mutable Function function;
  template <typename Tuple> decltype(auto) operator()(Tuple&& elements) const {
    return std::apply(function, elements);
  }
};
template <typename Function> zip_function<Function> make_zip_function(Function function) {
  return {function};
}

namespace details {

template <typename Function, typename Iterator, typename Result>
auto raw(const transform_iterator<Function, Iterator, Result>& iterator) {
  return transform_iterator<Function, decltype(raw(iterator.base())), Result>{raw(iterator.base()),
                                                                              iterator.functor()};
}
template <typename Elements, typename Places>
auto raw(const permutation_iterator<Elements, Places>& iterator) {
  return make_permutation_iterator(raw(iterator.elements()), raw(iterator.places()));
}
template <typename... Iterator> auto raw(const zip_iterator<std::tuple<Iterator...>>& iterator) {
  return std::apply([](const auto&... each) { return make_zip_iterator(std::make_tuple(raw(each)...)); },
                    iterator.get_iterator_tuple());
}

/// Whether what an iterator is of is on the device; by itself it may be on neither side.
enum class System { any, host, device };
template <typename T>
inline constexpr System system_of = std::input_or_output_iterator<T> ? System::host : System::any;
template <typename T> inline constexpr System system_of<device_ptr<T>> = System::device;
template <typename T> inline constexpr System system_of<counting_iterator<T>> = System::any;
template <typename T> inline constexpr System system_of<constant_iterator<T>> = System::any;
template <> inline constexpr System system_of<discard_iterator> = System::any;
template <typename T> inline constexpr System system_of<std::reverse_iterator<T>> = system_of<T>;
template <typename F, typename T, typename R>
inline constexpr System system_of<transform_iterator<F, T, R>> = system_of<T>;
template <typename... T>
inline constexpr System joined_system = ((system_of<T> == System::device) || ...) ? System::device
                                        : ((system_of<T> == System::host) || ...) ? System::host
                                                                                  : System::any;
template <typename E, typename P>
inline constexpr System system_of<permutation_iterator<E, P>> = joined_system<E, P>;
template <typename... T>
inline constexpr System system_of<zip_iterator<std::tuple<T...>>> = joined_system<T...>;

}  // namespace details

}  // namespace thrust
