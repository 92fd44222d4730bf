#include "harness/text_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>

namespace reduction {

namespace {

/// Ends what would not end by itself, such as /dev/zero.
constexpr std::size_t most_bytes = std::size_t{256} << 20;

class Descriptor {
 public:
  /// A named pipe that nobody writes to is at its end at once, like an empty file: whoever waited for a writer might wait
  /// for ever. Where somebody does write, as behind a shell's `<(cat file)`, read() waits for him.
  explicit Descriptor(const std::string& path)
      : number_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (number_ >= 0) fcntl(number_, F_SETFL, 0);  // without O_NONBLOCK
  }
  ~Descriptor() { close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

std::string read_text_file(const std::string& path) {
  const auto fail = [](int error) { throw std::system_error(error, std::generic_category()); };
  const Descriptor file(path);
  if (file.number() < 0) fail(errno);
  std::string text;
  std::array<char, std::size_t{1} << 16> buffer;
  for (;;) {
    const ssize_t size = read(file.number(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail(errno);
    if (size == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(size));
    if (text.size() > most_bytes) fail(EFBIG);
  }
}

}  // namespace reduction
