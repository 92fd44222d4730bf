#pragma once
#include <chrono>
#include <cstddef>

namespace __emulated {

/// How far the launch has come that is running.
struct Progress {
  const void* kernel = nullptr;  ///< its entry; nullptr: there is no launch
  std::size_t blocks = 0;        ///< of its grid
  std::size_t done = 0;          ///< of these, in any order
  std::chrono::steady_clock::time_point since{};
};
Progress running_launch();

/// The launch that is running, and each later one, runs no further block. Blocks that have begun go on.
void stop_launches();

}  // namespace __emulated
