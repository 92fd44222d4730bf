#pragma once
/// \file
/// What the process may use of the host, and the one pool of host threads: the emulated device runs blocks on it, the
/// harness makes input and references on it.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace __emulated {

/// The number of CPUs that this process may use: those of its affinity mask, which taskset, mpirun and srun set.
unsigned available_cpus();

/// What `ulimit -v` leaves of the address space, in bytes; the largest number where it sets no limit.
std::size_t available_address_space();

/// What the host can give without taking it from others, in bytes.
std::size_t available_memory();

/// Host threads that wait for work. They start when they are first needed and stay until the program ends.
class HostThreads {
 public:
  /// Runs `work` on the calling thread and on `helpers` more at the same time. Returns when all have returned, and then
  /// rethrows the first exception. `work` must not call run() itself.
  void run(unsigned helpers, const std::function<void()>& work);

 private:
  void help(const std::stop_token& stop);
  void try_to(const std::function<void()>& work);

  std::mutex running_;  ///< one piece of work at a time
  std::mutex mutex_;
  std::condition_variable_any wanted_;
  std::condition_variable ended_;
  const std::function<void()>* work_ = nullptr;
  unsigned to_start_ = 0;  ///< helpers that have yet to take up the work
  unsigned to_end_ = 0;    ///< helpers that have yet to return from it
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;
};

/// The program's pool.
HostThreads& host_threads();

/// Calls work(k) for k = 0 ... count - 1 on all CPUs that this process may use; rethrows the first exception.
template <typename Work> void parallel_for(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next{0};
  const std::size_t workers = std::clamp<std::size_t>(count, 1, available_cpus());
  host_threads().run(static_cast<unsigned>(workers - 1), [&] {
    try {
      for (std::size_t k = next++; k < count; k = next++)
        work(k);
    } catch (...) {
      next = count;  // the other threads may stop
      throw;
    }
  });
}

}  // namespace __emulated
