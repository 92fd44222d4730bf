/// \file
/// ./emulate: compiles a CUDA program for the emulated device and runs it.

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "emulated/memory/symbol_table.hpp"
#include "emulated/program/command_line.hpp"
#include "emulated/program/execution_spaces.hpp"
#include "emulated/program/processes.hpp"
#include "emulated/program/runs.hpp"
#include "emulated/program/sources.hpp"

namespace {

using namespace emulated_program;
namespace fs = std::filesystem;

constexpr int bad_usage = 2;
/// For which nvcc compiles where no other is named, and the newest whose code the device has.
constexpr unsigned default_architecture = 750;
constexpr unsigned newest_architecture = 800;

/// Where the emulated device is: beside this program, in the build or as it was installed.
class Installation {
 public:
  Installation() : folder_{fs::read_symlink("/proc/self/exe").parent_path()} {}

  std::string compiler() const { return EMULATED_COMPILER; }
  /// Options in a file, as compilers take it.
  std::string options(const char* name) const { return std::string{"@"}.append(folder_ / name); }
  std::vector<fs::path> headers() const {
    std::ifstream list{folder_ / "emulate.headers"};
    std::vector<fs::path> folders;
    for (std::string line; std::getline(list, line);)
      folders.emplace_back(line);
    return folders;
  }

 private:
  fs::path folder_;
};

bool has_kernels(const fs::path& source) { return source.extension() == ".cu"; }

/// The standard to compile by: the headers of the emulated device need C++20.
std::string standard_of(const CommandLine& asked) {
  const std::string& standard = asked.standard;
  if (standard.empty()) return "gnu++20";
  const std::string year = standard.substr(standard.find_last_of('+') + 1);
  if (year >= "20" && year < "90") return standard;
  std::cerr << "emulate: note: -std=" << standard
            << ": compiled as C++20, which the emulated device's headers need\n";
  return "gnu++20";
}

/// Compiles each source for the host, and those with kernels for the device, too, as nvcc does: the host's code is not
/// instrumented, and the device's not optimised.
class Build {
 public:
  Build(const CommandLine& asked, const fs::path& folder) : asked_{asked}, folder_{folder} {}

  /// Whether it has succeeded; if not, it has been said why.
  bool run(const fs::path& program) {
    for (const std::string& source : asked_.sources)
      add(source);
    if (!run_all(commands_)) return say_why();
    if (has_misplaced_uses()) return false;
    if (!separate_device_objects()) return false;
    Command whole = link_command(program, device_objects_);
    whole.errors = folder_ / "link.errors";
    if (!run_all({whole})) {
      // What the host's objects lack, the device's do, too: it is said once.
      if (run_all({link_command(folder_ / "host", {})})) std::cerr << std::ifstream{whole.errors}.rdbuf();
      return false;
    }
    if (!asked_.dependencies.empty()) write_dependencies();
    return true;
  }

 private:
  static void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
  }

  void add(const std::string& source) {
    std::string text = source;
    std::vector<std::string> words{installed_.compiler()};
    if (fs::path{source}.extension() != ".c") words.push_back("-std=" + standard_);
    if (has_kernels(source)) {
      text = sources_.rewritten(source);
      append(words, {installed_.options("emulate.cuda"), "-D__CUDA_ARCH_LIST__=" + architecture_, "-include",
                     "cuda_runtime.h", "-iquote", fs::absolute(source).parent_path()});
    }
    append(words, {installed_.options("emulate.include")});
    append(words, asked_.compile);
    if (!asked_.dependencies.empty()) words.push_back("-MMD");
    const bool is_c = fs::path{source}.extension() == ".c";
    if (has_kernels(source) || is_c) append(words, {"-x", is_c ? "c" : "c++"});
    append(words, {"-c", text});
    std::vector<std::string> of_host{"-O2", "-g1"};
    if (!is_c) of_host.push_back(installed_.options("emulate.host"));
    compile(words, of_host, asked_.optimise, objects_, ".o");
    // It would say again what the host's pass says.
    if (!has_kernels(source)) return;
    // A debugger shows all variables of what is not optimised.
    const bool is_debugged = std::ranges::find(asked_.compile, "-g") != asked_.compile.end();
    std::vector<std::string> of_device{installed_.options("emulate.kernels"),
                                       "-D__CUDA_ARCH__=" + architecture_};
    compile(words, of_device, is_debugged ? std::vector<std::string>{"-O0"} : std::vector<std::string>{},
            device_objects_, ".device.o");
    commands_.back().errors = device_objects_.back() + ".errors";
    compile(words,
            {"-D__EMULATED_SPACES", "-D__CUDA_ARCH__=" + architecture_, installed_.options("emulate.spaces")},
            {"-O0"}, judged_objects_, ".spaces.o");
    commands_.back().errors = judged_objects_.back() + ".errors";
    commands_.back().may_fail = true;
  }

  /// \param before  options that the user's come behind
  void compile(std::vector<std::string> words, const std::vector<std::string>& before,
               const std::vector<std::string>& behind, std::vector<std::string>& objects,
               const char* suffix) {
    objects.push_back(folder_ / (std::to_string(commands_.size()) + suffix));
    words.insert(words.begin() + 1, before.begin(), before.end());
    append(words, behind);
    append(words, {"-o", objects.back()});
    commands_.push_back({words});
  }

