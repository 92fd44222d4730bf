#include "emulated/rewrite/rewrite.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emulated/rewrite/assembly.hpp"
#include "emulated/rewrite/code.hpp"
#include "emulated/rewrite/kernels.hpp"
#include "emulated/rewrite/tokens.hpp"
#include "emulated/rewrite/variables.hpp"

namespace emulated_rewrite {
namespace {

struct Edit {
  std::size_t offset, length;
  std::string replacement;
};

/// Collects the edits of one piece of code: a file, or what a macro stands for.
class Rewriter {
 public:
  Rewriter(std::string_view source, std::vector<Token> tokens, std::vector<Edit>& edits,
           std::set<std::string_view>& shared_in_file)
      : source_{source}, code_{source, std::move(tokens)}, edits_{edits}, shared_in_file_{shared_in_file} {}

  /// Of what a macro stands for only the launches, PTX, and the names of shared variables outside of functions.
  void rewrite(bool in_macro) {
    if (!in_macro) kernels_ = find_kernels(code_);
    for (std::size_t i = 0; i < code_.size(); ++i) {
      const bool inside_a_run = code_.spells(i - 1, "<<");
      if (code_.spells(i, "<<<") && !inside_a_run && !code_.is(i - 1, "operator")) rewrite_launch(i);
      if (is_launch_by_name(i)) drop_cast(i + 1);
      if (code_.is(i, "__shared__")) i = rewrite_shared_variables(i, in_macro);
      if (code_.is_any(i, {"asm", "__asm", "__asm__"})) i = rewrite_assembly(i, in_macro);
      if (in_macro) continue;
      if (kernels_.contains(code_[i].text)) keep_type(i);
      if (code_.is(i, "__launch_bounds__")) rewrite_launch_bounds(i + 1);
      // What is constant needs no constant memory, and cannot be in one section with what is not.
      if (code_.is(i, "__constant__") && is_constant(code_, i)) remove(i, i);
      if (code_.is(i, "__global__")) refuse_no_kernel(i);
      if (code_.is_any(i, {"__device__", "__host__", "__global__"})) rewrite_execution_space(i);
      if (code_.is(i, "__device__") && is_device_variable(code_, i))
        insert(code_[i].end(), " __emulated_variable");
      if (code_.is(i, "__managed__")) make_common(i);
    }
    for (std::size_t i = 0; i < code_.size(); ++i) {
      const bool is_known =
          shared_in_file_.contains(code_[i].text) && (in_macro || code_.enclosing(i) != none);
      const std::size_t begin = is_known ? code_.qualified_begin(i) : none;
      if (!is_known || !is_expression(code_, begin, i)) continue;
      insert(code_[begin].offset, "::__emulated::of_block(");
      insert(code_[i].end(), ")");
    }
  }

 private:
  void insert(std::size_t position, const std::string& text) { edits_.push_back({position, 0, text}); }
  void replace(std::size_t token, std::size_t length, const std::string& text) {
    edits_.push_back({code_[token].offset, length, text});
  }
  void remove(std::size_t first, std::size_t last) {
    const std::size_t length = code_[last].end() - code_[first].offset;
    std::string newlines{source_.substr(code_[first].offset, length)};
    std::erase_if(newlines, [](char c) { return c != '\n' && c != '\r'; });
    replace(first, length, newlines);
  }

