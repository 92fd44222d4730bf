#include "harness/counter_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "harness/steps.hpp"
#include "harness/table.hpp"
#include "harness/units.hpp"

namespace reduction {

namespace {

using __emulated::Counters;

/// Returns what all passes of a result counted together.
Counters counters_of(const Result& result) { return result.counters().value_or(Counters{}); }

/// A row of the table.
struct Count {
  std::string_view name;
  std::uint64_t (*of)(const Counters&);
  bool always = true;  ///< also where it is 0 in both runs
};

constexpr std::array counts{
    Count{"blocks", [](const Counters& c) { return c.blocks; }},
    Count{"block barriers", [](const Counters& c) { return c.block_barriers; }},
    Count{"warp barriers", [](const Counters& c) { return c.warp_barriers; }},
    Count{"shared memory requests", [](const Counters& c) { return c.shared_requests(); }},
    Count{"shared memory wavefronts", [](const Counters& c) { return c.shared_wavefronts(); }},
    Count{"of these, bank conflicts", [](const Counters& c) { return c.shared_conflicts(); }},
    Count{"global memory requests", [](const Counters& c) { return c.global_requests(); }},
    Count{"global memory sectors", [](const Counters& c) { return c.global_sectors(); }},
    Count{"wavefronts of asynchronous copies", [](const Counters& c) { return c.shared_copy_wavefronts; },
          false},
    Count{"bytes copied in bulk", [](const Counters& c) { return c.bulk_copy_bytes; }, false},
    Count{"polls of barrier objects", [](const Counters& c) { return c.barrier_polls; }, false},
    Count{"shuffles", [](const Counters& c) { return c.shuffles; }, false},
    Count{"atomics", [](const Counters& c) { return c.atomics; }, false},
};

double ratio(std::uint64_t count, std::uint64_t of) {
  return of > 0 ? static_cast<double>(count) / static_cast<double>(of) : 0.0;
}

/// Says by which factor one value becomes the other: "÷ 3.3", "× 2", "same".
std::string change_text(double before, double after) {
  if (before == after) return "same";
  if (before == 0) return "new";
  if (after == 0) return "gone";
  const double factor = after / before;
  if (factor > 0.9995 && factor < 1.0005) return "same";
  return factor < 1 ? fmt::format("÷ {:.3g}", 1 / factor) : fmt::format("× {:.3g}", factor);
}

/// Says whether two values differ by less than a tenth.
bool same(double a, double b) { return std::abs(a - b) < 0.1 * std::max(a, b) || a == b; }

/// Returns all counters, in total, per block and per element.
Table all_counters(const Result& run, const std::optional<Result>& other) {
  Table table{{{"counted", Align::left},
               {"total"},
               {"per block", Align::right, 9},
               {"per element", Align::right, 11}},
              {}};
  if (other) {
    table.columns.push_back({fmt::format("per element in {}", other->step)});
    table.columns.push_back({"change", Align::left});
  }
  const Counters here = counters_of(run);
  const Counters before = other ? counters_of(*other) : Counters{};
  const auto add = [&](Row row, const char* pattern, double value, double value_before) {
    if (other) {
      row.push_back(fmt::format(fmt::runtime(pattern), value_before));
      row.push_back(change_text(value_before, value));
    }
    table.rows.push_back(row);
  };
  for (const Count& count : counts) {
    const std::uint64_t total = count.of(here);
    if (!count.always && total == 0 && count.of(before) == 0) continue;
    const double per_element = ratio(total, run.input.n);
    add({std::string(count.name), fmt::to_string(total), fmt::format("{:.4g}", ratio(total, here.blocks)),
         fmt::format("{:.4g}", per_element)},
        "{:.4g}", per_element, other ? ratio(count.of(before), other->input.n) : 0);
  }
  const double lanes = here.lanes_per_shared_request();
  add({"active lanes per shared request", fmt::format("{:.2f}", lanes), "", ""}, "{:.2f}", lanes,
      before.lanes_per_shared_request());
  return table;
}

/// Names a count where it does not stand below the wavefronts.
std::string_view full_name(const Count& count) {
  return count.name == "of these, bank conflicts" ? "shared memory bank conflicts" : count.name;
}

/// Returns what changed from another step by a tenth or more: per block, or where blocks take other numbers of
/// elements per element, so that a larger tile does not look like more work.
std::string changes(const Result& run, const Result& other, const Terminal& terminal) {
  const Counters before = counters_of(other);
  const Counters here = counters_of(run);
  const bool same_tile = same(ratio(before.blocks, other.input.n), ratio(here.blocks, run.input.n));
  const std::string_view unit = same_tile ? " per block" : " per element";
  Table table{{{"", Align::left}, {"", Align::left}, {""}, {""}, {""}, {"", Align::left}}, {}};
  const auto compare = [&](const std::string& name, double value_before, double value, const char* pattern) {
    if (same(value_before, value)) return;
    table.rows.push_back(
        {table.rows.empty() ? "change" : "", name, fmt::format(fmt::runtime(pattern), value_before), "→",
         fmt::format(fmt::runtime(pattern), value), strong(change_text(value_before, value), terminal)});
  };
  for (const Count& count : counts) {
    compare(fmt::format("{}{}", full_name(count), unit),
            ratio(count.of(before), same_tile ? before.blocks : other.input.n),
            ratio(count.of(here), same_tile ? here.blocks : run.input.n), "{:.4g}");
  }
  compare("active lanes per shared request", before.lanes_per_shared_request(),
          here.lanes_per_shared_request(), "{:.2f}");

  const TableLayout layout(table, terminal);
  std::string text;
  for (const Row& row : table.rows)
    text += layout.row(row);
  if (table.rows.empty()) {
    const StepFacts* const facts = find_step(run.step);
    const std::string saved =
        facts == nullptr ? "" : fmt::format("; {}/README.md has the instructions that it saves", facts->page);
    text = labelled("change", "nothing that is counted here" + saved, terminal);
  }
  if (run.input.n != other.input.n) {
    text += paragraph(fmt::format("{} was run over {} elements, this over {}.", other.step,
                                  count_text(other.input.n), count_text(run.input.n)),
                      terminal);
  }
  return text;
}

}  // namespace

std::string counter_report(const Result& run, const std::optional<Result>& other, const Terminal& terminal) {
  if (terminal.present && other) return changes(run, *other, terminal);
  return to_text(all_counters(run, other), terminal);
}

}  // namespace reduction
