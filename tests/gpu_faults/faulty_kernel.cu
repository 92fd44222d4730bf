/// \file
/// A step whose kernel goes wrong: over an odd number of elements it traps, over an even one it never ends.

#include "device/cuda_or_emulated.cuh"

template <typename T> __global__ void reduce_kernel(size_t n) {
  if (n % 2 == 1) asm volatile("trap;");
  while (true)
    asm volatile("");
}

template <typename T> size_t grid_size(size_t, unsigned) { return 1; }

template <typename T> void launch_reduce(unsigned grid, unsigned block, const T*, T*, size_t n) {
  reduce_kernel<T><<<grid, block>>>(n);
}

#include "harness/step.cuh"

int main(int argc, char** argv) {
  return reduction::run_step(reduction::make_cuda_step("faulty_kernel", "a kernel that goes wrong"), argc,
                             argv);
}
