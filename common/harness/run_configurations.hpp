#pragma once

#include <functional>
#include <vector>

#include "harness/configuration.hpp"
#include "harness/exit_code.hpp"
#include "harness/report.hpp"
#include "harness/result.hpp"

namespace reduction {

/// Measures one configuration after the other and reports each as soon as it is there. A sweep shows where it is, and
/// stops after the current result at Ctrl-C, with ExitCode::interrupted. Whatever ends it, an exception of `measure`
/// too, what was measured before is in the --json file.
ExitCode run_configurations(Report& report, const std::vector<Configuration>& planned,
                            const std::function<Result(const Configuration&)>& measure);

}  // namespace reduction
