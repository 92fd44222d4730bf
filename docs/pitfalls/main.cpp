/// \file
/// pitfall NAME: runs a kernel of the gallery on the emulated device, which says what is wrong with it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "docs/pitfalls/gallery.hpp"
#include "harness/exit_code.hpp"
#include "harness/options.hpp"
#include "harness/trace_file.hpp"

namespace {

using namespace reduction::pitfalls;

void print_gallery() {
  for (const Pitfall& pitfall : gallery())
    reduction::print(stdout, fmt::format("{:<33}{}\n", pitfall.name, pitfall.title));
}

const Pitfall& pitfall_named(std::string_view name) {
  const auto found = std::ranges::find(gallery(), name, &Pitfall::name);
  if (found != gallery().end()) return *found;
  std::string names;
  for (const Pitfall& pitfall : gallery())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", pitfall.name);
  throw reduction::UsageError{fmt::format(
      "{}: {}", name.empty() ? "name a pitfall" : fmt::format("there is no pitfall '{}', but these", name),
      names)};
}

/// The one launch of the program. Throws KernelFinding, which is what the faulty form is for.
std::vector<Element> run(const Pitfall& pitfall, bool is_fixed, const reduction::TraceOptions& trace) {
  const reduction::TraceFile trace_file(trace);
  const reduction::TraceSubject subject{std::string(pitfall.name), std::string(pitfall.title)};
  std::vector<Element> out;
  trace_file.record(subject, false, [&] {
    out = output_of(is_fixed ? pitfall.fixed : pitfall.faulty, pitfall.shape, pitfall.expected.size());
  });
  return out;
}

reduction::ExitCode show(const Pitfall& pitfall, bool is_fixed, const reduction::TraceOptions& trace) {
  const std::vector<Element> out = run(pitfall, is_fixed, trace);
  if (!is_fixed) {
    throw std::runtime_error(fmt::format("the emulated device has found nothing in {}", pitfall.name));
  }
  const std::vector<Element>& expected = pitfall.expected;
  if (!std::equal(expected.begin(), expected.end(), out.begin())) {
    reduction::print(stderr, fmt::format("pitfall: error: {}, fixed, gives another result\n", pitfall.name));
    return reduction::ExitCode::wrong_result;
  }
  const std::span first = std::span{expected}.first(std::min<std::size_t>(expected.size(), 4));
  reduction::print(
      stdout, fmt::format("{}, fixed: no finding, and the same result as on the CPU: {}{}\n", pitfall.name,
                          fmt::join(first, ", "), first.size() < expected.size() ? ", ..." : ""));
  return reduction::ExitCode::verified;
}

}  // namespace

int main(int argc, char** argv) {
  return reduction::exit_code_of("pitfall", [&] {
    reduction::OptionParser app(
        "pitfall", "Runs a kernel with a bug on the emulated device, which says what is wrong with it.");
    std::vector<std::string> names;
    bool lists = false;
    bool is_fixed = false;
    app.add_arguments("name", "which one; --list names them", false, names);
    app.add_flag("--list", "name all of them and end", lists);
    app.add_flag("--fixed", "run the fixed kernel, which has no finding, and check its result", is_fixed);
    reduction::TraceOptions trace;
    reduction::add_trace_options(app, trace);
    app.add_version();
    const std::string answer = app.read(argc, argv);
    reduction::require_trace_file(trace);
    if (!answer.empty()) {
      reduction::print(stdout, answer);
      return reduction::ExitCode::verified;
    }
    if (lists) {
      if (!names.empty() || is_fixed || !trace.file.empty())
        throw reduction::UsageError{"--list stands alone: it names all pitfalls, and runs none"};
      print_gallery();
      return reduction::ExitCode::verified;
    }
    if (names.size() > 1)
      throw reduction::UsageError{
          fmt::format("one pitfall at a time, not {}: '{}'", names.size(), fmt::join(names, "', '"))};
    return show(pitfall_named(names.empty() ? "" : names.front()), is_fixed, trace);
  });
}
