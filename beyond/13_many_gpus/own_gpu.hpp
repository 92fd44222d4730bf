#pragma once
/// \file
/// A GPU for each rank, and no two ranks on one.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace reduction {

/// Returns which of the GPUs that a rank sees it takes: the ranks of a machine take turns. They may all see the same ones,
/// or each its own only, as with srun --gpus-per-task=1.
constexpr int gpu_of(int rank_on_node, int visible) { return visible > 0 ? rank_on_node % visible : 0; }

/// Two of a machine's ranks, by their numbers on it.
struct Sharers {
  std::size_t first;
  std::size_t second;
};

/// Returns the first rank that has the same GPU as one before it, and that one, if there is such a rank. Only the UUIDs
/// tell: a card's number depends on what its rank sees.
inline std::optional<Sharers> find_sharers(const std::vector<std::string>& uuids) {
  for (auto uuid = uuids.begin(); uuid != uuids.end(); ++uuid) {
    const auto same = std::find(uuids.begin(), uuid, *uuid);
    if (same != uuid) {
      return Sharers{static_cast<std::size_t>(std::distance(uuids.begin(), same)),
                     static_cast<std::size_t>(std::distance(uuids.begin(), uuid))};
    }
  }
  return std::nullopt;
}

}  // namespace reduction
