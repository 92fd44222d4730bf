#!/usr/bin/env bash
# The explorer's tests: explorer_test.sh modules (under Node), explorer_test.sh page (in Chromium). Skipped with 77 where
# what they run in is not installed.

set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

main() {
  case ${1-} in
    modules) modules ;;
    page) shift && page "$@" ;;
    *)
      echo "usage: $0 modules | page [OPTION]..." >&2
      exit 2
      ;;
  esac
}

modules() {
  local version major
  command -v node >/dev/null || skip "there is no node here"
  version=$(node --version)
  major=${version#v}
  [[ ${major%%.*} -ge 18 ]] || skip "node is $version, and the tests need v18 or later"
  exec node --test "$here/explorer.test.js"
}

page() {
  local python
  # Debian's python3-selenium is a module of Debian's own Python.
  for python in /usr/bin/python3 python3; do
    if command -v "$python" >/dev/null && "$python" -c "import selenium" 2>/dev/null; then
      exec "$python" "$here/browser_test.py" "$@"
    fi
  done
  skip "there is no Selenium here (python3-selenium)"
}

skip() {
  echo "skipped: $1"
  exit 77
}

main "$@"
