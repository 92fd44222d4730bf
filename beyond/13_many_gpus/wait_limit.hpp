#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace reduction {

using Seconds = std::chrono::duration<double>;
inline constexpr Seconds unlimited{1e9};

/// Ends the program when it waits for other ranks for too long, whatever it waits in: MPI, NCCL or CUDA. While the program
/// itself is suspended, its clock stands still.
class WaitLimit {
 public:
  /// `too_late` is called by another thread, with what is waited for, and ends the program.
  explicit WaitLimit(std::function<void(const std::string& what)> too_late);
  ~WaitLimit();
  WaitLimit(const WaitLimit&) = delete;
  WaitLimit& operator=(const WaitLimit&) = delete;

  /// Sets how long a wait may take; a minute at first.
  void set(std::chrono::seconds limit) { limit_ = limit; }
  std::chrono::seconds limit() const { return limit_; }

  /// A wait, from its construction to its end. While a wait is within another, it alone is limited.
  class Wait {
   public:
    /// `more` is what this wait may take beyond the limit.
    Wait(WaitLimit& limit, const char* what, Seconds more = {});
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    friend class WaitLimit;
    WaitLimit& limit_;
    const char* what_;
    Seconds latest_;
    const Wait* outer_;
  };

 private:
  void watch();

  std::function<void(const std::string& what)> too_late_;
  std::chrono::seconds limit_{60};
  std::mutex mutex_;
  Seconds clock_{};  ///< since the start, as a few looks per second see it
  const Wait* current_ = nullptr;
  bool ended_ = false;
  std::condition_variable end_;
  std::thread watcher_;
};

}  // namespace reduction
