/// \file
/// What kernels call where they do what C++ leaves undefined, as the compiler's instrumentation for that (-fsanitize) has it. The
/// sanitizer's own runtime is not linked: these functions take its place. (LLVM, compiler-rt, ubsan_handlers.h)

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "emulated/findings/source_text.hpp"
#include "emulated/run/block.hpp"

namespace {

using __emulated::Block;
using __emulated::Fault;

/// What the compiler says of a type: "'int [8]'", or of Clang "'int[8]'".
struct Type {
  std::uint16_t kind;
  std::uint16_t
      info;  ///< of a whole number: the logarithm of its bits, and in the lowest bit whether it has a sign
  char quoted[1];

  std::string name() const {
    std::string text{std::string_view{quoted}.substr(1, std::string_view{quoted}.size() - 2)};
    if (const auto blank = text.find(" ["); blank != text.npos) text.erase(blank, 1);
    return text;
  }
};

/// And of the place. It is nobody's but the handler's.
struct Place {
  const char* file;
  std::uint32_t line;
  std::uint32_t column;
};

struct OutOfBounds {
  Place place;
  const Type* array;
  const Type* index;
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

/// Whether the text there has as many subscripts of a name as the array has dimensions, so that its end has been left; not
/// those of a row, as of `tile[0][i]`. Of an array in memory it is the address that counts.
bool is_local_array(const OutOfBounds& what, const Block& block) {
  const __emulated::SourceLocation location{what.place.file, what.place.line, what.place.column};
  const auto line = __emulated::source_line(location);
  if (!line) return false;
  const std::string text = line->substr(__emulated::span_at(*line, location.column, true).begin);
  int depth = 0;
  std::ptrdiff_t subscripts = 0;
  std::string name;
  for (const char c : text) {
    const bool is_of_name = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (depth == 0 && c != '[' && (subscripts > 0 || !is_of_name)) break;
    if (c == '[' && depth++ == 0) ++subscripts;
    if (c == ']') --depth;
    if (subscripts == 0) name += c;
  }
  return subscripts == std::ranges::count(what.array->name(), '[') && !block.has_variable(name);
}

}  // namespace

extern "C" {

void __ubsan_handle_out_of_bounds(OutOfBounds* what, std::uintptr_t index) {
  constexpr std::uint32_t is_known = ~0U;
  Block* const block = Block::running();
  const std::atomic_ref column{what->place.column};
  if (block == nullptr || column == is_known) return;
  const Block::AtWork at_work{*block};
  if (!is_local_array(*what, *block)) {
    column = is_known;
    return;
  }
  block->fail(Fault::out_of_bounds,
              "element " + text_of(index, *what->index) + " of a local array (" + what->array->name() + ')',
              "accesses", __builtin_return_address(0),
              "check the index before the access, or make the array larger");
}

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

void __ubsan_handle_float_cast_overflow(void*, std::uintptr_t) {
  Block* const block = Block::running();
  if (block == nullptr) return;
  const Block::AtWork at_work{*block};
  block->note(
      Fault::undefined_arithmetic, "converts a number to a type that cannot hold it",
      __builtin_return_address(0),
      "C++ does not say what comes of it: on a GPU it is the nearest number that the type has, of NaN 0, and "
      "here the least one; `__float2int_rz()` and its like are as on a GPU");
}

}  // extern "C"
