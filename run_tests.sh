#!/usr/bin/env bash
# Runs every test that is done in a minute or so, and builds what they take:
# ./run_tests.sh [OPTIONS OF CTEST], for example -R Emulated, or -L long for
# those that take minutes. Whatever is missing on a Debian or Ubuntu machine is
# installed first. Tests that need a GPU are skipped without one.
#
# REDUCTION_CUDA=AUTO, the default, takes CUDA where there are nvcc and a GPU; ON
# insists on nvcc, OFF leaves CUDA out.
#
# Exit code: 0 no test failed, 1 one did, 2 bad usage, 3 a machine that cannot do
# it, 130 Ctrl-C.

set -euo pipefail
script=$(readlink -f "${BASH_SOURCE[0]}")
cd "${script%/*}"
source common/scripts/set_up.sh

main() {
  local word known programs status=0
  if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    sed -n '2,/^$/ s/^# \{0,1\}//p' run_tests.sh
    exit
  fi
  if (($# == 0)); then set -- -LE long; fi
  take_build_folder
  install_missing_packages "${build_packages[@]}" "${test_packages[@]}"
  # CTest passes over what it does not know: a misspelt option would run all tests.
  if [[ $1 != -* || ${!#} =~ ^-(R|E|L|LE)$ ]]; then fail "$bad_usage" "'$*': an option takes one value, as -R Table"; fi
  known=$(ctest --help)
  for word; do
    if [[ $word == -* && $word != -j[0-9]* ]] && ! grep -qE -e "(^|[ ,])${word%%=*}([][ ,=<]|$)" <<<"$known"; then
      fail "$bad_usage" "'$word' is not known here (ctest --help lists what is allowed)"
    fi
  done
  configure_with_tests ON
  build kernel_rewriter  # a build configures again where that is needed
  # What the tests run and require is in this folder (discover_tests in tests/add_tests.cmake).
  programs=$(ctest --test-dir "$build_folder" --show-only=json-v1 "$@")
  if [[ $programs == *'"tests" : []'* ]]; then fail "$bad_usage" "there is no such test: $*"; fi
  mapfile -t programs < <(grep -o "/$build_folder/bin/[A-Za-z0-9_]*\"" <<<"$programs" | tr -d '"' | sort -u)
  if ((${#programs[@]} > 0)); then build "${programs[@]##*/}"; fi
  # One more than there are cores: some tests wait for most of their time.
  ctest --test-dir "$build_folder" --output-on-failure --no-tests=error --parallel "$(($(nproc) + 1))" "$@" 9>&- || status=$?
  if ((status > 0)); then fail "$((status == 8 ? 1 : not_possible))" "a test failed; ctest's words are above"; fi
}

main "$@"
