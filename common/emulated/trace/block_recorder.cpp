#include "emulated/trace/block_recorder.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <utility>

namespace __emulated {
namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

/// Whether requests are counted of it.
bool is_counted(EventKind kind) { return kind <= EventKind::shared_copy; }

}  // namespace

BlockRecorder::BlockRecorder(BlockTrace& trace, unsigned threads)
    : trace_{trace}, threads_(threads), warps_((threads + warp_size - 1) / warp_size) {}

/// The last warp may be a part of one.
unsigned BlockRecorder::lanes_of_warp(unsigned warp) const {
  const std::size_t count = threads_.size() - warp * warp_size;
  return count >= warp_size ? ~0U : bit_of(static_cast<unsigned>(count)) - 1;
}

// ---- what threads do ----

/// Returns nullptr where the trace holds no more.
BlockRecorder::Action* BlockRecorder::add(unsigned thread, EventKind kind, const void* call_site) {
  if (trace_.truncated || actions_ == most_traced_actions) {
    trace_.truncated = true;
    return nullptr;
  }
  ++actions_;
  return &threads_[thread].actions.emplace_back(
      Action{kind, call_site, nullptr, 0, nullptr, none, false, {}});
}

void BlockRecorder::access(unsigned thread, EventKind kind, const Access& access, std::ptrdiff_t word,
                           const Buffer* buffer) {
  Thread& self = threads_[thread];
  begin_access(thread, access);
  Action* const action = add(thread, kind, access.call_site);
  if (action == nullptr) return;
  action->address = access.address;
  action->bytes = static_cast<unsigned>(access.bytes);
  action->buffer = buffer;
  action->lane.word = word;
  if (!access.is_copied) action->lane.activation = activation_of(access.call_site);  // else that call is over
  if (is_atomic(kind) || is_store(kind))
    std::memcpy(action->lane.before.data(), access.address, access.bytes);
  if (is_counted(kind)) self.visits.push_back(static_cast<std::uint32_t>(self.actions.size() - 1));
  ++self.pending;
}

/// As a warp would store them, 16 bytes by each lane. They come before the accesses of all warps since the last barrier, of
/// which some may have waited for them: none was to these words before they were there.
void BlockRecorder::bulk_copy(unsigned thread, const void* call_site, std::ptrdiff_t word,
                              std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (trace_.truncated || actions_ + warp_size > most_traced_actions) {
      trace_.truncated = true;
      return;
    }
    actions_ += warp_size;
    Event event;
    event.kind = EventKind::bulk_copy;
    event.warp = thread / warp_size;
    event.call_site = call_site;
    event.bytes = largest_access;
    for (unsigned lane = 0; lane < warp_size && !bytes.empty(); ++lane) {
      event.lanes |= bit_of(lane);
      LaneEvent& of_lane = event.of_lanes.emplace_back();
      of_lane.word = std::exchange(word, word + static_cast<std::ptrdiff_t>(largest_access / word_bytes));
      of_lane.is_known = true;
      std::ranges::copy(bytes.first(largest_access), of_lane.value.begin());
      bytes = bytes.subspan(largest_access);
    }
    trace_.events.push_back(std::move(event));
  }
}

void BlockRecorder::begin_access(unsigned thread, const Access& access) {
  Thread& self = threads_[thread];
  if (access.operation == Operation::load && self.pending > 0 && is_store(self.actions.back().kind)) {
    note_late_stores(self);
  } else if (!access.goes_on) {
    settle(thread);
  }
}

void BlockRecorder::settle(unsigned thread) {
  Thread& self = threads_[thread];
  for (; self.pending > 0; --self.pending) {
    Action& action = self.actions[self.actions.size() - self.pending];
    if (action.lane.is_known) continue;
    std::memcpy(action.lane.value.data(), action.address, action.bytes);
    action.lane.is_known = true;
    if (action.may_be_late && action.lane.value != action.lane.before) late_stores_.insert(action.call_site);
  }
}

/// Of a struct that is copied GCC tells first that it is written, then that it is read: the store follows the load.
void BlockRecorder::note_late_stores(Thread& thread) {
  for (std::size_t i = thread.actions.size() - thread.pending; i < thread.actions.size(); ++i) {
    Action& store = thread.actions[i];
    store.may_be_late = std::memcmp(store.lane.before.data(), store.address, store.bytes) == 0;
    if (store.may_be_late) continue;
    std::memcpy(store.lane.value.data(), store.address, store.bytes);
    store.lane.is_known = true;
  }
}

void BlockRecorder::meet(unsigned thread, const void* call_site) {
  settle(thread);
  threads_[thread].met_at = call_site;
  threads_[thread].activation = activation_of(call_site);
}

void BlockRecorder::fence(unsigned thread, const void* call_site) {
  settle(thread);
  add(thread, EventKind::fence, call_site);
}

