/// No barrier and no fence is one too many in the steps and in the fixed pitfalls: without any of them there is a finding.
/// (Those of the tests' own kernels are deleted by kernel_sweep.hpp.)
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
namespace fixed {
#include "docs/pitfalls/fixed/add_without_an_atomic.cuh"
#include "docs/pitfalls/fixed/barrier_for_working_threads.cuh"
#include "docs/pitfalls/fixed/barrier_inside_the_bounds_check.cuh"
#include "docs/pitfalls/fixed/block_size_outside_the_template.cuh"
#include "docs/pitfalls/fixed/double_buffer_overwritten.cuh"
#include "docs/pitfalls/fixed/endless_loop.cuh"
#include "docs/pitfalls/fixed/grid_from_bytes.cuh"
#include "docs/pitfalls/fixed/histogram_without_atomics.cuh"
#include "docs/pitfalls/fixed/no_barrier_between_levels.cuh"
#include "docs/pitfalls/fixed/no_fence_behind_the_ticket.cuh"
#include "docs/pitfalls/fixed/one_cell_for_all_blocks.cuh"
#include "docs/pitfalls/fixed/one_syncwarp_a_level.cuh"
#include "docs/pitfalls/fixed/scan_in_place.cuh"
#include "docs/pitfalls/fixed/tail_past_shared_memory.cuh"
#include "docs/pitfalls/fixed/ticket_without_a_fence.cuh"
#include "docs/pitfalls/fixed/transpose_without_a_barrier.cuh"
#include "docs/pitfalls/fixed/unguarded_second_load.cuh"
#include "docs/pitfalls/fixed/warp_synchronous_tail.cuh"
}  // namespace fixed
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

TEST(NeededBarriers, OfFixedPitfalls) {
  using Word = std::uint32_t;
  const auto run = [](auto kernel, unsigned grid, unsigned block) {
    return [=](const Words& in, const Words& out) { kernel<<<grid, block, block * sizeof(Word)>>>(in, out); };
  };
  const auto run_on = [](auto kernel, dim3 grid, dim3 block, size_t n = 300) {
    return
        [=](const Words& in, const Words& out) { kernel<<<grid, block, 256 * sizeof(Word)>>>(in, out, n); };
  };
  const auto run_with_tickets = [](auto kernel) {
    return [=](const Words& in, const Words& out) {
      const Words partial{4};
      kernel<<<4, 64, 64 * sizeof(Word)>>>(in, partial, out);
    };
  };
  expect_all_needed_in({
      {"endless_loop", run(fixed::endless_loop<Word>, 2, 32)},
      {"no_barrier_between_levels", run(fixed::no_barrier_between_levels<Word>, 2, 128)},
      {"warp_synchronous_tail", run(fixed::warp_synchronous_tail<Word>, 2, 64)},
      {"one_syncwarp_a_level", run(fixed::one_syncwarp_a_level<Word>, 2, 64)},
      {"barrier_for_working_threads", run(fixed::barrier_for_working_threads<Word>, 2, 128)},
      {"barrier_inside_the_bounds_check", run_on(fixed::barrier_inside_the_bounds_check<Word>, 3, 128)},
      {"unguarded_second_load", run_on(fixed::unguarded_second_load<Word>, 2, 128)},
      {"grid_from_bytes", run_on(fixed::grid_from_bytes<Word>, 3, 128)},
      {"one_cell_for_all_blocks", run(fixed::one_cell_for_all_blocks<Word>, 4, 64)},
      {"tail_past_shared_memory", run(fixed::tail_past_shared_memory<Word>, 2, 64)},
      {"add_without_an_atomic", run(fixed::add_without_an_atomic<Word>, 4, 64)},
      {"ticket_without_a_fence", run_with_tickets(fixed::ticket_without_a_fence<Word>)},
      {"no_fence_behind_the_ticket", run_with_tickets(fixed::no_fence_behind_the_ticket<Word>)},
      {"scan_in_place", run(fixed::scan_in_place<Word>, 2, 128)},
      {"transpose_without_a_barrier", run_on(fixed::transpose_without_a_barrier<Word>, {2, 2}, {8, 8}, 16)},
      {"histogram_without_atomics", run_on(fixed::histogram_without_atomics<Word>, 3, 128)},
      {"double_buffer_overwritten", run_on(fixed::double_buffer_overwritten<Word>, 4, 64, 256)},
      {"block_size_outside_the_template", run(fixed::block_size_outside_the_template<Word, 128>, 2, 128)},
  });
}

}  // namespace
