#include "harness/reduction_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

namespace reduction {

namespace {

/// Returns where a size sweep ends if the user does not say: on a GPU at the largest power of two of elements that fits
/// beside its partial sums, which take less than a sixteenth of it.
std::uint64_t largest_elements(DeviceKind kind, const Memory& memory, ElementType type) {
  if (kind == DeviceKind::emulated) return default_elements(kind, memory, type);
  const std::size_t available = memory.free_bytes - std::min(memory.free_bytes, memory.own_bytes);
  return std::bit_floor(available / 17 * 16 / size_of(type));
}

/// Throws UsageError for a grid that the kernel cannot do with. Where the step's own stops growing, a loop takes the rest.
void require_grid(const StepKernel& kernel, std::uint64_t grid, std::size_t n, unsigned block) {
  constexpr std::size_t many = std::size_t{1} << 40;
  if (kernel.traits.chooses_launch || kernel.grid_size(many, block) != kernel.grid_size(2 * many, block))
    throw UsageError("--grid: this step has no grid-stride loop, which would take any number of blocks");
  if (grid >= n) throw UsageError(fmt::format("--grid {}: give fewer blocks than elements", grid));
}

std::vector<Pass> plan_passes(const StepKernel& kernel, std::size_t n, unsigned block,
                              const std::optional<std::uint64_t>& grid) {
  if (grid) require_grid(kernel, *grid, n, block);
  const bool is_single_pass = kernel.traits.single_pass || kernel.traits.adds_atomically;
  std::vector<Pass> passes;
  do {
    const std::size_t blocks =
        passes.empty() && grid ? *grid : std::max<std::size_t>(1, kernel.grid_size(n, block));
    if (n > 1 && blocks >= n) {
      throw std::logic_error(fmt::format(
          "grid_size({}, {}) is {}: with no fewer sums than elements passes never end", n, block, blocks));
    }
    passes.push_back({n, blocks});
    n = blocks;
  } while (n > 1 && !is_single_pass);
  return passes;
}

std::size_t ceil_divide(std::size_t n, std::size_t part) { return n / part + (n % part != 0 ? 1 : 0); }

/// Returns the most additions that an element goes through in its thread. Blocks take turns, so one may have a turn
/// more than another; a vector's elements are added to each other before they are added to the thread's sum.
std::size_t additions_of_one_thread(const StepKernel& kernel, const Pass& pass, unsigned block) {
  const std::size_t threads = pass.blocks * block;
  if (kernel.traits.vectors_at_a_time == nullptr)
    return pass.elements <= threads ? 1 : 2 * ceil_divide(pass.elements, 2 * threads);
  const std::size_t at_a_time = kernel.traits.vectors_at_a_time(block);
  const std::size_t turns =
      ceil_divide(ceil_divide(pass.elements, kernel.vector_width), at_a_time * pass.blocks);
  return turns * ceil_divide(at_a_time, block) + kernel.vector_width - 1;
}

/// Returns the most additions that any element goes through: those of its thread, then a tree over the block, pass
/// after pass, and once more where a single pass has several blocks.
std::uint64_t addition_depth(const StepKernel& kernel, const std::vector<Pass>& passes, unsigned block) {
  const auto levels = static_cast<std::uint64_t>(std::bit_width(block) - 1);  // of a block's tree
  std::uint64_t depth = 0;
  for (const Pass& pass : passes)
    depth += additions_of_one_thread(kernel, pass, block) + levels;
  // Where more than one sum is left in the end, the last block adds these up, thread by thread.
  if (const std::size_t left = passes.back().blocks; left > 1) depth += ceil_divide(left, block) + levels;
  return depth;
}

/// A step that chooses its own launch does not say how it adds: we assume threads that fill the device, 1024 per
/// multiprocessor, and trees of at most 128 additions on top. Atomics add one after the other, n of them at worst, in
/// any order. A bound for that would excuse any sum of 2^24 floats, so they must meet that of a tree of all elements,
/// as step 00's running sum must.
std::uint64_t most_additions(const StepKernel& kernel, const std::vector<Pass>& passes, unsigned block,
                             const DeviceInfo& device) {
  const std::size_t n = passes.front().elements;
  if (kernel.traits.adds_atomically) return tree_depth(n);
  if (!kernel.traits.chooses_launch) return addition_depth(kernel, passes, block);
  return n / (std::size_t{1024} * std::max(1u, device.sms)) + 128;
}

}  // namespace

std::uint64_t default_elements(DeviceKind kind, const Memory& memory, ElementType type) {
  if (kind == DeviceKind::emulated) return std::uint64_t{1} << 20;
  return std::min(std::uint64_t{1} << 28, std::bit_floor(memory.free_bytes / 2 / size_of(type)));
}

std::vector<Configuration> plan_configurations(const Options& options, DeviceKind kind,
                                               const Memory& memory) {
  const auto elements_of = [&](ElementType type) {
    return options.elements ? *options.elements : default_elements(kind, memory, type);
  };
  const Configuration base{options.type, elements_of(options.type), options.block};
  if (!options.sweep) return {base};

  const std::uint64_t largest =
      options.elements ? *options.elements : largest_elements(kind, memory, options.type);
  std::vector<Configuration> list;
  switch (*options.sweep) {
    case Sweep::block:
      for (const unsigned block : block_sizes)
        list.push_back({base.type, base.elements, block});
      break;
    case Sweep::size:
      for (std::uint64_t n = 1024; n <= largest; n *= 2)
        list.push_back({base.type, n, base.block});
      break;
    case Sweep::type:
      for (const ElementType type : element_types)
        list.push_back({type, elements_of(type), base.block});
      break;
    case Sweep::ranks: list.push_back(base); break;
  }
  if (list.empty()) throw UsageError("--sweep size goes from 2^10 to --elements: give 1024 elements or more");
  return list;
}

std::size_t ReductionPlan::partial_bytes(std::size_t k) const {
  return k < passes.size() ? passes[k].blocks * size_of(configuration.type) : 0;
}

std::size_t ReductionPlan::buffer_bytes() const {
  return configuration.elements * size_of(configuration.type) + partial_bytes(0) + partial_bytes(1);
}

const void* ReductionPlan::launch(const void* in, void* partial, void* next_partial) const {
  for (const Pass& pass : passes) {
    kernel.launch(static_cast<unsigned>(pass.blocks), configuration.block, in, partial, pass.elements);
    in = partial;
    std::swap(partial, next_partial);
  }
  return in;
}

ReductionPlan plan_reduction(const StepKernel& kernel, const Configuration& configuration,
                             const DeviceInfo& device, const std::optional<std::uint64_t>& grid) {
  ReductionPlan plan{kernel, configuration,
                     plan_passes(kernel, configuration.elements, configuration.block, grid)};
  plan.most_additions = most_additions(kernel, plan.passes, configuration.block, device);
  return plan;
}

std::uint64_t tree_depth(std::size_t n) {
  return static_cast<std::uint64_t>(std::bit_width(std::max<std::size_t>(n, 1) - 1));
}

}  // namespace reduction
