#include "harness/text_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "harness/options.hpp"
#include "harness/version.hpp"

namespace reduction {

TextOptions::TextOptions(std::string_view program, const std::string& description)
    : program_(program), app_(std::make_unique<CLI::App>(description, program_)) {}

TextOptions::~TextOptions() = default;

void TextOptions::add_version() {
  app_->set_version_flag("--version", fmt::format("{} {}", program_, version));
}

void TextOptions::add(const char* flags, const char* placeholder, const std::string& help,
                      std::function<void(const std::string&)> take) {
  app_->add_option_function<std::string>(flags, std::move(take), help)->type_name(placeholder)->take_last();
}

void TextOptions::add_list(const char* flags, const std::string& help, std::vector<std::string>& target) {
  app_->add_option(flags, target, help);
}

void TextOptions::add_flag(const char* flags, const std::string& help, bool& target) {
  app_->add_flag(flags, target, help)->disable_flag_override();
}

void TextOptions::add_argument(const char* name, const std::string& help, std::string& target) {
  app_->add_option(name, target, help)->required();
}

void TextOptions::add_arguments(const char* name, const std::string& help, std::vector<std::string>& target) {
  app_->add_option(name, target, help)->required();
}

std::string TextOptions::read(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app_->help();
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
