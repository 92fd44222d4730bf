#include "emulated/program/execution_spaces.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string_view>

#include "emulated/memory/symbol_table.hpp"

namespace emulated_program {
namespace {

namespace fs = std::filesystem;

/// Of a function or a variable. What has no word for it is the host's, as far as it is the program's own.
enum class Space { host, device, both, kernel };

/// What cuda.hpp makes of the words: sections are aligned so. `__host__` is an instruction at a function's begin.
constexpr std::size_t device_alignment = 4096, kernel_alignment = 8192, managed_alignment = 16384;

std::string demangled(const std::string& symbol) {
  return symbol.starts_with("_Z") ? __emulated::demangled(symbol.c_str()) : symbol;
}

/// As a reader has written it: a name without the arguments of its templates and functions, and without a return type.
std::string shown(const std::string& name) {
  static constexpr std::string_view anonymous = "(anonymous namespace)::";
  std::string left;
  std::size_t depth = 0;
  static const std::regex lambda{R"((.*)::(\{lambda.*\}|\$_\d+)::operator\(\).*)"};
  if (std::smatch parts; std::regex_match(name, parts, lambda)) return "a lambda of " + shown(parts[1]);
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (depth == 0 && name.compare(i, 8, "operator") == 0 && !std::isalnum(name[i + 8]) &&
        name[i + 8] != '_') {
      const std::size_t end = std::min(name.find('(', i + 9), name.size());
      std::string symbol = name.substr(i, end - i);
      if (symbol.ends_with('>') && symbol.find('<') > 8 && symbol.find('<') != symbol.npos &&
          symbol != "operator->")
        symbol.erase(symbol.find('<', 9));
      return left + symbol;
    }
    if (name.compare(i, anonymous.size(), anonymous) == 0) {
      i += anonymous.size() - 1;
    } else if (name[i] == '<' || name[i] == '(') {
      ++depth;
    } else if (name[i] == '>' || name[i] == ')') {
      --depth;
    } else if (depth == 0 && name.compare(i, name.npos, " const") == 0) {
      break;
    } else if (depth == 0 && name[i] == ' ') {
      left.clear();  // it was the return type
    } else if (depth == 0) {
      left += name[i];
    }
  }
  return left;
}

struct Place {
  fs::path file;
  std::size_t line = 0;
};

/// A place of the code that names something.
struct Use {
  std::string user, used;  ///< symbols
  Place place;
  bool is_call;
};

struct Code {
  std::map<std::string, Place> functions;  ///< where each begins, by symbols
  std::set<std::string> marked;            ///< those with `__host__`
  std::vector<Use> uses;
};

/// `.bss._ZL5limit-0x4` is that of `_ZL5limit`.
std::string symbol_of(std::string relocation) {
  relocation = std::regex_replace(relocation, std::regex{"[-+]0x[0-9a-f]+$"}, "");
  if (!relocation.starts_with('.')) return relocation;
  const std::size_t begin = relocation.find("._Z");
  return begin != std::string::npos ? relocation.substr(begin + 1) : "";
}

Code read_code(const fs::path& listing) {
  Code read;
  std::ifstream file{listing};
  std::string function, instruction;
  Place place;
  for (std::string line; std::getline(file, line);) {
    const std::size_t relocation = line.find(": R_");
    if (line.ends_with(">:")) {
      const std::size_t begin = line.find('<') + 1;
      function = line.substr(begin, line.find_first_of(".>", begin) - begin);  // a part of it is `f.cold`
      place = {};
    } else if (relocation != std::string::npos) {
      const std::string used = symbol_of(line.substr(line.find('\t', relocation) + 1));
      const bool is_call =
          instruction.find("\tcall") != std::string::npos || instruction.find("\tbl\t") != std::string::npos;
      if (!used.empty()) read.uses.push_back({function, used, place, is_call});
    } else if (line.starts_with('/')) {
      const std::size_t colon = line.rfind(':');
      place = {fs::path{line.substr(0, colon)}.lexically_normal(),
               std::strtoul(&line[colon + 1], nullptr, 10)};
      read.functions.emplace(function, place);
    } else if (line.starts_with(' ')) {
      instruction = line;
      if (line.ends_with("0:\tnop") && line.find_first_not_of(' ') == line.size() - 6)
        read.marked.insert(function);
    }
  }
  return read;
}

class Judge {
 public:
  /// \param spaces  of all files: what this one does not define may be another's.
  Judge(const Listed& source, const Program& program, std::map<std::string, Space>& spaces)
      : program_{program}, code_{read_code(source.listing)}, of_others_{spaces} {
    for (const __emulated::Symbol& symbol : __emulated::symbols_of(source.object.c_str())) {
      if (symbol.is_variable) variables_.insert(symbol.name);
      const std::size_t alignment = symbol.alignment;
      const bool is_both = alignment == managed_alignment || code_.marked.contains(symbol.name);
      const bool is_device = alignment == device_alignment;
      if (!is_device && alignment != kernel_alignment && alignment != managed_alignment) continue;
      const Space space = is_both ? Space::both : is_device ? Space::device : Space::kernel;
      spaces_[symbol.name] = space;
      spaces.emplace(symbol.name, space);
    }
    for (const Use& use : code_.uses)
      used_.insert(use.used);
  }

