#include "harness/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>

#include "harness/exit_code.hpp"
#include "harness/published_figures.hpp"
#include "harness/result_json.hpp"
#include "harness/steps.hpp"
#include "harness/units.hpp"

namespace reduction {

namespace {

/// Takes a terminal back to the start of the line, and erases it.
constexpr std::string_view erase_line = "\r\x1b[K";

/// 524288 → 1024 → 2 → 1 blocks of 256 threads
std::string passes_text(const Result& result) {
  std::string text;
  for (const Pass& pass : result.passes)
    text += fmt::format("{}{}", text.empty() ? "" : " → ", pass.blocks);
  return fmt::format("{} blocks of {} threads", text, result.block);
}

std::string variant_text(const Result& result) { return result.variant.empty() ? "" : result.variant + ": "; }

/// Says how many samples a time is of, and in what the timing differs from the usual.
std::string samples_text(const Result& result) {
  std::string text = fmt::format("{} sample{}", result.samples, result.samples == 1 ? "" : "s");
  if (!result.timing) return text + (result.shared ? ", by the hosts' clocks" : "");
  const TimingMethod usual;
  if (result.timing->flush != usual.flush)
    text += fmt::format(", --flush {}", to_string(result.timing->flush));
  if (result.timing->warm_up_runs != usual.warm_up_runs)
    text += fmt::format(", --warm-up {}", result.timing->warm_up_runs);
  if (!result.timing->queued) text += ", --queue off";
  if (result.timing->lead_in != usual.lead_in) text += fmt::format(", --lead-in {}", result.timing->lead_in);
  if (result.timing->back_to_back != usual.back_to_back)
    text += fmt::format(", --back-to-back {}", result.timing->back_to_back);
  return text;
}

std::string input_text(const Result& result) {
  std::string text = fmt::format("{} {} ({}), {}", count_text(result.input.n), to_string(result.type),
                                 bytes_text(result.input_bytes()), to_string(result.input.data));
  if (result.input.data != Data::ones) text += fmt::format(", seed {}", result.input.seed);
  return text;
}

/// Says what the row of a timed result has: the time, and the bandwidth with a bar up to the card's peak.
std::string time_lines(const Result& result, const Terminal& terminal) {
  if (!result.ms) return "";
  std::string text =
      labelled("time",
               fmt::format("{}median {:.4f} ms, p5 – p95 {:.4f} – {:.4f}, {}", variant_text(result),
                           result.ms->median, result.ms->p5, result.ms->p95, samples_text(result)),
               terminal);
  if (!result.gbps()) return text;
  std::string speed = fmt::format("{:.1f} GB/s", *result.gbps());
  if (const auto percent = result.percent_of_peak()) {
    constexpr std::size_t bar_width = 32;
    speed += fmt::format(", {:.1f} % of the peak {}", *percent, draw({*percent / 100, 0, true}, bar_width));
  }
  return text + labelled("speed", speed, terminal);
}

/// Returns the rows of a result and its variants, below their columns. The rows of a sweep come one by one, so that each
/// column is as wide as the longest that can follow. On a terminal, the heading says which step they are of.
Table table_of(const Result& result, const std::optional<Sweep>& sweep, const Terminal& terminal) {
  Table table;
  table.begin_row();
  const bool in_markdown = !terminal.present;
  const std::string& variant = result.variant;
  if (!sweep || in_markdown)
    table.add({"step", Align::left}, result.step + (variant.empty() ? "" : ", " + variant));
  else if (!variant.empty())
    table.add({"sum", Align::left}, variant);
  table.add({"type", Align::left, sweep == Sweep::type ? 10U : 0U}, std::string(to_string(result.type)));
  table.add({"elements", Align::right, 8}, count_text(result.input.n));
  if (in_markdown || result.block > 0)
    table.add({"block"}, result.block > 0 ? std::to_string(result.block) : "–");
  if (const auto& shared = result.shared) {
    table.add({"ranks"}, std::to_string(shared->ranks));
    if (in_markdown) {
      table.add({"nodes"}, std::to_string(shared->nodes));
      table.add({"elements per rank"}, count_text(shared->elements_per_rank));
    }
    table.add({"combined by", Align::left}, shared->combined_by);
    table.add({"× one rank", Align::right, 5}, or_dash(result.times_one_rank(), 3));
  }
  if (result.device.kind == DeviceKind::emulated && !result.shared) {
    // What chooses its own launch does not say how many it makes.
    const bool known = !result.passes.empty();
    table.add({"passes"}, known ? fmt::to_string(result.passes.size()) : "–");
    table.add({"blocks", Align::right, 8}, known ? fmt::to_string(result.blocks()) : "–");
  } else {
    const auto& ms = result.ms;
    table.add({"ms", Align::right, 10}, or_dash(ms ? std::optional(ms->median) : std::nullopt, 4));
    if (in_markdown) table.add({"p5 – p95"}, ms ? fmt::format("{:.4f} – {:.4f}", ms->p5, ms->p95) : "–");
    table.add({"GB/s", Align::right, 7}, or_dash(result.gbps(), 1));
    table.add({"% of peak", Align::right, 5}, or_dash(result.percent_of_peak(), 1));
    if (terminal.present && result.device.peak_gbps)
      table.add({"of the peak", Align::left}, Bar{result.percent_of_peak().value_or(0) / 100, 0, true});
  }
  table.add_verified(result.verdict.verified, terminal);
  for (const Result& other : result.other_variants)
    table.rows.push_back(table_of(other, sweep, terminal).rows.front());
  return table;
}

/// Says on stderr what is wrong with a result, or otherwise than asked.
void complain(const Result& result) {
  const Terminal terminal = terminal_of(stderr);
  if (!result.timing_remark.empty())
    print(stderr, fmt::format("{}: note: {}\n", result.step, result.timing_remark));
  if (!result.verdict.verified)
    print(stderr, paragraph(error_label(result.step, terminal) + variant_text(result) +
                                verdict_text(result, terminal),
                            terminal));
}

/// Says what to read after a step; nothing of a step without a page.
std::string reading_text(std::string_view step) {
  const StepFacts* const facts = find_step(step);
  if (facts == nullptr) return "";
  const std::string text = fmt::format("{}/README.md explains these figures", facts->page);
  // What stands aside goes on from nothing. Behind each step there is at least what stands aside.
  if (facts->part == Part::aside) return text + ".";
  const StepFacts& next = facts[1];
  if (facts->part == next.part) return text + fmt::format("; the next step is {}/README.md.", next.page);
  if (facts->part == Part::ladder) return text + "; what lies beyond the ladder is in beyond/README.md.";
  return text + ".";
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

std::string verdict_text(const Result& result, const Terminal& terminal) {
  const std::string value = to_string(result.value);
  const Verdict& verdict = result.verdict;
  if (!verdict.verified) {
    return fmt::format("{} {}, expected {}; the error {:.6g} is above the tolerance {:.3g}",
                       red("WRONG:", terminal), value, to_string(result.expected), verdict.error,
                       verdict.tolerance);
  }
  const std::string error = is_integer(result.type) ? "exact" : fmt::format("error {:.3g}", verdict.error);
  const std::string text = fmt::format("{}, {}", value, green(error, terminal));
  return is_integer(result.type) ? text : text + fmt::format(", tolerance {:.3g}", verdict.tolerance);
}

Report::Report(const Options& options, bool for_terminal)
    : quiet_(options.quiet),
      sweep_(options.sweep),
      json_file_(options.json_file),
      out_(json_file_.is_stdout() ? stderr : stdout),
      terminal_(for_terminal ? terminal_of(out_) : Terminal{}) {
  if (!options.compare_file.empty())
    compared_ = read_compared_result(options.compare_file, options.type, options.sweep.has_value());
}

void Report::begin(std::string_view step, std::string_view title, const DeviceInfo& device,
                   const std::string& note) {
  if (quiet_) return;
  print(paragraph(fmt::format("{}: {}", strong(step, terminal_), title), terminal_));
  // Of the same device as the compared result's, a note has been read, and on a terminal its line stands above.
  const bool is_known = compared_ && device_text(compared_->device) == device_text(device);
  if (!note.empty() && !is_known) print(labelled("note", note, terminal_));
  if (!is_known || !terminal_.present) print(labelled("device", device_text(device), terminal_));
}

Report::~Report() {
  if (results_.empty()) return;
  try {
    json_file_.write(json());
  } catch (const std::exception& error) {
    note_lost_output(0, error.what());
  }
}

bool Report::expect(const Configuration& configuration, std::size_t total) {
  if (total == 1) return true;
  if (!interruption_) interruption_.emplace();
  if (stdout_reader_left() && !json_file_.is_given()) return false;
  interrupted_ = interruption_->requested();
  progress_shown_ = !interrupted_ && terminal_of(stderr).styled;
  if (progress_shown_) {
    reduction::print(stderr, fmt::format("{}{} of {}: {} {} ...", erase_line, results_.size() + 1, total,
                                         count_text(configuration.elements), to_string(configuration.type)));
  }
  return !interrupted_;
}

void Report::add(const Result& result) {
  results_.push_back(result);
  // Before it is printed, so that it is there whatever happens then.
  json_file_.keep(json());
  const bool is_single = !quiet_ && !sweep_;
  if (is_single) tell(result);
  // What the row of a single result has, a terminal shows in lines.
  if (!is_single || !terminal_.present) print_rows(table_of(result, sweep_, terminal_));
  complain(result);
  for (const Result& variant : result.other_variants)
    complain(variant);
  // They are times of unchanged kernels: nothing to hold beside what an emulated device counts.
  const std::string published = published_text(result.step, terminal_);
  if (is_single && result.ms && !json_file_.is_given() && !published.empty()) print("\n" + published);
}

void Report::tell(const Result& result) {
  const auto say = [&](std::string_view label, const auto& text_of) {
    const bool is_known = terminal_.present && compared_ && text_of(*compared_) == text_of(result);
    if (!is_known) print(labelled(label, text_of(result), terminal_));
  };
  say("input", input_text);
  if (!result.passes.empty()) say("passes", passes_text);
  if (const auto& shared = result.shared) {
    print(labelled("ranks",
                   fmt::format("{} on {} node{}, combined by {}", shared->ranks, shared->nodes,
                               shared->nodes == 1 ? "" : "s", shared->combined_by),
                   terminal_));
  }
  if (terminal_.present) {
    print(time_lines(result, terminal_));
    for (const Result& variant : result.other_variants)
      print(time_lines(variant, terminal_));
  } else if (result.ms) {
    print(labelled("time", "the median of " + samples_text(result), terminal_));
  }
  print(labelled("result", variant_text(result) + verdict_text(result, terminal_), terminal_));
  for (const Result& variant : result.other_variants)
    print(labelled("", variant_text(variant) + verdict_text(variant, terminal_), terminal_));
  if (result.counters()) tell_counters(result);
  if (!terminal_.present) print("\n");
}

void Report::tell_counters(const Result& result) {
  const bool is_comparable = compared_ && compared_->counters();
  // That the CPU counts nothing goes without saying.
  if (compared_ && !is_comparable && compared_->device.kind != DeviceKind::cpu) {
    print(
        labelled("note", fmt::format("{} counted nothing: nothing to compare", compared_->step), terminal_));
  }
  if (!compared_ || !terminal_.present) print("\n");
  print(counter_report(result, is_comparable ? compared_ : std::nullopt, terminal_));
  if (!is_comparable && terminal_.present && result.counters()->shared_wavefronts() > 0)
    print(paragraph("A wavefront is one turn of the 32 banks; lanes in conflict take several.", terminal_));
}

ExitCode Report::finish() {
  if (interrupted_) return ExitCode::interrupted;
  if (!std::all_of(results_.begin(), results_.end(), std::mem_fn(&Result::verified)))
    return ExitCode::wrong_result;
  if (terminal_.present && !quiet_ && !json_file_.is_given() && !results_.empty()) {
    const std::string reading = reading_text(results_.front().step);
    if (!reading.empty()) print(fmt::format("\n{}", paragraph(reading, terminal_)));
  }
  return ExitCode::verified;
}

std::string Report::json() const { return sweep_ ? json_text(results_) : json_text(results_.front()); }

void Report::print_rows(const Table& table) {
  if (!table_) {
    table_.emplace(table, terminal_);
    print(table_->header());
  }
  for (const Row& row : table.rows)
    print(table_->row(row));
}

void Report::print(const std::string& text) {
  if (progress_shown_) reduction::print(stderr, erase_line);
  progress_shown_ = false;
  reduction::print(out_, text);
}

}  // namespace reduction
