#include "job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "device/device_error.hpp"
#include "harness/exit_code.hpp"

namespace reduction {

namespace {

Ranks start(int argc, char** argv, WaitLimit& limit) {
  int provided = 0;
  // The harness has threads, but none of them calls MPI. An error here ends the process: MPI sees to that.
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  return {MPI_COMM_WORLD, limit};
}

}  // namespace

Job::Job(std::string_view program, int argc, char** argv)
    : program_(program),
      speaker_(program),
      wait_limit_([this](const std::string& what) { end_too_late(what); }),
      ranks_(start(argc, argv, wait_limit_)),
      node_(ranks_.on_this_node()) {}

Job::~Job() {
  const WaitLimit::Wait wait(wait_limit_, "the other ranks did not come to their end");
  MPI_Finalize();
}

void Job::name_device(const std::string& name) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> node{};
  int length = 0;
  MPI_Get_processor_name(node.data(), &length);
  speaker_ = fmt::format("{}: rank {} on {} with {}", program_, ranks_.rank(), node.data(), name);
}

int Job::exit_code_of_failure(const std::exception_ptr& failure) const {
  // The first to end makes mpirun or srun end the rest.
  std::this_thread::sleep_for(std::chrono::seconds(std::min(ranks_.rank(), 4)));
  return exit_code_of(speaker_, [&]() -> ExitCode { std::rethrow_exception(failure); });
}

void Job::abort_with_current_exception() const {
  MPI_Abort(MPI_COMM_WORLD, exit_code_of_failure(std::current_exception()));
  std::abort();
}

void Job::end_too_late(const std::string& what) const {
  const auto limit = wait_limit_.limit().count();
  const int code = exit_code_of_failure(
      std::make_exception_ptr(DeviceError(fmt::format("{} within {} s (--time-limit)", what, limit))));
  std::_Exit(code);  // neither MPI, in which the rank may be, nor its destructors would come to an end
}

}  // namespace reduction