  std::vector<std::string> errors() {
    for (const Use& use : code_.uses) {
      if (!program_.is_source(use.place.file)) continue;
      if (use.user.starts_with("_ZL") && !used_.contains(use.user)) continue;
      const std::string user = demangled(use.user), used = demangled(use.used);
      const Space where = space_of(use.user);
      if (where == Space::host) {
        look_at_host(use, user, used);
      } else if (where != Space::both) {
        look_at_device(use, where, user, used);
      }
      look_at_shared(use, user);
    }
    return errors_;
  }

 private:
  void refuse(const Use& use, const std::string& text) {
    const std::string place = use.place.file.string() + ':' + std::to_string(use.place.line) + ": error: ";
    if (refused_.insert(place).second) errors_.push_back(place + text);
  }

  /// What is in a function, such as a lambda, is where the function is.
  Space space_of(const std::string& symbol) const {
    if (const auto own = spaces_.find(symbol); own != spaces_.end()) return own->second;
    if (code_.functions.contains(symbol) || variables_.contains(symbol)) {
      if (!symbol.starts_with("_ZZ")) return Space::host;
      const std::string_view inner = std::string_view{symbol}.substr(symbol.find_first_not_of('Z', 1));
      for (const auto& [name, space] : spaces_) {
        const std::string_view outer = std::string_view{name}.substr(std::min<std::size_t>(2, name.size()));
        if (!outer.empty() && inner.starts_with(outer) && inner.substr(outer.size()).starts_with('E'))
          return space == Space::kernel ? Space::device : space;
      }
      return Space::host;
    }
    const auto other = of_others_.find(symbol);
    return other != of_others_.end() ? other->second : Space::host;
  }

  void look_at_host(const Use& use, const std::string& user, const std::string& used) {
    const Space what = space_of(use.used);
    const std::string name = '`' + shown(used) + '`';
    const bool is_variable = variables_.contains(use.used);
    if (use.is_call && what == Space::kernel) {
      refuse(use, "the kernel " + name + " is called like a function: launch it, " + shown(used) +
                      "<<<grid, block>>>(…)");
    } else if (use.is_call && what == Space::device && !is_made_by_the_compiler(use.user, user)) {
      refuse(use, name +
                      ", a function of the device, is called on the host: call it in a kernel, or declare it "
                      "__host__ __device__");
    } else if (is_variable && what == Space::device &&
               (user.starts_with("__static_init") || user.starts_with("__cxx_global_var_init"))) {
      refuse(use, name +
                      ", a variable of the device, is initialised at run time: give it a constant, or "
                      "cudaMemcpyToSymbol() it");
    } else if (use.is_call && used.starts_with("__emulated::ConfiguredKernel<") &&
               used.find(">::ConfiguredKernel(") != std::string::npos) {
      if (!last_address_.empty() && space_of(last_address_) != Space::kernel)
        refuse(use, '`' + shown(demangled(last_address_)) +
                        "` is launched, and is no kernel: declare it __global__");
    }
    if (use.is_call) {
      last_address_.clear();
    } else if (code_.functions.contains(use.used)) {
      last_address_ = use.used;
    }
  }

