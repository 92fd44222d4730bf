#pragma once
/// \file
/// Command lines whose values are read as text, so that every mistake in one is answered in the same form.

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace reduction {

/// Gives `app` an option with a value. `take` gets its text; if the option is repeated, that of the last one.
void add_text_option(CLI::App& app, const char* flags, const char* placeholder, const std::string& help,
                     std::function<void(const std::string&)> take);

/// Does the same for a function that makes of the text what `target` is to hold.
template <typename Parse, typename Target>
void add_text_option(CLI::App& app, const char* flags, const char* placeholder, const std::string& help,
                     Parse parse, Target& target) {
  add_text_option(app, flags, placeholder, help,
                  [&target, parse](const std::string& text) { target = parse(text); });
}

/// Reads the command line into what the options take. Returns what --help or --version ask to print, else nothing.
/// Throws UsageError.
std::string read_command_line(CLI::App& app, int argc, const char* const* argv);

}  // namespace reduction
