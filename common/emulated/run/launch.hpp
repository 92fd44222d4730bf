#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "emulated/count/counters.hpp"
#include "emulated/count/place_counts.hpp"
#include "emulated/findings/finding.hpp"
#include "emulated/run/execution_configuration.hpp"
#include "emulated/run/schedule.hpp"

namespace __emulated {

struct BlockTrace;

/// What a launch counted and found.
struct LaunchResult {
  Counters counters;  ///< of all blocks that have run: with a finding, some above its block may not have
  std::vector<Finding> findings;
  // Where a listener is told:
  std::vector<Finding> notes{};      ///< what is no fault
  std::vector<Finding> unsettled{};  ///< reads of what nobody has written, whose results are tainted now
  bool is_taint_left = false;        ///< with them: that of earlier launches has not been written over
  bool uses_taint = false;           ///< a thread has read what is tainted
  std::map<const void*, PlaceCounters> places{};  ///< by call site, where each place is counted
  std::shared_ptr<const BlockTrace> trace{};  ///< of the block that was to be traced, if this launch has it
};

/// Runs every thread of every block to its end, or to the first fault of its block. Throws KernelFinding for a faulty kernel,
/// std::invalid_argument if the device cannot run such a launch, and whatever a thread of the kernel throws.
void launch_grid(const ExecutionConfiguration& configuration, const KernelCall& kernel);

/// Is told of each launch in place of the program, which goes on whatever is found, or refused. All blocks run, faulty ones to
/// their first fault that ends them.
class LaunchListener {
 public:
  /// Before it: the block that is to be traced, if any.
  virtual std::optional<std::size_t> block_to_trace(const KernelCall& kernel) = 0;
  virtual void ended(const ExecutionConfiguration& configuration, const KernelCall& kernel,
                     const LaunchResult& result) = 0;
  virtual void refused(const std::invalid_argument& refusal) = 0;
  /// Somebody has read what launches have made of what nobody had written: their reads of that are faults.
  virtual void taint_used() = 0;
  /// The program has been told what is no time: "cudaEventElapsedTime gave NaN".
  virtual void asked_for_time(const char* what_it_was_told) = 0;

 protected:
  ~LaunchListener() = default;
};
void set_launch_listener(LaunchListener* listener);
LaunchListener* launch_listener();

/// The host, or a copy, is about to read these bytes of the device's memory.
void note_read(const void* begin, std::size_t bytes);

/// Whether some of what launches have made of what nobody had written is still there. While one runs, it is.
bool is_taint_left();

/// A block of one of the launches of a program.
struct TracedBlock {
  std::size_t launch = 1;  ///< counted from 1
  std::size_t block = 0;   ///< its number in the grid
};

/// Runs `program` and adds what each launch meanwhile counted and found to `results`, also of one that ends it by a finding.
/// \param traced  the block of which what it does is written down, if any.
void run_with_results(const std::function<void()>& program, std::vector<LaunchResult>& results,
                      const std::optional<TracedBlock>& traced = std::nullopt);

/// How far the launch has come that is running.
struct Progress {
  const void* kernel = nullptr;  ///< its entry; nullptr: there is no launch
  std::size_t blocks = 0;        ///< of its grid
  std::size_t done = 0;          ///< of these, in any order
  std::chrono::steady_clock::time_point since{};
};
Progress running_launch();

/// The launch that is running, and each later one, runs no further block. Blocks that have begun go on.
void stop_launches();

// ---- how launches run ----

/// Lets blocks of a kernel have up to `bytes` bytes of dynamic shared memory, as CUDA's cudaFuncSetAttribute() does: without
/// it all of their shared memory is 48 KiB at most. \param kernel  its entry. Throws std::invalid_argument where the device has
/// less.
void allow_dynamic_shared_memory(const void* kernel, std::size_t bytes);

/// What is said of a launch that needs it.
inline constexpr const char* how_to_ask_for_shared_memory =
    "; cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) asks for more";

/// Sets the number of host threads that run blocks; 0, the default, means one per CPU that this process may use. At
/// most 24 are used: the guard pages of more stacks need more mappings than Linux gives a process.
/// Results and counters do not depend on it.
void set_host_threads(unsigned count);

/// Sets the order in which threads take their turns; ascending by default. It decides what an unsynchronised
/// kernel computes, but no counter, and whether there is a race only where atomics order threads.
void set_schedule(const Schedule& schedule);

/// Sets whether launches are counted, and accesses checked for races and uninitialised reads; on by default. Without it
/// counters but those of blocks and threads are 0, a trace has no events, and findings are only accesses out of bounds or
/// misaligned, stack overflows, and threads that wait or run forever.
void set_instrumented(bool on);

/// Sets whether what is counted is counted for each place in the kernel, too; off by default.
void set_places_counted(bool on);

/// Sets for how long a loop that may be endless goes on before it is a finding, in time of a CPU; 10 seconds by default. A
/// loop is in doubt if its threads neither meet nor end, and repeat the same accesses, or make none.
void set_loop_limit(std::chrono::nanoseconds limit);

}  // namespace __emulated
