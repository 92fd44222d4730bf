#!/usr/bin/env bash
# Builds everything and runs every test that is done in a minute or so: ./run_tests.sh [OPTIONS OF CTEST], for example
# -R emulated, or -L long for those that take minutes. Whatever is missing on a Debian or Ubuntu machine is installed
# first. Tests that need a GPU are skipped without one.
#
# REDUCTION_CUDA=AUTO, the default, takes CUDA where there are nvcc and a GPU; ON insists on nvcc, OFF leaves CUDA out.
#
# Exit code: 0 no test failed, 1 one did, 2 bad usage, 3 a machine that cannot do it, 130 Ctrl-C.

set -euo pipefail
script=$(readlink -f "${BASH_SOURCE[0]}") || exit 3
cd "${script%/*}" || exit 3
source common/scripts/set_up.sh

main() {
  local status=0 text
  if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    text=$(sed -n '2,/^$/ s/^# \{0,1\}//p' run_tests.sh)
    print "$text"
    exit
  fi
  if command -v ctest >/dev/null; then check_options "$@"; fi
  take_build_folder
  install_missing_packages "${build_packages[@]}" "${test_packages[@]}"
  check_options "$@"
  if (($# == 0)); then set -- -LE long; fi
  configure_with_tests ON
  build all
  without_own_descriptors ctest --test-dir "$build_folder" --output-on-failure --no-tests=error \
    --parallel "$(cores)" "$@" || status=$?
  case $status in
    0) ;;
    8)
      if [[ $(chosen_tests "$@") == 0 ]]; then fail "$bad_usage" "there is no such test: $*"; fi
      fail 1 "a test failed; ctest's words are above"
      ;;
    *) fail "$not_possible" "ctest ended with exit code $status" ;;
  esac
}

chosen_tests() { ctest --test-dir "$build_folder" --show-only "$@" | sed -n 's/^Total Tests: //p'; }

# CTest passes over what it does not know: a misspelt option would run all tests.
check_options() {
  local known word name line form='' taker=
  # A line for each option, such as `-L <regex>, --label-regex <regex>`.
  known=$(ctest --help | sed -n '/^  -/ { s/^ *//; s/ *= .*//; p; }')
  for word; do
    if [[ -n $taker && ($form == '<' || $word != -*) ]]; then
      taker=
      continue
    fi
    form=
    name=${word%%=*}
    line=
    if [[ $name =~ ^-[A-Za-z0-9.-]+$ ]]; then
      line=$(grep -m 1 -E -e "(^|[ ,])$name([][ ,=]|$)" <<<"$known" || true)
    fi
    if [[ $word == -j[0-9]* ]]; then
      continue
    elif [[ -z $line || $name == -- || $name == --test-dir ]]; then
      fail "$bad_usage" "'$word' is not known here (ctest --help lists what is allowed)"
    elif [[ $word == *=* ]]; then
      if [[ $line != *"$name="* && $line != *"${name}[="* ]]; then fail "$bad_usage" "$name takes no value after a ="; fi
    elif [[ $line =~ \ ([<[]) ]]; then
      form=${BASH_REMATCH[1]}
      taker=$word
    fi
  done
  if [[ -n $taker && $form == '<' ]]; then fail "$bad_usage" "$taker needs a value"; fi
}

main "$@"
