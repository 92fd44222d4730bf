#!/usr/bin/env bash
# Runs the GPU steps on the emulated device and writes their counters beside those of each docs/counters/<gpu>.csv into
# docs/counters/README.md, between the lines <!-- counters:begin --> and <!-- counters:end -->.
#
#   docs/counters/generate_table.sh [--check] [--bin FOLDER]
#
#   --check        change nothing: only say whether the README is stale
#   --bin FOLDER   the steps' executables and counter_comparison; default build/bin
#
# Exit code: 0 up to date, 1 stale, or a GPU that counts otherwise (the table then shows where), 2 bad usage, or no
# executables.

set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
source docs/sections.sh
source docs/counters/steps.sh

bin=build/bin
results=()

main() {
  local status=0
  read_options "$@"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  run_steps
  compare >"$work/tables" || status=$?
  if ((status > 1)); then exit "$status"; fi
  put_section docs/counters/README.md counters cat "$work/tables"
  exit $((status > stale ? status : stale))
}

read_options() {
  while (($# > 0)); do
    case $1 in
      --check) check=true ;;
      --bin)
        if (($# < 2)) || [[ -z $2 ]]; then fail "--bin needs a folder"; fi
        bin=$2
        shift
        ;;
      *) fail "'$1': usage: docs/counters/generate_table.sh [--check] [--bin FOLDER]" ;;
    esac
    shift
  done
}

run_steps() {
  local program
  for program in "${compared_steps[@]}" counter_comparison; do
    if [[ ! -x $bin/$program ]]; then
      fail "there is no $bin/$program: build everything with ./run_tests.sh, or name its folder with --bin"
    fi
  done
  for program in "${compared_steps[@]}"; do
    "$bin/$program" --device emulated -n 2^22 -t int32 -b 256 -q --json "$work/$program.json" >/dev/null
    results+=("$work/$program.json")
  done
}

# The tables of all GPUs. Fails with 1 where a GPU counts otherwise than the emulated device.
compare() {
  local gpu differs=0 status
  for gpu in docs/counters/*.csv; do
    status=0
    "$bin/counter_comparison" "$gpu" "${results[@]}" --gpu-only "${gpu_only_steps[@]}" || status=$?
    if ((status > 1)); then return "$status"; fi
    if ((status == 1)); then differs=1; fi
  done
  return "$differs"
}

main "$@"
