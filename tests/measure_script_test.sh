#!/usr/bin/env bash
# docs/results/measure.sh with a GPU and steps that are made up here: what it writes, what it refuses, what Ctrl-C leaves.
#
#   measure_script_test.sh MEASURE_SCRIPT BIN
#
# BIN has the programs that are not made up: ladder_table, print_results, plot_data.

set -euo pipefail
measure=$1 programs=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

main() {
  make_up_a_gpu
  make_up_steps
  measures_everything
  ends_the_header_at_2_to_the_30
  keeps_what_is_measured_by_hand
  names_the_gpu_that_cuda_sees
  leaves_out_what_this_gpu_cannot_run
  stops_where_no_step_runs
  keeps_the_old_results_when_a_step_fails
  prints_no_broken_results
  refuses_bad_usage
  refuses_a_machine_without_a_gpu
  if ((failures > 0)); then exit 1; fi
}

make_up_a_gpu() {
  mkdir "$work/path"
  cat >"$work/path/nvidia-smi" <<'SMI'
#!/bin/sh
case $* in
  *driver_version*) echo 123.45 ;;
  *--id=3*) echo "Made Up 3" ;;
  *) echo "Made Up 9000" ;;
esac
SMI
  printf '#!/bin/sh\necho "Cuda compilation tools, release 12.9, V12.9.1"\n' >"$work/path/nvcc"
  chmod +x "$work/path"/*
}

# A step takes a millisecond, and writes what a real one would.
make_up_steps() {
  local step
  mkdir "$work/bin"
  cat >"$work/bin/step" <<'STEP'
#!/usr/bin/env bash
set -euo pipefail
step=${0##*/} elements=268435456 types=(int32) blocks=(256) flush=read warm_up=3 queued=true lead_in=8 json=/dev/null sweep=''
while (($# > 0)); do
  case $1 in
    --version) exit ;;
    -n)
      elements=$((${2/^/**})) && shift
      ;;
    --sweep) sweep=$2 && shift ;;
    --flush) flush=$2 && shift ;;
    --warm-up) warm_up=$2 && shift ;;
    --queue) if [[ $2 == off ]]; then queued=false; fi && shift ;;
    --lead-in) lead_in=$2 && shift ;;
    --json) json=$2 && shift ;;
    -t) types=("$2") && shift ;;
    -s) shift ;;
  esac
  shift
done
if [[ -f ${0%/*}/$step.fails && $elements != 1024 ]]; then echo "$step: it is broken" && exit 1; fi
if [[ $step == 13_* && -n $sweep ]]; then echo "$step: error: --sweep: unknown" >&2 && exit 2; fi
if [[ -f ${0%/*}/$step.newer ]]; then echo "$step: error: it needs a newer GPU" >&2 && exit 3; fi
sizes=("$elements")
case $sweep in
  type) types=(int32 float64) ;;
  block) blocks=(32 1024) ;;
  size) sizes=(1024 "$elements") ;;
esac
kind=cuda
if [[ $step == 00_* ]]; then kind=cpu; fi
result() {
  local block=$3
  if [[ $step == peer_* || $kind == cpu ]]; then block=null; fi
  cat <<JSON
{"step": "$step", "device": {"kind": "$kind", "name": "Made Up 9000", "peak_gbps": 2000.0}, "type": "$2", "elements": $1,
 "block": $block, "samples": 10, "ms": {"median": 1.0, "p5": 0.9, "p95": 1.1, "min": 0.9}, "first_run_ms": 2.0,
 "timing": {"flush": "$flush", "warm_up": $warm_up, "queued": $queued, "lead_in": $lead_in}, "gbps": 1000.0, "percent_of_peak": 50.0,
 "verified": true, "data": "random", "passes": [{}, {}]}
JSON
}
{
  separator='['
  for size in "${sizes[@]}"; do
    for type in "${types[@]}"; do
      for block in "${blocks[@]}"; do
        echo "$separator"
        result "$size" "$type" "$block"
        separator=,
      done
    done
  done
  echo ']'
} >"$json"
STEP
  chmod +x "$work/bin/step"
  for step in 00_cpu_serial 01_interleaved 07_cascade 11_bulk_copy 12_any_operation 13_many_gpus peer_cub \
    atomic_each atomic_vector atomic_block; do
    ln -s step "$work/bin/$step"
  done
  for program in ladder_table print_results plot_data; do ln -s "$(realpath "$programs/$program")" "$work/bin/$program"; done
}

measures_everything() {
  local name
  measure "$work/results" || fail "measure.sh failed: $(<"$work/log")"
  for name in ladder repeat sweep_block sweep_size sweep_type sweep_size_types atomics method_flush method_queue \
    method_lead_in method_warm_up; do
    expect "$work/results/$name.json" '"verified": true'
  done
  expect "$work/results/measured.json" '"gpu": "Made Up 9000"' '"driver": "123.45"' '"cuda": "12.9"' \
    '"command": "docs/results/measure.sh --largest 2^20"' '"commit": "c0ffee"'
  expect "$work/results/README.md" '# Results · Made Up 9000' '| 07_cascade | 1.0000 | 1000.0 | 50.0 | 1.00 | 1.00 | 100.0 |' \
    '| 2^20 | 1000.0 | 1000.0 | 1000.0 |' 'Their geometric mean: 1.00.' '| atomic_each | float32 | 2^25 | 1.0000 |'
  measures_the_header_beside_cub
  measures_the_atomics
  if [[ -e $work/results.new ]]; then fail "results.new is left behind"; fi
  if command -v gnuplot >/dev/null; then expect "$work/results/ladder.svg" "Made Up 9000"; fi
}

# In turn, each type to the bytes of 2^20 int32, which is what --largest says.
measures_the_header_beside_cub() {
  local expected='' type step sizes=(20 19 20 19 19 18) k=0
  for type in int32 int64 float32 float64 complex64 complex128; do
    for step in 12_any_operation peer_cub; do
      expected+="sweep_size_types: $step --sweep size -t $type -n $((2 ** sizes[k])) -s 200"$'\n'
    done
    k=$((k + 1))
  done
  if [[ $(grep '^sweep_size_types: ' "$work/log") != "${expected%$'\n'}" ]]; then
    fail "not in turn: $(grep '^sweep_size_types: ' "$work/log")"
  fi
}

measures_the_atomics() {
  local step
  for step in atomic_each atomic_vector atomic_block; do
    expect "$work/log" "atomics: $step -t float32 -n 2^15 -s 20" "atomics: $step -t float32 -n 2^25 -s 20" \
      "atomics: $step -t int32 -n 2^25 -s 20"
  done
  if (($(grep -c '"step": "atomic_' "$work/results/atomics.json") != 12)); then fail "atomics.json is not complete"; fi
}

# The sweep of int32 may go further.
ends_the_header_at_2_to_the_30() {
  measure "$work/large" --largest 2^34 || fail "measure.sh failed: $(<"$work/log")"
  expect "$work/log" 'sweep_size_types: peer_cub --sweep size -t int32 -n 1073741824' \
    'sweep_size_types: peer_cub --sweep size -t complex128 -n 1073741824'
}

keeps_what_is_measured_by_hand() {
  local file
  for file in many_gpus many_gpus_alone peers; do
    echo '[]' >"$work/results/$file.json"
  done
  measure "$work/results" || fail "measure.sh failed: $(<"$work/log")"
  for file in many_gpus many_gpus_alone peers; do
    if [[ $(<"$work/results/$file.json") != '[]' ]]; then fail "$file.json is not what it was"; fi
  done
}

keeps_the_old_results_when_a_step_fails() {
  local before status=0
  before=$(cat "$work"/results/*.json | cksum)
  touch "$work/bin/07_cascade.fails"
  measure "$work/results" || status=$?
  rm "$work/bin/07_cascade.fails"
  if ((status != 1)); then fail "a wrong result ended with $status, not 1"; fi
  expect "$work/log" "07_cascade: it is broken"
  if [[ $(cat "$work"/results/*.json | cksum) != "$before" ]]; then fail "the old results are gone"; fi
}

names_the_gpu_that_cuda_sees() {
  CUDA_VISIBLE_DEVICES=3,0 measure "$work/third" || fail "the third GPU: $(<"$work/log")"
  expect "$work/third/measured.json" '"gpu": "Made Up 3"'
}

leaves_out_what_this_gpu_cannot_run() {
  touch "$work/bin/11_bulk_copy.newer" "$work/bin/12_any_operation.newer"
  mv "$work/bin/atomic_vector" "$work/atomic_vector"
  mkdir "$work/older"
  measure "$work/older/" || fail "measure.sh failed: $(<"$work/log")"
  expect "$work/log" "13_many_gpus is left out: 13_many_gpus: error: --sweep: unknown"
  expect "$work/log" "11_bulk_copy is left out: 11_bulk_copy: error: it needs a newer GPU"
  expect "$work/older/ladder.json" 07_cascade
  if grep -q 11_bulk_copy "$work/older/ladder.json"; then fail "what was left out is in ladder.json"; fi
  expect "$work/log" "sweep_size_types is left out: there is no 12_any_operation" \
    "atomics are left out: there is no atomic_vector"
  if grep -qE 'against CUB|## Atomics' "$work/older/README.md"; then fail "a section of what was left out"; fi
  mv "$work/atomic_vector" "$work/bin"
}

stops_where_no_step_runs() {
  touch "$work/bin/07_cascade.newer"
  if measure "$work/none"; then fail "it went on without 07_cascade"; fi
  rm "$work/bin/07_cascade.newer"
  expect "$work/log" "07_cascade and peer_cub have to run on the GPU"
  if [[ -e $work/none.new ]]; then fail "none.new is left behind"; fi
}

prints_no_broken_results() {
  cp -r "$work/results" "$work/broken"
  if [[ $("$programs/print_results" "$work/broken" second_clock) != "Nsight Compute was not run here." ]]; then
    fail "a second clock that nobody has read"
  fi
  printed_nothing ladder '[' "'$work/broken/ladder.json' is no JSON"
  printed_nothing ladder '[{"step": "07_cascade"}]' "the results in '$work/broken' are not as measure.sh writes them"
  printed_nothing ladder '[]' "there is no GPU's step in it"
}

# printed_nothing SECTION JSON TEXT
printed_nothing() {
  local status=0
  echo "$2" >"$work/broken/$1.json"
  if [[ -n $("$programs/print_results" "$work/broken" "$1" 2>"$work/log") ]]; then fail "something of $2"; fi
  "$programs/print_results" "$work/broken" "$1" >"$work/log" 2>&1 || status=$?
  if ((status != 2)); then fail "$1.json with $2 ended with $status, not 2"; fi
  expect "$work/log" "$3"
}

refuses_bad_usage() {
  refused 2 "usage:" --nonsense
  refused 2 "--commit needs a value" --commit
  refused 2 "there is no 07_cascade" --bin /nonexistent
  refused 2 "the results go into one folder" --bin "$work/bin" --commit c0ffee "$work/other" "$work/third"
  refused 2 "--largest '2^x'" --bin "$work/bin" --commit c0ffee --largest 2^x "$work/other"
  refused 2 "cannot be made" --bin "$work/bin" --commit c0ffee /dev/null/other
  mkdir "$work/home"
  touch "$work/home/thesis"
  refused 2 "has something else than results in it" --bin "$work/bin" --commit c0ffee "$work/home"
  if [[ ! -f $work/home/thesis ]]; then fail "the file of somebody else is gone"; fi
}

refuses_a_machine_without_a_gpu() {
  printf '#!/bin/sh\necho "No devices were found"\nexit 6\n' >"$work/path/nvidia-smi"
  refused 3 "there is no NVIDIA GPU here" --bin "$work/bin" --commit c0ffee "$work/other"
}

# measure FOLDER [OPTION...]
measure() {
  PATH=$work/path:$PATH "$measure" --bin "$work/bin" --commit c0ffee --largest 2^20 "${@:2}" "$1" >"$work/log" 2>&1
}

# refused EXIT_CODE TEXT OPTION... : one line that has the text.
refused() {
  local code=$1 text=$2 status=0
  shift 2
  PATH=$work/path:$PATH "$measure" "$@" >"$work/log" 2>&1 || status=$?
  if ((status != code)); then fail "$* ended with $status, not $code"; fi
  if (($(wc -l <"$work/log") != 1)); then fail "$*: more than one line: $(<"$work/log")"; fi
  expect "$work/log" "$text"
}

# expect FILE TEXT...
expect() {
  local file=$1 text
  for text in "${@:2}"; do
    if ! grep -qsF -- "$text" "$file"; then fail "'$text' is not in $file"; fi
  done
}

fail() {
  echo "FAILED: $1"
  failures=$((failures + 1))
}

main
