#pragma once
/// \file
/// The part of MPI that this step needs. Every function that is called `by all` must be called by every rank, in the
/// same order; every one throws DeviceError if MPI reports an error.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/value.hpp"

namespace reduction {

/// Throws DeviceError, with what was being done and MPI's own reason, unless `status` is MPI_SUCCESS.
void mpi_check(int status, const char* doing);

/// Ranks that work together: an MPI communicator. It lives until MPI_Finalize.
class Ranks {
 public:
  /// Turns MPI's errors on this communicator into DeviceErrors. By default they would end the process without a word of
  /// who it was.
  explicit Ranks(MPI_Comm communicator);

  MPI_Comm communicator() const { return communicator_; }
  int rank() const { return rank_; }    ///< this process's number, from 0
  int count() const { return count_; }  ///< of ranks

  /// Waits for the others; by all.
  void barrier() const;

  /// Overwrites `bytes` at `data`, or `text`, with those of rank `root`; by all.
  void broadcast(void* data, std::size_t bytes, int root = 0) const;
  void broadcast(std::string& text, int root = 0) const;

  /// Returns the largest of all ranks' numbers; by all.
  double largest(double number) const;

  /// Returns the smallest of all ranks' numbers; by all.
  std::uint64_t smallest(std::uint64_t number) const;

  /// Returns the values of all ranks on rank 0, elsewhere nothing; by all.
  std::vector<Value> gather(const Value& value) const;

  /// Makes the first `count` ranks a communicator of their own; on the others, it means nothing. By all.
  Ranks first(int count) const;

  /// Returns the ranks of this one that share its machine; by all.
  Ranks on_this_node() const;

  /// Returns the number of machines that the ranks are on; by all.
  int count_nodes() const;

 private:
  MPI_Comm communicator_;
  int rank_ = -1;
  int count_ = 0;
};

}  // namespace reduction
