#include "device/emulated/report.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <utility>

#include "device/emulated/source_location.hpp"

namespace reduction::emulated {
namespace {

/// The places of all witnesses of all records, looked up at once.
std::map<const void*, Place> places_of(const std::vector<FaultRecord>& records) {
  std::vector<const void*> call_sites;
  std::vector<const void*> instructions;
  for (const FaultRecord& seen : records) {
    for (const ThreadAction& witness : seen.actions) {
      if (witness.call_site == nullptr) continue;
      call_sites.push_back(witness.call_site);
      // The call is the instruction before the one to which it returns.
      instructions.push_back(static_cast<const std::byte*>(witness.call_site) - 1);
    }
  }
  const std::vector<CodeLocation> locations = locate(instructions);
  std::map<const void*, Place> places;
  for (std::size_t i = 0; i < call_sites.size(); ++i) {
    if (!locations[i].frames.empty()) places[call_sites[i]] = locations[i].frames.front();
  }
  return places;
}

/// A finding is told from others by its lines.
std::vector<std::pair<std::string, unsigned>> lines_of(const Finding& finding) {
  std::vector<std::pair<std::string, unsigned>> lines;
  for (const Witness& witness : finding.witnesses) {
    if (witness.place != Place{}) lines.emplace_back(witness.place.file, witness.place.line);
  }
  std::ranges::sort(lines);
  return lines;
}

std::string text_of(const Finding& finding) {
  std::ostringstream text;
  text << name_of(finding.fault) << " in " << (finding.kernel.empty() ? "a kernel" : finding.kernel);
  const char* separator = ": ";
  for (const Witness& witness : finding.witnesses) {
    text << separator << "block " << witness.block << ", " << describe_threads(witness.threads) << ' '
         << witness.action;
    if (!finding.memory.empty())
      text << ' ' << (&witness == &finding.witnesses.front() ? finding.memory : "it");
    if (witness.place != Place{}) text << " at " << to_string(witness.place);
    separator = "; ";
  }
  return std::move(text).str();
}

bool is_of_a_race(const void* call_site, const std::vector<FaultRecord>& records) {
  return std::ranges::any_of(records, [&](const FaultRecord& seen) {
    return seen.fault == Fault::race && std::ranges::any_of(seen.actions, [&](const ThreadAction& witness) {
             return witness.call_site == call_site;
           });
  });
}

}  // namespace

std::string kernel_name(const void* kernel) {
  const std::string function = locate(kernel).function;
  int depth = 0;
  std::string name;
  for (const char c : function) {
    if (c == '<') ++depth;
    if (depth == 0) {
      // "(anonymous namespace)::" begins like a parameter list, and ends like any other scope.
      if (c == '(' && !name.empty()) break;
      const bool is_of_name = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
      if (is_of_name) {
        name += c;
      } else {
        name.clear();
      }
    }
    if (c == '>') --depth;
  }
  return name;
}

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
  std::map<const void*, Place> places = places_of(records);
  std::vector<Finding> findings;
  for (const FaultRecord& seen : records) {
    Finding finding{seen.fault, name, seen.memory, {}, {}, {}, {}};
    for (const ThreadAction& action : seen.actions) {
      const Place place =
          action.call_site != nullptr ? places[action.call_site] : Place{action.line.file, action.line.line};
      finding.witnesses.push_back({action.action, action.block, action.threads, action.call_site, place});
    }
    finding.text = text_of(finding);
    const bool known = std::ranges::any_of(findings, [&](const Finding& other) {
      return other.fault == finding.fault && lines_of(other) == lines_of(finding);
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
