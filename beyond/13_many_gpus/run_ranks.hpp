#pragma once

#include "rank_kernels.hpp"

namespace reduction {

/// Does all that the main of one rank of many does: MPI, options, device, shard, combination, timing,
/// verification, report. Returns the exit code (exit_code.hpp); where this rank alone fails, it ends the whole job
/// instead.
int run_ranks(const RankStep& step, int argc, char** argv);

}  // namespace reduction
