#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>

/// Memory that several emulated devices share, each in a process of its own: words, one at a time, and visible to all.
namespace __emulated {

/// Thrown out of a launch whose kernel has waited for other devices for too long.
struct NoWordFromPeers : std::exception {
  const char* what() const noexcept override { return "the other devices have written nothing for too long"; }
};

/// Sets how long a kernel may wait for a word to change; a minute at first.
void set_peer_limit(std::chrono::seconds limit);

/// Returns the word. A kernel that asks again and again waits for another process: it gets less and less of the host's time.
std::uint64_t load_from_peers(std::uint64_t& word);

void store_for_peers(std::uint64_t& word, std::uint64_t value);

/// How often the calling host thread has called either.
std::size_t calls_of_peers();

}  // namespace __emulated
