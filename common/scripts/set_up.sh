# shellcheck shell=bash
# From a fresh machine to a built tree. run_ladder.sh and run_tests.sh read this file, in the repository's folder,
# and call, in this order:
#
#   take_build_folder
#   install_missing_packages PACKAGE...
#   configure_with_tests ON|OFF
#   build TARGET..., or start_build TARGET... and then `await PROGRAM` of each
#
# A second call finds everything done and takes a fraction of a second. All messages go to stderr.
#
# REDUCTION_CUDA=AUTO|ON|OFF says whether to build for CUDA devices (common/cmake/CudaToolkit.cmake).
# REDUCTION_PRESET names another preset of CMakePresets.json than release.

export REDUCTION_CUDA=${REDUCTION_CUDA:-AUTO}
preset=${REDUCTION_PRESET:-release}
build_folder=build
if [[ $preset != release ]]; then build_folder=build-$preset; fi

oldest_cmake=3.25
# The names in Debian and Ubuntu.
build_packages=(cmake g++ libcli11-dev libfmt-dev nlohmann-json3-dev)
# shellcheck disable=SC2034  # run_tests.sh and the Dev Container install them
test_packages=(libgtest-dev git python3-pytest libopenmpi-dev openmpi-bin)
if command -v ninja >/dev/null; then
  generator=Ninja
else
  generator="Unix Makefiles"
  build_packages+=(make)
fi
elsewhere=()  # the packages' names where there is no apt-get

# What the scripts exit with, as the steps do.
readonly bad_usage=2 not_possible=3
# 1 is of a wrong result only: any other command that fails is a machine that cannot do it.
set -o errtrace
trap 'give_up "$?" "$BASH_COMMAND"' ERR
# A program that catches Ctrl-C may still report success; the next one must not start then.
trap 'exit 130' INT
trap end_build EXIT

# Each argument is one line. The exit code tells where stderr cannot be written.
say() { (trap '' PIPE && printf '%s\n' "$@" >&2 2>/dev/null) || true; }

# fail EXIT_CODE LINE...
fail() {
  say "${0##*/}: error: $2" "${@:3}"
  exit "$1"
}

give_up() {
  if ((BASH_SUBSHELL > 0)); then exit "$1"; fi  # the script itself says it
  fail "$not_possible" "exit code $1 of: $2"
}

# ---- the build folder ----

# Until this script ends, the build folder is its own: another run would change what is built, and times measured at
# once are wrong. What is called inside it is part of it. The lock is descriptor 9, which the kernel closes with the
# script; a daemon that a build starts, as a compiler's cache is, must not inherit it.
take_build_folder() {
  if [[ ! $REDUCTION_CUDA =~ ^(AUTO|ON|OFF)$ ]]; then
    fail "$bad_usage" "REDUCTION_CUDA is '$REDUCTION_CUDA'; it can be AUTO, ON or OFF"
  fi
  if [[ ${REDUCTION_LOCKED:-} == "$PWD/$build_folder" ]]; then return; fi
  # What a run as root has left there would be found in the middle of this one.
  if ! mkdir -p "$build_folder" 2>/dev/null || ! { true >>"$build_folder/lock"; } 2>/dev/null; then
    fail "$not_possible" "$PWD/$build_folder cannot be written: delete it (as root, if need be), or work in a copy"
  fi
  exec 9>>"$build_folder/lock"
  if ! flock --nonblock 9; then
    say "Waiting for another run, which works in $PWD/$build_folder"
    flock 9
  fi
  export REDUCTION_LOCKED=$PWD/$build_folder
}

# ---- packages ----

