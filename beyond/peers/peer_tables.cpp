#include "peer_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "harness/units.hpp"

namespace reduction {

namespace {

using Json = nlohmann::ordered_json;
using Results = std::vector<Json>;

/// The values of a key, each once, in the order in which they come first.
template <typename T> std::vector<T> values_of(const Results& results, const char* key) {
  std::vector<T> values;
  for (const Json& result : results) {
    const T value = result.at(key);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

const Json* find(const Results& results, const std::string& step, const std::string& type,
                 std::uint64_t elements) {
  const auto found = std::find_if(results.begin(), results.end(), [&](const Json& result) {
    return result.at("step") == step && result.at("type") == type && result.at("elements") == elements;
  });
  return found != results.end() ? &*found : nullptr;
}

/// "3695.4 (83.5 %)"; a dash where the program was not run or has no such type.
std::string cell(const Json* result, const Json* cub) {
  if (result == nullptr) return "–";
  if (!result->at("verified").get<bool>()) return "**WRONG**";
  if (result->at("gbps").is_null()) return "not timed";
  const double gbps = result->at("gbps");
  if (cub == nullptr || cub->at("gbps").is_null()) return fmt::format("{:.1f}", gbps);
  return fmt::format("{:.1f} ({:.1f} %)", gbps, gbps / cub->at("gbps").get<double>() * 100);
}

}  // namespace

std::vector<std::string> types_of(const Results& results) { return values_of<std::string>(results, "type"); }

std::string peer_table(const Results& results, const std::string& type) {
  auto sizes = values_of<std::uint64_t>(results, "elements");
  std::sort(sizes.begin(), sizes.end());
  std::string names = fmt::format("| {} |", type);
  std::string alignments = "|:--|";
  for (const std::uint64_t elements : sizes) {
    names += fmt::format(" {} |", count_text(elements));
    alignments += "--:|";
  }
  std::string text = names + "\n" + alignments + "\n";
  for (const std::string& step : values_of<std::string>(results, "step")) {
    text += fmt::format("| {} |", step);
    for (const std::uint64_t elements : sizes) {
      const Json* const result = find(results, step, type, elements);
      text += fmt::format(" {} |", cell(result, find(results, "peer_cub", type, elements)));
    }
    text += "\n";
  }
  return text;
}

}  // namespace reduction
