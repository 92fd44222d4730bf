#pragma once
/// \file
/// The part of MPI that this step needs. Every function that is called `by all` must be called by every rank, in the
/// same order; every one throws DeviceError if MPI reports an error. Where a rank waits for others it does so within the limit.

#include <mpi.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "wait_limit.hpp"

namespace reduction {

/// What is waited for in vain where one rank waits for what another says.
inline constexpr const char* silent = "the other ranks said nothing";

/// Throws DeviceError, with what was being done and MPI's own reason, unless `status` is MPI_SUCCESS.
void mpi_check(int status, const char* doing);

/// Ranks that work together: an MPI communicator. It lives until MPI_Finalize.
class Ranks {
 public:
  /// Turns MPI's errors on this communicator into DeviceErrors. By default they would end the process without a word of
  /// who it was. The limit outlives it.
  Ranks(MPI_Comm communicator, WaitLimit& limit);

  MPI_Comm communicator() const { return communicator_; }
  WaitLimit& limit() const { return *limit_; }
  int rank() const { return rank_; }    ///< this process's number, from 0
  int count() const { return count_; }  ///< of ranks

  /// Waits for the others, which may take so much longer than the limit; by all.
  void barrier(Seconds more = {}) const;

  /// Returns the largest of all ranks' numbers; by all.
  double largest(double number) const;

  /// Returns the smallest of all ranks' numbers; by all.
  std::uint64_t smallest(std::uint64_t number) const;

  /// Returns the values of all ranks, in their order. The others may take so much longer than the limit; by all.
  template <typename T> std::vector<T> gather(const T& value, Seconds more = {}) const;

  /// Makes the first `count` ranks a communicator of their own; on the others, it means nothing. By all.
  Ranks first(int count) const;

  /// Returns the ranks that share this one's machine; by all.
  Ranks on_this_node() const;

 private:
  MPI_Comm communicator_;
  WaitLimit* limit_;
  int rank_ = -1;
  int count_ = 0;
};

template <typename T> std::vector<T> Ranks::gather(const T& value, Seconds more) const {
  static_assert(std::is_trivially_copyable_v<T>);
  const WaitLimit::Wait wait(*limit_, silent, more);
  std::vector<T> values(static_cast<std::size_t>(count_));
  mpi_check(MPI_Allgather(&value, sizeof(T), MPI_BYTE, values.data(), sizeof(T), MPI_BYTE, communicator_),
            "collecting what the ranks have");
  return values;
}

}  // namespace reduction
