#!/usr/bin/env bash
# Builds the ladder and climbs it: runs 00_cpu_serial to 07_cascade in order, on a GPU also CUB's reduction, then puts
# their results into one table, and beside what others have published into a second one.
# Whatever is missing on a Debian or Ubuntu machine is installed first.

set -euo pipefail
caller_folder=$PWD
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
source common/scripts/set_up.sh

steps=([0-9][0-9]_*)
peer=peer_cub  # CUB's reduction, built where there is nvcc
step_options=()
exec 3>&1  # where the table's program writes
table_options=()
compare_options=()
results=()
wrong_steps=()

main() {
  read_options "$@"
  install_missing_packages "${build_packages[@]}"
  configure_with_tests OFF
  build ladder

  forget_earlier_results
  for step in "${steps[@]}"; do
    run_step "$step"
  done
  # A peer is no step: it has nothing to show on the emulated device.
  if [[ -x $build_folder/bin/$peer ]] && ran_on_cuda "${steps[-1]}"; then run_step "$peer"; fi
  print_table
  if ((${#wrong_steps[@]} > 0)); then fail 1 "wrong result: ${wrong_steps[*]}"; fi
}

# Every option is for the steps, but for --json: eight steps cannot share one file, so it is for the table.
read_options() {
  while (($# > 0)); do
    case $1 in
      -h | --help)
        show_help
        exit
        ;;
      --version)
        show_version
        exit
        ;;
      --json)
        if (($# < 2)); then fail "$bad_usage" "--json needs the name of a file"; fi
        use_json_file "$2"
        shift
        ;;
      --json=*) use_json_file "${1#--json=}" ;;
      *) step_options+=("$1") ;;
    esac
    shift
  done
}

show_help() {
  cat <<USAGE
Usage: ./run_ladder.sh [OPTIONS]

Builds 00_cpu_serial to 07_cascade, runs them in order, on a GPU also CUB's reduction, and ends with a table of their
results and one of what others have published.
The options are those of the steps; --json writes the results of all of them into one file.

REDUCTION_CUDA=AUTO, the default, takes CUDA where there are nvcc and a GPU; ON insists on nvcc, OFF leaves CUDA out.

Exit code: 0 every result verified, 1 a wrong result, 2 bad usage, 3 a machine that cannot do it.

USAGE
  if [[ -x $build_folder/bin/07_cascade ]]; then
    echo "The options of a step:"
    "$build_folder/bin/07_cascade" --help
  else
    echo "The options of the steps are listed here once ./run_ladder.sh has built them."
  fi
}

show_version() { sed -n 's/^project(reduction VERSION \([0-9.]*\) .*/run_ladder.sh \1/p' CMakeLists.txt; }

# Refuses a file that cannot be written now, not after minutes.
use_json_file() {
  local file=$1 probe
  if [[ $file != - && $file != /* ]]; then file=$caller_folder/$file; fi
  if [[ $file != - && ! -p $file && ! -c $file ]]; then
    # The table's program writes a file beside it first, as the steps do.
    if [[ -z $1 || -d $file ]] || ! probe=$(mktemp "$file.XXXXXX" 2>/dev/null); then
      fail "$bad_usage" "--json '$1': name a file in a folder that can be written"
    fi
    rm "$probe"
  fi
  table_options=(--json "$file")
  # With the results on stdout, everything else goes to stderr.
  if [[ $file == - ]]; then exec 3>&1 >&2; fi
}

forget_earlier_results() {
  rm -rf "$build_folder/ladder"
  mkdir "$build_folder/ladder"
}

run_step() {
  local step=$1 result=$build_folder/ladder/$1.json status=0
  # shellcheck disable=SC2064  # the step of now
  trap "stop $step" INT
  "$build_folder/bin/$step" "${step_options[@]}" "${compare_options[@]}" --json "$result" || status=$?
  # A wrong result is news of one step; bad usage or a missing device would be the same line eight times.
  case $status in
    0) ;;
    1) wrong_steps+=("$step") ;;
    *) exit "$status" ;;
  esac
  if [[ -f $result ]]; then results+=("$result"); fi
  # The next step shows its counters beside this one's, where there are some; a sweep's are a list.
  compare_options=()
  if [[ -f $result && $(head -c 1 "$result") == "{" ]] && grep -q '"shared_load_requests"' "$result"; then
    compare_options=(--compare "$result")
  fi
  echo
}

# Ctrl-C: the table of what there is, the step that was running included where its sweep has rows.
stop() {
  local step=$1 result=$build_folder/ladder/$1.json
  trap - INT
  if [[ -f $result && " ${results[*]} " != *" $result "* ]]; then results+=("$result"); fi
  print_table
  exit 130
}

ran_on_cuda() { grep -qs '"kind": "cuda"' "$build_folder/ladder/$1.json"; }

print_table() {
  local status=0
  if ((${#results[@]} == 0)); then return; fi
  "$build_folder/bin/ladder_table" "${results[@]}" "${table_options[@]}" >&3 || status=$?
  # It says 1 of a wrong result, which is known already.
  if ((status > 1)); then exit "$status"; fi
}

main "$@"
