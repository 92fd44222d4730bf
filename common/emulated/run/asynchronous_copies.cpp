#include "emulated/run/asynchronous_copies.hpp"

#include <iterator>
#include <string>
#include <utility>

#include "emulated/findings/memory_faults.hpp"
#include "emulated/run/block.hpp"

/// \file
/// What threads ask others to copy to shared memory, and the barriers by which they hear of it. (PTX ISA, cp.async,
/// cp.async.bulk and mbarrier)

namespace __emulated {

void AsynchronousCopies::begin_block() {
  for (OfThread& thread : threads_)
    thread = {};
  is_under_way_.clear();
  words_under_way_ = 0;
  least_ = greatest_ = nullptr;
}

bool AsynchronousCopies::may_go_to(std::size_t offset, std::size_t bytes) const {
  for (std::size_t word = offset / word_bytes; word * word_bytes < offset + bytes; ++word)
    if (word < is_under_way_.size() && is_under_way_[word]) return true;
  return false;
}

void AsynchronousCopies::begin(const AsynchronousCopy& copy, std::size_t offset) {
  const std::size_t end = (offset + copy.bytes) / word_bytes;
  if (is_under_way_.size() < end) is_under_way_.resize(end);
  std::fill(is_under_way_.begin() + static_cast<std::ptrdiff_t>(offset / word_bytes),
            is_under_way_.begin() + static_cast<std::ptrdiff_t>(end), true);
  if (words_under_way_ == 0) {
    least_ = copy.from;
    greatest_ = copy.from + copy.source_bytes;
  }
  least_ = std::min(least_, copy.from);
  greatest_ = std::max(greatest_, copy.from + copy.source_bytes);
  words_under_way_ += copy.bytes / word_bytes;
}

void AsynchronousCopies::end(const AsynchronousCopy& copy, std::size_t offset) {
  const auto first = is_under_way_.begin() + static_cast<std::ptrdiff_t>(offset / word_bytes);
  std::fill_n(first, copy.bytes / word_bytes, false);
  words_under_way_ -= copy.bytes / word_bytes;
}

std::vector<AsynchronousCopy> AsynchronousCopies::take_but(unsigned thread, std::size_t groups) {
  auto& all = threads_[thread].groups;
  std::vector<AsynchronousCopy> taken;
  while (all.size() > groups) {
    std::ranges::copy(all.front(), std::back_inserter(taken));
    all.erase(all.begin());
  }
  return taken;
}

std::vector<AsynchronousCopy> AsynchronousCopies::take_all(unsigned thread) {
  std::vector<AsynchronousCopy> taken = take_but(thread, 0);
  std::ranges::copy(std::exchange(threads_[thread].open, {}), std::back_inserter(taken));
  return taken;
}

// ---- copies ----

/// What a copy will store, as far as it matters what orders it: a buffer may still be in use.
void Block::announce(const AsynchronousCopy& copy) {
  for (std::size_t at = 0; at < copy.bytes; at += largest_access) {
    const Access store{Operation::store, copy.to + at, std::min(copy.bytes - at, largest_access),
                       copy.call_site};
    if (copies_.are_under_way()) require_arrived(store);
    if (observers_.are_there()) order<true>(store, scheduler_.current());
  }
  copies_.begin(copy, shared_.offset_of(copy.to));
}

void Block::copy_async(const AsynchronousCopy& copy, const Frame* function) {
  // What is not a whole piece is loaded word by word.
  const std::size_t piece = copy.source_bytes == copy.bytes ? copy.bytes : word_bytes;
  for (std::size_t at = 0; at < copy.source_bytes; at += piece)
    access({Operation::load, copy.from + at, piece, copy.call_site, at != 0, function});
  const AtWork at_work{*this};
  const Access store{Operation::store, copy.to, copy.bytes, copy.call_site};
  if (reinterpret_cast<std::uintptr_t>(copy.to) % copy.bytes != 0) refuse(store);
  if (!shared_.contains(copy.to, copy.bytes)) stop_for_stray(store);
  AsynchronousCopy by_thread = copy;
  by_thread.thread = scheduler_.current();
  announce(by_thread);
  copies_.add(by_thread);
}

void Block::commit_copies() {
  const AtWork at_work{*this};
  copies_.commit(scheduler_.current());
}

void Block::wait_for_copies(std::size_t groups_left, bool of_all) {
  const AtWork at_work{*this};
  const unsigned thread = scheduler_.current();
  observers_.call(thread);
  receive(of_all ? copies_.take_all(thread) : copies_.take_but(thread, groups_left), nullptr);
}

/// The running thread has waited for these. \param barrier  for which; nullptr: it has asked for them itself.
void Block::receive(const std::vector<AsynchronousCopy>& copies, const ArrivalBarrier* barrier) {
  for (const AsynchronousCopy& copy : copies) {
    copies_.end(copy, shared_.offset_of(copy.to));
    for (std::size_t at = 0; observers_.are_there() && at < copy.bytes; at += largest_access) {
      Access store{Operation::store, copy.to + at, std::min(copy.bytes - at, largest_access), copy.call_site};
      order<true>(store, barrier == nullptr ? copy.thread : observers_.copier(barrier->number, copy.thread));
      store.is_copied = true;
      if (!copy.is_bulk) observers_.copied(observed<true>(store, copy.thread));
    }
    if (barrier == nullptr && observers_.are_there() && copy.source_bytes != 0) {
      // Until now its source was not to be written.
      last_buffer_ = global_memory().find(copy.from, copy.source_bytes);
      order<false>({Operation::load, copy.from, copy.source_bytes, copy.call_site}, copy.thread);
    }
    if (copy.is_bulk && observers_.are_there()) {
      observers_.copied_in_bulk(scheduler_.current(), copy.call_site, shared_.offset_of(copy.to),
                                {copy.from, copy.bytes});
    }
    std::fill(std::copy_n(copy.from, copy.source_bytes, copy.to), copy.to + copy.bytes, std::byte{});
  }
}

/// Ends the block if the running thread is about to access what a copy is using.
void Block::require_arrived(const Access& access) {
  const bool is_shared = shared_.contains(access.address, access.bytes);
  if (is_shared ? !copies_.may_go_to(shared_.offset_of(access.address), access.bytes)
                : access.operation == Operation::load || !copies_.may_come_from(access.address))
    return;
  const auto overlaps = [&](const AsynchronousCopy& copy) {
    const std::byte* const begin = is_shared ? copy.to : copy.from;
    const std::size_t bytes = is_shared ? copy.bytes : copy.source_bytes;
    return begin < access.address + access.bytes && access.address < begin + bytes;
  };
  const AsynchronousCopy* copy = copies_.find(overlaps);
  for (const auto& [address, barrier] : arrivals_) {
    for (const auto* const copies : {&barrier.of_phase, &barrier.complete}) {
      if (const auto at = std::ranges::find_if(*copies, overlaps); at != copies->end()) copy = &*at;
    }
  }
  if (copy == nullptr) return;
  const std::string memory = is_shared ? shared_.describe(shared_.offset_of(access.address), access.bytes)
                                       : last_buffer_->describe(access.address, access.bytes);
  const bool is_own = copy->thread == scheduler_.current();
  faults_.add({Fault::unfinished_copy,
               memory,
               {by_running_thread(access),
                {{copy->thread}, number_, is_shared ? "is copying to" : "is copying from", copy->call_site}},
               copy->is_bulk ? "wait first for the barrier that the copy arrives at, as by `wait_parity()`"
               : is_own ? "wait for the copy first, as by `__pipeline_wait_prior(0)`, or the barrier's or "
                          "pipeline's `wait`: its group has to be committed before that"
                        : "let the thread that asked for the copy wait for it, and put a `__syncthreads()` "
                          "behind that; or wait for the barrier that the copy arrives at"});
  scheduler_.stop();
}

// ---- barrier objects ----

void Block::init_arrivals(std::byte* address, unsigned count, const void* call_site) {
  const Access store{Operation::store, address, sizeof(std::uint64_t), call_site};
  const AtWork at_work{*this};
  if (reinterpret_cast<std::uintptr_t>(address) % store.bytes != 0) refuse(store);
  if (!shared_.contains(address, store.bytes)) stop_for_stray(store);
  if (observers_.are_there()) order<true>(store, scheduler_.current());
  arrivals_.insert_or_assign(address,
                             ArrivalBarrier{.number = static_cast<unsigned>(arrivals_.size()) % warp_size,
                                            .expected = count,
                                            .missing = count});
}

/// One that has been made.
ArrivalBarrier& Block::arrival_barrier(const std::byte* address, const void* call_site) {
  const Access update{Operation::atomic, address, sizeof(std::uint64_t), call_site};
  const auto known = arrivals_.find(address);
  observers_.call(scheduler_.current());
  if (known == arrivals_.end()) {
    fail(Fault::uninitialised_read, "", "uses a barrier object that nobody has made", call_site,
         "let one thread call `init(&barrier, count)`, and put a `__syncthreads()` behind it");
  }
  if (observers_.are_there()) order<true>(update, scheduler_.current());
  return known->second;
}

std::uint64_t Block::arrive(const std::byte* address, unsigned count, std::int64_t bytes, bool drops,
                            const void* call_site) {
  const AtWork at_work{*this};
  ArrivalBarrier& barrier = arrival_barrier(address, call_site);
  const std::uint64_t phase = barrier.phase;
  if (count > barrier.missing) {
    fail(Fault::invalid_call, "",
         "arrives at a barrier object where " + std::to_string(barrier.missing) + " more of " +
             std::to_string(barrier.expected) + " may arrive in this phase",
         call_site, "make it for as many as arrive: the second argument of `init(&barrier, count)`");
  }
  barrier.bytes += bytes;
  barrier.missing -= count;
  if (drops) barrier.expected -= count;
  if (observers_.are_there() && count != 0) observers_.arrive(scheduler_.current(), barrier.told[phase % 2]);
  end_phase_if_complete(barrier);
  return phase;
}

void Block::copy_bulk(const AsynchronousCopy& copy, const std::byte* address) {
  const AtWork at_work{*this};
  ArrivalBarrier& barrier = arrival_barrier(address, copy.call_site);
  Access load{Operation::load, copy.from, largest_access, copy.call_site};
  Access store{Operation::store, copy.to, largest_access, copy.call_site};
  for (const Access& each : {load, store})
    if (reinterpret_cast<std::uintptr_t>(each.address) % largest_access != 0) refuse(each);
  if (copy.bytes % largest_access != 0) {
    fail(Fault::misaligned, "", "copies " + std::to_string(copy.bytes) + " bytes in bulk", copy.call_site,
         "copy a multiple of 16 bytes in bulk, and what is left by plain loads and stores");
  }
  for (std::size_t at = 0; at < copy.bytes; at += largest_access) {
    load.address = copy.from + at;
    store.address = copy.to + at;
    last_buffer_ = global_memory().find(load.address, load.bytes);
    if (last_buffer_ == nullptr) stop_for_stray(load);
    if (!shared_.contains(store.address, store.bytes)) stop_for_stray(store);
    if (observers_.are_there()) order<false>(load, scheduler_.current());
  }
  AsynchronousCopy by_thread = copy;
  by_thread.thread = scheduler_.current();
  announce(by_thread);
  barrier.bytes -= static_cast<std::int64_t>(copy.bytes);
  barrier.of_phase.push_back(by_thread);
  if (observers_.are_there()) observers_.arrive(by_thread.thread, barrier.told[barrier.phase % 2]);
  end_phase_if_complete(barrier);
}

void Block::bind_copies(const std::byte* address, bool arrives, const void* call_site) {
  {
    const AtWork at_work{*this};
    ArrivalBarrier& barrier = arrival_barrier(address, call_site);
    const unsigned thread = scheduler_.current();
    std::ranges::move(copies_.take_all(thread), std::back_inserter(barrier.of_phase));
    if (observers_.are_there()) observers_.arrive(thread, barrier.told[barrier.phase % 2]);
  }
  if (arrives) arrive(address, 1, 0, false, call_site);
}

void Block::end_phase_if_complete(ArrivalBarrier& barrier) {
  if (barrier.missing != 0 || barrier.bytes != 0) return;
  ++barrier.phase;
  barrier.missing = barrier.expected;
  barrier.told[barrier.phase % 2] = {};
  std::ranges::move(std::exchange(barrier.of_phase, {}), std::back_inserter(barrier.complete));
  watchdog_.meet(static_cast<unsigned>(barrier.waiting.size()));
  for (const unsigned thread : std::exchange(barrier.waiting, {}))
    make_ready(thread);
}

bool Block::await_phase(const std::byte* address, std::uint64_t phase, bool blocks, const void* call_site) {
  const AtWork at_work{*this};
  const unsigned thread = scheduler_.current();
  ArrivalBarrier& barrier = arrival_barrier(address, call_site);
  if (observers_.are_there()) observers_.poll();
  if (barrier.phase == phase && blocks) {
    come_to(State::at_arrival_barrier, call_site);
    barrier.waiting.push_back(thread);
    stop_lane(thread);
    suspend(thread);
    watchdog_.take(thread, call_site, std::as_bytes(std::span{&barrier.phase, 1}));
  }
  if (barrier.phase == phase) {
    scheduler_.give_way();
    return false;
  }
  HappensBefore::Knowledge& told = barrier.told[phase % 2];
  if (!barrier.complete.empty()) {
    const std::vector<AsynchronousCopy> copies = std::exchange(barrier.complete, {});
    const unsigned copier = observers_.are_there() ? observers_.copier(barrier.number, thread) : 0;
    if (observers_.are_there()) observers_.pass(copier, told);
    receive(copies, &barrier);
    if (observers_.are_there()) observers_.arrive(copier, told);
  }
  if (observers_.are_there()) observers_.pass(thread, told);
  return true;
}

/// The last phase of this parity is the present one, or the one before it.
bool Block::await_parity(const std::byte* address, unsigned parity, bool blocks, const void* call_site) {
  const auto known = arrivals_.find(address);
  const std::uint64_t phase = known == arrivals_.end() ? 0 : known->second.phase;
  return await_phase(address, phase % 2 == parity ? phase : phase - 1, blocks, call_site);
}

bool Block::is_global(const std::byte* address) {
  const AtWork at_work{*this};
  return global_memory().find(address, 1) != nullptr;
}

/// Why nobody comes past the barrier.
std::string Block::missing_arrivals_help(const ArrivalBarrier& barrier) {
  if (barrier.missing != 0) {
    return "of the " + std::to_string(barrier.expected) + " arrivals that the barrier was made for " +
           std::to_string(barrier.expected - barrier.missing) +
           " have come in this phase: all of them have to";
  }
  return barrier.bytes > 0 ? "the barrier expects " + std::to_string(barrier.bytes) +
                                 " bytes more than have been copied: expect as many as the copies bring"
                           : "the copies bring " + std::to_string(-barrier.bytes) +
                                 " bytes more than the barrier expects: expect as many as they bring";
}

}  // namespace __emulated
