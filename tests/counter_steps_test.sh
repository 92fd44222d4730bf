#!/usr/bin/env bash
# counter_steps_test.sh REPOSITORY: the steps whose counts docs/counters has are the steps that there are, and each
# <gpu>.csv has all of them. A new step is compared if the emulated device runs it, else it is named as one of the GPU's.

set -euo pipefail
repository=$1
# shellcheck source-path=SCRIPTDIR source=../docs/counters/steps.sh
source "$repository/docs/counters/steps.sh"
failures=0

main() {
  local gpu
  same "compared_steps" "$(printf '%s\n' "${compared_steps[@]}")" "$(steps_with -l)"
  same "gpu_only_steps" "$(printf '%s\n' "${gpu_only_steps[@]}")" "$(steps_with -L)"
  for gpu in "$repository"/docs/counters/*.csv; do
    same "$gpu" "$(sed -n 's/^\([0-9][0-9]_[a-z_]*\),.*/\1/p' "$gpu" | uniq)" \
      "$(printf '%s\n' "${compared_steps[@]}" "${gpu_only_steps[@]}")"
  done
  exit "$failures"
}

# 13 has nothing of its own to count: its ranks run another step's kernel.
# The GPU steps whose main.cu does (-l) or does not (-L) make a step that the emulated device runs, too.
steps_with() {
  (cd "$repository" && grep "$1" 'reduction::make_step(' {,beyond/}[0-9][0-9]_*/main.cu) |
    sed 's|/main.cu$||; s|.*/||' | grep -v '^13_' | sort
}

# same WHAT LISTED EXPECTED
same() {
  if [[ $2 == "$3" ]]; then return; fi
  printf '%s: the steps listed (<) are not those that there are (>):\n' "$1"
  diff <(echo "$2") <(echo "$3") || true
  failures=1
}

main
