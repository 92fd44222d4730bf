#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace __emulated {

/// What is left of a function while it waits for what it has called: where its variables may be, as a call leaves them.
struct Activation {
#if defined(__x86_64__)
  static constexpr std::array kept_registers{3, 6, 12, 13, 14, 15};  // as DWARF numbers them
#elif defined(__aarch64__)
  static constexpr std::array kept_registers{19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
#endif

  std::array<std::uint64_t, kept_registers.size()> registers{};
  std::uint64_t stack_pointer = 0;
  std::uint64_t end_of_frame = 0;  ///< the stack pointer before it was called; 0 for no function
  std::vector<std::byte> frame;    ///< from the stack pointer on, as much of it as is kept

  // Nothing where it is not known.
  std::optional<std::uint64_t> register_of(std::uint64_t number) const;
  std::optional<std::uint64_t> memory_at(std::uint64_t address, std::size_t bytes) const;
};

/// Of the running thread's function that this call returns to.
Activation activation_of(const void* call_site);

}  // namespace __emulated
