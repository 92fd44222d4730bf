#!/usr/bin/env bash
# Writes the generated sections of the pages. The README of each step gets the diff from the kernel of the step before,
# the counters of a run on the emulated device beside those of the step before, and the figures that others have
# published. The page of the package gets the example that the package's test builds, the page of each pitfall the diff
# to the fixed kernel, docs/tables all published figures, and other pages what was measured on a GPU (docs/results).
#
#   docs/generate_readmes.sh [--check] [--bin FOLDER]
#
# --check only names what is stale. The executables are in FOLDER, build/bin by default.

# put_section calls them.
# shellcheck disable=SC2317

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source docs/sections.sh

# The size and the block size of the comparison with hardware counters (docs/counters). Counters can only be compared in
# one block size, and steps differ in their default.
elements='2^22'
block=256
bin=build/bin
results_folder=docs/results/nvidia_h200
package_page=beyond/12_any_operation/README.md

main() {
  local step previous='' results faulty
  read_options "$@"
  results=$(mktemp -d)
  # shellcheck disable=SC2064  # expands to the folder now
  trap "rm -rf '$results'" EXIT
  put_figures
  for step in [0-9][0-9]_* beyond/[0-9][0-9]_*; do
    if [[ ! -f $step/kernel.cuh ]]; then continue; fi
    if has_section "$step/README.md" diff; then
      put_section "$step/README.md" diff kernel_diff "$previous" "$step"
    fi
    if has_section "$step/README.md" counters; then
      run_step "$results" "${step##*/}" "${previous##*/}"
      put_section "$step/README.md" counters table_of counted "$results/${step##*/}"
    fi
    if has_section "$step/README.md" documented; then
      put_section "$step/README.md" documented "$bin/print_tables" "${step##*/}"
    fi
    previous=$step
  done
  show_atomics "$results"
  put_section "$package_page" example package_call
  put_section "$package_page" project package_project
  for faulty in docs/pitfalls/*.cuh; do
    put_section "${faulty%.cuh}.md" fix fix_diff "$faulty"
  done
  put_section docs/tables/README.md tables "$bin/print_tables"
  show_measurements
  exit "$stale"
}

read_options() {
  while (($# > 0)); do
    case $1 in
      --check) check=true ;;
      --bin)
        if (($# < 2)); then fail "--bin needs a folder"; fi
        bin=$2
        shift
        ;;
      *) fail "usage: docs/generate_readmes.sh [--check] [--bin FOLDER]" ;;
    esac
    shift
  done
  if [[ ! -x $bin/10_single_pass || ! -x $bin/print_results ]]; then
    fail "the steps and print_results are not in '$bin': build everything, or name their folder with --bin"
  fi
}

# The labels replace the files' names, to which diff would add the time of their last change.
kernel_diff() {
  local before=$1/kernel.cuh after=$2/kernel.cuh status=0
  echo '```diff'
  diff -u --label "$before" --label "$after" "$before" "$after" || status=$?
  if ((status > 1)); then fail "diff could not compare $before with $after"; fi
  echo '```'
}

# The kernels that add atomically: each beside the one before it, but the diff of the last from the step with its tree.
show_atomics() {
  local results=$1 folder=beyond/atomics step previous=''
  for step in atomic_each atomic_vector atomic_block; do
    run_step "$results" "$step" "$previous"
    put_section "$folder/$step/README.md" counters table_of counted "$results/$step"
    previous=$step
  done
  for step in atomic_each atomic_vector; do
    put_section "$folder/$step/README.md" documented "$bin/print_tables" "$step"
  done
  put_section "$folder/atomic_vector/README.md" diff kernel_diff "$folder/atomic_each" "$folder/atomic_vector"
  put_section "$folder/atomic_block/README.md" diff kernel_diff 04_first_add "$folder/atomic_block"
}

# Programs show these figures, and pages what programs show: a build with the old ones must not go on.
put_figures() {
  local header=common/harness/published_figures_data.hpp before
  before=$(<"$header")
  put_page "$header" "$bin/print_tables" --header
  if [[ $(<"$header") != "$before" ]]; then fail "$header is new: build again, then run this again"; fi
}

# fix_diff FAULTY prints what fixes the kernel, without the headers of the files and of the first hunk.
fix_diff() {
  local faulty=$1 fixed=${1%/*}/fixed/${1##*/}
  if [[ ! -f $fixed ]]; then fail "there is no $fixed"; fi
  echo '```diff'
  { diff -d -U1 <(bare_kernel "$faulty") <(bare_kernel "$fixed") || (($? == 1)); } | sed 1,3d
  echo '```'
}

# The kernel without its comment, which tells what is wrong or right, and without the mark of the finding.
bare_kernel() { sed -n '/^template/,$ { s: *// finding$::; p; }' "$1"; }

# The header and the one function of the package's test that calls it.
package_call() {
  echo '```cpp'
  grep '^#include <reduction/' tests/package/main.cu
  echo
  sed -n '/^cudaError_t/,/^}/p' tests/package/main.cu
  echo '```'
}

package_project() {
  echo '```cmake'
  sed -n '/^cmake_minimum_required/,$p' tests/package/CMakeLists.txt
  echo '```'
}

# What was found on a GPU: the page of its folder, the ladder of the first page, the tables of the method, and what the
# pages beyond the ladder show.
show_measurements() {
  local table
  for table in ladder provenance; do put_section README.md "$table" measured "$table"; done
  for table in flush queue lead_in warm_up repeat second_clock provenance; do
    put_section docs/method.md "$table" measured "$table"
  done
  put_section beyond/13_many_gpus/README.md scaling measured scaling
  put_section "$package_page" against_cub measured against_cub
  put_section beyond/atomics/README.md measured measured atomics
  put_section beyond/peers/README.md measured measured peers
  put_page "$results_folder/README.md" measured page
}

measured() { "$bin/print_results" "$results_folder" "$1"; }

# run_step RESULTS NAME PREVIOUS runs the step and keeps what it prints in RESULTS, its counters for the next one.
run_step() {
  local compare=()
  if [[ -n $3 ]]; then compare=(--compare "$1/$3.json"); fi
  "$bin/$2" --device emulated -n "$elements" -b "$block" --json "$1/$2.json" "${compare[@]}" >"$1/$2"
}

# table_of NAME FILE prints the table whose first column has this name.
table_of() { sed -n "/^| $1 /,/^\$/p" "$2"; }

main "$@"
