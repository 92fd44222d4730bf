#!/usr/bin/env bash
# Each test that takes 16 GiB of a GPU's memory takes turns with the others: beside each other they need more than a GPU
# has. Reads what CMake has written for CTest, as a CTest inside of CTest would overwrite its log.
#   gpu_memory_turns_test.sh FOLDER
set -euo pipefail

listed=$(grep -h 'NeedsMoreThan32BitsForAnIndex.* PROPERTIES ' "$1"/gpu_test*_tests.cmake) ||
  { echo "FAILED: there is no such test: is gpu_test built?" && exit 1; }
if beside=$(grep -v ' RESOURCE_LOCK gpu_memory' <<<"$listed"); then
  echo "FAILED: these take no turns:"
  echo "$beside"
  exit 1
fi
