# shellcheck shell=bash
# Nsight Compute (ncu) counts what kernels do on the GPU of this machine. docs/profile.sh and docs/counters/profile.sh
# read this file. They set
#
#   work      a folder of their own, for the report of the last run
#   launches  ncu's options that select the launches to count
#   metrics   what to count, by ncu's names
#
# and call, in this order: require_ncu, profile PROGRAM [OPTION...], reported.

# shellcheck disable=SC2034  # the scripts use both
readonly bad_usage=2 not_possible=3
# The clocks stay as they are: locking them changes no count, and would change the times.
readonly ncu_options=(--clock-control none --csv --page raw --print-units base)
# For the reader who has to repeat it with other permissions.
readonly invocation="$0 $*"

work=
launches=()
metrics=()
# Those of `metrics` that this GPU has, once a run has told.
known_metrics=()

# fail EXIT_CODE LINE...
fail() {
  local code=$1
  shift
  printf '%s\n' "${0##*/}: error: $1" "${@:2}" >&2
  exit "$code"
}

require_ncu() {
  if command -v ncu >/dev/null; then return; fi
  fail "$not_possible" "there is no ncu on PATH: it is Nsight Compute, a part of the CUDA toolkit;" \
    "try PATH=/usr/local/cuda/bin:\$PATH, or install the package nsight-compute"
}

ncu_version() { ncu --version | sed -n 's/^Version \([0-9.]*\).*/\1/p'; }

# Leaves ncu's report for `reported`, or ends the script with the reason why not.
profile() {
  if ((${#known_metrics[@]} == 0)); then known_metrics=("${metrics[@]}"); fi
  if count "$@"; then return; fi
  if grep -q "Failed to find metric" "$work/log"; then
    leave_out_unknown_metrics "$@"
    if count "$@"; then return; fi
  fi
  if grep -q ERR_NVGPUCTRPERM "$work/log"; then
    fail "$not_possible" "reading the GPU's counters is not permitted to this user (ERR_NVGPUCTRPERM). Either" \
      "  sudo env \"PATH=\$PATH\" $invocation     (in a container: start it with --cap-add=SYS_ADMIN)" \
      "or permit it to every user, and reboot:" \
      "  echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/nvidia-profiling.conf" \
      "NVIDIA's page on it: https://developer.nvidia.com/ERR_NVGPUCTRPERM"
  fi
  fail "$not_possible" "ncu counted nothing in ${1##*/}; its last words:" "$(tail -n 8 "$work/log")"
}

# One unknown name keeps ncu from counting anything, and how it says which one differs from version to version: so each
# metric is tried alone.
leave_out_unknown_metrics() {
  local metric found=()
  for metric in "${metrics[@]}"; do
    known_metrics=("$metric")
    if count "$@"; then
      found+=("$metric")
    else
      echo "$metric: not on this GPU" >&2
    fi
  done
  known_metrics=("${found[@]}")
}

# Fails where ncu reports no values; its exit code alone does not tell.
count() {
  local list
  if ((${#known_metrics[@]} == 0)); then return 1; fi
  list=$(IFS=, && echo "${known_metrics[*]}")
  LC_ALL=C ncu "${launches[@]}" "${ncu_options[@]}" --metrics "$list" "$@" >"$work/log" 2>&1 || true
  [[ $(reported) == *__* ]]
}

# The report as lines `launch,kernel,name`, followed by those `launch,metric,value` of the launch; launches count from
# 1. In the report, a row of names, one of units and one of values for each launch are among other lines; each field is
# in quotes, and a number may have commas.
reported() {
  awk -F '","' '
    { sub(/^"/, ""); sub(/"\r?$/, "") }
    $1 == "ID" { for (k = 1; k <= NF; ++k) name[k] = $k; next }
    name[1] == "ID" && $1 ~ /^[0-9]+$/ {
      ++launch
      for (k = 1; k <= NF; ++k) {
        if (name[k] != "Kernel Name") continue
        kernel = $k
        sub(/[<(].*/, "", kernel)
        sub(/.*[ :]/, "", kernel)
        print launch ",kernel," kernel
      }
      for (k = 1; k <= NF; ++k) {
        value = $k
        gsub(",", "", value)
        if (name[k] ~ /__/ && value ~ /^[0-9][0-9.eE+-]*$/) print launch "," name[k] "," value
      }
    }' "$work/log"
}