  void rewrite_launch(std::size_t open) {
    const std::size_t close = launch_end(open);
    const std::size_t begin = code_.expression_begin(open);
    if (begin == none) code_.refuse(open, "a launch without a kernel's name in front of its \"<<<\"");
    if (code_.is_in_function_of(open, {"__global__", "__device__"}) &&
        !code_.is_in_function_of(open, {"__host__"})) {
      code_.refuse(open,
                   "<<<>>> in a kernel: dynamic parallelism is not modelled on the emulated device: launch "
                   "from the host");
    }
    const std::size_t arguments = close + 3;
    if (const std::size_t name = incomplete_name(code_, kernels_, open, arguments); name != none) {
      insert(code_[name].offset, counterpart_prefix);
      replace(open, 3, "(::__emulated::ExecutionConfiguration(");
      replace(close, 3, ")");
      replace(arguments, 1, code_.partner(arguments) == arguments + 1 ? "" : ", ");
      return insert_counterparts(code_[name].text);
    }
    const bool after_colon = code_.is(begin - 1, ":") && code_[begin - 1].end() == code_[begin].offset;
    insert(code_[begin].offset, std::string{after_colon ? " " : ""} + "::__emulated::ConfiguredKernel(");
    replace(open, 3, ", ");
    replace(close, 3, ")");
  }

  bool is_launch_by_name(std::size_t i) const {
    return code_.is_any(i, {"cudaLaunchKernel", "cudaLaunchCooperativeKernel"});
  }

  /// A launch by a function knows the kernel's parameters by its type. \param open  the "(" of its arguments.
  void drop_cast(std::size_t open) {
    const bool by_word = code_.is(open + 1, "reinterpret_cast");
    const std::size_t type = open + (by_word ? 2 : 1);
    const std::size_t end = code_.group_end(type, code_.partner(open));
    if (code_.is(open, "(") && end > type && code_.is(end - 1, "*") &&
        code_.is_any(end - 2, {"void", "const"}))
      remove(open + 1, end);
  }

  /// `(void*)kernel` becomes `(void*)untyped(kernel)`, which remembers the kernel's parameters.
  void keep_type(std::size_t name) {
    std::size_t begin = name;
    while (code_.spells(begin - 2, "::"))
      begin -= code_.is_name(begin - 3) ? 3 : 2;
    if (code_.is(begin - 1, "&")) --begin;
    const bool by_word = code_.is(begin - 1, "(") && code_.is(begin - 2, ">");
    const std::size_t close = by_word ? begin - 2 : begin - 1;
    if (!code_.is(close - 1, "*") || !code_.is_any(close - 2, {"void", "const"})) return;
    const std::size_t open = by_word ? code_.angle_partner(close) : code_.partner(close);
    const bool is_cast = by_word ? code_.is(open - 1, "reinterpret_cast") : code_.is(close, ")");
    if (!is_cast || (code_.is(open - 1, "(") && is_launch_by_name(open - 2))) return;
    const std::size_t last = code_.is(name + 1, "<") ? code_.angle_partner(name + 1) : name;
    if (last == none) return;
    insert(code_[begin].offset, "::__emulated::untyped(");
    insert(code_[last].end(), ")");
  }

  std::size_t launch_end(std::size_t open) const {
    bool several = false;
    std::size_t i = open + 3;
    while (i < code_.size() && !code_.closes(i) && !code_.is(i, ";") && !code_.spells(i, "<<<")) {
      several |= code_.is_any(i, {",", "__VA_ARGS__"}) || code_.spells(i, "...");
      if (code_.spells(i, ">>>") && (code_.is(i + 3, "(") || i + 3 == code_.size())) {
        if (several) return i;
        code_.refuse(open, "a launch without a grid and a block: write <<<grid, block>>>");
      }
      i = code_.next(i);
    }
    code_.refuse(open, "a launch without its \">>>(\"");
  }

  void insert_counterparts(std::string_view name) {
    if (!has_counterparts_.insert(name).second) return;
    const std::vector<Kernel>& declarations = kernels_.find(name)->second;
    for (const Kernel& kernel : declarations)
      insert(kernel.end, counterpart(kernel, declarations));
  }

