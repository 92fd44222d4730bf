#include "harness/run_configurations.hpp"

#include <cstddef>
#include <optional>

#include "harness/interruption.hpp"

namespace reduction {

ExitCode run_configurations(Report& report, const std::vector<Configuration>& planned,
                            const std::function<Result(const Configuration&)>& measure) {
  // A single result is there or not: Ctrl-C may end it at once.
  std::optional<Interruption> interruption;
  if (planned.size() > 1) interruption.emplace();
  try {
    for (std::size_t k = 0; k < planned.size(); ++k) {
      if (interruption && interruption->requested()) {
        report.finish();
        return ExitCode::interrupted;
      }
      if (interruption) report.show_progress(planned[k], k + 1, planned.size());
      report.add(measure(planned[k]));
    }
  } catch (...) {
    report.finish();
    throw;
  }
  return report.finish();
}

}  // namespace reduction
