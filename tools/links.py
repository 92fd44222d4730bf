"""Links that lead nowhere: in a folder of HTML, and in the repository's Markdown pages."""

import os.path
import re
from collections import Counter
from collections.abc import Callable, Iterable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from tools.command_line import read_text

HEADING = re.compile(r" {0,3}(#{1,6}) +(.*)")
FENCED = re.compile(r"^ *(```+|~~~+).*?(^ *\1|\Z)|<!--.*?-->", re.MULTILINE | re.DOTALL)
# It may go on in the next line, but not in the next paragraph.
CODE = re.compile(r"(?<!`)(`+)(?!`)(?:[^\n]|\n(?!\s*\n))+?(?<!`)\1(?!`)")
# [text](target "title"), and [text]: target further down.
LINK = re.compile(r"\]\(\s*([^)\s]+)|^ {0,3}\[[^]^\n][^]\n]*\]:\s*(\S+)", re.MULTILINE)


class Page(HTMLParser):
    """What a page of HTML links to, and the anchors that others may link to."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.links += [value for key, value in attributes if key in ("href", "src") and value]
        self.anchors |= {value for key, value in attributes if (key == "id" or (tag, key) == ("a", "name")) and value}


def markdown_page(text: str) -> Page:
    """The same of a page of Markdown, which may have tags of HTML."""
    text, used = FENCED.sub("", text), Counter[str]()
    headings = filter(None, map(HEADING.fullmatch, text.splitlines()))
    page = Page(CODE.sub("", text))
    page.anchors |= {anchor_of(heading[2], used) for heading in headings}
    page.links += [inline or below for inline, below in LINK.findall(CODE.sub("", text))]
    return page


def anchor_of(heading: str, used: Counter[str]) -> str:
    """GitHub's anchor of a heading; `used` counts those above it on its page."""
    text = re.sub(r"\]\([^)]*\)", "", heading.strip()).lower()
    kept = [letter for letter in text if letter.isalpha() or letter.isdecimal() or letter in "_ -"]
    anchor = "".join(kept).replace(" ", "-")
    used[anchor] += 1
    return anchor if used[anchor] == 1 else f"{anchor}-{used[anchor] - 1}"


def dead_links(folder: Path, files: Iterable[Path], read: Callable[[str], Page]) -> list[str]:
    """A line for each link of these pages of the folder to a file that is not there, or to no anchor of a page.

    Links to elsewhere, such as https:, are not followed.
    """
    pages = {str(file.relative_to(folder)): read(read_text(file)) for file in files}
    lines = []
    for name, page in sorted(pages.items()):
        for link in dict.fromkeys(page.links):
            path, _, anchor = link.partition("#")
            if link == "#" or re.match(r"[a-z]+:|//", link, re.IGNORECASE):
                continue
            place = os.path.normpath(os.path.join(os.path.dirname(name), unquote(path))) if path else name
            # GitHub shows the README.md of a folder.
            target = pages.get(place) or pages.get(f"{place}/README.md")
            if not (folder / place).exists() or anchor and not (target and unquote(anchor) in target.anchors):
                lines.append(f"{name}: dead link {link}")
    return lines


def pages_of(folder: Path) -> list[Path]:
    """The Markdown pages. What is built or hidden has none of them."""
    return sorted(file for file in folder.rglob("*.md") if not str(file.relative_to(folder)).startswith((".", "build")))
