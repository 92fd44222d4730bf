# Lists the dead links of the HTML files it is given, run in their folder (check_links.sh).
# First every anchor, then every link.
{
  line = $0
  while (match(line, /[ "](id|name)="[^"]*"/)) {
    text = substr(line, RSTART, RLENGTH)
    sub(/^.[a-z]*="/, "", text)
    anchors[FILENAME "#" substr(text, 1, length(text) - 1)] = 1
    line = substr(line, RSTART + RLENGTH - 1)
  }
  line = $0
  while (match(line, /(href|src)="[^"]*"/)) {
    text = substr(line, RSTART, RLENGTH)
    line = substr(line, RSTART + RLENGTH)
    sub(/^[a-z]*="/, "", text)
    text = substr(text, 1, length(text) - 1)
    if (text ~ /^([a-z]+:|\/\/)/ || text == "" || text == "#") continue
    links[FILENAME "\t" text] = 1
  }
}
END {
  for (entry in links) {
    split(entry, part, "\t")
    hash = index(part[2], "#")
    path = hash ? substr(part[2], 1, hash - 1) : part[2]
    folder = part[1]
    sub(/[^\/]*$/, "", folder)
    file = path == "" ? part[1] : folder path
    while (sub(/[^\/.]+\/\.\.\//, "", file)) {}
    if (!(file in exists)) exists[file] = system("test -e \"" file "\"") == 0
    total++
    if (!exists[file] || (hash && !((file "#" substr(part[2], hash + 1)) in anchors))) {
      print part[1] ": dead link " part[2]
      dead++
    }
  }
  print total + 0 " links, " dead + 0 " dead"
  exit dead > 0 || total == 0
}
