#include "emulated/rewrite/rewrite.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace reduction::rewriter {
namespace {

constexpr std::size_t none = std::string_view::npos;

enum class Kind { identifier, number, literal, punctuation, directive };

struct Token {
  Kind kind;
  std::string_view text;  ///< of a directive only its name; punctuation is one character each
  std::size_t offset;
};

struct Edit {
  std::size_t offset, length;
  std::string replacement;
};

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
}

[[noreturn]] void fail(std::string_view source, std::size_t offset, const std::string& text) {
  const auto before = source.substr(0, offset);
  throw RewriteError{text, 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'))};
}

/// Splits a source into tokens. A directive is one of them; what a macro stands for is kept apart.
class Tokenizer {
 public:
  struct Macro {
    std::size_t offset;
    std::vector<Token> body;
  };

  explicit Tokenizer(std::string_view source) : source_{source} {
    while (find_token(false)) {
      if (at(0) == '#' && line_begins_) {
        read_directive();
      } else {
        tokens.push_back(read_token());
      }
    }
  }

  std::vector<Token> tokens;
  std::vector<Macro> macros;

 private:
  char at(std::size_t ahead) const {
    return position_ + ahead < source_.size() ? source_[position_ + ahead] : '\0';
  }
  bool starts_with(std::string_view text) const { return source_.substr(position_, text.size()) == text; }
  std::size_t splice() const { return starts_with("\\\n") ? 2 : starts_with("\\\r\n") ? 3 : 0; }

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
    if (found == none) fail(source_, position_, error);
    position_ = found + end.size();
  }

  Token read_token() {
    const std::size_t begin = position_;
    Kind kind = Kind::punctuation;
    if (is_digit(at(0)) || (at(0) == '.' && is_digit(at(1)))) {
      kind = Kind::number;
      skip_number();
    } else if (is_word(at(0))) {
      while (is_word(at(0)))
        ++position_;
      kind =
          skip_prefixed_literal(source_.substr(begin, position_ - begin)) ? Kind::literal : Kind::identifier;
    } else if (at(0) == '"' || at(0) == '\'') {
      kind = Kind::literal;
      skip_quoted();
    } else {
      ++position_;
    }
    line_begins_ = false;
    return {kind, source_.substr(begin, position_ - begin), begin};
  }

  void skip_number() {
    for (char last = '\0';; last = source_[position_++]) {
      const bool separator = at(0) == '\'' && is_word(at(1));
      const bool sign = one_of({&last, 1}, {"e", "E", "p", "P"}) && (at(0) == '+' || at(0) == '-');
      if (!is_word(at(0)) && at(0) != '.' && !separator && !sign) return;
    }
  }

  bool skip_prefixed_literal(std::string_view prefix) {
    if (at(0) == '"' && one_of(prefix, {"R", "u8R", "uR", "UR", "LR"})) {
      const std::size_t open = std::min(source_.find('(', position_), source_.size());
      const std::string delimiter{source_.substr(position_ + 1, open - position_ - 1)};
      skip_past(")" + delimiter + "\"", open, "a raw string without its end");
      return true;
    }
    if ((at(0) != '"' && at(0) != '\'') || !one_of(prefix, {"u8", "u", "U", "L"})) return false;
    skip_quoted();
    return true;
  }

  void skip_quoted() {
    const std::size_t begin = position_;
    for (++position_; at(0) != source_[begin];
         position_ += at(0) == '\\' ? std::max<std::size_t>(2, splice()) : 1) {
      if (position_ >= source_.size() || at(0) == '\n')
        fail(source_, begin, "a literal without its closing quote");
    }
    ++position_;
  }

  void read_directive() {
    const std::size_t begin = position_++;
    line_begins_ = false;
    const bool named = find_token(true) && is_word(at(0));
    tokens.push_back({Kind::directive, named ? read_token().text : "", begin});
    if (tokens.back().text == "define") {
      read_macro(begin);
    } else {
      // Its text need not be made of tokens ("#error can't"), but "/*" in quotes begins no comment.
      while (find_token(true)) {
        const std::size_t end = at(0) == '"' ? source_.find_first_of("\"\n", position_ + 1) : none;
        position_ = end != none && source_[end] == '"' ? end + 1 : position_ + 1;
      }
    }
  }

  void read_macro(std::size_t begin) {
    std::vector<Token> body;
    while (find_token(true))
      body.push_back(read_token());
    // The name, and parameters if their "(" follows at once, are no part of it.
    auto first = body.begin();
    if (first != body.end()) ++first;
    if (first != body.end() && first->text == "(" && first->offset == body[0].offset + body[0].text.size()) {
      first = std::find_if(first, body.end(), [](const Token& token) { return token.text == ")"; });
      if (first != body.end()) ++first;
    }
    macros.push_back({begin, {first, body.end()}});
  }

  std::string_view source_;
  std::size_t position_ = 0;
  bool line_begins_ = true;
};

