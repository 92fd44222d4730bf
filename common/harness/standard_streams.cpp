#include "harness/standard_streams.hpp"

#include <fcntl.h>

#include <cerrno>
#include <csignal>

namespace reduction {

namespace {

int stdout_error = 0;  // of the first write that failed

}  // namespace

void prepare_standard_streams() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) == -1)
      open("/dev/full", O_RDWR);  // the lowest one that is free, which is this one
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void print(std::FILE* stream, std::string_view text) {
  const bool printed = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  if ((!printed || std::fflush(stream) != 0) && stream == stdout && stdout_error == 0) stdout_error = errno;
}

bool stdout_reader_left() { return stdout_error == EPIPE; }

bool stdout_lost_output() { return stdout_error != 0 && stdout_error != EPIPE; }

}  // namespace reduction
