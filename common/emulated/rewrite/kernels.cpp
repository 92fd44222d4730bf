#include "emulated/rewrite/kernels.hpp"

#include <algorithm>
#include <utility>

namespace emulated_rewrite {
namespace {

/// One of a kernel, by its tokens.
struct Parameter {
  std::size_t name = none;
  std::size_t name_end = none;  ///< where it is, or would be
  std::size_t type_end = none;  ///< where a default begins, if there is one
  bool is_pack = false;
};

bool is_unheeded(const Code& code, std::size_t i) {
  return code.is_any(i, {"__restrict__", "__restrict", "__grid_constant__", "__attribute__"});
}

Parameter read_parameter(const Code& code, std::size_t begin, std::size_t end) {
  Parameter result;
  bool has_type = false;
  std::size_t i = begin;
  for (; i < end && !code.is(i, "="); i = code.group_end(i, end) + 1) {
    if (code.is(i, "(") && has_type && code.is_any(i + 1, {"*", "&"})) {  // to a function or an array
      result.name_end = code.partner(i);
      if (code.is_name(result.name_end - 1)) result.name = result.name_end - 1;
    } else if (code.is(i, "[") && has_type && result.name_end == none) {
      result.name_end = i;
    } else if (code.is(i, ".")) {
      result.is_pack = true;
    } else if (code.is_name(i) && !is_unheeded(code, i)) {
      const bool is_type = !has_type || code.spells(i - 2, "::") ||
                           code.is_any(i, {"const", "volatile", "int", "long", "short", "char", "double",
                                           "unsigned", "signed"});
      if (!is_type && result.name_end == none) result.name = i;
      has_type |= !code.is_any(i, {"const", "volatile", "typename", "struct", "class", "decltype"});
    }
  }
  result.type_end = i;
  if (result.name_end == none) result.name_end = i;
  return result;
}

/// The same for two declarations, whatever the names in them, and without a `const` of the parameter itself.
std::string type_text(const Code& code, std::size_t begin, const Parameter& parameter,
                      const std::vector<std::string>& template_names) {
  std::string type, qualifier;
  for (std::size_t i = begin; i < parameter.type_end; ++i) {
    const auto known = std::ranges::find(template_names, code[i].text);
    if (code.is_any(i, {"*", "&", "["})) type += std::exchange(qualifier, "");
    if (code.is(i, "const")) {
      qualifier = " const";
    } else if (known != template_names.end()) {
      type += " $" + std::to_string(known - template_names.begin());
    } else if (i != parameter.name && !is_unheeded(code, i) &&
               !code.is_any(i, {"typename", "struct", "class"})) {
      (type += ' ') += code[i].text;
    }
  }
  return type;
}

/// The names of a template's parameters, those of packs with their dots; none if one has no name.
std::vector<std::string> template_parameters(const Code& code, std::size_t open, std::size_t close) {
  std::vector<std::string> names;
  for (const auto& [begin, end] : code.elements(open, close)) {
    std::string name;
    std::size_t words = 0;
    bool is_pack = false;
    for (std::size_t i = begin; i < end && !code.is(i, "="); i = code.group_end(i, end) + 1) {
      is_pack |= code.spells(i, "...");
      if (!code.is_name(i)) continue;
      name = code[i].text;
      ++words;
    }
    if (words < 2) return {};
    names.push_back(name + (is_pack ? "..." : ""));
  }
  return names;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts)
    all += (all.empty() ? "" : ", ") + part;
  return all;
}

/// \param list  the "(" of the parameters. \param pointer  what names the kernel.
/// The source of some pieces without `__restrict__`: of a template's parameter GCC takes no conversion to a type that has it.
std::string unrestricted(const Code& code, std::size_t begin, std::size_t end) {
  std::string text = code.source_of(begin, end);
  for (std::size_t i = begin; i < end; ++i) {
    if (code.is_any(i, {"__restrict__", "__restrict"}))
      std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(code[i].offset - code[begin].offset),
                  code[i].text.size(), ' ');
  }
  return text;
}

void read_parameters(const Code& code, Kernel& kernel, std::size_t list, const std::string& pointer,
                     const std::vector<std::string>& template_names) {
  std::vector<std::string> types, names;
  for (const auto& [begin, end] : code.elements(list, code.partner(list))) {
    if (code.is(begin, "void") && begin + 1 == end) continue;
    const Parameter parameter = read_parameter(code, begin, end);
    const bool has_name = parameter.name != none;
    const std::string name =
        has_name ? std::string{code[parameter.name].text} : "__emulated_" + std::to_string(names.size());
    kernel.head += ", " + unrestricted(code, begin, parameter.name_end);
    if (!has_name) kernel.head += " " + name;
    if (parameter.name_end < end) kernel.head += " " + code.source_of(parameter.name_end, end);
    kernel.signature += type_text(code, begin, parameter, template_names) + ",";
    kernel.has_default |= parameter.type_end < end;
    const std::string dots = parameter.is_pack ? "..." : "";
    types.push_back("decltype(" + name + ")" + dots);
    names.push_back(name + dots);
  }
  kernel.parameters = names.size();
  kernel.head += ")";
  kernel.body = " { ::__emulated::launch(__emulated_configuration, static_cast<void (*)(" + joined(types) +
                ")>(" + pointer + ")" + (names.empty() ? "" : ", ") + joined(names) + "); }";
}

