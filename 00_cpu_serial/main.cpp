#include "kernel.hpp"

#include "harness/make_cpu_step.hpp"

int main(int argc, char** argv) {
  return reduction::run_cpu_step(reduction::make_cpu_step("00_cpu_serial", "serial sum"), argc, argv);
}
