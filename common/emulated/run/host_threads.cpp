#include "emulated/run/host_threads.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <string>

#include "emulated/memory/lasting.hpp"

namespace __emulated {

unsigned available_cpus() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<unsigned>(CPU_COUNT(&allowed));
  return std::max(1U, std::thread::hardware_concurrency());
}

std::size_t available_address_space() {
  constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
  rlimit limit{};
  std::size_t pages = 0;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return no_limit;
  if (!(std::ifstream("/proc/self/statm") >> pages)) return no_limit;
  const std::size_t used = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

std::size_t available_memory() {
  std::ifstream counts{"/proc/meminfo"};
  for (std::string name, rest; counts >> name; std::getline(counts, rest)) {
    std::size_t kibibytes = 0;
    if (name == "MemAvailable:" && counts >> kibibytes) return kibibytes << 10;
  }
  return std::numeric_limits<std::size_t>::max();
}

void HostThreads::run(unsigned helpers, const std::function<void()>& work) {
  if (helpers == 0) return work();
  const std::lock_guard one_at_a_time{running_};
  try {
    while (threads_.size() < helpers)
      threads_.emplace_back([this](const std::stop_token& stop) { help(stop); });
  } catch (const std::system_error&) {
    // As many as `ulimit` leaves; the caller works in any case.
    helpers = static_cast<unsigned>(threads_.size());
  }
  {
    const std::lock_guard lock{mutex_};
    work_ = &work;
    to_start_ = to_end_ = helpers;
    failure_ = nullptr;
  }
  wanted_.notify_all();
  try_to(work);
  std::unique_lock lock{mutex_};
  ended_.wait(lock, [&] { return to_end_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

void HostThreads::help(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  while (wanted_.wait(lock, stop, [&] { return to_start_ != 0; })) {
    --to_start_;
    const std::function<void()>& work = *work_;
    lock.unlock();
    try_to(work);
    lock.lock();
    if (--to_end_ == 0) ended_.notify_one();
  }
}

void HostThreads::try_to(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    const std::lock_guard lock{mutex_};
    if (!failure_) failure_ = std::current_exception();
  }
}

HostThreads& host_threads() { return lasting<HostThreads>(); }

}  // namespace __emulated
