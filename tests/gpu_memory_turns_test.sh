#!/usr/bin/env bash
# Each test that takes 16 GiB of a GPU's memory takes turns with the others: beside each other they need more than a GPU
# has. Reads what CMake has written for CTest, as a CTest inside of CTest would overwrite its log.
#   gpu_memory_turns_test.sh FOLDER
set -euo pipefail

# A line for each test: CMake has come to spread its properties over several, and to quote them in brackets.
listed=$(cat "$1"/gpu_test*_tests.cmake | tr '\n' ' ' | sed 's/add_test(/\n&/g' | grep 'NeedsMoreThan32BitsForAnIndex') ||
  { echo "FAILED: there is no such test: is gpu_test built?" && exit 1; }
if beside=$(grep -vE 'RESOURCE_LOCK[] =[]*gpu_memory' <<<"$listed"); then
  echo "FAILED: these take no turns:"
  echo "$beside"
  exit 1
fi
