#include "emulated/findings/host_faults.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "emulated/findings/source_location.hpp"
#include "emulated/order/host_order.hpp"

namespace __emulated {
namespace {

/// Whether this program's file has the code, and no library.
bool is_in_the_program(const void* code) {
  Dl_info of_code{}, of_this{};
  static const char here = 0;
  return dladdr(code, &of_code) != 0 && dladdr(&here, &of_this) != 0 &&
         of_code.dli_fbase == of_this.dli_fbase;
}

/// The innermost of the calls that is at a line of the user's.
std::optional<std::pair<const void*, CodeLocation>> own_place(const std::vector<const void*>& calls) {
  for (const void* const call : calls) {
    const void* const instruction = static_cast<const std::byte*>(call) - 1;
    if (!is_in_the_program(instruction)) continue;
    const CodeLocation place = locate(instruction);
    if (std::ranges::any_of(place.frames, is_of_the_program)) return std::pair{call, place};
  }
  return std::nullopt;
}

bool is_new(Fault fault, const void* call) {
  static std::mutex mutex;
  static auto& seen =
      *std::make_unique<std::set<std::pair<Fault, const void*>>>().release();  // to the very end
  const std::lock_guard lock{mutex};
  return seen.emplace(fault, call).second;
}

}  // namespace

std::optional<Finding> finding_from(const HostAccess& access) {
  Finding finding{Fault::host_access,
                  "a library",
                  access.memory,
                  {{{}, 0, access.releases ? "releases" : verb_of(access.operation)}},
                  "",
                  "",
                  ""};
  if (access.is_failed_call) {
    finding.fault = Fault::failed_call;
    finding.witnesses.front().action = "gets";
    finding.help = "look at what each call returns: it has done nothing, and the program goes on";
  } else if (access.is_between_streams) {
    finding.fault = Fault::missing_synchronisation;
    finding.witnesses.front().action = "starts";
    finding.help =
        "let its stream wait, as by `cudaEventRecord()` in the other one and then `cudaStreamWaitEvent()`";
  } else if (access.function_of_library != nullptr) {
    finding.fault = access.is_unwritten ? Fault::uninitialised_read : Fault::out_of_bounds;
    finding.witnesses.front().action =
        "by " + std::string{access.function_of_library} + "() " + verb_of(access.operation);
    finding.help =
        access.may_be_meant
            ? "look at the blocks and threads of the launches before it, if anybody is to use these words"
        : access.is_unwritten ? "write it before, as by `cudaMemcpy()` or `cudaMemset()`"
                              : "check the sizes and strides that the call is given, and whose memory it is";
  } else if (access.is_shared) {
    const HostOrder::Use use = host_order().conflict(access.address, access.operation);
    if (use.by.empty()) return std::nullopt;
    finding.fault = Fault::missing_synchronisation;
    finding.memory += std::string{", which "} + use.by + " may still be " +
                      (use.operation == Operation::load ? "reading" : "writing");
    finding.help =
        "wait before it, as by `cudaDeviceSynchronize()`: " + use.by + " goes on behind the host's back";
  } else if (access.releases) {
    finding.help = "`cudaFree()` releases it, and pinned memory `cudaFreeHost()`";
  } else if (access.memory.find("variable") != std::string::npos) {
    finding.help =
        "the host has no such variable: copy it with `cudaMemcpyFromSymbol()` or `cudaMemcpyToSymbol()`, or "
        "declare it `__managed__`";
  } else {
    finding.help =
        "this memory is the device's alone: copy it with `cudaMemcpy()`, or take it from "
        "`cudaMallocManaged()`";
  }
  finding.page = page_of(pitfall_of(finding.fault));
  const auto own = own_place(access.calls);
  if (!is_new(finding.fault, own ? own->first : access.calls.front())) return std::nullopt;
  Witness& host = finding.witnesses.front();
  if (own) {
    const auto& [call, place] = *own;
    finding.kernel = name_in_source(place.function);
    host.call_site = call;
    // A library's functions may be inlined there.
    const auto frame = std::ranges::find_if(place.frames, is_of_the_program);
    host.location = *frame;
    host.callers.assign(frame + 1, place.frames.end());
  }
  finding.text = std::string{name_of(finding.fault)} + " in " + finding.kernel + ": the host " + host.action +
                 ' ' + finding.memory;
  if (host.location != SourceLocation{}) finding.text += " at " + to_string(host.location);
  return finding;
}

}  // namespace __emulated
