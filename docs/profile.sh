#!/usr/bin/env bash
# Lets Nsight Compute (ncu) count what one whole reduction, all its launches, does on the GPU of this machine. Prints
# the counts beside those of the emulated device, then each launch, then ncu's time beside the step's own.
#
#   docs/profile.sh STEP [--bin FOLDER] [OPTION...]
#
#   STEP           for example 03_sequential or peer_cub
#   --bin FOLDER   the steps' executables, built with CUDA; default build/bin
#   OPTION...      the step's own, for example -n 2^24 -t float64 -b 512; without -n 2^22 elements
#
# Exit code: 0 done, 1 a wrong result, 2 bad usage, 3 a machine that cannot do it.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=nsight_compute.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/nsight_compute.sh"

docs=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
bin=${docs%/*}/build/bin
step=
step_options=(--device cuda -n "2^22")
sample_options=()

# The emulated device takes seconds for as many, minutes for many more.
readonly most_emulated_elements=$((2 ** 24))
no_emulated_counts=

readonly wavefronts=l1tex__data_pipe_lsu_wavefronts_mem_shared_op
readonly conflicts=l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op
readonly requests=l1tex__t_requests_pipe_lsu_mem_global_op
readonly sectors=l1tex__t_sectors_pipe_lsu_mem_global_op
readonly dram_share=gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed
# These names hold from Turing to Blackwell.
metrics=(
  launch__grid_size
  {"$wavefronts","$conflicts","$requests","$sectors"}_{ld,st}.sum
  smsp__inst_executed.sum
  dram__bytes_read.sum
  dram__bytes_write.sum
  "$dram_share"
  gpu__time_duration.sum
)

main() {
  read_options "$@"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  require_ncu
  time_step
  count_on_gpu
  count_emulated
  print_counts
  print_launches
  print_times
}

read_options() {
  local programs
  if [[ ${1-} == -h || ${1-} == --help ]]; then show_help; fi
  if (($# > 0)) && [[ $1 != -* ]]; then
    step=$1
    shift
  fi
  while (($# > 0)); do
    case $1 in
      --*=*)
        set -- "${1%%=*}" "${1#*=}" "${@:2}"
        continue
        ;;
      -h | --help) show_help ;;
      --bin | --device | -s | --samples)
        if (($# < 2)) || [[ -z $2 ]]; then fail "$bad_usage" "$1 needs a value"; fi
        case $1 in
          --bin) bin=$2 ;;
          --device)
            if [[ $2 != cuda && $2 != cuda:* ]]; then fail "$bad_usage" "--device '$2': ncu takes cuda or cuda:N"; fi
            step_options+=("$1" "$2")
            ;;
          *) sample_options=("$1" "$2") ;;
        esac
        shift
        ;;
      --json | --sweep | --compare | --counters | --version)
        fail "$bad_usage" "$1 is not for docs/profile.sh, which counts one reduction on two devices"
        ;;
      *) step_options+=("$1") ;;
    esac
    shift
  done
  # A GPU has nothing to count in the CPU's step.
  mapfile -t programs < <(cd "$bin" 2>/dev/null && find . -maxdepth 1 -type f -executable \
    \( -name '[0-9][0-9]_*' -o -name 'peer_*' \) -not -name '00_*' -printf '%f\n' | sort)
  if ((${#programs[@]} == 0)); then
    fail "$not_possible" "there is no step in $bin: build them with ./run_ladder.sh, or name their folder with --bin"
  fi
  if [[ -z $step || " ${programs[*]} " != *" $step "* ]]; then
    fail "$bad_usage" "${step:+"'$step': "}usage: docs/profile.sh STEP [--bin FOLDER] [OPTION...]; the steps here are" \
      "${programs[@]/#/  }"
  fi
}

show_help() {
  sed -n '2,/^$/s/^# \{0,1\}//p' "$docs/profile.sh"
  exit
}

# The step alone: its time, and how many launches a reduction is.
time_step() {
  local status=0
  "$bin/$step" "${step_options[@]}" "${sample_options[@]}" -q --json "$work/gpu.json" >/dev/null 2>"$work/why" ||
    status=$?
  case $status in
    0) ;;
    1 | 2) fail "$status" "$step failed: $(<"$work/why")" ;;
    *) fail "$not_possible" "$step does not run on a GPU here: $(<"$work/why")" ;;
  esac
}

count_on_gpu() {
  local passes got
  passes=$(number_of_passes)
  # The first launches of a process verify; warm-up and samples repeat them.
  if ((passes > 0)); then
    launches=(-k "regex:reduce_kernel" -c "$passes")
  else
    # A library takes one kernel for a small input, else two; cut off after the one that leaves the result.
    case $step in
      12_*) launches=(-k "regex:(one_block|cluster|reduce|bulk|combine)_kernel" -c 2) ;;
      *) launches=(-k "regex:DeviceReduce" -c 2) ;;  # CUB's
    esac
  fi
  profile "$bin/$step" "${step_options[@]}" -s 1 -q
  reported | awk -F, '$2 == "kernel" { over = last; last = last || $3 ~ /SingleTile|one_block|cluster|combine/ } !over' >"$work/launches.csv"
  got=$(number_of_launches)
  if ((got < passes)); then
    fail "$not_possible" "ncu reported $got launches of $step, and a reduction has $passes; its last words:" \
      "$(tail -n 8 "$work/log")"
  fi
}

count_emulated() {
  if (($(number_of_passes) == 0)); then
    no_emulated_counts="A library's kernels do not run on the emulated device."
  elif (($(field elements) > most_emulated_elements)); then
    no_emulated_counts="The emulated device counts up to 2^24 elements here: with a smaller -n its counts stand beside."
  elif ! "$bin/$step" "${step_options[@]}" --device emulated -q --json "$work/emulated.json" \
    >/dev/null 2>"$work/why"; then
    no_emulated_counts="The emulated device did not count: $(<"$work/why")"
  fi
}

# ---- what the step's JSON files and ncu's report say ----

# field KEY: of the run on the GPU.
field() { sed -n "s/^ \{2,4\}\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "$work/gpu.json"; }

# A library does not tell: 0.
number_of_passes() { grep -c '^ \{6\}"elements":' "$work/gpu.json" || true; }

number_of_launches() { grep -c '^[0-9]*,kernel,' "$work/launches.csv"; }

# emulated COUNTER: the sum over the passes; nothing where there is none.
emulated() {
  if [[ -n $no_emulated_counts ]]; then return; fi
  sed -n '/^  "counters": {/,/^  }/s/^ *"'"$1"'": \([0-9]*\),\{0,1\}$/\1/p' "$work/emulated.json"
}

# counted METRIC: the sum over the launches, `missing` where one has none.
counted() {
  awk -F, -v metric="$1" -v launches="$(number_of_launches)" '
    $2 == metric { sum += $3; ++found }
    END { if (found == launches) printf "%.0f\n", sum; else print "missing" }' "$work/launches.csv"
}

difference() {
  if [[ $1 =~ ^[0-9]+$ && $2 =~ ^[0-9]+$ ]]; then echo $(($1 - $2)); else echo missing; fi
}

# ---- what is printed ----

print_counts() {
  local operation name shared_wavefronts shared_conflicts
  echo "**$step**, one reduction of $(field elements) $(field type)$(block), on $(field name)," \
    "as Nsight Compute $(ncu_version) counts it:"
  echo
  if [[ -z $no_emulated_counts ]]; then
    echo "| | Nsight Compute's metric | GPU | emulated |"
    echo "|:--|:--|--:|--:|"
  else
    echo "| | Nsight Compute's metric | GPU |"
    echo "|:--|:--|--:|"
  fi
  row "blocks" "\`launch__grid_size\`" "$(counted launch__grid_size)" "$(emulated blocks)"
  for operation in ld st; do
    if [[ $operation == ld ]]; then name=load; else name=store; fi
    shared_wavefronts=$(counted "${wavefronts}_$operation.sum")
    shared_conflicts=$(counted "${conflicts}_$operation.sum")
    row "shared ${name}s: wavefronts" "\`${wavefronts}_$operation.sum\`" "$shared_wavefronts" \
      "$(emulated "shared_${name}_wavefronts")"
    row "shared ${name}s: bank conflicts" "\`${conflicts}_$operation.sum\`" "$shared_conflicts" \
      "$(emulated "shared_${name}_conflicts")"
    row "shared ${name}s: without conflicts" "their difference" \
      "$(difference "$shared_wavefronts" "$shared_conflicts")" \
      "$(difference "$(emulated "shared_${name}_wavefronts")" "$(emulated "shared_${name}_conflicts")")"
  done
  for operation in ld st; do
    if [[ $operation == ld ]]; then name=load; else name=store; fi
    row "global ${name}s: requests" "\`${requests}_$operation.sum\`" "$(counted "${requests}_$operation.sum")" \
      "$(emulated "global_${name}_requests")"
    row "global ${name}s: sectors" "\`${sectors}_$operation.sum\`" "$(counted "${sectors}_$operation.sum")" \
      "$(emulated "global_${name}_sectors")"
  done
  row "warp instructions" "\`smsp__inst_executed.sum\`" "$(counted smsp__inst_executed.sum)"
  row "bytes read from DRAM" "\`dram__bytes_read.sum\`" "$(counted dram__bytes_read.sum)"
  row "bytes written to DRAM" "\`dram__bytes_write.sum\`" "$(counted dram__bytes_write.sum)"
  echo
  echo "A request takes one wavefront where its elements have 4 bytes, and each bank conflict one more."
  echo
  if [[ -n $no_emulated_counts ]]; then
    echo "$no_emulated_counts"
    echo
  elif [[ $(emulated blocks) != "$(counted launch__grid_size)" ]]; then
    echo "The emulated device has an H200's 132 multiprocessors: where a grid fills the device, this GPU takes another."
    echo
  fi
}

block() {
  local threads
  threads=$(field block)
  if [[ $threads != null ]]; then echo " in blocks of $threads"; fi
}

# row WHAT METRIC COUNT [EMULATED_COUNT]
row() {
  local beside=
  if [[ -z $no_emulated_counts ]]; then beside=" ${4:-–} |"; fi
  echo "| $1 | $2 | $3 |$beside"
}

print_launches() {
  echo "| launch | kernel | blocks | µs | % of DRAM's peak |"
  echo "|--:|:--|--:|--:|--:|"
  awk -F, -v share="$dram_share" '
    function value(metric) { return (launch, metric) in values ? values[launch, metric] : "missing" }
    { values[$1, $2] = $3; launches = $1 }
    END {
      for (launch = 1; launch <= launches; ++launch) {
        time = value("gpu__time_duration.sum")
        percent = value(share)
        if (time != "missing") time = sprintf("%.2f", time / 1000)
        if (percent != "missing") percent = sprintf("%.1f", percent)
        printf "| %d | %s | %s | %s | %s |\n", launch, value("kernel"), value("launch__grid_size"), time, percent
      }
    }' "$work/launches.csv"
  echo
}

print_times() {
  local nanoseconds
  nanoseconds=$(counted gpu__time_duration.sum)
  if [[ $nanoseconds == missing ]]; then
    echo "Time: ncu gives none here (gpu__time_duration); the step's own median is $(field median) ms."
    return
  fi
  LC_ALL=C awk -v kernels="$nanoseconds" -v launches="$(number_of_launches)" -v own="$(field median)" 'BEGIN {
    kernels /= 1e6
    printf "Time: ncu gives %.4f ms (gpu__time_duration, %d launch%s), ", kernels, launches, (launches > 1 ? "es" : "")
    printf "the step'\''s own median is %.4f ms: %+.4f ms, %+.1f %%.\n", own, own - kernels, 100 * (own / kernels - 1)
  }'
  echo "The step times from before its first launch to after its last; ncu each kernel alone, with empty caches."
}

main "$@"
