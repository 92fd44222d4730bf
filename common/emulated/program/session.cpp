/// \file
/// What is linked into a program that `./emulate` has made: before main() it takes the launches over, and at the end it says
/// what their kernels did.

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "emulated/findings/host_faults.hpp"
#include "emulated/findings/report.hpp"
#include "emulated/findings/source_location.hpp"
#include "emulated/language/runtime/errors.hpp"
#include "emulated/program/settings.hpp"
#include "emulated/program/summary.hpp"
#include "emulated/program/summary_json.hpp"
#include "emulated/program/told_findings.hpp"
#include "emulated/program/tracer.hpp"
#include "emulated/program/watch.hpp"
#include "emulated/run/device.hpp"
#include "emulated/run/launch.hpp"

namespace emulated_program {
namespace {

using __emulated::Finding;

extern "C" [[noreturn]] void __real__exit(int code);

constexpr int has_finding = 1, bad_usage = 2, limit_reached = 124, interrupted = 130;

class Session : public __emulated::LaunchListener {
 public:
  void begin();
  /// In a process that is forked: what has been, its parent says.
  void begin_again();

  std::optional<std::size_t> block_to_trace(const __emulated::KernelCall& kernel) override;
  void ended(const __emulated::ExecutionConfiguration& configuration, const __emulated::KernelCall& kernel,
             const __emulated::LaunchResult& result) override;
  void refused(const std::invalid_argument& refusal) override;
  void taint_used() override;
  void asked_for_time(const char* what_it_was_told) override { what_for_time_ = what_it_was_told; }
  /// Is told of what the host accesses.
  void accessed(const __emulated::HostAccess& access);

  /// Says what there is to say, once. Returns the exit code in place of the program's. \param flushes  what the program has
  /// printed, as it does itself unless it ends by _exit().
  int end(int exit_code, bool flushes = true);

 private:
  /// Ends the program with what was counted and found, if need be without waiting for the launch that is running.
  void cut(Cut why);
  [[noreturn]] void end_program(int code);

  void add(const __emulated::ExecutionConfiguration& configuration, const void* kernel,
           const __emulated::LaunchResult& result);
  void stop_at_a_finding();
  void name_kernels();
  std::string summary() const;
  void write_json() const;
  void write_trace() const;
  void say(const std::string& text) const;

