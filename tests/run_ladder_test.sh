#!/usr/bin/env bash
# run_ladder.sh with a CMake, a GPU and programs that are made up: run_ladder_test.sh REPOSITORY.

set -euo pipefail
repository=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/fake" "$work/common"
cp "$repository/run_ladder.sh" "$repository/CMakeLists.txt" "$work"
cp -r "$repository/common/scripts" "$work/common"

# A step writes where it ran, and fails or waits where its name is in FAILS or WAITS.
cat >"$work/fake/step" <<'STEP'
#!/usr/bin/env bash
name=${0##*/} json= options=$*
while (($# > 0)); do if [[ $1 == --json ]]; then json=$2; fi; shift; done
if [[ $name == ladder_table ]]; then
  echo "table ${options//build\/ladder\//}"
  exit
fi
echo "$name ${options%% --json*}"
echo "$name is $REDUCTION_LADDER"
if [[ $name == "${WAITS:-}" ]]; then sleep 30; fi
echo "{\"kind\": \"${KIND:-emulated}\", \"compute_capability\": \"${CAPABILITY:-9.0}\"}" >"$json"
if [[ $name == "${FAILS:-}" ]]; then exit "$STATUS"; fi
STEP
# The first build makes what 01 takes. The second waits until 01 has run, announces all others, and goes on until it is
# ended. BREAKS is what does not compile.
cat >"$work/fake/cmake" <<'CMAKE'
#!/usr/bin/env bash
case $1 in
  --version) echo "cmake version 3.25.1" ;;
  --preset) mkdir -p build && touch build/CMakeCache.txt ;;
  --build)
    echo "cmake ${*: -1}" >>build/targets
    mkdir -p build/bin
    echo "$$" >build/process
    target=${*: -1}
    if [[ $target == climb || $target == climb_beyond ]]; then
      for ((k = 0; k < 100; ++k)); do
        if [[ -f build/ladder/01_interleaved.json ]]; then break; fi
        if ((k == 99)); then echo "01 did not run as soon as it was built" && exit 1; fi
        sleep 0.1
      done
    fi
    for program in 0{0_cpu_serial,1_interleaved,2_nondivergent,3_sequential,4_first_add,5_unroll_warp,6_templated,7_cascade} \
      08_warp_shuffle 09_vector_loads 10_single_pass 11_bulk_copy 12_any_operation peer_cub ladder_table; do
      if [[ $program == "${BREAKS:-}" ]]; then echo "main.cu:1: error: made up"; exit 1; fi
      cp "$(dirname "$0")/step" "build/bin/$program"
      if [[ $target == climb* ]]; then echo "ready: $program"; fi
      if [[ $target == "$program" || $target == climb_first && $program == 01_* ]]; then exit; fi
    done
    if [[ $target == climb || $target == climb_beyond ]]; then exec sleep 30; fi
    ;;
esac
CMAKE
# Two cores.
printf '#!/usr/bin/env bash\necho 2\n' >"$work/fake/nproc"
# Every package is installed.
cat >"$work/fake/dpkg-query" <<'PACKAGES'
#!/usr/bin/env bash
for package; do echo "$package=installed"; done
PACKAGES
chmod +x "$work/fake"/*
export PATH=$work/fake:$PATH
unset REDUCTION_PRESET REDUCTION_CUDA

failures=0
check() {  # check WHAT STATUS-EXPECTED TEXT...: of the last run
  local what=$1 expected=$2 text
  if [[ $status != "$expected" ]]; then echo "$what: exit code $status, not $expected"; failures=$((failures + 1)); fi
  for text in "${@:3}"; do
    if [[ $text == "!"* ]]; then
      if [[ $output == *"${text#!}"* ]]; then echo "$what: '${text#!}' in"; failures=$((failures + 1)); echo "$output"; fi
    elif [[ $output != *"$text"* ]]; then echo "$what: no '$text' in"; failures=$((failures + 1)); echo "$output"; fi
  done
}
run() {
  status=0
  rm -f "$work/build/targets"
  output=$("$work/run_ladder.sh" "$@" 2>&1) || status=$?
}

classic="00_cpu_serial.json 01_interleaved.json 02_nondivergent.json 03_sequential.json 04_first_add.json"
classic+=" 05_unroll_warp.json 06_templated.json 07_cascade.json"
beyond="08_warp_shuffle.json 09_vector_loads.json 10_single_pass.json"

run -n4M --type=float32
check "no GPU" 0 "00_cpu_serial -n4M --type=float32" "table $classic" "!08_warp" "!peer_cub"
check "what a terminal shows once" 0 "00_cpu_serial is first" "01_interleaved is first" "02_nondivergent is next" \
  "07_cascade is next" "!README.md"
run --beyond -q
check "beyond without a GPU" 0 "table $classic $beyond" "11_bulk_copy and 12_any_operation run on a GPU only: skipped" "!peer_cub"
KIND=cuda run
check "on a GPU" 0 "table $classic peer_cub.json" "!08_warp"
KIND=cuda run --beyond --json "$work/all.json"
check "beyond on a GPU" 0 "table $classic $beyond 11_bulk_copy.json 12_any_operation.json peer_cub.json --json $work/all.json"
KIND=cuda CAPABILITY=8.6 run --beyond
check "beyond on an older GPU" 0 "table $classic $beyond 12_any_operation.json peer_cub.json" "11_bulk_copy takes a GPU of compute capability 9.0"
FAILS=03_sequential STATUS=1 run
check "a wrong result" 1 "table $classic" "wrong result: 03_sequential"
FAILS=03_sequential STATUS=3 run
check "a device fault" 3 "03_sequential" "!04_first_add" "!table"
BREAKS=04_first_add run
check "what does not compile" 3 "03_sequential" "main.cu:1: error: made up" "the build failed" "!04_first_add"

# Ctrl-C reaches the process group of a terminal, which the build is not in.
set -m
WAITS=02_nondivergent "$work/run_ladder.sh" >"$work/interrupted" 2>&1 &
script=$!
set +m
for ((k = 0; k < 200; ++k)); do
  if grep -qs 02_nondivergent "$work/interrupted"; then break; fi
  sleep 0.1
done
kill -INT -- "-$script"
status=0
wait "$script" || status=$?
output=$(<"$work/interrupted")
check "Ctrl-C" 130 "table 00_cpu_serial.json 01_interleaved.json" "!03_sequential"
# A process that has ended may wait for whoever reaps orphans here.
if grep -qs '^State:.[^Z]' "/proc/$(<"$work/build/process")/status"; then echo "Ctrl-C: the build goes on"; failures=$((failures + 1)); fi

run --json
check "--json" 2 "run_ladder.sh: error: --json needs the name of a file"
run --trace x.html
check "--trace" 2 "run_ladder.sh: error: --trace is of one step, as in: build/bin/03_sequential --trace conflict.html"
exit $((failures > 0))