void read_kernel(const Code& code, std::size_t word, Kernels& kernels) {
  const std::size_t begin = code.statement_begin(word);
  const bool is_template = code.is(begin, "template");
  const std::size_t close = is_template && code.is(begin + 1, "<") ? code.angle_partner(begin + 1) : none;
  if ((is_template && close > word) || code.scope_of(word) != Scope::file) return;
  std::size_t list = word;  // the "(" of the parameters
  while (list < code.size() && !code.is_any(list, {";", "{", "}", "="})) {
    const bool is_specifier = code.is_alignment(list - 1) || code.is_kernel_attribute(list - 1);
    if (code.is(list, "(") && code.is_name(list - 1) && !is_specifier) break;
    list = code.next(list);
  }
  if (!code.is(list, "(") || code.partner(list) == none) return;
  std::size_t last = code.partner(list) + 1;
  if (code.is(last, "noexcept")) ++last;
  if (code.is(last, "{") ? code.partner(last) == none : !code.is(last, ";")) return;
  for (std::size_t i = begin; i < last; ++i)
    if (code.is_directive(i)) return;
  const std::string name{code[list - 1].text};
  std::string pointer = "&" + name;
  std::vector<std::string> template_names;
  Kernel kernel;
  if (is_template) {
    template_names = template_parameters(code, begin + 1, close);
    if (template_names.empty()) return;
    pointer += "<" + joined(template_names) + ">";
    std::size_t specifiers = close + 1;  // a requires clause may be before them
    while (!code.is_kernel_attribute(specifiers) &&
           !code.is_any(specifiers, {"__global__", "static", "inline", "extern", "void"}))
      ++specifiers;
    kernel.head = " " + code.source_of(begin, specifiers);
  } else {
    kernel.head = " [[maybe_unused]] static";
  }
  for (std::size_t brace = code.enclosing(word); brace != none; brace = code.enclosing(brace))
    kernel.scope += code.source_of(code.statement_begin(brace), brace + 1);
  kernel.template_parameters = template_names.size();
  kernel.has_body = code.is(last, "{");
  kernel.end = code[kernel.has_body ? code.partner(last) : last].end();
  // Kept apart, it is known by its name, and a launch that fails is not said to be at the kernel's line.
  kernel.head += std::string{" void "} + counterpart_prefix + name +
                 " [[gnu::noinline]](const ::__emulated::ExecutionConfiguration& __emulated_configuration";
  read_parameters(code, kernel, list, pointer, template_names);
  kernels[name].push_back(std::move(kernel));
}

/// Whether two declarations are of one kernel. A type may have several names (`size_t`), so the number of parameters
/// decides where one of the two has the body.
bool declare_the_same(const Kernel& a, const Kernel& b) {
  const bool same_parameters =
      a.has_body != b.has_body ? a.parameters == b.parameters : a.signature == b.signature;
  return a.scope == b.scope && a.template_parameters == b.template_parameters && same_parameters;
}

}  // namespace

Kernels find_kernels(const Code& code) {
  Kernels kernels;
  for (std::size_t i = 0; i < code.size(); ++i)
    if (code.is(i, "__global__")) read_kernel(code, i, kernels);
  for (std::size_t i = 1; i < code.size(); ++i) {
    const auto known =
        code.is(i + 1, "(") && code.is_name(i - 1) ? kernels.find(code[i].text) : kernels.end();
    if (known == kernels.end() || code.scope_of(i) != Scope::file) continue;
    std::size_t word = code.statement_begin(i);
    while (word < i && !code.is(word, "__global__"))
      ++word;
    for (Kernel& kernel : known->second)
      kernel.is_function_too |= word == i;
  }
  return kernels;
}

std::size_t incomplete_name(const Code& code, const Kernels& kernels, std::size_t open,
                            std::size_t arguments) {
  const std::size_t last = open - 1;
  const std::size_t list = code.is(last, ">") ? code.angle_partner(last) : none;
  const std::size_t name = list != none ? list - 1 : last;
  const auto known = code.is_name(name) ? kernels.find(code[name].text) : kernels.end();
  if (known == kernels.end() || arguments >= code.size()) return none;
  const std::size_t end = code.partner(arguments);
  const std::size_t given = list != none ? code.elements(list, last).size() : 0;
  const std::size_t passed = end != none ? code.elements(arguments, end).size() : 0;
  for (const Kernel& kernel : known->second) {
    const bool is_overloaded = std::ranges::any_of(known->second, [&kernel](const Kernel& other) {
      return other.scope == kernel.scope && !declare_the_same(other, kernel);
    });
    const bool takes_default = kernel.has_default && passed < kernel.parameters;
    if (is_overloaded || kernel.is_function_too || takes_default || given < kernel.template_parameters)
      return name;
  }
  return none;
}

std::string counterpart(const Kernel& kernel, const std::vector<Kernel>& declarations) {
  const bool has_body_elsewhere = std::ranges::any_of(declarations, [&kernel](const Kernel& other) {
    return declare_the_same(other, kernel) && (other.has_body || other.end > kernel.end);
  });
  return kernel.head + (!kernel.has_body && has_body_elsewhere ? ";" : kernel.body);
}

}  // namespace emulated_rewrite
