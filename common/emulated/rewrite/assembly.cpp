#include "emulated/rewrite/assembly.hpp"

#include <algorithm>
#include <string_view>

#include "emulated/language/ptx_text.hpp"

namespace emulated_rewrite {
namespace {

using __emulated::ptx::Words;

/// What a string literal holds: of escapes, only those that end lines matter.
std::string content(std::string_view literal) {
  const bool is_raw = literal.front() == 'R';
  const std::size_t begin = literal.find(is_raw ? '(' : '"') + 1;
  std::string text{literal.substr(begin, literal.rfind(is_raw ? ')' : '"') - begin)};
  for (std::size_t i = 0; !is_raw && i + 1 < text.size(); ++i)
    if (text[i] == '\\') text.replace(i, 2, text[i + 1] == 'n' ? "\n" : " ");
  return text;
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names, registers;
  bool declares = false;
  for (Words words{text}; !words.is_at_end(); words.take(';')) {
    if (words.take('{') || words.take('}')) continue;
    if (words.take('@')) {
      words.take('!');
      words.next();
    }
    const std::string name{words.word()};
    words.next();
    if (words.take(':')) continue;
    declares |= name == ".reg";
    if (name != ".reg") names.push_back(name);
    for (; !words.is_at_end() && !words.is(';'); words.next()) {
      const std::size_t letter = words.word().find_first_not_of('%');
      const bool is_special = letter != 0 && letter < words.word().size() && words.word()[letter] >= 'a';
      if (is_special) registers.emplace_back(words.word());
    }
  }
  if (!declares) names.insert(names.end(), registers.begin(), registers.end());
  return names;
}

}  // namespace

bool Assembly::looks_like_ptx() const {
  const std::size_t dot = names.empty() ? 0 : names[0].find('.');
  return !is_literal || (dot > 0 && dot != std::string::npos);
}

Assembly read_assembly(const Code& code, std::size_t word) {
  Assembly found;
  found.open = word + 1;
  while (code.is_any(found.open, {"volatile", "__volatile__", "__volatile"}))
    ++found.open;
  found.close = code.is(found.open, "(") ? code.partner(found.open) : none;
  if (found.close == none) return found;
  std::string text;
  for (std::size_t i = found.open + 1; i < found.close; ++i) {
    if (code.is(i, ":")) {
      found.colons.push_back(i);
    } else if (found.colons.empty()) {
      const bool is_literal = code[i].text.ends_with('"');
      found.is_literal = found.is_literal && is_literal;
      if (is_literal) text += content(code[i].text);
    } else if (code.is(i, "[")) {
      i = std::min(code.partner(i), found.close);
    } else if (!code.is(i, ",") && found.colons.size() < 3) {
      const std::size_t constraint = i;
      while (i < found.close && !code.is(i, "("))
        ++i;
      if (i == found.close) break;
      found.operands.emplace_back(constraint, i);
      i = std::min(code.partner(i), found.close);
    }
  }
  found.names = names_in(text);
  return found;
}

}  // namespace emulated_rewrite
