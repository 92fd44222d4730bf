#!/usr/bin/env bash
# Lets Nsight Compute (ncu) count what the first pass of each GPU step does on the GPU of this machine, and writes the
# counts into one file, with a line `step,metric,value` for each.
#
#   docs/counters/profile.sh [--bin FOLDER] [--out FILE]
#
#   --bin FOLDER   the steps' executables, built with CUDA; default build/bin
#   --out FILE     default docs/counters/<gpu>.csv, for example nvidia_h200.csv
#
# A metric that this GPU does not have is written as `missing`, and so is all of a step that this GPU cannot run (11 takes
# compute capability 9.0). The file appears whole or not at all.
#
# Exit code: 0 the file is written, 2 bad usage, 3 a machine that cannot do it.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../nsight_compute.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../nsight_compute.sh"
# shellcheck source-path=SCRIPTDIR source=steps.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/steps.sh"

counters=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
bin=$counters/../../build/bin
out=

steps=("${compared_steps[@]}" "${gpu_only_steps[@]}")
# These names hold from Turing to Blackwell, except for the copy engine's (tma), which Hopper was the first to have. A
# wavefront is one turn at the banks of shared memory, a request one warp instruction at the L1 cache, a sector 32
# bytes, and xbar leads from the L2 cache to the multiprocessors.
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
  dram__bytes_read.sum
  l1tex__m_xbar2l1tex_read_bytes.sum
  l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum
  smsp__inst_executed.sum
  smsp__thread_inst_executed_per_inst_executed.ratio
  smsp__sass_branch_targets_threads_divergent.sum
  gpu__time_duration.sum
)
# The first launch of the step's kernel is its first pass.
launches=(-k "regex:reduce_kernel" -s 0 -c 1)
step_options=(-n "2^22" -t int32 -b 256 --device cuda -s 1 -q)

main() {
  local step
  read_options "$@"
  work=$(mktemp -d)
  trap 'rm -rf "$work" ${out:+"$out.partial"}' EXIT
  trap 'exit 130' INT
  check_machine
  choose_file

  describe_run >"$work/counters.csv"
  for step in "${steps[@]}"; do
    echo "$step" >&2
    if runs_here "$step"; then
      profile "$bin/$step" "${step_options[@]}"
    else
      echo "$step does not run on this GPU: $(<"$work/why")" >&2
      : >"$work/log"
    fi
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

check_machine() {
  local step
  for step in "${steps[@]}"; do
    if [[ ! -x $bin/$step ]]; then
      fail "$not_possible" "there is no $bin/$step: build the steps with ./run_ladder.sh, or name their folder with --bin"
    fi
  done
  require_ncu
  # The step says why when there is no GPU, or when it was built without CUDA.
  if ! "$bin/${steps[0]}" -n 1 -s 1 -q --device cuda --json "$work/gpu.json" >/dev/null 2>"$work/why"; then
    fail "$not_possible" "the steps do not run on a GPU here: $(<"$work/why")"
  fi
}

# Fails where the step says that it takes another GPU. Any other failure is ncu's to tell.
runs_here() {
  local status=0
  "$bin/$1" -n 1 -s 1 -q --device cuda >/dev/null 2>"$work/why" || status=$?
  ! { ((status == not_possible)) && grep -q "it needs a CUDA device of compute capability" "$work/why"; }
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

# The lines of the file for STEP, in the order of `metrics`.
counts_of() {
  local step=$1 metric value
  local -A values=()
  while IFS=, read -r _ metric value; do values[$metric]=$value; done < <(reported)
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
# Nsight Compute: $(ncu_version)
# date: $(date --utc +%F)
# command: ncu ${launches[*]} ${ncu_options[*]} --metrics <those below> <step> ${step_options[*]}
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
