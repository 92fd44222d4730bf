#!/usr/bin/env bash
# Builds the ladder and climbs it: runs 00_cpu_serial to 07_cascade in order, with --beyond what comes after, on a GPU
# also CUB's reduction, then puts their results into one table, and beside what others have published into a second one.
# Each step runs as soon as it is built. Whatever is missing on a Debian or Ubuntu machine is installed first.

set -euo pipefail
caller_folder=$PWD
script=$(readlink -f "${BASH_SOURCE[0]}") || exit 3
cd "${script%/*}" || exit 3
source common/scripts/set_up.sh
source common/scripts/build_ahead.sh

steps=(01_interleaved 02_nondivergent 03_sequential 04_first_add 05_unroll_warp 06_templated 07_cascade)
steps_beyond=(08_warp_shuffle 09_vector_loads 10_single_pass)
# The options of the steps, as their --help lists them: a test compares.
valued_options=('-n,--elements' '-t,--type' '-b,--block' '-s,--samples' --seed --data --device --sweep --flush --warm-up
  --queue --lead-in --counters --schedule --json)
flags=('-q,--quiet' '-h,--help' --version)
options_of_one_step=(--compare --trace --trace-block --trace-beside)
gpu_steps=(11_bulk_copy 12_any_operation)  # the emulated device has nothing to show of them
peer=peer_cub                              # no step: CUB's reduction, to hold the ladder against
least_capability=9                         # compute capability, which 11_bulk_copy needs
climb=climb                                # the target that announces what is to run
step_options=()
exec {table_output}>&1  # where the table's program writes
own_descriptors+=("$table_output")
table_options=()
compare_options=()
place=first  # of a step in the ladder: what is the same in all of them, a terminal shows with the first on a device
quiet=
running=
results_folder=  # of this run
results=()
wrong_steps=()

