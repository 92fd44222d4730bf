#include "device/emulated/grid.hpp"

#include <algorithm>
#include <utility>

#include "device/emulated/global_memory.hpp"
#include "device/emulated/multiprocessor.hpp"

namespace reduction::emulated {
namespace {

/// Few enough hand-outs to cost nothing, enough of them to keep every host thread busy to the end.
std::size_t chunk_size(std::size_t blocks, unsigned host_threads) {
  return std::clamp<std::size_t>(blocks / (std::size_t{host_threads} * 16), 1, 64);
}

}  // namespace

Grid::Grid(const LaunchConfig& config, const KernelCall& kernel, const Options& options)
    : config_{config},
      kernel_{kernel},
      options_{options},
      chunk_{chunk_size(config.grid, options.host_threads)},
      failed_block_{config.grid} {
  if (kernel.stores_anywhere) global_memory().set_recorded(true);
  for (const void* const output : kernel.outputs) {
    const auto* const begin = static_cast<const std::byte*>(output);
    Buffer* const buffer = begin != nullptr ? global_memory().nearest(begin) : nullptr;
    if (buffer != nullptr) buffer->set_recorded(true);
  }
}

Grid::~Grid() {
  accesses_.mark_initialised();
  global_memory().set_recorded(false);
}

void Grid::work() {
  while (const std::optional<std::size_t> chunk = claim()) {
    const std::size_t end = std::min(*chunk + chunk_, config_.grid);
    Counters counters;
    for (std::size_t block = *chunk; block < end && !has_failed_before(block); ++block) {
      try {
        Multiprocessor& multiprocessor = Multiprocessor::local();
        std::vector<Evidence> evidence = multiprocessor.run(*this, block);
        if (!evidence.empty()) fail(block, nullptr, std::move(evidence));
        counters += multiprocessor.take_counters();
      } catch (...) {
        fail(block, std::current_exception(), {});
      }
    }
    complete(*chunk, counters);
  }
}

std::optional<std::size_t> Grid::claim() {
  const std::lock_guard lock{mutex_};
  if (next_ >= failed_block_) return std::nullopt;
  running_.insert(next_);
  return std::exchange(next_, next_ + chunk_);
}

void Grid::complete(std::size_t chunk, const Counters& counters) {
  {
    const std::lock_guard lock{mutex_};
    counters_ += counters;
    running_.erase(chunk);
  }
  completed_.notify_all();
}

void Grid::wait_for_turn(std::size_t block) {
  std::unique_lock lock{mutex_};
  completed_.wait(lock, [&] { return *running_.begin() == block / chunk_ * chunk_; });
}

/// Blocks below a failed one still run, so that the lowest failure is found whatever the order.
void Grid::fail(std::size_t block, std::exception_ptr exception, std::vector<Evidence> evidence) {
  const std::lock_guard lock{mutex_};
  if (block >= failed_block_) return;
  failed_block_ = block;
  exception_ = std::move(exception);
  evidence_ = std::move(evidence);
}

bool Grid::has_failed_before(std::size_t block) const {
  const std::lock_guard lock{mutex_};
  return failed_block_ < block;
}

Counters Grid::result() const {
  if (exception_) std::rethrow_exception(exception_);
  // What blocks have done to each other is only known if all have run.
  const std::vector<Evidence> evidence = evidence_.empty() ? accesses_.evidence() : evidence_;
  if (!evidence.empty()) throw KernelFinding{findings_from(evidence, kernel_.entry)};
  return counters_;
}

}  // namespace reduction::emulated
