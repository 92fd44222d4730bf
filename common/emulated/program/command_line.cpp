#include "emulated/program/command_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "emulated/program/trace_choice.hpp"

namespace emulated_program {
namespace {

/// What becomes of an option of nvcc's.
enum class Use {
  compile,    ///< passed on, with its value joined to it
  optimise,   ///< passed on for files without kernels
  link,       ///< passed on to the linker
  to_host,    ///< its value is a list for the host's compiler
  to_linker,  ///< its value is a list for the linker
  standard,
  output,
  dependencies,
  architecture,
  relaxed_constexpr,
  ignored,  ///< of nvcc's code for GPUs
  refused,  ///< asks for what only nvcc makes
};

enum class Value {
  none,
  behind,
  joined,
  equals
};  ///< behind: joined or the next word; equals: the same, with "="

/// Some that take values in one way and have one use. The longest name that fits a word is meant.
struct NvccOptions {
  std::string_view names;  ///< with blanks between
  Value value;
  Use use;
  std::string_view passed_on = {};  ///< by this name; by its own if there is none
};

constexpr std::array nvcc_options{
    NvccOptions{"-I -isystem -include -D -U", Value::behind, Use::compile},
    NvccOptions{"--include-path", Value::equals, Use::compile, "-I"},
    NvccOptions{"--pre-include", Value::equals, Use::compile, "-include"},
    NvccOptions{"--define-macro", Value::equals, Use::compile, "-D"},
    NvccOptions{"--undefine-macro", Value::equals, Use::compile, "-U"},
    NvccOptions{"-W", Value::joined, Use::compile},
    NvccOptions{"-w -g", Value::none, Use::compile},
    NvccOptions{"--debug -G --device-debug", Value::none, Use::compile, "-g"},
    NvccOptions{"-O", Value::joined, Use::optimise},
    NvccOptions{"--optimize", Value::equals, Use::optimise, "-O"},
    NvccOptions{"-Xcompiler --compiler-options", Value::equals, Use::to_host},
    NvccOptions{"-Xlinker --linker-options", Value::equals, Use::to_linker},
    NvccOptions{"-l -L", Value::behind, Use::link},
    NvccOptions{"--library", Value::equals, Use::link, "-l"},
    NvccOptions{"--library-path", Value::equals, Use::link, "-L"},
    NvccOptions{"-std --std", Value::equals, Use::standard},
    NvccOptions{"-o", Value::behind, Use::output},
    NvccOptions{"--output-file", Value::equals, Use::output},
    NvccOptions{"-MF", Value::behind, Use::dependencies},
    NvccOptions{"--dependency-output", Value::equals, Use::dependencies},
    NvccOptions{"-arch --gpu-architecture -gencode --generate-code", Value::equals, Use::architecture},
    NvccOptions{"-MD -lineinfo --generate-line-info -extended-lambda --extended-lambda "
                "--expt-extended-lambda -expt-extended-lambda "
                "-use_fast_math --use_fast_math -m64 -v --verbose -res-usage "
                "--resource-usage -run --run",
                Value::none, Use::ignored},
    NvccOptions{"--expt-relaxed-constexpr -expt-relaxed-constexpr", Value::none, Use::relaxed_constexpr},
    NvccOptions{"-code --gpu-code -rdc --relocatable-device-code -maxrregcount --maxrregcount -Xptxas "
                "--ptxas-options -Xcudafe -diag-suppress --diag-suppress -cudart --cudart -ccbin "
                "--compiler-bindir -default-stream --default-stream --threads -fmad --fmad -ftz --ftz "
                "-prec-div --prec-div -prec-sqrt --prec-sqrt -x --x",
                Value::equals, Use::ignored},
    NvccOptions{"-t", Value::behind, Use::ignored},
    NvccOptions{"-c --compile -dc -dlink -ptx --ptx -cubin --cubin -fatbin --fatbin -lib -shared "
                "--shared -E -M",
                Value::none, Use::refused},
};

/// Options of ours, beside nvcc's.
struct OwnOption {
  std::string_view name;
  std::string_view values;  ///< that it takes, in words; "" for none
  bool (*allows)(std::string_view value);
  bool is_file = false;
};

bool is_count(std::string_view text, unsigned least, unsigned most) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= least && number <= most;
}

constexpr std::array own_options{
    OwnOption{"--quiet", "", nullptr},
    OwnOption{"--stop", "", nullptr},
    OwnOption{"--counters", "on or off", [](std::string_view text) { return text == "on" || text == "off"; }},
    OwnOption{"--schedules", "a number from 1 to 100",
              [](std::string_view text) { return is_count(text, 1, 100); }},
    OwnOption{"--limit", "a number of seconds from 1 to 1000000",
              [](std::string_view text) { return is_count(text, 1, 1000000); }},
    OwnOption{"--json", "a file", [](std::string_view text) { return !text.empty(); }, true},
    OwnOption{"--trace", "FILE.html[:KERNEL[:LAUNCH[:BLOCK]]]",
              [](std::string_view text) { return trace_choice(text).has_value(); }, true},
};

class Reader {
 public:
  explicit Reader(const std::vector<std::string>& words) : words_{words} {}

