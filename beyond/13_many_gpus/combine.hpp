#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "harness/device.hpp"
#include "harness/element_type.hpp"
#include "harness/value.hpp"
#include "job.hpp"

namespace reduction {

/// Adds the sums of all ranks: one element of each goes in, and every rank gets the result (an all-reduce). A complex
/// element is two reals, which are added each for itself; integers wrap around, as unsigned ones do.
class Combine {
 public:
  virtual ~Combine() = default;

  /// Overwrites the last result with a pattern that is no plausible one.
  virtual void poison() = 0;

  /// Starts to combine: this rank's part is the element at `partial` in device memory, which the kernels that were
  /// launched before write. By all.
  virtual void start(const void* partial) = 0;

  /// Waits until this rank has the result; ends the job when it takes longer than the time limit. By all.
  virtual void wait() = 0;

  /// Returns the result, on the host.
  virtual Value sum() = 0;
};

/// What a combination needs to know. The objects outlive it.
struct CombineSettings {
  const Job& job;
  const Ranks& ranks;  ///< those that take part
  Device& device;
  ElementType type;
  std::chrono::seconds time_limit;
};

/// Combines on the host, by MPI: every machine can. By all.
std::unique_ptr<Combine> combine_by_mpi(const CombineSettings& settings);

/// Combines from GPU to GPU, by NCCL: over NVLink or the network, without the host. A build without NCCL has none, and
/// gives null. By all.
std::unique_ptr<Combine> combine_by_nccl(const CombineSettings& settings);

/// Returns "NCCL 2.28.9"; empty in a build without it.
std::string nccl_name();

}  // namespace reduction
