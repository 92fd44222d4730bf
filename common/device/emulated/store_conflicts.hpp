#pragma once
#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "device/emulated/evidence.hpp"
#include "device/emulated/operation.hpp"

namespace reduction::emulated {

/// Words of global memory to which several blocks of a launch have stored. Blocks run on many host threads,
/// so this gathers until the launch has ended and then names the lowest words and blocks, which do not depend
/// on which store came first.
class StoreConflicts {
 public:
  struct Store {
    std::size_t block;
    unsigned thread;
    Operation operation;
    const void* call_site;

    bool operator<(const Store& other) const {
      return std::tie(block, thread) < std::tie(other.block, other.thread);
    }
  };

  void add(const std::byte* address, const std::string& memory, const Store& one, const Store& other);

  std::vector<Evidence> evidence() const;

 private:
  static constexpr std::size_t kept_words = 16;

  struct Conflict {
    std::string memory;
    std::set<Store> stores;
  };

  std::mutex mutex_;
  std::map<const std::byte*, Conflict> conflicts_;
};

}  // namespace reduction::emulated
