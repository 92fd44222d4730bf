#include "emulated/rewrite/code.hpp"

#include <algorithm>

#include "emulated/rewrite/rewrite.hpp"

namespace emulated_rewrite {

Code::Code(std::string_view source, std::vector<Token> tokens)
    : source_{source}, tokens_{std::move(tokens)}, partner_(size(), none), enclosing_(size(), none) {
  std::vector<std::size_t> open;
  std::vector<std::vector<std::size_t>> before_branches;  // each branch of an #if begins with the same ones
  for (std::size_t i = 0; i < size(); ++i) {
    enclosing_[i] = open.empty() ? none : open.back();
    if (is_directive(i)) {
      if (is_any(i, {"if", "ifdef", "ifndef"})) {
        before_branches.push_back(open);
      } else if (is_any(i, {"elif", "elifdef", "elifndef", "else"}) && !before_branches.empty()) {
        open = before_branches.back();
      } else if (is(i, "endif") && !before_branches.empty()) {
        before_branches.pop_back();
      }
    } else if (opens(i)) {
      open.push_back(i);
    } else if (closes(i)) {
      close_bracket(i, open);
    }
  }
}

void Code::close_bracket(std::size_t i, std::vector<std::size_t>& open) {
  while (is(i, "}") && !open.empty() && !is(open.back(), "{"))
    open.pop_back();
  const char* opener = is(i, ")") ? "(" : is(i, "]") ? "[" : "{";
  if (open.empty() || !is(open.back(), opener)) return;
  partner_[i] = open.back();
  partner_[open.back()] = i;
  open.pop_back();
}

bool Code::is_condition(std::size_t i) const {
  return is_any(i, {"if", "while", "for", "switch", "catch", "constexpr"});
}

/// A word that may end an expression.
bool Code::is_name(std::size_t i) const {
  return i < size() && tokens_[i].type == TokenType::word && !is_condition(i) &&
         !is_any(i, {"return", "else", "do", "case", "throw", "new", "delete", "co_return", "co_yield",
                     "co_await", "and", "or", "not", "sizeof", "operator"});
}

/// Whether this "<" or ">" is part of a shift, an arrow or a comparison. (">>" may well end two lists.)
bool Code::is_operator(std::size_t i) const {
  return spells(i, "<<") || spells(i - 1, "<<") || spells(i - 1, "->") || spells(i, "<=") || spells(i, ">=");
}

std::size_t Code::next(std::size_t i) const {
  if (!opens(i)) return i + 1;
  return partner(i) == none ? none : partner(i) + 1;
}

std::size_t Code::group_end(std::size_t i, std::size_t limit) const {
  const std::size_t end = is(i, "<") ? angle_partner(i) : opens(i) ? partner(i) : i;
  return end < limit ? end : i;
}

std::size_t Code::angle_partner(std::size_t from) const {
  const bool forward = is(from, "<");
  long depth = 0;
  for (std::size_t i = from; i < size(); i = forward ? i + 1 : i - 1) {
    if (is_any(i, {"<", ">"}) && !is_operator(i)) {
      depth += is(i, "<") ? 1 : -1;
    } else if (forward ? opens(i) : closes(i)) {
      i = partner(i);
    } else if (opens(i) || closes(i) || is(i, ";") || is_directive(i)) {
      return none;
    }
    if (depth == 0 || i == none) return i == from ? none : i;
  }
  return none;
}

std::vector<std::pair<std::size_t, std::size_t>> Code::elements(std::size_t open, std::size_t close) const {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  std::size_t begin = open + 1;
  for (std::size_t i = begin; i <= close && begin < close; ++i) {
    i = group_end(i, close);
    if (i != close && !is(i, ",")) continue;
    if (begin < i) found.emplace_back(begin, i);
    begin = i + 1;
  }
  return found;
}

std::size_t Code::expression_begin(std::size_t end) const {
  std::size_t begin = none;  // of the last one in parentheses, before which there may be what is called
  while (true) {
    const std::size_t last = end - 1;
    if (is_any(last, {")", "]"})) {
      end = partner(last);
      if (end == none || is_condition(end - 1)) return begin;
      if (is(last, ")")) begin = end;
      continue;
    }
    const std::size_t name = is(last, ">") ? angle_partner(last) - 1 : last;
    if (!is_name(name)) return begin;
    const std::size_t first = qualified_begin(name);
    if (is(first - 1, ".")) {
      end = first - 1;
    } else if (spells(first - 2, "->")) {
      end = first - 2;
    } else {
      return first;
    }
  }
}

std::size_t Code::qualified_begin(std::size_t name) const {
  while (true) {
    if (is(name - 1, "template")) --name;
    if (!spells(name - 2, "::") && !spells(name - 2, "##")) return name;
    name -= 2;
    std::size_t scope = name - 1;
    if (is(scope, ">")) scope = angle_partner(scope) - 1;
    if (is(scope, ")") && is(partner(scope) - 1, "decltype")) scope = partner(scope) - 1;
    if (!is_name(scope)) return name;
    name = scope;
  }
}

std::size_t Code::statement_begin(std::size_t i) const {
  while (i > 0 && !is_any(i - 1, {";", "{", "}", "(", "["}) && !is_directive(i - 1))
    i = std::min(i - 1, partner(i - 1));
  return i;
}

Scope Code::scope_of(std::size_t i) const {
  const std::size_t brace = enclosing(i);
  if (brace == none) return Scope::file;
  if (!is(brace, "{")) return Scope::other;
  const std::size_t begin = statement_begin(brace);
  const bool linkage = is(begin, "extern") && begin + 2 == brace && tokens_[begin + 1].text.ends_with('"');
  if (linkage || is(is(begin, "inline") ? begin + 1 : begin, "namespace")) return Scope::file;
  return is_class(begin, brace) ? Scope::other : Scope::function;
}

/// Whether a statement that goes on with a brace defines a class, and not a function or a variable of one.
bool Code::is_class(std::size_t begin, std::size_t brace) const {
  bool keyword = false;
  for (std::size_t i = begin; i < brace; i = group_end(i, brace) + 1) {
    keyword |= is_any(i, {"class", "struct", "union", "enum"});
    if (keyword && is(i, ":")) return true;
    if (keyword && (is(i, "=") || (is(i, "(") && !is_alignment(i - 1)))) return false;
  }
  return keyword;
}

bool Code::is_in_function_of(std::size_t i, std::initializer_list<std::string_view> words) const {
  for (std::size_t brace = enclosing(i); brace != none; brace = enclosing(brace)) {
    if (!is(brace, "{")) continue;
    for (std::size_t k = statement_begin(brace); k < brace; ++k) {
      if (is_any(k, words)) return true;
    }
  }
  return false;
}

std::string Code::source_of(std::size_t begin, std::size_t end) const {
  std::string joined;
  for (std::size_t i = begin; i < end; ++i) {
    if (i > begin && tokens_[i - 1].end() != tokens_[i].offset) joined += ' ';
    joined += tokens_[i].text;
  }
  return joined;
}

void Code::refuse(std::size_t i, const std::string& text) const {
  throw RewriteError{source_, tokens_[i].offset, text};
}

}  // namespace emulated_rewrite
