#include "harness/report.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <exception>

#include "harness/json_report.hpp"
#include "harness/published_figures.hpp"
#include "harness/units.hpp"

namespace reduction {

namespace {

/// Takes a terminal back to the start of the line, and erases it.
constexpr std::string_view erase_line = "\r\x1b[K";

bool is_emulated(const DeviceInfo& device) { return device.kind == DeviceKind::emulated; }

std::string or_dash(const std::optional<double>& number, int digits) {
  return number ? fmt::format("{:.{}f}", *number, digits) : "–";
}

/// 524288 → 1024 → 2 → 1 blocks of 256 threads
std::string passes_text(const Result& result) {
  std::string text;
  for (const Pass& pass : result.passes)
    text += fmt::format("{}{}", text.empty() ? "" : " → ", pass.blocks);
  return fmt::format("{} blocks of {} threads", text, result.block);
}

std::string variant_text(const Result& result) { return result.variant.empty() ? "" : result.variant + ": "; }

/// Says in what the timing differs from the usual.
std::string timing_text(const Result& result) {
  std::string text;
  if (!result.timing) return text;
  const TimingMethod usual;
  if (result.timing->flush != usual.flush)
    text += fmt::format(", --flush {}", to_string(result.timing->flush));
  if (result.timing->warm_up_runs != usual.warm_up_runs)
    text += fmt::format(", --warm-up {}", result.timing->warm_up_runs);
  if (!result.timing->queued) text += ", --queue off";
  if (result.timing->lead_in != usual.lead_in) text += fmt::format(", --lead-in {}", result.timing->lead_in);
  return text;
}

/// Says everything worth saying of a single result before its row.
std::string result_text(const Result& result) {
  std::string text = fmt::format("input   {} {} ({}), {}", count_text(result.input.n), to_string(result.type),
                                 bytes_text(result.input_bytes()), to_string(result.input.data));
  if (result.input.data != Data::ones) text += fmt::format(", seed {}", result.input.seed);
  text += "\n";
  if (!result.passes.empty()) text += fmt::format("passes  {}\n", passes_text(result));
  if (result.ms) {
    text += fmt::format("time    the median of {} sample{}{}\n", result.samples,
                        result.samples == 1 ? "" : "s", timing_text(result));
  }
  text += fmt::format("result  {}{}\n", variant_text(result), verdict_text(result));
  for (const Result& variant : result.other_variants) {
    text += fmt::format("        {}{}\n", variant_text(variant), verdict_text(variant));
  }
  return text;
}

std::string table_header(const DeviceInfo& device) {
  if (is_emulated(device)) {
    return "| step | type | elements | block | passes | blocks | verified |\n"
           "|:--|:--|--:|--:|--:|--:|:--|\n";
  }
  return "| step | type | elements | block | ms | p5 – p95 | GB/s | % of peak | verified |\n"
         "|:--|:--|--:|--:|--:|--:|--:|--:|:--|\n";
}

std::string table_row(const Result& result) {
  const std::string variant = result.variant.empty() ? "" : ", " + result.variant;
  const std::string start =
      fmt::format("| {}{} | {} | {} | {} |", result.step, variant, to_string(result.type),
                  count_text(result.input.n), result.block > 0 ? std::to_string(result.block) : "–");
  const std::string verified = result.verdict.verified ? "yes" : "**NO**";
  if (is_emulated(result.device)) {
    std::size_t blocks = 0;
    for (const Pass& pass : result.passes)
      blocks += pass.blocks;
    return fmt::format("{} {} | {} | {} |\n", start, result.passes.size(), blocks, verified);
  }
  const std::string times =
      result.ms ? fmt::format("{:.4f} | {:.4f} – {:.4f}", result.ms->median, result.ms->p5, result.ms->p95)
                : "– | –";
  return fmt::format("{} {} | {} | {} | {} |\n", start, times, or_dash(result.gbps(), 1),
                     or_dash(result.percent_of_peak(), 1), verified);
}

}  // namespace

std::string device_text(const DeviceInfo& device) {
  std::string text = device.name;
  if (!device.compute_capability.empty())
    text += fmt::format(", compute capability {}", device.compute_capability);
  if (device.sms > 0) text += fmt::format(", {} SMs", device.sms);
  if (device.l2_bytes > 0) text += fmt::format(", {} L2", bytes_text(static_cast<double>(device.l2_bytes)));
  if (device.peak_gbps) text += fmt::format(", peak {:.0f} GB/s", *device.peak_gbps);
  return text;
}

std::string verdict_text(const Result& result) {
  const std::string value = to_string(result.value);
  const Verdict& verdict = result.verdict;
  if (!verdict.verified) {
    return fmt::format("WRONG: {}, expected {}; the error {:.6g} is above the tolerance {:.3g}", value,
                       to_string(result.expected), verdict.error, verdict.tolerance);
  }
  if (is_integer(result.type)) return fmt::format("{}, exact", value);
  return fmt::format("{}, error {:.3g}, tolerance {:.3g}", value, verdict.error, verdict.tolerance);
}

Report::Report(const Options& options)
    : quiet_(options.quiet),
      sweep_(options.sweep.has_value()),
      out_(options.json_file == "-" ? stderr : stdout),
      compared_(options.compare_file.empty()
                    ? std::nullopt
                    : std::optional(read_counted_run(options.compare_file, options.type, options.block))),
      json_file_(options.json_file) {}

void Report::begin(std::string_view step, std::string_view title, const DeviceInfo& device,
                   const std::string& note) {
  if (quiet_) return;
  print(fmt::format("{}: {}\n", step, title));
  if (!note.empty()) print(fmt::format("note    {}\n", note));
  print(fmt::format("device  {}\n", device_text(device)));
}

Report::~Report() {
  if (finished_) return;
  try {
    write_results();
  } catch (const std::exception&) {
    // The error that has ended the run is the one to tell of.
  }
}

bool Report::expect(const Configuration& configuration, std::size_t total) {
  if (total == 1) return true;
  if (!interruption_) interruption_.emplace();
  interrupted_ = interruption_->requested();
  if (!interrupted_) show_progress(configuration, total);
  return !interrupted_;
}

void Report::show_progress(const Configuration& configuration, std::size_t total) {
  if (isatty(STDERR_FILENO) == 0) return;
  progress_shown_ = true;
  fmt::print(stderr, "{}{} of {}: {} {} ...", erase_line, results_.size() + 1, total,
             count_text(configuration.elements), to_string(configuration.type));
  std::fflush(stderr);
}

void Report::add(const Result& result) {
  const bool is_first = results_.empty();
  // Before it is printed: Ctrl-C also ends the reader of a pipe, and writing to nobody would end the sweep here.
  results_.push_back(result);
  if (sweep_) json_file_.keep(json_text(results_));
  if (!quiet_ && !sweep_) {
    print(result_text(result) + "\n");
    if (const auto counters = result.counters()) {
      print(counter_table({result.step, result.type, result.block, result.input.n, *counters}, compared_) +
            "\n");
    }
  }
  if (is_first) print(table_header(result.device));
  add_row(result);
  for (const Result& variant : result.other_variants)
    add_row(variant);
  if (!quiet_ && !sweep_) print_published(result.step);
  verified_ = verified_ && result.verified();
}

ExitCode Report::finish() {
  finished_ = true;
  write_results();
  if (interrupted_) return ExitCode::interrupted;
  return verified_ ? ExitCode::verified : ExitCode::wrong_result;
}

void Report::write_results() {
  if (!results_.empty()) json_file_.write(sweep_ ? json_text(results_) : json_text(results_.front()));
}

void Report::add_row(const Result& result) {
  print(table_row(result));
  if (!result.timing_remark.empty()) fmt::print(stderr, "{}: note: {}\n", result.step, result.timing_remark);
  if (result.verdict.verified) return;
  fmt::print(stderr, "{}: error: {}{}\n", result.step, variant_text(result), verdict_text(result));
}

void Report::print_published(const std::string& step) {
  const std::string text = published_text(step);
  if (!text.empty()) print("\n" + text);
}

void Report::print(const std::string& text) {
  if (progress_shown_) fmt::print(stderr, "{}", erase_line);
  progress_shown_ = false;
  fmt::print(out_, "{}", text);
  std::fflush(out_);
}

}  // namespace reduction
