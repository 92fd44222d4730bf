#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  return reduction::run_library("peer_thrust", "thrust::reduce", argc, argv);
}
