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

/// Says whether it is a step that goes on from the one before it, and ran on a GPU.
bool is_rung(const Result& result) {
  return on_gpu(result) && (is_of(result, Part::ladder) || is_of(result, Part::beyond));
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

double wavefronts_per_element(const Result& result) {
  const auto counters = result.counters();
  return counters ? static_cast<double>(counters->shared_wavefronts()) / static_cast<double>(result.input.n)
                  : 0;
}

/// Returns the table of results that the emulated device counted. On a terminal, bars show the wavefronts.
std::string counted_ladder(const Results& results, const Terminal& terminal) {
  const bool in_sweep = is_sweep(results);
  // Beside the columns of a sweep, a terminal has no room for these.
  const Form both = in_sweep ? Form::markdown : Form::both;
  double longest = 0;
  for (const Result& result : results)
    longest = std::max(longest, wavefronts_per_element(result));
  Table table;
  for (const Result& result : results) {
    begin_row(table, result, in_sweep);
    // Bold where it is not what the step before has.
    const auto add = [&](const Column& column, const std::string& text) {
      const std::size_t k = table.columns.size();
      const std::string before = table.rows.size() > 1 ? table.rows.end()[-2][k].text : "–";
      table.add(column, {text, before != "–" && before != text});
    };
    const auto c = result.counters();
    const auto per_block = [&](std::uint64_t count) {
      const double blocks = std::max(1.0, static_cast<double>(result.blocks()));
      return c ? fmt::format("{:.4g}", static_cast<double>(count) / blocks) : "–";
    };
    const __emulated::Counters counters = c.value_or(__emulated::Counters{});
    const bool planned = !result.passes.empty();
    table.add({"passes", Align::right, Form::markdown}, planned ? fmt::to_string(result.passes.size()) : "–");
    add({"blocks", Align::right, both}, planned ? fmt::to_string(result.blocks()) : "–");
    add({"block barriers per block", Align::right, both, "barriers per block"},
        per_block(counters.block_barriers));
    add({"shared requests per block", Align::right, both, "requests per block"},
        per_block(counters.shared_requests()));
    add({"lanes per request", Align::right, Form::markdown},
        c ? fmt::format("{:.2f}", counters.lanes_per_shared_request()) : "–");
    add({"wavefronts per block"}, per_block(counters.shared_wavefronts()));
    const double per_element = wavefronts_per_element(result);
    add({"wavefronts per element", Align::right, Form::markdown},
        c ? fmt::format("{:.4f}", per_element) : "–");
    const double length = longest > 0 ? per_element / longest : 0;
    const double conflicts = static_cast<double>(counters.shared_conflicts()) /
                             std::max(1.0, static_cast<double>(counters.shared_wavefronts()));
    table.add({"shared memory wavefronts per element", Align::left, Form::terminal},
              Bar{length * (1 - conflicts), length * conflicts});
    table.add_verified(result.verified(), terminal);
  }
  std::string text = to_text(table, terminal);
  if (terminal.present && longest > 0)
    text += paragraph("░ are the wavefronts that bank conflicts add.", terminal);
  return text;
}

/// Returns the table of results that were timed. On a terminal, bars show the share of the card's peak.
std::string timed_ladder(const Results& results, const Terminal& terminal) {
  const bool in_sweep = is_sweep(results);
  const Form both = in_sweep ? Form::markdown : Form::both;
  const bool has_peer = std::ranges::any_of(results, is_peer);
  Table table;
  for (const Result& result : results) {
    const std::span<const Result> until(results.data(), &result + 1);
    const auto first = [](const Result& other) { return other.step == first_on_a_device; };
    const auto earlier = [&](const Result& other) { return is_rung(other) && other.step != result.step; };
    const auto times_previous =
        is_rung(result) ? ratio(find_last(until, result, earlier), result) : std::nullopt;
    const auto percent = result.percent_of_peak();
    begin_row(table, result, in_sweep);
    table.add({"ms", Align::right, both}, result.ms ? fmt::format("{:.4f}", result.ms->median) : "–");
    table.add({"GB/s"}, or_dash(result.gbps(), 1));
    table.add({"% of peak", Align::right, both}, or_dash(percent, 1));
    table.add({"of the peak", Align::left, Form::terminal},
              percent ? Cell(Bar{*percent / 100, 0, true}) : Cell());
    // What changes less may come from one run to the next.
    table.add({"× previous", Align::right, Form::both, "× prev."},
              {or_dash(times_previous, 2), times_previous.value_or(0) >= 1.05});
    table.add({"× 01", Align::right, both}, or_dash(ratio(find_last(until, result, first), result), 2));
    if (has_peer) {
      const auto share = ratio(find_last(results, result, is_peer), result);
      table.add({"% of CUB", Align::right, both}, share ? fmt::format("{:.1f}", *share * 100) : "–");
    }
    table.add_verified(result.verified(), terminal);
  }
  return to_text(table, terminal);
}

/// Returns the same steps on the cards of the published tables, beside this one if it was timed. A terminal has no room
/// for those of a single step.
std::string published_ladder(const Results& results, const Terminal& terminal) {
  std::vector<PublishedTable> tables = published_tables();
  std::erase_if(tables, [&](const PublishedTable& table) {
    const auto has = [&](const StepFacts& step) { return find_published(table, step.name) != nullptr; };
    return terminal.present && std::ranges::count_if(steps, has) == 1;
  });
  const auto figure_text = [&](std::string_view percent, std::string_view gbps) {
    return gbps.empty() || terminal.present ? std::string(percent) : fmt::format("{} ({})", percent, gbps);
  };
  const auto timed = std::ranges::find_if(results, on_gpu);
  Table table;
  for (const Result& result : results) {
    if (on_cpu(result)) continue;
    table.begin_row();
    table.add({"step", Align::left}, result.step);
    if (timed != results.end()) {
      const std::string& card = timed->device.name;
      table.add({"here: " + card, Align::right, Form::both, "here\n" + card},
                figure_text(or_dash(result.percent_of_peak(), 1), or_dash(result.gbps(), 1)));
    }
    for (const auto& published : tables) {
      const auto& [label, gpu, input] = published;
      const PublishedFigure* const figure = find_published(published, result.step);
      table.add({fmt::format("{}: {}, {}", label, gpu, input), Align::right, Form::both,
                 fmt::format("{}\n{}\n{}", label, gpu, input)},
                figure == nullptr ? "–" : figure_text(figure->percent, figure->gbps));
    }
  }
  return to_text(table, terminal);
}

}  // namespace

std::string ladder_text(const std::vector<Result>& results, const Terminal& terminal) {
  const bool counted = std::ranges::any_of(results, on_emulated_device);
  const std::string tables = counted ? counted_ladder(results, terminal) : timed_ladder(results, terminal);
  if (is_sweep(results) || std::ranges::all_of(results, on_cpu)) return tables;
  const std::string published =
      fmt::format("{} figures, % of each card's peak{}; sources in docs/tables:",
                  terminal.present ? "Published" : "Documented", terminal.present ? "" : " (GB/s)");
  return tables + "\n" + paragraph(published, terminal) + "\n" + published_ladder(results, terminal);
}

}  // namespace reduction
