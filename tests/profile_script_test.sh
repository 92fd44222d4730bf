#!/usr/bin/env bash
# profile_script_test.sh PROFILE_SH: runs it with stand-ins for ncu and the steps, which say what those would say.

set -euo pipefail
profile=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

main() {
  local tools=/usr/bin:/bin
  make_stand_ins

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
  holds "7 steps of 15 metrics" test "$(grep -c '^0[1-7]_[a-z_]*,[a-z0-9_.]*,[0-9.a-z]*$' "$work/out.csv")" = 105

  FAKE_NCU=older expect 0 "is written" --bin "$work/bin" --out "$work/out.csv"
  holds "an unknown metric is missing" grep -qxF \
    "05_unroll_warp,smsp__sass_branch_targets_threads_divergent.sum,missing" "$work/out.csv"
  holds "the others are there" grep -qxF "05_unroll_warp,smsp__inst_executed.sum,1234567" "$work/out.csv"

  cp "$work/out.csv" "$work/before.csv"
  FAKE_NCU=forbidden expect 3 ERR_NVGPUCTRPERM --bin "$work/bin" --out "$work/out.csv"
  holds "an earlier file stays after a failure" cmp -s "$work/before.csv" "$work/out.csv"
  exit "$failures"
}

# expect EXIT_CODE WORDS OPTION...
expect() {
  local code=$1 words=$2 status=0 said
  shift 2
  said=$("$profile" "$@" 2>&1) || status=$?
  if ((status != code)) || [[ $said != *"$words"* ]]; then
    printf 'profile.sh %s: exit code %s, expected %s and "%s":\n%s\n' "$*" "$status" "$code" "$words" "$said"
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

make_stand_ins() {
  local step
  mkdir "$work/bin" "$work/tools"
  cat >"$work/tools/ncu" <<'NCU'
#!/usr/bin/env bash
if [[ ${1-} == --version ]]; then
  echo "Version 2025.3.1.0 (build 1)"
  exit
fi
while [[ $1 != --metrics ]]; do shift; done
IFS=, read -ra metrics <<<"$2"
fail() { echo "==ERROR== $1"; exit 1; }
echo "==PROF== Connected to process 4711"
case ${FAKE_NCU-} in
  forbidden) fail "ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters" ;;
  broken) fail "Failed to initialize the profiler: LibraryNotLoaded" ;;
  breaks_later) if [[ $3 == */04_first_add ]]; then fail "Failed to profile"; fi ;;
  older) if [[ $2 == *divergent* ]]; then fail "Failed to find metric regex:^smsp__sass_branch"; fi ;;
esac
names='"ID","Kernel Name","Grid Size"' units='"","",""'
values='"0","void reduce_kernel<unsigned int>(const T1 *, T1 *, unsigned long)","(16384, 1, 1)"'
for metric in "${metrics[@]}"; do
  case $metric in
    *.ratio) value=17.25 ;;
    gpu__time_duration.sum) value=n/a ;;
    *) value=1,234,567 ;;
  esac
  names+=",\"$metric\"" units+=',"inst"' values+=",\"$value\""
done
printf '| step | n |\n==PROF== Disconnected from process 4711\n%s\n%s\n%s\n' "$names" "$units" "$values"
NCU
  cat >"$work/step" <<'STEP'
#!/usr/bin/env bash
if [[ ${FAKE_GPU-} == none ]]; then
  echo "01_interleaved: error: no CUDA device: the driver lists no CUDA device" >&2
  exit 3
fi
while [[ $1 != --json ]]; do shift; done
printf '{\n  "device": {\n    "name": "NVIDIA Test 9000",\n    "compute_capability": "9.0",\n  }\n}\n' >"$2"
STEP
  for step in 01_interleaved 02_nondivergent 03_sequential 04_first_add 05_unroll_warp 06_templated 07_cascade; do
    cp "$work/step" "$work/bin/$step"
  done
  chmod +x "$work/tools/ncu" "$work/bin"/*
}

main
