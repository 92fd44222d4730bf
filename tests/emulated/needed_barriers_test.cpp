/// No barrier and no fence is one too many in the steps: without any of them there is a finding. (pitfalls_test.py
/// deletes those that the pitfalls' fixes add, and kernel_sweep.hpp those of the tests' own kernels.)
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
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
namespace step_01 {
#include "01_interleaved/kernel.cuh"
}  // namespace step_01
namespace step_02 {
#include "02_nondivergent/kernel.cuh"
}  // namespace step_02
namespace step_03 {
#include "03_sequential/kernel.cuh"
}  // namespace step_03
namespace step_04 {
#include "04_first_add/kernel.cuh"
}  // namespace step_04
namespace step_05 {
#include "05_unroll_warp/kernel.cuh"
}  // namespace step_05
namespace step_06 {
#include "06_templated/kernel.cuh"
}  // namespace step_06
namespace step_07 {
#include "07_cascade/kernel.cuh"
}  // namespace step_07
namespace step_08 {
#include "beyond/08_warp_shuffle/kernel.cuh"
}  // namespace step_08
namespace step_09 {
#include "beyond/09_vector_loads/kernel.cuh"
}  // namespace step_09
namespace step_10 {
#include "beyond/10_single_pass/kernel.cuh"
}  // namespace step_10
namespace step_11 {
#include "beyond/11_bulk_copy/kernel.cuh"
}  // namespace step_11
namespace atomic_shared {
#include "beyond/atomics/atomic_shared/kernel.cuh"
}  // namespace atomic_shared
namespace atomic_leader {
#include "beyond/atomics/atomic_leader/kernel.cuh"
}  // namespace atomic_leader
namespace atomic_block {
#include "beyond/atomics/atomic_block/kernel.cuh"
}  // namespace atomic_block
namespace solution_08 {
#include "docs/solutions/08_warp_shuffle/kernel.cuh"
}  // namespace solution_08
namespace solution_10 {
#include "docs/solutions/10_single_pass/kernel.cuh"
}  // namespace solution_10
namespace solution_11 {
#include "docs/solutions/11_bulk_copy/kernel.cuh"
}  // namespace solution_11
}  // namespace deletable

namespace {

using namespace deletable;
using Words = __emulated::DeviceArray<std::uint32_t>;

struct Row {
  std::string name;
  std::function<void(const Words& in, const Words& out)> run;
};

/// 300 elements.
void expect_all_needed_in(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Words in(300, 1), out(300);
    expect_all_needed([&] { row.run(in, out); });
  }
}

TEST(NeededBarriers, OfSteps) {
  constexpr unsigned block = 128;
  const auto run = [](auto launch, unsigned grid) {
    return [=](const Words& in, const Words& out) { launch(grid, block, in, out, size_t{300}); };
  };
  // Two blocks, each of which fills its ring more than once.
  const auto run_rings = [](auto launch, size_t vectors) {
    return [=](const Words&, const Words& out) {
      const Words in(12 * vectors, 1);
      launch(2, block, in, out, 12 * vectors);
    };
  };
  using Word = std::uint32_t;
  expect_all_needed_in({
      {"01_interleaved", run(step_01::launch_reduce<Word>, 3)},
      {"02_nondivergent", run(step_02::launch_reduce<Word>, 3)},
      {"03_sequential", run(step_03::launch_reduce<Word>, 3)},
      {"04_first_add", run(step_04::launch_reduce<Word>, 2)},
      {"05_unroll_warp", run(step_05::launch_reduce<Word>, 2)},
      {"06_templated", run(step_06::launch_reduce<Word>, 2)},
      {"07_cascade", run(step_07::launch_reduce<Word>, 2)},
      {"08_warp_shuffle", run(step_08::launch_reduce<Word>, 2)},
      {"09_vector_loads", run(step_09::launch_reduce<Word>, 2)},
      {"10_single_pass", run(step_10::launch_reduce<Word>, 2)},
      {"11_bulk_copy", run_rings(step_11::launch_reduce<Word>, step_11::stages * step_11::tile)},
      {"atomic_shared", run(atomic_shared::launch_reduce<Word>, 2)},
      {"atomic_leader", run(atomic_leader::launch_reduce<Word>, 2)},
      {"atomic_block", run(atomic_block::launch_reduce<Word>, 2)},
      {"solution of 08", run(solution_08::launch_reduce<Word>, 2)},
      {"solution of 10", run(solution_10::launch_reduce<Word>, 2)},
      {"solution of 11",
       run_rings(solution_11::launch_reduce<Word>, solution_11::stages * solution_11::tile)},
  });
}

}  // namespace
