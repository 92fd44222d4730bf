#include "harness/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/published_figures.hpp"
#include "harness/result_json.hpp"
#include "harness/steps.hpp"
#include "harness/table.hpp"
#include "harness/units.hpp"

namespace reduction {

namespace {

using Results = std::vector<Result>;

bool on_gpu(const Result& result) { return result.device.kind == DeviceKind::cuda; }
/// Says whether it did not run on the CPU, as step 00 does.
bool on_device(const Result& result) { return result.device.kind != DeviceKind::cpu; }

bool is_first(const Result& result) { return result.step == first_on_a_device; }

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

/// The last column says whether a result is right.
Column verified_column() { return {"verified", Align::left, Form::both, "sum right"}; }

Cell verified(const Result& result, const Terminal& terminal) {
  if (result.verified()) return "yes";
  return {terminal.present ? "NO" : "**NO**", true};
}

/// Says whether two results are sums of as many elements of the same type.
bool same_input(const Result& a, const Result& b) { return a.type == b.type && a.input.n == b.input.n; }

bool same_block(const Result& a, const Result& b) { return a.block == b.block; }

/// Finds the nearest step before results[k] that is accepted and has the same input; of its results, the one in blocks
/// of the same size if there is one. Null if there is no such step.
template <typename Accept>
const Result* find_before(const Results& results, std::size_t k, const Accept& accepts) {
  const Result& result = results[k];
  const Result* found = nullptr;
  while (k-- > 0) {
    const Result& other = results[k];
    if (other.step == result.step || !same_input(other, result) || !accepts(other)) continue;
    if (found != nullptr && other.step != found->step) break;
    if (found == nullptr || same_block(other, result)) found = &other;
    if (same_block(*found, result)) break;
  }
  return found;
}

/// Returns the median time of `slow` as a multiple of that of `fast`.
std::optional<double> ratio(const Result* slow, const Result* fast) {
  if (slow == nullptr || fast == nullptr || !slow->ms || !fast->ms) return std::nullopt;
  return slow->ms->median / fast->ms->median;
}

/// Says whether every step has one result, all of them of one type and number of elements: no sweep.
bool same_configuration(const Results& results) {
  std::vector<std::string> steps;
  for (const Result& result : results) {
    if (!same_input(result, results.front())) return false;
    if (std::find(steps.begin(), steps.end(), result.step) != steps.end()) return false;
    steps.push_back(result.step);
  }
  return true;
}

/// What the results differ in beside their step, as cells of a row: nothing, or in a sweep type, elements and block.
class Configurations {
 public:
  explicit Configurations(const Results& results) : several_(!same_configuration(results)) {}

  void add_columns(Table& table) const {
    if (!several_) return;
    table.columns.push_back({"type", Align::left});
    table.columns.push_back({"elements"});
    table.columns.push_back({"block"});
  }

  void add_cells(Row& row, const Result& result) const {
    if (!several_) return;
    row.push_back(std::string(to_string(result.type)));
    row.push_back(count_text(result.input.n));
    row.push_back(result.block > 0 ? fmt::to_string(result.block) : "–");
  }

  /// Returns which form has the columns for which a terminal has no room beside these.
  Form form_of_what_can_be_spared() const { return several_ ? Form::markdown : Form::both; }

 private:
  bool several_;
};

/// What a row shows of what was counted.
struct Counted {
  explicit Counted(const Result& result) {
    const std::optional<emulated::Counters> counters = result.counters();
    if (!counters) return;
    const emulated::Counters& c = *counters;
    const double blocks = std::max(1.0, static_cast<double>(result.blocks()));
    const double elements = std::max(1.0, static_cast<double>(result.input.n));
    const auto requests = static_cast<double>(c.shared_load_requests + c.shared_store_requests);
    const auto all_lanes = static_cast<double>(c.shared_load_lanes + c.shared_store_lanes);
    const auto all_wavefronts = static_cast<double>(c.shared_load_wavefronts + c.shared_store_wavefronts);
    const auto conflicts = static_cast<double>(c.shared_load_conflicts + c.shared_store_conflicts);
    barriers = fmt::format("{:.4g}", static_cast<double>(c.block_barriers) / blocks);
    shared_requests = fmt::format("{:.4g}", requests / blocks);
    lanes = fmt::format("{:.2f}", requests > 0 ? all_lanes / requests : 0.0);
    wavefronts = fmt::format("{:.4g}", all_wavefronts / blocks);
    per_element = all_wavefronts / elements;
    conflicts_per_element = conflicts / elements;
  }

