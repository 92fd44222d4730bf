#include "harness/standard_streams.hpp"

#include <fcntl.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace reduction {

namespace {

int stdout_error = 0;  // of the first write that failed
std::vector<std::string> lost_output;

}  // namespace

void prepare_standard_streams() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) == -1)
      open("/dev/full", O_RDWR);  // the lowest one that is free, which is this one
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

bool print(std::FILE* stream, std::string_view text) {
  const bool printed =
      std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
  if (!printed && stream == stdout && stdout_error == 0) {
    stdout_error = errno;
    note_lost_output(stdout_error, "stdout does not take the output");
  }
  return printed;
}

void note_lost_output(int error, const std::string& text) {
  if (error != EPIPE) lost_output.push_back(text);
}

std::vector<std::string> take_lost_output() { return std::exchange(lost_output, {}); }

bool stdout_reader_left() { return stdout_error == EPIPE; }

}  // namespace reduction