  /// The kernel's body, if it has one here, begins with the bound. \param open  the "(" of its arguments.
  void rewrite_launch_bounds(std::size_t open) {
    if (!code_.is(open, "(") || code_.partner(open) == none) return;
    std::size_t body = code_.next(open);
    while (body < code_.size() && !code_.is_any(body, {"{", ";"}))
      body = code_.next(body);
    const std::string bounds = code_.source_of(open + 1, code_.partner(open));
    if (code_.is(body, "{"))
      insert(code_[body].end(),
             "::__emulated::require_launch_bounds([] { return ::__emulated::Bounds(" + bounds + "); });");
  }

  void refuse_no_kernel(std::size_t word) const {
    const std::size_t begin = code_.statement_begin(word), brace = code_.enclosing(word);
    if (brace != none && code_.is(brace, "{") && code_.scope_of(word) == Scope::other &&
        !code_.is_any(begin, {"friend", "template"}))
      code_.refuse(word, "a __global__ function is a member of a class: declare it outside of the class");
    for (std::size_t i = begin; i < code_.size() && !code_.is_any(i, {"{", ";"}); ++i) {
      if (code_.is(i, "(") && code_.is_name(i - 1) && !code_.is_kernel_attribute(i - 1)) return;
      if (code_.is_any(i, {"int", "float", "double", "bool", "char", "unsigned", "long"}))
        code_.refuse(word, "a __global__ function returns a value: it is void, and writes to memory");
      i = code_.group_end(i, code_.size());
    }
  }

  /// Where compilers take an attribute: in a lambda behind its parameters, and not behind the "*" of a function's type.
  void rewrite_execution_space(std::size_t word) {
    const auto is_space = [this](std::size_t i) {
      return code_.is_any(i, {"__device__", "__host__", "__global__"});
    };
    std::size_t first = word, behind = word + 1;
    while (is_space(first - 1))
      --first;
    while (is_space(behind))
      ++behind;
    const std::string text{code_[word].text};
    if (code_.is(first - 1, "]") && code_.is_any(behind, {"(", "{"}) && code_.partner(behind) != none) {
      remove(word, word);
      if (code_.is(behind, "(")) {
        insert(code_[code_.partner(behind)].end(), " " + text);
      } else {
        insert(code_[behind].offset, (word == first ? "() " : "") + text + " ");
      }
    } else if (code_.is_any(first - 1, {"*", "&"}) && code_.scope_of(word) != Scope::function) {
      std::size_t begin = code_.statement_begin(word);
      if (code_.is(begin, "template")) begin = code_.angle_partner(begin + 1) + 1;
      if (begin >= word) return;
      remove(word, word);
      insert(code_[begin].offset, text + " ");
    }
  }

  /// Host and device share it: it has a name that both know, and so have its type and its namespaces.
  void make_common(std::size_t word) {
    const std::string name = " __emulated_unnamed_" + std::to_string(std::hash<std::string_view>{}(source_));
    std::size_t i = code_.statement_begin(word);
    for (; i < code_.size() && !code_.is_any(i, {";", "=", "{"}); ++i)
      if (code_.is(i, "static")) remove(i, i);
    if (code_.is(i, "{") && code_.is_any(i - 1, {"struct", "class", "union"}))
      insert(code_[i - 1].end(), name + "_" + std::to_string(i));
    for (std::size_t brace = code_.enclosing(word); brace != none; brace = code_.enclosing(brace)) {
      if (!code_.is(brace - 1, "namespace") || !named_.insert(brace).second) continue;
      insert(code_[brace - 1].offset, "inline ");
      insert(code_[brace - 1].end(), name);
    }
  }

