"""The index of the site's search, over the words of its pages: made by lunr in Node, asked by docs/site/search.js."""

import html
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools import output_file
from tools.command_line import REPOSITORY, Failure, read_text

# A block of code, or of a diff.
CODE = re.compile(r"(?sm)^```.*?^```|<pre.*?</pre>")
LUNR = Path("/usr/share/javascript/lunr/lunr.js")
SEARCH = REPOSITORY / "docs/site/search.js"
# What readers ask for, as the pages call it.
SYNONYMS = REPOSITORY / "docs/site/synonyms.json"


def sections(page: str, weight: float, text: str) -> Iterator[dict[str, Any]]:
    """What stands below each heading of a page for Doxygen, and the link that leads there."""
    text = re.sub(r"(?s)<nav.*?</nav>|<!--.*?-->|@(end)?htmlonly(\[block\])?|^@anchor \S+\n\n(?!#)", " ", text)
    lead, *rest = re.split(r"(?m)^@anchor (\S+)\n\n#+ (.*)\n", text)
    title, _, lead = lead.partition("\n")
    title = plain(re.sub(r"^# | \{#\w+\}$", "", title))
    for anchor, heading, body in [("", title, lead), *zip(rest[::3], rest[1::3], rest[2::3])]:
        prose = CODE.sub(" ", body)
        yield {"page": page, "link": f"{page}#{anchor}" if anchor else page, "title": title, "heading": plain(heading),
               "weight": weight,
               # Prose first, as the excerpt is from the first of equal places.
               "text": plain(f"{prose} {' '.join(CODE.findall(body))}"),
               # What stands out of the text: most paragraphs begin with what they say.
               "bold": plain(" ".join(re.findall(r"(?s)\*\*(.+?)\*\*", prose))),
               "links": sorted(set(re.findall(r"\]\((\w+\.html)#", body)) - {page})}


def plain(text: str) -> str:
    """Without the marks of Markdown and HTML. A picture has its words, too."""
    text = html.unescape(re.sub(r"</?[a-z][^>\n]*>", "", text))
    for mark, left in ((r"!?\[([^][]*)\]\([^)]*\)", r"\1"), (r"(\*+)(\S[^*]*?)\1", r"\2"), (r"```\w*|`", ""),
                       (r"(?m)^ *(- |\d+\. |\|[:|-]+$)", ""), (r"\|", " ")):
        text = re.sub(mark, left, text)
    return " ".join(text.split())


def make(site: Path, pages: dict[str, float]) -> None:
    """Writes SITE/search_index.js, from the site's pages by their labels, each with its weight. Throws Failure."""
    found = [section for label, weight in pages.items() for section in sections(
        f"{label}.html", weight, read_text(site.parent / f"pages/{label}.md"))]
    code = f"""
        const lunr = require({json.dumps(str(LUNR))});
        const sections = JSON.parse(require("fs").readFileSync(0));
        process.stdout.write(JSON.stringify(require({json.dumps(str(SEARCH))}).makeIndex(lunr, sections)));"""
    made = subprocess.run(["node", "-e", code], input=json.dumps(found), encoding="utf-8", stdout=subprocess.PIPE)
    if made.returncode != 0:
        raise Failure(f"Node ended with exit code {made.returncode}; its words are above")
    # The bold words stand in the text, too.
    for section in found:
        del section["bold"]
    data = json.dumps({"sections": found, "synonyms": json.loads(read_text(SYNONYMS))}, ensure_ascii=False,
                      separators=(",", ":"))
    # A script, because a page that is opened from a file may load no JSON.
    output_file.write(site / "search_index.js", f"const SEARCH = {data[:-1]},\"index\":{made.stdout}}};\n")
    shutil.copy(LUNR, site / "lunr.js")
