# shellcheck shell=bash
# From a fresh machine to a built tree. run_ladder.sh and run_tests.sh read this file, in the repository's folder,
# and call, in this order:
#
#   take_build_folder
#   install_missing_packages PACKAGE...
#   configure_with_tests ON|OFF
#   build TARGET...
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

# What the scripts exit with, as the steps do.
readonly bad_usage=2 not_possible=3
# 1 is of a wrong result only: any other command that fails is a machine that cannot do it.
set -o errtrace
trap 'give_up "$?" "$BASH_COMMAND"' ERR

# What the environment may have set (SHELLOPTS, BASHOPTS), and an older grep's options.
set +o noclobber +o noglob
shopt -u failglob nullglob nocasematch
unset GREP_OPTIONS

# Each argument is one line, whatever a path has in it. The exit code tells where stderr cannot be written.
say() { (trap '' PIPE && printf '%s\n' "${@//$'\n'/\\n}" >&2) || true; }

# fail EXIT_CODE LINE... The first line may hold what was typed.
fail() {
  local code=$1 message=${2//$'\n'/\\n}
  say "${0##*/}: error: ${message//[[:cntrl:]]/?}" "${@:3}"
  exit "$code"
}

# What was asked for goes to stdout.
print() {
  (trap '' PIPE && printf '%s\n' "$1") 2>/dev/null || fail "$not_possible" "stdout does not take the output"
}

# give_up STATUS COMMAND. Where nobody reads on (141), nobody asks why.
give_up() {
  if ((BASH_SUBSHELL > 0)); then exit "$1"; fi  # the script itself says it
  if (($1 != 141)); then say "${0##*/}: error: exit code $1 of: $2"; fi
  exit "$not_possible"
}

open_files=$(ulimit -n)
if [[ $open_files != unlimited ]] && ((open_files < 32)); then
  fail "$not_possible" "ulimit -n allows $open_files open files, and a build takes more"
fi
# A closed stream would give its number to the next file that is opened.
true 9>&2 || exec 2>/dev/null
{ true 9>&1; } 2>/dev/null || exec >/dev/null
{ true 9<&0; } 2>/dev/null || exec </dev/null
# A write beyond ulimit -f fails, and does not end the script without a word.
trap '' XFSZ

# A program that catches Ctrl-C may still report success; the next one must not start then.
trap 'exit 130' INT

# ---- the build folder ----

# What this run is to those that wait for it.
this_run="$0 $* (process $$)"

# Descriptors that are for this script alone, and how it runs what may start a daemon, as a build does with a compiler's
# cache: a daemon that kept the lock would keep every other run waiting. Should the script be killed, the subshell has the
# lock until the command ends.
own_descriptors=()
without_own_descriptors() {
  (
    (
      for descriptor in "${own_descriptors[@]}"; do exec {descriptor}>&-; done
      exec "$@"
    ) || exit
  )
}

# Until this script ends, the build folder is its own: another run would change what is built, and times measured at
# once are wrong. What is called inside it is part of it.
take_build_folder() {
  local holder
  check_environment
  if [[ ${REDUCTION_LOCKED:-} == "$(pwd -P)/$build_folder" ]]; then return; fi
  check_build_folder
  if ! command -v flock >/dev/null; then return; fi
  # The kernel gives the lock back when nobody has the file open any more: this script, and what it runs and outlives it.
  exec {lock}<>"$build_folder/lock"
  own_descriptors+=("$lock")
  if is_locked; then
    holder=$(<"$build_folder/lock")
    say "Waiting for ${holder:-another run}, which works in $PWD/$build_folder"
    while is_locked; do sleep 1; done
  fi
  if [[ -z $has_lock ]]; then return; fi
  { echo "${this_run//$'\n'/ }" >"$build_folder/lock"; } 2>/dev/null ||
    fail "$not_possible" "$PWD/$build_folder/lock cannot be written: the disk is full, or ulimit -f is too low"
  REDUCTION_LOCKED=$(pwd -P)/$build_folder
  export REDUCTION_LOCKED
  # What runs that were killed have left.
  rm -rf "$build_folder"/ladder.?????? "$build_folder"/pipe.?????? 2>/dev/null || true
}

# Whether it is another run's. Where the file system has no locks, it is nobody's.
is_locked() {
  local status=0
  flock -n "$lock" 2>/dev/null || status=$?
  if ((status == 0)); then has_lock=yes; fi
  ((status == 1))
}

# A script that has a trap of its own for its end calls this there.
leave_build_folder() {
  if [[ -n $has_lock ]]; then { true >"$build_folder/lock"; } 2>/dev/null || true; fi
}
has_lock=
trap leave_build_folder EXIT

check_environment() {
  local presets
  if [[ ! $REDUCTION_CUDA =~ ^(AUTO|ON|OFF)$ ]]; then
    fail "$bad_usage" "REDUCTION_CUDA is '$REDUCTION_CUDA'; it can be AUTO, ON or OFF"
  fi
  # Those with tests are those that build the steps.
  presets=$(sed -n '/"testPresets"/,$ s/.*"name": "\([^"]*\)".*/\1/p' CMakePresets.json)
  if [[ ! $preset =~ ^[a-z-]+$ ]] || ! grep -qxF -e "$preset" <<<"$presets"; then
    fail "$bad_usage" "REDUCTION_PRESET is '$preset'; it can be ${presets//$'\n'/, }"
  fi
}

# What a run as root has left there would be found in the middle of the next one.
check_build_folder() {
  local blocked remedy
  mkdir "$build_folder" 2>/dev/null || true
  if [[ ! -e $build_folder && ! -L $build_folder ]]; then
    fail "$not_possible" "$PWD cannot be written; it belongs to $(owner_of .): work in a copy of your own"
  fi
  # A link may lead nowhere, and a file of one's own that is read-only stops no build. A find that does not know
  # -writable finds nothing.
  blocked=$(find "$build_folder/" -maxdepth 2 ! -type l ! -writable \( -type d -o ! -user "$EUID" \) -print -quit \
    2>/dev/null || true)
  if [[ -z $blocked ]] && ! { true >>"$build_folder/lock"; } 2>/dev/null; then
    blocked=$build_folder
    if [[ -e $blocked/lock ]]; then blocked+=/lock; fi
  fi
  if [[ -n $blocked ]]; then
    remedy="delete $PWD/$build_folder (as root, if need be), and it is built anew"
    fail "$not_possible" "$PWD/${blocked%/} cannot be written; it belongs to $(owner_of "$blocked"): $remedy"
  fi
}

# GNU's stat, then BSD's.
owner_of() { stat -L -c %U "$1" 2>/dev/null || stat -L -f %Su "$1" 2>/dev/null || echo "somebody else"; }

# ---- packages ----

install_missing_packages() {
  local missing packages
  if [[ $OSTYPE == darwin* ]]; then
    fail "$not_possible" "the emulated device takes Linux: docs/no_gpu.md has a container for macOS"
  fi
  if ! has_apt; then
    # Which libraries are missing there, CMake finds out when it configures.
    if ((BASH_VERSINFO[0] < 5)); then stop_with_package_list "bash $BASH_VERSION is too old"; fi
    if ! command -v cmake >/dev/null; then stop_with_package_list "there is no CMake"; fi
    return
  fi
  packages=$(missing_packages "$@") || fail "$not_possible" "dpkg-query cannot say which packages are installed"
  if [[ -n $packages ]]; then
    mapfile -t missing <<<"$packages"
    install "${missing[@]}"
  fi
}

has_apt() { command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }

missing_packages() {
  local installed package status=0
  installed=$(dpkg-query --show --showformat="\${Package}=\${db:Status-Status}\n" "$@" 2>/dev/null) || status=$?
  if ((status > 1)); then return 1; fi  # 1: it does not know one of them
  for package; do
    # A tool on PATH will do wherever it comes from, and so will pip's pytest.
    if command -v "$package" >/dev/null || grep -qxF "$package=installed" <<<"$installed" ||
      { [[ $package == python3-pytest ]] && python3 -c "import pytest" 2>/dev/null; }; then continue; fi
    echo "$package"
  done
}

install() {
  local as_root=() command="apt-get install --no-install-recommends $*"
  say "These packages are needed here and not yet installed: $*"
  if ((EUID != 0)); then
    # `sudo true` asks for the password now, not in the middle of the progress line.
    if ! command -v sudo >/dev/null || ! sudo true; then
      fail "$not_possible" "installing packages takes root, and sudo is not possible here. As root, run" \
        "  apt-get update && $command" "and then ${0##*/} once more."
    fi
    as_root=(sudo)
  fi
  say "Installing them: ${as_root[*]} $command"
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  # An unrelated source that is out of order must not be in the way: what counts is whether the install works.
  logged update "${as_root[@]}" apt-get update || true
  logged install "${as_root[@]}" apt-get install --yes --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" ||
    fail "$not_possible" "apt-get could not install the packages; its last lines are above"
}

stop_with_package_list() {
  local with_root
  say "" "To build and test, this needs bash 5, CMake $oldest_cmake or newer, a C++20 compiler, make or Ninja, git" \
    "and the libraries CLI11, fmt, nlohmann-json and GoogleTest."
  with_root=$( ((EUID == 0)) || echo "sudo ")
  if command -v dnf >/dev/null; then
    say "  ${with_root}dnf install cmake gcc-c++ make git cli11-devel fmt-devel json-devel gtest-devel"
  elif command -v pacman >/dev/null; then
    say "  ${with_root}pacman -S --needed cmake gcc make git cli11 fmt nlohmann-json gtest"
  fi
  say ""
  fail "$not_possible" "$1; with everything above installed, run ${0##*/} once more"
}

# logged NAME COMMAND... keeps the output in a file. A terminal shows the line it is at, a failure the last lines.
logged() {
  local log=$build_folder/$1.log
  mkdir -p "$build_folder"
  rm -f "$log"  # it may be read-only
  without_own_descriptors "${@:2}" </dev/null 2>&1 | tee "$log" | show_current_line && return
  tail -n 20 "$log" >&2
  say "(all of it: $log)"
  return 1
}

show_current_line() {
  local line
  while IFS= read -r line; do
    if shows_progress; then printf '\r\e[K%.*s' "$(($(columns) - 2))" "$line" >&2; fi
  done
  if shows_progress; then printf '\r\e[K' >&2; fi
}

# Whether stderr is a terminal where a line can be erased.
shows_progress() { [[ -t 2 && ${TERM:-dumb} != dumb ]]; }

# How many columns the terminal has.
columns() {
  local size
  size=$(stty size <&2 2>/dev/null) || size="0 0"
  if ((${size#* } > 0)); then echo "${size#* }"; else echo 80; fi
}

# ---- CMake ----

configure_with_tests() {
  local with_tests=$1 toolchain fresh=()
  toolchain=$(describe_toolchain)
  if ! was_configured_for "$toolchain"; then
    # CMake remembers the compiler it found, or that it found none, until it starts afresh.
    fresh=(--fresh)
  elif [[ $with_tests == OFF ]] || grep -q '^REDUCTION_BUILD_TESTS:BOOL=ON' "$build_folder/CMakeCache.txt"; then
    return
  fi
  check_cmake_version
  say "Configuring $build_folder"
  rm -f "$build_folder/configured_for"
  logged configure cmake --preset "$preset" -G "$generator" "${fresh[@]}" "-DREDUCTION_BUILD_TESTS=$with_tests" \
    -DCMAKE_TARGET_MESSAGES=OFF || stop_unconfigured
  echo "$toolchain" >"$build_folder/configured_for"
}

# Whatever makes the last configuration worthless when it changes.
describe_toolchain() {
  echo "folder $PWD, $generator, CXX=${CXX:-}, CUDACXX=${CUDACXX:-}, nvcc: $(command -v nvcc || echo none)," \
    "REDUCTION_CUDA=$REDUCTION_CUDA, GPUs: $(gpus)"
}

was_configured_for() {
  [[ -f $build_folder/CMakeCache.txt && -f $build_folder/configured_for && $(<"$build_folder/configured_for") == "$1" ]]
}

# The kinds of GPU here, or nothing.
gpus() {
  local names
  # Without a GPU, nvidia-smi says so where the names would be, and fails.
  if names=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null); then
    sort --unique <<<"$names" | paste -sd, -
  fi
}

check_cmake_version() {
  local version
  version=$(cmake --version | sed -n '1s/.* //p')
  if ! printf '%s\n' "$oldest_cmake" "$version" | sort -C -V; then
    fail "$not_possible" "this takes CMake $oldest_cmake or newer, and $(command -v cmake) is $version" \
      "Debian has it from 12 on, Ubuntu from 23.04 on; for others there are https://cmake.org/download and" \
      "'pip install cmake'."
  fi
}

stop_unconfigured() {
  if ! has_apt; then stop_with_package_list "CMake could not configure the build"; fi
  fail "$not_possible" "CMake could not configure the build; its last lines are above"
}

build() {
  mention_half_of_cuda
  build_targets "$@" >&2 || fail "$not_possible" "the build failed; the compiler's words are above"
}

build_targets() {
  without_own_descriptors cmake --build "$build_folder" --parallel "$(build_jobs)" --target "$@"
}

# CUDA takes both, and a reader who has one of them may wonder.
mention_half_of_cuda() {
  local gpu nvcc remedy="install the CUDA toolkit for it"
  if [[ $REDUCTION_CUDA != AUTO ]]; then return; fi
  gpu=$(gpus)
  nvcc=$(command -v nvcc || true)
  if [[ -n $nvcc && -z $gpu ]]; then
    say "There is nvcc but no GPU here, so no CUDA is compiled and everything is emulated; REDUCTION_CUDA=ON compiles it."
  elif [[ -n $gpu && -z $nvcc ]]; then
    if [[ -x /usr/local/cuda/bin/nvcc ]]; then remedy="PATH=/usr/local/cuda/bin:\$PATH ${0##*/} uses it"; fi
    say "There is a GPU ($gpu) but no nvcc on PATH, so everything is emulated; $remedy."
  fi
}

# One compiler a core, and no more than there is memory for.
build_jobs() {
  local gib
  gib=$(awk '/^MemAvailable:/ { print int($2 / 1048576) + 1 }' /proc/meminfo 2>/dev/null || cores)
  echo $((gib < $(cores) ? gib : $(cores)))
}

cores() { nproc 2>/dev/null || getconf _NPROCESSORS_ONLN; }
