#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "emulated/count/counters.hpp"

/// What each step has to count: Nsight Compute's figures, and a model by hand.
namespace step_model {

using __emulated::Counters;

/// What Nsight Compute 2025.3 counts on an H200 for the first pass over 2^22 int32 in blocks of 256.
struct Measured {
  std::string_view step;
  std::uint64_t blocks, shared_load_requests, load_conflicts, store_conflicts, shared_stores, global_loads,
      sectors;
};

inline constexpr Measured h200[] = {{"01_interleaved", 16384, 95, 0, 0, 901120, 131072, 524288},
                                    {"02_nondivergent", 16384, 25, 1146880, 573440, 327680, 131072, 524288},
                                    {"03_sequential", 16384, 25, 0, 0, 327680, 131072, 524288},
                                    {"04_first_add", 8192, 25, 0, 0, 163840, 131072, 524288},
                                    {"05_unroll_warp", 8192, 20, 0, 0, 163840, 131072, 524288},
                                    {"06_templated", 8192, 20, 0, 0, 163840, 131072, 524288},
                                    {"07_cascade", 1056, 20, 0, 0, 21120, 131072, 524288}};

/// The steps that there is a model of, from number 1 on.
inline constexpr std::array<std::string_view, 10> modelled{
    "01_interleaved", "02_nondivergent", "03_sequential",   "04_first_add",    "05_unroll_warp",
    "06_templated",   "07_cascade",      "08_warp_shuffle", "09_vector_loads", "10_single_pass"};

constexpr unsigned parts(unsigned whole, unsigned part) { return (whole + part - 1) / part; }

/// Wavefronts and conflicts of neighbouring lanes of one warp, each `stride` elements of `bytes` bytes
/// after the one before. Elements 4·stride·words bytes apart fall on 32/gcd(32, stride·words) banks.
struct Transactions {
  unsigned wavefronts = 0, conflicts = 0;
};

inline Transactions strided(unsigned lanes, unsigned stride, unsigned bytes) {
  const unsigned words = bytes / 4;
  const unsigned together = 32 / words;
  const unsigned banks = 32 / std::gcd(32U, stride * words);
  Transactions total;
  for (unsigned first = 0; first < lanes; first += together) {
    const unsigned needed = parts(std::min(together, lanes - first), banks);
    total.wavefronts += needed;
    total.conflicts += needed - 1;
  }
  return total;
}

/// One block's counters, put together from what its source says, for a full tile.
class Model {
 public:
  explicit Model(unsigned bytes) : bytes_{bytes} {}

  /// `threads` neighbouring threads read, or write, elements `stride` apart.
  void load(unsigned threads, unsigned stride = 1, unsigned times = 1) {
    access(threads, stride, times, counted.shared_load_requests, counted.shared_load_wavefronts,
           counted.shared_load_conflicts, counted.shared_load_lanes);
  }
  void store(unsigned threads, unsigned stride = 1) {
    access(threads, stride, 1, counted.shared_store_requests, counted.shared_store_wavefronts,
           counted.shared_store_conflicts, counted.shared_store_lanes);
  }

  /// Every 2·stride-th thread of the block adds the element `stride` away to its own: two loads and a store.
  void add_interleaved(unsigned block, unsigned stride) {
    const unsigned spacing = 2 * stride;
    const unsigned workers = block / spacing;
    const unsigned warps = std::min(parts(block, 32), workers);
    // A group of lanes spans as many words as there are banks, so that spaced lanes have no conflicts.
    const unsigned together = 32 * 4 / bytes_;
    const unsigned groups = spacing < together ? block / together : workers;
    counted.shared_load_requests += 2 * warps;
    counted.shared_load_wavefronts += 2 * groups;
    // Loads of lanes without active neighbours are served two groups at a time, which want the same banks.
    const unsigned served = std::min(32U, 2 * together);
    counted.shared_load_conflicts += 2 * (groups - (spacing < served ? block / served : workers));
    counted.shared_load_lanes += 2 * workers;
    counted.shared_store_requests += warps;
    counted.shared_store_wavefronts += groups;
    counted.shared_store_lanes += workers;
  }

  /// `threads` neighbouring threads read as many bytes each, of one element or of a vector of them.
  void global_load(unsigned threads, unsigned bytes) {
    counted.global_load_requests += threads / 32;
    counted.global_load_sectors += threads * bytes / 32;
    counted.global_load_lanes += threads;
  }

