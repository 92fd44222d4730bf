#include "emulated/run/grid.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>
#include <utility>

#include "emulated/memory/kernel_heap.hpp"
#include "emulated/run/block.hpp"
#include "emulated/run/block_pool.hpp"
#include "emulated/run/device.hpp"

namespace __emulated {
namespace {

/// So many are enough to tell of: those above are likely to have the same faults.
constexpr std::size_t most_faulty_blocks = 64;

std::atomic<bool> is_stopped = false;
std::mutex progress_mutex;
Progress progress;

template <Unwritten word> bool is_of(const FaultRecord& seen) {
  return seen.fault == Fault::uninitialised_read && seen.unwritten == word;
}

/// Few enough hand-outs of blocks to cost nothing, enough of them to keep every host thread busy to the end.
std::size_t blocks_at_a_time(std::size_t blocks, unsigned host_threads) {
  return std::clamp<std::size_t>(blocks / (std::size_t{host_threads} * 16), 1, 64);
}

/// Blocks that take turns, while they do not wait for each other.
constexpr std::size_t window = 4;

Residence residence_of(const ExecutionConfiguration& configuration, const GridSettings& settings,
                       unsigned host_threads) {
  const std::size_t blocks = count(configuration.grid);
  const bool takes_turns = settings.schedule.order != Order::ascending || configuration.is_cooperative;
  return {
      .blocks = blocks,
      .at_a_time = takes_turns ? 1 : blocks_at_a_time(blocks, host_threads),
      .most = resident_blocks(static_cast<unsigned>(count(configuration.block)), configuration.shared_bytes),
      .window = configuration.is_cooperative ? blocks : window,
      .takes_turns = takes_turns,
      .schedule = settings.schedule,
      .patience = settings.loop_limit};
}

/// The one with these low bits.
const void* call_site_near(const void* entry, std::uint32_t low_bits) {
  const auto low_bits_of_entry = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(entry));
  return static_cast<const std::byte*>(entry) + static_cast<std::int32_t>(low_bits - low_bits_of_entry);
}

}  // namespace

void stop_launches() { is_stopped = true; }

Progress running_launch() {
  const std::lock_guard lock{progress_mutex};
  return progress;
}

Grid::Grid(const ExecutionConfiguration& of_grid, const KernelCall& of_kernel, const GridSettings& of_launch,
           std::size_t of_number, std::size_t of_shared_bytes, BlockTrace* of_block, unsigned host_threads)
    : configuration{of_grid},
      kernel{of_kernel},
      settings{of_launch},
      number{of_number},
      most_shared_bytes{of_shared_bytes},
      trace{of_block},
      code{global_memory().loaded_with(of_kernel.entry)},
      blocks{residence_of(of_grid, of_launch, host_threads)},
      lowest_failure_{count(of_grid.grid)} {
  kernel_heap().reuse_if_empty();
  const std::lock_guard lock{progress_mutex};
  progress = {kernel.entry, count(configuration.grid), 0, std::chrono::steady_clock::now()};
}

Grid::~Grid() {
  races.mark_initialised();
  const std::lock_guard lock{progress_mutex};
  progress = {};
}

void Grid::work() {
  const Scheduler::Ticks ticks{settings.loop_limit / Watchdog::ticks_of_the_limit};
  BlockPool& pool = BlockPool::local();
  std::map<std::size_t, std::unique_ptr<Block>> resident;
  ResidentBlocks::Host host;
  PlaceCounts places;
  Counters counters;
  while (const auto step = blocks.next(host)) {
    using What = ResidentBlocks::What;
    std::unique_ptr<Block>& block = resident[step->block];
    Halt halt = Halt::ended;
    BlockOutcome outcome;
    try {
      if (step->what == What::begins) {
        block = pool.take(static_cast<unsigned>(count(configuration.block)));
        block->begin(*this, step->block, settings.counts_places ? &places : nullptr);
      }
      if (step->what == What::begins || step->what == What::goes_on) {
        halt = block->go_on(step->looks);
      } else if (step->what != What::is_dropped) {
        block->blame_wait(step->what == What::is_blamed);
      }
      if (halt == Halt::ended) outcome = block->end();
    } catch (...) {
      // The host thread may have no memory for stacks: that is the block's failure, and others need not wait.
      outcome.exception = std::current_exception();
    }
    if (halt != Halt::ended) {
      if (!blocks.halted(host, step->block, block.get(), halt)) continue;
      for (const auto& each : resident)
        each.second->pass_grid_barrier();
      races.begin_phase();
      blocks.pass_barrier();
      continue;
    }
    if (block != nullptr) pool.give_back(std::move(block));
    resident.erase(step->block);
    counters += outcome.counters;
    const bool has_failed = outcome.exception || !outcome.faults.empty();
    if (has_failed && step->what != What::is_dropped) fail(step->block, std::move(outcome));
    blocks.halted(host, step->block, nullptr, halt);
    if (is_stopped) blocks.stop();
    const std::lock_guard lock{progress_mutex};
    ++progress.done;
  }
  pool.trim();
  const std::lock_guard lock{mutex_};
  counters_ += counters;
  for (const auto& [place, counted] : places)
    places_[place] += counted;
}

/// Blocks below a failed one still run, so that the lowest failure is found whatever the order.
void Grid::fail(std::size_t block, BlockOutcome outcome) {
  const bool ends_launch = settings.ends_at_fault || outcome.exception;
  blocks.fail(block, ends_launch);
  const std::lock_guard lock{mutex_};
  if (!ends_launch) {
    faults_.emplace(block, std::move(outcome.faults));
    if (faults_.size() > most_faulty_blocks) faults_.erase(std::prev(faults_.end()));
  } else if (block < lowest_failure_) {
    lowest_failure_ = block;
    failure_ = std::move(outcome);
  }
}

void Grid::note(FaultRecord note) {
  const std::lock_guard lock{mutex_};
  const Witness& by = note.witnesses.front();
  const auto known = notes_.find(by.call_site);
  if (known == notes_.end() || by.block < known->second.witnesses.front().block)
    notes_.insert_or_assign(by.call_site, std::move(note));
}

LaunchResult Grid::result() const {
  if (failure_.exception) std::rethrow_exception(failure_.exception);
  std::vector<FaultRecord> faults = failure_.faults;
  // What blocks have done to each other is only known if all have run.
  if (faults.empty()) faults = races.faults();
  for (const auto& [block, of_block] : faults_)
    faults.insert(faults.end(), of_block.begin(), of_block.end());
  LaunchResult result{counters_, {}};
  std::vector<FaultRecord> notes;
  for (const auto& [call_site, note] : notes_)
    notes.push_back(note);
  // Where nobody listens, they are findings.
  if (!notes.empty() && !settings.ends_at_fault) result.notes = findings_from(std::move(notes), kernel.entry);
  if (settings.ends_at_fault && faults.empty()) faults = std::move(notes);
  if (!settings.ends_at_fault) {
    result.uses_taint = std::erase_if(faults, is_of<Unwritten::tainted>) > 0;
    const auto rest =
        std::stable_partition(faults.begin(), faults.end(), std::not_fn(is_of<Unwritten::global>));
    if (rest != faults.end()) result.unsettled = findings_from({rest, faults.end()}, kernel.entry);
    faults.erase(rest, faults.end());
  }
  if (!faults.empty()) result.findings = findings_from(std::move(faults), kernel.entry);
  for (const auto& [place, counted] : places_)
    result.places.emplace(call_site_near(kernel.entry, place), counted);
  return result;
}

}  // namespace __emulated
