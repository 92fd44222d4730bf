"""Links of HTML pages that lead nowhere."""

import os.path
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from tools.command_line import read_text


class Page(HTMLParser):
    """What a page links to, and the anchors that others may link to."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.links += [value for key, value in attributes if key in ("href", "src") and value]
        self.anchors |= {value for key, value in attributes if (key == "id" or (tag, key) == ("a", "name")) and value}


def dead_links(folder: Path) -> list[str]:
    """A line for each link of the folder's pages to a file that is not there, or to no anchor of a page.

    Links to elsewhere, such as https:, are not followed.
    """
    pages = {str(file.relative_to(folder)): Page(read_text(file)) for file in folder.rglob("*.html")}
    lines = []
    for name, page in sorted(pages.items()):
        for link in dict.fromkeys(page.links):
            path, _, anchor = link.partition("#")
            if link == "#" or re.match(r"[a-z]+:|//", link, re.IGNORECASE):
                continue
            place = os.path.normpath(os.path.join(os.path.dirname(name), unquote(path))) if path else name
            if not (folder / place).exists() or anchor and not (
                    place in pages and unquote(anchor) in pages[place].anchors):
                lines.append(f"{name}: dead link {link}")
    return lines
