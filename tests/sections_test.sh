#!/usr/bin/env bash
# docs/sections.sh: what a script that writes into pages does to a page.
#
#   sections_test.sh SECTIONS_SH

set -euo pipefail
sections=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
page=$work/page.md
failures=0

main() {
  make_page
  ends 0 put_section "$page" table echo new
  if ! grep -qx new "$page"; then fail "the section is not new: $(<"$page")"; fi

  make_page
  ends 3 put_section "$page" table sh -c 'echo half a table; exit 3'
  keeps "a command that fails"
  ends 3 put_page "$page" sh -c 'echo half a page; exit 3'
  keeps "a command that fails"
  ends 2 put_section "$page" other echo new
  keeps "a section that is not there"
  if ((failures > 0)); then exit 1; fi
}

make_page() {
  printf '%s\n' before '<!-- table:begin -->' old '<!-- table:end -->' after >"$page"
  cp "$page" "$work/original.md"
}

# ends EXIT_CODE FUNCTION ARGUMENT... in a script of its own.
ends() {
  local code=$1 status=0
  bash -euo pipefail -c 'source "$0"; "$@"' "$sections" "${@:2}" >"$work/log" 2>&1 || status=$?
  if ((status != code)); then fail "${*:2} ended with $status, not $code: $(<"$work/log")"; fi
}

# keeps WHAT
keeps() {
  if ! cmp -s "$page" "$work/original.md"; then fail "$1 changed the page: $(<"$page")"; fi
}

fail() {
  echo "FAILED: $1"
  failures=$((failures + 1))
}

main
