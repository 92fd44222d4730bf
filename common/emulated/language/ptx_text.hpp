#pragma once
/// \file
/// The words of PTX, the assembly language in a kernel's asm statements, read while the kernel is compiled. (NVIDIA, PTX ISA,
/// "Syntax"; "Inline PTX Assembly in CUDA".)

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace __emulated::ptx {

/// A string as a template's argument.
template <std::size_t size> struct Text {
  char characters[size]{};

  constexpr Text() = default;
  constexpr Text(const char (&text)[size]) { std::copy_n(text, size, characters); }
  constexpr std::string_view view() const { return {characters, size - 1}; }
};

/// Goes through a text word by word: names with their dots, numbers and "%0" are one each, punctuation is one character.
class Words {
 public:
  constexpr explicit Words(std::string_view text) : text_{text} { next(); }

  constexpr std::string_view word() const { return text_.substr(begin_, end_ - begin_); }
  constexpr std::size_t begin() const { return begin_; }
  constexpr bool is(char punctuation) const { return begin_ < text_.size() && text_[begin_] == punctuation; }
  constexpr bool is_at_end() const { return begin_ == text_.size(); }

  constexpr void next() {
    begin_ = end_;
    while (begin_ < text_.size() && (is_blank(text_[begin_]) || comment() > 0))
      begin_ += std::max(comment(), std::size_t{1});
    end_ = begin_;
    while (end_ < text_.size() && is_part_of_word(end_))
      end_ += text_.substr(end_).starts_with("::") ? 2 : 1;
    if (end_ == begin_ && begin_ < text_.size()) ++end_;
  }
  /// Whether the word was this, which is then left behind.
  constexpr bool take(char punctuation) {
    const bool found = is(punctuation);
    if (found) next();
    return found;
  }

 private:
  static constexpr bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  constexpr bool is_part_of_word(std::size_t i) const {
    const char c = text_[i];
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '$' || c == '.' || c == '%' || (c == '=' && i > 0 && text_[i - 1] == '%') ||
           text_.substr(i).starts_with("::");
  }
  /// The length of a comment that begins here.
  constexpr std::size_t comment() const {
    const std::string_view rest = text_.substr(begin_);
    const bool is_line = rest.starts_with("//");
    if (!is_line && !rest.starts_with("/*")) return 0;
    const std::size_t end = rest.find(is_line ? "\n" : "*/", 2);
    return end == rest.npos ? rest.size() : end + (is_line ? 1 : 2);
  }

  std::string_view text_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace __emulated::ptx
