#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace __emulated {

/// The finaliser of splitmix64 (Steele, Lea and Flood, 2014): each bit of it depends on each bit of z.
constexpr std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// A hash of bytes that may be a fiber's stack: AddressSanitizer keeps parts of it from being read.
[[gnu::no_sanitize_address]] inline std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = bytes.size();
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, bytes.data() + i, 8);
    hash = std::rotl((hash ^ word) * 0x9e3779b97f4a7c15, 29);
  }
  for (; i < bytes.size(); ++i)
    hash = std::rotl((hash ^ static_cast<std::uint64_t>(bytes.data()[i])) * 0x9e3779b97f4a7c15, 29);
  return mixed(hash);
}

}  // namespace __emulated
