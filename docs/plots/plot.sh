#!/usr/bin/env bash
# Draws the results of one card, or of several beside each other, as SVG files.
#
#   docs/plots/plot.sh [--out FOLDER] [--bin FOLDER] RESULTS [RESULTS...]
#
#   RESULTS        a folder for each card, with measured.json, ladder.json and sweep_{block,size,type}.json
#   --out FOLDER   where the plots go; default the first RESULTS
#   --bin FOLDER   where plot_data is; default build/bin
#
# Exit code: 0 all plots are made, 2 bad usage or results that cannot be plotted, 3 gnuplot is not installed.
# After a failure the plots are those of before.

set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

readonly bad_usage=2 not_possible=3
readonly figures=(ladder sweep_block sweep_size sweep_type bandwidth)

bin=$here/../../build/bin
out=''
results=()

main() {
  local figure
  read_options "$@"
  require_gnuplot
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  "$bin/plot_data" "$work/data" "${results[@]}"
  for figure in "${figures[@]}"; do
    GNUPLOT_LIB=$here LC_ALL=C.UTF-8 gnuplot -d -c "$here/$figure.gnuplot" "$work/data" "$work/$figure.svg"
  done
  if ! mkdir -p "$out" 2>/dev/null || [[ ! -w $out ]]; then
    fail "$bad_usage" "'$out' is no folder that can be written; name one with --out"
  fi
  for figure in "${figures[@]}"; do mv -f "$work/$figure.svg" "$out"; done
  echo "${#figures[@]} plots are in $out"
}

fail() {
  echo "${0##*/}: error: $2" >&2
  exit "$1"
}

read_options() {
  local usage="usage: docs/plots/plot.sh [--out FOLDER] [--bin FOLDER] RESULTS [RESULTS...]"
  while (($# > 0)); do
    case $1 in
      --out | --bin)
        if (($# < 2)) || [[ -z $2 ]]; then fail "$bad_usage" "$1 needs a folder"; fi
        if [[ $1 == --out ]]; then out=$2; else bin=$2; fi
        shift
        ;;
      -*) fail "$bad_usage" "'$1': $usage" ;;
      *) results+=("$1") ;;
    esac
    shift
  done
  if ((${#results[@]} == 0)); then fail "$bad_usage" "no folder of results; $usage"; fi
  out=${out:-${results[0]}}
  if [[ ! -x $bin/plot_data ]]; then
    fail "$bad_usage" "there is no $bin/plot_data: build everything with ./run_tests.sh, or name its folder with --bin"
  fi
}

require_gnuplot() {
  if command -v gnuplot >/dev/null; then return; fi
  fail "$not_possible" \
    "the plots take gnuplot. On Debian and Ubuntu: sudo apt install --no-install-recommends gnuplot-nox"
}

main "$@"
