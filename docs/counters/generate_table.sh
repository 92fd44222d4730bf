#!/usr/bin/env bash
# Runs the GPU steps on the emulated device and writes their counters beside those of each docs/counters/<gpu>.csv into
# docs/counters/README.md, between the lines <!-- counters:begin --> and <!-- counters:end -->.
#
#   docs/counters/generate_table.sh [--check] [--bin FOLDER]
#
#   --check        change nothing: only say whether the README is stale
#   --bin FOLDER   the steps' executables and counter_comparison; default build/bin
#
# Exit code: 0 up to date, 1 stale, or a GPU that counts otherwise (the table then shows where), 2 bad usage, 3 a build
# that cannot do it.

set -euo pipefail

counters=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
readme=$counters/README.md
bin=$counters/../../build/bin
results=()
check=false
begin='<!-- counters:begin -->'
end='<!-- counters:end -->'

readonly stale=1 bad_usage=2 not_possible=3

steps=(01_interleaved 02_nondivergent 03_sequential 04_first_add 05_unroll_warp 06_templated 07_cascade)

main() {
  local fresh status=0
  read_options "$@"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  run_steps
  compare >"$work/tables" || status=$?
  if ((status > 1)); then exit "$status"; fi
  fresh=$(with_tables) || exit
  if [[ $fresh == "$(<"$readme")" ]]; then exit "$status"; fi
  if [[ $check == true ]]; then
    echo "docs/counters/README.md is stale: run docs/counters/generate_table.sh"
    exit "$stale"
  fi
  printf '%s\n' "$fresh" >"$readme"
  echo "docs/counters/README.md is written"
  exit "$status"
}

read_options() {
  while (($# > 0)); do
    case $1 in
      --check) check=true ;;
      --bin)
        if (($# < 2)) || [[ -z $2 ]]; then fail "$bad_usage" "--bin needs a folder"; fi
        bin=$2
        shift
        ;;
      *) fail "$bad_usage" "'$1': usage: docs/counters/generate_table.sh [--check] [--bin FOLDER]" ;;
    esac
    shift
  done
}

# fail EXIT_CODE LINE
fail() {
  echo "generate_table.sh: error: $2" >&2
  exit "$1"
}

run_steps() {
  local program
  for program in "${steps[@]}" counter_comparison; do
    if [[ ! -x $bin/$program ]]; then
      fail "$not_possible" "there is no $bin/$program: build everything with ./run_tests.sh, or name its folder with --bin"
    fi
  done
  for program in "${steps[@]}"; do
    "$bin/$program" --device emulated -n 2^22 -t int32 -b 256 -q --json "$work/$program.json" >/dev/null
    results+=("$work/$program.json")
  done
}

# The tables of all GPUs. Fails with 1 where a GPU counts otherwise than the emulated device.
compare() {
  local gpu differs=0 status
  for gpu in "$counters"/*.csv; do
    status=0
    echo
    "$bin/counter_comparison" "$gpu" "${results[@]}" || status=$?
    if ((status > 1)); then return "$status"; fi
    if ((status == 1)); then differs=1; fi
  done
  echo
  return "$differs"
}

# The README with the tables between the two lines.
with_tables() {
  local line place=before
  while IFS= read -r line || [[ -n $line ]]; do
    case $place:$line in
      "before:$begin")
        echo "$begin"
        cat "$work/tables"
        echo "$end"
        place=inside
        ;;
      "inside:$end") place=after ;;
      *:"$begin" | *:"$end") fail "$bad_usage" "the lines '$begin' and '$end' have to stand once each, in this order" ;;
      inside:*) ;;
      *) printf '%s\n' "$line" ;;
    esac
  done <"$readme"
  if [[ $place != after ]]; then fail "$bad_usage" "$readme: there is no line '$begin', or no '$end' after it"; fi
}

main "$@"
