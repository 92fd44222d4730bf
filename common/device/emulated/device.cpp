#include "device/emulated/device.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "device/emulated/launch.hpp"
#include "device/emulated/memory.hpp"
#include "device/emulated/trace.hpp"
#include "device/host_threads.hpp"

namespace reduction::emulated {
namespace {

/// Waking another host thread pays from about so many CUDA threads on.
constexpr std::size_t threads_worth_a_helper = 16384;

/// Each has up to 1024 stacks with a guard page below, and a process has 65530 mappings by default.
constexpr std::size_t most_host_threads = 24;

/// What a further host thread may take of the address space, its own stack and an arena of malloc's among it.
constexpr std::size_t address_space_of_host_thread = reserved_bytes + (std::size_t{256} << 20);

/// Blocks that a grid may have in y and in z: CUDA C++ Programming Guide, "Compute Capabilities".
constexpr std::size_t most_blocks_in_y = 65535;

/// Threads that a block may have in z: the same table.
constexpr std::size_t most_threads_in_z = 64;

/// What the program has set, and what it may ask for; device_mutex() guards it.
struct Settings {
  unsigned host_threads = 0;
  Schedule schedule;
  bool instrumented = true;
  std::size_t launches = 0;
  std::vector<LaunchRecord*> records;
  TraceRecord* tracing = nullptr;
};

Settings& settings() {
  static Settings current;
  return current;
}

void require_possible(const LaunchConfig& config) {
  const Properties& device = properties();
  const auto refuse = [](const char* what, std::size_t limit, std::size_t value) {
    throw std::invalid_argument{std::string{"the emulated device cannot launch this: "} + what + " at most " +
                                std::to_string(limit) + ", not " + std::to_string(value)};
  };
  if (count(config.grid) == 0)
    throw std::invalid_argument{"the emulated device cannot launch this: a grid of no blocks"};
  if (count(config.block) == 0)
    throw std::invalid_argument{"the emulated device cannot launch this: a block of no threads"};
  if (config.grid.x > device.grid_size) refuse("a grid has blocks,", device.grid_size, config.grid.x);
  if (std::max(config.grid.y, config.grid.z) > most_blocks_in_y) {
    refuse("a grid has blocks in y or z,", most_blocks_in_y, std::max(config.grid.y, config.grid.z));
  }
  if (count(config.block) > device.threads_per_block) {
    refuse("a block has threads,", device.threads_per_block, count(config.block));
  }
  if (config.block.z > most_threads_in_z) {
    refuse("a block has threads in z,", most_threads_in_z, config.block.z);
  }
  if (config.shared_bytes > device.shared_bytes_per_block) {
    refuse("a block has bytes of shared memory,", device.shared_bytes_per_block, config.shared_bytes);
  }
}

/// What `ulimit -v` leaves room for; one in any case. It is asked once: from the first launch on, the host threads
/// themselves have taken a part.
std::size_t possible_host_threads() {
  static const std::size_t room = available_address_space() / address_space_of_host_thread;
  return std::clamp<std::size_t>(room, 1, most_host_threads);
}

unsigned useful_host_threads(const LaunchConfig& config) {
  const std::size_t asked = settings().host_threads != 0 ? settings().host_threads : available_cpus();
  const std::size_t wanted = std::min(asked, possible_host_threads());
  const std::size_t useful = 1 + count(config.grid) * count(config.block) / threads_worth_a_helper;
  return static_cast<unsigned>(std::min({wanted, useful, count(config.grid)}));
}

/// What a launch has found is part of its trace, too.
Counters result_of(const Grid& grid, BlockTrace* trace) {
  try {
    return grid.result();
  } catch (const KernelFinding& finding) {
    if (trace != nullptr) trace->findings = finding.findings();
    throw;
  }
}

}  // namespace

const Properties& properties() {
  static const Properties h200{.sms = 132,
                               .threads_per_sm = 2048,
                               .blocks_per_sm = 32,
                               .threads_per_block = 1024,
                               .grid_size = (std::size_t{1} << 31) - 1,
                               .shared_bytes_per_sm = std::size_t{228} << 10,
                               .shared_bytes_per_block = std::size_t{227} << 10,
                               .reserved_shared_bytes = std::size_t{1} << 10};
  return h200;
}

std::size_t resident_blocks(unsigned block, std::size_t shared_bytes) {
  require_possible({1, block, shared_bytes});
  const Properties& device = properties();
  const std::size_t by_threads = device.threads_per_sm / block;
  const std::size_t by_shared_memory =
      device.shared_bytes_per_sm / (shared_bytes + device.reserved_shared_bytes);
  return device.sms * std::min({by_threads, std::size_t{device.blocks_per_sm}, by_shared_memory});
}

void launch_grid(const LaunchConfig& config, const KernelCall& kernel) {
  require_possible(config);
  if (Block::running() != nullptr) throw std::logic_error{"a kernel cannot launch another one here"};
  const std::lock_guard lock{device_mutex()};
  Settings& current = settings();
  const unsigned used = useful_host_threads(config);
  BlockTrace* const trace =
      current.tracing != nullptr ? current.tracing->begin_launch(config, kernel) : nullptr;
  Grid grid{config, kernel, {used, current.schedule, current.instrumented, ++current.launches, trace}};
  host_threads().run(used - 1, [&grid] { grid.work(); });
  const Counters counters = result_of(grid, trace);
  for (LaunchRecord* const record : current.records)
    record->launches_.push_back(counters);
}

LaunchRecord::LaunchRecord() {
  const std::lock_guard lock{device_mutex()};
  settings().records.push_back(this);
}

LaunchRecord::~LaunchRecord() {
  const std::lock_guard lock{device_mutex()};
  std::erase(settings().records, this);
}

TraceRecord::TraceRecord(std::size_t launch, std::size_t block) : launch_{launch}, block_{block} {
  const std::lock_guard lock{device_mutex()};
  if (settings().tracing != nullptr) throw std::logic_error{"the device traces one block at a time"};
  settings().tracing = this;
}

TraceRecord::~TraceRecord() {
  const std::lock_guard lock{device_mutex()};
  settings().tracing = nullptr;
}

BlockTrace* TraceRecord::begin_launch(const LaunchConfig& config, const KernelCall& kernel) {
  if (++launches_ != launch_ || block_ >= count(config.grid)) return nullptr;
  trace_.emplace();
  trace_->config = config;
  trace_->launch = launch_;
  trace_->block = block_;
  trace_->kernel = kernel.entry;
  return &*trace_;
}

void set_host_threads(unsigned count) {
  const std::lock_guard lock{device_mutex()};
  settings().host_threads = count;
}

void set_schedule(const Schedule& schedule) {
  const std::lock_guard lock{device_mutex()};
  settings().schedule = schedule;
}

void set_instrumented(bool on) {
  const std::lock_guard lock{device_mutex()};
  settings().instrumented = on;
}

}  // namespace reduction::emulated