/// Tokens and how brackets group them. A token is named by its index; one outside of them all is no token.
class Code {
 public:
  Code(std::string_view source, std::vector<Token> tokens)
      : source_{source}, tokens_{std::move(tokens)}, partner_(size(), none), enclosing_(size(), none) {
    pair_brackets();
  }

  std::size_t size() const { return tokens_.size(); }
  std::size_t offset(std::size_t i) const { return tokens_[i].offset; }
  std::size_t end_of(std::size_t i) const { return tokens_[i].offset + tokens_[i].text.size(); }
  std::size_t partner(std::size_t i) const { return i < size() ? partner_[i] : none; }
  std::size_t enclosing(std::size_t i) const { return enclosing_[i]; }

  std::string_view text(std::size_t i) const { return tokens_[i].text; }

  bool is(std::size_t i, std::string_view text) const { return i < size() && tokens_[i].text == text; }
  bool is_any(std::size_t i, std::initializer_list<std::string_view> words) const {
    return i < size() && one_of(tokens_[i].text, words);
  }
  bool is_kind(std::size_t i, Kind kind) const { return i < size() && tokens_[i].kind == kind; }
  bool opens(std::size_t i) const { return is_any(i, {"(", "[", "{"}); }
  bool closes(std::size_t i) const { return is_any(i, {")", "]", "}"}); }
  bool is_alignment(std::size_t i) const { return is_any(i, {"alignas", "__align__", "__attribute__"}); }
  bool is_pair(std::size_t i, std::string_view text) const { return is_run(i, text, 2); }
  bool is_triple(std::size_t i, std::string_view text) const { return is_run(i, text, 3); }

  /// A word that ends no expression, after which a new one begins.
  bool is_keyword(std::size_t i) const {
    return is_condition(i) ||
           is_any(i, {"return", "else", "do", "case", "throw", "new", "delete", "co_return", "co_yield",
                      "co_await", "and", "or", "not", "sizeof", "operator"});
  }
  bool is_condition(std::size_t i) const {
    return is_any(i, {"if", "while", "for", "switch", "catch", "constexpr"});
  }
  bool is_name(std::size_t i) const { return is_kind(i, Kind::identifier) && !is_keyword(i); }

  /// The other end of the template arguments that begin, or end, with this "<", or ">".
  std::size_t angle_partner(std::size_t from) const {
    const bool forward = is(from, "<");
    long depth = 0;
    for (std::size_t i = from; i < size(); i = forward ? i + 1 : i - 1) {
      if (is_any(i, {"<", ">"}) && !is_operator(i)) {
        depth += is(i, "<") ? 1 : -1;
      } else if (forward ? opens(i) : closes(i)) {
        i = partner(i);
      } else if (opens(i) || closes(i) || is(i, ";") || is_kind(i, Kind::directive)) {
        return none;
      }
      if (depth == 0 || i == none) return i == from ? none : i;
    }
    return none;
  }

  /// The beginning of the expression that ends before a token, such as the kernel before "<<<".
  std::size_t expression_begin(std::size_t end) const {
    const std::size_t last = end - 1;
    if (is_name(last)) return name_begin(last);
    if (is(last, ">")) {
      const std::size_t arguments = angle_partner(last);
      return arguments != none && is_name(arguments - 1) ? name_begin(arguments - 1) : none;
    }
    const std::size_t open = is_any(last, {")", "]"}) ? partner(last) : none;
    if (open == none || is_condition(open - 1)) return none;
    const std::size_t before = expression_begin(open);  // what is called or subscripted
    return before == none && is(last, ")") ? open : before;
  }

  [[noreturn]] void refuse(std::size_t i, const std::string& text) const { fail(source_, offset(i), text); }

 protected:
  std::string_view source_;

 private:
  bool is_run(std::size_t i, std::string_view text, std::size_t count) const {
    for (std::size_t k = 0; k < count; ++k) {
      if (!is(i + k, text) || tokens_[i + k].offset != tokens_[i].offset + k) return false;
    }
    return true;
  }
  bool touch(std::size_t i, std::string_view first, std::string_view second) const {
    return is(i, first) && is(i + 1, second) && end_of(i) == offset(i + 1);
  }
  /// Whether this "<" or ">" is part of a shift, an arrow or a comparison. (">>" may well end two lists.)
  bool is_operator(std::size_t i) const {
    return is_pair(i, "<") || is_pair(i - 1, "<") || touch(i - 1, "-", ">") || touch(i, "<", "=") ||
           touch(i, ">", "=");
  }

