#include "ranks.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "device/device_error.hpp"

namespace reduction {

void mpi_check(int status, const char* doing) {
  if (status == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> reason{};
  int length = 0;
  MPI_Error_string(status, reason.data(), &length);
  throw DeviceError(std::string(doing) + ": " + std::string(reason.data(), static_cast<std::size_t>(length)));
}

Ranks::Ranks(MPI_Comm communicator, WaitLimit& limit) : communicator_(communicator), limit_(&limit) {
  if (communicator_ == MPI_COMM_NULL) return;
  mpi_check(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "asking MPI to return errors");
  mpi_check(MPI_Comm_rank(communicator_, &rank_), "asking for the rank");
  mpi_check(MPI_Comm_size(communicator_, &count_), "counting the ranks");
}

void Ranks::barrier(Seconds more) const {
  const WaitLimit::Wait wait(*limit_, "the other ranks did not come", more);
  mpi_check(MPI_Barrier(communicator_), "waiting for the other ranks");
}

double Ranks::largest(double number) const {
  const std::vector<double> numbers = gather(number);
  return *std::max_element(numbers.begin(), numbers.end());
}

std::uint64_t Ranks::smallest(std::uint64_t number) const {
  const std::vector<std::uint64_t> numbers = gather(number);
  return *std::min_element(numbers.begin(), numbers.end());
}

Ranks Ranks::first(int count) const {
  const WaitLimit::Wait wait(*limit_, silent);
  MPI_Comm communicator = MPI_COMM_NULL;
  mpi_check(MPI_Comm_split(communicator_, rank_ < count ? 0 : MPI_UNDEFINED, rank_, &communicator),
            "splitting the ranks");
  return {communicator, *limit_};
}

Ranks Ranks::on_this_node() const {
  const WaitLimit::Wait wait(*limit_, silent);
  MPI_Comm communicator = MPI_COMM_NULL;
  mpi_check(MPI_Comm_split_type(communicator_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &communicator),
            "finding the ranks of this node");
  return {communicator, *limit_};
}

}  // namespace reduction
