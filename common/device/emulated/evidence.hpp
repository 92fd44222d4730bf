#pragma once
#include <cstddef>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "device/emulated/finding.hpp"
#include "device/emulated/source_line.hpp"

namespace reduction::emulated {

/// Threads of one block that have a part in a fault, and where in the kernel.
struct Witness {
  std::string threads;  ///< "thread 3", "threads 0-31"
  std::size_t block = 0;
  std::string deed;                 ///< "reads", "waits at __syncthreads()"
  const void* call_site = nullptr;  ///< the place as a return address,
  SourceLine line;                  ///< or as a source line, where that is known
};

/// A fault as it was seen, before its places have been looked up.
struct Evidence {
  Fault fault;
  std::string memory;  ///< what the first witness does it to, such as "4-byte word 16 of shared memory"
  std::vector<Witness> witnesses;
};

/// The evidence against one block, once for each fault and pair of places: the first is as good as thousands.
class CaseFile {
 public:
  /// Whether a fault between these places has not been seen in the block before.
  bool is_new(Fault fault, const void* place, const void* other = nullptr) {
    return seen_.insert({fault, place, other}).second;
  }

  void add(Evidence evidence) { evidence_.push_back(std::move(evidence)); }
  bool empty() const { return evidence_.empty(); }

  /// Closes the case: hands the evidence over and forgets it.
  std::vector<Evidence> take();

 private:
  std::set<std::tuple<Fault, const void*, const void*>> seen_;
  std::vector<Evidence> evidence_;
};

/// Puts evidence into words, one finding for each fault and set of source lines. \param kernel  the kernel's
/// entry, by which it is named.
std::vector<Finding> findings_from(const std::vector<Evidence>& evidence, const void* kernel);

/// "thread 4", "threads 0-31, 40": ascending numbers as ranges.
std::string describe_threads(const std::vector<unsigned>& numbers);

}  // namespace reduction::emulated
