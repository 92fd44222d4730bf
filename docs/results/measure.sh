#!/usr/bin/env bash
# Measures what the pages show of a GPU, on the first GPU of this machine, and draws the plots: the ladder, the three
# sweeps, the header beside CUB, the atomics, and what each part of the timing method is for.
#
#   docs/results/measure.sh [--bin FOLDER] [--commit HASH] [--largest COUNT] [FOLDER]
#
# The results are in FOLDER, docs/results/<the GPU's name> by default. Results that are there are replaced when all is
# measured; a folder with anything else is refused.
# --bin takes executables from FOLDER instead of building them, --commit says what they were built from where there is
# no git repository, and --largest ends the size sweep, which else goes to what fits. It takes about ten minutes.
#
# Exit code: 0 done, 1 a wrong result, 2 bad usage, 3 this machine cannot do it, 130 Ctrl-C: what was measured is kept.

set -euo pipefail
caller_folder=$PWD
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
source common/scripts/set_up.sh

command_line="docs/results/measure.sh"
bin=
commit=
largest=()
folder=
# CUDA's first GPU is then nvidia-smi's first one, too.
export CUDA_DEVICE_ORDER=PCI_BUS_ID
# The step whose timing the method is shown with.
method_step=07_cascade
# What takes two kernels at 2^20 elements.
lead_in_programs=(07_cascade 12_any_operation peer_cub)
# The header, which is held against CUB in all types and sizes.
header_step=12_any_operation
# Measured by hand, and kept: many_gpus.json takes several GPUs, peers.json is beyond/peers/compare.sh's.
kept=(many_gpus.json many_gpus_alone.json peers.json)
atomics=(atomic_each atomic_vector atomic_block)

main() {
  local file
  read_options "$@"
  require_gpu
  require_commit
  choose_folder
  if [[ -z $bin ]]; then
    install_missing_packages "${build_packages[@]}"
    configure_with_tests OFF
    build ladder "${atomics[@]}" print_results plot_data
    bin=$build_folder/bin
  fi
  list_programs
  rm -rf "$work"
  mkdir -p "$work/parts"
  trap 'say "What was measured until now: $work"; exit 130' INT
  describe_measurement >"$work/measured.json"

  measure_ladder
  measure_sweeps
  measure_against_cub
  measure_atomics
  measure_method
  measure_with_second_clock
  rm -rf "$work/parts" "$work/log"
  for file in "${kept[@]}"; do
    if [[ -f $folder/$file ]]; then cp "$folder/$file" "$work"; fi
  done
  "$bin/print_results" "$work" page >"$work/README.md"
  rm -rf "$folder"
  mv "$work" "$folder"
  trap 'exit 130' INT
  say "The results: $folder"
  draw_plots
}

read_options() {
  while (($# > 0)); do
    case $1 in
      --bin | --commit | --largest)
        if (($# < 2)); then fail "$bad_usage" "$1 needs a value"; fi
        case $1 in
          --bin) bin=$(absolute "$2") ;;
          --commit) commit=$2 ;;
          --largest)
            # Now, not after minutes.
            if [[ ! $2 =~ ^[1-9][0-9]{0,14}(\^[0-9]{1,2}|[KMG])?$ ]]; then
              fail "$bad_usage" "--largest '$2': give a whole number, as 1000003, 2^34 or 64M"
            fi
            largest=(-n "$2") && command_line+=" --largest $2"
            ;;
        esac
        shift
        ;;
      -h | --help)
        sed -n '2,/^$/s/^# \{0,1\}//p' docs/results/measure.sh
        exit
        ;;
      -*) fail "$bad_usage" "usage: docs/results/measure.sh [--bin FOLDER] [--commit HASH] [--largest COUNT] [FOLDER]" ;;
      *)
        if [[ -n $folder ]]; then fail "$bad_usage" "'$1': the results go into one folder, and that is $folder"; fi
        folder=$(absolute "$1")
        ;;
    esac
    shift
  done
  if [[ -n $bin && ! -x $bin/07_cascade ]]; then fail "$bad_usage" "--bin '$bin': there is no 07_cascade in it"; fi
}

