#include "docs/pitfalls/gallery.hpp"

#include <algorithm>
#include <memory>

#include "device/cuda_or_emulated.cuh"
#include "docs/pitfalls/add_without_an_atomic.cuh"
#include "docs/pitfalls/barrier_for_working_threads.cuh"
#include "docs/pitfalls/barrier_inside_the_bounds_check.cuh"
#include "docs/pitfalls/double_buffer_overwritten.cuh"
#include "emulated/run/device.hpp"
// The compiler sees that the loop's last clause does nothing; the page says so.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-value"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wfor-loop-analysis"
#endif
#include "docs/pitfalls/endless_loop.cuh"
#pragma GCC diagnostic pop
#include "docs/pitfalls/grid_from_bytes.cuh"
#include "docs/pitfalls/histogram_without_atomics.cuh"
#include "docs/pitfalls/no_barrier_between_levels.cuh"
#include "docs/pitfalls/no_fence_behind_the_ticket.cuh"
#include "docs/pitfalls/one_cell_for_all_blocks.cuh"
#include "docs/pitfalls/one_syncwarp_a_level.cuh"
#include "docs/pitfalls/scan_in_place.cuh"
#include "docs/pitfalls/tail_past_shared_memory.cuh"
#include "docs/pitfalls/ticket_without_a_fence.cuh"
#include "docs/pitfalls/transpose_without_a_barrier.cuh"
#include "docs/pitfalls/unguarded_second_load.cuh"
#include "docs/pitfalls/warp_synchronous_tail.cuh"

// The same kernels, fixed.
namespace fixed {
#include "docs/pitfalls/fixed/add_without_an_atomic.cuh"
#include "docs/pitfalls/fixed/barrier_for_working_threads.cuh"
#include "docs/pitfalls/fixed/barrier_inside_the_bounds_check.cuh"
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

namespace reduction::pitfalls {
namespace {

using __emulated::Fault;

/// A buffer of the emulated device.
class Buffer {
 public:
  explicit Buffer(std::size_t elements)
      : data_{static_cast<Element*>(__emulated::allocate(elements * sizeof(Element))), __emulated::release} {}
  Element* get() const { return data_.get(); }

