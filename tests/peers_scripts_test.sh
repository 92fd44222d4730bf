#!/usr/bin/env bash
# beyond/peers/compare.sh with a GPU and programs that are made up here: its tables, what it leaves out, what it
# refuses. And python_peers.py where nothing is installed, and with a driver and libraries that are made up.
#
#   peers_scripts_test.sh PEERS_FOLDER BIN
#
# BIN has compare_table and 00_cpu_serial, which are not made up.

set -euo pipefail
peers=$(realpath "$1")
compare=$peers/compare.sh python_peers=$peers/python_peers.py programs=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

main() {
  make_up_a_gpu
  make_up_programs
  prints_a_table_a_type
  keeps_a_wrong_result
  takes_files_from_where_it_is_called
  goes_on_where_a_peer_crashes
  prints_what_there_is_when_interrupted
  says_that_nothing_could_be_measured
  refuses_bad_usage
  refuses_a_machine_without_a_gpu
  if command -v python3 >/dev/null; then
    python_says_what_is_not_installed
    python_refuses_bad_usage
    if python3 -c "import numpy" 2>/dev/null; then
      make_up_libraries
      python_verifies_sums_of_the_steps_input
      python_measures_the_rest_where_a_library_fails
      python_gives_no_figure_of_the_hosts_own_time
    else
      echo "not tested: the sums of python_peers.py, there is no numpy"
    fi
  else
    echo "not tested: python_peers.py, there is no python3"
  fi
  if ((failures > 0)); then exit 1; fi
}

make_up_a_gpu() {
  mkdir "$work/path"
  printf '#!/bin/sh\necho "GPU 0: Made Up 9000"\n' >"$work/path/nvidia-smi"
  # python_peers.py with torch, with a jax that ends the process after its first result, and without cupy.
  cat >"$work/path/made_up_python" <<'PYTHON'
#!/usr/bin/env bash
set -euo pipefail
echo "python: $*" >&2
case $* in
  *cupy*) echo "not installed: cupy" >&2 && exit 3 ;;
  *torch*) library=torch ;;
  *jax*) library=jax ;;
