#include "harness/text_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "harness/options.hpp"

namespace reduction {

void add_text_option(CLI::App& app, const char* flags, const char* placeholder, const std::string& help,
                     std::function<void(const std::string&)> take) {
  app.add_option_function<std::string>(flags, std::move(take), help)->type_name(placeholder)->take_last();
}

std::string read_command_line(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::CallForVersion& request) {
    return fmt::format("{}\n", request.what());
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();
    throw UsageError(
        fmt::format("{} needs a value (--help lists what is allowed)", what.substr(0, what.find(':'))));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} (--help lists what is allowed)", error.what()));
  }
  return "";
}

}  // namespace reduction
