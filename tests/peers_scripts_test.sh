#!/usr/bin/env bash
# beyond/peers/compare.sh with a GPU and programs that are made up here: its tables, what it leaves out, what it
# refuses. And python_peers.py where nothing is installed.
#
#   peers_scripts_test.sh PEERS_FOLDER BIN
#
# BIN has compare_table, which is not made up.

set -euo pipefail
compare=$1/compare.sh python_peers=$1/python_peers.py programs=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

main() {
  make_up_a_gpu
  make_up_programs
  prints_a_table_a_type
  keeps_a_wrong_result
  refuses_bad_usage
  refuses_a_machine_without_a_gpu
  if command -v python3 >/dev/null; then
    python_says_what_is_not_installed
    python_refuses_bad_usage
  else
    echo "not tested: python_peers.py, there is no python3"
  fi
  if ((failures > 0)); then exit 1; fi
}

make_up_a_gpu() {
  mkdir "$work/path"
  printf '#!/bin/sh\necho "GPU 0: Made Up 9000"\n' >"$work/path/nvidia-smi"
  # Two results, as python_peers.py writes them.
  cat >"$work/path/made_up_python" <<'PYTHON'
#!/usr/bin/env bash
set -euo pipefail
echo "not installed: cupy" >&2
echo "[$("${0%/*}/../bin/program" -n 2^20 -t int32 --json - | sed 's/"program"/"peer_torch"/')]" >"${*: -1}"
PYTHON
  chmod +x "$work/path"/*
}

# CUB reaches 2000 GB/s, all others 1000; cuBLAS knows no integers, and Thrust's library cannot be loaded.
make_up_programs() {
  local program
  mkdir "$work/bin"
  cat >"$work/bin/program" <<'PROGRAM'
#!/usr/bin/env bash
set -euo pipefail
step=${0##*/} json='' verified=true gbps=1000.0
while (($# > 0)); do
  case $1 in
    -n) elements=$((${2/^/**})) && shift ;;
    -t) type=$2 && shift ;;
    --json) json=$2 && shift ;;
  esac
  shift
done
case $step in
  peer_cub) gbps=2000.0 ;;
  peer_thrust) exit 127 ;;
  peer_cublas) if [[ $type == int* ]]; then echo "peer_cublas: error: no integers" >&2 && exit 3; fi ;;
esac
if [[ -f ${0%/*}/$step.is_wrong ]]; then verified=false; fi
cat >"${json/#-/\/dev/stdout}" <<JSON
{"step": "$step", "type": "$type", "elements": $elements, "gbps": $gbps, "verified": $verified}
JSON
$verified
PROGRAM
  chmod +x "$work/bin/program"
  for program in 07_cascade peer_cub peer_thrust peer_cublas; do ln -s program "$work/bin/$program"; done
  ln -s "$(realpath "$programs/compare_table")" "$work/bin/compare_table"
}

prints_a_table_a_type() {
  compare -n 2^20,2^24 -t int32,float32 --json "$work/all.json" || fail "compare.sh failed: $(<"$work/log")"
  expect "$work/out" '| int32 | 2^20 | 2^24 |' '| float32 | 2^20 | 2^24 |' \
    '| 07_cascade | 1000.0 (50.0 %) | 1000.0 (50.0 %) |' '| peer_cub | 2000.0 (100.0 %) | 2000.0 (100.0 %) |' \
    '| peer_cublas | – | – |' '| peer_cublas | 1000.0 (50.0 %) | 1000.0 (50.0 %) |' \
    '| peer_torch | 1000.0 (50.0 %) | – |'
  expect "$work/log" 'not built: peer_cooperative_groups' 'not installed: cupy' 'peer_cublas: error: no integers'
  expect "$work/all.json" '"step": "peer_torch"'
  if (($(grep -c 'peer_cublas -t int32' "$work/log") != 1)); then fail "a type that is refused is tried again"; fi
}

keeps_a_wrong_result() {
  local status=0
  touch "$work/bin/07_cascade.is_wrong"
  compare -n 2^20 -t int32 || status=$?
  rm "$work/bin/07_cascade.is_wrong"
  if ((status != 1)); then fail "a wrong result: exit code $status, not 1"; fi
  expect "$work/out" '| 07_cascade | **WRONG** |' '| peer_cub | 2000.0 (100.0 %) |'
}

refuses_bad_usage() {
  refuses 2 "-n needs a value" --bin "$work/bin" -n
  refuses 2 "there is no compare_table in it" --bin "$work/path"
}

refuses_a_machine_without_a_gpu() {
  printf '#!/bin/sh\nexit 9\n' >"$work/path/nvidia-smi"
  refuses 3 "there is no NVIDIA GPU here" --bin "$work/bin"
}

# Without the folders of installed packages.
python_says_what_is_not_installed() {
  local status=0
  python3 -I -S "$python_peers" >"$work/out" 2>"$work/log" || status=$?
  if ((status != 3)); then fail "nothing installed: exit code $status, not 3"; fi
  if [[ $(<"$work/log") != "python_peers.py: error: not installed: torch, cupy, jax" ]]; then
    fail "nothing installed: $(<"$work/log")"
  fi
  if [[ -s $work/out ]]; then fail "nothing installed, but there is output"; fi
  python3 -I -S "$python_peers" --help | grep -q 'Exit code: 0' || fail "--help does not list the exit codes"
}

python_refuses_bad_usage() {
  local arguments status
  for arguments in "-n 0" "-n 2^x" "-n 2^99" "-t int8" "-t int32,complex" "--frobnicate"; do
    status=0
    # shellcheck disable=SC2086  # two words
    python3 -I -S "$python_peers" $arguments >"$work/out" 2>"$work/log" || status=$?
    if ((status != 2)) || (($(wc -l <"$work/log") != 1)); then fail "$arguments: exit code $status: $(<"$work/log")"; fi
  done
}

compare() {
  PATH=$work/path:$PATH "$compare" --bin "$work/bin" --python made_up_python "$@" >"$work/out" 2>"$work/log"
}

# refuses CODE TEXT ARGUMENT...
refuses() {
  local status=0
  PATH=$work/path:$PATH "$compare" "${@:3}" >"$work/out" 2>"$work/log" || status=$?
  if ((status != $1)); then fail "${*:3}: exit code $status, not $1"; fi
  expect "$work/log" "$2"
  if (($(wc -l <"$work/log") != 1)) || [[ -s $work/out ]]; then fail "${*:3}: more than one line of error"; fi
}

# expect FILE TEXT... : each text is in the file.
expect() {
  local text
  for text in "${@:2}"; do
    grep -qF -- "$text" "$1" || fail "there is no '$text' in ${1##*/}: $(<"$1")"
  done
}

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

main "$@"
