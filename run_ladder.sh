#!/usr/bin/env bash
# Usage: ./run_ladder.sh [--beyond] [OPTIONS]
#
# Builds the ladder's steps, runs them in order, on a GPU also CUB's reduction,
# and ends with a table of what others have published and one of their results.
# Each step runs as soon as it is built. Whatever is missing on a Debian or Ubuntu
# machine is installed first. Another run in this checkout waits until this one
# ends.
#
# --beyond goes on with the steps of beyond, some of which take a GPU. The other
# options are those of the steps, but for --compare and --trace, which are of one
# step; --json writes the results of all of them into one file.
#
# REDUCTION_CUDA=AUTO, the default, takes CUDA where there are nvcc and a GPU; ON
# insists on nvcc, OFF leaves CUDA out.
#
# Exit code: 0 every result verified, 1 a wrong result, 2 bad usage, 3 a machine
# that cannot do it, 130 Ctrl-C.

set -euo pipefail
caller_folder=$PWD
script=$(readlink -f "${BASH_SOURCE[0]}")
cd "${script%/*}"
source common/scripts/set_up.sh

parts="ladder peer"  # of common/steps.txt
climb=climb          # the target that builds them
page=00_cpu_serial   # to read on
step_options=()
table_options=()
compare_options=()
results=$build_folder/results  # the folder of this run's, whose names are in the steps' order
wrong_steps=()
{ true 9>&1; } 2>/dev/null || exec >/dev/null  # where it is closed
exec 8>&1  # where the table's program writes

main() {
  local step part needs
  read_options "$@"
  take_build_folder
  install_missing_packages "${build_packages[@]}"
  configure_with_tests OFF
  # Nothing is compiled while 00 runs: the time of a CPU is its result.
  build 00_cpu_serial
  rm -rf "$results"
  mkdir "$results"
  trap stop INT
  trap '' PIPE  # whoever reads the first lines of stdout only still gets the file of --json
  run_step 00_cpu_serial

  # On few cores, 01 comes first: it runs while the others are compiled.
  if (($(build_jobs) <= 8)); then build 01_interleaved; fi
  start_build "$climb"
  renice -n 19 "$build_job" >/dev/null  # a step that runs, and the host's part of its timing, come first
  while read -r -u 7 step part needs _; do
    if [[ $needs != cpu && " $parts " == *" $part "* ]] && can_run "$step" "$part" "$needs"; then
      await "$step"
      run_step "$step"
    fi
  done 7<common/steps.txt
  await ladder_table
  print_table
  if [[ -t 1 && ${#wrong_steps[@]} == 0 && " ${step_options[*]}" != *" -"*q* ]]; then
    printf "\nRead on in %s: each step has a page that says why.\n" "$page/README.md"
  fi
}

# All but these are the steps' own. --json is for the table: eight steps cannot share one file.
read_options() {
  local json asked=
  while (($# > 0)); do
    case $1 in
      -- | --compare* | --trace*) fail "$bad_usage" "'$1' is of one step, such as 03_sequential" ;;
      --beyond)
        parts="ladder beyond peer"
        climb=climb_beyond
        page=beyond
        ;;
      -h | --help) asked=show_help ;;
      --version) asked=show_version ;;
      --json=*) json=${1#*=} ;;
      --json)
        json=${2:-}
        shift $(($# > 1))
        ;;
      *) step_options+=("$1") ;;
    esac
    shift
  done
  # A step refuses what is wrong: here if one is built, else the first one does as soon as it is.
  if [[ -x $build_folder/bin/00_cpu_serial ]]; then
    "$build_folder/bin/00_cpu_serial" --help "${step_options[@]}" >/dev/null || (($? != bad_usage)) || exit "$bad_usage"
  fi
  if [[ -n $asked ]]; then
    "$asked" || fail "$not_possible" "stdout does not take the output"
    exit
  fi
  if [[ -v json ]]; then use_json_file "$json"; fi
}

show_version() { sed -n 's/^project(reduction VERSION \([0-9.]*\) .*/run_ladder.sh \1/p' CMakeLists.txt; }

# Beside this script's own, the options of a step, as soon as there is one.
show_help() {
  sed -n '2,/^$/ { s/^# \{0,1\}//; p; }' run_ladder.sh
  if [[ -x $build_folder/bin/07_cascade ]]; then "$build_folder/bin/07_cascade" --help; fi
}

# Refuses a file that cannot be written now, not after minutes.
use_json_file() {
  local file=$1 folder
  case $file in
    - | /dev/stdout | /dev/fd/1) file=- && exec >&2 ;;  # with the results on stdout, all else goes to stderr
    "" | -*) fail "$bad_usage" "--json needs a value" ;;
    /*) ;;
    *) file=$caller_folder/$file ;;
  esac
  folder=$(dirname "$(realpath -m "$file")")
  if [[ $file != - && ($file == */ || -d $file || -e $file && ! -w $file || ! -e $file && ! -w $folder) ]]; then
    fail "$bad_usage" "--json '$1' cannot be written; name a file in a folder that can be"
  fi
  table_options=(--json "$file")
}

# can_run STEP PART NEEDS, on the device that 01 has run on.
can_run() {
  local capability least=${3##*[!0-9]}
  capability=$(sed -n '/"kind": "cuda"/,/}/ s/.*"compute_capability": "\([0-9]*\).*/\1/p' "$results"/*.json | head -n 1)
  if [[ $3 == any* && -z $capability ]] || ((${capability:-0} >= ${least:-1})); then return; fi
  if [[ $2 == beyond ]]; then say "$1 takes a GPU${least:+ of compute capability $least.0 or higher}: skipped" ""; fi
  return 1
}

run_step() {
  local result=$results/$1.json status=0
  "$build_folder/bin/$1" "${step_options[@]}" "${compare_options[@]}" --json "$result" || status=$?
  # A wrong result is news of one step; bad usage or a missing device would be the same line eight times.
  case $status in
    0) ;;
    1) wrong_steps+=("$1") ;;
    "$bad_usage" | "$not_possible" | 130) exit "$status" ;;
    *) fail "$not_possible" "$1 crashed: exit code $status" ;;
  esac
  if [[ ! -f $result ]]; then exit; fi  # it was asked for its help, as by -qh
  compare_options=(--compare "$result")  # for the next step
  echo 2>/dev/null || true
}

# Ctrl-C: the table of what there is, the step that was running included where its sweep has rows.
stop() {
  trap - INT
  end_build
  if compgen -G "$results/*.json" >/dev/null; then (build ladder_table && print_table) || true; fi
  exit 130
}

print_table() {
  local table=("$build_folder/bin/ladder_table" "$results"/*.json) status=0
  "${table[@]}" "${table_options[@]}" >&8 || status=$?
  # A file that cannot be written after all must not keep the table from whoever has waited for it.
  if ((status > 1 && ${#table_options[@]} > 0)); then "${table[@]}" >&8 || true; fi
  if ((status > 1)); then exit "$not_possible"; fi
}

# A wrong result counts for more than whatever else has failed.
end() {
  local status=$?
  end_build
  if ((${#wrong_steps[@]} == 0 || status == 130)); then exit "$status"; fi
  fail 1 "wrong result: ${wrong_steps[*]}"
}
trap end EXIT

main "$@"
