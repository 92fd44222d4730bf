#include "emulated/findings/report.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "emulated/findings/source_location.hpp"
#include "emulated/findings/source_text.hpp"

namespace __emulated {
namespace {

/// A compiler places a call at its bracket; here it is where the function's name begins.
unsigned column_of_name(const SourceLocation& location) {
  const std::optional<std::string> line = source_line(location);
  const bool is_call =
      line && location.column != 0 && location.column <= line->size() && (*line)[location.column - 1] == '(';
  if (!is_call) return location.column;
  return static_cast<unsigned>(span_at(*line, location.column, false).begin) + 1;
}

/// Looks up where all witnesses of all records are, at once.
void locate_witnesses(std::vector<FaultRecord>& records) {
  std::vector<Witness*> witnesses;
  std::vector<const void*> instructions;
  for (FaultRecord& seen : records) {
    for (Witness& witness : seen.witnesses) {
      if (witness.call_site == nullptr) continue;
      witnesses.push_back(&witness);
      // The call is the instruction before the one to which it returns.
      instructions.push_back(static_cast<const std::byte*>(witness.call_site) - 1);
    }
  }
  const std::vector<CodeLocation> found = locate(instructions);
  for (std::size_t i = 0; i < witnesses.size(); ++i) {
    const std::vector<SourceLocation>& frames = found[i].frames;
    if (frames.empty()) continue;
    witnesses[i]->location = frames.front();
    witnesses[i]->location.column = column_of_name(frames.front());
    witnesses[i]->callers.assign(frames.begin() + 1, frames.end());
  }
}

/// A finding is told from others by its lines.
std::vector<std::pair<std::string, unsigned>> lines_of(const FaultRecord& seen) {
  std::vector<std::pair<std::string, unsigned>> lines;
  for (const Witness& witness : seen.witnesses) {
    if (witness.location != SourceLocation{})
      lines.emplace_back(witness.location.file, witness.location.line);
  }
  std::ranges::sort(lines);
  return lines;
}

std::string text_of(const Finding& finding) {
  std::ostringstream text;
  text << name_of(finding.fault) << " in " << (finding.kernel.empty() ? "a kernel" : finding.kernel);
  const char* separator = ": ";
  for (const Witness& witness : finding.witnesses) {
    text << separator << "block " << witness.block << ", " << describe_numbers("thread", witness.threads)
         << ' ' << witness.action;
    if (!finding.memory.empty())
      text << ' ' << (&witness == &finding.witnesses.front() ? finding.memory : "it");
    if (witness.location != SourceLocation{}) text << " at " << to_string(witness.location);
    separator = "; ";
  }
  return std::move(text).str();
}

// ---- what is missing ----

bool does(const Witness& witness, Operation operation) { return witness.action == verb_of(operation); }

bool are_on_one_line(const Witness& one, const Witness& other) {
  return one.location.line != 0 && one.location.line == other.location.line &&
         one.location.file == other.location.file;
}

bool are_on_one_line(const FaultRecord& seen) {
  return are_on_one_line(seen.witnesses.front(), seen.witnesses.back());
}

bool is_race_at(const FaultRecord& seen, const void* site, const void* other) {
  if (seen.fault != Fault::race) return false;
  const Witness& one = seen.witnesses.front();
  const Witness& two = seen.witnesses.back();
  return (one.call_site == site && two.call_site == other) ||
         (one.call_site == other && two.call_site == site);
}

// How a kernel of which these faults have been seen goes about the words of a race.
using Records = std::vector<FaultRecord>;

bool is_written_by_many(const void* store, const Records& all) {
  return std::ranges::any_of(all, [&](const FaultRecord& other) { return is_race_at(other, store, store); });
}

/// Whether several threads write one word by the store that is in the race.
bool has_many_writers(const FaultRecord& seen, const Records& all) {
  return std::ranges::any_of(seen.witnesses, [&](const Witness& witness) {
    return does(witness, Operation::store) && is_written_by_many(witness.call_site, all);
  });
}

bool is_read_on_the_line(const FaultRecord& seen, const Witness& store) {
  return std::ranges::any_of(seen.witnesses, [&](const Witness& witness) {
    return does(witness, Operation::load) && are_on_one_line(witness, store) &&
           is_race_at(seen, witness.call_site, store.call_site);
  });
}

/// Whether several threads do to one word what one line says: read it and write it.
bool is_of_an_update(const FaultRecord& seen, const Records& all) {
  return std::ranges::any_of(seen.witnesses, [&](const Witness& store) {
    return does(store, Operation::store) && is_written_by_many(store.call_site, all) &&
           are_on_one_line(seen.witnesses.front(), store) && are_on_one_line(seen.witnesses.back(), store) &&
           std::ranges::any_of(all,
                               [&](const FaultRecord& other) { return is_read_on_the_line(other, store); });
  });
}

/// Whether the word may be a flag that one block stores for another one to wait for.
bool may_be_of_a_flag(const FaultRecord& seen, const Records& all) {
  return seen.is_volatile || std::ranges::any_of(all, &FaultRecord::fences_in_vain);
}

struct Advice {
  std::string help;
  std::string page{};
};

/// "the read and the write".
std::string both_accesses(const FaultRecord& seen) {
  const auto noun = [](const Witness& witness) {
    return does(witness, Operation::load)    ? "read"
           : does(witness, Operation::store) ? "write"
                                             : "atomic update";
  };
  std::string one = noun(seen.witnesses.front());
  std::string two = noun(seen.witnesses.back());
  if (one == two) return "the two " + one + 's';
  if (one == "write" || two == "read") std::swap(one, two);
  return "the " + one + " and the " + two;
}

bool both_write(const FaultRecord& seen) {
  return does(seen.witnesses.front(), Operation::store) && does(seen.witnesses.back(), Operation::store);
}

bool is_of_read_and_atomic(const FaultRecord& seen) {
  const Witness& one = seen.witnesses.front();
  const Witness& two = seen.witnesses.back();
  return (does(one, Operation::load) && does(two, Operation::atomic)) ||
         (does(one, Operation::atomic) && does(two, Operation::load));
}
constexpr const char* read_by_an_atomic = "read by an atomic, too, as in `atomicAdd(&word, 0)`";

Advice advice_within_a_block(const FaultRecord& seen, const Records& all) {
  if (seen.is_of_copy) {
    return {
        "each thread that uses what is copied has to wait for the barrier that the copy arrives at, or come "
        "by "
        "a `__syncthreads()` behind such a wait",
        "copy_read_before_it_is_there"};
  }
  const std::string barrier = seen.between_warps ? "`__syncthreads()`" : "`__syncwarp()`";
  if (is_of_an_update(seen, all)) {
    return {
        "use an atomic, such as `atomicAdd()`, in place of the read and the write, or give each thread a "
        "word of its own",
        "add_without_an_atomic"};
  }
  if (seen.witnesses.front().call_site == seen.witnesses.back().call_site) {
    return {
        "give each thread a word of its own, or let one thread write; between two passes of a loop, put a " +
            barrier,
        "one_cell_for_all_blocks"};
  }
  const bool is_one_more = !seen.between_warps && seen.after_warp_barrier;
  std::string help = (is_one_more ? "put one more " : "put a ") + barrier + " between " + both_accesses(seen);
  if (is_of_read_and_atomic(seen)) {
    return {help + "; if they are meant to meet, as before a loop of `atomicCAS()`, " + read_by_an_atomic,
            seen.between_warps ? "no_barrier_between_levels" : "warp_synchronous_tail"};
  }
  if (has_many_writers(seen, all)) return {help + ", or use an atomic in place of both"};
  if (seen.between_warps) help += ", where all threads of the block reach it";
  if (are_on_one_line(seen)) {
    help +=
        "; as one line does both, read into a register first, or put it at the end of the loop's pass, if "
        "there is none";
  }
  if (both_write(seen)) return {help, "cells_cleared_beside_stores"};
  if (seen.between_warps) return {help, "no_barrier_between_levels"};
  return {help, seen.after_warp_barrier ? "one_syncwarp_a_level" : "warp_synchronous_tail"};
}

constexpr const char* volatile_is_not_enough = "`volatile` orders nothing and makes nothing atomic";

Advice advice_between_blocks(const FaultRecord& seen, const Records& all) {
  const Witness& lower = seen.witnesses.front();
  const Witness& higher = seen.witnesses.back();
  const auto one_does = [&](Operation operation) {
    return does(lower, operation) || does(higher, operation);
  };
  const Witness& to_tell = seen.witnesses[seen.to_tell];
  const std::string access = std::string{does(to_tell, Operation::load) ? "read" : "write"} + " in block " +
                             std::to_string(to_tell.block);
  // The other block may have asked for a lock, or for something else.
  const std::string in_a_lock =
      seen.fences_in_vain ? "; in a lock, open it by an atomic behind the fence, such as `atomicExch()`"
      : seen.asks         ? "; in a lock, put a `__threadfence()` before the atomic that opens it"
                          : "";
  if (does(lower, Operation::atomic) && does(higher, Operation::atomic)) {
    return {
        "an operation of a block's scope, as by `_block` or `thread_scope_block`, is atomic within its block "
        "only: take the device's",
        "add_without_an_atomic"};
  }
  if (is_of_an_update(seen, all)) {
    return {"use an atomic, such as `atomicAdd()`, in place of the read and the write" + in_a_lock,
            "add_without_an_atomic"};
  }
  if (lower.call_site == higher.call_site || (both_write(seen) && !seen.asks && !seen.fences_in_vain)) {
    return {"give each block a word of its own, as in `out[blockIdx.x]`, or use an atomic" + in_a_lock,
            "one_cell_for_all_blocks"};
  }
  if (seen.fences_in_vain) {
    return {"the `__threadfence()` after the " + access +
                " tells nobody of it: let an atomic behind it do so, such as `atomicExch(&flag, 1)`, and the "
                "other block ask by one, such as `atomicAdd(&flag, 0)`; where another thread makes the "
                "atomic, put a "
                "`__syncthreads()` before it",
            "ticket_without_a_fence"};
  }
  const std::string by_atomics =
      std::string{
          "write it by an atomic, such as `atomicExch(&flag, 1)`, and read it by one, such as "
          "`atomicAdd(&flag, 0)`: "} +
      volatile_is_not_enough;
  if (seen.asks) {
    const std::string help =
        "put a `__threadfence()` after the " + access + ", before the atomic that tells other blocks of it";
    return {seen.is_volatile ? help + "; if it is a flag, " + by_atomics : help, "ticket_without_a_fence"};
  }
  const std::string suffix = seen.is_volatile ? std::string{"; "} + volatile_is_not_enough : "";
  if (is_of_read_and_atomic(seen)) {
    return {std::string{"blocks run in any order: read in the next launch, or "} + read_by_an_atomic + suffix,
            "result_cleared_while_others_add"};
  }
  if (one_does(Operation::atomic) && one_does(Operation::store)) {
    return {"blocks run in any order: write the word before the launch, or make the write an atomic, too" +
                suffix,
            "result_cleared_while_others_add"};
  }
  std::string help =
      "blocks run in any order: read in the next launch, or in the block that a ticket shows to be the "
      "last, as in beyond/10_single_pass";
  if (may_be_of_a_flag(seen, all)) help += "; if it is a flag, " + by_atomics;
  return {std::move(help), "ticket_without_a_fence"};
}

Advice advice_on(const FaultRecord& seen, const Records& all) {
  if (seen.fault == Fault::missing_fence) {
    return {
        "put a `__threadfence()` between the atomic that tells of the write and the read: without it this is "
        "right on "
        "today's GPUs by luck of caches",
        "no_fence_behind_the_ticket"};
  }
  if (seen.fault == Fault::race) {
    const bool is_within_a_block = seen.witnesses.front().block == seen.witnesses.back().block;
    return is_within_a_block ? advice_within_a_block(seen, all) : advice_between_blocks(seen, all);
  }
  const bool is_of_two_calls = seen.fault == Fault::divergent_barrier && are_on_one_line(seen);
  return {seen.help + (is_of_two_calls ? "; each call is a barrier of its own, even of one function" : ""),
          seen.page};
}

/// What the last brackets of the access hold in the source, such as "i + blockDim.x"; "" where the column is not known.
std::string index_at(const Witness& witness) {
  const std::optional<std::string> line = source_line(witness.location);
  if (!line || witness.location.column == 0) return "";
  const Span span = span_at(*line, witness.location.column, witness.action.starts_with("read"));
  const std::string access = line->substr(span.begin, span.end - span.begin);
  const auto end = access.rfind(']');
  int depth = 0;
  for (auto begin = end; begin < access.size(); --begin) {
    depth += access[begin] == ']' ? 1 : access[begin] == '[' ? -1 : 0;
    if (depth == 0) return access.substr(begin + 1, end - begin - 1);
  }
  return "";
}

/// Names the index that is to be checked, where the source is at hand.
std::string with_index(std::string help, const Witness& witness) {
  constexpr std::string_view unnamed = "the index";
  const auto begin = help.find(unnamed);
  const std::string index = begin == std::string::npos ? "" : index_at(witness);
  if (!index.empty()) help.replace(begin, unnamed.size(), '`' + index + '`');
  return help;
}

}  // namespace

Witness access_by(std::size_t block, unsigned thread, Operation operation, const void* call_site) {
  return {{thread}, block, verb_of(operation), call_site};
}

std::string kernel_name(const void* kernel) { return name_in_source(locate(kernel).function); }

std::vector<FaultRecord> FaultLog::take() {
  std::set<const void*> racing;
  for (FaultRecord& seen : records_) {
    if (seen.fault != Fault::race) continue;
    const auto sites = std::minmax(seen.witnesses.front().call_site, seen.witnesses.back().call_site);
    seen.between_warps = between_warps_.contains(sites);
    racing.insert({sites.first, sites.second});
  }
  // Whether the read or the write of a race came first is luck: that the read may have found nothing is no fault of its own.
  std::erase_if(records_, [&](const FaultRecord& seen) {
    return seen.fault == Fault::uninitialised_read && racing.contains(seen.witnesses.front().call_site);
  });
  // That nothing orders an access and a copy that is under way is the same mistake.
  std::set<const void*> copying;
  for (const FaultRecord& seen : records_)
    if (seen.fault == Fault::unfinished_copy) copying.insert(seen.witnesses.back().call_site);
  std::erase_if(records_, [&](const FaultRecord& seen) {
    return seen.fault == Fault::race && (copying.contains(seen.witnesses.front().call_site) ||
                                         copying.contains(seen.witnesses.back().call_site));
  });
  seen_.clear();
  between_warps_.clear();
  return std::exchange(records_, {});
}

std::vector<Finding> findings_from(std::vector<FaultRecord> records, const void* kernel) {
  const std::string name = kernel_name(kernel);
  locate_witnesses(records);
  std::vector<FaultRecord> kept;
  for (const FaultRecord& seen : records) {
    const auto known = std::ranges::find_if(kept, [&](const FaultRecord& other) {
      return other.fault == seen.fault && lines_of(other) == lines_of(seen);
    });
    if (known == kept.end()) {
      kept.push_back(seen);
    } else {
      known->between_warps |= seen.between_warps;
    }
  }
  std::vector<Finding> findings;
  for (const FaultRecord& seen : kept) {
    auto [help, page] = advice_on(seen, records);
    if (seen.fault == Fault::out_of_bounds) help = with_index(std::move(help), seen.witnesses.front());
    findings.push_back({seen.fault, name, seen.memory, seen.witnesses, std::move(help),
                        page_of(page.empty() ? pitfall_of(seen.fault) : page), ""});
    findings.back().text = text_of(findings.back());
  }
  return findings;
}

}  // namespace __emulated
