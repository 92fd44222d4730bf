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

/// The tokens of a source, where a directive is one, and then of what each of its macros stands for.
/// Throws RewriteError for a comment or a literal without an end.
std::vector<std::vector<Token>> tokenize(std::string_view source);

bool one_of(std::string_view text, std::initializer_list<std::string_view> words);

}  // namespace emulated_rewrite
