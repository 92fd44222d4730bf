# From a Markdown page of the repository to one for Doxygen:
#
#   awk -v label=LABEL -f page.awk LINKS PAGE
#
# LINKS has a line for each link in PAGE: as it stands there, a tab, and where the site has it.

function slug(heading) {
  heading = tolower(heading)
  gsub(/[^a-z0-9 _-]/, "", heading)
  gsub(/ /, "-", heading)
  return heading
}

function escaped(text) {
  gsub(/&/, "\\&amp;", text)
  gsub(/</, "\\&lt;", text)
  gsub(/>/, "\\&gt;", text)
  return text
}

# The line with its links led to the site; GitHub's anchors have the label of their page in front.
function linked(line,    done, link, anchor, hash) {
  done = ""
  while (match(line, /\]\([^) ]+/)) {
    link = substr(line, RSTART + 2, RLENGTH - 2)
    done = done substr(line, 1, RSTART + 1)
    line = substr(line, RSTART + RLENGTH)
    anchor = ""
    hash = index(link, "#")
    if (hash > 0 && link !~ /:\/\//) {
      anchor = substr(link, hash + 1)
      link = substr(link, 1, hash - 1)
    }
    if (link in target) link = target[link]
    if (anchor != "") {
      if (link == "") link = label ".html"
      anchor = "#" substr(link, 1, index(link, ".html") - 1) "_" anchor
    }
    done = done link anchor
  }
  return done line
}

# GitHub's formulas, $...$ and $$...$$, as Doxygen's. Code between backticks has dollars of its own.
function with_formulas(line,    parts, count, k, done, formula) {
  count = split(line, parts, "`")
  for (k = 1; k <= count; k += 2) {
    done = ""
    while (match(parts[k], /\$\$[^$]+\$\$|\$[^$ ]([^$]*[^$ ])?\$/)) {
      formula = substr(parts[k], RSTART, RLENGTH)
      if (formula ~ /^\$\$/) formula = "\\f[" substr(formula, 3, RLENGTH - 4) "\\f]"
      else formula = "\\f$" substr(formula, 2, RLENGTH - 2) "\\f$"
      done = done substr(parts[k], 1, RSTART - 1) formula
      parts[k] = substr(parts[k], RSTART + RLENGTH)
    }
    parts[k] = done parts[k]
  }
  line = parts[1]
  for (k = 2; k <= count; ++k) line = line "`" parts[k]
  return line
}

FILENAME == "-" {
  split($0, pair, "\t")
  target[pair[1]] = pair[2]
  next
}

/^```diff/ { in_diff = 1; print "@htmlonly[block]"; printf "<pre class=\"fragment diff\">"; next }
in_diff && /^```/ { in_diff = 0; print "</pre>"; print "@endhtmlonly"; next }
in_diff {
  kind = /^@@/ || /^---/ || /^\+\+\+/ ? "place" : /^\+/ ? "added" : /^-/ ? "removed" : "same"
  print "<span class=\"" kind "\">" escaped($0) "</span>"
  next
}

/^```math/ || (/^\$\$$/ && !in_code && !in_formula) { in_formula = 1; print "\\f["; next }
in_formula && /^(```|\$\$)$/ { in_formula = 0; print "\\f]"; next }
in_formula { print; next }

/^```/ { in_code = !in_code }
in_code { print; next }

# What GitHub folds. Doxygen would close the tags at the end of each paragraph, so they pass it by.
/^<details>$/ { print "@htmlonly[block]"; print; next }
/^<summary>.*<\/summary>$/ { print; print "@endhtmlonly"; next }
/^<\/details>$/ { print "@htmlonly[block]"; print; print "@endhtmlonly"; next }

/^# / && !titled { titled = 1; print linked($0) (label == "index" ? "" : " {#" label "}"); next }
/^##+ / {
  heading = $0
  sub(/^#+ /, "", heading)
  anchor = slug(heading)
  if (seen[anchor]++) anchor = anchor "-" (seen[anchor] - 1)
  print "@anchor " label "_" anchor "\n\n" linked($0)
  next
}
{ print with_formulas(linked($0)) }
