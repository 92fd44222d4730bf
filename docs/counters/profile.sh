#!/usr/bin/env bash
# Lets Nsight Compute (ncu) count what the first pass of each GPU step does on the GPU of this machine, and writes the
# counts into one file, with a line `step,metric,value` for each.
#
#   docs/counters/profile.sh [--bin FOLDER] [--out FILE]
#
#   --bin FOLDER   the steps' executables, built with CUDA; default build/bin
#   --out FILE     default docs/counters/<gpu>.csv, for example nvidia_h200.csv
#
# A metric that this GPU does not have is written as `missing`. The file appears whole or not at all.
#
# Exit code: 0 the file is written, 2 bad usage, 3 a machine that cannot do it.

set -euo pipefail

counters=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
bin=$counters/../../build/bin
out=

readonly bad_usage=2 not_possible=3

steps=(01_interleaved 02_nondivergent 03_sequential 04_first_add 05_unroll_warp 06_templated 07_cascade)
# These names hold from Turing to Blackwell. A wavefront is one turn at the banks of shared memory, a request one warp
# instruction at the L1 cache, a sector 32 bytes.
metrics=(
  launch__grid_size
  smsp__inst_executed_op_shared_ld.sum
  smsp__inst_executed_op_shared_st.sum
  l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
  l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
  l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
  l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
  l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
  l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
  l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
  l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
  smsp__inst_executed.sum
  smsp__thread_inst_executed_per_inst_executed.ratio
  smsp__sass_branch_targets_threads_divergent.sum
  gpu__time_duration.sum
)
known_metrics=("${metrics[@]}")
# The first launch of the step's kernel is its first pass. The clocks stay as they are: locking them changes no count.
ncu_options=(-k "regex:reduce_kernel" -s 0 -c 1 --clock-control none --csv --page raw --print-units base)
step_options=(-n "2^22" -t int32 -b 256 --device cuda -s 1 -q)

main() {
  local step
  read_options "$@"
  work=$(mktemp -d)
  trap 'rm -rf "$work" ${out:+"$out.partial"}' EXIT
  trap 'exit 130' INT
  check_machine
  choose_file
  leave_out_unknown_metrics

  describe_run >"$work/counters.csv"
  for step in "${steps[@]}"; do
    echo "$step" >&2
    profile "$step" "${known_metrics[@]}"
    counts_of "$step" >>"$work/counters.csv"
  done
  mv "$work/counters.csv" "$out.partial"
  mv "$out.partial" "$out"
  echo "$out is written" >&2
}

