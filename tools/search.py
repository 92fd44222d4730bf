"""The index of the site's search, over the words of its pages: made by lunr in Node, asked by docs/site/search.js."""

import json
import re
import shutil
import subprocess
from dataclasses import asdict, dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from textwrap import shorten

from tools import output_file
from tools.command_line import REPOSITORY, Failure, read_text

LUNR = Path("/usr/share/javascript/lunr/lunr.js")
SEARCH = REPOSITORY / "docs/site/search.js"
# As many letters of a section stand below its link.
EXCERPT = 160


def installed() -> bool:
    return LUNR.is_file() and shutil.which("node") is not None


@dataclass
class Section:
    """What stands below a heading of a page, and the link that leads there."""

    page: str
    link: str
    title: str
    heading: str
    weight: float
    text: str = ""
    # The text without its code.
    prose: str = ""
    # What stands out of the text: most paragraphs begin with what they say.
    bold: str = ""
    links: list[str] = field(default_factory=list)


class Sections(HTMLParser):
    """The sections of a page that Doxygen has made: a heading below an anchor begins one."""

    def __init__(self, page: str, weight: float, html: str) -> None:
        super().__init__()
        self.page, self.weight, self.title, self.anchor = page, weight, "", ""
        self.found: list[Section] = []
        # The tags that are open since the title, the contents, a heading, or what is not to be found has begun.
        self.inside: list[tuple[str, str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        of = {key: value or "" for key, value in attributes}
        kind = "skipped" if tag in ("nav", "script") or of.get("class", "").startswith("toc") else \
            "heading" if re.fullmatch("h[1-6]", tag) and self.anchor else \
            {"title": "title", "contents": "contents"}.get(of.get("class", ""), "")
        if self.inside and self.inside[-1][1] == "contents":
            kind = "bold" if tag == "b" else "code" if "fragment" in of.get("class", "") else kind
        if tag == "a" and of.get("class") == "anchor":
            self.anchor = of["id"]
        if kind == "contents":
            self.found.append(Section(self.page, self.page, self.title.strip(), self.title.strip(), self.weight))
        elif kind == "heading":
            self.found.append(Section(self.page, f"{self.page}#{self.anchor}", self.title.strip(), "", self.weight))
        if self.inside and self.inside[-1][1] in ("contents", "bold", "code"):
            # A picture has its words, too.
            self.found[-1].text += f" {of['alt']} " if "alt" in of else ""
            self.found[-1].links += [of["href"].partition("#")[0]] if ".html#" in of.get("href", "") else []
        if kind or self.inside and tag == self.inside[-1][0]:
            self.inside.append((tag, kind or self.inside[-1][1]))

    def handle_endtag(self, tag: str) -> None:
        if self.inside and tag == self.inside[-1][0]:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        kind = self.inside[-1][1] if self.inside else ""
        if kind == "title":
            self.title += data
        elif kind == "heading":
            self.found[-1].heading += data
            self.anchor = ""
        elif kind in ("contents", "bold", "code"):
            self.found[-1].text += data
            self.found[-1].prose += data if kind != "code" else ""
            self.found[-1].bold += f" {data} " if kind == "bold" else ""
            # An anchor that something else than a heading follows leads to that.
            self.anchor = "" if data.strip() else self.anchor


def make(site: Path, pages: dict[str, float]) -> None:
    """Writes SITE/search_index.js, from these HTML files of the site, each with its weight. Throws Failure."""
    sections = [asdict(section) for page, weight in pages.items()
                for section in Sections(page, weight, read_text(site / page)).found]
    for section in sections:
        section["text"] = " ".join(section["text"].split())
        section["links"] = sorted({link for link in section["links"] if link in pages and link != section["page"]})
    code = f"""
        const lunr = require({json.dumps(str(LUNR))});
        const sections = JSON.parse(require("fs").readFileSync(0));
        process.stdout.write(JSON.stringify(require({json.dumps(str(SEARCH))}).makeIndex(lunr, sections)));"""
    made = subprocess.run(["node", "-e", code], input=json.dumps(sections), encoding="utf-8", stdout=subprocess.PIPE)
    if made.returncode != 0:
        raise Failure(f"Node ended with exit code {made.returncode}; its words are above")
    # A page shows no more of a section than this.
    shown = [{**{key: section[key] for key in ("page", "link", "title", "heading", "weight", "links")},
              "text": shorten(section["prose"] or section["text"], EXCERPT, placeholder=" …")} for section in sections]
    data = json.dumps({"sections": shown}, ensure_ascii=False, separators=(",", ":"))
    # A script, because a page that is opened from a file may load no JSON.
    output_file.write(site / "search_index.js", f"const SEARCH = {data[:-1]},\"index\":{made.stdout}}};\n")
    shutil.copy(LUNR, site / "lunr.js")