  void look_at_device(const Use& use, Space where, const std::string& user, const std::string& used) {
    const Space what = space_of(use.used);
    const std::string name = '`' + shown(used) + '`';
    const std::string by = (where == Space::kernel ? "the kernel `" : "the device's function `") +
                           shown(user.substr(0, user.find("::{lambda"))) + "` ";
    if (what == Space::kernel && use.is_call)
      refuse(use,
             by + "calls the kernel " + name + ": call a __device__ function, or launch it from the host");
    if (what != Space::host) return;
    if (used == "__cxa_allocate_exception" || used == "__cxa_begin_catch" || used == "__cxa_rethrow") {
      refuse(use, by + "throws or catches an exception: there are none on the device: return a value");
    } else if (used == "__dynamic_cast" || use.used.starts_with("_ZTI")) {
      refuse(use,
             by + "asks for the type of an object, by typeid or dynamic_cast, which is for the host only");
    } else if (is_of_host_library(use, used)) {
      const bool may_be_relaxed =
          use.is_call && code_.functions.contains(use.used) && !program_.relaxed_constexpr;
      refuse(use, by + (use.is_call ? "calls " : "uses ") + name + ", which is for the host only" +
                      (may_be_relaxed ? ": if it is constexpr, --expt-relaxed-constexpr allows it" : ""));
    } else if (is_variable_of_host(use, used)) {
      refuse(use, by + "uses " + name +
                      ", a variable of the host: pass it as an argument, or declare it "
                      "__device__ or __constant__");
    } else if (is_function_of_host(use, used)) {
      refuse(use, by + (use.is_call ? "calls " : "uses ") + name +
                      ", a function of the host: declare it __device__ or __host__ __device__");
    }
  }

  /// Whether it is no function of the program's own.
  bool is_of_host_library(const Use& use, const std::string& used) const {
    static const std::regex runtime{"cuda(?!Grid|Trigger)[A-Z].*"};
    const std::string name = shown(used);
    if (std::regex_match(name, runtime)) return true;
    const auto definition = code_.functions.find(use.used);
    const bool is_here = definition != code_.functions.end() || variables_.contains(use.used);
    if (use.used.starts_with("_Z")) {
      if (!name.starts_with("std::")) return false;
      if (!is_here) return !used.starts_with("std::terminate");
      return definition != code_.functions.end() && !program_.relaxed_constexpr && !is_known_to_nvcc(name) &&
             !names_library(use.place.file);
    }
    if (is_here || program_.of_host.contains(use.used) || use.used.starts_with("_")) return false;
    static const std::set<std::string, std::less<>> of_c{"printf", "vprintf", "malloc", "free",  "memcpy",
                                                         "memset", "abs",     "labs",   "llabs", "clock"};
    return !of_c.contains(use.used) && !is_mathematical(use.used);
  }

  static bool is_mathematical(const std::string& name) {
    static void* const library = dlopen("libm.so.6", RTLD_LAZY);
    void* const function = library != nullptr ? dlsym(library, name.c_str()) : nullptr;
    Dl_info info{};
    return function != nullptr && dladdr(function, &info) != 0 &&
           fs::path{info.dli_fname}.filename() == "libm.so.6";
  }

  /// Whether a file names libraries that take std's functions and classes for theirs here, which are for both sides.
  static bool names_library(const fs::path& source) {
    static const std::regex library{R"(\b(thrust|cuda::std)\b)"};
    std::ifstream file{source};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    return std::regex_search(text, library);
  }

  static bool is_known_to_nvcc(const std::string& name) {
    static const std::regex known{
        R"(std::(__cxx11::)?(move|forward|initializer_list::.*|abs|f?abs|a?(cos|sin|tan)h?|atan2|cbrt|ceil|copysign|erfc?|exp2?|expm1|)"
        R"(fdim|floor|fma|fmax|fmin|fmod|frexp|hypot|ilogb|isfinite|isinf|isnan|isnormal|isgreater\w*|isless\w*|isunordered|)"
        R"(ldexp|lgamma|ll?r(int|ound)|log(10|1p|2|b)?|modf|nearbyint|nextafter|pow|remainder|remquo|rint|round|)"
        R"(scalbl?n|signbit|sqrt|tgamma|trunc|fpclassify))"};
    return std::regex_match(name, known);
  }

  bool is_variable_of_host(const Use& use, const std::string& used) const {
    if (use.is_call || use.used.starts_with("_ZT") || use.used.starts_with("_ZGV") || used.starts_with("__"))
      return false;
    static const std::regex ours{"(std|cuda|cub|thrust|cooperative_groups|nvcuda|__emulated)::.*"};
    return (variables_.contains(use.used) && !std::regex_match(shown(used), ours)) ||
           (!code_.functions.contains(use.used) && program_.of_host.contains(use.used));
  }

