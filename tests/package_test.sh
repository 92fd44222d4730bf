#!/usr/bin/env bash
# The package `reduction` in a project of somebody else: installs it, finds it, builds with it and runs what was built.
#
#   package_test.sh REPOSITORY BUILD [ARCHITECTURES]
#
# BUILD is the repository's build folder, ARCHITECTURES are those of its CUDA. Without them, and for all-major, which
# would take long, it is this machine's GPU, or 90.
#
# Exit code: 0 all of it, 1 something fails, 77 the rest is skipped because there is no nvcc or no GPU.

set -euo pipefail
repository=$1 build=$2 architectures=${3:-}
package_files=(
  include/reduction/operations.cuh
  include/reduction/reduce.cuh
  include/reduction/reduce_kernels.cuh
  share/cmake/reduction/reductionConfig.cmake
  share/cmake/reduction/reductionConfigVersion.cmake
)

main() {
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  # Where nothing remembers the folder that it was installed into.
  quietly cmake --install "$build" --prefix "$work/first"
  mv "$work/first" "$work/prefix"
  only_the_package_is_installed
  a_project_without_cuda_finds_it
  if ! command -v nvcc >/dev/null; then
    echo "skipped: installed and found, but not built: there is no nvcc"
    exit 77
  fi
  choose_architectures
  configure "$repository/tests/package" "$work/found" "-DCMAKE_PREFIX_PATH=$work/prefix"
  quietly cmake --build "$work/found"
  a_project_can_take_the_folders_along
  run "$work/found/smallest"
}

only_the_package_is_installed() {
  diff <(printf '%s\n' "${package_files[@]}") <(cd "$work/prefix" && find . -type f | sed 's:^\./::' | LC_ALL=C sort) || {
    echo "the package should be these files (<), it is those (>)"
    exit 1
  }
}

# As one does that enables CUDA later, or for some of its programs. Another version's interface is refused.
a_project_without_cuda_finds_it() {
  mkdir "$work/host"
  cat >"$work/host/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(host LANGUAGES CXX)
find_package(reduction 99 QUIET)
if(reduction_FOUND)
  message(FATAL_ERROR "version ${reduction_VERSION} passes for version 99")
endif()
find_package(reduction 0.1 REQUIRED)
file(WRITE ${CMAKE_BINARY_DIR}/main.cpp [[
#if !__has_include(<reduction/reduce.cuh>)
#error "the headers are not on the path"
#endif
int main() {}
]])
add_executable(host ${CMAKE_BINARY_DIR}/main.cpp)
target_link_libraries(host PRIVATE reduction::reduction)
CMAKE
  configure "$work/host" "$work/host/build" "-DCMAKE_PREFIX_PATH=$work/prefix"
  quietly cmake --build "$work/host/build"
}

# add_subdirectory(), and so FetchContent: of the whole repository, or of the package's folder.
a_project_can_take_the_folders_along() {
  local folder project
  for folder in "$repository" "$repository/beyond/12_any_operation"; do
    project=$(mktemp -d "$work/takes_along.XXX")
    cat >"$project/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(takes_along LANGUAGES CUDA)
add_subdirectory("$folder" reduction)
add_library(compiles OBJECT "$repository/tests/package/main.cu")
target_link_libraries(compiles PRIVATE reduction::reduction)
CMAKE
    configure "$project" "$project/build"
    quietly cmake --build "$project/build"
  done
}

run() {
  local status=0
  "$1" || status=$?
  if ((status == 77)); then echo "skipped: installed, found and built, but not run: there is no GPU"; fi
  exit "$status"
}

# configure SOURCE BUILD OPTION...
configure() {
  quietly cmake -S "$1" -B "$2" "-DCMAKE_CUDA_ARCHITECTURES=$architectures" "${@:3}"
}

choose_architectures() {
  if [[ -n $architectures && $architectures != all-major ]]; then return; fi
  if nvidia-smi -L >/dev/null 2>&1; then architectures=native; else architectures=90; fi
}

# Shows what a command says only where it fails.
quietly() {
  if ! "$@" >"$work/log" 2>&1; then
    echo "failed: $*"
    cat "$work/log"
    exit 1
  fi
}

main
