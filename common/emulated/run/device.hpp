#pragma once
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "emulated/count/counters.hpp"
#include "emulated/findings/finding.hpp"
#include "emulated/run/launch_config.hpp"
#include "emulated/run/schedule.hpp"

/// The host's side of the emulated device: what a program asks of it before and after a launch.
namespace __emulated {

/// What a report calls the emulated device.
inline constexpr std::string_view device_name = "emulated H200";

/// What one host thread's first launch reserves of the host's address space beside the buffers: stacks, and notes of all
/// that a block may have in shared memory. Few of these pages are touched.
inline constexpr std::size_t reserved_bytes = std::size_t{640} << 20;

/// What it touches of them.
inline constexpr std::size_t touched_bytes = std::size_t{16} << 20;

/// The GPU whose limits the emulated device has.
struct Properties {
  unsigned sms;
  unsigned threads_per_sm;
  unsigned blocks_per_sm;
  unsigned threads_per_block;
  std::size_t grid_size;               ///< number of blocks that a launch may have
  std::size_t shared_bytes_per_sm;     ///< bytes of shared memory that all blocks of an SM share
  std::size_t default_shared_bytes;    ///< bytes that one block may have, static and dynamic ones,
  std::size_t shared_bytes_per_block;  ///< or this many if the program asks for them
  std::size_t reserved_shared_bytes;   ///< bytes the system takes of each block's share
};

/// An H200: NVIDIA's CUDA C++ Programming Guide, "Compute Capabilities", column 9.0; 132 SMs.
const Properties& properties();

/// Returns the number of blocks that are resident at once when every SM is full: the grid that fills the device.
std::size_t resident_blocks(unsigned block, std::size_t shared_bytes);

/// Allocates `bytes` bytes of the emulated device's global memory, aligned to 64 bytes. The host provides a page
/// only when it is touched. Throws std::bad_alloc.
void* allocate(std::size_t bytes);

/// Releases what allocate() returned; does nothing for nullptr.
void release(void* buffer) noexcept;

/// Declares that the host has written these bytes of a buffer, so that a kernel may read them.
void mark_initialised(void* begin, std::size_t bytes);

/// Declares these bytes of a buffer unwritten: a kernel that reads them before it writes them is wrong.
void mark_uninitialised(void* begin, std::size_t bytes);

/// Runs every thread of every block to its end. Throws std::invalid_argument if the device cannot run such a
/// launch, KernelFinding for a faulty kernel, and whatever a thread of the kernel throws.
void launch_grid(const LaunchConfig& config, const KernelCall& kernel);

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

/// Sets whether accesses to memory are counted, and checked for races and uninitialised reads; on by default.
/// Without it their counters are 0, and findings are only accesses out of bounds or misaligned, stack overflows, and
/// threads that wait or run forever.
void set_instrumented(bool on);

/// Sets for how long a loop that may be endless goes on before it is a finding, in time of a CPU; 10 seconds by default. A
/// loop is in doubt if its threads neither meet nor end, and repeat the same accesses, or make none.
void set_loop_limit(std::chrono::nanoseconds limit);

/// While one lives, it keeps the counters of every launch that ends without a finding, in order.
class LaunchRecord {
 public:
  LaunchRecord();
  ~LaunchRecord();
  LaunchRecord(const LaunchRecord&) = delete;
  LaunchRecord& operator=(const LaunchRecord&) = delete;

  const std::vector<Counters>& launches() const { return launches_; }

 private:
  friend void launch_grid(const LaunchConfig& config, const KernelCall& kernel);

  std::vector<Counters> launches_;
};

}  // namespace __emulated
