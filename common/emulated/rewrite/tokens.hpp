#pragma once
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace emulated_rewrite {

enum class TokenType { word, directive, other };

struct Token {
  TokenType type;
  std::string_view text;  ///< of a directive only its name; punctuation is one character each
  std::size_t offset;

  std::size_t end() const { return offset + text.size(); }
};

/// What a macro stands for, and where its directive begins.
struct Macro {
  std::size_t offset;
  std::vector<Token> body;
};

struct Tokens {
  std::vector<Token> code;  ///< a directive is one of them
  std::vector<Macro> macros;
};

/// Throws RewriteError for a comment or a literal without an end.
Tokens tokenize(std::string_view source);

bool one_of(std::string_view text, std::initializer_list<std::string_view> words);

}  // namespace emulated_rewrite
