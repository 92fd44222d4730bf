#include "emulated/program/watch.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "emulated/run/launch.hpp"

namespace emulated_program {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

std::array<int, 2> interruption_pipe{-1, -1};

extern "C" void interrupt(int) {
  const char sign = 0;
  if (write(interruption_pipe[1], &sign, 1) < 0) _exit(130);
}

std::mutex line_mutex;
bool line_is_shown = false;
bool line_may_be_shown = true;

void show(const std::string& line) {
  const std::lock_guard lock{line_mutex};
  if (!line_may_be_shown || (line.empty() && !line_is_shown)) return;
  std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
  line_is_shown = !line.empty();
}

void show_progress(const std::function<std::string(const void*)>& name_of) {
  const __emulated::Progress launch = __emulated::running_launch();
  if (launch.kernel == nullptr || Clock::now() - launch.since < 2s) return show("");
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - launch.since).count();
  show(name_of(launch.kernel) + ": " + std::to_string(launch.done) + " of " + std::to_string(launch.blocks) +
       " blocks after " + std::to_string(seconds) + " s");
}

bool is_interrupted(std::chrono::milliseconds within) {
  pollfd readable{interruption_pipe[0], POLLIN, 0};
  return poll(&readable, 1, static_cast<int>(within.count())) > 0;
}

}  // namespace

void watch(unsigned limit, std::function<void(Cut)> cut, std::function<std::string(const void*)> name_of) {
  struct sigaction before {};
  sigaction(SIGINT, nullptr, &before);
  if (before.sa_handler == SIG_DFL && pipe(interruption_pipe.data()) == 0) {
    struct sigaction action {};
    action.sa_handler = interrupt;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
  }
  std::optional<Clock::time_point> end;
  if (limit > 0) end = Clock::now() + std::chrono::seconds{limit};
  // The program's own signals are for its own threads.
  sigset_t all, own;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &own);
  std::thread{[end, cut = std::move(cut), name_of = std::move(name_of)] {
    const bool is_terminal = isatty(STDERR_FILENO) != 0;
    while (!is_interrupted(200ms)) {
      if (end && Clock::now() >= *end) return cut(Cut::by_limit);
      if (is_terminal) show_progress(name_of);
    }
    cut(Cut::by_interruption);
  }}.detach();
  pthread_sigmask(SIG_SETMASK, &own, nullptr);
}

void clear_progress() { show(""); }

void end_progress() {
  clear_progress();
  const std::lock_guard lock{line_mutex};
  line_may_be_shown = false;
}

}  // namespace emulated_program
