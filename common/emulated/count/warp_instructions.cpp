#include "emulated/count/warp_instructions.hpp"

#include <algorithm>
#include <bit>

namespace __emulated {
namespace {

constexpr std::size_t sector_bytes = 32;

/// The wavefronts of lanes that are served together: distinct words of a bank, at the bank that has the most.
unsigned wavefronts(std::span<const std::uintptr_t> addresses, std::size_t bytes) {
  const std::size_t words_each = std::max<std::size_t>(1, bytes / word_bytes);
  std::array<std::array<std::uintptr_t, warp_size>, banks> words;
  std::array<unsigned, banks> distinct{};
  unsigned most = 1;
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

/// Whether each active lane asks for the address of lane ^ distance, or that one is idle.
bool pairs_agree(std::span<const std::uintptr_t> addresses, unsigned lanes, unsigned distance) {
  const auto address_of = [&](unsigned lane) {
    return addresses[static_cast<std::size_t>(std::popcount(lanes & (bit_of(lane) - 1)))];
  };
  for (const unsigned lane : lanes_of(lanes & lanes >> distance))
    if ((lane & distance) == 0 && address_of(lane) != address_of(lane + distance)) return false;
  return true;
}

RequestCost shared_cost(EventKind kind, std::span<const std::uintptr_t> addresses, unsigned lanes,
                        std::size_t bytes) {
  unsigned together = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  if (kind == EventKind::shared_load && together < warp_size &&
      (pairs_agree(addresses, lanes, 1) || pairs_agree(addresses, lanes, 2)))
    together *= 2;
  const unsigned group = together == 32 ? ~0U : (1U << together) - 1;
  RequestCost total;
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

/// The number of distinct sectors.
unsigned sectors_of(std::span<const std::uintptr_t> addresses, std::size_t bytes) {
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

}  // namespace

unsigned fewest_sectors(std::span<const std::uintptr_t> addresses, std::size_t bytes) {
  std::array<std::uintptr_t, warp_size> sorted;
  const auto end = std::ranges::copy(addresses, sorted.begin()).out;
  if (!std::is_sorted(sorted.begin(), end)) std::sort(sorted.begin(), end);
  const auto distinct = static_cast<std::size_t>(std::unique(sorted.begin(), end) - sorted.begin());
  return static_cast<unsigned>((distinct * bytes + sector_bytes - 1) / sector_bytes);
}

RequestCost cost_of(EventKind kind, std::span<const std::uintptr_t> addresses, unsigned lanes,
                    std::size_t bytes) {
  if (is_shared(kind)) return shared_cost(kind, addresses, lanes, bytes);
  return {.sectors = sectors_of(addresses, bytes)};
}

}  // namespace __emulated
