#include "device/emulated/report.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "device/emulated/source_location.hpp"

namespace reduction::emulated {
namespace {

void erase_all(std::string& text, std::string_view part) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part))
    text.erase(at, part.size());
}

/// "void reduce_kernel<unsigned int>(…)" without what says nothing to a reader.
std::string kernel_name(const void* kernel) {
  std::string name = locate(kernel).function;
  if (name.empty()) return "a kernel";
  // A parameter list is in the outermost parentheses, template arguments in front of it.
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0 && name.compare(i, 21, "(anonymous namespace)") != 0) {
      name.resize(i);
      break;
    }
  }
  // Demanglers write the space that C++ needed before 2011.
  for (auto at = name.find("> >"); at != std::string::npos; at = name.find("> >"))
    name.erase(at + 1, 1);
  erase_all(name, "void ");
  erase_all(name, "reduction::emulated::");
  erase_all(name, "(anonymous namespace)::");
  return name;
}

Place place_of(const ThreadAction& witness) {
  if (witness.call_site == nullptr) return {witness.line.file, witness.line.line};
  // The call is the instruction before the one to which it returns.
  return locate(static_cast<const std::byte*>(witness.call_site) - 1).place;
}

bool is_of_a_race(const void* call_site, const std::vector<FaultRecord>& records) {
  return std::ranges::any_of(records, [&](const FaultRecord& seen) {
    return seen.fault == Fault::race && std::ranges::any_of(seen.actions, [&](const ThreadAction& witness) {
             return witness.call_site == call_site;
           });
  });
}

}  // namespace

std::vector<FaultRecord> FaultLog::take() {
  seen_.clear();
  // Whether the read or the write of a race came first is luck: that the read may have found nothing is no fault
  // of its own.
  std::vector<FaultRecord> kept;
  for (const FaultRecord& seen : records_) {
    const bool by_luck =
        seen.fault == Fault::uninitialised_read && is_of_a_race(seen.actions.front().call_site, records_);
    if (!by_luck) kept.push_back(seen);
  }
  records_.clear();
  return kept;
}

std::vector<Finding> findings_from(const std::vector<FaultRecord>& records, const void* kernel) {
  const std::string name = kernel_name(kernel);
  std::vector<Finding> findings;
  for (const FaultRecord& seen : records) {
    Finding finding{seen.fault, {}, {}};
    std::ostringstream text;
    text << name_of(seen.fault) << " in " << name;
    const char* separator = ": ";
    for (const ThreadAction& witness : seen.actions) {
      finding.places.push_back(place_of(witness));
      text << separator << "block " << witness.block << ", " << witness.threads << ' ' << witness.action;
      if (!seen.memory.empty()) text << ' ' << (&witness == &seen.actions.front() ? seen.memory : "it");
      if (finding.places.back() != Place{}) text << " at " << to_string(finding.places.back());
      separator = "; ";
    }
    finding.text = std::move(text).str();
    std::erase(finding.places, Place{});
    std::ranges::sort(finding.places);
    const bool known = std::ranges::any_of(findings, [&](const Finding& other) {
      return other.fault == finding.fault && other.places == finding.places;
    });
    if (!known) findings.push_back(std::move(finding));
  }
  return findings;
}

std::string describe_threads(const std::vector<unsigned>& numbers) {
  std::ostringstream text;
  text << (numbers.size() == 1 ? "thread " : "threads ");
  for (std::size_t i = 0; i < numbers.size();) {
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

}  // namespace reduction::emulated
