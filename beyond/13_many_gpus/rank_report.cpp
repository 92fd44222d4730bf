#include "rank_report.hpp"

#include <fmt/format.h>

#include "harness/exit_code.hpp"
#include "harness/report.hpp"
#include "harness/result_json.hpp"
#include "harness/units.hpp"

namespace reduction {

namespace {

std::string plural(int count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// The steps' keys, and those that only several ranks have.
nlohmann::ordered_json to_json(const RankResult& found, bool weak) {
  nlohmann::ordered_json json = found.result;
  json["ranks"] = found.ranks;
  json["nodes"] = found.nodes;
  json["elements_per_rank"] = found.elements_per_rank;
  json["weak"] = weak;
  json["combined_by"] = found.combined_by;
  json["gbps_per_rank"] = found.gbps_per_rank();
  json["times_one_rank"] = found.times_one_rank();
  return json;
}

std::string result_text(const RankResult& found) {
  const Result& result = found.result;
  std::string text = fmt::format("input   {} {} ({}), {}", count_text(result.input.n), to_string(result.type),
                                 bytes_text(result.input_bytes()), to_string(result.input.data));
  if (result.input.data != Data::ones) text += fmt::format(", seed {}", result.input.seed);
  text +=
      fmt::format("\ncombine {} sum{} by {}\n", found.ranks, found.ranks == 1 ? "" : "s", found.combined_by);
  if (result.ms) {
    text += fmt::format(
        "time    the slowest rank's, {} to the combined sum; the median of {}\n",
        result.timing ? "by the GPUs' clocks, from where all meet" : "by the hosts' clocks, from a barrier",
        plural(static_cast<int>(result.samples), "sample"));
  }
  return text + fmt::format("result  {}\n\n", verdict_text(result));
}

std::string times_text(const Result& result) {
  if (!result.ms) return "– | –";
  return fmt::format("{:.4f} | {:.4f} – {:.4f}", result.ms->median, result.ms->p5, result.ms->p95);
}

constexpr std::string_view table_header =
    "| ranks | devices | type | elements per rank | ms | p5 – p95 | GB/s | GB/s per rank | × one rank | "
    "combined by | verified |\n"
    "|--:|:--|:--|--:|--:|--:|--:|--:|--:|:--|:--|\n";

std::string table_row(const RankResult& found) {
  const Result& result = found.result;
  return fmt::format("| {} | {} × {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", found.ranks, found.ranks,
                     result.device.name, to_string(result.type), count_text(found.elements_per_rank),
                     times_text(result), or_dash(result.gbps(), 1), or_dash(found.gbps_per_rank(), 1),
                     or_dash(found.times_one_rank(), 3), found.combined_by,
                     result.verdict.verified ? "yes" : "**NO**");
}

constexpr std::string_view table_header_alone =
    "| rank alone | device | type | elements | ms | p5 – p95 | GB/s | verified |\n"
    "|--:|:--|:--|--:|--:|--:|--:|:--|\n";

}  // namespace

RankRow row_of(const RankResult& found, int rank) {
  const Result& result = found.result;
  const DeviceInfo& device = result.device;
  nlohmann::ordered_json json = result;
  json["rank"] = rank;
  json["uuid"] = device.uuid;
  const std::string name = device.uuid.empty() ? device.name : fmt::format("{} {}", device.name, device.uuid);
  RankRow row;
  row.table = fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", rank, name, to_string(result.type),
                          count_text(result.input.n), times_text(result), or_dash(result.gbps(), 1),
                          result.verdict.verified ? "yes" : "**NO**");
  row.json = json.dump();
  if (!result.verdict.verified)
    row.wrong = fmt::format("{}: rank {} alone: {}\n", result.step, rank, verdict_text(result));
  return row;
}

RankReport::RankReport(const CommandLine& line)
    : line_(line), json_file_(line.json_file), out_(json_file_.is_stdout() ? stderr : stdout) {}

void RankReport::begin(const RankStep& step, int ranks, int nodes, const DeviceInfo& device,
                       const std::vector<std::string>& notes) {
  if (line_.quiet) return;
  print(fmt::format("{}: {}\n", step.name, step.title));
  for (const std::string& note : notes) {
    if (!note.empty()) print(fmt::format("note    {}\n", note));
  }
  print(fmt::format("ranks   {} on {}\n", ranks, plural(nodes, "node")));
  print(fmt::format("device  of each: {}\n", device_text(device)));
}

void RankReport::add(const RankResult& found) {
  const bool is_first = results_.empty();
  results_.push_back(to_json(found, line_.weak));
  json_file_.keep(json());
  if (!line_.quiet && !line_.scaling) print(result_text(found));
  if (is_first) print(std::string(table_header));
  print(table_row(found));
  if (!found.result.verdict.verified) {
    verified_ = false;
    reduction::print(stderr, fmt::format("{}: {} of {}: {}\n", found.result.step, plural(found.ranks, "rank"),
                                         found.result.device.name, verdict_text(found.result)));
  }
}

void RankReport::add(const RankRow& alone) {
  if (results_.empty()) print(std::string(table_header_alone));
  results_.push_back(nlohmann::ordered_json::parse(alone.json));
  json_file_.keep(json());
  print(alone.table);
  if (alone.wrong.empty()) return;
  verified_ = false;
  reduction::print(stderr, alone.wrong);
}

ExitCode RankReport::finish() {
  json_file_.write(json());
  return verified_ ? ExitCode::verified : ExitCode::wrong_result;
}

std::string RankReport::json() const {
  const bool is_list = line_.scaling || line_.alone;
  return (is_list ? results_ : results_.front()).dump(2) + '\n';
}

void RankReport::print(const std::string& text) { reduction::print(out_, text); }

}  // namespace reduction
