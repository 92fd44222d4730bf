#!/usr/bin/env bash
# The committed plots are those of the committed results.
#
#   committed_plots_test.sh REPOSITORY BIN
#
# Exit code: 0 they are, 1 a plot is stale, 77 there is no gnuplot here, or another one than drew them.

set -euo pipefail
results=$1/docs/results/nvidia_h200 bin=$2
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

if ! command -v gnuplot >/dev/null; then echo "skipped: there is no gnuplot" && exit 77; fi
"$1/docs/plots/plot.sh" --bin "$bin" --out "$fresh" "$results" >/dev/null
# Another gnuplot draws the same a little differently.
drawn_by() { grep -o 'GNUPLOT [0-9.]* patchlevel [0-9]*' "$1/ladder.svg"; }
if [[ $(drawn_by "$fresh") != "$(drawn_by "$results")" ]]; then
  echo "skipped: this is $(drawn_by "$fresh"), the plots are by $(drawn_by "$results")"
  exit 77
fi

stale=0
for plot in "$fresh"/*.svg; do
  if ! cmp -s "$plot" "$results/${plot##*/}"; then
    echo "docs/results/nvidia_h200/${plot##*/} is stale: run docs/plots/plot.sh docs/results/nvidia_h200"
    stale=1
  fi
done
exit "$stale"
