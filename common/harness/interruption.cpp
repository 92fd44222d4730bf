#include "harness/interruption.hpp"

#include <unistd.h>

#include <csignal>
#include <string_view>

namespace reduction {

namespace {

volatile std::sig_atomic_t asked_to_stop = 0;

/// Does only what a signal handler may do.
void ask_to_stop(int signal) {
  constexpr std::string_view note = "\nstopping after this result; Ctrl-C once more stops at once\n";
  std::signal(signal, SIG_DFL);
  asked_to_stop = 1;
  // There is nobody to tell when stderr does not take it.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, note.data(), note.size());
}

}  // namespace

Interruption::Interruption() {
  asked_to_stop = 0;
  previous_handler_ = std::signal(SIGINT, ask_to_stop);
  // A background job of a shell ignores Ctrl-C, and so it stays.
  if (previous_handler_ == SIG_IGN) std::signal(SIGINT, SIG_IGN);
}

Interruption::~Interruption() { std::signal(SIGINT, previous_handler_); }

bool Interruption::requested() const { return asked_to_stop != 0; }

}  // namespace reduction
