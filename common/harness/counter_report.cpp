#include "harness/counter_report.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace reduction {

namespace {

using emulated::Counters;

/// A row of the table.
struct Row {
  std::string_view name;
  std::uint64_t (*count)(const Counters&);
  bool always = true;  ///< also where it is 0 in both runs
};

std::uint64_t shared_requests(const Counters& c) { return c.shared_load_requests + c.shared_store_requests; }
std::uint64_t shared_lanes(const Counters& c) { return c.shared_load_lanes + c.shared_store_lanes; }
std::uint64_t shared_wavefronts(const Counters& c) {
  return c.shared_load_wavefronts + c.shared_store_wavefronts;
}
std::uint64_t shared_conflicts(const Counters& c) {
  return c.shared_load_conflicts + c.shared_store_conflicts;
}
std::uint64_t global_requests(const Counters& c) { return c.global_load_requests + c.global_store_requests; }
std::uint64_t global_sectors(const Counters& c) { return c.global_load_sectors + c.global_store_sectors; }

constexpr std::array rows{
    Row{"blocks", [](const Counters& c) { return c.blocks; }},
    Row{"block barriers", [](const Counters& c) { return c.block_barriers; }},
    Row{"warp barriers", [](const Counters& c) { return c.warp_barriers; }},
    Row{"shared memory requests", shared_requests},
    Row{"shared memory wavefronts", shared_wavefronts},
    Row{"of these, bank conflicts", shared_conflicts},
    Row{"global memory requests", global_requests},
    Row{"global memory sectors", global_sectors},
    Row{"shuffles", [](const Counters& c) { return c.shuffles; }, false},
    Row{"atomics", [](const Counters& c) { return c.atomics; }, false},
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

}  // namespace

std::string counter_table(const CountedRun& run, const std::optional<CountedRun>& other) {
  std::string text = "| counted | total | per block | per element |";
  if (other) text += fmt::format(" per element in {} | change |", other->step);
  text += other ? "\n|:--|--:|--:|--:|--:|:--|\n" : "\n|:--|--:|--:|--:|\n";
  for (const Row& row : rows) {
    const std::uint64_t total = row.count(run.counters);
    if (!row.always && total == 0 && (!other || row.count(other->counters) == 0)) continue;
    const double per_element = ratio(total, run.elements);
    text += fmt::format("| {} | {} | {:.4g} | {:.4g} |", row.name, total, ratio(total, run.counters.blocks),
                        per_element);
    if (other) {
      const double before = ratio(row.count(other->counters), other->elements);
      text += fmt::format(" {:.4g} | {} |", before, change_text(before, per_element));
    }
    text += "\n";
  }
  const auto lanes_per_request = [](const Counters& c) { return ratio(shared_lanes(c), shared_requests(c)); };
  const double lanes = lanes_per_request(run.counters);
  text += fmt::format("| active lanes per shared request | {:.2f} | | |", lanes);
  if (other) {
    const double before = lanes_per_request(other->counters);
    text += fmt::format(" {:.2f} | {} |", before, change_text(before, lanes));
  }
  return text + "\n";
}

}  // namespace reduction
