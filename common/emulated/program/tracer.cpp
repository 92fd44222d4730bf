#include "emulated/program/tracer.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "emulated/findings/report.hpp"
#include "emulated/program/guessed_values.hpp"
#include "emulated/program/summary.hpp"
#include "emulated/trace/trace_json.hpp"
#include "explorer/explorer_page.hpp"

namespace emulated_program {
namespace {

using __emulated::Finding;

bool is_of_block(const Finding& finding, std::size_t block) {
  return std::ranges::find(finding.witnesses, block, &__emulated::Witness::block) != finding.witnesses.end();
}

}  // namespace

std::optional<std::size_t> Tracer::block_of(const std::string& kernel) {
  if (!is_meant(kernel) || ++launches_ != choice_.launch.value_or(1)) return std::nullopt;
  return choice_.block.value_or(0);
}

void Tracer::ended(const std::string& kernel, const __emulated::LaunchResult& result) {
  if (!is_meant(kernel)) return;
  if (result.trace != nullptr) {
    trace_ = result.trace;
    launch_ = launches_;
  }
  if (finding_ || launches_ != choice_.launch.value_or(launches_)) return;
  // Of the block that is traced, as far as there is a choice.
  const std::size_t block = choice_.block.value_or(0);
  for (const auto* const findings : {&result.findings, &result.unsettled}) {
    for (const Finding& finding : *findings) {
      const bool is_here = is_of_block(finding, block);
      if (finding_ ? !is_here : choice_.block && !is_here) continue;
      const std::size_t of_finding = is_here ? block : finding.witnesses.front().block;
      finding_ = TraceChoice{choice_.file, choice_.kernel, launches_, of_finding};
    }
  }
}

std::optional<TraceChoice> Tracer::elsewhere() const {
  if (!finding_ || (trace_ != nullptr && finding_->launch == launch_ && finding_->block == trace_->block))
    return std::nullopt;
  return finding_;
}

std::string Tracer::write(const std::string& program) const {
  if (trace_ == nullptr)
    throw std::runtime_error{"--trace " + choice_.text() + ": no launch has such a block"};
  const std::string kernel = __emulated::kernel_name(trace_->kernel);
  const std::string json = trace_json(*trace_, {program, kernel, guessed_type(*trace_), guessed_value});
  const bool is_page = choice_.file.ends_with(".html");
  std::ofstream file{choice_.file};
  file << (is_page ? reduction::explorer_page('[' + json + ']') : json);
  if (!file.flush()) throw std::runtime_error{choice_.file + " cannot be written"};
  return choice_.file + ": block " + std::to_string(trace_->block) + " of launch " + std::to_string(launch_) +
         " of " + kernel + ", " + count_of(trace_->events.size(), "event", "events") +
         (trace_->truncated ? ", the rest left out" : "") + (is_page ? "; open it in a browser" : "");
}

}  // namespace emulated_program
