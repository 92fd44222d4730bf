/// \file
/// What kernels call where they do what C++ leaves undefined, as the compiler's instrumentation for that (-fsanitize) has it. The
/// sanitizer's own runtime is not linked: these functions take its place. (LLVM, compiler-rt, ubsan_handlers.h)

#include <cstdint>
#include <string>
#include <string_view>

#include "emulated/run/block.hpp"

namespace {

using __emulated::Block;
using __emulated::Fault;

/// What the compiler says of a type: "'unsigned int'".
struct Type {
  std::uint16_t kind;
  std::uint16_t
      info;  ///< of a whole number: the logarithm of its bits, and in the lowest bit whether it has a sign
  char quoted[1];

  std::string name() const {
    return std::string{std::string_view{quoted}.substr(1, std::string_view{quoted}.size() - 2)};
  }
};

/// And of the place. It is nobody's but the handler's.
struct Place {
  const char* file;
  std::uint32_t line;
  std::uint32_t column;
};

struct Shift {
  Place place;
  const Type* left;
  const Type* right;
};

/// A whole number of up to 64 bits, as handlers get it.
std::string text_of(std::uintptr_t value, const Type& type) {
  const unsigned unused = 64 - (1U << (type.info >> 1));
  return (type.info & 1) != 0 ? std::to_string(static_cast<std::int64_t>(value << unused) >> unused)
                              : std::to_string(value << unused >> unused);
}

}  // namespace

extern "C" {

void __ubsan_handle_divrem_overflow(void*, std::uintptr_t, std::uintptr_t) {
  if (Block* const block = Block::running())
    block->stop_for_crash(__emulated::Crash::division, __builtin_return_address(0));
}

void __ubsan_handle_shift_out_of_bounds(Shift* what, std::uintptr_t, std::uintptr_t amount) {
  Block* const block = Block::running();
  if (block == nullptr) return;
  const Block::AtWork at_work{*block};
  block->note(
      Fault::undefined_arithmetic, "shifts " + what->left->name() + " by " + text_of(amount, *what->right),
      __builtin_return_address(0),
      "C++ does not say what comes of it: on a GPU all bits are shifted out, and here the shift is by the "
      "remainder of a division by the number of bits");
}

}  // extern "C"