  Settings settings_;
  std::string name_;  ///< of the program
  std::timed_mutex mutex_;
  std::vector<KernelRuns> kernels_;  ///< in the order of their first launches
  ToldFindings findings_;
  std::optional<Tracer> tracer_;
  std::size_t launches_ = 0;
  bool has_ended_ = false;
  pid_t process_ = 0;
  bool is_forked_ = false;
  std::atomic<const char*> what_for_time_ = nullptr;  ///< the program has been told
  std::atomic<int> cut_code_ = 0;  ///< with which the next launch that returns ends the program
};

/// It outlives all that the program destroys at its end.
Session& session() {
  alignas(Session) static std::byte place[sizeof(Session)];
  static Session& only = *::new (place) Session;
  return only;
}

void end_session(int exit_code, void*) {
  const int code = session().end(exit_code);
  if (code == exit_code) return;
  std::fflush(nullptr);
  __real__exit(code);
}

// The last of their sections, which other memory does not follow on one page: H has `__device__` variables in the one, which
// are not the device's, and both have `__managed__` ones in the other.
constexpr std::size_t largest_page = std::size_t{64} << 10;
#define SECTION_OF_ITS_PAGES(name)                                                                     \
  alignas(largest_page) __attribute__((section(#name), used)) std::byte end_of_##name[largest_page]{}; \
  extern "C" std::byte __start_##name[] __attribute__((visibility("hidden")));
SECTION_OF_ITS_PAGES(__emulated_shadow)
SECTION_OF_ITS_PAGES(__emulated_managed)

void close_memory(std::function<void(const __emulated::HostAccess&)> report) {
  __emulated::ClosedMemory& memory = __emulated::closed_memory();
  const auto add = [&](std::byte* begin, const std::byte* end, bool is_shared) {
    memory.add(begin, static_cast<std::size_t>(end - begin), "", is_shared);
  };
  add(__start___emulated_shadow, end_of___emulated_shadow, false);
  add(__start___emulated_managed, end_of___emulated_managed, true);
  memory.begin(std::move(report));
}

// Before all that the program constructs.
[[gnu::constructor(101)]] void begin_session() { session().begin(); }

__emulated::Schedule schedule_of(unsigned order) {
  switch (order) {
    case 0: return {__emulated::Order::ascending};
    case 1: return {__emulated::Order::descending};
    default: return {__emulated::Order::random, order};
  }
}

bool are_alike(const __emulated::ExecutionConfiguration& a, const __emulated::ExecutionConfiguration& b) {
  const auto same = [](const __emulated::dim3& p, const __emulated::dim3& q) {
    return p.x == q.x && p.y == q.y && p.z == q.z;
  };
  return same(a.grid, b.grid) && same(a.block, b.block) && a.shared_bytes == b.shared_bytes;
}

void Session::begin() {
  settings_ = settings_of_environment();
  unsetenv(settings_variable);  // a program that this one starts is none of ours
  name_ = program_invocation_short_name;
  process_ = getpid();
  findings_.begin(name_, settings_.quiet, settings_.seen);
  if (const auto choice = trace_choice(settings_.trace)) tracer_.emplace(*choice);
  __emulated::set_instrumented(settings_.counters);
  __emulated::set_places_counted(settings_.counters && (!settings_.quiet || !settings_.json.empty()));
  __emulated::set_schedule(schedule_of(settings_.order));
  __emulated::set_launch_listener(this);
  // What these keep is to be there at the end.
  __emulated::locate(std::span<const void* const>{});
  __emulated::is_taint_left();
  on_exit(end_session, nullptr);
  pthread_atfork(nullptr, nullptr, [] { session().begin_again(); });
  close_memory([this](const __emulated::HostAccess& access) { accessed(access); });
  watch(
      settings_.limit, [this](Cut why) { cut(why); }, __emulated::kernel_name);
}

void Session::begin_again() {
  launches_ = 0;
  kernels_.clear();
  findings_ = {};
  findings_.begin(name_, settings_.quiet, settings_.seen);
  is_forked_ = true;
  process_ = getpid();
}

std::optional<std::size_t> Session::block_to_trace(const __emulated::KernelCall& kernel) {
  const std::lock_guard lock{mutex_};
  return tracer_ ? tracer_->block_of(__emulated::kernel_name(kernel.entry)) : std::nullopt;
}

void Session::ended(const __emulated::ExecutionConfiguration& configuration,
                    const __emulated::KernelCall& kernel, const __emulated::LaunchResult& result) {
  {
    const std::lock_guard lock{mutex_};
    add(configuration, kernel.entry, result);
    ++launches_;
    if (tracer_) tracer_->ended(__emulated::kernel_name(kernel.entry), result);
    for (const Finding& finding : result.findings)
      findings_.add({finding, 1});
    for (const Finding& note : result.notes)
      findings_.add_note({note, 1});
    if (!result.unsettled.empty() && !result.is_taint_left) findings_.settle(false);
    for (const Finding& finding : result.unsettled)
      findings_.add_unsettled(finding);
  }
  if (cut_code_ != 0) end_program(cut_code_);
  stop_at_a_finding();
}

void Session::taint_used() {
  {
    const std::lock_guard lock{mutex_};
    findings_.settle(true);
  }
  stop_at_a_finding();
}

void Session::accessed(const __emulated::HostAccess& access) {
  const std::optional<Finding> finding = __emulated::finding_from(access);
  if (!finding) return;
  {
    const std::lock_guard lock{mutex_};
    if (access.is_failed_call || access.may_be_meant) {
      findings_.add_note({*finding, 0});
    } else if (access.is_unwritten) {
      findings_.add_unsettled(*finding);
    } else {
      findings_.add({*finding, 0});
    }
  }
  stop_at_a_finding();
}

void Session::stop_at_a_finding() {
  if (settings_.stop && !findings_.findings().empty()) exit(has_finding);
}

void Session::add(const __emulated::ExecutionConfiguration& configuration, const void* kernel,
                  const __emulated::LaunchResult& result) {
  if (!configuration.is_counted) return;
  auto runs = std::ranges::find(kernels_, kernel, &KernelRuns::entry);
  if (runs == kernels_.end()) {
    kernels_.push_back({.entry = kernel, .first = configuration});
    runs = kernels_.end() - 1;
  }
  ++runs->launches;
  runs->counters += result.counters;
  for (const auto& [call_site, counted] : result.places)
    runs->places[call_site] += counted;
  runs->is_only = runs->is_only && are_alike(configuration, runs->first);
}

void Session::say(const std::string& text) const {
  clear_progress();
  std::fputs((name_ + ": " + text + '\n').c_str(), stderr);
}

void Session::refused(const std::invalid_argument& refusal) {
  say(std::string{"note: a launch is refused: "} + refusal.what() + "\n      see " +
      __emulated::page_of("launch_that_nobody_checks"));
  const bool by_grid = dynamic_cast<const __emulated::GridTooLarge*>(&refusal) != nullptr;
  const bool by_memory = dynamic_cast<const __emulated::SharedMemoryTooLarge*>(&refusal) != nullptr;
  __emulated::noted(by_grid     ? cudaErrorCooperativeLaunchTooLarge
                    : by_memory ? cudaErrorInvalidValue
                                : cudaErrorInvalidConfiguration);
}

void Session::cut(Cut why) {
  const int code = why == Cut::by_limit ? limit_reached : interrupted;
  cut_code_ = code;
  const bool is_running = __emulated::running_launch().kernel != nullptr;
  __emulated::stop_launches();
  if (is_running) std::this_thread::sleep_for(std::chrono::seconds{2});
  end_program(code);
}

void Session::end_program(int code) {
  say(code == limit_reached ? "note: ended by --limit" : "note: interrupted");
  code = end(code);
  std::fflush(nullptr);
  __real__exit(code);
}

int Session::end(int exit_code, bool flushes) {
  end_progress();
  // Whoever holds it looks for the lines of a finding, which is over soon.
  const std::unique_lock lock{mutex_, std::chrono::seconds{5}};
  const bool is_anothers = getpid() != process_ || (is_forked_ && launches_ == 0);
  if (is_anothers || std::exchange(has_ended_, true)) return exit_code;
  if (cut_code_ == 0) {
    findings_.settle(__emulated::is_taint_left());
  } else {
    findings_.settle(false, "nothing had used what the launch wrote when the program was ended");
  }
  name_kernels();
  if (flushes) std::fflush(stdout);
  std::fputs(summary().c_str(), stderr);
  bool is_written = true;
  try {
    if (!settings_.json.empty()) write_json();
    if (tracer_) write_trace();
  } catch (const std::runtime_error& error) {
    say(std::string{"error: "} + error.what());
    is_written = false;
  }
  if (!settings_.seen.empty()) findings_.write();
  if (exit_code == 0 && !is_written) exit_code = bad_usage;
  const bool says_nothing = exit_code == 0 || exit_code == limit_reached;
  return says_nothing && !findings_.findings().empty() ? has_finding : exit_code;
}

/// Looks up all at once that is said of them.
void Session::name_kernels() {
  if (settings_.quiet && settings_.json.empty()) return;
  std::vector<const void*> instructions;
  for (const KernelRuns& kernel : kernels_) {
    instructions.push_back(kernel.entry);
    for (const auto& [call_site, counted] : kernel.places)
      instructions.push_back(static_cast<const std::byte*>(call_site) - 1);
  }
  __emulated::locate(instructions);
  for (KernelRuns& kernel : kernels_)
    kernel.name = __emulated::kernel_name(kernel.entry);
}

std::string Session::summary() const {
  std::string text;
  if (!settings_.quiet && settings_.counters) {
    for (const KernelRuns& kernel : kernels_)
      text += '\n' + summary_of(kernel);
  }
  if (!settings_.quiet && kernels_.empty()) text += name_ + ": note: the program has launched no kernel\n";
  if (const char* const told = what_for_time_; !settings_.quiet && told != nullptr) {
    text += '\n' + name_ + ": note: " + told +
            ", for the emulated device has no time: a loop that goes on "
            "until "
            "enough of it has passed ends at once, or never\n";
  }
  const std::string findings = findings_.summary(launches_);
  return findings.empty() ? text : text + '\n' + findings;
}

void Session::write_json() const {
  const std::string json = settings_.order == 0
                               ? json_of(name_, kernels_, findings_.findings(), findings_.notes())
                               : with_findings(settings_.json, findings_.findings());
  std::ofstream file{settings_.json};
  file << json;
  file.close();
  if (!file) throw std::runtime_error{settings_.json + " cannot be written"};
}

void Session::write_trace() const {
  const auto elsewhere = tracer_->elsewhere();
  if (!settings_.to_trace.empty()) {
    if (tracer_->has_finding()) std::ofstream{settings_.to_trace} << (elsewhere ? elsewhere->text() : "");
    if (elsewhere || (settings_.order > 0 && !tracer_->has_finding())) return;
  }
  say("note: " + tracer_->write(name_));
}

}  // namespace
}  // namespace emulated_program

// What ends a program without a word. The linker takes these functions for the library's (--wrap).
extern "C" {
[[noreturn]] void __wrap__exit(int code) {
  code = emulated_program::session().end(code, false);
  emulated_program::__real__exit(code);
}
[[noreturn]] void __wrap__Exit(int code) { __wrap__exit(code); }
}

/// The linker is told to look for it, and so takes this file.
extern "C" const char __emulated_session = 0;
