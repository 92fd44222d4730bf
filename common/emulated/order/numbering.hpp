#pragma once
#include <map>
#include <vector>

namespace __emulated {

/// Numbers values from 0 on, in the order in which they first come.
template <typename T> class Numbering {
 public:
  unsigned number_of(const T& value) {
    const auto [known, is_new] = numbers_.try_emplace(value, static_cast<unsigned>(values_.size()));
    if (is_new) values_.push_back(value);
    return known->second;
  }

  const T& operator[](unsigned number) const { return values_[number]; }
  const std::vector<T>& values() const { return values_; }

  void clear() {
    numbers_.clear();
    values_.clear();
  }

 private:
  std::map<T, unsigned> numbers_;
  std::vector<T> values_;
};

}  // namespace __emulated