  Command link_command(const fs::path& program, const std::vector<std::string>& device_objects) const {
    Command link{{installed_.compiler()}};
    append(link.words, objects_);
    append(link.words, device_objects);
    append(link.words, asked_.link);
    append(link.words, {installed_.options("emulate.link"), "-o", program.string()});
    return link;
  }

  /// Says what nvcc refuses of them. Where it is not known which words a declaration has, nothing is.
  bool has_misplaced_uses() const {
    std::vector<Command> commands;
    std::vector<Listed> listed;
    for (const std::string& object : judged_objects_) {
      if (!fs::exists(object)) continue;
      listed.push_back({object, object + ".listing"});
      commands.push_back({{"objdump", "-dlr", "--no-show-raw-insn", object}});
      commands.back().output = listed.back().listing;
    }
    if (!run_all(commands)) return false;
    Program whole{[this](const fs::path& file) { return sources_.has(file); }, {}, asked_.relaxed_constexpr};
    for (const std::string& object : objects_)
      for (const __emulated::Symbol& symbol : __emulated::symbols_of(object.c_str()))
        whole.of_host.insert(symbol.name);
    const std::vector<std::string> errors = misplaced_uses(listed, whole);
    for (const std::string& error : errors)
      std::cerr << error << '\n';
    return !errors.empty();
  }

  /// Whatever only the device's pass says.
  bool say_why() const {
    const bool has_host =
        std::ranges::all_of(objects_, [](const fs::path& object) { return fs::exists(object); });
    for (const Command& command : commands_) {
      if (has_host && !command.errors.empty()) std::cerr << std::ifstream{command.errors}.rdbuf();
    }
    return false;
  }

  /// Puts what the compiler has said of each object into one file. A rewritten copy is named as its original.
  void write_dependencies() const {
    std::string all;
    for (const std::string& object : objects_) {
      std::ifstream of_object{fs::path{object}.replace_extension(".d")};
      const std::string text{std::istreambuf_iterator<char>{of_object}, {}};
      all += text.substr(std::min(text.find(':') + 1, text.size()));
      while (!all.empty() && all.back() == '\n')
        all.pop_back();
    }
    const std::string copies = folder_ / "sources";
    for (std::size_t at = 0; (at = all.find(copies, at)) != all.npos;)
      all.erase(at, copies.size());
    std::ofstream file{asked_.dependencies};
    file << asked_.output << ':' << all << '\n';
    if (!file.flush())
      throw std::runtime_error{"emulate: error: -MF " + asked_.dependencies + ": cannot be written"};
  }

  /// Gives all that they define names of its own, but for what host and device share; of the two only the host's pass
  /// initialises it.
  bool separate_device_objects() const {
    if (device_objects_.empty()) return true;
    const fs::path names = folder_ / "names";
    std::ofstream list{names};
    std::vector<std::string> options{"--redefine-syms=" + names.string(), "--remove-section=.init_array",
                                     "--remove-section=.rela.init_array"};
    std::set<std::string> known;
    for (const std::string& object : device_objects_) {
      for (const __emulated::Symbol& symbol : __emulated::symbols_of(object.c_str())) {
        const std::string name = symbol.name;
        if (!known.insert(name).second) continue;
        if (symbol.section == __emulated::managed_section) {
          if (symbol.is_local)
            throw std::runtime_error{"emulate: error: __managed__ " +
                                     (name.starts_with("_Z") ? __emulated::demangled(symbol.name) : name) +
                                     ": its type is in an unnamed namespace: define the type outside of one"};
          options.push_back("--weaken-symbol=" + name);
        } else {
          list << name << ' ' << name << __emulated::device_suffix << '\n';
        }
      }
    }
    list.close();
    std::vector<Command> commands;
    for (const std::string& object : device_objects_) {
      commands.push_back({{"objcopy"}});
      append(commands.back().words, options);
      commands.back().words.push_back(object);
    }
    return run_all(commands);
  }

  const CommandLine& asked_;
  fs::path folder_;
  Installation installed_;
  std::string standard_ = standard_of(asked_);
  std::string architecture_ = std::to_string(
      std::min(asked_.architecture != 0 ? asked_.architecture : default_architecture, newest_architecture));
  Sources sources_{folder_ / "sources", asked_.include_folders, installed_.headers()};
  std::vector<Command> commands_;
  std::vector<std::string> objects_, device_objects_, judged_objects_;
};

int emulate(const CommandLine& asked) {
  const TemporaryFolder folder;
  const fs::path program = asked.output.empty() ? folder.path() / "program" : fs::path{asked.output};
  if (!Build{asked, folder.path()}.run(program))
    return signal_that_came() != 0 ? 128 + signal_that_came() : bad_usage;
  if (!asked.output.empty()) return 0;
  return run_as_asked(asked, folder.path(), program);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const CommandLine asked = read_command_line(std::vector<std::string>(argv + 1, argv + argc));
    if (asked.help || asked.version) {
      std::cout << (asked.help ? help_text : "emulate " EMULATED_VERSION "\n");
      return 0;
    }
    heed_signals();
    return emulate(asked);
  } catch (const UsageError& error) {
    std::cerr << "emulate: error: " << error.what() << '\n';
  } catch (const fs::filesystem_error& error) {
    std::cerr << "emulate: error: " << error.what() << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
  }
  return bad_usage;
}
