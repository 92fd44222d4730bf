#include "emulated/language/runtime/libraries.hpp"

#include <errno.h>

#include <cstdio>
#include <mutex>
#include <set>
#include <string>

void __emulated::refuse_library_call(const char* function) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock{mutex};
  if (!said.insert(function).second) return;
  const std::string text =
      std::string{program_invocation_short_name} + ": error: " + function +
      ": NVIDIA's libraries are not modelled on the emulated device: it computes nothing\n";
  std::fputs(text.c_str(), stderr);
}
