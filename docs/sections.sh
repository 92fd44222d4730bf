# shellcheck shell=bash
# Generated sections of Markdown files: what stands between the lines <!-- NAME:begin --> and <!-- NAME:end -->.
# The scripts that generate them read this file.
#
# Exit code of such a script: 0 all up to date, 1 a stale section (with --check only), 2 bad usage or no such section.

# Read and set by the scripts, too.
export check=false
export stale=0

fail() {
  echo "${0##*/}: error: $1" >&2
  exit 2
}

# put_section FILE NAME COMMAND... writes what the command prints into the section where it differs; with check=true it
# only says so, and sets stale=1. A command that fails ends the script: the section stays as it is.
put_section() {
  local file=$1 name=$2 text fresh
  text=$("${@:3}") || exit
  fresh=$(with_section "$file" "$name" "$text") || exit
  if [[ $fresh == "$(<"$file")" ]]; then return; fi
  if [[ $check == true ]]; then
    echo "$file is stale in its section '$name': run ${0##*/}"
    stale=1
    return
  fi
  printf '%s\n' "$fresh" >"$file"
  echo "$file has a new section '$name'"
}

# has_section FILE NAME
has_section() { grep -qxF "<!-- $2:begin -->" "$1"; }

# put_page FILE COMMAND... writes a page that is generated as a whole, as put_section does a section.
put_page() {
  local file=$1 text
  text=$("${@:2}") || exit
  if [[ -f $file && $text == "$(<"$file")" ]]; then return; fi
  if [[ $check == true ]]; then
    echo "$file is stale: run ${0##*/}"
    stale=1
    return
  fi
  printf '%s\n' "$text" >"$file"
  echo "$file is new"
}

# with_section FILE NAME TEXT prints the file with TEXT between the two lines.
with_section() {
  local file=$1 begin="<!-- $2:begin -->" end="<!-- $2:end -->" text=$3 line place=before
  if [[ ! -f $file ]]; then fail "there is no $file"; fi
  while IFS= read -r line || [[ -n $line ]]; do
    case $place:$line in
      "before:$begin")
        printf '%s\n' "$begin" "$text" "$end"
        place=inside
        ;;
      "inside:$end") place=after ;;
      *:"$begin" | *:"$end") fail "$file: the lines '$begin' and '$end' have to stand once each, in this order" ;;
      inside:*) ;;
      *) printf '%s\n' "$line" ;;
    esac
  done <"$file"
  if [[ $place != after ]]; then fail "$file: there is no line '$begin', or no '$end' after it"; fi
}
