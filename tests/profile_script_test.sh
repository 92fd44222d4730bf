#!/usr/bin/env bash
# profile_script_test.sh DOCS_FOLDER: runs its two profile.sh with stand-ins for ncu and the steps, which say what those
# would say.

set -euo pipefail
docs=$1
profile=
said=
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

main() {
  make_stand_ins
  all_steps_into_a_file
  one_step
  exit "$failures"
}

# docs/counters/profile.sh
all_steps_into_a_file() {
  local tools=/usr/bin:/bin
  profile=$docs/counters/profile.sh

  # Without ncu. Some systems have it in /usr/bin.
  if ! PATH=$tools command -v ncu >/dev/null; then
    PATH=$tools expect 3 "no ncu on PATH" --bin "$work/bin" --out "$work/out.csv"
  fi
  PATH=$work/tools:$tools
  expect 2 "usage" --frobnicate
  expect 2 "needs a value" --out
  expect 2 "in a folder that can be written" --bin "$work/bin" --out "$work/nowhere/out.csv"
  expect 3 "there is no $work/01_interleaved" --bin "$work" --out "$work/out.csv"
  FAKE_GPU=none expect 3 "no CUDA device" --bin "$work/bin" --out "$work/out.csv"
  FAKE_NCU=forbidden expect 3 NVreg_RestrictProfilingToAdminUsers=0 --bin "$work/bin" --out "$work/out.csv"
  FAKE_NCU=broken expect 3 "LibraryNotLoaded" --bin "$work/bin" --out "$work/out.csv"
  FAKE_NCU=breaks_later expect 3 "counted nothing in 04_first_add" --bin "$work/bin" --out "$work/out.csv"
  holds "a failure leaves nothing behind" test -z "$(find "$work" -name 'out.csv*')"

  expect 0 "is written" --bin "$work/bin" --out "$work/out.csv"
  holds "the GPU is named" grep -qxF "# GPU: NVIDIA Test 9000, compute capability 9.0" "$work/out.csv"
  holds "a number without its commas" grep -qxF "07_cascade,smsp__inst_executed.sum,1234567" "$work/out.csv"
  holds "a ratio" grep -qxF "03_sequential,smsp__thread_inst_executed_per_inst_executed.ratio,17.25" "$work/out.csv"
  holds "n/a is missing" grep -qxF "01_interleaved,gpu__time_duration.sum,missing" "$work/out.csv"
  holds "12 steps of 18 metrics" test "$(grep -c '^[01][0-9]_[a-z_]*,[a-z0-9_.]*,[0-9.a-z]*$' "$work/out.csv")" = 216

  FAKE_GPU=full FAKE_NCU=breaks_later expect 3 "counted nothing in 04_first_add" --bin "$work/bin" --out "$work/out.csv"
  FAKE_GPU=older expect 0 "11_bulk_copy does not run on this GPU: 11_bulk_copy: error: it needs" \
    --bin "$work/bin" --out "$work/out.csv"
  holds "all of it is missing" test "$(grep -c '^11_bulk_copy,.*,missing$' "$work/out.csv")" = 18
  holds "the next step is there" grep -qxF "12_any_operation,smsp__inst_executed.sum,1234567" "$work/out.csv"

  FAKE_NCU=older expect 0 "is written" --bin "$work/bin" --out "$work/out.csv"
  holds "an unknown metric is missing" grep -qxF \
    "05_unroll_warp,smsp__sass_branch_targets_threads_divergent.sum,missing" "$work/out.csv"
  holds "the others are there" grep -qxF "05_unroll_warp,smsp__inst_executed.sum,1234567" "$work/out.csv"

  cp "$work/out.csv" "$work/before.csv"
  FAKE_NCU=forbidden expect 3 ERR_NVGPUCTRPERM --bin "$work/bin" --out "$work/out.csv"
  holds "an earlier file stays after a failure" cmp -s "$work/before.csv" "$work/out.csv"
}

