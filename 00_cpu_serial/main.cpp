#include "kernel.hpp"

#include "harness/make_cpu_step.hpp"

int main(int argc, char** argv) {
  const auto step = reduction::make_cpu_step("00_cpu_serial", "a serial sum, and the same sum as a tree");
  return reduction::run_cpu_step(step, argc, argv);
}
