#pragma once
#include <cstdint>

namespace __emulated {

/// The finaliser of splitmix64 (Steele, Lea and Flood, 2014): each bit of it depends on each bit of z.
constexpr std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace __emulated
