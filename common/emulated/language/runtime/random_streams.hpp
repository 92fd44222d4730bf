#pragma once
/// \file
/// Where the subsequences of cuRAND's generators begin. (cuRAND Library, "Pseudorandom Sequences")

#include <array>

namespace __emulated {

/// The shift register of XORWOW after `subsequence` times 2^67 steps, and `offset` more.
std::array<unsigned, 5> xorwow_after(const std::array<unsigned, 5>& state, unsigned long long subsequence,
                                     unsigned long long offset);

inline constexpr unsigned long long mrg_moduli[] = {4294967087, 4294944443};

/// One of the two recurrences of MRG32k3a after `subsequence` times 2^76 steps, and `offset` more.
std::array<unsigned, 3> mrg_after(unsigned component, const std::array<unsigned, 3>& state,
                                  unsigned long long subsequence, unsigned long long offset);

}  // namespace __emulated
