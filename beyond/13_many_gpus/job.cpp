#include "job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "device/device_error.hpp"
#include "harness/options.hpp"

namespace reduction {

namespace {

Ranks start(int argc, char** argv, WaitLimit& limit) {
  int provided = 0;
  // The harness has threads, but none of them calls MPI. An error here ends the process: MPI sees to that.
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  return Ranks(MPI_COMM_WORLD, limit);
}

std::string node_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  return {name.data(), static_cast<std::size_t>(length)};
}

/// Returns "'--weak'"; "'-n 100'" for the value of an option.
std::string quoted(const std::vector<std::string>& words, std::size_t k) {
  if (k >= words.size()) return "no option";
  const bool is_value = k > 0 && words[k - 1].starts_with('-') && !words[k].starts_with('-');
  return is_value ? fmt::format("'{} {}'", words[k - 1], words[k]) : fmt::format("'{}'", words[k]);
}

}  // namespace

Job::Job(std::string_view program, int argc, char** argv)
    : program_(program),
      wait_limit_([this](const std::string& what) { end_too_late(what); }),
      ranks_(start(argc, argv, wait_limit_)),
      node_(MPI_COMM_NULL, wait_limit_) {
  try {
    name_device("no device yet");
    node_ = ranks_.on_this_node();
  } catch (...) {
    abort_with_current_exception();
  }
}

Job::~Job() {
  const WaitLimit::Wait wait(wait_limit_, "the other ranks did not come to their end");
  MPI_Finalize();
}

void Job::name_device(const std::string& name) {
  speaker_ = fmt::format("{}: rank {} on {} with {}", program_, ranks_.rank(), node_name(), name);
}

void Job::require_same_words(int argc, const char* const* argv) const {
  const std::vector<std::string> own(argv + 1, argv + argc);
  std::size_t count = own.size();
  ranks_.broadcast(&count, sizeof(count));
  std::vector<std::string> of_rank_0 = own;
  of_rank_0.resize(count);
  for (std::string& word : of_rank_0)
    ranks_.broadcast(word);
  agree([&] {
    if (own == of_rank_0) return;
    const auto [first, other] = std::mismatch(own.begin(), own.end(), of_rank_0.begin(), of_rank_0.end());
    const auto k = static_cast<std::size_t>(first - own.begin());
    throw UsageError(fmt::format("rank {} has {} where rank 0 has {}: give all ranks the same options",
                                 ranks_.rank(), quoted(own, k), quoted(of_rank_0, k)));
  });
}

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
  ranks_.broadcast(&code, sizeof(code), static_cast<int>(speaker));
  ranks_.broadcast(what, static_cast<int>(speaker));
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
  const int code = exit_code_of(speaker_, []() -> ExitCode { throw; });
  MPI_Abort(MPI_COMM_WORLD, code);
  std::abort();
}

void Job::end_too_late(const std::string& what) const {
  // All others wait for the same rank. The first to end makes mpirun or srun end the rest.
  std::this_thread::sleep_for(std::chrono::seconds(3 * std::min(ranks_.rank(), 4)));
  const int code = exit_code_of(speaker_, [&]() -> ExitCode {
    throw DeviceError(fmt::format("{} within {} s (--time-limit)", what, wait_limit_.limit().count()));
  });
  std::_Exit(code);  // neither MPI, in which the rank may be, nor its destructors would come to an end
}

}  // namespace reduction
