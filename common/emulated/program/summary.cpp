#include "emulated/program/summary.hpp"

#include <cstdint>
#include <sstream>
#include <utility>

#include "emulated/count/warp_instructions.hpp"
#include "emulated/program/lines.hpp"

namespace emulated_program {
namespace {

using __emulated::Counters;
using __emulated::dim3;
using __emulated::EventKind;

/// "256" or "16 × 16".
std::string shape(const dim3& of) {
  std::string text = grouped(of.x);
  if (of.y > 1 || of.z > 1) text += " × " + grouped(of.y);
  if (of.z > 1) text += " × " + grouped(of.z);
  return text;
}

/// In the order of a table.
constexpr std::pair<const char*, EventKind> rows[] = {{"shared loads", EventKind::shared_load},
                                                      {"shared stores", EventKind::shared_store},
                                                      {"shared copies", EventKind::shared_copy},
                                                      {"global loads", EventKind::global_load},
                                                      {"global stores", EventKind::global_store}};

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3;)
    digits.insert(i -= 3, 1, ',');
  return digits;
}

std::string ratio(std::uint64_t number, std::uint64_t to) {
  const std::uint64_t tenths = (10 * number + to / 2) / to;
  return grouped(tenths / 10) + '.' + std::to_string(tenths % 10);
}

std::string count_of(std::size_t count, const std::string& one, const std::string& more) {
  return grouped(count) + ' ' + (count == 1 ? one : more);
}

std::string summary_of(const KernelRuns& kernel) {
  const Counters& counted = kernel.counters;
  std::ostringstream lines;
  const auto cell = [&](const std::string& text, std::size_t width) {
    lines << std::string(width > text.size() ? width - text.size() : 1, ' ') << text;
  };
  lines << (kernel.name.empty() ? "a kernel" : kernel.name) << ": "
        << count_of(kernel.launches, "launch", "launches") << ", " << (kernel.is_only ? "" : "the first ")
        << "<<<" << shape(kernel.first.grid) << ", " << shape(kernel.first.block);
  if (kernel.first.shared_bytes > 0) lines << ", " << grouped(kernel.first.shared_bytes);
  lines << ">>>; " << count_of(counted.blocks, "block", "blocks") << '\n';
  cell("", 15);
  for (const char* name : {"requests", "wavefronts", "conflicts", "sectors", "lanes each"})
    cell(name, 13);
  lines << '\n';
  for (const auto& [name, kind] : rows) {
    const __emulated::RequestCounters& row = __emulated::request_counters[static_cast<std::size_t>(kind)];
    const std::uint64_t requests = counted.*row.requests;
    if (requests == 0) continue;
    lines << "  " << name << std::string(13 - std::string{name}.size(), ' ');
    cell(grouped(requests), 13);
    cell(row.wavefronts != nullptr ? grouped(counted.*row.wavefronts) : "", 13);
    cell(row.conflicts != nullptr ? grouped(counted.*row.conflicts) : "", 13);
    cell(row.sectors != nullptr ? grouped(counted.*row.sectors) : "", 13);
    cell(ratio(counted.*row.lanes, requests), 13);
    lines << '\n';
  }
  lines << "  " << count_of(counted.block_barriers, "block barrier", "block barriers") << ", "
        << count_of(counted.warp_barriers, "warp barrier", "warp barriers") << ", "
        << count_of(counted.shuffles, "shuffle", "shuffles") << ", "
        << count_of(counted.atomics, "atomic", "atomics") << '\n';
  if (counted.bulk_copy_bytes + counted.barrier_polls != 0) {
    lines << "  " << count_of(counted.bulk_copy_bytes, "byte", "bytes") << " copied in bulk, "
          << count_of(counted.barrier_polls, "poll", "polls") << " of barrier objects\n";
  }
  lines << costly_lines_of(lines_of(kernel.places));
  return std::move(lines).str();
}

}  // namespace emulated_program
