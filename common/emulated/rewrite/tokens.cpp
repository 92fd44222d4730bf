#include "emulated/rewrite/tokens.hpp"

#include <algorithm>
#include <string>

#include "emulated/rewrite/rewrite.hpp"

namespace emulated_rewrite {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view source) : source_{source} {
    while (find_token(false)) {
      if (at(0) == '#' && line_begins_) {
        read_directive();
      } else {
        pieces[0].push_back(read_token());
      }
    }
  }

  std::vector<std::vector<Token>> pieces{1};

 private:
  char at(std::size_t ahead) const {
    return position_ + ahead < source_.size() ? source_[position_ + ahead] : '\0';
  }
  bool starts_with(std::string_view text) const { return source_.substr(position_, text.size()) == text; }
  /// The length of a line's continuation, if one begins here. Compilers take it with blanks behind the backslash.
  std::size_t splice() const {
    const std::size_t end = at(0) == '\\' ? source_.find_first_not_of(" \t\r", position_ + 1) : source_.npos;
    return end != source_.npos && source_[end] == '\n' ? end + 1 - position_ : 0;
  }

  /// Goes on to the next token, in a directive at most to the end of its line; whether there is one.
  bool find_token(bool in_directive) {
    while (position_ < source_.size()) {
      const bool line_ends = at(0) == '\n';
      if (line_ends && in_directive) return false;
      if (line_ends) line_begins_ = true;
      if (starts_with("//")) {
        while (position_ < source_.size() && at(0) != '\n')
          position_ += std::max<std::size_t>(1, splice());
      } else if (starts_with("/*")) {
        skip_past("*/", position_ + 2, "a comment without its \"*/\"");
      } else if (splice() != 0 || one_of({&source_[position_], 1}, {" ", "\t", "\n", "\r", "\v", "\f"})) {
        position_ += std::max<std::size_t>(1, splice());
      } else {
        return true;
      }
    }
    return false;
  }

  void skip_past(const std::string& end, std::size_t from, const char* error) {
    const std::size_t found = source_.find(end, from);
    if (found == std::string_view::npos) throw RewriteError{source_, position_, error};
    position_ = found + end.size();
  }

  Token read_token() {
    const std::size_t begin = position_;
    line_begins_ = false;
    TokenType type = TokenType::other;
    if (is_digit(at(0)) || (at(0) == '.' && is_digit(at(1)))) {
      skip_number();
    } else {
      while (is_word(at(0)))
        ++position_;
      const std::string_view word = source_.substr(begin, position_ - begin);
      if (at(0) == '"' && one_of(word, {"R", "u8R", "uR", "UR", "LR"})) {
        skip_raw_string();
      } else if ((at(0) == '"' || at(0) == '\'') && one_of(word, {"", "u8", "u", "U", "L"})) {
        skip_quoted();
      } else if (!word.empty()) {
        type = TokenType::word;
      } else {
        ++position_;
      }
    }
    return {type, source_.substr(begin, position_ - begin), begin};
  }

  void skip_number() {
    for (char last = '\0';; last = source_[position_++]) {
      const bool separator = at(0) == '\'' && is_word(at(1));
      const bool sign = one_of({&last, 1}, {"e", "E", "p", "P"}) && (at(0) == '+' || at(0) == '-');
      if (!is_word(at(0)) && at(0) != '.' && !separator && !sign) return;
    }
  }

  void skip_raw_string() {
    const std::size_t open = std::min(source_.find('(', position_), source_.size());
    const std::string delimiter{source_.substr(position_ + 1, open - position_ - 1)};
    skip_past(")" + delimiter + "\"", open, "a raw string without its end");
  }

  void skip_quoted() {
    const std::size_t begin = position_;
    for (++position_; at(0) != source_[begin];
         position_ += at(0) == '\\' ? std::max<std::size_t>(2, splice()) : 1) {
      if (position_ >= source_.size() || at(0) == '\n')
        throw RewriteError{source_, begin, "a literal without its closing quote"};
    }
    ++position_;
  }

  void read_directive() {
    const std::size_t begin = position_++;
    line_begins_ = false;
    const bool named = find_token(true) && is_word(at(0));
    const std::string_view name = named ? read_token().text : "";
    pieces[0].push_back({TokenType::directive, name, begin});
    if (name == "define") return read_macro();
    // Its text need not be made of tokens ("#error can't"), but "/*" in quotes begins no comment.
    while (find_token(true)) {
      const std::size_t end = at(0) == '"' ? source_.find_first_of("\"\n", position_ + 1) : source_.npos;
      position_ = end != source_.npos && source_[end] == '"' ? end + 1 : position_ + 1;
    }
  }

  void read_macro() {
    std::vector<Token> body;
    while (find_token(true))
      body.push_back(read_token());
    // The name, and parameters if their "(" follows at once, are no part of it.
    auto first = body.begin();
    if (first != body.end()) ++first;
    if (first != body.end() && first->text == "(" && first->offset == body[0].end()) {
      first = std::ranges::find(first, body.end(), ")", &Token::text);
      if (first != body.end()) ++first;
    }
    pieces.emplace_back(first, body.end());
  }

  std::string_view source_;
  std::size_t position_ = 0;
  bool line_begins_ = true;
};

}  // namespace

std::vector<std::vector<Token>> tokenize(std::string_view source) { return Tokenizer{source}.pieces; }

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

}  // namespace emulated_rewrite
