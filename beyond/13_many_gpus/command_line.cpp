#include "command_line.hpp"

#include <fmt/format.h>

namespace reduction {

CommandLine parse_command_line(int argc, const char* const* argv, std::string_view name,
                               std::string_view title) {
  CommandLine line;
  OptionParser app(std::string(name),
                   fmt::format("{}: {}. Every rank sums a part of n elements; the parts' sums are combined. "
                               "Start it with mpirun or srun.",
                               name, title));
  app.add_version();
  app.add("-n,--elements", "COUNT",
          "how many, split over the ranks; as 1000003, 2^28 or 64M; default 2^28 on GPUs, 2^20 emulated",
          line.elements, elements_reader());
  app.add_flag("--weak", "COUNT is what each rank has, not all of them together", line.weak);
  app.add_flag("--scaling", "a row for 1, 2, 4, ... ranks, and for all of them", line.scaling);
  app.add_flag("--alone", "each rank's part by itself, one after the other: a slow card is seen", line.alone);
  app.add("-t,--type", "TYPE", "int32 (default), int64, float32, float64, complex64 or complex128", line.type,
          type_reader());
  app.add("-s,--samples", "COUNT", "timed runs; default: until they agree within 0.5 %, for 2 s at most",
          line.samples, samples_reader());
  app.add_flag("--host-clock", "time by the hosts' clocks, with launches; default: by the GPUs'",
               line.host_clock);
  app.add(
      "--combine", "WHO",
      "makes one sum of the ranks': kernels (in memory that all devices reach), nccl, mpi (on the host) or "
      "auto (default: kernels where all devices reach each other's memory, else nccl for GPUs, else mpi)",
      line.combine,
      one_of<Combiner>({{"auto", Combiner::automatic},
                        {"kernels", Combiner::kernels},
                        {"nccl", Combiner::nccl},
                        {"mpi", Combiner::mpi}}));
  app.add("--time-limit", "SECONDS",
          "how long a rank waits for the others before it ends the job; default 60", line.time_limit,
          number(1, 86'400));
  app.add("--seed", "NUMBER", "of the random input; default 1", line.seed, seed_reader());
  app.add("--data", "KIND", "random (default), ones or cancelling", line.data, data_reader());
  // Every rank takes the GPU of its own number on its node: the command line, which all of them share, names none.
  using Kind = DeviceChoice::Kind;
  app.add("--device", "KIND",
          "auto (default: GPUs where there are any), cuda (a GPU for each rank) or emulated", line.device,
          one_of<Kind>({{"auto", Kind::automatic}, {"cuda", Kind::cuda}, {"emulated", Kind::emulated}}));
  app.add_file("--json", "also write the results there; - for stdout", line.json_file);
  app.add_flag("-q,--quiet", "print the result rows only", line.quiet);

  line.answer = app.read(argc, argv);
  if (line.alone && line.scaling)
    throw UsageError("--alone and --scaling are two runs: each rank by itself, and more and more together");
  return line;
}

}  // namespace reduction
