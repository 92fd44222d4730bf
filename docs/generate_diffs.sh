#!/usr/bin/env bash
# Writes into the README of each step the diff from the kernel of the step before to its own, between the lines
# <!-- diff:begin --> and <!-- diff:end -->.
#
#   docs/generate_diffs.sh           rewrites what is stale
#   docs/generate_diffs.sh --check   only names the READMEs that are stale, and exits with 1 if there is one
#
# Exit code: 0 all up to date, 1 a stale README, 2 bad usage, or a README without the two lines.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

begin='<!-- diff:begin -->'
end='<!-- diff:end -->'
check=false

main() {
  local step previous='' stale=0
  read_options "$@"
  for step in [0-9][0-9]_*; do
    if [[ ! -f $step/kernel.cuh ]]; then continue; fi
    if [[ -n $previous ]]; then update "$previous" "$step" || stale=1; fi
    previous=$step
  done
  return "$stale"
}

read_options() {
  case ${1-} in
    '') ;;
    --check) check=true ;;
    *) fail "usage: docs/generate_diffs.sh [--check]" ;;
  esac
  if (($# > 1)); then fail "usage: docs/generate_diffs.sh [--check]"; fi
}

fail() {
  echo "generate_diffs.sh: error: $1" >&2
  exit 2
}

# update PREVIOUS STEP: fails only where --check finds the README stale.
update() {
  local readme=$2/README.md diff fresh
  diff=$(kernel_diff "$1" "$2") || exit
  fresh=$(with_diff "$readme" "$diff") || exit
  if [[ $fresh == "$(<"$readme")" ]]; then return; fi
  if [[ $check == true ]]; then
    echo "$readme is stale: run docs/generate_diffs.sh"
    return 1
  fi
  printf '%s\n' "$fresh" >"$readme"
  echo "$readme is written"
}

# The labels stand for the files' names, which would carry the time of their last change.
kernel_diff() {
  local before=$1/kernel.cuh after=$2/kernel.cuh status=0
  diff -u --label "$before" --label "$after" "$before" "$after" || status=$?
  if ((status > 1)); then fail "diff could not compare $before with $after"; fi
}

# with_diff README DIFF: the README with DIFF between the two lines.
with_diff() {
  local readme=$1 diff=$2 line place=before
  if [[ ! -f $readme ]]; then fail "there is no $readme"; fi
  while IFS= read -r line || [[ -n $line ]]; do
    case $place:$line in
      "before:$begin")
        printf '%s\n' "$begin" '```diff' "$diff" '```' "$end"
        place=inside
        ;;
      "inside:$end") place=after ;;
      *:"$begin" | *:"$end") fail "$readme: the lines '$begin' and '$end' have to stand once each, in this order" ;;
      inside:*) ;;
      *) printf '%s\n' "$line" ;;
    esac
  done <"$readme"
  if [[ $place != after ]]; then fail "$readme: there is no line '$begin', or no '$end' after it"; fi
}

main "$@"
