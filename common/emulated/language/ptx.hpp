#pragma once
/// \file
/// What an asm statement of a kernel becomes: `asm("mov.u32 %0, %%laneid;" : "=r"(lane));` is
/// `run_ptx(PtxText<"mov.u32 %0, %%laneid;">{}, ptx_operand<"=r">(lane));`. Its text is read while the kernel is compiled.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "emulated/language/ptx_table.hpp"
#include "emulated/language/ptx_text.hpp"
#include "emulated/language/unsupported.hpp"
#include "emulated/memory/word.hpp"

namespace __emulated::ptx {

constexpr bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

/// Calls `use` with each part of a name that a dot is before, until that returns false. Returns whether it has not.
template <typename Use> constexpr bool for_parts(std::string_view name, Use use) {
  while (name.starts_with('.')) {
    const std::size_t end = std::min(name.find('.', 1), name.size());
    if (!use(name.substr(1, end - 1))) return false;
    name.remove_prefix(end);
  }
  return name.empty();
}

constexpr const Row* row_of(std::string_view name) {
  for (const Row& row : rows) {
    if (!name.starts_with(row.name)) continue;
    if (for_parts(name.substr(row.name.size()), [&](std::string_view part) {
          return has_word(row.types, part) || has_word(row.modifiers, part);
        }))
      return &row;
  }
  return nullptr;
}

/// Whether an instruction, or a "%" and a special register, means something here.
constexpr bool knows(std::string_view word) {
  return word.starts_with('%') ? has_word(special_registers, word.substr(word.find_first_not_of('%')))
                               : row_of(word) != nullptr;
}

template <std::size_t capacity> struct Program {
  std::array<Instruction, capacity> instructions{};
  std::size_t size = 0;
  std::size_t cells = 0;
  // The word that cannot be read, if there is one:
  std::size_t refused = 0;
  std::size_t refused_length = 0;
};

/// Reads a text. Names are looked up from the last one that was declared, so that those of a scope that has ended do no harm.
template <std::size_t capacity> class Reader {
 public:
  /// \param operands  of the asm statement.
  constexpr Reader(std::string_view text, std::size_t operands) : words_{text}, operands_{operands} {
    program.cells = operands;
    while (!words_.is_at_end() && program.refused_length == 0)
      read_statement();
    for (std::size_t i = 0; i < program.size; ++i) {
      if (program.instructions[i].meaning == branch) resolve(program.instructions[i]);
    }
  }

  Program<capacity> program;

 private:
  constexpr void refuse(std::size_t begin, std::string_view word) {
    if (program.refused_length > 0) return;
    program.refused = begin;
    program.refused_length = std::max(word.size(), std::size_t{1});
  }

  constexpr void resolve(Instruction& jump) {
    for (std::size_t i = 0; i < labels_; ++i) {
      if (jump.arguments[0].special != Name{label_names_[i]}) continue;
      jump.target = label_targets_[i];
      return;
    }
    refuse(0, "bra");
  }

  constexpr void read_statement() {
    if (words_.take('{') || words_.take('}') || words_.take(';')) return;
    if (words_.word() == ".reg") return read_registers();
    Argument guard{.constant = 1};
    if (words_.take('@')) {
      const bool is_negated = words_.take('!');
      guard = term();
      guard.is_negated = is_negated;
    }
    const std::string_view name = words_.word();
    const std::size_t begin = words_.begin();
    words_.next();
    if (words_.take(':')) {
      label_names_[labels_] = name;
      label_targets_[labels_++] = program.size;
      return;
    }
    const Row* const row = row_of(name);
    if (row == nullptr) return refuse(begin, name);
    Instruction& instruction = program.instructions[program.size++];
    instruction.meaning = row->meaning;
    instruction.guard = guard;
    std::size_t modifiers = 0, types = 0;
    for_parts(name.substr(name.find('.') < name.size() ? name.find('.') : name.size()),
              [&](std::string_view part) {
                if (!has_word(row->types, part)) {
                  instruction.modifiers[modifiers++] = part;
                } else if (types < instruction.types.size()) {
                  instruction.types[types++] = type_of(part);
                }
                return true;
              });
    read_arguments(instruction, begin, name);
  }

  static constexpr Type type_of(std::string_view name) {
    if (name == "pred") return {'b', 1};
    const std::size_t digits = name.find_first_of("0123456789");
    const bool is_pair = name.ends_with("x2");
    const char letter = name.starts_with("bf") ? 'g' : name[0];
    return {!is_pair ? letter : letter == 'g' ? 'y' : 'x', is_pair ? 32 : number(name.substr(digits))};
  }

  static constexpr unsigned number(std::string_view digits) {
    unsigned value = 0;
    for (const char c : digits)
      value = value * 10 + static_cast<unsigned>(c - '0');
    return value;
  }

  /// `.reg .pred p, q;` and `.reg .b32 r<4>;`, of which the second declares r0 to r3.
  constexpr void read_registers() {
    for (words_.next(); !words_.is_at_end() && !words_.take(';');) {
      const std::string_view word = bare(words_.word());
      const std::size_t begin = words_.begin();
      words_.next();
      if (word.starts_with('.') || word == ",") continue;
      if (registers_ == register_names_.size()) return refuse(begin, word);
      register_names_[registers_] = word;
      first_cells_[registers_] = program.cells;
      if (words_.take('<')) {
        register_counts_[registers_] = number(words_.word());
        words_.next();
        words_.take('>');
      }
      program.cells += std::max(register_counts_[registers_++], 1U);
    }
  }

  constexpr void read_arguments(Instruction& instruction, std::size_t begin, std::string_view name) {
    const auto add = [&](const Argument& argument) {
      if (instruction.count == instruction.arguments.size()) return refuse(begin, name);
      instruction.arguments[instruction.count++] = argument;
    };
    while (!words_.take(';')) {
      if (words_.is_at_end()) return refuse(begin, name);
      if (instruction.meaning == branch) {
        add({.special = words_.word()});
        words_.next();
      } else if (words_.take('{')) {
        for (; !words_.is_at_end() && !words_.take('}'); words_.take(','))
          add(sum());
      } else {
        const bool is_address = words_.take('[');
        add(sum());
        if (is_address) words_.take(']');
      }
      if (words_.take('|')) continue;
      if (instruction.first == 0) instruction.first = instruction.count;
      words_.take(',');
    }
  }

  /// As `!p`, `%0 + 16` or `-1`.
  constexpr Argument sum() {
    const bool is_negated = words_.take('!');
    Argument all = term();
    while (words_.is('+') || words_.is('-')) {
      words_.take('+');
      const Argument more = term();
      all.constant += more.constant;
      if (more.cell != Argument::none) all.added = more.cell;
    }
    all.is_negated = is_negated;
    return all;
  }

  constexpr Argument term() {
    const bool is_negative = words_.take('-');
    const std::string_view word = words_.word();
    const std::string_view name = bare(word);
    const std::size_t begin = words_.begin();
    words_.next();
    Argument found;
    if (word == "_") return found;
    if (word == "WARP_SZ") return {.constant = 32};
    for (std::size_t i = registers_; i-- > 0;) {
      if (!name.starts_with(register_names_[i])) continue;
      const std::string_view rest = name.substr(register_names_[i].size());
      const bool is_counted = !rest.empty() && is_number(rest) && number(rest) < register_counts_[i];
      if (!is_counted && !rest.empty()) continue;
      found.cell = static_cast<int>(first_cells_[i] + (is_counted ? number(rest) : 0));
      return found;
    }
    if (word.starts_with('%')) {
      if (has_word(special_registers, name)) return {.special = name};
      if (!is_number(name) || number(name) >= operands_) refuse(begin, word);
      found.cell = static_cast<int>(number(name));
      return found;
    }
    found = constant(word);
    if (found.special == Name{word}) refuse(begin, word);
    if (is_negative) found.constant = 0 - found.constant;
    return found;
  }

  /// A whole number, decimal or with "0x", the bits of a real one with "0f" or "0d", or one with a point. Else a name.
  static constexpr Argument constant(std::string_view word) {
    const bool is_hexadecimal =
        word.size() > 2 && word[0] == '0' && has_word("x X f F d D", word.substr(1, 1));
    std::string_view digits = word.substr(is_hexadecimal ? 2 : 0);
    if (digits.ends_with('U')) digits.remove_suffix(1);
    const std::size_t point = std::min(digits.find('.'), digits.size());
    Argument found{.is_real = !is_hexadecimal && point < digits.size()};
    double divisor = 1;
    for (std::size_t i = 0; i < digits.size(); ++i) {
      if (i == point) continue;
      const std::size_t value = std::string_view{"0123456789abcdefABCDEF"}.find(digits[i]);
      if (value == digits.npos || (!is_hexadecimal && value > 9)) return {.special = word};
      found.constant = found.constant * (is_hexadecimal ? 16 : 10) + (value < 16 ? value : value - 6);
      if (i > point) divisor *= 10;
    }
    if (digits.empty()) return {.special = word};
    if (found.is_real)
      found.constant = std::bit_cast<std::uint64_t>(static_cast<double>(found.constant) / divisor);
    return found;
  }

  static constexpr std::string_view bare(std::string_view word) {
    return word.substr(std::min(word.find_first_not_of('%'), word.size()));
  }
  static constexpr bool is_number(std::string_view word) {
    return !word.empty() && word.find_first_not_of("0123456789") == word.npos;
  }

  Words words_;
  std::size_t operands_;
  std::array<std::string_view, 64> register_names_{};
  std::array<unsigned, 64> register_counts_{};  ///< 0: its name has no number
  std::array<std::size_t, 64> first_cells_{};
  std::size_t registers_ = 0;
  std::array<std::string_view, 16> label_names_{};
  std::array<std::size_t, 16> label_targets_{};
  std::size_t labels_ = 0;
};

template <Text text, std::size_t operands>
inline constexpr auto program_of = [] {
  constexpr std::size_t capacity = std::ranges::count(text.view(), ';') + 1;
  return Reader<capacity>{text.view(), operands}.program;
}();

/// Of the statement that is compiled, the part that has no meaning.
template <Text word> void refuse() {
  static_assert(supports<decltype(word)>,
                "asm: this instruction is not modelled on the emulated device: write it in CUDA C++");
}

/// Runs a program. \param cells  as many as it says.
void run(std::span<const Instruction> program, std::uint64_t* cells);

/// What a lambda captures of a `__restrict__` pointer is one, too, and no scalar to the library.
template <typename T> struct Unrestricted { using Type = T; };
template <typename T> struct Unrestricted<T* __restrict__> { using Type = T*; };

template <Text constraint, typename T> struct Operand {
  static constexpr char letter = constraint.view().back();
  static constexpr std::size_t bytes = letter == 'h'                    ? 2
                                       : letter == 'r' || letter == 'f' ? 4
                                       : letter == 'l' || letter == 'd' ? 8
                                       : letter == 'n'                  ? sizeof(T)
                                                                        : 0;
  using Value = typename Unrestricted<std::decay_t<T>>::Type;
  static_assert(bytes == sizeof(Value) && std::is_scalar_v<Value> &&
                    (letter == 'n' || std::is_floating_point_v<Value> == (letter == 'f' || letter == 'd')),
                "asm: the type of an operand is not the one that its constraint says");
  using Bits = std::conditional_t<bytes == 2, std::uint16_t,
                                  std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>;

  T& value;

  __EMULATED_INLINE std::uint64_t load() const {
    if constexpr (constraint.view().starts_with('=')) {
      return 0;
    } else if constexpr (letter == 'n') {
      return static_cast<std::uint64_t>(value);
    } else {
      return std::bit_cast<Bits>(static_cast<Value>(value));
    }
  }
  __EMULATED_INLINE void store(std::uint64_t bits) const {
    if constexpr (constraint.view().find_first_of("=+") == 0)
      value = std::bit_cast<Value>(static_cast<Bits>(bits));
  }
};

}  // namespace __emulated::ptx

namespace __emulated {

template <ptx::Text constraint, typename T>
__EMULATED_INLINE ptx::Operand<constraint, std::remove_reference_t<T>> ptx_operand(T&& value) {
  return {value};
}

template <ptx::Text text> struct PtxText {};

template <ptx::Text text, typename... Operands>
__EMULATED_INLINE void run_ptx(PtxText<text>, const Operands&... operands) {
  constexpr const auto& program = ptx::program_of<text, sizeof...(Operands)>;
  if constexpr (program.refused_length > 0) {
    constexpr auto word = [] {
      ptx::Text<program.refused_length + 1> part;
      std::ranges::copy(text.view().substr(program.refused, program.refused_length), part.characters);
      return part;
    }();
    ptx::refuse<word>();
  } else {
    std::uint64_t cells[program.cells + 1] = {operands.load()...};
    ptx::run(std::span{program.instructions}.first(program.size), cells);
    [[maybe_unused]] std::size_t i = 0;
    (operands.store(cells[i++]), ...);
  }
}

}  // namespace __emulated
