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

/// An option as the user has named it, and what stands behind its name in the same word.
struct Named {
  const CLI::Option* option;
  std::string name;
  std::string rest;
};

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

/// Lists the options of a word: of `-qn5` they are -q, and -n with 5.
std::vector<Named> options_of(const CLI::App& app, const std::string& word) {
  std::vector<Named> options;
  const auto add = [&](const std::string& name, const std::string& rest) {
    const CLI::Option* const option = app.get_option_no_throw(name);
    if (option != nullptr) options.push_back({option, name, rest});
    return option != nullptr && is_flag(*option);
  };
  if (word.starts_with("--")) {
    const std::size_t end = std::min(word.find('='), word.size());
    add(word.substr(0, end), word.substr(end));
  } else if (word.starts_with('-')) {
    for (std::size_t k = 1; k < word.size() && add({'-', word[k]}, word.substr(k + 1)); ++k) {
    }
  }
  return options;
}

/// Says whether a word is no value, which may be a negative number or `-`.
bool looks_like_an_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && std::isdigit(static_cast<unsigned char>(word[1])) == 0;
}

/// Lists all options as the user has named them. Refuses what CLI11 would take: a flag with a value, and the next option as
/// a value.
std::vector<Named> read_names(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<Named> all;
  for (std::size_t k = 0; k < words.size() && words[k] != "--"; ++k) {
    for (const Named& named : options_of(app, words[k])) {
      all.push_back(named);
      if (is_flag(*named.option)) {
        if (!named.rest.starts_with('=')) continue;
        throw UsageError(fmt::format("{} takes no value (--help lists what is allowed)", named.name));
      }
      bool is_missing = named.rest == "=";
      if (named.rest.empty()) {
        ++k;
        is_missing = k == words.size() || looks_like_an_option(words[k]);
      }
      if (is_missing)
        throw UsageError(fmt::format("{} needs a value (--help lists what is allowed)", named.name));
    }
  }
  return all;
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

void TextOptions::add_file(const char* flag, const std::string& help, std::string& target) {
  add(flag, "FILE", help, [flag, &target](const std::string& text) {
    if (text.empty()) throw UsageError(fmt::format("{} needs the name of a file", flag));
    target = text;
  });
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
  const std::vector<Named> names = read_names(*app_, words);
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return app_->help();
  } catch (const CLI::CallForVersion& request) {
    return fmt::format("{}\n", request.what());
  } catch (const CLI::ExtrasError&) {
    throw UsageError(
        fmt::format("'{}' is not known here (--help lists what is allowed)", app_->remaining().front()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} (--help lists what is allowed)", error.what()));
  }
  for (const auto& [option, name, rest] : names) {
    if (option->get_items_expected_max() <= 1 && option->count() > 1)
      throw UsageError(fmt::format("{} is there {} times; give it once", name, option->count()));
  }
  return "";
}

}  // namespace reduction
