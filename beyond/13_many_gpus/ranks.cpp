#include "ranks.hpp"

#include <array>

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

void Ranks::broadcast(void* data, std::size_t bytes, int root, Seconds more) const {
  const WaitLimit::Wait wait(*limit_, silent, more);
  mpi_check(MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, root, communicator_), "sending to all ranks");
}

void Ranks::broadcast(std::string& text, int root, Seconds more) const {
  std::size_t length = text.size();
  broadcast(&length, sizeof(length), root, more);
  text.resize(length);
  broadcast(text.data(), length, root);
}

double Ranks::largest(double number) const {
  const WaitLimit::Wait wait(*limit_, silent);
  mpi_check(MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_DOUBLE, MPI_MAX, communicator_),
            "comparing the ranks");
  return number;
}

std::uint64_t Ranks::smallest(std::uint64_t number) const {
  const WaitLimit::Wait wait(*limit_, silent);
  mpi_check(MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_UINT64_T, MPI_MIN, communicator_),
            "comparing the ranks");
  return number;
}

Ranks Ranks::part(int first, int count) const {
  const bool takes_part = rank_ >= first && rank_ < first + count;
  const WaitLimit::Wait wait(*limit_, silent);
  MPI_Comm communicator = MPI_COMM_NULL;
  mpi_check(MPI_Comm_split(communicator_, takes_part ? 0 : MPI_UNDEFINED, rank_, &communicator),
            "splitting the ranks");
  Ranks ranks(communicator, *limit_);
  if (takes_part) {
    MPI_Comm node = ranks.on_this_node().communicator();
    mpi_check(MPI_Comm_free(&node), "counting the nodes");
  }
  return ranks;
}

Ranks Ranks::on_this_node() {
  const WaitLimit::Wait wait(*limit_, silent);
  MPI_Comm communicator = MPI_COMM_NULL;
  mpi_check(MPI_Comm_split_type(communicator_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &communicator),
            "finding the ranks of this node");
  const Ranks node(communicator, *limit_);
  nodes_ = node.rank() == 0 ? 1 : 0;  // each machine has one rank that is the first on it
  mpi_check(MPI_Allreduce(MPI_IN_PLACE, &nodes_, 1, MPI_INT, MPI_SUM, communicator_), "counting the nodes");
  return node;
}

}  // namespace reduction
