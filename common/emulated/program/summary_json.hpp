#pragma once
#include <span>
#include <string>

#include "emulated/findings/finding.hpp"
#include "emulated/program/summary.hpp"

namespace emulated_program {

/// What `--json` writes: kernels with their counters, also by Nsight Compute's names, and findings.
std::string json_of(const std::string& program, std::span<const KernelRuns> kernels,
                    std::span<const __emulated::Finding> findings);

}  // namespace emulated_program
