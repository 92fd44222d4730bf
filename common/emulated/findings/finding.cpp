#include "emulated/findings/finding.hpp"

#include <sstream>
#include <utility>

namespace __emulated {
namespace {

std::string lines_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (!text.empty()) text += '\n';
    text += finding.text;
  }
  return text;
}

}  // namespace

std::string_view name_of(Fault fault) {
  switch (fault) {
    case Fault::race: return "race";
    case Fault::missing_fence: return "missing fence";
    case Fault::missed_barrier: return "missed barrier";
    case Fault::divergent_barrier: return "divergent barrier";
    case Fault::deadlock: return "deadlock";
    case Fault::invalid_mask: return "invalid mask";
    case Fault::inactive_lane: return "shuffle from an inactive lane";
    case Fault::invalid_width: return "invalid width";
    case Fault::misaligned: return "misaligned access";
    case Fault::out_of_bounds: return "out of bounds";
    case Fault::unfinished_copy: return "unfinished copy";
    case Fault::uninitialised_read: return "uninitialised read";
    case Fault::endless_loop: return "endless loop";
    case Fault::wait_for_block: return "wait for another block";
    case Fault::stack_overflow: return "stack overflow";
    case Fault::undefined_arithmetic: return "undefined arithmetic";
    case Fault::invalid_call: return "invalid call";
    case Fault::trap: return "trap";
    case Fault::host_access: return "host access";
    case Fault::missing_synchronisation: return "missing synchronisation";
  }
  return "fault";
}

std::string_view pitfall_of(Fault fault) {
  switch (fault) {
    case Fault::race: return "no_barrier_between_levels";
    case Fault::missing_fence: return "no_fence_behind_the_ticket";
    case Fault::missed_barrier: return "barrier_for_working_threads";
    case Fault::divergent_barrier:
    case Fault::deadlock: return "barrier_in_each_branch";
    case Fault::invalid_mask:
    case Fault::inactive_lane:
    case Fault::invalid_width: return "shuffles_without_their_lanes";
    case Fault::misaligned: return "vector_load_of_a_part";
    case Fault::out_of_bounds: return "unguarded_second_load";
    case Fault::unfinished_copy: return "copy_read_before_it_is_there";
    case Fault::uninitialised_read: return "count_in_place_of_bytes";
    case Fault::endless_loop: return "endless_loop";
    case Fault::wait_for_block: return "waits_for_a_later_block";
    case Fault::stack_overflow:
    case Fault::undefined_arithmetic:
    case Fault::invalid_call:
    case Fault::trap: return "what_ends_a_thread";
    case Fault::host_access: return "device_memory_on_the_host";
    case Fault::missing_synchronisation: return "result_read_too_soon";
  }
  return "README";
}

std::string page_of(std::string_view pitfall) { return "docs/pitfalls/" + std::string{pitfall} + ".md"; }

std::string to_string(const SourceLocation& location) {
  if (location.line == 0) return "a line that only a build with debug information names";
  const auto name = location.file.rfind('/');
  const auto directory = name == std::string::npos || name == 0 ? name : location.file.rfind('/', name - 1);
  const std::string file =
      directory == std::string::npos ? location.file : location.file.substr(directory + 1);
  return file + ':' + std::to_string(location.line);
}

std::string describe_numbers(std::string_view thing, const std::vector<unsigned>& numbers) {
  std::ostringstream text;
  text << thing << (numbers.size() == 1 ? " " : "s ");
  constexpr int most_ranges = 8;
  int ranges = 0;
  for (std::size_t i = 0; i < numbers.size(); ++ranges) {
    if (ranges == most_ranges) {
      text << " and " << numbers.size() - i << " more";
      break;
    }
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
      ++last;
    if (i != 0) text << ", ";
    text << numbers[i];
    if (last != i) text << '-' << numbers[last];
    i = last + 1;
  }
  return std::move(text).str();
}

KernelFinding::KernelFinding(std::vector<Finding> findings)
    : std::runtime_error{lines_of(findings)}, findings_{std::move(findings)} {}

}  // namespace __emulated
