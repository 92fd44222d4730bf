#!/usr/bin/env bash
# Runs the best steps and every peer on the first GPU of this machine, over sizes and element types, and prints one
# Markdown table per type: a row per program, a column per size, GB/s and the share of CUB's.
#
#   beyond/peers/compare.sh [-n SIZES] [-t TYPES] [-s SAMPLES] [--bin FOLDER] [--python PROGRAM] [--json FILE]
#                           [STEP OPTION...]
#
# SIZES and TYPES are lists with commas: -n 2^20,2^24,2^28 -t int32,float32 (the default: 2^20,2^22,2^25,2^28 and all
# six types), SAMPLES is how many runs are timed for each (100). --bin takes executables from FOLDER instead of building
# them, --python names the interpreter that has torch, cupy or jax (python3 by default), --json also writes all results
# into FILE. Other options are the steps' own; Python does not get them.
#
# Exit code: 0 done, 1 a wrong result, 2 bad usage, 3 this machine cannot do it, 130 Ctrl-C: the table of what was
# measured is printed all the same.

set -euo pipefail
caller_folder=$PWD
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
source common/scripts/set_up.sh

sizes=2^20,2^22,2^25,2^28
types=int32,int64,float32,float64,complex64,complex128
# Until samples agree takes seconds for a small input, and there are hundreds of runs.
samples=100
bin=
python=python3
libraries=(torch cupy jax)
# CUDA's first GPU is then nvidia-smi's first one, too.
export CUDA_DEVICE_ORDER=PCI_BUS_ID
# What the shell says of a program that it cannot start: here one whose library is not on this machine.
readonly no_program=127 interrupted=130
# What the steps and python_peers.py take.
readonly sizes_pattern='[1-9][0-9]{0,14}(\^[0-9]{1,2}|[KMG])?'
readonly types_pattern='int32|int64|float32|float64|complex64|complex128'
step_options=()
table_options=()
parts=()

main() {
  local program type size library
  read_options "$@"
  require_gpu
  if [[ -z $bin ]]; then
    install_missing_packages "${build_packages[@]}"
    configure_with_tests OFF
    build ladder peers
    bin=$build_folder/bin
  fi
  list_programs
  work=$(mktemp -d)
  # shellcheck disable=SC2064  # the folder of now, not of then
  trap "rm -rf '$work'" EXIT
  trap 'print_tables || true; exit $interrupted' INT TERM

  # Program by program: what has once failed for a type is not tried again for each size.
  for program in "${programs[@]}"; do
    for type in ${types//,/ }; do
      for size in ${sizes//,/ }; do run "$program" "$type" "$size" || break; done
    done
  done
  if command -v "$python" >/dev/null; then
    for library in "${libraries[@]}"; do run_python "$library"; done
  else
    say "not installed: $python"
  fi
  print_tables
}

read_options() {
  while (($# > 0)); do
    case $1 in
      -h | --help)
        sed -n '2,/^$/s/^# \{0,1\}//p' beyond/peers/compare.sh
        exit
        ;;
      -n | -t | -s | --bin | --python | --json)
        if (($# < 2)); then fail "$bad_usage" "$1 needs a value"; fi
        case $1 in
          -n) sizes=$2 ;;
          -t) types=$2 ;;
          -s) samples=$2 ;;
          --bin) bin=$(absolute "$2") ;;
          --python) if [[ $2 == */* ]]; then python=$(absolute "$2"); else python=$2; fi ;;
          --json) table_options=(--json "$(absolute "$2")") ;;
        esac
        shift
        ;;
      *) step_options+=("$1") ;;
    esac
    shift
  done
  if [[ -n $bin && ! -x $bin/compare_table ]]; then
    fail "$bad_usage" "--bin '$bin': there is no compare_table in it"
  fi
  require_list -n "$sizes" "$sizes_pattern" "sizes, as 2^20,2^28 or 64M"
  require_list -t "$types" "$types_pattern" "types, of int32, int64, float32, float64, complex64 and complex128"
  require_list -s "$samples" '[1-9][0-9]*' "one number of samples"
  require_writable
}

# require_list OPTION TEXT PATTERN WHAT : each of the commas' parts has to be as the pattern says.
require_list() {
  if [[ ! $2 =~ ^($3)(,($3))*$ ]]; then fail "$bad_usage" "$1 '$2': give $4, with commas and no spaces"; fi
}

# Before minutes of measuring, not after.
require_writable() {
  if ((${#table_options[@]} == 0)); then return; fi
  local file=${table_options[1]}
  if [[ -d $file || ! -d $(dirname "$file") || ! -w $(dirname "$file") || (-e $file && ! -w $file) ]]; then
    fail "$bad_usage" "--json '$file': name a file in a folder that can be written"
  fi
}

absolute() {
  if [[ $1 == /* ]]; then echo "$1"; else echo "$caller_folder/$1"; fi
}

require_gpu() {
  if ! nvidia-smi -L >/dev/null 2>&1; then
    fail "$not_possible" "there is no NVIDIA GPU here, or no driver for it: nvidia-smi lists none"
  fi
}

# The last step of the ladder, those beyond, then the peers: what was built of them.
list_programs() {
  local folder name
  programs=()
  for folder in 07_cascade beyond/[0-9][0-9]_*; do
    name=${folder##*/}
    # This is about one GPU.
    if [[ -x $bin/$name && $name != 13_many_gpus ]]; then programs+=("$name"); fi
  done
  for folder in beyond/peers/*/; do
    name=peer_$(basename "$folder")
    if [[ -x $bin/$name ]]; then
      programs+=("$name")
    elif [[ -f $folder/kernel.cuh ]]; then
      say "not built: $name"
    fi
  done
}

# run PROGRAM TYPE SIZE keeps the result; it fails where the program cannot sum that: no such type, too little memory.
# A peer that crashes is no reason to lose the others' results.
run() {
  local status=0 part
  part=$(part_file)
  say "$1 -t $2 -n $3"
  "$bin/$1" -t "$2" -n "$3" -s "$samples" --device cuda --quiet --json "$part" "${step_options[@]}" >/dev/null ||
    status=$?
  case $status in
    0 | 1) if [[ -f $part ]]; then parts+=("$part"); fi ;;
    "$bad_usage" | "$interrupted") exit "$status" ;;
    "$not_possible" | "$no_program") return 1 ;;
    *)
      say "$1 -t $2 -n $3 crashed: exit code $status"
      return 1
      ;;
  esac
}

# run_python LIBRARY : each in a process of its own, because none gives back all memory of the GPU before it ends, and
# the CUDA libraries that one has loaded may not be the other's. It says itself what is not installed.
run_python() {
  local status=0 part
  part=$(part_file)
  say "$python: $1"
  "$python" beyond/peers/python_peers.py --library "$1" -n "$sizes" -t "$types" -s "$samples" --json "$part" \
    >/dev/null || status=$?
  if [[ -s $part ]]; then parts+=("$part"); fi
  case $status in "$bad_usage" | "$interrupted") exit "$status" ;; esac
  # A sum that is wrong is in the table; other results are, too, where a library has ended the process.
  if ((status > not_possible)); then say "$1 crashed: exit code $status"; fi
}

print_tables() {
  if ((${#parts[@]} == 0)); then fail "$not_possible" "nothing could be measured"; fi
  "$bin/compare_table" "${parts[@]}" "${table_options[@]}"
}

part_file() { printf '%s/%04d.json' "$work" "${#parts[@]}"; }

main "$@"
