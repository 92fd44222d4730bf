#include "emulated/program/told_findings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <utility>

#include "emulated/findings/diagnostic.hpp"
#include "emulated/program/lines.hpp"
#include "emulated/program/summary.hpp"
#include "emulated/program/watch.hpp"

namespace emulated_program {
namespace {

using __emulated::Finding;

/// What makes a finding another one: its kind, kernel and lines.
std::string key_of(const Finding& finding) {
  std::string key = std::to_string(static_cast<int>(finding.fault)) + ' ' + finding.kernel;
  for (const __emulated::Witness& witness : finding.witnesses)
    key += ' ' + witness.location.file + ':' + std::to_string(witness.location.line);
  return key;
}

auto find_in(auto& known, const ToldFinding& seen) {
  return std::ranges::find(known, key_of(seen.finding),
                           [](const ToldFinding& each) { return key_of(each.finding); });
}

/// Says whether it is new among those.
bool add_to(std::vector<ToldFinding>& known, const ToldFinding& seen) {
  const auto same = find_in(known, seen);
  if (same == known.end()) {
    known.push_back(seen);
    return true;
  }
  same->launches += seen.launches;
  return false;
}

/// "a.cu:4, a.cu:8".
std::string lines_of(const Finding& finding) {
  std::string lines;
  for (const __emulated::Witness& witness : finding.witnesses) {
    const std::string line = place_text(witness.location);
    if (witness.location.line == 0 || line == lines) continue;
    lines += (lines.empty() ? "" : ", ") + line;
  }
  return lines;
}

}  // namespace

void ToldFindings::begin(const std::string& program, bool without_notes,
                         const std::string& file_of_earlier_runs) {
  program_ = program;
  without_notes_ = without_notes;
  file_ = file_of_earlier_runs;
  std::ifstream earlier{file_};
  for (std::string key; std::getline(earlier, key);)
    earlier_.insert(key);
}

void ToldFindings::write() const {
  std::ofstream told{file_};
  for (const std::string& key : earlier_)
    told << key << '\n';
  for (const ToldFinding& each : findings_)
    told << key_of(each.finding) << '\n';
}

void ToldFindings::add(const ToldFinding& seen) {
  if (!earlier_.contains(key_of(seen.finding)) && add_to(findings_, seen)) tell("error: ", seen.finding);
}

void ToldFindings::add_unsettled(const Finding& finding) { add_to(unsettled_, {finding, 1}); }

void ToldFindings::settle(bool are_results_used, const char* why_not) {
  for (const ToldFinding& each : std::exchange(unsettled_, {})) {
    if (are_results_used || find_in(findings_, each) != findings_.end()) {
      add(each);
    } else {
      add_note(each, why_not);
    }
  }
}

void ToldFindings::add_note(const ToldFinding& seen, const char* more) {
  if (!add_to(notes_, seen) || without_notes_) return;
  tell("note: ", seen.finding);
  if (more != nullptr) std::fprintf(stderr, "note: %s\n", more);
}

void ToldFindings::tell(const char* as, const Finding& finding) const {
  std::fflush(stdout);
  clear_progress();
  const std::string text = __emulated::diagnostic_of({finding}, isatty(STDERR_FILENO) != 0);
  std::fputs((program_ + ": " + as + text + '\n').c_str(), stderr);
}

std::string ToldFindings::summary(std::size_t launches) const {
  if (findings_.empty()) return "";
  const auto in_launches = [](const char* before, std::size_t count) {
    return count > 0 ? before + count_of(count, "launch", "launches") + '\n' : "\n";
  };
  std::string text =
      program_ + ": " + count_of(findings_.size(), "finding", "findings") + in_launches(" in ", launches);
  if (findings_.size() == 1) return text;
  for (const auto& [finding, seen] : findings_) {
    const std::string lines = lines_of(finding);
    text += "  " + (lines.empty() ? "" : lines + ": ") + std::string{name_of(finding.fault)} + " in " +
            finding.kernel + in_launches(", ", seen);
  }
  return text;
}

}  // namespace emulated_program
