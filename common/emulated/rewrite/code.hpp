#pragma once
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulated/rewrite/tokens.hpp"

namespace emulated_rewrite {

constexpr std::size_t none = std::string_view::npos;

enum class Scope { file, function, other };

/// Tokens and how brackets group them. A token is named by its index; one outside of them all is no token.
class Code {
 public:
  Code(std::string_view source, std::vector<Token> tokens);

  std::size_t size() const { return tokens_.size(); }
  const Token& operator[](std::size_t i) const { return tokens_[i]; }
  /// The other bracket of a pair.
  std::size_t partner(std::size_t i) const { return i < size() ? partner_[i] : none; }
  /// The innermost bracket that is open here.
  std::size_t enclosing(std::size_t i) const { return enclosing_[i]; }

  bool is(std::size_t i, std::string_view text) const { return i < size() && tokens_[i].text == text; }
  bool is_any(std::size_t i, std::initializer_list<std::string_view> words) const {
    return i < size() && one_of(tokens_[i].text, words);
  }
  bool is_directive(std::size_t i) const { return i < size() && tokens_[i].type == TokenType::directive; }
  bool is_name(std::size_t i) const;
  bool is_alignment(std::size_t i) const { return is_any(i, {"alignas", "__align__", "__attribute__"}); }
  /// Whether a kernel has it, with a list that is not that of its parameters.
  bool is_kernel_attribute(std::size_t i) const {
    return is_any(i, {"__launch_bounds__", "__maxnreg__", "__cluster_dims__"});
  }
  bool opens(std::size_t i) const { return is_any(i, {"(", "[", "{"}); }
  bool closes(std::size_t i) const { return is_any(i, {")", "]", "}"}); }
  /// Whether punctuation that begins here spells this, without a gap.
  bool spells(std::size_t i, std::string_view text) const {
    return is(i, text.substr(0, 1)) && source_.substr(tokens_[i].offset, text.size()) == text;
  }

  /// The token behind this one, or behind the brackets that it opens.
  std::size_t next(std::size_t i) const;
  /// The last token of the brackets or template arguments that begin here, if that is before a limit; else this one.
  std::size_t group_end(std::size_t i, std::size_t limit) const;
  /// The other end of the template arguments that begin, or end, with this "<", or ">".
  std::size_t angle_partner(std::size_t from) const;
  /// What is in such brackets between commas: the first token of each, and the one behind its last.
  std::vector<std::pair<std::size_t, std::size_t>> elements(std::size_t open, std::size_t close) const;
  /// The beginning of the expression that ends before a token, such as the kernel before "<<<".
  std::size_t expression_begin(std::size_t end) const;
  /// Where a name begins, with what it is qualified with or joined to.
  std::size_t qualified_begin(std::size_t name) const;
  /// Where the statement, or the declaration, begins that a token is part of.
  std::size_t statement_begin(std::size_t i) const;
  /// What the innermost bracket that is open at a token is the body of.
  Scope scope_of(std::size_t i) const;
  /// Whether a token is in the body of a function that is declared with one of these words.
  bool is_in_function_of(std::size_t i, std::initializer_list<std::string_view> words) const;

  /// Tokens as they are in the source, on one line and without comments.
  std::string source_of(std::size_t begin, std::size_t end) const;
  [[noreturn]] void refuse(std::size_t i, const std::string& text) const;

 private:
  bool is_class(std::size_t begin, std::size_t brace) const;
  bool is_condition(std::size_t i) const;
  bool is_operator(std::size_t i) const;
  void close_bracket(std::size_t i, std::vector<std::size_t>& open);

  std::string_view source_;
  std::vector<Token> tokens_;
  std::vector<std::size_t> partner_, enclosing_;
};

}  // namespace emulated_rewrite
