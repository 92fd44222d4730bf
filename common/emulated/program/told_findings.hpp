#pragma once
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "emulated/findings/finding.hpp"

namespace emulated_program {

/// A finding, and in how many launches it was seen; 0 for one of the host.
struct ToldFinding {
  __emulated::Finding finding;
  std::size_t launches;
};

/// What is wrong with a program's kernels: each kind of fault at each pair of lines is told once, on stderr, when it is seen.
class ToldFindings {
 public:
  void begin(const std::string& program, bool without_notes, const std::string& file_of_earlier_runs);
  /// Tells later runs what this one has told.
  void write() const;

  void add(const ToldFinding& seen);
  /// What is no fault. \param more  to say behind it.
  void add_note(const ToldFinding& seen, const char* more = nullptr);

  /// A read of what nobody has written. It is a finding if anybody uses its launch's results, and a note if not.
  void add_unsettled(const __emulated::Finding& finding);
  /// `why_not` is what a note says where they are not.
  void settle(bool are_results_used,
              const char* why_not = "nobody has used what the launch wrote: it was written over");

  std::span<const ToldFinding> findings() const { return findings_; }
  std::span<const ToldFinding> notes() const { return notes_; }

  /// How many there are, and how often each was seen. "" if there is none.
  std::string summary(std::size_t launches) const;

 private:
  void tell(const char* as, const __emulated::Finding& finding) const;

  std::string program_;
  bool without_notes_ = false;
  std::string file_;
  std::set<std::string> earlier_;  ///< which earlier runs have told
  std::vector<ToldFinding> findings_, notes_, unsettled_;
};

}  // namespace emulated_program
