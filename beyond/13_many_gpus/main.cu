#include "rank_kernels.hpp"

int main(int argc, char** argv) {
  using namespace reduction;
  return run_ranks({"13_many_gpus", "more than one GPU", cuda_rank_kernels(), &emulated_rank_kernels()}, argc,
                   argv);
}
