#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  return reduction::run_step("07_cascade", "many elements a thread", argc, argv);
}