void BlockRecorder::exit(unsigned thread) {
  settle(thread);
  add(thread, EventKind::exit, nullptr);
}

void BlockRecorder::warp_sync(const WarpSync& met, std::span<const LaneExchange> exchanges) {
  if (trace_.truncated || actions_ + warp_size > most_traced_actions) {
    trace_.truncated = true;
    return;
  }
  Event event;
  event.kind = met.kind;
  event.warp = met.warp;
  event.lanes = met.group;
  event.call_site = met.call_site;
  event.bytes = static_cast<unsigned>(met.bytes);
  const bool is_shuffle = met.kind == EventKind::shuffle;
  if (is_shuffle) event.shuffles = static_cast<unsigned>(shuffles_for(met.bytes));
  Warp& warp = warps_[met.warp];
  for (const unsigned lane : lanes_of(met.group)) {
    LaneEvent& of_lane = event.of_lanes.emplace_back();
    if (met.bytes != 0) {
      if (is_shuffle) of_lane.source_lane = exchanges[lane].source_lane;
      of_lane.value = exchanges[lane].received;
      of_lane.before = exchanges[lane].brought;
      of_lane.is_known = true;
    }
    const unsigned thread = met.warp * warp_size + lane;
    if (threads_[thread].met_at == met.call_site) of_lane.activation = threads_[thread].activation;
    add(thread, met.kind, met.call_site)->event = warp.unordered.size();
  }
  warp.unordered.push_back(std::move(event));
}

// ---- which of it is one event ----

/// An event of one place, without any lanes so far.
Event BlockRecorder::begun_event(const Action& action, unsigned warp) {
  Event event;
  event.kind = action.kind;
  event.warp = warp;
  event.call_site = action.call_site;
  event.bytes = action.bytes;
  return event;
}

void BlockRecorder::put(std::size_t event, unsigned lane, Action& action, Warp& warp) {
  Event& all = warp.unordered[event];
  all.lanes |= bit_of(lane);
  all.of_lanes.push_back(action.lane);
  if (action.buffer != nullptr) all.of_lanes.back().buffer = buffer_number(*action.buffer);
  action.event = event;
}

std::size_t BlockRecorder::buffer_number(const Buffer& buffer) {
  const auto known = std::ranges::find(buffers_, &buffer);
  if (known != buffers_.end()) return static_cast<std::size_t>(known - buffers_.begin());
  buffers_.push_back(&buffer);
  trace_.buffers.push_back(buffer.bytes());
  return buffers_.size() - 1;
}

void BlockRecorder::request(unsigned warp, const CountedRequest& request) {
  const auto action_of = [&](unsigned lane, std::size_t index) -> Action* {
    Thread& thread = threads_[warp * warp_size + lane];
    const std::size_t visit = request.visits[index];
    return visit < thread.visits.size() ? &thread.actions[thread.visits[visit]] : nullptr;
  };
  std::array<Action*, warp_size> actions{};
  std::size_t count = 0;
  for (const unsigned lane : lanes_of(request.lanes)) {
    actions[count] = action_of(lane, count);
    if (actions[count++] == nullptr) return;  // more than a trace holds
  }
  auto& events = warps_[warp].unordered;
  Event event = begun_event(*actions[0], warp);
  event.wavefronts = request.cost.wavefronts;
  event.conflicts = request.cost.conflicts;
  event.sectors = request.cost.sectors;
  events.push_back(std::move(event));
  count = 0;
  for (const unsigned lane : lanes_of(request.lanes))
    put(events.size() - 1, lane, *actions[count++], warps_[warp]);
}

/// Atomics, fences and exits are not counted as requests: the k-th of all lanes from one place are one event.
void BlockRecorder::group_the_rest(unsigned warp) {
  using CodePlace = std::pair<EventKind, const void*>;
  std::map<std::pair<CodePlace, std::size_t>, std::size_t> known;  // places and visits, and the event of each
  auto& events = warps_[warp].unordered;
  for (const unsigned lane : lanes_of(lanes_of_warp(warp))) {
    std::map<CodePlace, std::size_t> visits;
    for (Action& action : threads_[warp * warp_size + lane].actions) {
      if (action.event != none || is_counted(action.kind)) continue;
      const CodePlace place{action.kind, action.call_site};
      const auto [event, is_new] = known.try_emplace({place, visits[place]++}, events.size());
      if (is_new) events.push_back(begun_event(action, warp));
      put(event->second, lane, action, warps_[warp]);
    }
  }
}

