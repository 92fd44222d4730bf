#include "device/emulated/transactions.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "device/emulated/lanes.hpp"
#include "device/emulated/memory.hpp"

namespace reduction::emulated {
namespace {

constexpr unsigned banks = 32;
constexpr std::size_t sector_bytes = 32;

/// The wavefronts of lanes that are served together: distinct words of a bank, at the bank that has the most.
unsigned wavefronts(std::span<const std::uintptr_t> addresses, std::size_t bytes) {
  std::array<std::array<std::uintptr_t, warp_size>, banks> words;
  std::array<unsigned, banks> distinct{};
  unsigned most = 0;
  const std::size_t words_each = std::max<std::size_t>(1, bytes / word_bytes);
  for (const std::uintptr_t address : addresses) {
    for (std::size_t i = 0; i < words_each; ++i) {
      const std::uintptr_t word = address / word_bytes + i;
      const std::size_t bank = word % banks;
      auto& here = words[bank];
      const auto end = here.begin() + distinct[bank];
      if (std::find(here.begin(), end, word) != end) continue;
      *end = word;
      most = std::max(most, ++distinct[bank]);
    }
  }
  return most;
}

}  // namespace

SharedTransactions shared_transactions(std::span<const std::uintptr_t> addresses, unsigned lanes,
                                       std::size_t bytes) {
  const unsigned together = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  const unsigned group = together == 32 ? ~0U : (1U << together) - 1;
  SharedTransactions total;
  std::size_t first = 0;
  for (unsigned lane = 0; lane < warp_size; lane += together) {
    const auto count = static_cast<std::size_t>(std::popcount(lanes >> lane & group));
    if (count == 0) continue;
    const unsigned needed = wavefronts(addresses.subspan(first, count), bytes);
    total.wavefronts += needed;
    total.conflicts += needed - 1;
    first += count;
  }
  return total;
}

unsigned global_sectors(std::span<const std::uintptr_t> addresses, std::size_t bytes) {
  std::array<std::uintptr_t, 2 * warp_size> sectors;
  unsigned count = 0;
  const auto add = [&](std::uintptr_t sector) {
    if (count == 0 || sectors[count - 1] != sector) sectors[count++] = sector;
  };
  for (const std::uintptr_t address : addresses) {
    add(address / sector_bytes);
    add((address + bytes - 1) / sector_bytes);
  }
  const auto end = sectors.begin() + count;
  if (!std::is_sorted(sectors.begin(), end)) std::sort(sectors.begin(), end);
  return static_cast<unsigned>(std::unique(sectors.begin(), end) - sectors.begin());
}

}  // namespace reduction::emulated
