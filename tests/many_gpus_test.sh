#!/usr/bin/env bash
# many_gpus_test.sh BIN_FOLDER: runs 13_many_gpus as several ranks of one job on the emulated device. Exits with 77, which
# CTest shows as skipped, where there is no Open MPI to start them.

set -euo pipefail
bin=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
# A CI's container runs as root, and has fewer cores than a test has ranks: one that waits should leave its core.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1

main() {
  if ! grep -q "Open MPI" <<<"$(mpirun --version 2>&1)"; then
    echo "skipped: there is no mpirun of Open MPI"
    exit 77
  fi
  same_sum_for_any_number_of_ranks
  fewer_elements_than_ranks
  scaling
  bad_usage
  no_gpu_for_every_rank
  lost_rank
  exit "$failures"
}

# ranks NUMBER OPTION... runs the job and keeps what it says in $work/out and $work/err.
ranks() {
  mpirun --oversubscribe -np "$1" "$bin/13_many_gpus" "${@:2}" </dev/null >"$work/out" 2>"$work/err"
}

same_sum_for_any_number_of_ranks() {
  local type number
  for number in 1 2 3; do
    expect 0 "$number" --device emulated -n 100003 --json "$work/int32.$number"
    holds "$number ranks verify int32" grep -q "^| $number | $number × emulated .* | yes |\$" "$work/out"
  done
  # Integers agree to the bit.
  holds "2 ranks find the sum of 1" test "$(sum_of int32.1)" = "$(sum_of int32.2)"
  holds "3 ranks find the sum of 1" test "$(sum_of int32.1)" = "$(sum_of int32.3)"
  holds "the longest shard is rounded up" grep -q '"elements_a_rank": 33335' "$work/int32.3"
  for type in float64 complex64; do
    expect 0 3 --device emulated -n 100003 -t "$type" --data cancelling --scaling
    holds "1, 2 and 3 ranks verify $type" test "$(grep -c "^| \([123]\) | \1 × emulated .* | yes |\$" "$work/out")" = 3
  done
}

sum_of() { grep '"result"' "$work/$1"; }

fewer_elements_than_ranks() {
  expect 0 3 --device emulated -n 2 -t float64
  holds "2 elements on 3 ranks" grep -q '| yes |$' "$work/out"
  expect 0 3 --device emulated -n 0
  holds "no elements sum to 0" grep -q '^result  0, exact$' "$work/out"
  expect 0 3 --device emulated -n 1000 --weak --data ones
  holds "weak: each rank has 1000" grep -q '^result  3000, exact$' "$work/out"
}

scaling() {
  expect 0 3 --device emulated -n 1000 --weak --scaling --json "$work/many_gpus.json"
  holds "1, 2 and all 3 ranks" test "$(grep -c '^| [123] | [123] × emulated' "$work/out")" = 3
  "$bin/print_results" "$work" scaling >"$work/table"
  holds "their table" test "$(grep -c '^| [123] | [123] × emulated .* 1000 | – |' "$work/table")" = 3
}

bad_usage() {
  expect 2 3 --type int16
  says_once "--type 'int16': choose one of"
  expect 2 2 --device cuda:1
  says_once "--device 'cuda:1': choose one of auto, cuda, emulated"
  expect 2 2 --time-limit 0
  says_once "--time-limit '0': give a whole number"
  expect 2 2 --json "$work/nowhere/file"
  says_once "--json '$work/nowhere/file'"
  expect 0 2 --help
  holds "--help is printed once" test "$(grep -c '^Usage: ' "$work/out")" = 1
}

# As many ranks as no machine has GPUs would be too many; without one, a single rank is.
no_gpu_for_every_rank() {
  CUDA_VISIBLE_DEVICES='' expect 3 2 --device cuda
  says_once "rank 0 on "
  expect 3 2 --device emulated -n 2^44
  says_once "choose fewer elements"
}

# A rank that is killed in the middle of its work takes the job along, and nobody prints a sum.
lost_rank() {
  local core job victims line status=0
  # On one core, whatever machine this is, the work takes seconds.
  core=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
  mkfifo "$work/said"
  taskset --cpu-list "$core" mpirun --oversubscribe --bind-to none -np 3 \
    "$bin/13_many_gpus" --device emulated -n 2^28 </dev/null >"$work/said" 2>"$work/err" &
  job=$!
  exec 3<"$work/said"
  # The heading: all ranks have a device, and the long part begins.
  while IFS= read -r line <&3; do
    if [[ $line == "device "* ]]; then break; fi
  done
  # Each of mpirun's threads may have started some.
  mapfile -t victims < <(xargs --max-args 1 < <(cat "/proc/$job/task/"*/children))
  holds "mpirun has 3 ranks" test "${#victims[@]}" = 3
  kill -KILL "${victims[-1]}"
  cat <&3 >"$work/out"
  wait "$job" || status=$?
  holds "the job fails with its rank" test "$status" -ne 0
  holds "and prints no sum" test "$(grep -c -e '^result' -e '^|' "$work/out")" = 0
}

# expect EXIT_CODE NUMBER_OF_RANKS OPTION...
expect() {
  local status=0
  ranks "${@:2}" || status=$?
  if ((status != $1)); then
    echo "FAILED: ranks ${*:2}: exit code $status, not $1" >&2
    cat "$work/out" "$work/err" >&2
    failures=$((failures + 1))
  fi
}

# However many ranks there are, the program has one line to say; mpirun adds words of its own.
says_once() {
  holds "one line says: $1" test "$(grep -c '^13_many_gpus: ' "$work/err")" = 1
  holds "it says: $1" grep -qF -e "$1" "$work/err"
}

# holds WHAT COMMAND...
holds() {
  if ! "${@:2}"; then
    echo "FAILED: $1" >&2
    failures=$((failures + 1))
  fi
}

main
