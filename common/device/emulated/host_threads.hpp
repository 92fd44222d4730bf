#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace reduction::emulated {

/// CPUs that this process may use.
unsigned available_cpus();

/// Host threads that wait for work: started when first needed, kept for the launches after.
class HostThreads {
 public:
  /// Runs `work` on the calling thread and on `helpers` more at the same time; returns when all have
  /// returned.
  void run(unsigned helpers, const std::function<void()>& work);

 private:
  void help(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any wanted_;
  std::condition_variable ended_;
  const std::function<void()>* work_ = nullptr;
  unsigned to_start_ = 0;  ///< helpers that have yet to take up the work
  unsigned to_end_ = 0;    ///< helpers that have yet to return from it
  std::vector<std::jthread> threads_;
};

}  // namespace reduction::emulated
