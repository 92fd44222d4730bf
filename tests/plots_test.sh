#!/usr/bin/env bash
# plots_test.sh PLOT_SH BIN: draws made-up results of one card and of two. Skipped (exit code 77) where gnuplot is
# missing. BIN is the folder of plot_data.

# holds calls them.
# shellcheck disable=SC2317

set -euo pipefail
plot=$1
bin=$2
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
figures=(ladder sweep_block sweep_size sweep_type bandwidth)
gpu_steps=(01_interleaved 02_nondivergent 03_sequential 04_first_add 05_unroll_warp 06_templated 07_cascade 08_made_up
  peer_cub)
failures=0

main() {
  if ! command -v gnuplot >/dev/null; then
    echo "skipped: there is no gnuplot here"
    exit 77
  fi
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  make_up one "Made-up card, it's \"one\" & {2}" 4814
  make_up two "Made-up card two" 86.4

  one_card
  two_cards
  results_that_cannot_be_plotted
  bad_usage
  without_gnuplot
  exit "$failures"
}

one_card() {
  local figure step
  expect 0 "5 plots are in $work/one" "$work/one"
  for figure in "${figures[@]}"; do
    holds "$figure.svg is XML" is_xml "$work/one/$figure.svg"
    holds "$figure.svg has text as text" shows "$work/one/$figure.svg" "CUDA 13.0, driver 1.2.3, 2026-11-21"
    holds "$figure.svg names the card" shows "$work/one/$figure.svg" "it's \"one\" &amp; {2}: "
    for step in "${gpu_steps[@]}"; do
      holds "$figure.svg names $step" shows "$work/one/$figure.svg" "$step"
    done
    if [[ $figure != sweep_size ]]; then
      holds "$figure.svg has the peak" shows "$work/one/$figure.svg" "peak 4814 GB/s"
    fi
  done
  holds "the ladder has the CPU" shows "$work/one/ladder.svg" 00_cpu_serial
  holds "the ladder has a bar's value" shows "$work/one/ladder.svg" 3635

  expect 0 "5 plots are in $work/again" --out "$work/again" "$work/one"
  for figure in "${figures[@]}"; do
    holds "$figure.svg is the same again" cmp "$work/one/$figure.svg" "$work/again/$figure.svg"
  done
}

two_cards() {
  local figure
  expect 0 "5 plots are in $work/both" --out "$work/both" "$work/one" "$work/two"
  for figure in "${figures[@]}"; do
    holds "$figure.svg of two cards is XML" is_xml "$work/both/$figure.svg"
    holds "$figure.svg names the first card" shows "$work/both/$figure.svg" "it's \"one\" &amp; {2}"
    holds "$figure.svg names the second card" shows "$work/both/$figure.svg" "Made-up card two"
  done
  holds "both peaks, the first" shows "$work/both/ladder.svg" "peak 4814 GB/s"
  holds "both peaks, the second" shows "$work/both/ladder.svg" "peak 86.4 GB/s"
  holds "the ladder has a bar's share of its peak" shows "$work/both/ladder.svg" 76
  holds "a CPU has no share of a card's peak" fails shows "$work/both/ladder.svg" 00_cpu_serial

  # Results from before a step was there.
  cp -r "$work/two" "$work/older"
  for figure in ladder sweep_block sweep_size sweep_type; do
    without_line 08_made_up "$work/two/$figure.json" >"$work/older/$figure.json"
  done
  expect 0 "5 plots are in $work/mixed" --out "$work/mixed" "$work/one" "$work/older"
}

results_that_cannot_be_plotted() {
  local file
  for file in measured ladder sweep_block sweep_size sweep_type; do
    cp -r "$work/two" "$work/bad"
    rm "$work/bad/$file.json"
    expect 2 "'$work/bad/$file.json' cannot be read" --out "$work/nothing" "$work/one" "$work/bad"
    rm -r "$work/bad"
  done
  cp -r "$work/two" "$work/bad"
  echo "[]" >"$work/bad/sweep_size.json"
  expect 2 "'$work/bad/sweep_size.json' has no result" --out "$work/nothing" "$work/bad"
  echo "[" >"$work/bad/sweep_size.json"
  expect 2 "'$work/bad/sweep_size.json' has no results as --json writes them" --out "$work/nothing" "$work/bad"
  sed 's/"verified": true/"verified": false/' "$work/two/ladder.json" >"$work/bad/sweep_size.json"
  expect 2 "00_cpu_serial has a wrong sum" --out "$work/nothing" "$work/bad"
  sed 's/"gbps": [0-9.]*/"gbps": null/' "$work/two/ladder.json" >"$work/bad/sweep_size.json"
  expect 2 "00_cpu_serial has no time" --out "$work/nothing" "$work/bad"
  holds "a failure leaves nothing behind" test ! -e "$work/nothing"
}

bad_usage() {
  expect 2 "usage: " --frobnicate
  expect 2 "usage: "
  expect 2 "--out needs a folder" --out
  expect 2 "there is no $work/plot_data" --bin "$work" "$work/one"
  expect 2 "is no folder that can be written" --out "$work/one/ladder.json" "$work/one"
}

without_gnuplot() {
  local tool
  mkdir "$work/tools"
  for tool in bash env readlink dirname mktemp rm; do ln -s "$(command -v "$tool")" "$work/tools/$tool"; done
  PATH=$work/tools expect 3 "apt install --no-install-recommends gnuplot-nox" "$work/one"
}

# make_up FOLDER NAME PEAK
make_up() {
  mkdir "$work/$1"
  CARD_NAME=$2 awk -f "$here/made_up_results.awk" -v folder="$work/$1" -v peak="$3"
}

# expect EXIT_CODE WORDS OPTION...: it prints one line with these words, and nothing else.
expect() {
  local code=$1 words=$2 status=0 said
  shift 2
  said=$("$plot" --bin "$bin" "$@" 2>&1) || status=$?
  if ((status != code)) || [[ $said != *"$words"* || $said == *$'\n'* ]]; then
    printf 'plot.sh %s: exit code %s, expected %s and one line with "%s":\n%s\n' "$*" "$status" "$code" "$words" "$said"
    failures=1
  fi
}

# holds WHAT COMMAND...
holds() {
  if ! "${@:2}"; then
    echo "not so: $1"
    failures=1
  fi
}

fails() { ! "$@"; }

shows() { grep -q "<text>.*$2.*</text>" "$1"; }

without_line() { awk -v word="$1" 'index($0, word) == 0' "$2"; }

is_xml() {
  if command -v xmllint >/dev/null; then
    xmllint --noout "$1"
  else
    [[ $(head -c 5 "$1") == "<?xml" && $(tail -n 2 "$1") == *"</svg>"* ]]
  fi
}

main
