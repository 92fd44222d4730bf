#pragma once
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/emulated/evidence.hpp"
#include "device/emulated/fence_order.hpp"
#include "device/emulated/global_memory.hpp"
#include "device/emulated/happens_before.hpp"
#include "device/emulated/launch_accesses.hpp"
#include "device/emulated/operation.hpp"

namespace reduction::emulated {

/// "4-byte word 10 of a global buffer of 10": words as wide as the access, counted from the buffer's
/// beginning.
std::string describe_global(const Access& access, const Buffer& buffer);

/// Remembers what the threads of a block did to each word of global memory that the launch may store to, and with
/// that sees races within the block. What other blocks need to know of it goes to LaunchAccesses at its end.
class GlobalChecker {
 public:
  /// \param fences  the block's, which outlive this.
  explicit GlobalChecker(FenceOrder& fences) : fences_{fences} {}

  void check(const Access& access, Buffer& buffer, unsigned thread, std::size_t block,
             const HappensBefore& order, CaseFile& findings);

  /// Hands over what the block did: its races to `findings`, the rest to `launch`.
  void end_block(std::size_t block, CaseFile& findings, LaunchAccesses& launch);

 private:
  /// The last of a thread's accesses of one kind to a word.
  struct Record {
    Operation operation;
    bool acquired;
    bool unwritten;
    unsigned thread;
    const void* call_site;
    std::size_t bytes;
    Moment moment;
    FenceOrder::Point point;
  };

  struct Word {
    const Buffer* buffer;
    std::vector<Record> records;  ///< sorted
  };

  struct Race {
    const std::byte* word;
    const Buffer* buffer;
    Record one;
    Record other;
  };

  void check_word(const std::byte* address, const Buffer& buffer, Record self, const HappensBefore& order);
  void note_race(const Race& race);

  FenceOrder& fences_;
  std::unordered_map<const std::byte*, Word> words_;
  std::vector<Race> races_;  ///< one for each pair of places
};

}  // namespace reduction::emulated