  CommandLine read() {
    for (; next_ < words_.size(); ++next_) {
      const std::string& word = words_[next_];
      if (word == "--") {
        read_.arguments.assign(words_.begin() + static_cast<std::ptrdiff_t>(next_) + 1, words_.end());
        break;
      }
      if (word.size() > 1 && word[0] == '-') {
        read_option(word);
      } else {
        read_file(word);
      }
    }
    return std::move(read_);
  }

 private:
  void read_option(const std::string& word) {
    if (word == "-h" || word == "--help") {
      read_.help = true;
    } else if (word == "--version") {
      read_.version = true;
    } else if (!read_own(word)) {
      read_nvcc(word);
    }
  }

  bool read_own(const std::string& word) {
    const std::string_view name = std::string_view{word}.substr(0, word.find('='));
    const auto* const option = std::ranges::find(own_options, name, &OwnOption::name);
    if (option == own_options.end()) return false;
    const bool is_joined = name.size() < word.size();
    std::string setting{name.substr(2)};
    if (option->allows == nullptr) {
      if (is_joined) throw UsageError{std::string{name} + " takes no value"};
    } else {
      const std::string value = is_joined ? word.substr(name.size() + 1) : word_behind(name, option->values);
      if (!option->allows(value))
        throw UsageError{std::string{name} + " is '" + value + "'; it can be " + std::string{option->values}};
      // The program may go to another folder before it writes the file.
      setting += '=' + (option->is_file ? std::filesystem::absolute(value).string() : value);
    }
    if (name == "--schedules") {
      read_.schedules = static_cast<unsigned>(std::stoul(setting.substr(setting.find('=') + 1)));
    } else {
      read_.settings.push_back(setting);
    }
    return true;
  }

  void read_nvcc(const std::string& word) {
    std::string name;
    const NvccOptions* best = nullptr;
    for (const NvccOptions& options : nvcc_options) {
      std::istringstream names{std::string{options.names}};
      for (std::string each; names >> each;) {
        if (each.size() <= name.size() || !fits(word, each, options.value)) continue;
        name = each;
        best = &options;
      }
    }
    if (best == nullptr) throw UsageError{"there is no option '" + word + "'; --help names all"};
    std::string value;
    if (word.size() > name.size()) {
      value = word.substr(name.size() + (best->value == Value::equals ? 1 : 0));
    } else if (best->value == Value::behind || best->value == Value::equals) {
      value = word_behind(name, "a value");
    }
    use(*best, name, value);
  }

  static bool fits(const std::string& word, const std::string& name, Value value) {
    if (!word.starts_with(name)) return false;
    if (word.size() == name.size()) return true;
    if (value == Value::equals) return word[name.size()] == '=';
    return value != Value::none;
  }

