#include "command_line.hpp"

#include <fmt/format.h>

#include <charconv>

#include "harness/text_options.hpp"

namespace reduction {

namespace {

/// Every rank takes the GPU of its own number on its node: the command line, which all of them share, names none.
DeviceChoice::Kind parse_device_kind(const std::string& text) {
  if (text == "auto") return DeviceChoice::Kind::automatic;
  if (text == "cuda") return DeviceChoice::Kind::cuda;
  if (text == "emulated") return DeviceChoice::Kind::emulated;
  throw UsageError(fmt::format("--device '{}': choose one of auto, cuda, emulated", text));
}

Combiner parse_combiner(const std::string& text) {
  if (text == "auto") return Combiner::automatic;
  if (text == "kernels") return Combiner::kernels;
  if (text == "nccl") return Combiner::nccl;
  if (text == "mpi") return Combiner::mpi;
  throw UsageError(fmt::format("--combine '{}': choose one of auto, kernels, nccl, mpi", text));
}

std::chrono::seconds parse_time_limit(const std::string& text) {
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || seconds < 1 || seconds > 86'400) {
    throw UsageError(fmt::format("--time-limit '{}': give a whole number of seconds from 1 to 86400", text));
  }
  return std::chrono::seconds(seconds);
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv, std::string_view name,
                               std::string_view title) {
  CommandLine line;
  TextOptions app(name,
                  fmt::format("{}: {}. Every rank sums a part of n elements; the parts' sums are combined. "
                              "Start it with mpirun or srun.",
                              name, title));
  app.add_version();
  app.add("-n,--elements", "COUNT",
          "how many, split over the ranks; as 1000003, 2^28 or 64M; default 2^28 on GPUs, 2^20 emulated",
          parse_elements, line.elements);
  app.add_flag("--weak", "COUNT is what each rank has, not all of them together", line.weak);
  app.add_flag("--scaling", "a row for 1, 2, 4, ... ranks, and for all of them", line.scaling);
  app.add_flag("--alone", "each rank's part by itself, one after the other: a slow card is seen", line.alone);
  app.add("-t,--type", "TYPE", "int32 (default), int64, float32, float64, complex64 or complex128",
          parse_type, line.type);
  app.add("-s,--samples", "COUNT", "timed runs; default: until they agree within 0.5 %, for 2 s at most",
          parse_samples, line.samples);
  app.add_flag("--host-clock", "time by the hosts' clocks, with launches; default: by the GPUs'",
               line.host_clock);
  app.add(
      "--combine", "WHO",
      "makes one sum of the ranks': kernels (in memory that all devices reach), nccl, mpi (on the host) or "
      "auto (default: kernels where all devices reach each other's memory, else nccl for GPUs, else mpi)",
      parse_combiner, line.combine);
  app.add("--time-limit", "SECONDS",
          "how long a rank waits for the others before it ends the job; default 60", parse_time_limit,
          line.time_limit);
  app.add("--seed", "NUMBER", "of the random input; default 1", parse_seed, line.seed);
  app.add("--data", "KIND", "random (default), ones or cancelling", parse_data, line.data);
  app.add("--device", "KIND",
          "auto (default: GPUs where there are any), cuda (a GPU for each rank) or emulated",
          parse_device_kind, line.device);
  app.add_file("--json", "also write the results there; - for stdout", line.json_file);
  app.add_flag("-q,--quiet", "print the result rows only", line.quiet);

  line.answer = app.read(argc, argv);
  if (line.alone && line.scaling)
    throw UsageError("--alone and --scaling are two runs: each rank by itself, and more and more together");
  return line;
}

}  // namespace reduction
