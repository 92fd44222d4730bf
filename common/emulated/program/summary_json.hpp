#pragma once
#include <span>
#include <string>

#include "emulated/program/summary.hpp"
#include "emulated/program/told_findings.hpp"

namespace emulated_program {

/// What `--json` writes: kernels with their counters, also by Nsight Compute's names, findings and notes.
std::string json_of(const std::string& program, std::span<const KernelRuns> kernels,
                    std::span<const ToldFinding> findings, std::span<const ToldFinding> notes);

/// The same as a file has it, with findings of a further run.
std::string with_findings(const std::string& file, std::span<const ToldFinding> findings);

}  // namespace emulated_program
