#pragma once

#include <memory>

#include "harness/device.hpp"
#include "rank_kernels.hpp"
#include "ranks.hpp"

namespace reduction {

/// Device memory of one rank or several, in which their kernels leave their sums for each other. A new one is of a device that
/// has no neighbours.
class Mailboxes {
 public:
  /// Throws DeviceError if there is no memory.
  Mailboxes(Device& device, const RankKernel& kernel);
  virtual ~Mailboxes() = default;
  Mailboxes(const Mailboxes&) = delete;
  Mailboxes& operator=(const Mailboxes&) = delete;

  const Neighbours& neighbours() const { return neighbours_; }

  /// Makes all ranks of a machine neighbours, and all mailboxes zero. By all. Returns false on all ranks if a device does not
  /// reach another's memory.
  virtual bool share(const Ranks& ranks) = 0;

 protected:
  DeviceBuffer own_;
  DeviceBuffer partial_;
  Neighbours neighbours_;
};

/// Makes a mailbox for the kind of device.
std::unique_ptr<Mailboxes> make_mailboxes(Device& device, const RankKernel& kernel);

/// Does so for a GPU: CUDA's interprocess handles, and peer access over NVLink or PCIe. Throws DeviceError in a build without
/// CUDA.
std::unique_ptr<Mailboxes> make_gpu_mailboxes(Device& device, const RankKernel& kernel);

}  // namespace reduction
