#!/usr/bin/env bash
# Makes the HTML site from the repository's Markdown pages and the comments in its headers, then checks its links.
#
#   docs/build_site.sh [FOLDER]
#
# The site is FOLDER/site/index.html; FOLDER is build-docs by default. `cmake --build --preset docs` calls this, too.
# Exit code: 0 done, 1 a warning of Doxygen or a dead link, 2 bad usage, 3 something is not installed.

set -euo pipefail
given_folder=${1-$(dirname "${BASH_SOURCE[0]}")/../build-docs}
folder=$(realpath -m -- "${given_folder:-.}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly bad_usage=2 not_possible=3
# A theme and a formula renderer from the distribution: nothing is fetched, and the site works without a network.
readonly theme=/usr/share/doxygen-awesome-css
readonly mathjax=/usr/share/javascript/mathjax

main() {
  local page
  if (($# > 1)) || [[ -z $given_folder || $given_folder == -* ]]; then
    fail "$bad_usage" "usage: docs/build_site.sh [FOLDER]"
  fi
  require_own_folders
  require_packages
  rm -rf "$folder/site" "$folder/pages"
  mkdir -p "$folder/site" "$folder/pages"
  mapfile -t pages < <(pages_in_order)
  for page in "${pages[@]}"; do convert "$page"; done
  navigation >"$folder/layout.xml"
  copy_mathjax
  { cat docs/site/Doxyfile && echo "INPUT += \"$folder/pages\""; } | SITE_FOLDER=$folder SITE_THEME=$theme doxygen -
  drop_empty_summaries
  docs/site/check_links.sh "$folder/site"
  echo "The site: $folder/site/index.html"
}

# fail EXIT_CODE LINE...
fail() {
  printf '%s\n' "${0##*/}: error: $2" "${@:3}" >&2
  exit "$1"
}

# The two folders are made afresh: they must not be somebody else's, such as docs/site.
require_own_folders() {
  local own
  for own in "$folder/site" "$folder/pages"; do
    if [[ -e $own && ! -f $folder/pages/index.md ]]; then
      fail "$bad_usage" "'$own' is not from this script, which would replace it: name another folder"
    fi
  done
}

require_packages() {
  if command -v doxygen >/dev/null && [[ -d $theme && -d $mathjax ]]; then return; fi
  fail "$not_possible" "the site takes Doxygen, doxygen-awesome-css and MathJax 2. On Debian and Ubuntu:" \
    "  sudo apt install --no-install-recommends doxygen doxygen-awesome-css libjs-mathjax"
}

# The navigation has them in this order.
pages_in_order() {
  local page
  for page in README.md [0-9][0-9]_*/README.md beyond/README.md beyond/[0-9]*/README.md beyond/*/README.md \
    beyond/*/*/README.md common/README.md common/device/emulated/README.md docs/README.md docs/*.md docs/*/README.md \
    docs/results/*/README.md docs/pitfalls/*.md; do
    if [[ -f $page ]]; then echo "$page"; fi
  done | awk '!seen[$0]++'
}

# The name of a page's HTML file, without its ending.
label() {
  local name=${1%.md}
  name=${name%/README}
  if [[ $name == README ]]; then name=index; fi
  if [[ $name == docs ]]; then name=docs_map; fi
  tr -c 'a-zA-Z0-9_\n' _ <<<"$name" | sed 's/^[0-9]/step_&/'
}

# Doxygen keeps all HTML in one folder and knows neither GitHub's anchors nor diffs.
convert() {
  local page=$1 link path
  local -A target=()
  # Links in code are taken along; they do no harm.
  while IFS= read -r link; do
    if [[ -z $link || $link == *://* || $link == mailto:* ]]; then continue; fi
    path=$(realpath -m --relative-to=. "$(dirname "$page")/$link")
    if [[ ! -e $path ]]; then continue; fi
    target[$link]=$(html_of "$path")
  done < <(grep -oE '\]\([^)# ]+' "$page" | cut -c3- | sort -u)
  for link in "${!target[@]}"; do printf '%s\t%s\n' "$link" "${target[$link]}"; done |
    LC_ALL=C awk -v label="$(label "$page")" -f docs/site/page.awk - "$page" >"$folder/pages/$(label "$page").md"
}

# html_of PATH prints where the site has it: a page, or a copy of the file or list of the folder.
html_of() {
  local path=$1 file
  if [[ -d $path && -f $path/README.md ]]; then path+=/README.md; fi
  if [[ " ${pages[*]} " == *" $path "* ]]; then
    echo "$(label "$path").html"
  elif [[ -d $path ]]; then
    mkdir -p "$folder/site/source"
    {
      echo "<!DOCTYPE html><meta charset=utf-8><title>$path</title><h1>$path</h1><ul>"
      for file in "$path"/*; do
        if [[ -f $file ]]; then echo "<li><a href=\"../$(html_of "$file")\">${file##*/}</a></li>"; fi
      done
      echo "</ul>"
    } >"$folder/site/source/${path//\//_}.html"
    echo "source/${path//\//_}.html"
  else
    file=source/$path
    # Browsers show a text and save what they do not know.
    if [[ ! $path =~ \.(svg|png|txt)$ ]]; then file+=.txt; fi
    mkdir -p "$folder/site/$(dirname "$file")"
    cp "$path" "$folder/site/$file"
    echo "$file"
  fi
}

navigation() {
  local page group=''
  echo '<doxygenlayout version="1.0"><navindex>'
  echo '<tab type="mainpage" visible="yes" title="Overview"/>'
  for page in "${pages[@]:1}"; do
    case $page in
      docs/pitfalls/README.md)
        pitfalls_page=$page
        continue
        ;;
      docs/pitfalls/*)
        if [[ -z $group ]]; then
          group=pitfalls
          echo "<tab type=\"usergroup\" visible=\"yes\" url=\"$(html_of "$pitfalls_page")\" title=\"Pitfalls\">"
        fi
        ;;
    esac
    echo "<tab type=\"user\" visible=\"yes\" url=\"$(html_of "$page")\" title=\"$(title "$page")\"/>"
  done
  if [[ -n $group ]]; then echo '</tab>'; fi
  echo '<tab type="usergroup" visible="yes" title="Programming interface">'
  echo '<tab type="namespacelist" visible="yes" title="Namespaces"/>'
  echo '<tab type="classlist" visible="yes" title="Types"/>'
  echo '<tab type="filelist" visible="yes" title="Files"/>'
  echo '</tab></navindex></doxygenlayout>'
}

title() { sed -n 's/^# //p;T;q' "$1" | sed 's/&/\&amp;/g; s/</\&lt;/g; s/"/\&quot;/g; s/`//g'; }

# The part of MathJax that draws TeX as SVG.
copy_mathjax() {
  local part
  for part in MathJax.js extensions jax/element jax/input/TeX jax/output/SVG/{config.js,jax.js,autoload,fonts/TeX}; do
    if [[ ! -e $mathjax/$part ]]; then continue; fi
    mkdir -p "$folder/site/mathjax/$(dirname "$part")"
    cp -rL "$mathjax/$part" "$folder/site/mathjax/$part"
  done
}

# Where all nested classes are private, Doxygen 1.9 links to a list that it leaves out.
drop_empty_summaries() {
  grep -lZ 'href="#nested-classes"' "$folder"/site/*.html | xargs -0 grep -LZ 'name="nested-classes"' |
    xargs -0 --no-run-if-empty sed -i 's|<a href="#nested-classes">Classes</a> *&#124; *||'
}

main "$@"