  /// Returns the declaration's last token.
  std::size_t rewrite_shared_variables(std::size_t word, bool in_macro) {
    if (in_macro) {
      code_.refuse(word, "a __shared__ variable in a macro cannot be rewritten: declare it in the kernel");
    }
    const SharedDeclaration declaration = read_shared_declaration(code_, word);
    const bool in_file = declaration.scope == Scope::file;
    if (in_file && declaration.variables.size() > 1)
      code_.refuse(
          word, "two __shared__ variables in one declaration outside of a function: declare each on its own");
    if (in_file && declaration.defines_type)
      code_.refuse(
          word,
          "a __shared__ variable outside of a function with a type of its own: define the type before it");
    for (const auto& [first, last] : declaration.specifiers)
      remove(first, last);
    for (const SharedVariable& variable : declaration.variables) {
      const auto& [name, dimensions] = variable;
      const bool has_no_size = !dimensions.empty() && is_empty(dimensions[0]);
      if (declaration.dynamic && (!has_no_size || dimensions.size() > 1))
        code_.refuse(name,
                     "an extern __shared__ variable of this form: write extern __shared__ TYPE NAME[];");
      if (!declaration.dynamic && has_no_size)
        code_.refuse(name, "a __shared__ array without a size: give it one, or declare it extern");
      if (in_file) {
        rewrite_in_file(variable, declaration.type);
      } else if (declaration.dynamic) {
        rewrite_dynamic(variable, declaration.end);
      } else {
        rewrite_static(variable);
      }
    }
    return declaration.end;
  }

  /// \param type  where it begins.
  void rewrite_in_file(const SharedVariable& variable, std::size_t type) {
    const auto& [name, dimensions] = variable;
    const std::size_t last = dimensions.empty() ? name : code_.partner(dimensions.back());
    insert(code_[type].offset, "static __device__ const ::__emulated::SharedInFile<");
    insert(code_[name].offset, code_.source_of(name + 1, last + 1) + ", decltype" + named(name) + "> ");
    if (last > name) remove(name + 1, last);
    insert(code_[last].end(), "{}");
    shared_in_file_.insert(code_[name].text);
  }

  void rewrite_static(const SharedVariable& variable) {
    const auto& [name, dimensions] = variable;
    // An array's name needs parentheses, and compilers warn of those around another.
    insert(code_[name].offset, dimensions.empty() ? "&" : "(&");
    if (!dimensions.empty()) insert(code_[name].end(), ")");
    insert(code_[dimensions.empty() ? name : code_.partner(dimensions.back())].end(),
           " = ::__emulated::shared_variable" + named(name));
  }

  /// \param end  the declaration's ";".
  void rewrite_dynamic(const SharedVariable& variable, std::size_t end) {
    const auto& [name, dimensions] = variable;
    insert(code_[name].offset, "* const ");
    replace(dimensions[0], 1, " = ::__emulated::dynamic_shared_memory" + named_elements(name, end));
    remove(dimensions[0] + 1, dimensions[0] + 1);
  }

  /// An argument that has the name.
  std::string named(std::size_t name) const {
    return "([] { return \"" + std::string{code_[name].text} + "\"; })";
  }

  /// `<T>([] { return "shared"; })` of `bytes` before `T* shared = reinterpret_cast<T*>(bytes);` or `(T*)bytes`: the elements
  /// that the kernel goes on to index. Else only the name.
  std::string named_elements(std::size_t name, std::size_t end) const {
    std::size_t equals = end + 1;
    while (equals < code_.size() && !code_.is_any(equals, {"=", ";", "}"}))
      ++equals;
    const bool by_word = code_.is(equals + 1, "reinterpret_cast") && code_.is(equals + 2, "<");
    const std::size_t open = equals + (by_word ? 2 : 1);
    const std::size_t close = by_word ? code_.angle_partner(open) : code_.partner(open);
    const bool is_cast = code_.is_any(name - 1, {"byte", "char", "uint8_t"}) && code_.is_name(equals - 1) &&
                         close != none && code_.is(close - 1, "*") &&
                         code_.is(close + (by_word ? 2 : 1), code_[name].text) &&
                         code_.is(close + (by_word ? 4 : 2), ";");
    if (!is_cast) return named(name);
    return std::string{"<"}
        .append(code_.source_of(open + 1, close - 1))
        .append(">")
        .append(named(equals - 1));
  }

