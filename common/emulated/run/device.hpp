#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "emulated/run/execution_configuration.hpp"

/// The emulated device as the host sees it: its limits and its memory.
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

/// A cooperative grid that there is no room for.
struct GridTooLarge : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// More shared memory than a block of the kernel may have.
struct SharedMemoryTooLarge : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// Throws std::invalid_argument, with the reason, of a launch that the device refuses.
[[noreturn]] void refuse_launch(const std::string& reason);

/// Does so if `value` is above the limit. \param what  there is, such as "a block has threads,".
void require_at_most(std::size_t limit, std::size_t value, const char* what, const char* help = "");

/// Throws SharedMemoryTooLarge if it is.
void require_shared_memory(std::size_t limit, std::size_t bytes, const char* what, const char* help = "");

/// Throws std::invalid_argument if no kernel can be launched in this way.
void require_possible(const ExecutionConfiguration& configuration);

/// Throws GridTooLarge if a cooperative grid has more blocks than there is room for.
void require_room(const ExecutionConfiguration& configuration, std::size_t room, const char* why);

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

}  // namespace __emulated