absolute() {
  if [[ $1 == /* ]]; then echo "$1"; else echo "$caller_folder/$1"; fi
}

require_gpu() {
  if [[ -z $(gpus) ]]; then fail "$not_possible" "there is no NVIDIA GPU here, or no driver for it: nvidia-smi lists none"; fi
  if [[ -z $bin ]] && ! command -v nvcc >/dev/null; then
    fail "$not_possible" "there is no nvcc on PATH: without the CUDA toolkit the steps are built for the emulated device only"
  fi
}

require_commit() {
  if [[ -n $commit ]]; then return; fi
  if ! commit=$(git rev-parse HEAD 2>/dev/null); then
    fail "$bad_usage" "this is no git repository: say with --commit which commit the steps are of"
  fi
  if [[ -n $(git status --porcelain --untracked-files=no) ]]; then commit+=" with changes"; fi
}

# The folder is replaced as a whole in the end, so it must not have what measure.sh has not written.
choose_folder() {
  local taken
  if [[ -z $folder ]]; then folder=docs/results/$(slug "$(gpu_name)"); fi
  folder=$(realpath -m "$folder")
  work=$folder.new
  for taken in "$folder" "$work"; do
    if [[ -e $taken && ! -f $taken/measured.json && -n $(ls -A "$taken") ]]; then
      fail "$bad_usage" "'$taken' has something else than results in it: name another folder"
    fi
  done
  if ! mkdir -p "$(dirname "$folder")" 2>/dev/null || [[ ! -w $(dirname "$folder") ]]; then
    fail "$bad_usage" "'$folder' cannot be made: name a folder where you can write"
  fi
}

# The steps that this GPU runs, in order, and at the end CUB's reduction.
list_programs() {
  local name why status
  programs=()
  for name in [0-9][0-9]_*/kernel.cuh beyond/[0-9][0-9]_*/kernel.cuh peer_cub/; do
    name=$(basename "${name%/*}")
    if [[ ! -x $bin/$name ]]; then continue; fi
    status=0
    # A sweep of one size: this GPU may be too old for the step, and a step over many GPUs has no sweeps.
    why=$("$bin/$name" --device cuda --sweep size -n 1024 -s 1 2>&1 >/dev/null) || status=$?
    if ((status == not_possible || status == bad_usage)); then
      say "$name is left out: $why"
    else
      programs+=("$name")
    fi
  done
  if [[ " ${programs[*]} " != *" $method_step "*"peer_cub "* ]]; then
    fail "$not_possible" "$method_step and peer_cub have to run on the GPU, and one of them in $bin does not"
  fi
}

# The GPU that is CUDA's first one: where CUDA is to see some only, the first of these, by its number or UUID.
gpu_name() {
  local visible=${CUDA_VISIBLE_DEVICES:-0}
  nvidia-smi --id="${visible%%,*}" --query-gpu=name --format=csv,noheader
}
driver() { nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1; }
slug() { tr '[:upper:]' '[:lower:]' <<<"$1" | tr -cs 'a-z0-9\n' _; }

# What the steps were compiled with, else what the driver supports.
cuda_version() {
  if command -v nvcc >/dev/null; then
    nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p'
  else
    nvidia-smi | sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1 (driver)/p'
  fi
}

describe_measurement() {
  cat <<MEASURED
{
  "gpu": "$(gpu_name)",
  "driver": "$(driver)",
  "cuda": "$(cuda_version)",
  "date": "$(date --utc +%F)",
  "command": "$command_line",
  "commit": "$commit"
}
MEASURED
}

measure_ladder() {
  run_all ladder "00_cpu_serial ${programs[*]}"
  # The same once more: how far two runs of a step are apart.
  run_all repeat "${programs[*]}"
}

measure_sweeps() {
  run_all sweep_block "${programs[*]}" --sweep block -s 50
  run_all sweep_type "${programs[*]}" --sweep type -s 50
  run_all sweep_size "${programs[*]}" --sweep size -s 50 "${largest[@]}"
}

# The header and CUB in turn, a type after the other, so that the two of a type are measured side by side: to 2^30
# elements, or to as many bytes as the size sweep went to. Small inputs take a few microseconds, where a median of more
# samples is worth its time.
measure_against_cub() {
  local name=sweep_size_types types=(int32 int64 float32 float64 complex64 complex128) bytes=(4 8 4 8 8 16)
  local k n most program
  if [[ " ${programs[*]} " != *" $header_step "* ]]; then
    say "$name is left out: there is no $header_step"
    return
  fi
  most=$(largest_elements "$work/sweep_size.json")
  for k in "${!types[@]}"; do
    n=$((most * bytes[0] / bytes[k]))
    if ((n > 2 ** 30)); then n=$((2 ** 30)); fi
    if ((n < 1024)); then n=1024; fi
    for program in "$header_step" peer_cub; do
      run $name "$program" --sweep size -t "${types[k]}" -n $n -s 200
    done
  done
  gather $name
}

# largest_elements FILE: of a list of results.
largest_elements() { sed -n 's/^ *"elements": \([0-9]*\).*/\1/p' "$1" | sort -n | tail -n 1; }

# 2^25 float32 have been published. The first takes tens of milliseconds per run for these, so it gets few samples.
measure_atomics() {
  local program n
  for program in "${atomics[@]}"; do
    if [[ ! -x $bin/$program ]]; then
      say "atomics are left out: there is no $program in $bin"
      return
    fi
  done
  for program in "${atomics[@]}"; do
    for n in 2^15 2^20 2^25; do run atomics "$program" -t float32 -n $n -s 20; done
    run atomics "$program" -t int32 -n 2^25 -s 20
  done
  gather atomics
}

# For each part of the method, one step with it and without it.
measure_method() {
  local n flush queue count program
  for n in 2^20 2^22 2^24 2^25 2^26 2^28; do
    for flush in read memset none; do run method_flush $method_step -n $n --flush $flush -s 200; done
  done
  gather method_flush
  for n in 2^10 2^16 2^20 2^24 2^28; do
    for queue in on off; do
      run method_queue 01_interleaved -n $n --queue $queue -s 200
      run method_queue $method_step -n $n --queue $queue -s 200
    done
  done
  gather method_queue
  for count in 0 1 2 3 4 6 8 12 16; do
    for program in "${lead_in_programs[@]}"; do
      if [[ " ${programs[*]} " == *" $program "* ]]; then run method_lead_in "$program" -n 2^20 --lead-in $count -s 200; fi
    done
  done
  gather method_lead_in
  # One sample per process, so that each is the first one.
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    for count in 0 1 3 10; do run method_warm_up $method_step --warm-up $count -s 1; done
  done
  gather method_warm_up
}

# Nsight Compute's times beside the steps' own, where its counters may be read.
measure_with_second_clock() {
  local program times separator='['
  for program in "${programs[@]}"; do
    say "second_clock: $program"
    times=
    if docs/profile.sh "$program" --bin "$(realpath "$bin")" -n 2^28 >"$work/log" 2>&1; then
      times=$(sed -n 's/^Time: ncu gives \([0-9.]*\) ms .* median is \([0-9.]*\) ms.*/"ncu_ms": \1, "step_ms": \2/p' \
        "$work/log")
    fi
    if [[ -z $times ]]; then
      say "second_clock: $program is left out:" "$(head -n 3 "$work/log")"
      rm "$work/log"
      # Where the first one cannot be profiled, none can.
      if [[ $separator == '[' ]]; then return; fi
      continue
    fi
    echo "$separator{\"step\": \"$program\", $times}" >>"$work/second_clock.json"
    separator=,
  done
  echo ']' >>"$work/second_clock.json"
}

# run_all NAME PROGRAMS [OPTION...] runs each program and gathers the results.
run_all() {
  local name=$1 program
  local -a list
  read -ra list <<<"$2"
  for program in "${list[@]}"; do run "$name" "$program" "${@:3}"; done
  gather "$name"
}

# run NAME PROGRAM [OPTION...] : on the GPU, never on the emulated device in its place.
run() {
  local number status=0
  number=$(find "$work/parts" -name "$1.*" | wc -l)
  say "$1: ${*:2}"
  "$bin/$2" --device cuda "${@:3}" --quiet --json "$work/parts/$1.$(printf %04d "$number").json" >"$work/log" || status=$?
  if ((status != 0)); then
    cat "$work/log" >&2
    exit "$status"
  fi
}

# gather NAME puts the results of all runs under this name into one list.
gather() { "$bin/ladder_table" "$work/parts/$1."*.json --json "$work/$1.json" >"$work/log" && rm "$work/log"; }

draw_plots() {
  local others=()
  if ! command -v gnuplot >/dev/null; then
    say "There are no plots: install gnuplot (Debian and Ubuntu: gnuplot-nox), then run docs/plots/plot.sh $folder"
    return
  fi
  # Beside the card that the pages show.
  if [[ ! $folder -ef docs/results/nvidia_h200 ]]; then others=(docs/results/nvidia_h200); fi
  docs/plots/plot.sh --bin "$bin" "$folder" "${others[@]}"
}

main "$@"