# docs/profile.sh
one_step() {
  local tools=/usr/bin:/bin bin=(--bin "$work/bin")
  profile=$docs/profile.sh
  export FAKE_TIME=1,500,000

  if ! PATH=$tools command -v ncu >/dev/null; then
    PATH=$tools expect 3 "no ncu on PATH" 03_sequential "${bin[@]}"
  fi
  PATH=$work/tools:$tools
  expect 2 "'03_sideways': usage" 03_sideways "${bin[@]}"
  says $'\n  03_sequential\n'
  expect 2 "usage" "${bin[@]}"
  expect 2 "'00_cpu_serial': usage" 00_cpu_serial "${bin[@]}"
  expect 2 "--bin needs a value" 03_sequential --bin
  expect 2 "--sweep is not for" 03_sequential "${bin[@]}" --sweep=block
  expect 2 "cuda or cuda:N" 03_sequential "${bin[@]}" --device emulated
  expect 2 "--elements '2x'" 03_sequential "${bin[@]}" -n 2x
  expect 3 "there is no step in $work" 03_sequential --bin "$work"
  FAKE_GPU=none expect 3 "03_sequential does not run on a GPU here: 01_interleaved: error: no CUDA device" \
    03_sequential "${bin[@]}"
  FAKE_NCU=forbidden expect 3 NVreg_RestrictProfilingToAdminUsers=0 03_sequential "${bin[@]}"
  says "$profile 03_sequential --bin $work/bin"
  says https://developer.nvidia.com/ERR_NVGPUCTRPERM
  FAKE_NCU=broken expect 3 LibraryNotLoaded 03_sequential "${bin[@]}"
  FAKE_NCU=first_launch_only expect 3 "ncu reported 1 launches of 03_sequential, and a reduction has 3" \
    03_sequential "${bin[@]}"

  # Three launches, which count 1234567 of everything but blocks each.
  expect 0 "of 4194304 int32 in blocks of 256, on NVIDIA Test 9000" 03_sequential "${bin[@]}"
  says "| blocks | \`launch__grid_size\` | 49152 | 16449 |"
  says "| global loads: sectors | \`l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\` | 3703701 | 524288 |"
  says "| shared loads: without conflicts | their difference | 0 | 409600 |"
  says "| bytes read from DRAM | \`dram__bytes_read.sum\` | 3703701 | – |"
  says "| 3 | reduce_kernel | 16384 | 1500.00 | 72.5 |"
  says "this GPU takes another"
  says "ncu gives 4.5000 ms (gpu__time_duration, 3 launches), the step's own median is 4.9500 ms: +0.4500 ms, +10.0 %"
  FAKE_TIME=n/a expect 0 "ncu gives none here" 03_sequential "${bin[@]}"
  FAKE_NCU=older expect 0 "\`dram__bytes_write.sum\` | missing |" 03_sequential "${bin[@]}"

  expect 0 "up to 2^24 elements" 03_sequential "${bin[@]}" --elements=2^25
  says "| blocks | \`launch__grid_size\` | 49152 |"$'\n'

  # A library: no passes of the harness, no emulated device.
  expect 0 "| 2 | DeviceReduceSingleTileKernel | 16384 |" peer_cub "${bin[@]}"
  says "(gpu__time_duration, 2 launches)"
  says "A library's kernels do not run on the emulated device."
  FAKE_NCU=one_tile expect 0 "(gpu__time_duration, 1 launch)" peer_cub "${bin[@]}"
}

# expect EXIT_CODE WORDS OPTION...
expect() {
  local code=$1 words=$2 status=0
  shift 2
  said=$("$profile" "$@" 2>&1) || status=$?
  if ((status != code)) || [[ $said != *"$words"* ]]; then
    printf 'profile.sh %s: exit code %s, expected %s and "%s":\n%s\n' "$*" "$status" "$code" "$words" "$said"
    failures=1
  fi
}

# says WORDS: the last `expect` saw them, too.
says() { holds "it says '$1'" test -z "${said##*"$1"*}"; }

# holds WHAT COMMAND...
holds() {
  if ! "${@:2}"; then
    echo "not so: $1"
    failures=1
  fi
}

make_stand_ins() {
  local step
  mkdir "$work/bin" "$work/tools"
  cat >"$work/tools/ncu" <<'NCU'
#!/usr/bin/env bash
if [[ ${1-} == --version ]]; then
  echo "Version 2025.3.1.0 (build 1)"
  exit
fi
while [[ $1 != --metrics ]]; do
  case $1 in
    -k) kernel=${2#regex:} ;;
    -c) launches=$2 ;;
  esac
  shift
done
IFS=, read -ra metrics <<<"$2"
fail() { echo "==ERROR== $1"; exit 1; }
echo "==PROF== Connected to process 4711"
case ${FAKE_NCU-} in
  forbidden) fail "ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters" ;;
  broken) fail "Failed to initialize the profiler: LibraryNotLoaded" ;;
  breaks_later) if [[ $3 == */04_first_add ]]; then fail "Failed to profile"; fi ;;
  older)
    if [[ $2 == *divergent* ]]; then fail "Failed to find metric regex:^smsp__sass_branch"; fi
    if [[ $2 == *dram__bytes_write* ]]; then fail "Failed to find metric regex:^dram__bytes_write"; fi
    ;;
  first_launch_only) launches=1 ;;
