#include "emulated/run/polls.hpp"

#include <algorithm>
#include <utility>

#include "emulated/run/splitmix64.hpp"

namespace __emulated {

std::uint64_t Polls::value_at(const std::byte* address, std::size_t bytes) {
  // By calls of the compiler's own: memcpy() is a kernel's here.
  const auto as = [address]<typename Word>(Word word) {
    __builtin_memcpy(&word, address, sizeof(word));
    return std::uint64_t{word};
  };
  switch (bytes) {
    case 1: return as(std::uint8_t{});
    case 2: return as(std::uint16_t{});
    case 4: return as(std::uint32_t{});
    case 16: return as(std::uint64_t{}) ^ mixed(value_at(address + 8, 8));
    default: return as(std::uint64_t{});
  }
}

bool Polls::is_in_vain(unsigned thread, const Access& access, std::size_t accesses) {
  Thread& self = threads_[thread];
  if (self.block != block_) self = {.block = block_};
  const std::size_t other_accesses = accesses - looks_;
  const bool is_alone = std::exchange(self.other_accesses, other_accesses) == other_accesses;
  for (Look& look : self.looks) {
    if (look.address != access.address || look.call_site != access.call_site || look.bytes != access.bytes)
      continue;
    const std::uint64_t value = value_at(look.address, look.bytes);
    const bool is_new = !look.has_value || look.value != value;
    look.value = value;
    look.has_value = true;
    self.last = static_cast<unsigned>(&look - self.looks.data());
    self.in_vain = is_new || !is_alone ? 0 : self.in_vain + 1;
    return self.in_vain >= self.patience;
  }
  self.in_vain = 0;
  self.patience = patience_at_first;
  self.looks[self.next++ % self.looks.size()] = {access.call_site, access.address, 0,
                                                 static_cast<std::uint32_t>(access.bytes), false};
  return false;
}

void Polls::sleep(unsigned thread) {
  const Look& look = threads_[thread].looks[threads_[thread].last];
  sleepers_.push_back({thread, look.call_site, look.address, look.bytes, look.value});
}

bool Polls::is_any_due() const { return std::ranges::any_of(sleepers_, &Sleeper::is_due); }

}  // namespace __emulated