  std::string barriers = "–";
  std::string shared_requests = "–";
  std::string lanes = "–";
  std::string wavefronts = "–";
  std::optional<double> per_element;
  double conflicts_per_element = 0;
};

std::string published_cell(const PublishedTable& table, const std::string& step, const Terminal& terminal) {
  const PublishedFigure* const figure = find_published(table, step);
  if (figure == nullptr) return "–";
  return figure->gbps.empty() || terminal.present ? std::string(figure->percent)
                                                  : fmt::format("{} ({})", figure->percent, figure->gbps);
}

/// Returns the table of results that the emulated device counted. On a terminal, bars show the wavefronts.
std::string counted_ladder(const Results& results, const Terminal& terminal) {
  const Configurations configurations(results);
  Table table{{{"step", Align::left}}, {}};
  configurations.add_columns(table);
  const Form both = configurations.form_of_what_can_be_spared();
  const std::string bars = "shared memory wavefronts per element";
  for (const Column& column :
       {Column{"passes", Align::right, Form::markdown}, Column{"blocks", Align::right, both},
        Column{"block barriers per block", Align::right, both, "barriers per block"},
        Column{"shared requests per block", Align::right, both, "requests per block"},
        Column{"lanes per request", Align::right, Form::markdown}, Column{"wavefronts per block"},
        Column{"wavefronts per element", Align::right, Form::markdown},
        Column{bars, Align::left, Form::terminal}, verified_column()}) {
    table.columns.push_back(column);
  }
  std::vector<Counted> counted;
  double longest = 0;
  for (const Result& result : results) {
    counted.emplace_back(result);
    longest = std::max(longest, counted.back().per_element.value_or(0));
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    const Result& result = results[k];
    const std::size_t passes = result.passes.size();
    const Counted& cells = counted[k];
    Row row{result.step};
    configurations.add_cells(row, result);
    row.push_back(passes == 0 ? "–" : fmt::to_string(passes));
    for (const std::string& text :
         {passes == 0 ? "–" : fmt::to_string(result.blocks()), cells.barriers, cells.shared_requests,
          cells.lanes, cells.wavefronts, or_dash(cells.per_element, 4)}) {
      // Bold where it is not what the step before has.
      const std::string before = table.rows.empty() ? "–" : table.rows.back()[row.size()].text;
      row.push_back({text, before != "–" && before != text});
    }
    const double scale = longest > 0 ? 1 / longest : 0;
    row.push_back(Bar{(cells.per_element.value_or(0) - cells.conflicts_per_element) * scale,
                      cells.conflicts_per_element * scale});
    row.push_back(verified(result, terminal));
    table.rows.push_back(row);
  }
  std::string text = to_text(table, terminal);
  if (terminal.present && longest > 0)
    text += paragraph("░ are the wavefronts that bank conflicts add.", terminal);
  return text;
}

/// Returns the same steps on the cards of these tables, beside this one if it was timed.
Table beside_published(const Results& results, const std::vector<PublishedTable>& tables,
                       const Terminal& terminal) {
  const auto timed = std::find_if(results.begin(), results.end(), on_gpu);
  Table table{{{"step", Align::left}}, {}};
  if (timed != results.end()) {
    const std::string& card = timed->device.name;
    table.columns.push_back({"here: " + card, Align::right, Form::both, "here\n" + card});
  }
  for (const PublishedTable& published : tables) {
    table.columns.push_back({fmt::format("{}: {}, {}", published.label, published.gpu, published.input),
                             Align::right, Form::both,
                             fmt::format("{}\n{}\n{}", published.label, published.gpu, published.input)});
  }
  for (const Result& result : results) {
    if (!on_device(result)) continue;
    Row row{result.step};
    if (timed != results.end()) {
      const std::string percent = or_dash(result.percent_of_peak(), 1);
      row.push_back(terminal.present ? percent : fmt::format("{} ({})", percent, or_dash(result.gbps(), 1)));
    }
    for (const PublishedTable& published : tables)
      row.push_back(published_cell(published, result.step, terminal));
    table.rows.push_back(row);
  }
  return table;
}

/// Returns that table as text. A terminal that is too narrow for all of them does without those of a single step.
std::string published_ladder(const Results& results, const Terminal& terminal) {
  std::vector<PublishedTable> tables = published_tables();
  const Table all = beside_published(results, tables, terminal);
  if (!terminal.present || TableLayout(all, terminal).width() <= terminal.columns)
    return to_text(all, terminal);
  std::erase_if(tables, [&](const PublishedTable& table) {
    return std::ranges::count_if(results, [&](const Result& result) {
             return find_published(table, result.step) != nullptr;
           }) == 1;
  });
  return to_text(beside_published(results, tables, terminal), terminal);
}

/// Returns the table of results that were timed. On a terminal, bars show the share of the card's peak.
std::string timed_ladder(const Results& results, const Terminal& terminal) {
  const Configurations configurations(results);
  const Form both = configurations.form_of_what_can_be_spared();
  const bool has_cub = std::any_of(results.begin(), results.end(), is_peer);
  Table table{{{"step", Align::left}}, {}};
  configurations.add_columns(table);
  table.columns.push_back({"ms", Align::right, both});
  table.columns.push_back({"GB/s"});
  table.columns.push_back({"% of peak", Align::right, both});
  table.columns.push_back({"of the peak", Align::left, Form::terminal});
  table.columns.push_back({"× previous", Align::right, Form::both, "× prev."});
  table.columns.push_back({"× 01", Align::right, both});
  if (has_cub) table.columns.push_back({"% of CUB", Align::right, both});
  table.columns.push_back(verified_column());
  for (std::size_t k = 0; k < results.size(); ++k) {
    const Result& result = results[k];
    std::optional<double> times_previous;
    std::optional<double> times_first;
    std::optional<double> share_of_cub;
    if (is_rung(result)) times_previous = ratio(find_before(results, k, is_rung), &result);
    if (on_gpu(result)) {
      times_first = ratio(is_first(result) ? &result : find_before(results, k, is_first), &result);
      const auto cub = std::find_if(results.begin(), results.end(), [&](const Result& other) {
        return is_peer(other) && same_input(other, result);
      });
      if (const auto of_cub = ratio(cub != results.end() ? &*cub : nullptr, &result))
        share_of_cub = *of_cub * 100;
    }
    const std::optional<double> percent = result.percent_of_peak();
    Row row{result.step};
    configurations.add_cells(row, result);
    row.push_back(or_dash(result.ms ? std::optional(result.ms->median) : std::nullopt, 4));
    row.push_back(or_dash(result.gbps(), 1));
    row.push_back(or_dash(percent, 1));
    row.push_back(percent ? Cell(Bar{*percent / 100, 0, true}) : Cell());
    // What changes less may come from one run to the next.
    row.push_back({or_dash(times_previous, 2), times_previous.value_or(0) >= 1.05});
    row.push_back(or_dash(times_first, 2));
    if (has_cub) row.push_back(or_dash(share_of_cub, 1));
    row.push_back(verified(result, terminal));
    table.rows.push_back(row);
  }
  return to_text(table, terminal);
}

Ladder make_ladder(const Results& results, const Terminal& terminal) {
  const bool counted = std::any_of(results.begin(), results.end(), [](const Result& result) {
    return result.device.kind == DeviceKind::emulated;
  });
  Ladder ladder{counted ? counted_ladder(results, terminal) : timed_ladder(results, terminal), "",
                std::ranges::all_of(results, &Result::verified)};
  if (same_configuration(results) && std::ranges::any_of(results, on_device)) {
    ladder.tables += "\n";
    ladder.tables +=
        terminal.present
            ? paragraph("Published figures, % of each card's peak; sources in docs/tables:", terminal)
            : "Documented figures, % of each card's peak (GB/s); sources in docs/tables:\n";
    ladder.tables += "\n" + published_ladder(results, terminal);
  }
  return ladder;
}

}  // namespace

Ladder read_ladder(const std::vector<std::string>& files, const Terminal& terminal) {
  Results results;
  auto documents = nlohmann::ordered_json::array();
  for (const std::string& file : files) {
    const Results read = read_results(file, documents);
    results.insert(results.end(), read.begin(), read.end());
  }
  Ladder ladder = make_ladder(results, terminal);
  ladder.json = documents.dump(2) + '\n';
  return ladder;
}

}  // namespace reduction
