#pragma once

namespace reduction {

/// While one lives, the first Ctrl-C only asks to stop after the current result, and says so on stderr; a second one
/// ends the program at once. One at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool requested() const;

 private:
  void (*previous_handler_)(int);
};

}  // namespace reduction
