#!/usr/bin/env bash
# A step's kernels for the emulated device are an object that shows one function. nvcc's object of the same step has
# templates of the same names, and a linker that saw both would keep one of them for both devices.
#   emulated_objects_test.sh OBJECT...
set -euo pipefail

for object; do
  shown=$(nm --extern-only --defined-only --demangle --format=just-symbols "$object")
  if [[ $shown != "reduction::emulated_step_kernels()" ]]; then
    echo "FAILED: $object shows"
    echo "$shown"
    exit 1
  fi
done
