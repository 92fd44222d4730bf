#include "emulated/run/launch.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "emulated/findings/report.hpp"
#include "emulated/memory/closed_memory.hpp"
#include "emulated/memory/lasting.hpp"
#include "emulated/memory/memory.hpp"
#include "emulated/order/host_order.hpp"
#include "emulated/run/block.hpp"
#include "emulated/run/block_pool.hpp"
#include "emulated/run/device.hpp"
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

class Recording;

/// What the program has set, and what it may ask for; device_mutex() guards it.
struct State {
  unsigned host_threads = 0;
  GridSettings settings;
  std::size_t launches = 0;
  std::map<const void*, std::size_t>
      dynamic_shared_bytes;  ///< that kernels may have, if the program has asked for them
  std::vector<Recording*> recordings;
  LaunchListener* listener = nullptr;
};

State& state() { return lasting<State>(); }

template <typename T> void set(T& setting, const T& value) {
  const std::lock_guard lock{device_mutex()};
  setting = value;
}

/// Nothing if the grid has no such block.
std::shared_ptr<BlockTrace> begun_trace(const ExecutionConfiguration& configuration, const KernelCall& kernel,
                                        const TracedBlock& traced) {
  if (traced.block >= count(configuration.grid)) return nullptr;
  auto trace = std::make_shared<BlockTrace>();
  trace->configuration = configuration;
  trace->launch = traced.launch;
  trace->block = traced.block;
  trace->kernel = kernel.entry;
  return trace;
}

/// While one lives, it is told of all launches.
class Recording {
 public:
  Recording(std::vector<LaunchResult>& results, const std::optional<TracedBlock>& traced)
      : results_{results}, traced_{traced} {
    const std::lock_guard lock{device_mutex()};
    const bool is_tracing = std::ranges::any_of(state().recordings, &Recording::has_traced_block);
    if (traced && is_tracing) throw std::logic_error{"the device traces one block at a time"};
    state().recordings.push_back(this);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() {
    const std::lock_guard lock{device_mutex()};
    std::erase(state().recordings, this);
  }

  bool has_traced_block() const { return traced_.has_value(); }

  /// Returns the trace that this launch is to write, if it is the one, and has the block.
  std::shared_ptr<BlockTrace> begin_launch(const ExecutionConfiguration& configuration,
                                           const KernelCall& kernel) {
    ++launches_;
    if (!traced_ || traced_->launch != launches_) return nullptr;
    return begun_trace(configuration, kernel, *traced_);
  }

  void end_launch(const LaunchResult& result) { results_.push_back(result); }

 private:
  std::vector<LaunchResult>& results_;
  std::optional<TracedBlock> traced_;
  std::size_t launches_ = 0;
};

// ---- before it ----

/// Returns the bytes of shared memory that a block may have.
std::size_t require_allowed(const ExecutionConfiguration& configuration, const KernelCall& kernel) {
  const Properties& device = properties();
  const auto allowed = state().dynamic_shared_bytes.find(kernel.entry);
  const bool has_asked = allowed != state().dynamic_shared_bytes.end();
  require_shared_memory(has_asked ? allowed->second : device.default_shared_bytes, configuration.shared_bytes,
                        "a block of this kernel has bytes of dynamic shared memory,",
                        how_to_ask_for_shared_memory);
  return has_asked ? device.shared_bytes_per_block : device.default_shared_bytes;
}

/// What `ulimit -v` leaves room for; one in any case. It is asked once: from the first launch on, the host threads
/// themselves have taken a part.
std::size_t possible_host_threads() {
  static const std::size_t room = available_address_space() / address_space_of_host_thread;
  return std::clamp<std::size_t>(room, 1, most_host_threads);
}

unsigned useful_host_threads(const ExecutionConfiguration& configuration) {
  const bool takes_turns =
      state().settings.schedule.order != Order::ascending || configuration.is_cooperative;
  if (takes_turns) return 1;
  const std::size_t asked = state().host_threads != 0 ? state().host_threads : available_cpus();
  const std::size_t wanted = std::min(asked, possible_host_threads());
  const std::size_t blocks = count(configuration.grid);
  const std::size_t useful = 1 + blocks * count(configuration.block) / threads_worth_a_helper;
  return static_cast<unsigned>(std::min({wanted, useful, blocks}));
}

// ---- it ----

LaunchResult run_grid(const ExecutionConfiguration& configuration, const KernelCall& kernel) {
  if (Block::running() != nullptr) throw std::logic_error{"a kernel cannot launch another one here"};
  const std::lock_guard lock{device_mutex()};
  const ClosedMemory::Open open;
  State& current = state();
  require_possible(configuration);
  const std::size_t most_shared_bytes = require_allowed(configuration, kernel);
  if (configuration.is_cooperative) {
    require_room(configuration, BlockPool::local().room(static_cast<unsigned>(count(configuration.block))),
                 "the host has memory for no more at once");
  }
  global_memory().begin_launch();
  const unsigned used = useful_host_threads(configuration);
  std::shared_ptr<BlockTrace> trace;
  for (Recording* const each : current.recordings) {
    if (auto wanted = each->begin_launch(configuration, kernel)) trace = std::move(wanted);
  }
  ++current.launches;
  if (current.listener != nullptr) {
    if (const auto block = current.listener->block_to_trace(kernel))
      trace = begun_trace(configuration, kernel, {current.launches, *block});
  }
  Grid grid{configuration, kernel, current.settings, current.launches, most_shared_bytes, trace.get(), used};
  host_threads().run(used - 1, [&grid] { grid.work(); });
  LaunchResult result = grid.result();
  if (result.uses_taint) global_memory().end_taint();
  if (!result.unsettled.empty()) {
    result.is_taint_left = global_memory().has_taint();
    grid.races.taint_results();
  }
  if (trace != nullptr) {
    trace->findings = result.findings;
    std::ranges::copy(result.unsettled, std::back_inserter(trace->findings));
  }
  if (closed_memory().is_on()) host_order().add(configuration.stream, uses_of(grid.races, kernel.entry));
  result.trace = trace;
  for (Recording* const each : current.recordings)
    each->end_launch(result);
  return result;
}

}  // namespace

