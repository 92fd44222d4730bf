#include "emulated/run/device.hpp"

#include <errno.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <vector>

#include "emulated/memory/memory.hpp"
#include "emulated/run/grid.hpp"
#include "emulated/run/host_threads.hpp"
#include "emulated/trace/trace.hpp"

namespace __emulated {
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
  std::chrono::nanoseconds loop_limit = std::chrono::seconds{10};
  std::size_t launches = 0;
  std::map<const void*, std::size_t>
      dynamic_shared_bytes;       ///< that kernels may have, if the program has asked for them
  std::set<const void*> kernels;  ///< that have been launched and counted
  std::vector<LaunchRecord*> records;
  TraceRecord* tracing = nullptr;
};

Settings& settings() {
  static Settings current;
  return current;
}

template <typename T> void set(T Settings::*setting, const T& value) {
  const std::lock_guard lock{device_mutex()};
  settings().*setting = value;
}

[[noreturn]] void refuse(const char* what, std::size_t limit, std::size_t value, const char* help = "") {
  throw std::invalid_argument{std::string{"the emulated device cannot launch this: "} + what + " at most " +
                              std::to_string(limit) + ", not " + std::to_string(value) + help};
}

void require_possible(const LaunchConfig& config) {
  const Properties& device = properties();
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

/// Returns the bytes of shared memory that a block may have.
std::size_t require_allowed(const LaunchConfig& config, const KernelCall& kernel) {
  const Properties& device = properties();
  const auto allowed = settings().dynamic_shared_bytes.find(kernel.entry);
  const bool has_asked = allowed != settings().dynamic_shared_bytes.end();
  const std::size_t most = has_asked ? allowed->second : device.default_shared_bytes;
  if (config.shared_bytes > most) {
    refuse("a block of this kernel has bytes of dynamic shared memory,", most, config.shared_bytes,
           how_to_ask_for_shared_memory);
  }
  return has_asked ? device.shared_bytes_per_block : device.default_shared_bytes;
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

/// A kernel that stores without the device's hearing of it is not checked either, and its user may not know. (One that does
/// nothing, as for an array of no elements, is no reason to say so.)
void say_that_nothing_was_seen(const void* kernel) {
  const std::string name = kernel_name(kernel);
  const std::string note =
      std::string{program_invocation_short_name} + ": note: no access to memory was seen in " +
      (name.empty() ? "a kernel" : name) +
      ", though it has stored something: nothing of it was counted or checked. Its code needs the compiler's "
      "flags of the CMake target emulated_kernels\n";
  std::fputs(note.c_str(), stderr);
}

bool has_seen_accesses(const Counters& counters) {
  return counters.shared_load_requests + counters.shared_store_requests + counters.global_load_requests +
             counters.global_store_requests + counters.atomics !=
         0;
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
                               .default_shared_bytes = std::size_t{48} << 10,
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
  const std::size_t most_shared_bytes = require_allowed(config, kernel);
  global_memory().begin_launch();
  const unsigned used = useful_host_threads(config);
  BlockTrace* const trace =
      current.tracing != nullptr ? current.tracing->begin_launch(config, kernel) : nullptr;
  Grid grid{config,
            kernel,
            {used, current.schedule, current.instrumented, ++current.launches, most_shared_bytes,
             current.loop_limit, trace}};
  const bool is_first = current.instrumented && current.kernels.insert(kernel.entry).second;
  const std::uint64_t before = is_first ? global_memory().fingerprint() : 0;
  host_threads().run(used - 1, [&grid] { grid.work(); });
  const Counters counters = result_of(grid, trace);
  if (is_first && !has_seen_accesses(counters) && global_memory().fingerprint() != before) {
    say_that_nothing_was_seen(kernel.entry);
  }
  for (LaunchRecord* const record : current.records)
    record->launches_.push_back(counters);
}

void allow_dynamic_shared_memory(const void* kernel, std::size_t bytes) {
  const std::size_t most = properties().shared_bytes_per_block;
  if (bytes > most) {
    throw std::invalid_argument{"the emulated device cannot give a block " + std::to_string(bytes) +
                                " bytes of shared memory, but " + std::to_string(most)};
  }
  const std::lock_guard lock{device_mutex()};
  settings().dynamic_shared_bytes[kernel] = bytes;
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

void set_host_threads(unsigned count) { set(&Settings::host_threads, count); }
void set_schedule(const Schedule& schedule) { set(&Settings::schedule, schedule); }
void set_instrumented(bool on) { set(&Settings::instrumented, on); }
void set_loop_limit(std::chrono::nanoseconds limit) { set(&Settings::loop_limit, limit); }

}  // namespace __emulated
