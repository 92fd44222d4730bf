#pragma once
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "emulated/findings/finding.hpp"
#include "emulated/memory/memory.hpp"

namespace __emulated {

/// One thread accesses memory.
Witness access_by(std::size_t block, unsigned thread, Operation operation, const void* call_site);

/// What an uninitialised read has read.
enum class Unwritten {
  shared,  ///< memory
  global,  ///< memory
  tainted  ///< global memory, what an earlier launch has made of what nobody had written
};

/// A fault as it was seen, before its call sites have been looked up.
struct FaultRecord {
  Fault fault;
  std::string memory;  ///< what the first witness does it to, such as "shared[16]"
  std::vector<Witness> witnesses;
  std::string help{};  ///< except for races, whose help depends on each other,
  std::string page{};  ///< and the pitfall that is like it

  // Of a race.
  bool between_warps = false;       ///< these two access sites race in different warps of a block, too
  bool after_warp_barrier = false;  ///< its warp has passed a __syncwarp() since the last block barrier

  bool is_of_copy = false;  ///< one of them is an asynchronous copy's, when it arrives

  Unwritten unwritten{};  ///< of an uninitialised read

  // Of one between blocks.
  std::size_t to_tell = 0;  ///< the witness of whose access the other one's block is to be told
  bool asks = false;        ///< that one knows of an atomic of its block
  bool fences_in_vain =
      false;  ///< the block to tell of it has a fence behind it, and no atomic that goes with one
  bool is_volatile = false;  ///< one of the two accesses
};

/// What has been seen of one block's faults, once for each fault and pair of access sites: the first is as good as thousands.
class FaultLog {
 public:
  /// Whether a fault between these access sites has not been seen in the block before.
  bool is_new(Fault fault, const void* site, const void* other = nullptr) {
    return seen_.insert({fault, site, other}).second;
  }

  /// Notes that two access sites race between warps of the block.
  void add_race_between_warps(const void* site, const void* other) {
    between_warps_.insert(std::minmax(site, other));
  }

  void add(FaultRecord record) { records_.push_back(std::move(record)); }
  bool empty() const { return records_.empty(); }

  /// Hands the records over and forgets them.
  std::vector<FaultRecord> take();

 private:
  std::set<std::tuple<Fault, const void*, const void*>> seen_;
  std::set<std::pair<const void*, const void*>> between_warps_;
  std::vector<FaultRecord> records_;
};

/// Puts records into words, one finding for each fault and set of source lines. \param kernel  the kernel's
/// entry, by which it is named.
std::vector<Finding> findings_from(std::vector<FaultRecord> records, const void* kernel);

/// The name of a kernel in its source, without template arguments, such as "reduce_kernel"; "" if it is not known.
/// \param kernel  its entry.
std::string kernel_name(const void* kernel);

}  // namespace __emulated
