#include "emulated/memory/peer_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>

#include "emulated/run/block.hpp"

namespace __emulated {

namespace {

using WallClock = std::chrono::steady_clock;

/// What the calling host thread has found in the words that it has asked for last.
struct Seen {
  const std::uint64_t* word = nullptr;
  std::uint64_t value = 0;
};
thread_local std::array<Seen, 4096> seen{};  // more than one result has words

/// Words that one thread asks for in turn may be any power of two apart: Fibonacci hashing (Knuth, The Art of Computer
/// Programming, volume 3, 6.4).
std::size_t place_of(const std::uint64_t* word) {
  return reinterpret_cast<std::uintptr_t>(word) * 0x9E3779B97F4A7C15u >> 52;
}

/// How often and how long the calling host thread has asked in vain since it last sent something, or found that something has
/// come. While the process is suspended, it does not ask.
thread_local unsigned asked_in_vain = 0;
thread_local WallClock::duration waited{};
thread_local WallClock::time_point last_asked{};

thread_local std::size_t calls = 0;

void note_news() {
  asked_in_vain = 0;
  waited = {};
}

std::atomic<std::chrono::seconds> limit{std::chrono::seconds{60}};

}  // namespace

void set_peer_limit(std::chrono::seconds new_limit) { limit = new_limit; }

std::uint64_t load_from_peers(std::uint64_t& word) {
  constexpr WallClock::duration longest_pause = std::chrono::milliseconds{1};
  constexpr WallClock::duration longest_question = std::chrono::milliseconds{50};
  constexpr unsigned questions_of_a_block = 4096;  // each of its threads may ask for the same words
  ++calls;
  Seen& before = seen[place_of(&word)];
  if (before.word == &word) Block::running()->give_way();  // others of the block may have to send first
  const std::uint64_t value = std::atomic_ref(word).load();
  if (before.word == &word && before.value != value) {
    note_news();
  } else if (before.word == &word && ++asked_in_vain > questions_of_a_block) {
    const WallClock::time_point now = WallClock::now();
    waited += std::min<WallClock::duration>(now - std::exchange(last_asked, now), longest_question);
    if (waited > limit.load()) throw NoWordFromPeers{};
    std::this_thread::sleep_for(std::min(waited / 64, longest_pause));
  }
  before = {&word, value};
  return value;
}

void store_for_peers(std::uint64_t& word, std::uint64_t value) {
  ++calls;
  std::atomic_ref(word).store(value);
  note_news();
}

std::size_t calls_of_peers() { return calls; }

}  // namespace __emulated