  bool is_empty(std::size_t dimension) const { return code_.partner(dimension) == dimension + 1; }

  /// PTX becomes a call, after the compiler has been told to refuse by name what is not known. Returns its last token.
  std::size_t rewrite_assembly(std::size_t word, bool in_macro) {
    const Assembly assembly = read_assembly(code_, word);
    const bool is_of_device = code_.is_in_function_of(word, {"__global__", "__device__"}) &&
                              !code_.is_in_function_of(word, {"__host__"});
    const bool may_be_of_device = in_macro || code_.scope_of(word) == Scope::function;
    if (assembly.close == none || !(is_of_device || (may_be_of_device && assembly.looks_like_ptx())))
      return word;
    std::string refusals;
    for (const std::string& name : assembly.is_literal ? assembly.names : std::vector<std::string>{}) {
      refusals += "static_assert(::__emulated::ptx::knows(\"" + name + "\"), \"asm: " + name +
                  " is not modelled on the emulated device: write it in CUDA C++\"); ";
    }
    replace(word, code_[word].text.size(),
            "do { " + refusals + "::__emulated::run_ptx(::__emulated::PtxText<");
    for (std::size_t i = word + 1; i <= assembly.open; ++i)
      remove(i, i);
    for (const auto& [constraint, open] : assembly.operands) {
      insert(code_[constraint].offset, "::__emulated::ptx_operand<");
      insert(code_[open].offset, ">");
    }
    const std::size_t written = assembly.colons.size() > 2 ? assembly.colons[2] : assembly.close;
    for (std::size_t i = written; i < assembly.close; ++i)
      remove(i, i);
    if (assembly.colons.empty()) insert(code_[assembly.close].offset, ">{}");
    for (std::size_t i = 0; i < assembly.colons.size() && i < 2; ++i) {
      const bool has_more = !code_.is_any(assembly.colons[i] + 1, {":", ")"});
      replace(assembly.colons[i], 1, std::string{i == 0 ? ">{}" : ""} + (has_more ? "," : ""));
    }
    insert(code_[assembly.close].end(), "; } while (false)");
    return assembly.close;
  }

  std::string_view source_;
  Code code_;
  std::vector<Edit>& edits_;
  std::set<std::string_view>& shared_in_file_;  ///< names of shared variables outside of functions
  Kernels kernels_;
  std::set<std::size_t> named_;                  ///< the "{" of namespaces that have got a name
  std::set<std::string_view> has_counterparts_;  ///< the names of those that a launch has needed
};

std::string apply(std::string_view source, std::vector<Edit> edits) {
  std::ranges::stable_sort(edits, {}, [](const Edit& edit) { return std::pair{edit.offset, edit.length}; });
  std::string result;
  std::size_t done = 0;
  for (const Edit& edit : edits) {
    result += source.substr(done, edit.offset - done);
    result += edit.replacement;
    done = edit.offset + edit.length;
  }
  result += source.substr(done);
  return result;
}

}  // namespace

RewriteError::RewriteError(std::string_view source, std::size_t offset, const std::string& text)
    : std::runtime_error{text},
      line{1 + static_cast<std::size_t>(std::ranges::count(source.substr(0, offset), '\n'))} {}

std::string rewrite(std::string_view source) {
  if (source.starts_with("\xef\xbb\xbf")) source.remove_prefix(3);  // a byte order mark
  std::vector<std::vector<Token>> pieces = tokenize(source);
  std::vector<Edit> edits;
  std::set<std::string_view> shared_in_file;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    Rewriter{source, std::move(pieces[i]), edits, shared_in_file}.rewrite(i > 0);
  return apply(source, std::move(edits));
}

std::string line_directive(const std::string& original) {
  std::string directive = "#line 1 \"";
  for (const char c : original) {
    if (c == '\\' || c == '"') directive += '\\';
    directive += c;
  }
  return directive + "\"\n";
}

}  // namespace emulated_rewrite
