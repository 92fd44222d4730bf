#include "kernel.hpp"

#include "harness/make_cpu_step.hpp"

int main(int argc, char** argv) {
  const auto step = reduction::make_cpu_step("00_cpu_serial", "serial sum");
  return reduction::run_cpu_step(step, argc, argv);
}
