#pragma once

#include <memory>
#include <string>

#include "harness/device.hpp"
#include "mailboxes.hpp"

namespace reduction {

/// Who makes one sum of the ranks' sums.
enum class Combiner { automatic, kernels, nccl, mpi };

/// What a combination needs to know. The objects outlive it.
struct CombineSettings {
  const Ranks& ranks;  ///< those that take part
  Device& device;
  const RankKernel& kernel;
  ElementType type;
};

/// Makes one sum of all ranks' sums, on every rank. A complex element is two reals, which are added each for itself; integers
/// wrap around, as unsigned ones do.
class Combine {
 public:
  explicit Combine(const CombineSettings& settings);
  virtual ~Combine() = default;

  /// Returns who does it, for the report: "NCCL 2.28.9".
  virtual std::string name() const = 0;

  /// Returns the devices whose kernels leave one sum: of all ranks, or this one alone.
  const Neighbours& neighbours() const { return mailboxes_->neighbours(); }

  /// Returns where they leave it, in device memory.
  void* sum() const { return sum_.data(); }

  /// Starts to combine what those kernels, launched before, leave there. By all.
  virtual void start() = 0;

  /// Waits until this rank has the sum of all, within the time limit. By all.
  virtual void wait() = 0;

  /// Returns it, on the host.
  virtual Value value();

  /// Queues a meeting of all ranks' devices: none goes on before all have come. Returns false if they cannot meet without
  /// their hosts. By all.
  virtual bool meet() = 0;

 protected:
  CombineSettings settings_;
  std::unique_ptr<Mailboxes> mailboxes_;
  DeviceBuffer sum_;
  DeviceBuffer meeting_;  ///< an element for meet()
};

/// Makes the one that was chosen: the kernels combine in memory that all ranks' devices reach, MPI on the host, as every machine
/// can. By all.
std::unique_ptr<Combine> make_combine(const CombineSettings& settings, Combiner combiner);

/// Makes the one from GPU to GPU, over NVLink or the network, without the host. By all. Throws DeviceError in a build without
/// NCCL.
std::unique_ptr<Combine> combine_by_nccl(const CombineSettings& settings);

/// Says whether this build has NCCL.
bool has_nccl();

}  // namespace reduction
