#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emulated/memory/closed_memory.hpp"
#include "emulated/order/grid_races.hpp"

namespace __emulated {

/// Which launches and copies the host has waited for. All that streams hold has happened at once here; on a GPU it may still be
/// going on. What it uses of memory that host and device share is not for the host until then (CUDA Runtime API, "Stream
/// synchronization behavior", "API synchronization behavior").
class HostOrder {
 public:
  using Stream =
      const void*;  ///< nullptr: the default one, which waits for all blocking ones and they for it
  using Event = const void*;

  /// Bytes that a launch, or a copy, has used.
  struct Use {
    const std::byte* begin;
    const std::byte* end;
    Operation operation;
    std::string by;  ///< "fill", "a copy"
    Stream stream;
    std::size_t number;
    bool is_shared = true;  ///< with the host, as add() finds out
  };

  /// The running kernel does not leave it to its end to tell the host: it has no uses.
  void meet_kernel() { is_met_ = true; }
  bool is_met() { return is_met_.exchange(false); }

  void make_stream(Stream stream, bool is_blocking);
  /// Whether there may be several, so that what they do to the device's own memory matters, too.
  bool has_streams() const { return has_streams_; }
  /// Something begins in a stream that uses memory like this.
  void add(Stream stream, std::vector<Use> uses);
  /// Reports it if something else, for which the stream has not waited, may be using that memory.
  void report_overlap();
  /// This memory is released.
  void forget(const std::byte* begin, const std::byte* end);
  void record(Event event, Stream stream);
  void wait(Stream stream, Event event);

  // The host waits, or is told that it need not.
  void host_waits();
  void host_waits_for_stream(Stream stream);
  void host_waits_for_event(Event event);
  /// Whether all before the event is over, as far as the host knows; nothing if nobody has recorded it.
  std::optional<bool> has_come(Event event);

  /// The stream calls a function of the host's, which may use what the stream has. So may all of the host from then on: whom
  /// else the function tells is not followed.
  void call_behind(Stream stream, const std::function<void()>& function);

  /// What forbids the host's access; its `by` is "" if nothing does.
  Use conflict(const std::byte* address, Operation operation);

 private:
  /// Of each stream the number of the last work that is known to have ended.
  using Clock = std::map<Stream, std::size_t>;

  static void join(Clock& clock, const Clock& other);
  Clock& ordered(Stream stream);
  bool is_blocking(Stream stream) const { return !non_blocking_.contains(stream); }
  void host_knows(const Clock& clock);
  void close_pages();

  std::atomic<bool> is_met_ = false;
  std::atomic<bool> has_streams_ = false;
  std::mutex mutex_;
  std::size_t last_ = 0;
  std::set<Stream> non_blocking_;
  std::map<Stream, Clock> streams_;
  std::map<Event, Clock> events_;
  Clock host_;
  std::vector<Use> uses_;                       ///< that the host does not know to have ended
  std::optional<std::pair<Use, Use>> overlap_;  ///< the later one, and what it has not waited for
};

HostOrder& host_order();

/// What a launch has used of memory that the host, or another stream, may use, too.
std::vector<HostOrder::Use> uses_of(const GridRaces& races, const void* kernel);

}  // namespace __emulated
