#pragma once
/// \file
/// Command lines whose values are read as text, so that every mistake in one is answered in the same form. The library
/// that splits them, CLI11, is known to text_options.cpp alone: every file that includes it takes ten seconds more to
/// compile.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace reduction {

/// The options that a program takes. What is read is written to targets, which must outlive read().
class TextOptions {
 public:
  TextOptions(std::string_view program, const std::string& description);
  ~TextOptions();
  TextOptions(const TextOptions&) = delete;
  TextOptions& operator=(const TextOptions&) = delete;

  /// Adds --version.
  void add_version();

  /// Adds an option with a value, which may be there once. `take` gets its text.
  void add(const char* flags, const char* placeholder, const std::string& help,
           std::function<void(const std::string&)> take);

  /// Does the same for a function that makes of the text what `target` is to hold.
  template <typename Parse, typename Target>
  void add(const char* flags, const char* placeholder, const std::string& help, Parse parse, Target& target) {
    add(flags, placeholder, help, [&target, parse](const std::string& text) { target = parse(text); });
  }

  /// Adds an option with the name of a file.
  void add_file(const char* flag, const std::string& help, std::string& target);

  /// Adds an option with any number of values.
  void add_list(const char* flags, const std::string& help, std::vector<std::string>& target);

  /// Adds an option without a value.
  void add_flag(const char* flags, const std::string& help, bool& target);

  /// Adds what must be given without a flag, as many values as there are.
  void add_arguments(const char* name, const std::string& help, std::vector<std::string>& target);

  /// Reads the command line into what the options take. Returns what --help or --version ask to print, else nothing.
  /// Throws UsageError.
  std::string read(int argc, const char* const* argv);

 private:
  std::string program_;
  std::unique_ptr<CLI::App> app_;
  bool takes_arguments_ = false;
};

}  // namespace reduction
