#!/usr/bin/env bash
# Checks a folder of HTML: every relative href and src leads to a file in it, every #anchor to an id or name there.
#
#   docs/site/check_links.sh FOLDER
#
# Exit code: 0 none is dead, 1 the dead ones are listed.

set -euo pipefail
program=$(realpath "$(dirname "${BASH_SOURCE[0]}")/links.awk")
cd "$1"

find . -name '*.html' -not -path './mathjax/*' -print0 | xargs -0 awk -f "$program"
