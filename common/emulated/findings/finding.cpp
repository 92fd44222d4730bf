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

struct Words {
  std::string_view name, pitfall;
};

Words words_of(Fault fault) {
  switch (fault) {
    case Fault::race: return {"race", "no_barrier_between_levels"};
    case Fault::missing_fence: return {"missing fence", "no_fence_behind_the_ticket"};
    case Fault::missed_barrier: return {"missed barrier", "barrier_for_working_threads"};
    case Fault::divergent_barrier: return {"divergent barrier", "barrier_in_each_branch"};
    case Fault::deadlock: return {"deadlock", "barrier_in_each_branch"};
    case Fault::invalid_mask: return {"invalid mask", "shuffles_without_their_lanes"};
    case Fault::inactive_lane: return {"shuffle from an inactive lane", "shuffles_without_their_lanes"};
    case Fault::invalid_width: return {"invalid width", "shuffles_without_their_lanes"};
    case Fault::misaligned: return {"misaligned access", "vector_load_of_a_part"};
    case Fault::out_of_bounds: return {"out of bounds", "unguarded_second_load"};
    case Fault::unfinished_copy: return {"unfinished copy", "copy_read_before_it_is_there"};
    case Fault::uninitialised_read: return {"uninitialised read", "count_in_place_of_bytes"};
    case Fault::endless_loop: return {"endless loop", "endless_loop"};
    case Fault::wait_for_block: return {"wait for another block", "waits_for_a_later_block"};
    case Fault::stack_overflow: return {"stack overflow", "what_ends_a_thread"};
    case Fault::undefined_arithmetic: return {"undefined arithmetic", "what_ends_a_thread"};
    case Fault::invalid_call: return {"invalid call", "what_ends_a_thread"};
    case Fault::trap: return {"trap", "what_ends_a_thread"};
    case Fault::failed_call: return {"failed call", "launch_that_nobody_checks"};
    case Fault::host_access: return {"host access", "device_memory_on_the_host"};
    case Fault::missing_synchronisation: return {"missing synchronisation", "result_read_too_soon"};
  }
  return {"fault", "README"};
}

}  // namespace

std::string_view name_of(Fault fault) { return words_of(fault).name; }
std::string_view pitfall_of(Fault fault) { return words_of(fault).pitfall; }

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
