# shellcheck shell=bash disable=SC2034  # who reads this file installs the packages
# From a fresh machine to a built tree. The scripts read this file, in the repository's folder, and call, in this order,
# take_build_folder, install_missing_packages, configure_with_tests and build, or start_build and then await. A second
# call finds everything done and takes a fraction of a second. All messages go to stderr.
#
# REDUCTION_CUDA=AUTO|ON|OFF says whether to build for CUDA devices (common/cmake/CudaToolkit.cmake).
# REDUCTION_PRESET names another preset of CMakePresets.json than release.

export REDUCTION_CUDA=${REDUCTION_CUDA:-AUTO}
preset=${REDUCTION_PRESET:-release}
build_folder=build-$preset
build_folder=${build_folder%-release}

# The names in Debian and Ubuntu.
build_packages=(cmake g++ ninja-build libcli11-dev libfmt-dev nlohmann-json3-dev)
test_packages=(libgtest-dev git python3-pytest libopenmpi-dev openmpi-bin)
needed="CMake 3.25, a C++20 compiler, Ninja, CLI11, fmt, nlohmann-json; tests: GoogleTest, git, pytest, MPI"

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

# fail EXIT_CODE LINE... sets the error apart on a terminal, as the programs do.
fail() {
  local label=error:
  if [[ -t 2 ]]; then say ""; fi
  if [[ -t 2 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then label=$'\e[1;31merror:\e[0m'; fi
  say "${0##*/}: $label $2" "${@:3}"
  exit "$1"
}

give_up() {
  if ((BASH_SUBSHELL > 0)); then exit "$1"; fi  # the script itself says it
  fail "$not_possible" "exit code $1 of: $2"
}

# Until this script ends, the build folder is its own: another run would change what is built, and times measured at
# once are wrong. What is called inside it is part of it. The lock is descriptor 9, which the kernel closes with the
# script; a daemon that a build starts, as a compiler's cache is, must not inherit it.
take_build_folder() {
  if [[ ! $REDUCTION_CUDA =~ ^(AUTO|ON|OFF)$ ]]; then
    fail "$bad_usage" "REDUCTION_CUDA is '$REDUCTION_CUDA'; it can be AUTO, ON or OFF"
  fi
  grep -q "\"$preset\"" CMakePresets.json || fail "$bad_usage" "REDUCTION_PRESET: there is no '$preset'"
  local folder
  folder=$(realpath -m "$build_folder")
  if [[ ${REDUCTION_LOCKED:-} == "$folder" ]]; then return; fi
  # What a run as root has left there would be found in the middle of this one.
  if ! mkdir -p "$build_folder" 2>/dev/null || ! { true >>"$build_folder/lock"; } 2>/dev/null; then
    fail "$not_possible" "$folder cannot be written: delete it (as root, if need be), or work in a copy"
  fi
  command -v flock >/dev/null || return 0
  exec 9>>"$build_folder/lock"
  if ! flock --nonblock 9; then
    say "Waiting for another run, which works in $folder"
    until flock --timeout 1 9; do :; done  # a Ctrl-C that comes before flock has begun is heard a second later
  fi
  export REDUCTION_LOCKED=$folder
}

install_missing_packages() {
  local missing command as_root=(env DEBIAN_FRONTEND=noninteractive)
  if ! command -v apt-get >/dev/null; then
    # What else is missing, CMake finds out when it configures.
    command -v cmake >/dev/null || fail "$not_possible" "there is no CMake and no apt-get; this needs" "  $needed"
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then return; fi
  command="apt-get install --no-install-recommends ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "$not_possible" "run '$command' as root, and ${0##*/} once more"
    as_root=(sudo "${as_root[@]}")
  fi
  say "Installing what is missing here: $command"
  # An unrelated source that is out of order must not be in the way: what counts is whether the install works.
  "${as_root[@]}" apt-get update >&2 || true
  "${as_root[@]}" apt-get install --yes --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}" >&2 ||
    fail "$not_possible" "that did not work; run ${0##*/} once more when '$command' has, as root"
}

# Prints those of the packages that are not there.
missing_packages() {
  local package
  for package; do
    # A tool on PATH will do wherever it comes from, and so will pip's modules.
    if ! command -v "${package%-build}" >/dev/null &&
      [[ $(dpkg-query --show --showformat="\${db:Status-Status}" "$package" 2>/dev/null) != installed ]] &&
      ! { [[ $package == python3-* ]] && python3 -c "import ${package#python3-}" 2>/dev/null; }; then
      echo "$package"
    fi
  done
}

configure_with_tests() {
  local with_tests=$1 nvcc gpu toolchain
  nvcc=$(command -v nvcc || echo none)
  # Without a GPU, nvidia-smi says so where the name would be, and fails.
  gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null) || gpu=none
  if [[ $REDUCTION_CUDA == AUTO && "$nvcc $gpu" == *none* && "$nvcc $gpu" != "none none" ]]; then
    say "Everything is emulated: CUDA takes a GPU (here: ${gpu%%$'\n'*}) and nvcc on PATH (here: $nvcc)."
  fi
  # Whatever makes the last configuration worthless when it changes.
  toolchain="$PWD, CXX=${CXX:-}, CUDACXX=${CUDACXX:-}, nvcc $nvcc, REDUCTION_CUDA=$REDUCTION_CUDA, GPU $gpu"
  if [[ $toolchain != "$(cat "$build_folder/configured_for" 2>/dev/null || true)" ]]; then
    # CMake remembers the compiler it found, or that it found none. (--fresh would delete what is compiled, too.)
    rm -f "$build_folder/CMakeCache.txt"
  elif grep -qsE "^REDUCTION_BUILD_TESTS:BOOL=(ON|$with_tests)" "$build_folder/CMakeCache.txt"; then
    return
  fi
  say "Configuring $build_folder"
  rm -f "$build_folder/configured_for"
  if ! cmake --preset "$preset" -B "$build_folder" "-DREDUCTION_BUILD_TESTS=$with_tests" \
    -DCMAKE_TARGET_MESSAGES=OFF >"$build_folder/configure.log" 2>&1 </dev/null 9>&-; then
    tail -n 20 "$build_folder/configure.log" >&2
    fail "$not_possible" "CMake could not configure the build ($build_folder/configure.log); this needs" "  $needed"
  fi
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
      wait "$build_job" || fail "$not_possible" "the build failed; its words are above"
      build_job=
    elif [[ $line != *"Re-checking globbed directories..." && $line != *"no work to do." && $line != "-- "* ]]; then
      if [[ $line == *"] ready: "* ]]; then ready[${line##* }]=1; fi
      # What is no progress is a compiler's.
      if [[ $line == "["*"] "* ]]; then show_progress "$line"; else show_progress "" && say "$line"; fi
    fi
  done
  show_progress ""
}

# One line on a terminal, in place of the one before, and all of them in a log.
show_progress() {
  if [[ -t 2 && ${TERM:-dumb} != dumb ]]; then
    printf '\r\e[K\e[?7l%s\e[?7h' "$1" >&2  # a line that is too long is cut off
  elif [[ -n $1 ]]; then
    say "$1"
  fi
}

end_build() { if [[ -n $build_job ]]; then kill -TERM -- "-$build_job" 2>/dev/null || true; fi; }

# One compiler a core, and no more than there is memory for.
build_jobs() {
  local gib
  gib=$(awk '/^MemAvailable:/ { print int($2 / 1048576) + 1 }' /proc/meminfo)
  echo $((gib < $(nproc) ? gib : $(nproc)))
}
