#!/usr/bin/env bash
# Builds everything and runs every test: ./run_tests.sh [OPTIONS OF CTEST], for example -R emulated or -LE gpu.
# Whatever is missing on a Debian or Ubuntu machine is installed first. Tests that need a GPU are skipped without one.
#
# REDUCTION_CUDA=AUTO, the default, takes CUDA where there are nvcc and a GPU; ON insists on nvcc, OFF leaves CUDA out.

set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
source common/scripts/set_up.sh

install_missing_packages "${build_packages[@]}" "${test_packages[@]}"
configure_with_tests ON
build all
ctest --test-dir "$build_folder" --output-on-failure --no-tests=error --parallel "$(cores)" "$@"