  void use(const NvccOptions& options, const std::string& asked, const std::string& value) {
    const std::string name = options.passed_on.empty() ? asked : std::string{options.passed_on};
    switch (options.use) {
      case Use::compile:
        if (name == "-I") read_.include_folders.push_back(value);
        if (name == "-include" || name == "-isystem") {
          read_.compile.insert(read_.compile.end(), {name, value});
        } else {
          read_.compile.push_back(name + value);
        }
        break;
      case Use::optimise: read_.optimise.push_back(name + value); break;
      case Use::link: read_.link.push_back(name + value); break;
      case Use::to_host: use_for_host(value); break;
      case Use::to_linker: add_list(value, "-Wl,", read_.link); break;
      case Use::standard: read_.standard = value; break;
      case Use::output: read_.output = value; break;
      case Use::dependencies: read_.dependencies = value; break;
      case Use::architecture:
        // sm_80, or arch=compute_80,code=sm_80; of several the first, and another name, such as native, is none.
        if (const std::size_t digits = value.find('_') + 1; digits != 0 && read_.architecture == 0)
          read_.architecture = static_cast<unsigned>(10 * std::strtoul(value.c_str() + digits, nullptr, 10));
        break;
      case Use::relaxed_constexpr: read_.relaxed_constexpr = true; break;
      case Use::ignored: break;
      case Use::refused:
        throw UsageError{asked +
                         " is for nvcc: the emulated device makes whole programs (-o FILE leaves one)"};
    }
  }

  /// What would change how kernels are compiled is for the host's code only.
  void use_for_host(const std::string& value) {
    std::vector<std::string> options;
    add_list(value, "", options);
    for (const std::string& option : options) {
      const bool is_for_code =
          option.starts_with("-O") || option.starts_with("-f") || option.starts_with("-m");
      (is_for_code ? read_.optimise : read_.compile).push_back(option);
      if (option.starts_with("-f") || option.starts_with("-pthread")) read_.link.push_back(option);
    }
  }

  static void add_list(std::string_view list, std::string_view prefix, std::vector<std::string>& to) {
    while (!list.empty()) {
      const std::size_t end = std::min(list.find_first_of(", "), list.size());
      if (end > 0) to.push_back(std::string{prefix} + std::string{list.substr(0, end)});
      list.remove_prefix(std::min(end + 1, list.size()));
    }
  }

  void read_file(const std::string& word) {
    const std::string suffix = std::filesystem::path{word}.extension();
    if (suffix == ".o" || suffix == ".a" || suffix == ".so") {
      read_.link.push_back(word);
    } else if (std::ranges::find(source_suffixes, suffix) != source_suffixes.end()) {
      read_.sources.push_back(word);
    } else {
      throw UsageError{"'" + word +
                       "' is no program: it can be .cu, C++ (.cpp, .cc, .cxx), .c, .o, .a or .so"};
    }
  }

  std::string word_behind(std::string_view name, std::string_view what) {
    if (++next_ == words_.size()) throw UsageError{std::string{name} + " needs " + std::string{what}};
    return words_[next_];
  }

  static constexpr std::array<std::string_view, 6> source_suffixes{".cu", ".cpp", ".cc", ".cxx", ".c", ".C"};

  const std::vector<std::string>& words_;
  std::size_t next_ = 0;
  CommandLine read_;
};

}  // namespace

const char* const help_text =
    R"(Usage: ./emulate [OPTIONS] FILE.cu [FILES] [-- THE PROGRAM'S ARGUMENTS]
       ./emulate --grade STEP FILE.cuh [FILES]    an exercise of the steps
                                                  (--grade --help says more)

Compiles a CUDA program for the emulated device and runs it, without a GPU. What
the program prints is its own. On stderr it is told what is wrong with its
kernels, line by line, and what they did: requests, conflicts, sectors.

  --quiet              findings only
  --counters on|off    off: faster, and without counters and races
  --stop               end at the first finding
  --schedules N        run N times, in other orders of threads and blocks
  --limit SECONDS      end a program that takes longer
  --json FILE          counters and findings as JSON
  --trace FILE.html    a page that shows a block step by step: one with a
                       finding, if there is any. Or choose one:
                       FILE.html[:KERNEL[:LAUNCH[:BLOCK]]], launches from 1,
                       blocks from 0
  -o FILE              leave the program in FILE, and run nothing
  --help, --version

Options for nvcc are taken, too: -I -D -U -l -L -O -g -std= -Xcompiler …; those
for a GPU's code change nothing.

Exit code: the program's; 1 where that was 0 and there is a finding, 2 what
cannot be compiled, 124 --limit.
)";

CommandLine read_command_line(const std::vector<std::string>& words) {
  CommandLine read = Reader{words}.read();
  const bool has_file = !read.sources.empty() || !read.link.empty();
  if (!has_file && !read.help && !read.version)
    throw UsageError{"there is no file to compile; --help says more"};
  return read;
}

}  // namespace emulated_program
