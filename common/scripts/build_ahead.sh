# shellcheck shell=bash disable=SC2154  # set_up.sh sets the names that are used here
# Builds in the background what a script runs one after the other, so that it runs each program as soon as it is there.
# To be read after set_up.sh:
#
#   build_ahead TARGET...   begins, one target after the other. Their programs are announced (announced_programs in
#                           Step.cmake)
#   await PROGRAM           returns when it is built
#   end_build               ends what is left of it, as the script has to when it ends
#
# The build is a process group of its own.

build_job=
build_output=
build_status=  # once it has ended
declare -A ready

build_ahead() {
  local folder
  # Not every file system has pipes, and TMPDIR may lead nowhere.
  folder=$(mktemp -d 2>/dev/null || mktemp -d "$build_folder/pipe.XXXXXX")
  mkfifo "$folder/output"
  set -m  # its own process group
  build_in_turn "$@" </dev/null >"$folder/output" 2>&1 &
  build_job=$!
  set +m
  exec {build_output}<"$folder/output"
  rm -r "$folder"
}

build_in_turn() {
  local target
  trap - PIPE  # it ends with a script that was killed
  # A step that runs, and the host's part of its timing, come first.
  renice -n 19 -p "$BASHPID" >/dev/null || true
  for target; do
    build_targets "$target" || return
  done
}

await() {
  local line
  until [[ -v ready[$1] ]]; do
    if ! IFS= read -r -u "$build_output" line; then
      show_progress ""
      if [[ -z $build_status ]]; then
        build_status=0
        wait "$build_job" || build_status=$?
      fi
      # Its line may have been lost in what a compiler said.
      if ((build_status == 0)) && [[ -x $build_folder/bin/$1 ]]; then return; fi
      fail "$not_possible" "the build failed; the compiler's words are above"
    fi
    case $line in
      "ready: "*) ready[${line#ready: }]=1 ;;
      "["*"] "* | "ninja: no work to do.") show_progress "$line" ;;
      *)
        show_progress ""
        say "$line"
        ;;
    esac
  done
  show_progress ""
}

# One line on a terminal, and all of them in a log.
show_progress() {
  if shows_progress; then
    printf '\r\e[K%.*s' "$(($(columns) - 2))" "$1" >&2
  elif [[ -n $1 ]]; then
    say "$1"
  fi
}

end_build() {
  local job=$build_job
  build_job=
  kill -TERM -- "-$job" 2>/dev/null || return 0
  wait "$job" 2>/dev/null || true
}
