#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "emulated/count/place_counts.hpp"
#include "emulated/findings/finding.hpp"

namespace emulated_program {

/// What the loads and stores of one line have cost in a kernel.
struct CountedLine {
  __emulated::SourceLocation location;
  __emulated::PlaceCounters counted;
};

/// In the order of files and lines. What is in a header of the system counts for the line that calls it.
/// \param places  by call site.
std::vector<CountedLine> lines_of(const std::map<const void*, __emulated::PlaceCounters>& places);

/// "reduce.cu:17".
std::string place_text(const __emulated::SourceLocation& location);

/// The code of a line, without blanks around it; "" if it cannot be read.
std::string code_at(const __emulated::SourceLocation& location);

/// The lines that cost most, as a profiler's source view has them: by bank conflicts, by sectors beyond the fewest that could hold
/// what is accessed, and by idle lanes. "" if no line costs anything.
std::string costly_lines_of(std::span<const CountedLine> lines);

}  // namespace emulated_program
