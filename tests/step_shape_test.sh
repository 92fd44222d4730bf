#!/usr/bin/env bash
# Holds the steps to their shape: a kernel fits a screen, main.cu differs by names only, and the diff between two
# neighbouring kernels stays small enough to be the lesson.
set -euo pipefail
cd "$1"

failures=0
fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# Prints the number of lines changed between two files: those added or those removed, whichever are more.
changed_lines() {
  local added removed
  read -r added removed _ < <(git diff --no-index --numstat -- "$1" "$2" || true)
  echo $((${added:-0} > ${removed:-0} ? ${added:-0} : ${removed:-0}))
}

# The bounds are 70 lines per kernel, 12 changed lines up to 05 and 30 after it.
changes_allowed() {
  case "${1##*/}" in
    02_* | 03_* | 04_* | 05_*) echo 12 ;;
    *) echo 30 ;;
  esac
}

# within WHAT VALUE BOUND
within() { [ "$2" -le "$3" ] || fail "$1: $2, and $3 are allowed"; }

steps=(0[1-7]_*)
[ "${#steps[@]}" -eq 7 ] || fail "there are ${#steps[@]} folders 01_ to 07_, not 7"
steps+=(beyond/0[89]_* beyond/1[01]_*)  # what follows has no kernel of its own

previous=
for step in "${steps[@]}"; do
  for file in kernel.cuh main.cu README.md; do
    [ -s "$step/$file" ] || fail "$step/$file is missing or empty"
  done
  kernel_lines=$(wc -l <"$step/kernel.cuh")
  within "lines of $step/kernel.cuh" "$kernel_lines" 70
  main_lines=$(wc -l <"$step/main.cu")
  [ "$main_lines" -le 25 ] || fail "$step/main.cu has $main_lines lines, not 25 at most"
  # Without its quoted names, every main.cu is the first one, except for a step that the emulated device cannot run.
  grep -q make_cuda_step "$step/main.cu" || [ "$(sed 's/"[^"]*"/NAME/g' "$step/main.cu")" = "$(sed 's/"[^"]*"/NAME/g' "${steps[0]}/main.cu")" ] ||
    fail "$step/main.cu differs from ${steps[0]}/main.cu by more than names"
  if [ -n "$previous" ]; then
    changed=$(changed_lines "$previous/kernel.cuh" "$step/kernel.cuh")
    budget=$(changes_allowed "$step")
    echo "$previous -> $step: $changed lines changed, $budget allowed"
    [ "$changed" -ge 1 ] || fail "$step/kernel.cuh is no change"
    within "lines changed from $previous to $step" "$changed" "$budget"
  fi
  previous=$step
done

[ "$failures" -eq 0 ]
