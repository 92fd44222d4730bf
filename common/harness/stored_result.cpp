#include "harness/stored_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "harness/options.hpp"
#include "harness/text_file.hpp"

namespace reduction {

namespace {

using Json = nlohmann::ordered_json;

/// A value of a file, which knows the way to itself: every refusal names the file and the key.
class Node {
 public:
  Node(const std::string& file, const Json& json, std::string path = "")
      : file_(file), json_(json), path_(std::move(path)) {}

  Node at(const std::string& key) const {
    if (!json_.is_object()) refuse("an object");
    const auto found = json_.find(key);
    if (found == json_.end()) throw UsageError(fmt::format("'{}': there is no '{}'", file_, path_to(key)));
    return {file_, *found, path_to(key)};
  }

  bool has(const std::string& key) const { return json_.is_object() && json_.contains(key); }

  std::vector<Node> items() const {
    if (!json_.is_array()) refuse("a list");
    std::vector<Node> nodes;
    for (std::size_t k = 0; k < json_.size(); ++k)
      nodes.emplace_back(file_, json_[k], fmt::format("{}[{}]", path_, k));
    return nodes;
  }

  bool is_null() const { return json_.is_null(); }

  bool flag() const {
    if (!json_.is_boolean()) refuse("true or false");
    return json_.get<bool>();
  }

  std::uint64_t count(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const {
    // A negative number is kept as a signed one.
    if (!json_.is_number_unsigned() || json_.get<std::uint64_t>() > most) {
      refuse(most == std::numeric_limits<std::uint64_t>::max()
                 ? "a whole number from 0"
                 : fmt::format("a whole number from 0 to {}", most));
    }
    return json_.get<std::uint64_t>();
  }

  double quantity() const {
    if (!json_.is_number() || json_.get<double>() < 0) refuse("a number from 0");
    return json_.get<double>();
  }

  /// A text that can stand in a table.
  std::string text() const {
    const auto is_printable = [](char c) {
      return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F && c != '|';
    };
    if (!json_.is_string() || json_.get_ref<const std::string&>().empty() ||
        !std::ranges::all_of(json_.get_ref<const std::string&>(), is_printable)) {
      refuse("a name");
    }
    return json_.get<std::string>();
  }

  /// One of the values that to_string() names.
  template <typename Values> auto one_of(const Values& values) const {
    std::string names;
    for (const auto value : values) {
      if (json_.is_string() && json_.get_ref<const std::string&>() == to_string(value)) return value;
      names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(value));
    }
    refuse("one of " + names);
  }

 private:
  std::string path_to(const std::string& key) const { return path_.empty() ? key : path_ + '.' + key; }

  [[noreturn]] void refuse(std::string_view wanted) const {
    constexpr std::size_t longest = 40;
    std::string text = json_.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > longest) text = text.substr(0, longest) + "...";
    throw UsageError(
        fmt::format("'{}': {} is {}; it has to be {}", file_, path_.empty() ? "it" : path_, text, wanted));
  }

  const std::string& file_;
  const Json& json_;
  std::string path_;
};

Json parse(const std::string& file) {
  try {
    constexpr int deepest = 32;
    const std::string text = read_text_file(file);
    if (text.empty()) throw UsageError(fmt::format("'{}': it is empty", file));
    return Json::parse(text, [&](int depth, Json::parse_event_t, const Json&) {
      if (depth <= deepest) return true;
      throw UsageError(fmt::format("'{}': it is nested too deep", file));
    });
  } catch (const Json::out_of_range&) {  // 1e999
    throw UsageError(fmt::format("'{}': it has too large a number", file));
  } catch (const std::system_error& error) {
    throw UsageError(fmt::format("'{}': {}", file, error.code().message()));
  } catch (const Json::parse_error& error) {
    throw UsageError(fmt::format("'{}': it is no JSON, from byte {} on", file, error.byte));
  }
}

bool is_verified(const Node& result) {
  if (!result.at("verified").flag()) return false;
  return !result.has("other_variants") ||
         std::ranges::all_of(result.at("other_variants").items(), is_verified);
}

template <typename Read> auto or_none(const Node& node, const Read& read) {
  return node.is_null() ? std::nullopt : std::optional(read(node));
}

emulated::Counters read_counters(const Node& node) {
  emulated::Counters counters;
  for (const emulated::NamedCounter& named : emulated::counter_names)
    counters.*named.counter = node.at(std::string(named.name)).count();
  return counters;
}

StoredResult read_result(const Node& node) {
  constexpr std::array devices{DeviceKind::cuda, DeviceKind::emulated, DeviceKind::cpu};
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 48;
  const auto quantity = [](const Node& number) { return number.quantity(); };
  StoredResult result;
  result.step = node.at("step").text();
  result.device = node.at("device").at("kind").one_of(devices);
  result.device_name = node.at("device").at("name").text();
  result.type = node.at("type").one_of(element_types);
  result.elements = node.at("elements").count(most_elements);
  result.block = or_none(node.at("block"), [](const Node& block) {
    return static_cast<unsigned>(block.count(block_sizes.back()));
  });
  result.median_ms = or_none(node.at("ms"), [](const Node& ms) { return ms.at("median").quantity(); });
  result.gbps = or_none(node.at("gbps"), quantity);
  result.percent_of_peak = or_none(node.at("percent_of_peak"), quantity);
  result.verified = is_verified(node);
  for (const Node& pass : node.at("passes").items())
    result.pass_blocks.push_back(pass.at("blocks").count());
  result.counters = or_none(node.at("counters"), read_counters);
  return result;
}

/// Does not say what to give instead of what it refuses: that differs.
std::vector<StoredResult> read_file(const std::string& file, Json& documents) {
  const Json document = parse(file);
  if (document.is_array() && document.empty())
    throw UsageError(fmt::format("'{}': there is no result in it", file));
  std::vector<StoredResult> results;
  if (document.is_array()) {
    for (const Node& node : Node(file, document).items())
      results.push_back(read_result(node));
    documents.insert(documents.end(), document.begin(), document.end());
  } else {
    results.push_back(read_result({file, document}));
    documents.push_back(document);
  }
  return results;
}

}  // namespace

std::vector<StoredResult> read_results(const std::string& file, Json& documents) {
  try {
    return read_file(file, documents);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}; give the --json file of a step", error.what()));
  }
}

CountedRun read_counted_run(const std::string& json_file, ElementType type, unsigned block) {
  try {
    Json documents = Json::array();
    const std::vector<StoredResult> results = read_file(json_file, documents);
    const StoredResult& result = results.front();
    if (results.size() > 1) throw UsageError(fmt::format("'{}': it is a sweep's", json_file));
    if (!result.counters) throw UsageError(fmt::format("'{}': it has no counters", json_file));
    if (result.type != type || result.block != block) {
      throw UsageError(fmt::format("'{}': it ran {} in blocks of {}, not {} in blocks of {}", json_file,
                                   to_string(result.type), result.block.value_or(0), to_string(type), block));
    }
    return {result.step, type, block, result.elements, *result.counters};
  } catch (const UsageError& error) {
    throw UsageError(
        fmt::format("--compare {}; give the --json file of one run on the emulated device", error.what()));
  }
}

}  // namespace reduction
