#include "job.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "device/device_error.hpp"
#include "harness/options.hpp"

namespace reduction {

namespace {

Ranks start(int argc, char** argv) {
  int provided = 0;
  // The harness has threads, but none of them calls MPI. An error here ends the process: MPI sees to that.
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  return Ranks(MPI_COMM_WORLD);
}

std::string node_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  return {name.data(), static_cast<std::size_t>(length)};
}

}  // namespace

Job::Job(std::string_view program, int argc, char** argv)
    : program_(program), ranks_(start(argc, argv)), node_(ranks_.on_this_node()) {}

Job::~Job() { MPI_Finalize(); }

void Job::agree(const std::function<void()>& body) const {
  ExitCode code = ExitCode::verified;
  std::string what;
  try {
    body();
  } catch (const UsageError& error) {
    code = ExitCode::bad_usage;
    what = error.what();
  } catch (const std::exception& error) {
    code = ExitCode::device_fault;
    what = fmt::format("rank {} on {}: {}", ranks_.rank(), node_name(), error.what());
  }
  const auto nobody = static_cast<std::uint64_t>(ranks_.count());
  const bool failed = code != ExitCode::verified;
  const std::uint64_t speaker = ranks_.smallest(failed ? static_cast<std::uint64_t>(ranks_.rank()) : nobody);
  if (speaker == nobody) return;
  std::size_t length = what.size();
  ranks_.broadcast(&code, sizeof(code), static_cast<int>(speaker));
  ranks_.broadcast(&length, sizeof(length), static_cast<int>(speaker));
  what.resize(length);
  ranks_.broadcast(what.data(), length, static_cast<int>(speaker));
  throw AgreedFailure(code, what);
}

void Job::abort(const std::string& what) const {
  try {
    throw DeviceError(what);
  } catch (const DeviceError&) {
    abort_with_current_exception();
  }
}

void Job::abort_with_current_exception() const {
  const std::string speaker =
      fmt::format("{}: rank {} on {} with {}", program_, ranks_.rank(), node_name(), device_);
  const int code = exit_code_of(speaker, []() -> ExitCode { throw; });
  MPI_Abort(MPI_COMM_WORLD, code);
  std::abort();
}

}  // namespace reduction
