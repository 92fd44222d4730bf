# shellcheck shell=bash disable=SC2154  # set_up.sh sets the names that are used here
# Builds in the background what a script runs one after the other, so that it runs each program as soon as it is there.
# To be read after set_up.sh:
#
#   build_ahead TARGET   begins. The target's programs are announced (announced_programs in CMakeLists.txt).
#   await PROGRAM        returns when it is built
#
# The build is a process group of its own, which ends with the script.

build_job=
build_output=
declare -A ready

build_ahead() {
  local pipe=$build_folder/build_output
  rm -f "$pipe"
  mkfifo "$pipe"
  trap end_build EXIT
  set -m  # its own process group
  build_targets "$1" </dev/null >"$pipe" 2>&1 &
  build_job=$!
  set +m
  exec {build_output}<"$pipe"
  rm "$pipe"
}

await() {
  local line
  until [[ -v ready[$1] ]]; do
    IFS= read -r -u "$build_output" line || fail "$not_possible" "the build failed; the compiler's words are above"
    case $line in
      "ready: "*) ready[${line#ready: }]=1 ;;
      "["*"] "* | "ninja: no work to do.") show_progress "$line" ;;
      *) say "$line" ;;
    esac
  done
  show_progress ""
}

# One line on a terminal, and all of them in a log.
show_progress() {
  if [[ -t 2 ]]; then
    printf '\r\e[K%.78s' "$1" >&2
  elif [[ -n $1 ]]; then
    say "$1"
  fi
}

end_build() {
  kill -TERM -- "-$build_job" 2>/dev/null || return 0
  wait "$build_job" 2>/dev/null || true
}