void launch_grid(const ExecutionConfiguration& configuration, const KernelCall& kernel) {
  LaunchListener* const listener = state().listener;
  if (listener == nullptr) {
    LaunchResult result = run_grid(configuration, kernel);
    if (!result.findings.empty()) throw KernelFinding{std::move(result.findings)};
    return;
  }
  try {
    const LaunchResult result = run_grid(configuration, kernel);
    host_order().report_overlap();
    if (result.uses_taint) listener->taint_used();
    listener->ended(configuration, kernel, result);
  } catch (const std::invalid_argument& refusal) {
    listener->refused(refusal);
  }
}

void set_launch_listener(LaunchListener* listener) {
  set(state().listener, listener);
  set(state().settings.ends_at_fault, listener == nullptr);
}

LaunchListener* launch_listener() { return state().listener; }

void note_read(const void* begin, std::size_t bytes) {
  LaunchListener* const listener = state().listener;
  if (listener == nullptr) return;
  {
    const std::lock_guard lock{device_mutex()};
    const auto* const first = static_cast<const std::byte*>(begin);
    const Buffer* const buffer = global_memory().nearest(first);
    const bool uses_taint = buffer != nullptr && buffer->contains(first, bytes) &&
                            buffer->has_taint(static_cast<std::size_t>(first - buffer->begin()), bytes);
    if (!uses_taint) return;
    global_memory().end_taint();
  }
  listener->taint_used();
}

bool is_taint_left() {
  const std::unique_lock lock{device_mutex(), std::try_to_lock};
  return !lock || global_memory().has_taint();
}

void run_with_results(const std::function<void()>& program, std::vector<LaunchResult>& results,
                      const std::optional<TracedBlock>& traced) {
  const Recording recording{results, traced};
  program();
}

void allow_dynamic_shared_memory(const void* kernel, std::size_t bytes) {
  const std::size_t most = properties().shared_bytes_per_block;
  if (bytes > most) {
    throw std::invalid_argument{"the emulated device cannot give a block " + std::to_string(bytes) +
                                " bytes of shared memory, but " + std::to_string(most)};
  }
  const std::lock_guard lock{device_mutex()};
  state().dynamic_shared_bytes[kernel] = bytes;
}

void set_host_threads(unsigned count) { set(state().host_threads, count); }
void set_schedule(const Schedule& schedule) { set(state().settings.schedule, schedule); }
void set_instrumented(bool on) { set(state().settings.instrumented, on); }
void set_places_counted(bool on) { set(state().settings.counts_places, on); }
void set_loop_limit(std::chrono::nanoseconds limit) { set(state().settings.loop_limit, limit); }

}  // namespace __emulated
