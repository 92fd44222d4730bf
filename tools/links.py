"""Links that lead nowhere: in a folder of HTML, and in the repository's Markdown pages."""

import os.path
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from tools.command_line import REPOSITORY
from tools.gpu import said

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
    text = FENCED.sub("", text)
    headings = filter(None, map(HEADING.fullmatch, text.splitlines()))
    used: Counter[str] = Counter()
    without_code = CODE.sub("", text)
    page = Page(without_code)
    page.anchors |= {anchor_of(heading[2], used) for heading in headings}
    page.links += [inline or below for inline, below in LINK.findall(without_code)]
    return page


def anchor_of(heading: str, used: Counter[str]) -> str:
    """GitHub's anchor of a heading; `used` counts those above it on its page."""
    text = re.sub(r"\]\([^)]*\)", "", heading.strip()).lower()
    anchor = "".join(letter for letter in text if letter.isalpha() or letter.isdecimal() or letter in "_ -")
    anchor = anchor.replace(" ", "-")
    used[anchor] += 1
    return anchor if used[anchor] == 1 else f"{anchor}-{used[anchor] - 1}"


def dead_links(pages: dict[str, Page], places: set[str]) -> list[str]:
    """A line for each link of the pages to none of the places, or to no anchor of a page. All are paths in one folder.

    Links to elsewhere, such as https:, are not followed.
    """
    lines = []
    for name, page in sorted(pages.items()):
        for link in dict.fromkeys(page.links):
            path, _, anchor = link.partition("#")
            if link == "#" or re.match(r"[a-z]+:|//", link, re.IGNORECASE):
                continue
            place = os.path.normpath(os.path.join(os.path.dirname(name), unquote(path))) if path else name
            # GitHub shows the README.md of a folder.
            target = pages.get(place) or pages.get(f"{place}/README.md")
            if place not in places or anchor and (target is None or unquote(anchor) not in target.anchors):
                lines.append(f"{name}: dead link {link}")
    return lines


def dead_links_of_pages(repository: Path = REPOSITORY) -> list[str]:
    """The dead links of the repository's Markdown pages, a line each."""
    # What is not committed yet belongs to it, too; what git ignores does not. In a copy without git, that is build*.
    listed = said("git", "-C", str(repository), "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    files = map(repository.joinpath, filter(None, listed.split("\0"))) if listed else repository.rglob("*")
    names = {str(file.relative_to(repository)) for file in files if file.is_file()}
    names = {name for name in names if not name.startswith("build")}
    pages = {name: markdown_page((repository / name).read_text("utf-8")) for name in names if name.endswith(".md")}
    return dead_links(pages, names | {str(folder) for name in names for folder in Path(name).parents})
