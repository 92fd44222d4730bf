#pragma once
#include <atomic>
#include <cstddef>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>

#include "emulated/memory/memory.hpp"

namespace __emulated {

/// The memory from which kernels take what they ask `new` and `malloc` for: global memory, on behalf of any number of host
/// threads at once. What has been released is given to nobody else before a launch finds all of it released, so that an access
/// to it is seen.
class KernelHeap {
 public:
  /// Bytes that kernels can hold at once, as on a GPU where the program asks for no more (cudaLimitMallocHeapSize).
  static constexpr std::size_t default_capacity = std::size_t{8} << 20;
  std::size_t capacity() const { return capacity_; }
  /// Returns whether it can still be changed: kernels have taken nothing yet.
  bool set_capacity(std::size_t bytes);

  /// Before a launch.
  void reuse_if_empty();

  /// Aligned to 16 bytes; nullptr where there is not enough left.
  void* allocate(std::size_t bytes);

  /// Returns whether kernels hold memory that begins there.
  bool release(const void* begin);

  /// Whether an address is in the pages of the heap, and whether these bytes are one kernel's memory.
  bool is_near(const void* address) const;
  bool contains(const std::byte* address, std::size_t bytes) const;

  /// Whether the piece that begins last before an address has been released.
  bool is_released(const std::byte* address) const;

  /// "4-byte word 2 of a kernel's memory (2 words)".
  std::string describe(const std::byte* address, std::size_t bytes) const;

  /// Which of its words have been written. It contains no address: what a kernel holds is asked here each time.
  Buffer& words() { return *words_; }

 private:
  /// Memory that a kernel has asked for.
  struct Piece {
    std::size_t bytes;
    bool is_held;  ///< and not yet released
  };

  /// Room for what is released and taken again within one launch.
  std::size_t all_bytes() const { return 8 * capacity_; }

  mutable std::shared_mutex mutex_;
  std::size_t capacity_ = default_capacity;
  std::optional<Buffer> words_;              ///< from the first allocation on
  std::atomic<std::byte*> begin_ = nullptr;  ///< null before it
  std::size_t used_ = 0;  ///< bytes from the beginning on, those in between and the released ones among them
  std::size_t held_bytes_ = 0;
  std::map<const std::byte*, Piece> pieces_;
};

KernelHeap& kernel_heap();

}  // namespace __emulated
