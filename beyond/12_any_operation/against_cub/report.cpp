#include "report.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/exit_code.hpp"
#include "harness/report.hpp"
#include "harness/result_json.hpp"
#include "harness/units.hpp"
#include "harness/version.hpp"

namespace reduction {

namespace {

/// Sizes whose results are summed up together, both ends included.
struct Range {
  std::string_view name;
  std::uint64_t least;
  std::uint64_t most;
};

constexpr std::array<Range, 3> ranges{
    {{"below 2^20", 0, (1u << 20) - 1},
     {"2^20 to 2^25", 1u << 20, 1u << 25},
     {"above 2^25", (1u << 25) + 1, std::numeric_limits<std::uint64_t>::max()}}};

/// Returns CUB's time over ours, with a sign before it where the two times are the same but for the clock's tick.
std::string ratio_text(const Comparison& found) {
  return fmt::format("{}{:.3f}", found.within_tick() ? "≈ " : "", found.cub_over_ours());
}

Cell geometric_mean(const std::vector<Comparison>& all, const Range& range) {
  double logarithms = 0;
  std::size_t count = 0;
  for (const Comparison& found : all) {
    if (found.samples == 0 || found.n < range.least || found.n > range.most) continue;
    logarithms += std::log(found.cub_over_ours());
    ++count;
  }
  return count == 0 ? Cell("–")
                    : Cell(fmt::format("{:.3f}", std::exp(logarithms / static_cast<double>(count))));
}

/// Returns the lowest cell, and where it is. \param beyond_tick  of those whose times differ by more than that.
Cell lowest(const std::vector<Comparison>& all, bool beyond_tick, bool with_case) {
  const Comparison* lowest = nullptr;
  for (const Comparison& found : all) {
    if (found.samples == 0 || (beyond_tick && found.within_tick())) continue;
    if (lowest == nullptr || found.cub_over_ours() < lowest->cub_over_ours()) lowest = &found;
  }
  if (lowest == nullptr) return "–";
  return fmt::format("{} at {}{}", ratio_text(*lowest), count_text(lowest->n),
                     with_case ? fmt::format(" {}", lowest->name) : "");
}

Row summary_row(const std::string& name, const std::vector<Comparison>& some, bool with_case) {
  Row row{name};
  for (const Range& range : ranges)
    row.push_back(geometric_mean(some, range));
  row.push_back(lowest(some, false, with_case));
  row.push_back(lowest(some, true, with_case));
  return row;
}

std::string components_text(const std::vector<double>& components) {
  std::string text;
  for (const double component : components)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", component);
  return text;
}

}  // namespace

Table comparison_table(const std::vector<std::string>& cases) {
  constexpr std::size_t longest_elements = 11;
  constexpr std::size_t longest_ms = 9;
  constexpr std::size_t longest_gbps = 7;
  std::size_t longest_case = 0;
  for (const std::string& name : cases)
    longest_case = std::max(longest_case, name.size());
  const auto both = Form::both;
  return {{{"case", Align::left, both, "", longest_case},
           {"elements", Align::right, both, "", longest_elements},
           {"ms", Align::right, both, "", longest_ms},
           {"GB/s", Align::right, both, "", longest_gbps},
           {"CUB: ms", Align::right, Form::markdown},
           {"CUB: GB/s", Align::right, Form::markdown},
           {"CUB's time / ours", Align::right, both, "", 7},
           {"same result", Align::left}},
          {}};
}

Row comparison_row(const Comparison& found) {
  Row row{found.name, count_text(found.n)};
  if (found.samples > 0) {
    row.insert(row.end(),
               {fmt::format("{:.5f}", found.ours.median), fmt::format("{:.1f}", found.gbps(found.ours)),
                fmt::format("{:.5f}", found.cub.median), fmt::format("{:.1f}", found.gbps(found.cub)),
                ratio_text(found)});
  } else {
    row.insert(row.end(), 5, "–");
  }
  row.push_back(found.verified() ? Cell("yes") : Cell("NO", true));
  return row;
}

Table summary_table(const std::vector<Comparison>& all) {
  Table table{{{"CUB's time / ours", Align::left}}, {}};
  for (const Range& range : ranges)
    table.columns.push_back({std::string(range.name)});
  table.columns.push_back({"lowest", Align::right, Form::markdown});
  table.columns.push_back({"lowest that is not ≈"});
  std::vector<std::pair<std::string, std::vector<Comparison>>> cases;
  for (const Comparison& found : all) {
    if (cases.empty() || cases.back().first != found.name) cases.push_back({found.name, {}});
    cases.back().second.push_back(found);
  }
  for (const auto& [name, some] : cases)
    table.rows.push_back(summary_row(name, some, false));
  if (cases.size() > 1) table.rows.push_back(summary_row("all", all, true));
  return table;
}

ComparisonReport::ComparisonReport(std::string_view program, const CommandLine& line, std::string cub_version)
    : program_(program),
      line_(line),
      cub_version_(std::move(cub_version)),
      json_file_(line.json_file),
      out_(json_file_.is_stdout() ? stderr : stdout),
      terminal_(terminal_of(out_)),
      table_(comparison_table(line.cases), terminal_) {}

void ComparisonReport::begin(const DeviceInfo& device, const TimingMethod& method) {
  device_ = device;
  method_ = method;
  if (!line_.quiet) {
    print(paragraph(
        fmt::format("{}: reduction::reduce and cub::DeviceReduce {} in turn", program_, cub_version_),
        terminal_));
    print(labelled("device", device_text(device), terminal_));
    print(labelled("input", fmt::format("whole numbers, seed {}", line_.seed), terminal_));
    print(labelled(
        "time",
        fmt::format("the median of {} sample{} of each; ≈: the two are at most 0.1 µs apart, the clock's "
                    "tick",
                    line_.samples, line_.samples == 1 ? "" : "s"),
        terminal_));
    print("\n");
  }
  print(table_.header());
}

bool ComparisonReport::goes_on() {
  if (stdout_reader_left() && !json_file_.is_given()) return false;
  return !interruption_.requested();
}

void ComparisonReport::add(const Comparison& found) {
  results_.push_back(found);
  json_file_.keep(json());
  print(table_.row(comparison_row(found)));
  if (found.verified()) return;
  reduction::print(stderr, fmt::format("{}: {}, {} elements: WRONG: {}, and CUB has {}\n", program_,
                                       found.name, count_text(found.n), components_text(found.ours_result),
                                       components_text(found.cub_result)));
}

void ComparisonReport::leave_out(const std::string& name, std::uint64_t n, std::size_t needed_bytes,
                                 std::size_t available_bytes) {
  reduction::print(
      stderr, fmt::format("{}: {}, {} elements are left out: they need {}, and {} are free\n", program_, name,
                          count_text(n), bytes_text(static_cast<double>(needed_bytes)),
                          bytes_text(static_cast<double>(available_bytes))));
}

ExitCode ComparisonReport::finish() {
  if (!results_.empty()) {
    print(fmt::format("\n{}", to_text(summary_table(results_), terminal_)));
    json_file_.write(json());
  }
  for (const Comparison& found : results_) {
    if (!found.verified()) return ExitCode::wrong_result;
  }
  return interruption_.requested() ? ExitCode::interrupted : ExitCode::verified;
}

std::string ComparisonReport::json() const {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Comparison& found : results_) {
    const bool timed = found.samples > 0;
    list.push_back({{"case", found.name},
                    {"elements", found.n},
                    {"element_bytes", found.element_bytes},
                    {"samples", found.samples},
                    {"ms", timed ? Json(found.ours) : Json(nullptr)},
                    {"cub_ms", timed ? Json(found.cub) : Json(nullptr)},
                    {"gbps", timed ? Json(found.gbps(found.ours)) : Json(nullptr)},
                    {"cub_gbps", timed ? Json(found.gbps(found.cub)) : Json(nullptr)},
                    {"verified", found.verified()},
                    {"device", device_},
                    {"timing", method_},
                    {"seed", line_.seed},
                    {"version", version},
                    {"cub_version", cub_version_}});
  }
  return list.dump(2) + '\n';
}

void ComparisonReport::print(const std::string& text) { reduction::print(out_, text); }

}  // namespace reduction
