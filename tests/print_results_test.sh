#!/usr/bin/env bash
# print_results with the made-up results of a card: the sections that not every card has, with their file and without.
#
#   print_results_test.sh PRINT_RESULTS

set -euo pipefail
print_results=$1
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
optional=(sweep_size_types peers atomics)
failures=0

main() {
  CARD_NAME="Made up" awk -f "$here/made_up_results.awk" -v folder="$work" -v peak=4000
  holds_the_header_against_cub
  shows_the_atomics_beside_what_is_published
  shows_the_peers
  shows_what_leads_in
  holds_a_job_against_its_slowest_gpu
  has_them_on_the_page
  names_the_block_that_all_have
  takes_no_header_without_cub_for_a_table
  says_what_is_not_measured
  refuses_broken_results
  if ((failures > 0)); then exit 1; fi
}

holds_the_header_against_cub() {
  expect against_cub '| elements | int32 | int64 | float32 | float64 | complex64 | complex128 |' \
    '| 2^10 | 1.25 | 0.90 | 1.25 | 1.25 | 1.25 | 1.25 |' '| 2^20 | 1.25 | 1.25 | 1.25 | 1.25 | 1.25 | – |' \
    'The lowest of these 11: 0.90 (2^10 int64). Their geometric mean: 1.21.'
}

shows_the_atomics_beside_what_is_published() {
  expect atomics \
    '| atomic_each | float32 | 2^25 | 32.0000 | 4.2 | 0.1 | 2.47 GB/s, 0.3 % of peak (blog 2025, RTX 3090) |' \
    '| atomic_block | float32 | 2^25 | 0.5000 | 268.4 | 6.7 | – |' '| atomic_block | int32 |'
}

shows_the_peers() {
  expect peers '| int32 | 2^20 | 2^28 |' '| float32 | 2^20 | 2^28 |' '| peer_cub | 8.4 (100.0 %) | 2147.5 (100.0 %) |' \
    '| peer_torch | – | 1073.7 (50.0 %) |' 'The libraries: torch 1.2.3.'
  if show peers | grep -q 'int64'; then fail "the short list of peers has int64"; fi
}

shows_what_leads_in() {
  expect lead_in '| empty kernels in front | 07_made_up, µs (p5–p95) | peer_cub, µs (p5–p95) |' \
    '| 0 | 9.00 (8.91–9.09) | 8.00 (7.92–8.08) |' '| 8 | – | 7.00 (6.93–7.07) |'
}

holds_a_job_against_its_slowest_gpu() {
  expect scaling '| 2 | 2 × Made up | 1 | int32 | 2^10 | 0.0013 |' '| 1 | 2^10 | 0.0013 | 3.3 |' \
    'The bandwidth of its slowest GPU alone: 2 ranks 1.923 times.'
}

has_them_on_the_page() {
  expect page '## 12_any_operation against CUB' '[sweep_size_types.json](sweep_size_types.json)' '1.21.' '## Peers' \
    '| complex128 | 2^20 | 2^28 |' '## Atomics' '| atomic_each |'
}

# The CPU and a library have no block. A step with another one than the rest: the heading does not speak for it.
names_the_block_that_all_have() {
  local file
  expect page '2^28 int32 in blocks of 256 threads. Data: [ladder.json]' \
    'GB/s of int32 in blocks of 256 threads. Data: [sweep_size.json]' \
    'GB/s of 2^28 elements in blocks of 256 threads. Data: [sweep_type.json]'
  for file in ladder sweep_size sweep_type; do
    sed -i '/"08_made_up"/s/"block": 256/"block": 1024/' "$work/$file.json"
  done
  expect page '2^28 int32. Data: [ladder.json]' 'GB/s of int32. Data: [sweep_size.json]' \
    'GB/s of 2^28 elements. Data: [sweep_type.json]'
}

# A GPU that is too old for the header leaves CUB alone.
takes_no_header_without_cub_for_a_table() {
  cp "$work/sweep_size_types.json" "$work/kept"
  sed 's/12_any_operation/11_bulk_copy/' "$work/kept" >"$work/sweep_size_types.json"
  expect against_cub 'No results are committed yet.'
  if show page | grep -q 'against CUB'; then fail "a section of CUB alone"; fi
  mv "$work/kept" "$work/sweep_size_types.json"
}

says_what_is_not_measured() {
  local section
  mkdir "$work/without"
  cp "$work"/*.json "$work/without"
  for section in "${optional[@]}" method_lead_in many_gpus; do rm "$work/without/$section.json"; done
  for section in against_cub atomics peers scaling lead_in; do
    if [[ $("$print_results" "$work/without" "$section") != "No results are committed yet." ]]; then
      fail "$section without its file"
    fi
  done
  "$print_results" "$work/without" page >"$work/page"
  if grep -qE '^## (12_|Peers|Atomics)' "$work/page"; then fail "a section without results"; fi
  grep -q '^## Element type' "$work/page" || fail "the page without them is cut off"
}

# Results of other keys: exit code 2 and nothing printed, rather than half a table.
refuses_broken_results() {
  local file status
  for file in "${optional[@]}"; do
    status=0
    cp "$work/$file.json" "$work/kept"
    sed 's/"type"/"tpye"/' "$work/kept" >"$work/$file.json"
    "$print_results" "$work" page >"$work/out" 2>"$work/log" || status=$?
    mv "$work/kept" "$work/$file.json"
    if ((status != 2)) || [[ -s $work/out ]]; then fail "a broken $file.json: exit code $status"; fi
    grep -q "are not as measure.sh writes them" "$work/log" || fail "a broken $file.json: $(<"$work/log")"
  done
}

show() { "$print_results" "$work" "$1"; }

# expect SECTION TEXT...
expect() {
  local text
  show "$1" >"$work/out"
  for text in "${@:2}"; do
    grep -qF -- "$text" "$work/out" || fail "'$text' is not in $1: $(<"$work/out")"
  done
}

fail() {
  echo "FAILED: $1"
  failures=$((failures + 1))
}

main