  /// All lanes of `warps` warps pass a value on, five times.
  void sum_warps(unsigned warps) { counted.shuffles += std::uint64_t{warps} * 5 * (bytes_ / 4); }

  void write_result() {
    ++counted.global_store_requests;
    ++counted.global_store_sectors;
    ++counted.global_store_lanes;
  }

  Counters counted;

 private:
  void access(unsigned threads, unsigned stride, unsigned times, std::uint64_t& requests,
              std::uint64_t& wavefronts, std::uint64_t& conflicts, std::uint64_t& lanes) const {
    for (unsigned first = 0; first < threads; first += 32) {
      const Transactions one = strided(std::min(32U, threads - first), stride, bytes_);
      requests += times;
      wavefronts += times * one.wavefronts;
      conflicts += times * one.conflicts;
    }
    lanes += std::uint64_t{times} * threads;
  }

  unsigned bytes_;
};

/// Steps 01 to 07: a tree in shared memory.
inline void model_tree(Model& model, unsigned step, unsigned block) {
  model.store(block);
  ++model.counted.block_barriers;
  const auto add = [&](unsigned threads, unsigned stride) {
    model.load(threads, stride, 2);
    model.store(threads, stride);
    ++model.counted.block_barriers;
  };
  if (step == 1) {
    for (unsigned stride = 1; stride < block; stride *= 2) {
      model.add_interleaved(block, stride);
      ++model.counted.block_barriers;
    }
  } else if (step == 2) {
    for (unsigned stride = 1; stride < block; stride *= 2)
      add(block / (2 * stride), 2 * stride);
  } else {
    for (unsigned stride = block / 2; stride > (step < 5 ? 0 : 32); stride /= 2)
      add(stride, 1);
  }
  if (step >= 5) {
    // The last warp: its own element, then a neighbour's per level, and two warp barriers around each write.
    model.load(32);
    model.load(32, 1, block > 32 ? 6 : 5);
    for (unsigned level = 0; level < 6; ++level)
      model.store(32);
    model.counted.warp_barriers += 12;
  }
  model.load(1);
}

/// From step 08 on: each warp leaves one sum in shared memory, and the first adds these.
inline void model_shuffles(Model& model, unsigned block) {
  model.sum_warps(block / 32);
  for (unsigned warp = 0; warp < block / 32; ++warp)
    model.store(1);
  ++model.counted.block_barriers;
  model.load(block / 32);
  model.sum_warps(1);
}

/// Elements that a thread adds in model_block: one tile, but four of them in 07 and 08.
inline unsigned elements_a_thread(unsigned step, unsigned bytes) {
  if (step >= 9) return 4 * 16 / bytes;
  return step < 4 ? 1 : step < 7 ? 2 : 8;
}

inline Counters model_block(unsigned step, unsigned block, unsigned bytes) {
  Model model{bytes};
  model.counted.blocks = 1;
  model.counted.threads = block;
  if (step < 9) {
    model.global_load(block * elements_a_thread(step, bytes), bytes);
  } else {
    model.global_load(block * 4, 16);
  }
  if (step < 8) {
    model_tree(model, step, block);
  } else {
    model_shuffles(model, block);
  }
  model.write_result();
  return model.counted;
}

/// What the blocks of step 10 do beyond their own sums: each takes a ticket, and the last adds up all sums.
inline Counters model_last_block(unsigned block, unsigned grid, unsigned bytes) {
  Model model{bytes};
  model.counted.block_barriers += grid;
  model.counted.atomics += grid;
  ++model.counted.global_load_requests;
  model.counted.global_load_sectors += parts(grid * bytes, 32);
  model.counted.global_load_lanes += grid;
  model_shuffles(model, block);
  model.write_result();
  return model.counted;
}

/// The first pass of a step, by its number, over `grid` full tiles.
inline Counters model_pass(unsigned step, unsigned block, unsigned grid, unsigned bytes) {
  Counters counted;
  for (unsigned i = 0; i < grid; ++i)
    counted += model_block(step, block, bytes);
  if (step == 10) counted += model_last_block(block, grid, bytes);
  return counted;
}

}  // namespace step_model
