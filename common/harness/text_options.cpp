#include "harness/text_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

#include "harness/options.hpp"
#include "harness/version.hpp"

namespace reduction {

namespace {

/// Names an option as the user has.
std::string typed(const CLI::Option& option, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (option.check_name(name)) return name;
  }
  return option.get_name();
}

/// Says whether a word is no value, which may be a negative number or `-`.
bool looks_like_an_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && std::isdigit(static_cast<unsigned char>(word[1])) == 0;
}

/// Refuses what CLI11 would take: a flag with a value, and the next option as a value.
void require_values(const CLI::App& app, const std::vector<std::string>& words) {
  for (std::size_t k = 0; k < words.size() && words[k] != "--"; ++k) {
    const std::string name = words[k].substr(0, words[k].find('='));
    const CLI::Option* const option = name.starts_with('-') ? app.get_option_no_throw(name) : nullptr;
    if (option == nullptr) continue;
    const bool is_flag = option->get_items_expected_max() == 0;
    if (is_flag && name != words[k])
      throw UsageError(fmt::format("{} takes no value (--help lists what is allowed)", name));
    if (is_flag) continue;
    bool is_missing = words[k] == name + '=';
    if (words[k] == name) {
      ++k;
      is_missing = k == words.size() || looks_like_an_option(words[k]);
    }
    if (is_missing) throw UsageError(fmt::format("{} needs a value (--help lists what is allowed)", name));
  }
}

}  // namespace

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

void TextOptions::add_arguments(const char* name, const std::string& help, std::vector<std::string>& target) {
  takes_arguments_ = true;
  app_->add_option(name, target, help)->required();
}

std::string TextOptions::read(int argc, const char* const* argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!takes_arguments_ && std::ranges::find(words, "--") != words.end())
    throw UsageError("'--': there is nothing but options here (--help lists what is allowed)");
  require_values(*app_, words);
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app_->help();
  } catch (const CLI::CallForVersion& request) {
    return fmt::format("{}\n", request.what());
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();  // it begins with the option's name
    throw UsageError(fmt::format("{} needs a value (--help lists what is allowed)",
                                 typed(*app_->get_option(what.substr(0, what.find(':'))), words)));
  } catch (const CLI::ExtrasError&) {
    throw UsageError(
        fmt::format("'{}' is not known here (--help lists what is allowed)", app_->remaining().front()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} (--help lists what is allowed)", error.what()));
  }
  for (const CLI::Option* option : app_->get_options()) {
    if (option->get_items_expected_max() <= 1 && option->count() > 1)
      throw UsageError(
          fmt::format("{} is there {} times; give it once", typed(*option, words), option->count()));
  }
  return "";
}

}  // namespace reduction
