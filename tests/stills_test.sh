#!/usr/bin/env bash
# The committed traces are those of the kernels, the pictures those of the traces, and every picture is on a page.
#
#   tests/stills_test.sh SOURCE_FOLDER PROGRAMS COMPILER_ID

set -euo pipefail
source_folder=$1 programs=$2 compiler=$3

if ! command -v node >/dev/null; then
  echo "skipped: there is no node here"
  exit 77
fi
if [[ $compiler != GNU ]]; then
  echo "skipped: the committed traces are of kernels that GCC has compiled, not $compiler"
  exit 77
fi

cd "$source_folder"
node docs/stills/draw_stills.js --check --bin "$programs"

status=0
for picture in docs/stills/*.svg; do
  if ! grep -rqF --include='*.md' "stills/${picture##*/})" .; then
    echo "$picture is on no page"
    status=1
  fi
done
for page in 0[0-7]_*/README.md beyond/{08,09,10,11}_*/README.md beyond/atomics/*/README.md docs/pitfalls/[a-z]*.md; do
  name=$(basename "$(dirname "$page")")
  if [[ $page == docs/pitfalls/* ]]; then name=$(basename "$page" .md); fi
  if ! grep -qF "stills/$name.svg)" "$page"; then
    echo "$page has no picture"
    status=1
  fi
done
exit "$status"
