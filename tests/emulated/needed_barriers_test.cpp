/// No barrier and no fence is one too many in the steps: without any of them there is a finding. (pitfalls_test.py
/// deletes those that the pitfalls' fixes add, and kernel_sweep.hpp those of the tests' own kernels.)
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "device/atomics.cuh"
#include "device/bulk_copy.cuh"
#include "device/cuda_or_emulated.cuh"
#include "device/shuffle_down.cuh"
#include "device/vector.cuh"
#include "emulated/deletions.hpp"
#include "emulated/device_array.hpp"

// In this namespace, they call its barriers and fences.
namespace deletable {
#include "device/block_sum.cuh"
#include "device/last_block.cuh"
#include "needed_kernels.inc"
}  // namespace deletable

namespace {

using namespace deletable;
using Word = std::uint32_t;
using Words = __emulated::DeviceArray<Word>;

struct Row {
  std::string name;
  void (*launch)(unsigned grid, unsigned block, const Word* in, Word* out, size_t n);
};

TEST(NeededBarriers, OfSteps) {
  const std::vector<Row> rows{
#include "needed_rows.inc"
  };
  for (const auto& [name, launch] : rows) {
    SCOPED_TRACE(name);
    // Two blocks of 11 fill their rings more than once.
    const bool has_ring = name.ends_with("11_bulk_copy");
    const size_t n = has_ring ? 12 * of_beyond_11_bulk_copy::stages * of_beyond_11_bulk_copy::tile : 300;
    const Words in(n, 1), out(n);
    expect_all_needed([&, launch = launch] { launch(has_ring ? 2 : 3, 128, in, out, n); });
  }
}

}  // namespace
