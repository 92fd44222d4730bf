#include "device/emulated/store_conflicts.hpp"

namespace reduction::emulated {

void StoreConflicts::add(const std::byte* address, const std::string& memory, const Store& one,
                         const Store& other) {
  const std::lock_guard lock{mutex_};
  Conflict& conflict = conflicts_.try_emplace(address, Conflict{memory, {}}).first->second;
  conflict.stores.insert({one, other});
  while (conflict.stores.size() > 2)
    conflict.stores.erase(std::prev(conflict.stores.end()));
  if (conflicts_.size() > kept_words) conflicts_.erase(std::prev(conflicts_.end()));
}

std::vector<Evidence> StoreConflicts::evidence() const {
  std::vector<Evidence> evidence;
  for (const auto& [address, conflict] : conflicts_) {
    Evidence seen{Fault::race, conflict.memory, {}};
    for (const Store& store : conflict.stores) {
      seen.witnesses.push_back(
          {describe_threads({store.thread}), store.block, verb_of(store.operation), store.call_site, {}});
    }
    evidence.push_back(std::move(seen));
  }
  return evidence;
}

}  // namespace reduction::emulated
