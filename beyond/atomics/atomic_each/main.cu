#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  return reduction::run_step("atomic_each", "one atomic addition an element", argc, argv);
}
