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

# Lines changed between two files: those added or those removed, whichever are more.
changed_lines() {
  local added removed
  read -r added removed _ < <(git diff --no-index --numstat -- "$1" "$2" || true)
  echo $((${added:-0} > ${removed:-0} ? ${added:-0} : ${removed:-0}))
}

budget_after() {
  case "$1" in
    01_* | 02_* | 03_* | 04_*) echo 12 ;;
    05_* | 06_*) echo 30 ;;
    10_*) echo 60 ;;  # another way to load
    *) echo 40 ;;
  esac
}

# From 10 on a kernel is a whole reduction, and has a larger screen.
screen_of() {
  case "${1##*/}" in
    0[1-9]_*) echo 60 ;;
    10_*) echo 85 ;;
    *) echo 120 ;;
  esac
}

steps=(0[1-7]_*)
[ "${#steps[@]}" -eq 7 ] || fail "there are ${#steps[@]} folders 01_ to 07_, not 7"
steps+=(beyond/0[89]_* beyond/1[01]_*)  # what follows has no kernel of its own

previous=
for step in "${steps[@]}"; do
  for file in kernel.cuh main.cu README.md; do
    [ -s "$step/$file" ] || fail "$step/$file is missing or empty"
  done
  kernel_lines=$(wc -l <"$step/kernel.cuh")
  [ "$kernel_lines" -le "$(screen_of "$step")" ] ||
    fail "$step/kernel.cuh has $kernel_lines lines; $(screen_of "$step") fit a screen"
  main_lines=$(wc -l <"$step/main.cu")
  [ "$main_lines" -le 25 ] || fail "$step/main.cu has $main_lines lines, not 25 at most"
  # Without its quoted names, every main.cu is the first one, but for a step that the emulated device cannot run.
  grep -q run_cuda_step "$step/main.cu" || [ "$(sed 's/"[^"]*",/NAME/g' "$step/main.cu")" = "$(sed 's/"[^"]*",/NAME/g' "${steps[0]}/main.cu")" ] ||
    fail "$step/main.cu differs from ${steps[0]}/main.cu by more than names"
  if [ -n "$previous" ]; then
    changed=$(changed_lines "$previous/kernel.cuh" "$step/kernel.cuh")
    budget=$(budget_after "${previous##*/}")
    echo "$previous -> $step: $changed lines changed, $budget allowed"
    [ "$changed" -ge 1 ] || fail "$step/kernel.cuh is no change"
    [ "$changed" -le "$budget" ] || fail "$previous -> $step changes $changed lines"
  fi
  previous=$step
done

[ "$failures" -eq 0 ]
