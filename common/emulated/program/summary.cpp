#include "emulated/program/summary.hpp"

#include <cstdint>
#include <sstream>
#include <utility>

#include "emulated/program/lines.hpp"

namespace emulated_program {
namespace {

using __emulated::Counters;
using __emulated::dim3;

/// "256" or "16 × 16".
std::string shape(const dim3& of) {
  std::string text = grouped(of.x);
  if (of.y > 1 || of.z > 1) text += " × " + grouped(of.y);
  if (of.z > 1) text += " × " + grouped(of.z);
  return text;
}

struct AccessRow {
  const char* name;
  std::uint64_t Counters::*requests;
  std::uint64_t Counters::*lanes;
  std::uint64_t Counters::*wavefronts;  ///< of shared memory, or nullptr
  std::uint64_t Counters::*conflicts;
  std::uint64_t Counters::*sectors;  ///< of global memory, or nullptr
};

constexpr AccessRow rows[] = {
    {"shared loads", &Counters::shared_load_requests, &Counters::shared_load_lanes,
     &Counters::shared_load_wavefronts, &Counters::shared_load_conflicts, nullptr},
    {"shared stores", &Counters::shared_store_requests, &Counters::shared_store_lanes,
     &Counters::shared_store_wavefronts, &Counters::shared_store_conflicts, nullptr},
    {"shared copies", &Counters::shared_copy_requests, &Counters::shared_copy_lanes,
     &Counters::shared_copy_wavefronts, &Counters::shared_copy_conflicts, nullptr},
    {"global loads", &Counters::global_load_requests, &Counters::global_load_lanes, nullptr, nullptr,
     &Counters::global_load_sectors},
    {"global stores", &Counters::global_store_requests, &Counters::global_store_lanes, nullptr, nullptr,
     &Counters::global_store_sectors},
};

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
  for (const AccessRow& row : rows) {
    const std::uint64_t requests = counted.*row.requests;
    if (requests == 0) continue;
    lines << "  " << row.name << std::string(13 - std::string{row.name}.size(), ' ');
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
