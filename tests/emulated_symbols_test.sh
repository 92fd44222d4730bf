#!/usr/bin/env bash
# The emulated device's types and variables are not CUDA's of the same names, which nvcc compiles into the same program: no
# symbol has them without a namespace.
#   emulated_symbols_test.sh OBJECT...
# 77, and so skipped, where there is no nm.
set -euo pipefail
command -v nm >/dev/null || { echo "skipped: there is no nm here" && exit 77; }

names='dim3|u?int3|float3|threadIdx|blockIdx|blockDim|gridDim|warpSize'
symbols=$(nm --demangle "$@" 2>/dev/null)
grep -q 'reduction::emulated::' <<<"$symbols" || { echo "FAILED: these are no objects of the emulated device" && exit 1; }
if global=$(sed -E "s/reduction::emulated::($names)//g" <<<"$symbols" | grep -Ew "$names"); then
  echo "FAILED: global names of CUDA's:"
  sort -u <<<"$global"
  exit 1
fi
