#include "harness/counter_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

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

/// Returns all counters, in total, per block and per element.
Table all_counters(const Result& run, const std::optional<Result>& other) {
  Table table{{{"counted", Align::left}, {"total"}, {"per block"}, {"per element"}}, {}};
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

/// Returns what changed from another step, per block, and after it in a sentence what did not.
std::string changes(const Result& run, const Result& other, const Terminal& terminal) {
  Table table{{{"per block", Align::left}, {other.step}, {"here"}, {"change", Align::left}}, {}};
  std::string unchanged;
  const auto compare = [&](std::string_view name, double before, double here, const char* pattern) {
    const std::string change = change_text(before, here);
    const std::string text = fmt::format(fmt::runtime(pattern), here);
    // × 1 and ÷ 1 are none: a last block that is not full changes the fourth digit.
    if (change != "same" && !change.ends_with(" 1")) {
      table.rows.push_back(
          {std::string(name), fmt::format(fmt::runtime(pattern), before), text, {change, true}});
    } else if (here != 0) {
      unchanged += fmt::format("{}{} {}", unchanged.empty() ? "" : ", ", name, text);
    }
  };
  const Counters before = counters_of(other);
  const Counters here = counters_of(run);
  // Each block counts itself once; of these, it is the total that a step changes.
  compare("blocks in total", static_cast<double>(before.blocks), static_cast<double>(here.blocks), "{:.0f}");
  for (const Count& count : counts) {
    if (count.name != "blocks") {
      compare(full_name(count), ratio(count.of(before), before.blocks), ratio(count.of(here), here.blocks),
              "{:.4g}");
    }
  }
  compare("active lanes per shared request", before.lanes_per_shared_request(),
          here.lanes_per_shared_request(), "{:.2f}");

  std::string text = to_text(table, terminal);
  if (table.rows.empty())
    text =
        paragraph(fmt::format("Per block, nothing that is counted differs from {}.", other.step), terminal);
  if (!unchanged.empty()) text += paragraph(fmt::format("The same: {}.", unchanged), terminal);
  if (run.input.n != other.input.n) {
    text += paragraph(fmt::format("{} was run over {} elements, this over {}.", other.step,
                                  count_text(other.input.n), count_text(run.input.n)),
                      terminal);
  }
  return text;
}

double wavefronts_per_block(const Result& run) {
  return ratio(counters_of(run).shared_wavefronts(), counters_of(run).blocks);
}

double conflicts_per_block(const Result& run) {
  return ratio(counters_of(run).shared_conflicts(), counters_of(run).blocks);
}

/// Draws the wavefronts of a block in shared memory, and how many of them are bank conflicts.
std::string wavefront_bars(const std::vector<Result>& runs, const Terminal& terminal) {
  double longest = 0;
  double conflicts = 0;
  for (const Result& run : runs) {
    longest = std::max(longest, wavefronts_per_block(run));
    conflicts = std::max(conflicts, conflicts_per_block(run));
  }
  if (longest == 0) return "";
  const std::string name =
      fmt::format("shared memory wavefronts per block, {} bank conflicts", conflicts > 0 ? "░" : "no");
  Table table{{{"step", Align::left}, {name, Align::left}, {"count"}}, {}};
  for (const Result& run : runs) {
    const double all = wavefronts_per_block(run);
    const double of_conflicts = conflicts_per_block(run);
    table.rows.push_back(
        {run.step, Bar{(all - of_conflicts) / longest, of_conflicts / longest}, fmt::format("{:.4g}", all)});
  }
  return fmt::format("\n{}", to_text(table, terminal));
}

}  // namespace

std::string counter_report(const Result& run, const std::optional<Result>& other, const Terminal& terminal) {
  if (!terminal.present || !other) {
    const std::string table = to_text(all_counters(run, other), terminal);
    return terminal.present ? table + wavefront_bars({run}, terminal) : table;
  }
  const bool differs = change_text(wavefronts_per_block(*other), wavefronts_per_block(run)) != "same" ||
                       change_text(conflicts_per_block(*other), conflicts_per_block(run)) != "same";
  return changes(run, *other, terminal) + (differs ? wavefront_bars({*other, run}, terminal) : "");
}

}  // namespace reduction
