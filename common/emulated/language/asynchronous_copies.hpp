#pragma once
/// \file
/// Asynchronous copies to shared memory and barrier objects, as PTX has them (PTX ISA, cp.async, cp.async.bulk, mbarrier), for
/// CUDA's headers that are made of these. And addresses of shared memory, which are 32 bits wide in PTX.

#include <cstddef>
#include <cstdint>

std::size_t __cvta_generic_to_shared(const void* pointer);
void* __cvta_shared_to_generic(std::size_t address);
inline std::size_t __cvta_generic_to_global(const void* pointer) {
  return reinterpret_cast<std::size_t>(pointer);
}
inline void* __cvta_global_to_generic(std::size_t address) { return reinterpret_cast<void*>(address); }
unsigned __isShared(const void* pointer);
unsigned __isGlobal(const void* pointer);

namespace __emulated {

inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// Asks for 4, 8 or 16 bytes; of these, zeros follow `source_bytes`.
void copy_async(void* shared, const void* global, unsigned bytes, unsigned source_bytes);
void commit_copies();
/// For all groups that the thread has committed but the last ones.
void wait_for_copies(unsigned groups_left);
/// Asks for many bytes at once, which the barrier counts.
void copy_bulk(void* shared, const void* global, unsigned bytes, void* barrier);

void mbarrier_init(void* barrier, unsigned count);
/// Returns a token: the phase. \param bytes  more that are to come; \param drops  whether later phases expect so many fewer.
std::uint64_t mbarrier_arrive(void* barrier, unsigned count = 1, unsigned bytes = 0, bool drops = false);
/// The barrier waits for the thread's copies, too.
void mbarrier_arrive_copies(void* barrier);
/// Whether the phase of the token, or the last one of this parity, is over. \param waits  for that.
bool mbarrier_await(void* barrier, std::uint64_t token, bool waits);
bool mbarrier_await_parity(void* barrier, bool parity, bool waits);

/// Thread `rank` of `size` asks for its part of the bytes, in the widest pieces that both addresses allow. What is not from
/// global to shared memory, or not aligned to 4 bytes, it copies at once. Returns whether it has asked.
[[gnu::always_inline]] inline bool copy_part(void* to, const void* from, std::size_t bytes, std::size_t rank,
                                             std::size_t size) {
  const std::size_t all = reinterpret_cast<std::size_t>(to) | reinterpret_cast<std::size_t>(from) | bytes;
  auto* const begin = static_cast<char*>(to);
  const auto* const source = static_cast<const char*>(from);
  if (all % 4 == 0 && __isShared(to) != 0 && __isGlobal(from) != 0) {
    const unsigned piece = all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : 4;
    for (std::size_t at = rank * piece; at < bytes; at += size * piece)
      copy_async(begin + at, source + at, piece, piece);
    return true;
  }
  for (std::size_t at = rank; at < bytes; at += size)
    begin[at] = source[at];
  return false;
}

}  // namespace __emulated

namespace cuda {

/// A number of bytes at addresses that are multiples of `alignment`.
template <std::size_t alignment> struct aligned_size_t {
  static constexpr std::size_t align = alignment;
  std::size_t value;
  explicit constexpr aligned_size_t(std::size_t bytes) : value{bytes} {}
  constexpr operator std::size_t() const { return value; }
};

}  // namespace cuda
