#include "emulated/program/summary_json.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "emulated/program/lines.hpp"

namespace emulated_program {
namespace {

using __emulated::Counters;
using Json = nlohmann::ordered_json;

/// Nsight Compute's name of a counter, from Turing to Blackwell.
struct Metric {
  const char* name;
  std::uint64_t Counters::*counter;
};

constexpr Metric metrics[] = {
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", &Counters::shared_load_wavefronts},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", &Counters::shared_store_wavefronts},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", &Counters::shared_load_conflicts},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", &Counters::shared_store_conflicts},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", &Counters::global_load_requests},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", &Counters::global_store_requests},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", &Counters::global_load_sectors},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", &Counters::global_store_sectors},
};

void put_counters(const Counters& counters, Json& json) {
  for (const __emulated::NamedCounter& named : __emulated::counter_names)
    if (named.is_in_json(counters)) json["counters"][std::string{named.name}] = counters.*named.counter;
  for (const Metric& metric : metrics)
    json["nsight_compute"][metric.name] = counters.*metric.counter;
}

Json shape(const __emulated::dim3& of) { return Json::array({of.x, of.y, of.z}); }

Json json_of(const CountedLine& line) {
  const auto& [counters, fewest_sectors] = line.counted;
  Json json{{"file", line.location.file}, {"line", line.location.line}, {"code", code_at(line.location)}};
  put_counters(counters, json);
  // As the source page of Nsight Compute has them.
  json["nsight_compute"]["memory_l1_wavefronts_shared"] = counters.shared_wavefronts();
  json["nsight_compute"]["memory_l1_wavefronts_shared_ideal"] =
      counters.shared_wavefronts() - counters.shared_conflicts();
  json["nsight_compute"]["memory_l2_theoretical_sectors_global"] = counters.global_sectors();
  json["nsight_compute"]["memory_l2_theoretical_sectors_global_ideal"] = fewest_sectors;
  return json;
}

Json json_of(const KernelRuns& kernel) {
  Json json{{"kernel", kernel.name},
            {"launches", kernel.launches},
            {"grid", shape(kernel.first.grid)},
            {"block", shape(kernel.first.block)},
            {"shared_bytes", kernel.first.shared_bytes}};
  put_counters(kernel.counters, json);
  json["lines"] = Json::array();
  for (const CountedLine& line : lines_of(kernel.places))
    json["lines"].push_back(json_of(line));
  return json;
}

Json json_of(const ToldFinding& told) {
  const __emulated::Finding& finding = told.finding;
  Json json{{"kind", name_of(finding.fault)}, {"kernel", finding.kernel},  {"launches", told.launches},
            {"memory", finding.memory},       {"text", finding.text},      {"help", finding.help},
            {"page", finding.page},           {"witnesses", Json::array()}};
  for (const __emulated::Witness& witness : finding.witnesses) {
    json["witnesses"].push_back({{"action", witness.action},
                                 {"block", witness.block},
                                 {"threads", witness.threads},
                                 {"file", witness.location.file},
                                 {"line", witness.location.line},
                                 {"column", witness.location.column}});
  }
  return json;
}

std::string text_of(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

std::string json_of(const std::string& program, std::span<const KernelRuns> kernels,
                    std::span<const ToldFinding> findings, std::span<const ToldFinding> notes) {
  Json json{{"program", program},
            {"device", "emulated"},
            {"kernels", Json::array()},
            {"findings", Json::array()},
            {"notes", Json::array()}};
  for (const KernelRuns& kernel : kernels)
    json["kernels"].push_back(json_of(kernel));
  for (const ToldFinding& told : findings)
    json["findings"].push_back(json_of(told));
  for (const ToldFinding& told : notes)
    json["notes"].push_back(json_of(told));
  return text_of(json);
}

std::string with_findings(const std::string& file, std::span<const ToldFinding> findings) {
  std::ifstream written{file};
  Json json = Json::parse(written, nullptr, false);
  if (!json.is_object()) throw std::runtime_error{file + " cannot be read again"};
  for (const ToldFinding& told : findings)
    json["findings"].push_back(json_of(told));
  return text_of(json);
}

}  // namespace emulated_program
