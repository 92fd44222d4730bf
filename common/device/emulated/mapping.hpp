#pragma once
#include <cstddef>
#include <utility>

namespace reduction::emulated {

/// Whether the system promises memory for all pages of a mapping, or only finds it for those that are
/// touched.
enum class Backing { promised, as_touched };

/// Pages from the operating system, zero until written and not taken from memory until touched.
class Mapping {
 public:
  Mapping() = default;
  explicit Mapping(std::size_t bytes,
                   Backing backing = Backing::promised);  ///< throws std::bad_alloc
  ~Mapping();
  Mapping(Mapping&& other) noexcept
      : begin_{std::exchange(other.begin_, nullptr)}, bytes_{std::exchange(other.bytes_, 0)} {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::byte* begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace reduction::emulated