install_missing_packages() {
  local missing
  if command -v apt-get >/dev/null; then
    mapfile -t missing < <(missing_packages "$@")
    if ((${#missing[@]} > 0)); then install "${missing[@]}"; fi
  else
    # Which libraries are missing, CMake finds out when it configures.
    elsewhere=("To build and test, this needs CMake, a C++20 compiler, make or Ninja, git and libraries, as in"
      "  dnf install cmake gcc-c++ make git cli11-devel fmt-devel json-devel gtest-devel"
      "  pacman -S --needed cmake gcc make git cli11 fmt nlohmann-json gtest")
    command -v cmake >/dev/null || fail "$not_possible" "there is no CMake" "${elsewhere[@]}"
  fi
}

missing_packages() {
  local installed package
  installed=$(dpkg-query --show --showformat="\${Package}=\${db:Status-Status}\n" "$@" 2>/dev/null || true)
  for package; do
    # A tool on PATH will do wherever it comes from, and so will pip's modules.
    if ! command -v "$package" >/dev/null && ! grep -qxF "$package=installed" <<<"$installed" &&
      ! { [[ $package == python3-* ]] && python3 -c "import ${package#python3-}" 2>/dev/null; }; then
      echo "$package"
    fi
  done
}

install() {
  local as_root=() command="apt-get install --no-install-recommends $*"
  if ((EUID != 0)); then as_root=(sudo); fi
  say "Installing what is missing here: ${as_root[*]} $command"
  # `sudo true` asks for the password now, not in the middle of the progress line.
  "${as_root[@]}" true || fail "$not_possible" "installing packages takes root, and sudo is not possible here." \
    "As root, run 'apt-get update && $command', and then ${0##*/} once more."
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  # An unrelated source that is out of order must not be in the way: what counts is whether the install works.
  logged update "${as_root[@]}" apt-get update || true
  logged install "${as_root[@]}" apt-get install --yes --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" ||
    fail "$not_possible" "apt-get could not install the packages; its last lines are above"
}

# logged NAME COMMAND... keeps the output in a file. A terminal shows the line it is at, a failure the last lines.
logged() {
  local log=$build_folder/$1.log line
  mkdir -p "$build_folder"
  "${@:2}" </dev/null 2>&1 9>&- | tee "$log" | while IFS= read -r line; do
    if [[ -t 2 ]]; then show_progress "$line"; fi
  done && return
  show_progress ""
  tail -n 20 "$log" >&2
  say "(all of it: $log)"
  return 1
}

# One line on a terminal, in place of the one before, and all of them in a log.
show_progress() {
  if [[ -t 2 && ${TERM:-dumb} != dumb ]]; then
    printf '\r\e[K%.*s' "$(($(columns) - 2))" "$1" >&2
  elif [[ -n $1 ]]; then
    say "$1"
  fi
}

# How many columns the terminal has.
columns() {
  local size
  size=$(stty size <&2 2>/dev/null || echo 0 0)
  echo "$((${size#* } > 0 ? ${size#* } : 80))"
}

# ---- CMake ----

configure_with_tests() {
  local with_tests=$1 nvcc gpu version toolchain fresh=()
  nvcc=$(command -v nvcc || echo none)
  # Without a GPU, nvidia-smi says so where the name would be, and fails.
  gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null) || gpu=none
  if [[ $REDUCTION_CUDA == AUTO && "$nvcc $gpu" == *none* && "$nvcc $gpu" != "none none" ]]; then
    say "Everything is emulated: CUDA takes a GPU (here: ${gpu%%$'\n'*}) and nvcc on PATH (here: $nvcc)."
  fi
  # Whatever makes the last configuration worthless when it changes.
  toolchain="$PWD, $generator, CXX=${CXX:-}, CUDACXX=${CUDACXX:-}, nvcc $nvcc, REDUCTION_CUDA=$REDUCTION_CUDA, GPU $gpu"
  if [[ $toolchain != "$(cat "$build_folder/configured_for" 2>/dev/null || true)" ]]; then
    # CMake remembers the compiler it found, or that it found none, until it starts afresh.
    fresh=(--fresh)
  elif [[ $with_tests == OFF ]] || grep -q '^REDUCTION_BUILD_TESTS:BOOL=ON' "$build_folder/CMakeCache.txt"; then
    return
  fi
  version=$(cmake --version | sed -n '1s/.* //p')
  printf '%s\n' "$oldest_cmake" "$version" | sort -C -V || fail "$not_possible" \
    "this takes CMake $oldest_cmake or newer, and $(command -v cmake) is $version: 'pip install cmake' has a newer one"
  say "Configuring $build_folder"
  rm -f "$build_folder/configured_for"
  logged configure cmake --preset "$preset" -G "$generator" "${fresh[@]}" "-DREDUCTION_BUILD_TESTS=$with_tests" \
    -DCMAKE_TARGET_MESSAGES=OFF || fail "$not_possible" "CMake could not configure the build" "${elsewhere[@]}"
  echo "$toolchain" >"$build_folder/configured_for"
}

build_job=
declare -A ready

build() {
  start_build "$@"
  await all
}

# Builds in the background, in a process group of its own.
start_build() {
  exec {build_output}< <(exec setsid cmake --build "$build_folder" --parallel "$(build_jobs)" --target "$@" \
    </dev/null 2>&1 8>&- 9>&-)
  build_job=$!
}

# await PROGRAM returns when the build has said that it is ready (announced_programs in Step.cmake), or has ended.
await() {
  local line
  while [[ -n $build_job && ! -v ready[$1] ]]; do
    if ! IFS= read -r -u "$build_output" line; then
      show_progress ""
      wait "$build_job" || fail "$not_possible" "the build failed; the compiler's words are above"
      build_job=
    elif [[ $line != *"] Re-checking globbed directories..." && $line != *": no work to do." ]]; then
      if [[ $line == *"] ready: "* ]]; then ready[${line##* }]=1; fi
      # What is no progress is a compiler's.
      if [[ $line == "["*"] "* ]]; then show_progress "$line"; else show_progress "" && say "$line"; fi
    fi
  done
  show_progress ""
}

end_build() { if [[ -n $build_job ]]; then kill -TERM -- "-$build_job" 2>/dev/null || true; fi; }

# One compiler a core, and no more than there is memory for.
build_jobs() {
  local gib
  gib=$(awk '/^MemAvailable:/ { print int($2 / 1048576) + 1 }' /proc/meminfo)
  echo $((gib < $(nproc) ? gib : $(nproc)))
}
