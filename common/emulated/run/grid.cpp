#include "emulated/run/grid.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>
#include <utility>

#include "emulated/memory/kernel_heap.hpp"
#include "emulated/run/block.hpp"
#include "emulated/run/progress.hpp"

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
      // Few enough hand-outs to cost nothing, enough of them to keep every host thread busy to the end.
      at_a_time_{std::clamp<std::size_t>(count(of_grid.grid) / (std::size_t{host_threads} * 16), 1, 64)},
      end_{count(of_grid.grid)} {
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
  const Scheduler::Ticks limit = Block::limit_time(settings.loop_limit);
  PlaceCounts places;
  while (const std::optional<std::size_t> begin = claim()) {
    Counters counters;
    for (std::size_t block = *begin; block < *begin + at_a_time_ && is_wanted(block); ++block) {
      BlockOutcome outcome;
      try {
        outcome = Block::local().run(*this, block, settings.counts_places ? &places : nullptr);
      } catch (...) {
        // The host thread may have no memory for stacks: that is the block's failure, and others need not wait.
        outcome.exception = std::current_exception();
      }
      counters += outcome.counters;
      if (outcome.exception || !outcome.faults.empty()) fail(block, std::move(outcome));
    }
    {
      const std::lock_guard lock{mutex_};
      counters_ += counters;
      running_.erase(*begin);
      if (is_stopped) end_ = std::min(end_, next_);
    }
    {
      const std::lock_guard lock{progress_mutex};
      progress.done = std::min(progress.done + at_a_time_, progress.blocks);
    }
    completed_.notify_all();
  }
  const std::lock_guard lock{mutex_};
  for (const auto& [place, counted] : places)
    places_[place] += counted;
}

/// The first of the blocks to run next; none where there are no more.
std::optional<std::size_t> Grid::claim() {
  const std::lock_guard lock{mutex_};
  if (next_ >= end_) return std::nullopt;
  running_.insert(next_);
  return std::exchange(next_, next_ + at_a_time_);
}

bool Grid::wait_for(std::size_t block) {
  std::unique_lock lock{mutex_};
  completed_.wait(lock, [&] { return *running_.begin() == block / at_a_time_ * at_a_time_; });
  return block < end_;
}

/// Blocks below a failed one still run, so that the lowest failure is found whatever the order.
void Grid::fail(std::size_t block, BlockOutcome outcome) {
  const std::lock_guard lock{mutex_};
  if (!settings.ends_at_fault && !outcome.exception) {
    faults_.emplace(block, std::move(outcome.faults));
    if (faults_.size() > most_faulty_blocks) faults_.erase(std::prev(faults_.end()));
    return;
  }
  if (block >= end_) return;
  end_ = block;
  failure_ = std::move(outcome);
}

void Grid::note(FaultRecord note) {
  const std::lock_guard lock{mutex_};
  const Witness& by = note.witnesses.front();
  const auto known = notes_.find(by.call_site);
  if (known == notes_.end() || by.block < known->second.witnesses.front().block)
    notes_.insert_or_assign(by.call_site, std::move(note));
}

bool Grid::is_wanted(std::size_t block) {
  const std::lock_guard lock{mutex_};
  return block < end_ && !is_stopped;
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
