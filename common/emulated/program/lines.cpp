#include "emulated/program/lines.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>

#include "emulated/findings/source_location.hpp"
#include "emulated/findings/source_text.hpp"
#include "emulated/program/summary.hpp"
#include "emulated/run/lanes.hpp"

namespace emulated_program {
namespace {

using __emulated::Counters;
using __emulated::PlaceCounters;
using __emulated::SourceLocation;

std::uint64_t requests(const Counters& counters) {
  return counters.shared_requests() + counters.global_requests();
}
std::uint64_t all_lanes(const Counters& counters) { return __emulated::warp_size * requests(counters); }

/// "1,024", or nothing in place of a 0.
std::string text_unless_0(std::uint64_t number) { return number == 0 ? "" : grouped(number); }

std::uint64_t conflicts(const PlaceCounters& at) { return at.counters.shared_conflicts(); }
std::uint64_t extra_sectors(const PlaceCounters& at) {
  return at.counters.global_sectors() - at.fewest_sectors;
}
std::uint64_t idle_lanes(const PlaceCounters& at) { return all_lanes(at.counters) - at.counters.lanes(); }

/// What makes a line slow.
struct Cost {
  const char* title;
  std::uint64_t (*of)(const PlaceCounters&);
  std::uint64_t (*limit)(const Counters&);  ///< what it is a part of
  std::string (*text)(const PlaceCounters&);
};

constexpr Cost costs[] = {
    {"conflicts", conflicts, [](const Counters& all) { return all.shared_wavefronts(); },
     [](const PlaceCounters& at) { return text_unless_0(conflicts(at)); }},
    {"extra sectors", extra_sectors, [](const Counters& all) { return all.global_sectors(); },
     [](const PlaceCounters& at) { return text_unless_0(extra_sectors(at)); }},
    {"lanes each", idle_lanes, all_lanes,
     [](const PlaceCounters& at) { return ratio(at.counters.lanes(), requests(at.counters)); }},
};

constexpr std::size_t most_lines = 3;       ///< for each cost,
constexpr std::uint64_t least_share = 100;  ///< each with at least a hundredth of what there is

/// Puts into `costly` those with most of a cost, if they have any to speak of. Says whether there are such.
bool add_most_costly(const Cost& cost, std::span<const CountedLine> lines,
                     std::set<const CountedLine*>& costly) {
  Counters total;
  std::vector<const CountedLine*> most;
  for (const CountedLine& line : lines) {
    total += line.counted.counters;
    if (line.location.line != 0) most.push_back(&line);
  }
  std::erase_if(most, [&](const CountedLine* line) {
    const std::uint64_t own = cost.of(line->counted);
    return own == 0 || own * least_share < cost.limit(total);
  });
  std::ranges::stable_sort(most, std::greater{},
                           [&](const CountedLine* line) { return cost.of(line->counted); });
  most.resize(std::min(most.size(), most_lines));
  costly.insert(most.begin(), most.end());
  return !most.empty();
}

const SourceLocation& own_line(const std::vector<SourceLocation>& frames) {
  static const SourceLocation unknown;
  const auto own = std::ranges::find_if(frames, [](const SourceLocation& frame) {
    return !frame.file.starts_with("/usr/include/") && !frame.file.starts_with("/usr/lib");
  });
  if (own != frames.end()) return *own;
  return frames.empty() ? unknown : frames.front();
}

/// As much of the text as fits, in characters of UTF-8.
std::string cut(const std::string& text, std::size_t most) {
  std::size_t count = 0;
  std::size_t last = 0;  // where the last character begins that fits
  for (std::size_t at = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) continue;  // more of a character
    if (++count == most) last = at;
    if (count > most) return text.substr(0, last) + "…";
  }
  return text;
}

/// Adds a cell to each row, as wide as the widest.
void add_column(std::vector<std::string>& rows, const std::vector<std::string>& cells, bool is_number) {
  const std::size_t width = std::ranges::max(cells, {}, &std::string::size).size();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string blanks(width - cells[row].size(), ' ');
    rows[row] += "  " + (is_number ? blanks + cells[row] : cells[row] + blanks);
  }
}

}  // namespace

std::vector<CountedLine> lines_of(const std::map<const void*, PlaceCounters>& places) {
  std::vector<const void*> instructions;  // each before the one to which a call returns
  for (const auto& [call_site, counted] : places)
    instructions.push_back(static_cast<const std::byte*>(call_site) - 1);
  const auto found = __emulated::locate(instructions);
  std::map<SourceLocation, PlaceCounters> lines;
  std::size_t number = 0;
  for (const auto& [call_site, counted] : places) {
    SourceLocation line = own_line(found[number++].frames);
    line.column = 0;
    lines[line] += counted;
  }
  std::vector<CountedLine> in_order;
  for (const auto& [location, counted] : lines)
    in_order.push_back({location, counted});
  return in_order;
}

std::string place_text(const SourceLocation& location) {
  return std::filesystem::path{location.file}.filename().string() + ':' + std::to_string(location.line);
}

std::string code_at(const SourceLocation& location) {
  constexpr const char* blanks = " \t\r";
  std::string code = __emulated::source_line(location).value_or("");
  code.erase(0, code.find_first_not_of(blanks));
  code.erase(code.find_last_not_of(blanks) + 1);
  std::ranges::replace(code, '\t', ' ');
  return code;
}

std::string costly_lines_of(std::span<const CountedLine> lines) {
  std::set<const CountedLine*> costly;  // as they are in the source
  std::vector<const Cost*> shown;
  for (const Cost& cost : costs)
    if (add_most_costly(cost, lines, costly)) shown.push_back(&cost);
  std::vector<std::string> rows(costly.size() + 1);
  const auto add = [&](const char* title, bool is_number, const auto& cell) {
    std::vector<std::string> cells{title};
    std::ranges::transform(costly, std::back_inserter(cells), cell);
    add_column(rows, cells, is_number);
  };
  for (const Cost* const cost : shown)
    add(cost->title, true, [&](const CountedLine* line) { return cost->text(line->counted); });
  add("source", false, [](const CountedLine* line) { return place_text(line->location); });
  add("", false, [](const CountedLine* line) { return code_at(line->location); });
  std::string text;
  for (std::string& row : rows) {
    row.erase(row.find_last_not_of(' ') + 1);
    text += cut(row, most_columns) + '\n';
  }
  return costly.empty() ? "" : '\n' + text;
}

}  // namespace emulated_program
