#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "emulated/run/lanes.hpp"

namespace __emulated {

/// For each lane of a warp a number for each of its accesses, in order.
using LaneNumbers = std::array<std::vector<std::uint32_t>, warp_size>;

/// Which accesses of lanes that went different ways are one warp instruction: `places` are the places of the lanes'
/// accesses, numbers below `count`; the result are the numbers of their instructions.
///
/// A GPU's lanes come together again behind a branch, at the end of a loop, and mostly before its next pass. What of it
/// belongs together is seen from the accesses alone: a place that all lanes pass equally often, such as one that each pass
/// of a loop has, is an *anchor*: its k-th visits are one instruction, and what lanes do between two visits is aligned on
/// its own. Without anchors, the k-th visits of each place are one instruction.
LaneNumbers align(const LaneNumbers& places, std::uint32_t count);

}  // namespace __emulated
