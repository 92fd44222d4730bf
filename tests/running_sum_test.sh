#!/usr/bin/env bash
# The running sum of 00_cpu_serial is a chain of additions in machine code, too: no compiler adds integers in several lanes
# at once. (Those of floating-point numbers may not be reordered, and a complex number's two parts are two chains.)
#   running_sum_test.sh REPOSITORY COMPILER
# 77, and so skipped, where the compiler is not for x86-64.
set -euo pipefail
repository=$1
compilers=("$2")
for other in g++ clang++; do
  if command -v "$other" >/dev/null; then compilers+=("$other"); fi
done

case "$("$2" -dumpmachine)" in
  x86_64*) ;;
  *) echo "skipped: it knows x86-64's instructions only" && exit 77 ;;
esac

assembly() {
  "$@" -std=c++20 -O3 -S -o - -I "$repository/00_cpu_serial" -x c++ - <<'END'
#include <cstdint>

#include "kernel.hpp"

template std::uint32_t running_sum(std::uint32_t, const std::uint32_t*, std::size_t);
template std::uint64_t running_sum(std::uint64_t, const std::uint64_t*, std::size_t);
END
}

failures=0
for compiler in "${compilers[@]}"; do
  for machine in x86-64 x86-64-v3; do
    code=$(assembly "$compiler" -march=$machine)
    grep -q "running_sum" <<<"$code" || { echo "FAILED: $compiler made no running_sum" && exit 1; }
    if grep -qEw "v?padd[dq]" <<<"$code"; then
      echo "FAILED: $compiler -march=$machine adds several elements at once" >&2
      failures=$((failures + 1))
    fi
  done
done
[ "$failures" -eq 0 ]