main() {
  read_options "$@"
  take_build_folder
  install_missing_packages "${build_packages[@]}"
  configure_with_tests OFF
  # Nothing is compiled while 00 runs: the time of a CPU is its result.
  build 00_cpu_serial
  results_folder=$(mktemp -d "$build_folder/ladder.XXXXXX")
  trap stop INT
  trap '' PIPE  # whoever reads the first lines of stdout only still gets the file of --json
  run_step 00_cpu_serial

  # On few cores, all that 01 takes comes first: it runs while the others are compiled.
  if (($(build_jobs) > 8)); then build_ahead "$climb"; else build_ahead climb_first "$climb"; fi
  for step in "${steps[@]}"; do
    await_and_run "$step"
  done
  if [[ $climb == climb_beyond ]]; then climb_beyond; fi
  if ran_on_cuda; then await_and_run "$peer"; fi
  print_table
  if ((${#wrong_steps[@]} > 0)); then fail 1 "wrong result: ${wrong_steps[*]}"; fi
  if [[ -t 1 && -z $quiet ]]; then say_what_to_read; fi
}

say_what_to_read() {
  local page=01_interleaved/README.md
  if [[ $climb == climb_beyond ]]; then page=beyond/README.md; fi
  printf '\n%s\n' "Read on in $page: each step has a page that says why." | fold -s -w "$(columns)"
}

climb_beyond() {
  local step
  for step in "${steps_beyond[@]}"; do
    await_and_run "$step"
  done
  if ! ran_on_cuda; then
    say "${gpu_steps[0]} and ${gpu_steps[1]} run on a GPU only: skipped" ""
    return
  fi
  for step in "${gpu_steps[@]}"; do
    if [[ $step == 11_* ]] && (($(capability) < least_capability)); then
      say "$step takes a GPU of compute capability $least_capability.0 or higher: skipped" ""
    else
      await_and_run "$step"
    fi
  done
}

# All but --beyond are the steps' own, and refused as the steps would, before anything is built. Their values the first
# step reads. --json is for the table: eight steps cannot share one file.
read_options() {
  local word words name option value given=
  while (($# > 0)); do
    word=$1
    words=("$1")
    shift
    case $word in
      --) refuse "'--': there is nothing but options here" ;;
      --*) name=${word%%=*} ;;
      -?*) name=${word:0:2} ;;
      *) refuse "'$word' is not known here" ;;
    esac
    value=${word:${#name}}
    option=$name
    if find_option "$name" --beyond "${flags[@]}"; then
      if [[ $name != --* && $value == [[:alpha:]]* ]]; then  # -qn4 is -q -n4
        set -- "-$value" "$@"
      elif [[ -n $value ]]; then
        refuse "$name takes no value"
      fi
      if [[ $given == *" $option "* ]]; then refuse "$name is there 2 times; give it once"; fi
      given+=" $option "
      take_flag "$name"
      continue
    elif find_option "$name" "${options_of_one_step[@]}"; then
      fail "$bad_usage" "$name is of one step, as in: build/bin/03_sequential --trace conflict.html"
    elif ! find_option "$name" "${valued_options[@]}"; then
      refuse "'$word' is not known here"
    fi
    if [[ $given == *" $option "* ]]; then refuse "$name is there 2 times; give it once"; fi
    given+=" $option "
    if [[ -n $value ]]; then
      if [[ $name == --* ]]; then value=${value#=}; fi
    elif (($# > 0)) && [[ $1 != -[!0-9]* ]]; then
      value=$1
      words+=("$1")
      shift
    fi
    if [[ -z $value ]]; then refuse "$name needs a value"; fi
    if [[ $name == --json ]]; then use_json_file "$value"; else step_options+=("${words[@]}"); fi
  done
}

# Sets `option` to the one that has this name.
find_option() {
  local name=$1
  shift
  for option; do
    if [[ ,$option, == *",$name,"* ]]; then return; fi
  done
  return 1
}

refuse() { fail "$bad_usage" "$1 (--help lists what is allowed)"; }

take_flag() {
  local text
  case $1 in
    -h | --help)
      text=$(show_help)
      print "$text"
      exit
      ;;
    --version)
      text=$(show_version)
      print "$text"
      exit
      ;;
    --beyond) climb=climb_beyond ;;
    -q | --quiet)
      quiet=yes
      step_options+=("$1")
      ;;
  esac
}

show_help() {
  cat <<USAGE
Usage: ./run_ladder.sh [--beyond] [OPTIONS]

Builds 00_cpu_serial to 07_cascade, runs them in order, on a GPU also CUB's reduction, and ends with a table of their
results and one of what others have published. Each step runs as soon as it is built.

--beyond goes on after 07: 08_warp_shuffle, 09_vector_loads, 10_single_pass, on a GPU also 11_bulk_copy and
12_any_operation. The other options are those of the steps, but for --compare and --trace, which are of one step; --json
writes the results of all of them into one file. Another run in this checkout waits until this one ends.

REDUCTION_CUDA=AUTO, the default, takes CUDA where there are nvcc and a GPU; ON insists on nvcc, OFF leaves CUDA out.

Exit code: 0 every result verified, 1 a wrong result, 2 bad usage, 3 a machine that cannot do it, 130 Ctrl-C.

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
  local file=$1 problem
  case $file in
    - | /dev/stdout | /dev/fd/1 | /proc/self/fd/1)
      table_options=(--json -)
      exec >&2  # with the results on stdout, everything else goes to stderr
      return
      ;;
    /*) ;;
    *) file=$caller_folder/$file ;;
  esac
  problem=$(problem_with "$file")
  if [[ -n $problem ]]; then fail "$bad_usage" "--json '$1': $problem; name a file in a folder that can be written"; fi
  table_options=(--json "$file")
}

# Prints why the table's program cannot write the file, which it replaces by a new one. A pipe it writes as it is.
problem_with() {
  local file=$1 target probe
  if [[ -d $file || -e $file && ! -w $file || ! -e $file && $file == /dev/fd/* ]] || is_for_reading "$file"; then
    echo "it cannot be written"
  elif [[ $file == */ ]]; then
    echo "there is no such folder, and a file's name does not end in a slash"
  elif [[ -S $file ]]; then
    echo "it is a socket"
  elif [[ $file != /dev/fd/* && $file != /proc/self/fd/* && (-f $file || ! -e $file) ]]; then
    target=$(readlink -f "$file" || true)
    if [[ -n $(find -L "$file" -links +1 2>/dev/null) ]]; then
      echo "it has other names (hard links)"
    elif [[ -z $target ]] || ! probe=$(mktemp "${target%/*}/.XXXXXX" 2>/dev/null); then
      echo "its folder cannot be written"
    else
      # Another owner's file stays that owner's, which only root can see to.
      if [[ -e $file ]] && ! chown "$(owner_and_group_of "$file")" "$probe" 2>/dev/null; then
        echo "it belongs to $(owner_of "$file")"
      fi
      rm -f "$probe"
    fi
  fi
}

# GNU's stat, then BSD's.
owner_and_group_of() { stat -L -c %u:%g "$1" 2>/dev/null || stat -L -f %u:%g "$1"; }

# Whether it is a descriptor that was opened for reading, where /proc tells.
is_for_reading() {
  [[ $1 =~ ^(/dev|/proc/self)/fd/([0-9]+)$ ]] && grep -qs '^flags:.*[04]$' "/proc/self/fdinfo/${BASH_REMATCH[2]}"
}

await_and_run() {
  await "$1"
  run_step "$1"
}

run_step() {
  local step=$1 result=$results_folder/$1.json status=0
  running=$step
  # Its blocks are larger, unless -b says otherwise: nothing to hold against the step before.
  if [[ $step == 10_* ]]; then compare_options=(); fi
  REDUCTION_LADDER=$place "$build_folder/bin/$step" "${step_options[@]}" "${compare_options[@]}" --json "$result" ||
    status=$?
  if [[ $step != 00_* ]]; then place=next; fi
  # A wrong result is news of one step; bad usage or a missing device would be the same line eight times.
  case $status in
    0) ;;
    1) wrong_steps+=("$step") ;;
    "$bad_usage" | "$not_possible" | 130) exit "$status" ;;
    *) fail "$not_possible" "$step crashed: exit code $status" ;;
  esac
  if [[ -f $result ]]; then results+=("$result"); fi
  # The next step shows its counters beside this one's, where there are some; a sweep's are a list.
  compare_options=()
  if [[ -f $result && $(head -c 1 "$result") == "{" ]] && grep -q '"shared_load_requests"' "$result"; then
    compare_options=(--compare "$result")
  fi
  echo 2>/dev/null || true
}

# Ctrl-C: the table of what there is, the step that was running included where its sweep has rows.
stop() {
  local result=$results_folder/$running.json
  trap - INT
  end_build
  if [[ -f $result && " ${results[*]} " != *" $result "* ]]; then results+=("$result"); fi
  (print_table) || true
  exit 130
}

end() {
  end_build
  if [[ -n $results_folder ]]; then rm -rf "$results_folder"; fi
  leave_build_folder
}
trap end EXIT

ran_on_cuda() { ((${#results[@]} > 0)) && grep -qs '"kind": "cuda"' "${results[@]}"; }

# The first number of the GPU's compute capability.
capability() { sed -n 's/.*"compute_capability": "\([0-9]*\).*/\1/p' "${results[@]}" | head -n 1; }

print_table() {
  local status=0
  if ((${#results[@]} == 0)); then return; fi
  if [[ -n $build_job ]]; then await ladder_table; else build ladder_table; fi
  "$build_folder/bin/ladder_table" "${results[@]}" "${table_options[@]}" >&"$table_output" || status=$?
  if ((status == bad_usage && ${#table_options[@]} > 0)); then  # the file cannot be written after all
    "$build_folder/bin/ladder_table" "${results[@]}" >&"$table_output" || true
    status=$not_possible
  fi
  # It says 1 of a wrong result, which is known already, and counts for more than a file.
  if ((status <= 1 || ${#wrong_steps[@]} > 0)); then return; fi
  if ((status > not_possible)); then fail "$not_possible" "ladder_table crashed: exit code $status"; fi
  exit "$status"
}

main "$@"