esac
echo "[$("${0%/*}/../bin/program" -n 2^20 -t int32 --json - | sed "s/\"program\"/\"peer_$library\"/")]" >"${*: -1}"
if [[ $library == jax ]]; then exit 139; fi
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
if [[ -f ${0%/*}/$step.crashes ]]; then exit 134; fi
if [[ -f ${0%/*}/$step.interrupts ]]; then kill -TERM $PPID && exit 0; fi
if [[ -f ${0%/*}/all.too_small ]]; then echo "$step: error: no memory" >&2 && exit 3; fi
cat >"${json/#-/\/dev/stdout}" <<JSON
{"step": "$step", "type": "$type", "elements": $elements, "gbps": $gbps, "verified": $verified}
JSON
$verified
PROGRAM
  chmod +x "$work/bin/program"
  for program in 07_cascade 13_many_gpus peer_cub peer_thrust peer_cublas; do ln -s program "$work/bin/$program"; done
  ln -s "$(realpath "$programs/compare_table")" "$work/bin/compare_table"
}

prints_a_table_a_type() {
  compare -n 2^20,2^24 -t int32,float32 --json "$work/all.json" || fail "compare.sh failed: $(<"$work/log")"
  expect "$work/out" '| int32 | 2^20 | 2^24 |' '| float32 | 2^20 | 2^24 |' \
    '| 07_cascade | 1000.0 (50.0 %) | 1000.0 (50.0 %) |' '| peer_cub | 2000.0 (100.0 %) | 2000.0 (100.0 %) |' \
    '| peer_cublas | – | – |' '| peer_cublas | 1000.0 (50.0 %) | 1000.0 (50.0 %) |' \
    '| peer_torch | 1000.0 (50.0 %) | – |' '| peer_jax | 1000.0 (50.0 %) | – |'
  expect "$work/log" 'not built: peer_cooperative_groups' 'not installed: cupy' 'peer_cublas: error: no integers'
  expect "$work/all.json" '"step": "peer_torch"'
  # One library per process, with the samples of the steps; the table has what a library leaves when it crashes.
  expect "$work/log" 'python: beyond/peers/python_peers.py --library torch -n 2^20,2^24 -t int32,float32 -s 100' \
    'python: beyond/peers/python_peers.py --library jax' 'jax crashed: exit code 139'
  if grep -q 13_many_gpus "$work/out"; then fail "several GPUs are compared with one"; fi
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

takes_files_from_where_it_is_called() {
  (cd "$work" && compare --python path/made_up_python -n 2^20 -t int32 --json here.json) ||
    fail "from another folder: $(<"$work/log")"
  expect "$work/here.json" '"step": "peer_torch"'
}

goes_on_where_a_peer_crashes() {
  touch "$work/bin/07_cascade.crashes"
  compare -n 2^20 -t int32 || fail "a crash ends compare.sh: $(<"$work/log")"
  rm "$work/bin/07_cascade.crashes"
  expect "$work/log" '07_cascade -t int32 -n 2^20 crashed: exit code 134'
  expect "$work/out" '| peer_cub | 2000.0 (100.0 %) |'
}

prints_what_there_is_when_interrupted() {
  local status=0
  touch "$work/bin/peer_cub.interrupts"
  # By TERM, which does what Ctrl-C does: that one is ignored by what runs in the background.
  compare -n 2^20 -t int32 || status=$?
  rm "$work/bin/peer_cub.interrupts"
  if ((status != 130)); then fail "Ctrl-C: exit code $status, not 130"; fi
  expect "$work/out" '| 07_cascade | 1000.0 |'
}

says_that_nothing_could_be_measured() {
  local status=0
  touch "$work/bin/all.too_small"
  compare --python none -n 2^20 -t int32 || status=$?
  rm "$work/bin/all.too_small"
  if ((status != 3)); then fail "nothing measured: exit code $status, not 3"; fi
  expect "$work/log" 'nothing could be measured'
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
  for arguments in "-n 0" "-n 2^x" "-n 2^99" "-t int8" "-t int32,complex" "--frobnicate" \
    "-n 64m" "--library numpy"; do
    status=0
    # shellcheck disable=SC2086  # two words
    python3 -I -S "$python_peers" $arguments >"$work/out" 2>"$work/log" || status=$?
    if ((status != 2)) || (($(wc -l <"$work/log") != 1)); then fail "$arguments: exit code $status: $(<"$work/log")"; fi
  done
}

# A driver with one GPU and libraries that sum with numpy: cupy in a millisecond, jax at 1 GB/s by a clock of its own.
# With 32 sums ahead the next one waits, as XLA lets it. Where SLOW_HOST is set, asking for a sum takes all of the time.
make_up_libraries() {
  mkdir -p "$work/libraries" "$work/driver"
  cat >"$work/driver/driver.c" <<'DRIVER'
#include <string.h>
int cuInit(unsigned flags) { return (int)flags; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal; }
int cuDeviceGetName(char* name, int length, int device) { return strncpy(name, "Made Up 9000", (size_t)length), device; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 36 ? 1000000 : attribute == 37 ? 8000 : attribute == 38 ? 1 << 20 : 9;
  return device;
}
DRIVER
  "${CC:-cc}" -shared -fPIC -o "$work/driver/libcuda.so.1" "$work/driver/driver.c"
  cat >"$work/libraries/cupy.py" <<'CUPY'
import os
from numpy import asarray, zeros
__version__ = "1.2.3"
def sum(data, dtype):
    if os.environ.get("FAILS") == f"{len(data)} {data.dtype}": raise Exception("no kernel for this\nand more lines")
    return data.sum(dtype=dtype)
class Pool:
    def free_all_blocks(self): print("freed", file=open(os.environ["FREED"], "a"))
get_default_memory_pool = Pool
class cuda:
    is_available = staticmethod(lambda: True)
    get_elapsed_time = staticmethod(lambda start, stop: 1.0)
    class Event:
        def record(self): pass
        def synchronize(self): pass
CUPY
  echo 'raise AttributeError("built for another numpy")' >"$work/libraries/torch.py"
  cat >"$work/libraries/jax.py" <<'JAX'
import os, time
from types import SimpleNamespace
import numpy as np
__version__ = "4.5.6"
assert os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false" and os.environ["JAX_PLATFORMS"] == "cuda"
seconds, ahead = 0.0, []
time.perf_counter = lambda: seconds
class Array:
    def __init__(self, array): self.array = array
    def delete(self): self.array = None
class Result:
    def __init__(self, value): self.value = value
    def item(self): return self.value.item()
    def block_until_ready(self):
        global seconds
        seconds += sum(ahead)
        ahead.clear()
def jitted_sum(data):
    global seconds
    if "SLOW_HOST" in os.environ: seconds += data.array.nbytes / 1e9
    else: ahead.append(data.array.nbytes / 1e9)
    if len(ahead) > 32: seconds += ahead.pop(0)
    return Result(data.array.sum(dtype=data.array.dtype))
def jit(function): return jitted_sum
def block_until_ready(arrays): pass
def default_backend(): return "gpu"
device_put = Array
config = SimpleNamespace(update=lambda name, value: None)
numpy = SimpleNamespace()
JAX
}

# run_python ARGUMENT... runs python_peers.py with them.
run_python() {
  rm -f "$work/freed"
  LD_LIBRARY_PATH=$work/driver PYTHONPATH=$work/libraries FREED=$work/freed python3 "$python_peers" "$@" \
    >"$work/out" 2>"$work/log"
}

# expected FILE : the sum that each result was compared with, to six digits.
expected() {
  python3 - "$1" <<'SUMS'
import json, sys
results = json.load(open(sys.argv[1]))
for result in results if isinstance(results, list) else [results]:
    sums = result["expected"]
    for part in sums if isinstance(sums, list) else [sums]:
        print(part if isinstance(part, str) or "int" in result["type"] else f"{part:.6g}")
SUMS
}

# Number by number, or else the sums differ. More elements than a piece has, and no multiple of one.
python_verifies_sums_of_the_steps_input() {
  local type types=int32,int64,float32,float64,complex64,complex128
  run_python --library cupy -n 300001 -t $types -s 3 --seed 7 --json "$work/python.json" ||
    fail "python_peers.py failed: $(<"$work/log")"
  for type in ${types//,/ }; do
    "$programs/00_cpu_serial" -n 300001 -t "$type" -s 1 --seed 7 --quiet --json "$work/cpu.json" >/dev/null
    expected "$work/cpu.json"
  done >"$work/expected"
  if [[ $(expected "$work/python.json") != "$(<"$work/expected")" ]]; then
    fail "other sums than the steps': $(expected "$work/python.json")"
  fi
  expect "$work/python.json" '"name": "Made Up 9000"' '"version": "cupy 1.2.3"' '"samples": 3' '"verified": true'
  if (($(wc -l <"$work/freed") != 6)); then fail "memory is not given back after each sum"; fi
}

python_measures_the_rest_where_a_library_fails() {
  local status=0
  FAILS="1024 int32" run_python --library torch,cupy -n 1K -t int32,int64 -s 3 --json "$work/python.json" || status=$?
  if ((status != 3)); then fail "a library failed: exit code $status, not 3: $(<"$work/log")"; fi
  expect "$work/log" 'not usable: torch: built for another numpy' 'not measured: cupy, 2^10 int32: no kernel for this'
  expect "$work/python.json" '"type": "int64"'
  if (($(wc -l <"$work/log") != 2)); then fail "more than a line a failure: $(<"$work/log")"; fi
  if (($(wc -l <"$work/freed") != 2)); then fail "memory is kept where a sum has failed"; fi
}

python_gives_no_figure_of_the_hosts_own_time() {
  local status=0
  run_python --library jax -n 4K -t int32 -s 20 --json "$work/python.json" || fail "jax failed: $(<"$work/log")"
  expect "$work/out" '| peer_jax | int32 | 2^12 | – | 0.0164 | 0.0164 – 0.0164 | 1.0 |'
  SLOW_HOST=on run_python --library jax -n 4K -t int32 -s 20 --json "$work/python.json" || status=$?
  if ((status != 3)); then fail "a slow host: exit code $status, not 3: $(<"$work/log")"; fi
  expect "$work/log" "the host takes as long to ask for a sum as the sum takes"
  if [[ $(<"$work/python.json") != '[]' ]]; then fail "a figure of the host's time: $(<"$work/python.json")"; fi
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