read_options() {
  while (($# > 0)); do
    case $1 in
      --bin | --out)
        if (($# < 2)) || [[ -z $2 ]]; then fail "$bad_usage" "$1 needs a value"; fi
        if [[ $1 == --bin ]]; then bin=$2; else out=$2; fi
        shift
        ;;
      -h | --help)
        sed -n '2,/^$/s/^# \{0,1\}//p' "$counters/profile.sh"
        exit
        ;;
      *) fail "$bad_usage" "'$1': usage: docs/counters/profile.sh [--bin FOLDER] [--out FILE]" ;;
    esac
    shift
  done
}

# fail EXIT_CODE LINE...
fail() {
  local code=$1
  shift
  printf '%s\n' "profile.sh: error: $1" "${@:2}" >&2
  exit "$code"
}

check_machine() {
  local step
  for step in "${steps[@]}"; do
    if [[ ! -x $bin/$step ]]; then
      fail "$not_possible" "there is no $bin/$step: build the steps with ./run_ladder.sh, or name their folder with --bin"
    fi
  done
  if ! command -v ncu >/dev/null; then
    fail "$not_possible" "there is no ncu on PATH: it is Nsight Compute, a part of the CUDA toolkit;" \
      "try PATH=/usr/local/cuda/bin:\$PATH, or install the package nsight-compute"
  fi
  # The step says why when there is no GPU, or when it was built without CUDA.
  if ! "$bin/${steps[0]}" -n 1 -s 1 -q --device cuda --json "$work/gpu.json" >/dev/null 2>"$work/why"; then
    fail "$not_possible" "the steps do not run on a GPU here: $(<"$work/why")"
  fi
}

gpu_name() { sed -n 's/^ *"name": "\(.*\)",$/\1/p' "$work/gpu.json"; }

choose_file() {
  local name
  name=$(gpu_name | tr '[:upper:]' '[:lower:]' | tr -cs 'a-z0-9\n' _)
  if [[ -z $out ]]; then out=$counters/$name.csv; fi
  if [[ -d $out ]] || ! touch "$out.partial" 2>/dev/null; then
    fail "$bad_usage" "--out '$out': name a file in a folder that can be written"
  fi
  rm "$out.partial"
}

# One unknown name keeps ncu from counting anything, and how it says which one differs from version to version: so each
# metric is tried alone.
leave_out_unknown_metrics() {
  local metric found=()
  if count "${steps[0]}" "${metrics[@]}" || ! grep -q "Failed to find metric" "$work/log"; then return; fi
  for metric in "${metrics[@]}"; do
    if count "${steps[0]}" "$metric"; then
      found+=("$metric")
    else
      echo "$metric: not on this GPU" >&2
    fi
  done
  known_metrics=("${found[@]}")
}

# profile STEP METRIC...: leaves ncu's report in $work/log, or ends the script with the reason why not.
profile() {
  if (($# > 1)) && count "$@"; then return; fi
  if grep -q ERR_NVGPUCTRPERM "$work/log"; then
    fail "$not_possible" "reading the GPU's counters is not permitted to this user (ERR_NVGPUCTRPERM). Either" \
      "  sudo env \"PATH=\$PATH\" docs/counters/profile.sh     (in a container: start it with --cap-add=SYS_ADMIN)" \
      "or permit it to every user, and reboot:" \
      "  echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/nvidia-profiling.conf" \
      "NVIDIA's page on it: https://developer.nvidia.com/ERR_NVGPUCTRPERM"
  fi
  fail "$not_possible" "ncu counted nothing in $1; its last words:" "$(tail -n 8 "$work/log")"
}

# count STEP METRIC...: fails where ncu reports no values; its exit code alone does not tell.
count() {
  local step=$1 list
  shift
  list=$(IFS=, && echo "$*")
  LC_ALL=C ncu "${ncu_options[@]}" --metrics "$list" "$bin/$step" "${step_options[@]}" >"$work/log" 2>&1 || true
  [[ -n $(reported) ]]
}

# The report as lines `metric,value`. In it, a row of names, one of units and one of values are among other lines; each
# field is in quotes, and a number may have commas.
reported() {
  awk -F '","' '
    { sub(/^"/, ""); sub(/"\r?$/, "") }
    $1 == "ID" { for (k = 1; k <= NF; ++k) name[k] = $k; next }
    name[1] == "ID" && $1 ~ /^[0-9]+$/ {
      for (k = 1; k <= NF; ++k) {
        value = $k
        gsub(",", "", value)
        if (name[k] ~ /__/ && value ~ /^[0-9][0-9.eE+]*$/) print name[k] "," value
      }
      exit
    }' "$work/log"
}

# The lines of the file for STEP, in the order of `metrics`.
counts_of() {
  local step=$1 metric value
  local -A values=()
  while IFS=, read -r metric value; do values[$metric]=$value; done < <(reported)
  for metric in "${metrics[@]}"; do
    echo "$step,$metric,${values[$metric]:-missing}"
  done
}

describe_run() {
  local capability
  capability=$(sed -n 's/^ *"compute_capability": "\(.*\)",$/\1/p' "$work/gpu.json")
  cat <<HEADER
# The first pass of each step over 2^22 int32 in blocks of 256, as docs/counters/profile.sh counted it.
# GPU: $(gpu_name), compute capability $capability
# driver: $(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
# CUDA: $(cuda_version)
# Nsight Compute: $(ncu --version | sed -n 's/^Version \([0-9.]*\).*/\1/p')
# date: $(date --utc +%F)
# command: ncu ${ncu_options[*]} --metrics <those below> <step> ${step_options[*]}
step,metric,value
HEADER
}

# The toolkit's version where it is here, else the newest that the driver supports.
cuda_version() {
  if command -v nvcc >/dev/null; then
    nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p'
  else
    nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1 (driver)/p'
  fi
}

main "$@"