 private:
  std::unique_ptr<Element, decltype(&__emulated::release)> data_;
};

__emulated::ExecutionConfiguration config_of(const Shape& shape) {
  return {shape.grid, shape.block, __emulated::count(shape.block) * sizeof(Element)};
}

Launch launch_of(void (*kernel)(const Element* in, Element* out)) {
  return [=](const Shape& shape, const Element* in, Element* out) {
    __emulated::launch(config_of(shape), kernel, in, out);
  };
}

Launch launch_of(void (*kernel)(const Element* in, Element* out, std::size_t n),
                 std::size_t n = input_elements) {
  return [=](const Shape& shape, const Element* in, Element* out) {
    __emulated::launch(config_of(shape), kernel, in, out, n);
  };
}

/// Of a function on the host that chooses the number of blocks itself.
Launch launch_of(void (*launch)(unsigned block, const Element* in, Element* out, std::size_t n)) {
  return [=](const Shape& shape, const Element* in, Element* out) {
    launch(shape.block.x, in, out, input_elements);
  };
}

/// Of a kernel with partial sums.
Launch launch_of(void (*kernel)(const Element* in, Element* partial, Element* out)) {
  return [=](const Shape& shape, const Element* in, Element* out) {
    const Buffer partial{__emulated::count(shape.grid)};
    __emulated::launch(config_of(shape), kernel, in, partial.get(), out);
  };
}

std::vector<Element> running_sums_of(std::size_t tiles, std::size_t tile) {
  std::vector<Element> sums(tiles * tile);
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] = input_element(i) + (i % tile == 0 ? 0 : sums[i - 1]);
  return sums;
}

std::vector<Element> transpose_of(std::size_t width) {
  std::vector<Element> transposed(width * width);
  for (std::size_t i = 0; i < transposed.size(); ++i)
    transposed[i % width * width + i / width] = input_element(i);
  return transposed;
}

std::vector<Element> last_digits() {
  std::vector<Element> bins(10);
  for (std::size_t i = 0; i < input_elements; ++i)
    ++bins[input_element(i) % 10];
  return bins;
}

/// The input ascends, so the greater one of two elements is the later one.
std::vector<Element> distances_of(std::size_t n) {
  std::vector<Element> sums(n);
  for (std::size_t later = 0; later < n; ++later) {
    for (std::size_t i = 0; i < later; ++i) {
      sums[i] += input_element(later) - input_element(i);
      sums[later] += input_element(later) - input_element(i);
    }
  }
  return sums;
}

}  // namespace

const std::vector<Pitfall>& gallery() {
  static const std::vector<Pitfall> all{
      {"endless_loop",
       "a loop that never ends",
       Fault::endless_loop,
       {2, 32},
       sums_of(2, 32),
       launch_of(endless_loop<Element>),
       launch_of(fixed::endless_loop<Element>)},
      {"no_barrier_between_levels",
       "no barrier between the levels of the tree",
       Fault::race,
       {2, 128},
       sums_of(2, 128),
       launch_of(no_barrier_between_levels<Element>),
       launch_of(fixed::no_barrier_between_levels<Element>)},
      {"warp_synchronous_tail",
       "a last warp that trusts its lanes to run in lockstep",
       Fault::race,
       {2, 64},
       sums_of(2, 64),
       launch_of(warp_synchronous_tail<Element>),
       launch_of(fixed::warp_synchronous_tail<Element>)},
      {"one_syncwarp_a_level",
       "one warp barrier per level is one too few",
       Fault::race,
       {2, 64},
       sums_of(2, 64),
       launch_of(one_syncwarp_a_level<Element>),
       launch_of(fixed::one_syncwarp_a_level<Element>)},
      {"barrier_for_working_threads",
       "a barrier for the working threads only",
       Fault::missed_barrier,
       {2, 128},
       sums_of(2, 128),
       launch_of(barrier_for_working_threads<Element>),
       launch_of(fixed::barrier_for_working_threads<Element>)},
      {"barrier_inside_the_bounds_check",
       "a barrier inside the bounds check",
       Fault::missed_barrier,
       {3, 128},
       sums_of(3, 128),
       launch_of(barrier_inside_the_bounds_check<Element>),
       launch_of(fixed::barrier_inside_the_bounds_check<Element>)},
      {"unguarded_second_load",
       "a second load without a bounds check",
       Fault::out_of_bounds,
       {2, 128},
       sums_of(2, 256),
       launch_of(unguarded_second_load<Element>),
       launch_of(fixed::unguarded_second_load<Element>)},
      {"grid_from_bytes",
       "a grid computed from bytes",
       Fault::out_of_bounds,
       {3, 128},
       sums_of(3, 128),
       launch_of(launch_grid_from_bytes<Element>),
       launch_of(fixed::launch_grid_from_bytes<Element>)},
      {"one_cell_for_all_blocks",
       "all blocks store to one cell",
       Fault::race,
       {4, 64},
       sums_of(4, 64),
       launch_of(one_cell_for_all_blocks<Element>),
       launch_of(fixed::one_cell_for_all_blocks<Element>)},
      {"tail_past_shared_memory",
       "a tail that takes 64 threads for granted",
       Fault::out_of_bounds,
       {2, 32},
       sums_of(2, 32),
       launch_of(tail_past_shared_memory<Element>),
       launch_of(fixed::tail_past_shared_memory<Element>)},
      {"add_without_an_atomic",
       "many blocks add to one word without an atomic",
       Fault::race,
       {4, 64},
       sums_of(1, 256),
       launch_of(add_without_an_atomic<Element>),
       launch_of(fixed::add_without_an_atomic<Element>)},
      {"ticket_without_a_fence",
       "a ticket without a fence",
       Fault::race,
       {4, 64},
       sums_of(1, 256),
       launch_of(ticket_without_a_fence<Element>),
       launch_of(fixed::ticket_without_a_fence<Element>)},
      {"no_fence_behind_the_ticket",
       "no fence behind the ticket",
       Fault::missing_fence,
       {4, 64},
       sums_of(1, 256),
       launch_of(no_fence_behind_the_ticket<Element>),
       launch_of(fixed::no_fence_behind_the_ticket<Element>)},
      {"scan_in_place",
       "a scan in place",
       Fault::race,
       {2, 128},
       running_sums_of(2, 128),
       launch_of(scan_in_place<Element>),
       launch_of(fixed::scan_in_place<Element>)},
      {"transpose_without_a_barrier",
       "a tile that is read before it is there",
       Fault::race,
       {{2, 2}, {8, 8}},
       transpose_of(16),
       launch_of(transpose_without_a_barrier<Element>, 16),
       launch_of(fixed::transpose_without_a_barrier<Element>, 16)},
      {"histogram_without_atomics",
       "bins that threads count in without atomics",
       Fault::race,
       {3, 128},
       last_digits(),
       launch_of(histogram_without_atomics<Element>),
       launch_of(fixed::histogram_without_atomics<Element>)},
      {"double_buffer_overwritten",
       "a double buffer that is filled before the barrier",
       Fault::race,
       {4, 64},
       distances_of(256),
       launch_of(double_buffer_overwritten<Element>, 256),
       launch_of(fixed::double_buffer_overwritten<Element>, 256)},
  };
  return all;
}

std::vector<Element> output_of(const Launch& launch, const Shape& shape, std::size_t elements) {
  const std::size_t output_elements = std::max(elements, least_output_elements);
  const Buffer in{input_elements};
  const Buffer out{output_elements};
  for (std::size_t i = 0; i < input_elements; ++i)
    in.get()[i] = input_element(i);
  std::fill_n(out.get(), output_elements, 0U);
  __emulated::mark_initialised(in.get(), input_elements * sizeof(Element));
  __emulated::mark_initialised(out.get(), output_elements * sizeof(Element));
  launch(shape, in.get(), out.get());
  return {out.get(), out.get() + output_elements};
}

std::vector<Element> sums_of(std::size_t cells, std::size_t tile) {
  std::vector<Element> sums(cells);
  for (std::size_t i = 0; i < std::min(cells * tile, input_elements); ++i)
    sums[i / tile] += input_element(i);
  return sums;
}

}  // namespace reduction::pitfalls