esac
names='"ID","Kernel Name","Grid Size"' units='"","",""' values=
for metric in "${metrics[@]}"; do
  case $metric in
    *.ratio) value=17.25 ;;
    *.pct_of_peak_sustained_elapsed) value=72.46 ;;
    launch__grid_size) value=16,384 ;;
    gpu__time_duration.sum) value=${FAKE_TIME:-n/a} ;;
    *) value=1,234,567 ;;
  esac
  names+=",\"$metric\"" units+=',"inst"' values+=",\"$value\""
done
printf '| step | n |\n==PROF== Disconnected from process 4711\n%s\n%s\n' "$names" "$units"
for ((launch = 0; launch < launches; ++launch)); do
  name="void reduce_kernel<unsigned int>(const T1 *, T1 *, unsigned long)"
  if [[ $kernel == DeviceReduce ]]; then
    name="void cub::detail::reduce::DeviceReduceKernel<Policy<unsigned int, (int)4>, int *>(T2, T3, T4)"
    if ((launch == 1)) || [[ ${FAKE_NCU-} == one_tile ]]; then name=${name/ReduceKernel/ReduceSingleTileKernel}; fi
  fi
  printf '"%s","%s","(16384, 1, 1)"%s\n' "$launch" "$name" "$values"
done
NCU
  cat >"$work/step" <<'STEP'
#!/usr/bin/env bash
if [[ ${FAKE_GPU-} == none ]]; then
  echo "01_interleaved: error: no CUDA device: the driver lists no CUDA device" >&2
  exit 3
fi
if [[ ${FAKE_GPU-} == full && $0 == */04_first_add ]]; then
  echo "04_first_add: error: not enough memory on the device" >&2
  exit 3
fi
if [[ ${FAKE_GPU-} == older && $0 == */11_bulk_copy ]]; then
  echo "11_bulk_copy: error: it needs a CUDA device of compute capability 9.0 or higher" >&2
  exit 3
fi
elements=4194304 passes=16384,64,1
if [[ $0 == */peer_cub ]]; then passes=; fi
while (($# > 0)); do
  case $1 in
    -n | --elements) if [[ $2 == 2^25 ]]; then elements=33554432; fi ;;
    --json) json=$2 ;;
    --device) device=$2 ;;
  esac
  if [[ $1 == -n && $2 == 2x ]]; then
    echo "03_sequential: error: --elements '2x': give a whole number" >&2
    exit 2
  fi
  shift
done
# counters INDENTATION BLOCKS SECTORS
counters() {
  printf '%s"blocks": %s,\n%s"shared_load_wavefronts": 409607,\n' "$1" "$2" "$1"
  printf '%s"shared_load_conflicts": 7,\n%s"global_load_sectors": %s\n' "$1" "$1" "$3"
}
{
  printf '{\n  "device": {\n    "name": "NVIDIA Test 9000",\n    "compute_capability": "9.0",\n    "sms": 132\n  },\n'
  printf '  "type": "int32",\n  "elements": %s,\n  "block": 256,\n' "$elements"
  printf '  "ms": {\n    "median": 4.95,\n    "p5": 4.9\n  },\n  "passes": [\n'
  for blocks in ${passes//,/ }; do
    printf '    {\n      "elements": 256,\n      "blocks": %s,\n      "counters": {\n' "$blocks"
    counters "        " "$blocks" 7
    printf '      }\n    },\n'
  done
  printf '  ],\n'
  if [[ $device == emulated ]]; then
    printf '  "counters": {\n'
    counters "    " 16449 524288
    printf '  }\n'
  else
    printf '  "counters": null\n'
  fi
  printf '}\n'
} >"${json:-/dev/null}"
STEP
  for step in 00_cpu_serial 01_interleaved 02_nondivergent 03_sequential 04_first_add 05_unroll_warp 06_templated \
    07_cascade 08_warp_shuffle 09_vector_loads 10_single_pass 11_bulk_copy 12_any_operation peer_cub; do
    cp "$work/step" "$work/bin/$step"
  done
  chmod +x "$work/tools/ncu" "$work/bin"/*
}

main
