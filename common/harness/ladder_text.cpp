#include "harness/ladder_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "harness/published_figures.hpp"
#include "harness/steps.hpp"
#include "harness/table.hpp"
#include "harness/units.hpp"

namespace reduction {

namespace {

using Results = std::vector<Result>;

bool on_gpu(const Result& result) { return result.device.kind == DeviceKind::cuda; }
bool on_emulated_device(const Result& result) { return result.device.kind == DeviceKind::emulated; }
bool on_cpu(const Result& result) { return result.device.kind == DeviceKind::cpu; }

bool is_of(const Result& result, Part part) {
  const StepFacts* const facts = find_step(result.step);
  return facts != nullptr && facts->part == part;
}

/// The library that the steps are compared with, run_ladder.sh's last row on a CUDA device.
bool is_peer(const Result& result) { return is_of(result, Part::peer); }

/// Says whether it is a step that goes on from the one before it, and ran on a device.
bool is_rung(const Result& result) {
  return !on_cpu(result) && (is_of(result, Part::ladder) || is_of(result, Part::beyond));
}

/// Says whether two results are sums of as many elements of the same type.
bool same_input(const Result& a, const Result& b) { return a.type == b.type && a.input.n == b.input.n; }

/// Says whether any step has several results, or any two results have another type or number of elements.
bool is_sweep(const Results& results) {
  std::set<std::string_view> steps;
  for (const Result& result : results) {
    if (!same_input(result, results.front()) || !steps.insert(result.step).second) return true;
  }
  return false;
}

/// Finds the last of some results that is accepted and has the same input; of its step's results, the one in blocks of
/// the same size if there is one. Null if there is none.
template <typename Accept>
const Result* find_last(std::span<const Result> results, const Result& like, const Accept& accepts) {
  const Result* found = nullptr;
  for (const Result& other : results) {
    if (!same_input(other, like) || !accepts(other)) continue;
    const bool is_better = found == nullptr || found->step != other.step || found->block != like.block;
    if (is_better || other.block == like.block) found = &other;
  }
  return found;
}

/// Returns the median time of `slow` as a multiple of that of `fast`, which ran on a GPU.
std::optional<double> ratio(const Result* slow, const Result& fast) {
  if (slow == nullptr || !on_gpu(fast) || !slow->ms || !fast.ms) return std::nullopt;
  return slow->ms->median / fast.ms->median;
}

/// Begins a row with its step, and in a sweep with what else its results differ in.
void begin_row(Table& table, const Result& result, bool in_sweep) {
  table.begin_row();
  table.add({"step", Align::left}, result.step);
  if (!in_sweep) return;
  table.add({"type", Align::left}, std::string(to_string(result.type)));
  table.add({"elements"}, count_text(result.input.n));
  table.add({"block"}, result.block > 0 ? fmt::to_string(result.block) : "–");
}

/// Returns a count of a result as a share of its elements; 0 where it has none.
double per_element(const Result& result, std::uint64_t count) {
  return result.input.n > 0 ? static_cast<double>(count) / static_cast<double>(result.input.n) : 0;
}

double wavefronts_per_element(const Result& result) {
  return per_element(result, result.counters().value_or(__emulated::Counters{}).shared_wavefronts());
}

/// Returns the table of results that the emulated device counted. On a terminal it is per element, as blocks may take
/// different numbers of them, and bars show the wavefronts.
std::string counted_ladder(const Results& results, const Terminal& terminal) {
  const bool in_sweep = is_sweep(results);
  double longest = 0;
  for (const Result& result : results)
    longest = std::max(longest, wavefronts_per_element(result));
  Table table;
  for (const Result& result : results) {
    const auto c = result.counters();
    const __emulated::Counters counters = c.value_or(__emulated::Counters{});
    const auto of_elements = [&](std::uint64_t count) {
      return c ? fmt::format("{:.4f}", per_element(result, count)) : "–";
    };
    const auto of_blocks = [&](std::uint64_t count) {
      const double blocks = std::max(1.0, static_cast<double>(result.blocks()));
      return c ? fmt::format("{:.4g}", static_cast<double>(count) / blocks) : "–";
    };
    const bool planned = !result.passes.empty();
    const std::string blocks = planned ? fmt::to_string(result.blocks()) : "–";
    begin_row(table, result, in_sweep);
    if (!terminal.present) {
      table.add({"passes"}, planned ? fmt::to_string(result.passes.size()) : "–");
      table.add({"blocks"}, blocks);
      table.add({"block barriers per block"}, of_blocks(counters.block_barriers));
      table.add({"shared requests per block"}, of_blocks(counters.shared_requests()));
      table.add({"lanes per request"}, c ? fmt::format("{:.2f}", counters.lanes_per_shared_request()) : "–");
      table.add({"wavefronts per block"}, of_blocks(counters.shared_wavefronts()));
    } else if (!in_sweep) {  // beside whose columns there is no room
      table.add({"blocks"}, blocks);
      table.add({"barriers"}, of_elements(counters.block_barriers));
      table.add({"requests"}, of_elements(counters.shared_requests()));
    }
    table.add({terminal.present ? "wavefronts" : "wavefronts per element"},
              of_elements(counters.shared_wavefronts()));
    if (terminal.present && longest > 0) {
      const double conflicts = per_element(result, counters.shared_conflicts());
      table.add({"░ in conflict", Align::left},
                Bar{(wavefronts_per_element(result) - conflicts) / longest, conflicts / longest});
    }
    table.add_verified(result.verified(), terminal);
  }
  return to_text(table, terminal);
}

/// Returns the table of results that were timed. On a terminal, bars show the share of the card's peak.
std::string timed_ladder(const Results& results, const Terminal& terminal) {
  const bool in_sweep = is_sweep(results);
  const bool in_full = !in_sweep || !terminal.present;  // beside a sweep's columns a terminal has no room
  const bool has_peer = std::ranges::any_of(results, is_peer);
  Table table;
  for (const Result& result : results) {
    const std::span<const Result> until(results.data(), &result + 1);
    const auto first = [](const Result& other) { return other.step == first_on_a_device; };
    const auto earlier = [&](const Result& other) { return is_rung(other) && other.step != result.step; };
    const auto times_previous =
        is_rung(result) ? ratio(find_last(until, result, earlier), result) : std::nullopt;
    const std::string previous = or_dash(times_previous, 2);
    const auto percent = result.percent_of_peak();
    begin_row(table, result, in_sweep);
    if (in_full) table.add({"ms"}, result.ms ? fmt::format("{:.4f}", result.ms->median) : "–");
    table.add({"GB/s"}, or_dash(result.gbps(), 1));
    if (in_full) table.add({"% of peak"}, or_dash(percent, 1));
    if (terminal.present)
      table.add({"of the peak", Align::left}, percent ? Cell(Bar{*percent / 100, 0, true}) : Cell());
    // What changes less may come from one run to the next.
    table.add({terminal.present ? "× prev." : "× previous"},
              times_previous.value_or(0) >= 1.05 ? strong(previous, terminal) : previous);
    if (in_full) table.add({"× 01"}, or_dash(ratio(find_last(until, result, first), result), 2));
    if (in_full && has_peer) {
      const auto share = ratio(find_last(results, result, is_peer), result);
      table.add({"% of CUB"}, share ? fmt::format("{:.1f}", *share * 100) : "–");
    }
    table.add_verified(result.verified(), terminal);
  }
  return to_text(table, terminal);
}

/// "07" of 07_cascade; other names stay.
std::string_view short_name(std::string_view step) {
  return step.starts_with("0") || step.starts_with("1") ? step.substr(0, 2) : step;
}

/// Returns the same steps on the cards of the published tables: a table of the ladder's, then one of the others.
std::string published_ladder(const Results& results, const Terminal& terminal) {
  std::string tables;
  for (const bool of_the_ladder : {true, false}) {
    Table table;
    for (const PublishedTable& published : published_tables()) {
      const auto& [label, gpu, input] = published;
      const std::string_view card = gpu.substr(gpu.starts_with("NVIDIA ") ? 7 : 0);
      bool has_figures = false;
      table.begin_row();
      table.add({"card, source", Align::left},
                fmt::format("{}, {}{}", card, label, terminal.present ? "" : fmt::format(", {}", input)));
      for (const Result& result : results) {
        if (on_cpu(result) || is_of(result, Part::ladder) != of_the_ladder) continue;
        const PublishedFigure* const figure = find_published(published, result.step);
        has_figures = has_figures || figure != nullptr;
        const bool with_speed = figure != nullptr && !figure->gbps.empty() && !terminal.present;
        table.add({std::string(short_name(result.step))},
                  figure == nullptr ? "–"
                  : with_speed      ? fmt::format("{} ({})", figure->percent, figure->gbps)
                                    : std::string(figure->percent));
      }
      if (!has_figures) table.rows.pop_back();
    }
    if (!table.rows.empty()) tables += (terminal.present ? "" : "\n") + to_text(table, terminal);
  }
  if (tables.empty()) return "";
  return paragraph(fmt::format("Published figures, % of each card's peak{}; sources in docs/tables:",
                               terminal.present ? "" : " (GB/s)"),
                   terminal) +
         tables + "\n";
}

/// Says what the results are of, and what the columns for terminals count.
std::string title(const Results& results, const Terminal& terminal) {
  const Result& last = results.back();
  std::string text = "Your run: " + last.device.name;
  if (!is_sweep(results)) text += fmt::format(", {} {}", count_text(last.input.n), to_string(last.type));
  if (terminal.present && on_emulated_device(last)) text += "; blocks, and counts per element";
  return strong(text, terminal);
}

/// Says what has changed from one step to another; nothing where neither counts nor times tell.
std::string change_text(const Result& from, const Result& to) {
  const auto [first, last] = std::pair(short_name(from.step), short_name(to.step));
  if (from.counters() && to.counters()) {
    return fmt::format("{} took {:.4f} wavefronts per element, {} takes {:.4f}. ", first,
                       wavefronts_per_element(from), last, wavefronts_per_element(to));
  }
  if (!from.gbps() || !to.gbps()) return "";
  const auto percent = to.percent_of_peak();
  return fmt::format("{} reached {:.1f} GB/s, {} reaches {:.1f}{}. ", first, *from.gbps(), last, *to.gbps(),
                     percent ? fmt::format(", {:.1f} % of the peak", *percent) : "");
}

/// Says what has changed over the ladder, and whether all sums are right.
std::string conclusion(const Results& results, const Terminal& terminal) {
  const auto first = std::ranges::find_if(results, is_rung);
  const auto last = std::find_if(results.rbegin(), results.rend(), is_rung);
  const bool has_change = first != results.end() && first->step != last->step && !is_sweep(results);
  std::string wrong;
  for (const Result& result : results)
    if (!result.verified()) wrong += (wrong.empty() ? "WRONG: " : ", ") + result.step;
  return (has_change ? change_text(*first, *last) : "") +
         (wrong.empty() ? green("All sums are right.", terminal) : red(wrong + ".", terminal));
}

}  // namespace

std::string ladder_text(const std::vector<Result>& results, const Terminal& terminal) {
  const bool counted = std::ranges::any_of(results, on_emulated_device);
  const bool has_published = !is_sweep(results) && !std::ranges::all_of(results, on_cpu);
  const std::string gap = terminal.present ? "" : "\n";  // Markdown takes one around a table
  return (has_published ? published_ladder(results, terminal) : "") + title(results, terminal) + "\n" + gap +
         (counted ? counted_ladder(results, terminal) : timed_ladder(results, terminal)) + gap +
         paragraph(conclusion(results, terminal), terminal);
}

}  // namespace reduction