/// Each has its load right behind it.
void BlockRecorder::put_late_stores_behind(std::vector<Action>& actions) const {
  if (late_stores_.empty()) return;
  const auto end_of_access = [&](auto first) {
    return std::find_if(first, actions.end(), [&](const Action& action) {
      return action.call_site != first->call_site || action.kind != first->kind;
    });
  };
  for (auto store = actions.begin(); store != actions.end();) {
    const auto load = end_of_access(store);
    const bool is_late = is_store(store->kind) && late_stores_.contains(store->call_site);
    if (is_late && load != actions.end() && is_load(load->kind)) {
      store = std::rotate(store, load, end_of_access(load));
    }
    store = end_of_access(store);
  }
}

/// As a warp would run them that comes together again as soon as it can: an event is next when it is the next of all its
/// lanes, and of several such the one that comes first in the code.
void BlockRecorder::put_in_order(unsigned warp) {
  auto& [unordered, ordered] = warps_[warp];
  std::array<std::vector<std::size_t>, warp_size> left;  // each lane's events, the next one last
  for (const unsigned lane : lanes_of(lanes_of_warp(warp))) {
    auto& actions = threads_[warp * warp_size + lane].actions;
    put_late_stores_behind(actions);
    for (auto action = actions.rbegin(); action != actions.rend(); ++action) {
      if (action->event != none) left[lane].push_back(action->event);
    }
  }
  for (std::size_t i = 0; i < unordered.size(); ++i) {
    std::size_t next = none;
    unsigned most_ready = 0;
    bool is_whole = false;
    for (const auto& events : left) {
      if (events.empty()) continue;
      const Event& candidate = unordered[events.back()];
      unsigned ready = 0;
      unsigned all = 0;
      for (const unsigned lane : lanes_of(candidate.lanes)) {
        ++all;
        if (!left[lane].empty() && left[lane].back() == events.back()) ++ready;
      }
      const bool earlier = next == none || std::less<>{}(candidate.call_site, unordered[next].call_site);
      const bool better = (ready == all) != is_whole ? ready == all
                          : is_whole                 ? earlier
                                                     : ready > most_ready || next == none;
      if (!better) continue;
      next = events.back();
      most_ready = ready;
      is_whole = ready == all;
    }
    for (const unsigned lane : lanes_of(unordered[next].lanes)) {
      if (left[lane].back() == next)
        left[lane].pop_back();
      else
        std::erase(left[lane], next);
    }
    ordered.push_back(std::move(unordered[next]));
  }
  unordered.clear();
}

void BlockRecorder::end_warp_interval(unsigned warp) {
  group_the_rest(warp);
  put_in_order(warp);
  for (const unsigned lane : lanes_of(lanes_of_warp(warp))) {
    Thread& thread = threads_[warp * warp_size + lane];
    thread.actions.clear();
    thread.visits.clear();
  }
}

void BlockRecorder::block_sync(const void* call_site) {
  merge_warps();
  if (trace_.truncated) return;
  Event event;
  event.kind = EventKind::block_barrier;
  event.call_site = call_site;
  trace_.events.push_back(std::move(event));
}

void BlockRecorder::end_block(const Counters& counters, const SharedMemory& memory) {
  merge_warps();
  trace_.counters = counters;
  trace_.shared_variables.assign(memory.declared().begin(), memory.declared().end());
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (buffers_[i]->is_static() || buffers_[i]->is_heap()) begin_where_used(i);
}

/// What `__device__` variables are in is all of the program's: it begins with the first word that the block accesses, so that a
/// trace does not change with the rest of the program.
void BlockRecorder::begin_where_used(std::size_t buffer) {
  std::ptrdiff_t first = std::numeric_limits<std::ptrdiff_t>::max();
  std::ptrdiff_t end = 0;
  const auto for_each_access = [&](const auto& action) {
    for (Event& event : trace_.events) {
      if (event.kind != EventKind::global_load && event.kind != EventKind::global_store &&
          event.kind != EventKind::global_atomic)
        continue;
      for (LaneEvent& lane : event.of_lanes)
        if (lane.buffer == buffer) action(event, lane);
    }
  };
  for_each_access([&](const Event& event, const LaneEvent& lane) {
    const auto words = static_cast<std::ptrdiff_t>((event.bytes + word_bytes - 1) / word_bytes);
    first = std::min(first, lane.word);
    end = std::max(end, lane.word + words);
  });
  if (end == 0) return;
  for_each_access([&](const Event&, LaneEvent& lane) { lane.word -= first; });
  trace_.buffers[buffer] = static_cast<std::size_t>(end - first) * word_bytes;
}

/// Warps take turns, an event each.
void BlockRecorder::merge_warps() {
  for (std::size_t turn = 0;; ++turn) {
    bool any = false;
    for (Warp& warp : warps_) {
      if (turn >= warp.events.size()) continue;
      trace_.events.push_back(std::move(warp.events[turn]));
      any = true;
    }
    if (!any) break;
  }
  for (Warp& warp : warps_)
    warp.events.clear();
}

}  // namespace __emulated
