#include "emulated/rewrite/variables.hpp"

namespace emulated_rewrite {
namespace {

[[noreturn]] void refuse_form(const Code& code, std::size_t i) {
  if (code.is_any(i, {"=", "{"}))
    code.refuse(i, "a __shared__ variable with an initialiser: assign to it in the kernel");
  if (code.is(i, "&")) code.refuse(i, "a __shared__ reference: declare a variable or a pointer");
  code.refuse(i, "a __shared__ declaration of this form: write __shared__ TYPE NAME[SIZE];");
}

/// Where the specifier, or part of a type, that ends before a token begins.
std::size_t specifier_before(const Code& code, std::size_t begin) {
  const std::size_t last = begin - 1;
  if (code.is_name(last)) return last;
  if (code.spells(last - 1, "::")) return last - 1;
  if (code.is(last, ">")) return code.angle_partner(last);
  const std::size_t open = code.partner(last);
  if (code.is(last, ")") && code.is_alignment(open - 1)) return open - 1;
  return code.is(last, "]") && code.spells(open, "[[") ? open : none;
}

std::size_t declaration_begin(const Code& code, std::size_t word) {
  std::size_t begin = word;
  for (std::size_t next = word; next != none; next = specifier_before(code, begin))
    begin = next;
  const bool at_statement = begin == 0 || code.is_directive(begin - 1) ||
                            code.is_any(begin - 1, {";", "{", "}", ":", ")", "else", "do"});
  if (!at_statement) refuse_form(code, word);
  return begin;
}

std::size_t declaration_end(const Code& code, std::size_t word) {
  std::size_t i = word;
  while (i < code.size() && !code.closes(i) && !code.is(i, ";"))
    i = code.next(i);
  if (!code.is(i, ";")) code.refuse(word, "a __shared__ declaration without its \";\"");
  return i;
}

/// Finds the words that only nvcc knows. Returns the other tokens, less attributes and what is in brackets.
std::vector<std::size_t> without_specifiers(const Code& code, std::size_t begin,
                                            SharedDeclaration& declaration) {
  std::vector<std::size_t> others;
  for (std::size_t i = begin; i < declaration.end; ++i) {
    const std::size_t first = i;
    const bool alignment = code.is_alignment(i);
    if (code.opens(alignment ? i + 1 : i)) i = code.partner(alignment ? i + 1 : i);
    if (code.is(i, "<")) i = code.angle_partner(i);
    if (i == none || (i == first && alignment)) refuse_form(code, first);
    if (alignment || code.is_any(first, {"extern", "static", "__shared__"})) {
      declaration.specifiers.emplace_back(first, i);
    } else if (!code.spells(first, "[[")) {
      others.push_back(first);
    }
    declaration.dynamic |= code.is(first, "extern");
  }
  return others;
}

}  // namespace

bool is_constant(const Code& code, std::size_t word) {
  bool constant = false;
  for (std::size_t i = code.statement_begin(word); i < code.size(); ++i) {
    if (code.is_any(i, {";", "=", "{", "[", "("})) break;
    if (code.is(i, "constexpr")) return true;
    if (code.is(i, "const")) constant = true;
    if (code.is(i, "*")) constant = false;
  }
  return constant;
}

bool is_device_variable(const Code& code, std::size_t word) {
  if (code.scope_of(word) != Scope::file || is_constant(code, word)) return false;
  for (std::size_t i = code.statement_begin(word); i < code.size(); ++i) {
    if (code.is_any(i, {"__managed__", "__constant__", "__shared__", "template", "inline", "operator",
                        "struct", "class", "union", "enum", "using", "friend", "(", "{", "extern"}))
      return code.is(i, "{") && code.is_name(i - 1);
    if (code.is_any(i, {";", "="}) || (code.is(i, "[") && !code.spells(i, "[["))) return code.is_name(i - 1);
    if (code.is_alignment(i) || code.spells(i, "[[")) i = code.partner(code.is_alignment(i) ? i + 1 : i);
    if (code.is(i, "<")) i = code.angle_partner(i);
    if (i == none) return false;
  }
  return false;
}

SharedDeclaration read_shared_declaration(const Code& code, std::size_t word) {
  SharedDeclaration declaration;
  declaration.scope = code.scope_of(word);
  if (declaration.scope == Scope::other) {
    code.refuse(word, "a __shared__ variable as a parameter or a member: declare it in the kernel");
  }
  declaration.end = declaration_end(code, word);
  SharedVariable variable;
  std::size_t words = 0;  // of the type and the names
  for (const std::size_t i : without_specifiers(code, declaration_begin(code, word), declaration)) {
    if (declaration.type == none) declaration.type = i;
    const bool in_type = code.is_any(i, {"const", "volatile", "*", "<"}) || code.spells(i, "::") ||
                         code.spells(i - 1, "::") ||
                         (code.is(i, "{") && code.scope_of(i + 1) == Scope::other);
    declaration.defines_type |= code.is(i, "{");
    if (code.is(i, "[") && variable.name != none) {
      variable.dimensions.push_back(i);
    } else if (code.is(i, ",") && variable.name != none && words > 1) {
      declaration.variables.push_back(std::exchange(variable, {}));
    } else if (variable.dimensions.empty() && in_type) {
      variable.name = none;
    } else if (variable.dimensions.empty() && code.is_name(i) &&
               !code.is_any(i, {"typedef", "using", "inline", "thread_local", "constinit", "mutable"})) {
      variable.name = i;
      ++words;
    } else {
      refuse_form(code, i);
    }
  }
  if (variable.name == none || words < 2) refuse_form(code, declaration.end);
  declaration.variables.push_back(variable);
  return declaration;
}

bool is_expression(const Code& code, std::size_t begin, std::size_t name) {
  const std::size_t before = begin - 1, behind = name + 1;
  const bool is_part = code.is(before, ".") || code.spells(before - 1, "->") || code.is(name - 1, "#") ||
                       code.is(behind, "#") || code.spells(behind, "::");
  if (is_part || code.is_name(before) || code.is_name(behind) || code.is_any(behind, {"(", "{"}))
    return false;
  if (code.is(behind, ".") || code.spells(behind, "->")) return true;
  const std::size_t first = before - 1;
  const bool is_end = code.is_name(first) || code.is_any(first, {")", "]"});
  if (code.is_any(before, {"*", "&"})) {
    const bool in_declarator =
        code.is(first, "(") && code.is(behind, ")") && code.is_any(behind + 1, {"[", "("});
    return !is_end && !in_declarator && !code.is_any(first, {">", "}", "*", "&"});
  }
  if (code.is(before, "(")) return !code.is_any(first, {"decltype", "typeof", "__typeof__"});
  if (code.is(before, "[")) return is_end && !code.is(first, "auto");
  const std::size_t open = code.is(before, ",") ? code.enclosing(name) : code.partner(before);
  if (code.is(before, ",")) return code.is(open, "(") && !code.is(open - 1, "for");
  if (code.is(before, ")")) return !code.is_name(open - 1);
  if (code.is_any(before, {"{", "}"}))
    return code.scope_of(before + (code.is(before, "{") ? 1 : 0)) == Scope::function;
  return !code.is_any(before, {"<", ">", "]"});
}

}  // namespace emulated_rewrite
