#include "wait_limit.hpp"

#include <algorithm>
#include <utility>

namespace reduction {

WaitLimit::WaitLimit(std::function<void(const std::string& what)> too_late)
    : too_late_(std::move(too_late)), watcher_([this] { watch(); }) {}

WaitLimit::~WaitLimit() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  end_.notify_one();
  watcher_.join();
}

WaitLimit::Wait::Wait(WaitLimit& limit, const char* what, Seconds more) : limit_(limit), what_(what) {
  const std::scoped_lock lock(limit_.mutex_);
  latest_ = limit.clock_ + limit.limit_ + more;
  outer_ = std::exchange(limit_.current_, this);
}

WaitLimit::Wait::~Wait() {
  const std::scoped_lock lock(limit_.mutex_);
  limit_.current_ = outer_;
}

/// Looks from time to time, so that a wait that is none costs next to nothing.
void WaitLimit::watch() {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds between_looks{100};
  constexpr Seconds longest_look = 2 * between_looks;
  std::unique_lock lock(mutex_);
  Clock::time_point last = Clock::now();
  while (!end_.wait_for(lock, between_looks, [&] { return ended_; })) {
    const Clock::time_point now = Clock::now();
    clock_ += std::min<Seconds>(now - std::exchange(last, now), longest_look);
    if (current_ != nullptr && clock_ > current_->latest_) return too_late_(current_->what_);
  }
}

}  // namespace reduction