  std::size_t name_begin(std::size_t begin) const {
    while (begin > 0) {
      if (is(begin - 1, "template")) --begin;
      if (is(begin - 1, ".")) return expression_begin(begin - 1);
      if (begin >= 2 && touch(begin - 2, "-", ">")) return expression_begin(begin - 2);
      if (begin < 2 || !(is_pair(begin - 2, ":") || is_pair(begin - 2, "#"))) return begin;
      begin -= 2;
      std::size_t scope = begin - 1;  // what it is qualified with, or joined to
      if (is(scope, ">")) scope = angle_partner(scope) - 1;
      if (is(scope, ")") && is(partner(scope) - 1, "decltype")) scope = partner(scope) - 1;
      if (!is_name(scope)) return begin;
      begin = scope;
    }
    return begin;
  }

  void pair_brackets() {
    std::vector<std::size_t> open;
    std::vector<std::vector<std::size_t>> before_branches;  // each branch of an #if begins with the same ones
    for (std::size_t i = 0; i < size(); ++i) {
      enclosing_[i] = open.empty() ? none : open.back();
      if (is_kind(i, Kind::directive)) {
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

  void close_bracket(std::size_t i, std::vector<std::size_t>& open) {
    while (is(i, "}") && !open.empty() && !is(open.back(), "{"))
      open.pop_back();
    const char* opener = is(i, ")") ? "(" : is(i, "]") ? "[" : "{";
    if (open.empty() || !is(open.back(), opener)) return;
    partner_[i] = open.back();
    partner_[open.back()] = i;
    open.pop_back();
  }

  std::vector<Token> tokens_;
  std::vector<std::size_t> partner_;
  std::vector<std::size_t> enclosing_;  ///< the innermost open bracket
};

/// Collects the edits of one piece of code: a file, or what a macro stands for.
class Rewriter : private Code {
 public:
  Rewriter(std::string_view source, std::vector<Token> tokens, std::vector<Edit>& edits)
      : Code{source, std::move(tokens)}, edits_{edits} {}

  void rewrite_launches() {
    for (std::size_t i = 0; i < size(); ++i) {
      const bool inside_a_run = is_pair(i - 1, "<");
      if (is_triple(i, "<") && !inside_a_run && !is(i - 1, "operator")) rewrite_launch(i);
    }
  }

  void rewrite_launch_bounds() {
    for (std::size_t i = 0; i < size(); ++i)
      if (is(i, "__launch_bounds__") && is(i + 1, "(") && partner(i + 1) != none) rewrite_bound(i + 1);
  }

  /// A launch may leave to the compiler which of several kernels it means, arguments of a template, and arguments that have
  /// a default. A function with the same parameters does so, too: each declaration of such a kernel is followed by one of it.
  void find_kernels() {
    for (std::size_t i = 0; i < size(); ++i) {
      if (is(i, "__global__")) read_kernel(i);
    }
  }

  /// What is constant needs no constant memory, and cannot be in one section with what is not.
  void rewrite_constants() {
    for (std::size_t i = 0; i < size(); ++i) {
      if (is(i, "__constant__") && is_constant(i)) remove(i, i);
    }
  }

  /// Inline PTX is an error where it is compiled; a part for another architecture is not.
  void rewrite_assembly() {
    for (std::size_t i = 0; i < size(); ++i) {
      if (!is_any(i, {"asm", "__asm", "__asm__"}) || !is_in_function_of(i, {"__global__", "__device__"}))
        continue;
      std::size_t open = i + 1;
      while (is_any(open, {"volatile", "__volatile__", "inline", "goto"}))
        ++open;
      if (!is(open, "(") || partner(open) == none) continue;
      const std::size_t last = partner(open);
      remove(i, last);
      insert(end_of(last),
             "static_assert(false, \"inline PTX is not modelled on the emulated device: write it in CUDA "
             "C++\")");
      i = last;
    }
  }

  void rewrite_shared_variables() {
    for (std::size_t i = 0; i < size(); ++i) {
      if (is(i, "__shared__")) i = rewrite_declaration(i);
    }
  }

 private:
  enum class Scope { file, function, other };

  struct Declarator {
    std::size_t name;
    std::vector<std::size_t> dimensions;  ///< the "[" of each
  };
  struct Declaration {
    bool dynamic = false;  ///< declared extern
    std::size_t type = none;
    std::vector<Declarator> declarators;
  };

  /// A kernel's declaration, and that of the function that launches it by its name: its counterpart.
  struct Kernel {
    std::string scope;      ///< the namespaces that it is in
    std::string signature;  ///< its parameters' types
    std::size_t template_parameters = 0;
    std::size_t parameters = 0;
    bool has_default = false;
    bool has_body = false;
    std::size_t end;         ///< of the declaration, in the source
    std::string head, body;  ///< of the counterpart
  };

  void read_kernel(std::size_t word) {
    const std::size_t begin = statement_begin(word);
    const std::size_t open = is(begin, "template") ? begin + 1 : none;
    const std::size_t close = is(open, "<") ? angle_partner(open) : none;
    const bool is_complete = !is(begin, "template") || close < word;
    if (!is_complete || scope_of(word) != Scope::file) return;
    std::size_t list = word;  // the "(" of the parameters
    for (; list < size() && !is_any(list, {";", "{", "}", "="}); ++list) {
      if (!opens(list)) continue;
      if (partner(list) == none) return;
      const bool is_specifier = is_alignment(list - 1) || is(list - 1, "__launch_bounds__");
      if (is(list, "(") && is_name(list - 1) && !is_specifier) break;
      list = partner(list);
    }
    if (!is(list, "(")) return;
    std::size_t last = partner(list) + 1;
    if (is(last, "noexcept")) ++last;
    if (is(last, "{") ? partner(last) == none : !is(last, ";")) return;
    const std::vector<std::string> names =
        close == none ? std::vector<std::string>{} : parameter_names(open, close);
    if ((close != none && names.empty()) || has_directive(begin, last)) return;
    const std::string name{text(list - 1)};
    Kernel kernel;
    for (std::size_t brace = enclosing(word); brace != none; brace = enclosing(brace))
      kernel.scope += source_of(statement_begin(brace), brace);
    kernel.template_parameters = names.size();
    kernel.has_body = is(last, "{");
    kernel.end = end_of(kernel.has_body ? partner(last) : last);
    std::string pointer = "&" + name;
    if (close == none) {
      kernel.head = " [[maybe_unused]] static";
    } else {
      std::size_t specifiers = close + 1;  // a requires clause may be before them
      while (!is_any(specifiers, {"__global__", "__launch_bounds__", "static", "inline", "extern", "void"}))
        ++specifiers;
      kernel.head = " " + source_of(begin, specifiers - 1);
      pointer += "<" + joined(names) + ">";
    }
    kernel.head += std::string{" void "} + counterpart_prefix + name +
                   "(const ::__emulated::LaunchConfig& __emulated_config";
    read_parameters(kernel, list, pointer, names);
    kernels_[name].push_back(std::move(kernel));
  }

  static std::string joined(const std::vector<std::string>& parts) {
    std::string all;
    for (const std::string& part : parts)
      all += (all.empty() ? "" : ", ") + part;
    return all;
  }

  void read_parameters(Kernel& kernel, std::size_t list, const std::string& pointer,
                       const std::vector<std::string>& template_names) const {
    std::vector<std::string> types, names;
    for (const auto& [begin, end] : elements(list, partner(list))) {
      if (is(begin, "void") && begin + 1 == end) continue;
      const Parameter parameter = read_parameter(begin, end);
      const std::string given = "reduction_" + std::to_string(names.size());
      const std::string name = parameter.name != none ? std::string{text(parameter.name)} : given;
      kernel.head += ", " + source_of(begin, parameter.name_end - 1);
      if (parameter.name == none) kernel.head += " " + name;
      if (parameter.name_end < end) kernel.head += " " + source_of(parameter.name_end, end - 1);
      kernel.has_default |= parameter.type_end < end;
      kernel.signature += type_text(begin, parameter, template_names) + ",";
      const std::string dots = parameter.is_pack ? "..." : "";
      types.push_back("decltype(" + name + ")" + dots);
      names.push_back(name + dots);
    }
    kernel.parameters = names.size();
    kernel.head += ")";
    kernel.body = " { ::__emulated::launch(__emulated_config, static_cast<void (*)(" + joined(types) + ")>(" +
                  pointer + ")" + (names.empty() ? "" : ", ") + joined(names) + "); }";
  }

  struct Parameter {
    std::size_t name = none;
    std::size_t name_end = none;  ///< where it is, or would be
    std::size_t type_end = none;  ///< where a default begins, if there is one
    bool is_pack = false;
  };

  Parameter read_parameter(std::size_t begin, std::size_t end) const {
    Parameter result;
    bool has_type = false;
    std::size_t i = begin;
    for (; i < end && !is(i, "="); ++i) {
      const bool is_function_or_array = is(i, "(") && has_type && is_any(i + 1, {"*", "&"});
      if (is(i, "<") && angle_partner(i) < end) {
        i = angle_partner(i);
      } else if (is_function_or_array) {
        result.name_end = partner(i);
        if (is_name(result.name_end - 1)) result.name = result.name_end - 1;
        i = partner(i);
      } else if (is(i, "[") && has_type && result.name_end == none) {
        result.name_end = i;
        i = partner(i);
      } else if (opens(i)) {
        i = partner(i);
      } else if (is(i, ".")) {
        result.is_pack = true;
      } else if (is_name(i) && !is_unheeded(i)) {
        const bool can_be_name = has_type && !is_pair(i - 2, ":") && !is_word_of_type(i);
        if (can_be_name && result.name_end == none) result.name = i;
        has_type |= !is_any(i, {"const", "volatile", "typename", "struct", "class", "decltype"});
      }
    }
    result.type_end = i;
    if (result.name_end == none) result.name_end = i;
    return result;
  }

  /// The same for two declarations, whatever the names in them, and without a `const` of the parameter itself.
  std::string type_text(std::size_t begin, const Parameter& parameter,
                        const std::vector<std::string>& template_names) const {
    std::string type, qualifier;
    for (std::size_t i = begin; i < parameter.type_end; ++i) {
      const auto known = std::ranges::find(template_names, text(i));
      if (is_any(i, {"*", "&", "["})) type += std::exchange(qualifier, "");
      if (is(i, "const")) {
        qualifier = " const";
      } else if (known != template_names.end()) {
        type += " $" + std::to_string(known - template_names.begin());
      } else if (i != parameter.name && !is_unheeded(i) && !is_any(i, {"typename", "struct", "class"})) {
        type += " " + std::string{text(i)};
      }
    }
    return type;
  }

  bool is_unheeded(std::size_t i) const {
    return is_any(i, {"__restrict__", "__restrict", "__grid_constant__", "__attribute__"});
  }
  bool is_word_of_type(std::size_t i) const {
    return is_any(i, {"const", "volatile", "int", "long", "short", "char", "double", "unsigned", "signed"});
  }

  /// The names of a template's parameters, those of packs with their dots; none if one has no name.
  std::vector<std::string> parameter_names(std::size_t open, std::size_t close) const {
    std::vector<std::string> names;
    for (std::size_t i = open + 1; i < close;) {
      std::size_t last = none;
      bool is_pack = false;
      bool in_default = false;
      std::size_t words = 0;
      for (; i < close && !is(i, ","); ++i) {
        in_default |= is(i, "=");
        if (is(i, "<") && angle_partner(i) != none) i = angle_partner(i);
        if (partner(i) != none && opens(i)) i = partner(i);
        if (in_default) continue;
        is_pack |= is_triple(i, ".");
        if (is_name(i)) last = i;
        words += is_name(i) ? 1 : 0;
      }
      if (last == none || words < 2) return {};
      names.push_back(std::string{text(last)} + (is_pack ? "..." : ""));
      ++i;
    }
    return names;
  }

  bool has_directive(std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i < last; ++i) {
      if (is_kind(i, Kind::directive)) return true;
    }
    return false;
  }

  /// Tokens as they are in the source, on one line and without comments.
  std::string source_of(std::size_t first, std::size_t last) const {
    std::string joined;
    for (std::size_t i = first; i <= last; ++i) {
      if (i > first && end_of(i - 1) != offset(i)) joined += ' ';
      joined += text(i);
    }
    return joined;
  }

  /// Where the name of the kernel is if a launch does not say all that a pointer to it takes; else none.
  /// \param open  the "<<<". \param arguments  the "(" of the launch's arguments.
  std::size_t incomplete_name(std::size_t open, std::size_t arguments) const {
    const std::size_t last = open - 1;
    const std::size_t list = is(last, ">") ? angle_partner(last) : none;
    const std::size_t name = list != none ? list - 1 : last;
    const auto known = is_name(name) ? kernels_.find(std::string{text(name)}) : kernels_.end();
    if (known == kernels_.end()) return none;
    const std::size_t given = list != none ? elements(list, last).size() : 0;
    const std::size_t passed =
        partner(arguments) != none ? elements(arguments, partner(arguments)).size() : 0;
    for (const Kernel& kernel : known->second) {
      const bool is_overloaded = std::ranges::any_of(known->second, [&](const Kernel& other) {
        return other.scope == kernel.scope && !declare_the_same(other, kernel);
      });
      const bool takes_default = kernel.has_default && passed < kernel.parameters;
      if (is_overloaded || takes_default || given < kernel.template_parameters) return name;
    }
    return none;
  }

  /// Whether two declarations are of one kernel. A type may have several names (`size_t`), so the number of parameters
  /// decides where one of the two has the body.
  static bool declare_the_same(const Kernel& a, const Kernel& b) {
    const bool same_parameters =
        a.has_body != b.has_body ? a.parameters == b.parameters : a.signature == b.signature;
    return a.scope == b.scope && a.template_parameters == b.template_parameters && same_parameters;
  }

  /// What is in such brackets between commas: the first token of each, and the one behind its last.
  std::vector<std::pair<std::size_t, std::size_t>> elements(std::size_t open, std::size_t close) const {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    std::size_t begin = open + 1;
    for (std::size_t i = begin; i <= close && begin < close; ++i) {
      if (is(i, "<") && angle_partner(i) < close) i = angle_partner(i);
      if (opens(i) && partner(i) < close) i = partner(i);
      if (i != close && !is(i, ",")) continue;
      if (begin < i) found.emplace_back(begin, i);
      begin = i + 1;
    }
    return found;
  }

  /// Has the declarations of these kernels followed by their counterparts. A kernel that has its body elsewhere has its
  /// counterpart's here.
  void insert_counterparts(const std::string& name) {
    if (!counterparts_.insert(name).second) return;
    const std::vector<Kernel>& kernels = kernels_[name];
    for (const Kernel& kernel : kernels) {
      const bool has_body_elsewhere = std::ranges::any_of(kernels, [&kernel](const Kernel& other) {
        return declare_the_same(other, kernel) && (other.has_body || other.end > kernel.end);
      });
      insert(kernel.end, kernel.head + (!kernel.has_body && has_body_elsewhere ? ";" : kernel.body));
    }
  }

  bool is_constant(std::size_t word) const {
    std::size_t first = word;
    while (first > 0 && !is_any(first - 1, {";", "{", "}"}) && !is_kind(first - 1, Kind::directive))
      --first;
    bool constant = false;
    for (std::size_t i = first; i < size() && !is_any(i, {";", "=", "{", "[", "("}); ++i) {
      if (is(i, "constexpr")) return true;
      if (is(i, "const")) constant = true;
      if (is(i, "*")) constant = false;
    }
    return constant;
  }

  /// Whether a token is in the body of a function that is declared with one of these words.
  bool is_in_function_of(std::size_t i, std::initializer_list<std::string_view> words) const {
    for (std::size_t bracket = enclosing(i); bracket != none; bracket = enclosing(bracket)) {
      if (!is(bracket, "{")) continue;
      for (std::size_t k = statement_begin(bracket); k < bracket; ++k) {
        if (is_any(k, words)) return true;
      }
    }
    return false;
  }

  void insert(std::size_t position, const std::string& text) { edits_.push_back({position, 0, text}); }
  void replace(std::size_t token, std::size_t length, const std::string& text) {
    edits_.push_back({offset(token), length, text});
  }
  void remove(std::size_t first, std::size_t last) {
    const std::size_t length = end_of(last) - offset(first);
    std::string newlines{source_.substr(offset(first), length)};
    std::erase_if(newlines, [](char c) { return c != '\n' && c != '\r'; });
    replace(first, length, newlines);
  }

  void rewrite_launch(std::size_t open) {
    const std::size_t close = launch_end(open);
    const std::size_t begin = expression_begin(open);
    if (begin == none) refuse(open, "a launch without a kernel's name in front of its \"<<<\"");
    if (is_in_function_of(open, {"__global__", "__device__"}) && !is_in_function_of(open, {"__host__"})) {
      refuse(open, "a launch within a kernel (dynamic parallelism) is not modelled: launch it from the host");
    }
    const std::size_t arguments = close + 3;
    if (const std::size_t name = incomplete_name(open, arguments); name != none) {
      insert(offset(name), counterpart_prefix);
      replace(open, 3, "(::__emulated::launch_config(");
      replace(close, 3, ")");
      replace(arguments, 1, partner(arguments) == arguments + 1 ? "" : ", ");
      return insert_counterparts(std::string{text(name)});
    }
    const bool after_colon =
        begin > 0 && is(begin - 1, ":") && end_of(begin - 1) == offset(begin);  // ":::" is misread
    insert(offset(begin), std::string{after_colon ? " " : ""} + "::__emulated::Launch(");
    replace(open, 3, ", ");
    replace(close, 3, ")");
  }

  std::size_t launch_end(std::size_t open) const {
    std::size_t commas = 0;
    for (std::size_t i = open + 3; i < size() && !closes(i) && !is(i, ";"); ++i) {
      if (is(i, ",")) ++commas;
      if (is_triple(i, ">") && is(i + 3, "(")) {
        if (commas == 0) refuse(open, "a launch without a grid and a block: write <<<grid, block>>>");
        return i;
      }
      if (opens(i)) i = partner(i);
      if (i == none) break;
    }
    refuse(open, "a launch without its \">>>(\"");
  }

  /// The kernel's body, if it has one here, begins with the bound. \param open  the "(" of its arguments.
  void rewrite_bound(std::size_t open) {
    std::string arguments;
    for (std::size_t i = open + 1; i < partner(open); ++i)
      arguments += std::string{i == open + 1 || end_of(i - 1) == offset(i) ? "" : " "} + std::string{text(i)};
    for (std::size_t i = partner(open) + 1; i < size() && !is(i, ";"); ++i) {
      if (is(i, "{")) return insert(end_of(i), "::__emulated::require_launch_bounds(" + arguments + ");");
      if (opens(i)) i = partner(i);
      if (i == none) return;
    }
  }

  /// Returns the declaration's last token.
  std::size_t rewrite_declaration(std::size_t word) {
    const Scope scope = scope_of(word);
    if (scope == Scope::other) {
      refuse(word, "a __shared__ variable as a parameter or a member: declare it in the kernel");
    }
    const std::size_t end = declaration_end(word);
    const Declaration declaration = read_declaration(declaration_begin(word), end);
    if (!declaration.dynamic && scope == Scope::file) {
      refuse(word, "a __shared__ variable outside of a function: declare it in the kernel");
    }
    if (declaration.dynamic && scope == Scope::file && declaration.declarators.size() > 1) {
      refuse(word, "two extern __shared__ variables in one declaration: declare each on its own");
    }
    for (const Declarator& declarator : declaration.declarators) {
      if (declaration.dynamic) {
        rewrite_dynamic(declarator, scope == Scope::file ? declaration.type : none);
      } else {
        rewrite_static(declarator);
      }
    }
    return end;
  }

  void rewrite_static(const Declarator& declarator) {
    const auto& [name, dimensions] = declarator;
    if (!dimensions.empty() && is_empty(dimensions[0])) {
      refuse(name, "a __shared__ array without a size: give it one, or declare it extern");
    }
    // An array's name needs parentheses, and compilers warn of those around another.
    insert(offset(name), dimensions.empty() ? "&" : "(&");
    if (!dimensions.empty()) insert(end_of(name), ")");
    insert(end_of(dimensions.empty() ? name : partner(dimensions.back())),
           " = ::__emulated::shared_variable([] {})");
  }

  /// \param type_in_file  where the type begins if the variable is outside of functions, else none.
  void rewrite_dynamic(const Declarator& declarator, std::size_t type_in_file) {
    const auto& [name, dimensions] = declarator;
    if (dimensions.size() != 1 || !is_empty(dimensions[0])) {
      refuse(name, "an extern __shared__ variable of this form: write extern __shared__ TYPE NAME[];");
    }
    const bool in_file = type_in_file != none;
    if (in_file) insert(offset(type_in_file), "static const ::__emulated::DynamicSharedArray<");
    insert(offset(name), in_file ? "> " : "* const ");
    replace(dimensions[0], 1, in_file ? "{" : " = ::__emulated::dynamic_shared_memory()");
    replace(dimensions[0] + 1, 1, in_file ? "}" : "");
  }

  bool is_empty(std::size_t dimension) const { return partner(dimension) == dimension + 1; }

  Scope scope_of(std::size_t word) const {
    const std::size_t brace = enclosing(word);
    if (brace == none) return Scope::file;
    if (!is(brace, "{")) return Scope::other;
    const std::size_t begin = statement_begin(brace);
    const bool linkage = is(begin, "extern") && is_kind(begin + 1, Kind::literal) && begin + 2 == brace;
    if (linkage || is(is(begin, "inline") ? begin + 1 : begin, "namespace")) return Scope::file;
    return is_class(begin, brace) ? Scope::other : Scope::function;
  }

  /// Where the statement, or the declaration, begins that goes on with a brace.
  std::size_t statement_begin(std::size_t brace) const {
    std::size_t begin = brace;
    while (begin > 0 && !begins_statement(begin)) {
      const std::size_t open = closes(begin - 1) ? partner(begin - 1) : none;
      begin = open == none ? begin - 1 : open;
    }
    return begin;
  }

  bool begins_statement(std::size_t i) const {
    return is_any(i - 1, {";", "{", "}", "(", "["}) || is_kind(i - 1, Kind::directive);
  }

  /// Whether a statement that goes on with a brace defines a class, and not a function or a variable of one.
  bool is_class(std::size_t begin, std::size_t brace) const {
    bool keyword = false;
    for (std::size_t i = begin; i < brace; ++i) {
      if (is(i, "<") && angle_partner(i) < brace) {
        i = angle_partner(i);
      } else if (is_any(i, {"class", "struct", "union", "enum"})) {
        keyword = true;
      } else if (keyword && is(i, ":")) {
        return true;
      } else if (keyword && (is(i, "=") || (is(i, "(") && !is_alignment(i - 1)))) {
        return false;
      } else if (opens(i) && partner(i) < brace) {
        i = partner(i);
      }
    }
    return keyword;
  }

  std::size_t declaration_begin(std::size_t word) const {
    std::size_t begin = word;
    for (std::size_t next = word; next != none; next = specifier_before(begin))
      begin = next;
    const bool at_statement = begin == 0 || is_any(begin - 1, {";", "{", "}", ":", ")", "else", "do"}) ||
                              is_kind(begin - 1, Kind::directive);
    if (!at_statement) refuse_form(word);
    return begin;
  }

  /// Where the specifier, or part of a type, that ends before a token begins.
  std::size_t specifier_before(std::size_t begin) const {
    const std::size_t last = begin - 1;
    if (is_name(last)) return last;
    if (is_pair(last - 1, ":")) return last - 1;
    if (is(last, ">")) return angle_partner(last);
    const std::size_t open = partner(last);
    if (is(last, ")") && is_alignment(open - 1)) return open - 1;
    return is(last, "]") && is_pair(open, "[") ? open : none;
  }

  std::size_t declaration_end(std::size_t word) const {
    for (std::size_t i = word; i < size() && !closes(i); ++i) {
      if (is(i, ";")) return i;
      if (opens(i)) i = partner(i);
      if (i == none) break;
    }
    refuse(word, "a __shared__ declaration without its \";\"");
  }

  Declaration read_declaration(std::size_t begin, std::size_t end) {
    Declaration declaration;
    for (std::size_t i = begin; i < end; ++i)
      declaration.dynamic |= is(i, "extern");
    Declarator current{none, {}};
    std::size_t words = 0;  // of the type and the names
    for (const std::size_t i : without_specifiers(begin, end)) {
      if (declaration.type == none) declaration.type = i;
      if (is(i, "[") && current.name != none) {
        current.dimensions.push_back(i);
      } else if (is(i, ",") && current.name != none && words > 1) {
        declaration.declarators.push_back(std::exchange(current, {none, {}}));
      } else if (current.dimensions.empty() && is_qualifier(i)) {
        current.name = none;
      } else if (current.dimensions.empty() && is_plain_word(i)) {
        current.name = i;
        ++words;
      } else {
        refuse_form(i);
      }
    }
    if (current.name == none || words < 2) refuse_form(end);
    declaration.declarators.push_back(current);
    return declaration;
  }

  /// Removes the words that only nvcc knows. Returns the other tokens, less attributes and what is in brackets.
  std::vector<std::size_t> without_specifiers(std::size_t begin, std::size_t end) {
    std::vector<std::size_t> others;
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t first = i;
      if (opens(i + (is_alignment(i) ? 1 : 0))) i = partner(is_alignment(i) ? i + 1 : i);
      if (is(i, "<")) i = angle_partner(i);
      if (i == none || (i == first && is_alignment(i))) refuse_form(first);
      if (is_any(first, {"extern", "static", "__shared__"}) || is_alignment(first)) {
        remove(first, i);
      } else if (!is_pair(first, "[")) {
        others.push_back(first);
      }
    }
    return others;
  }

  bool is_qualifier(std::size_t i) const {
    return is_any(i, {"const", "volatile", "*", "<"}) || is_pair(i, ":") || is_pair(i - 1, ":");
  }
  bool is_plain_word(std::size_t i) const {
    return is_name(i) && !is_any(i, {"typedef", "using", "inline", "thread_local", "constinit", "mutable"});
  }

  [[noreturn]] void refuse_form(std::size_t i) const {
    if (is_any(i, {"=", "{"})) {
      refuse(i, "a __shared__ variable with an initialiser or a type of its own: write TYPE NAME[SIZE];");
    }
    if (is(i, "&")) refuse(i, "a __shared__ reference: declare a variable or a pointer");
    refuse(i, "a __shared__ declaration of this form: write __shared__ TYPE NAME[SIZE];");
  }

  static constexpr const char* counterpart_prefix = "__emulated_launch_";

  std::vector<Edit>& edits_;
  std::map<std::string, std::vector<Kernel>> kernels_;  ///< each declaration of a name
  std::set<std::string> counterparts_;                  ///< the names of those that a launch has needed
};

std::string apply(std::string_view source, std::vector<Edit> edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.offset < b.offset; });
  std::string result;
  std::size_t done = 0;
  for (const Edit& edit : edits) {
    if (edit.offset < done) fail(source, edit.offset, "a launch in an alignment: compute that before");
    result += source.substr(done, edit.offset - done);
    result += edit.replacement;
    done = edit.offset + edit.length;
  }
  result += source.substr(done);
  return result;
}

}  // namespace

std::string rewrite(std::string_view source) {
  const Tokenizer text{source};
  std::vector<Edit> edits;
  for (const auto& [offset, body] : text.macros) {
    const bool shared =
        std::any_of(body.begin(), body.end(), [](const Token& t) { return t.text == "__shared__"; });
    if (shared) {
      fail(source, offset, "a __shared__ variable in a macro cannot be rewritten: declare it in the kernel");
    }
    Rewriter{source, body, edits}.rewrite_launches();
  }
  Rewriter rewriter{source, text.tokens, edits};
  rewriter.find_kernels();
  rewriter.rewrite_launches();
  rewriter.rewrite_launch_bounds();
  rewriter.rewrite_shared_variables();
  rewriter.rewrite_constants();
  rewriter.rewrite_assembly();
  return apply(source, std::move(edits));
}

}  // namespace reduction::rewriter