  bool is_function_of_host(const Use& use, const std::string& used) const {
    const auto definition = code_.functions.find(use.used);
    if (definition == code_.functions.end())
      return !use.used.starts_with("_ZT") && program_.of_host.contains(use.used);  // each side has its tables
    return program_.is_source(definition->second.file) && !is_made_by_the_compiler(use.used, used) &&
           !(program_.relaxed_constexpr && has_word(definition->second, std::regex{R"(\bconstexpr\b)"}));
  }

  /// Members that nobody has written are on both sides. Their line is the class's.
  bool is_made_by_the_compiler(const std::string& symbol, const std::string& name) const {
    const std::string written = shown(name);
    const std::size_t colons = written.rfind("::");
    const std::string last = written.substr(colons == std::string::npos ? 0 : colons + 2);
    const bool is_of_lambda = name.find("{lambda") != std::string::npos;
    if (is_of_lambda && (last == "_FUN" || last.starts_with("operator "))) return true;
    std::string of_class = colons == std::string::npos ? "" : written.substr(0, colons);
    of_class = of_class.substr(of_class.rfind(':') + 1);
    if (last != of_class && last != '~' + of_class && last != "operator=") return false;
    const auto definition = code_.functions.find(symbol);
    if (definition == code_.functions.end()) return true;
    const std::string declarator = last == "operator=" ? R"(operator\s*=)" : last;
    const std::regex written_out{"(^|[^\\w~])" + declarator + R"(\s*\((?!.*=\s*default))"};
    return !std::regex_search(line_of(definition->second), written_out);
  }

  /// Whether a declaration has it, whose name is there: in that line, or in those before that end none.
  bool has_word(Place place, const std::regex& word) const {
    for (;; --place.line) {
      const std::string line = line_of(place);
      if (std::regex_search(line, word)) return true;
      if (place.line < 2 || line_of({place.file, place.line - 1}).find_first_of(";}") != std::string::npos)
        return false;
    }
  }

  /// By the type that the pointer to the memory is of. One that only stands for an earlier part of a symbol is not told apart.
  void look_at_shared(const Use& use, const std::string& user) {
    static const std::regex conversion{R"(_ZNK10__emulated19DynamicSharedMemoryI.*cv\w+_I(\w+)EEv)"};
    static const std::regex declaration{R"(__shared__[^;\[]*?(\w+)\s*\[)"};
    std::smatch type, name;
    if (!std::regex_match(use.used, type, conversion)) return;
    const std::string line = line_of(use.place);
    if (!std::regex_search(line, name, declaration) || type.str(1).find('S') != std::string::npos) return;
    const std::string around = shown(user);
    const std::size_t colons = around.rfind("::");
    const std::string key = (colons == std::string::npos ? "" : around.substr(0, colons + 2)) + name.str(1);
    const auto [known, is_new] = shared_.try_emplace(key, type.str(1), use.place);
    const auto& [first_type, first] = known->second;
    if (first_type == type.str(1)) return;
    refuse(use, '`' + name.str(1) + "` is extern __shared__ as " +
                    __emulated::demangled(type.str(1).c_str()) + "[], and as " +
                    __emulated::demangled(first_type.c_str()) + "[] in line " + std::to_string(first.line) +
                    ": one name has one type: declare bytes, and cast the pointer");
  }

  std::string line_of(const Place& place) const {
    auto& lines = lines_[place.file];
    if (lines.empty()) {
      std::ifstream file{place.file};
      for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    }
    return place.line - 1 < lines.size() ? lines[place.line - 1] : "";
  }

  const Program& program_;
  Code code_;
  const std::map<std::string, Space>& of_others_;
  std::map<std::string, Space> spaces_;  ///< of this file
  std::set<std::string> variables_, used_;
  std::string last_address_;  ///< the function whose address was taken since the last call
  std::map<std::string, std::pair<std::string, Place>> shared_;
  mutable std::map<fs::path, std::vector<std::string>> lines_;
  std::set<std::string> refused_;
  std::vector<std::string> errors_;
};

}  // namespace

std::vector<std::string> misplaced_uses(const std::vector<Listed>& sources, const Program& program) {
  std::map<std::string, Space> spaces;
  std::vector<Judge> judges;
  judges.reserve(sources.size());
  for (const Listed& source : sources)
    judges.emplace_back(source, program, spaces);
  std::vector<std::string> errors;
  for (Judge& judge : judges)
    std::ranges::move(judge.errors(), std::back_inserter(errors));
  return errors;
}

}  // namespace emulated_program
