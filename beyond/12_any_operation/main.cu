#include "kernel.cuh"

#include "harness/step.cuh"

int main(int argc, char** argv) {
  return reduction::run_library("12_any_operation", "a header for any type and operation", argc, argv);
}
