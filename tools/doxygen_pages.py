"""From a page of Markdown for GitHub to one for Doxygen, which knows neither GitHub's anchors nor diffs."""

import html
import re
from collections.abc import Callable

from tools.markdown import MARK

HEADING = re.compile(r" {0,3}(#{1,6}) +(.*)")
# A block between fences, or a line.
PIECE = re.compile(r"^```(.*)\n((?:.*\n)*?)```.*\n|^(.*)\n", re.MULTILINE)


def converted(text: str, name: str, place: Callable[[str], str]) -> str:
    """The page with the label `name` for Doxygen. `place` says where the site has what a link leads to."""

    def piece(match: re.Match[str]) -> str:
        kind, block, line = match.groups()
        if kind == "diff":
            lines = "".join(map(diff_line, block.splitlines()))
            return f'@htmlonly[block]\n<pre class="fragment diff">{lines}</pre>\n@endhtmlonly\n'
        if kind is not None:
            return match[0]
        # What GitHub folds. Doxygen would close the tags at the end of each paragraph, so they pass it by.
        if re.fullmatch(r"</?details>|<summary>.*</summary>", line):
            begin, end = line.endswith("details>"), line != "<details>"
            return "@htmlonly[block]\n" * begin + f"{line}\n" + "@endhtmlonly\n" * end
        heading, line = HEADING.fullmatch(line), linked(line, name, place)
        if not heading:
            return f"{line}\n"
        if heading[1] == "#":
            return line + ("\n" if name == "index" else f" {{#{name}}}\n")
        return f"@anchor {name}_{anchor_of(heading[2])}\n\n{line}\n"

    # Behind a comment Doxygen leaves out a space.
    return PIECE.sub(piece, MARK.sub("", text.rstrip("\n") + "\n"))


def anchor_of(heading: str) -> str:
    """GitHub's anchor of a heading, which has no link and of which a page has one: Doxygen refuses a second."""
    text = heading.strip().lower()
    kept = [letter for letter in text if letter.isalpha() or letter.isdecimal() or letter in "_ -"]
    return "".join(kept).replace(" ", "-")


def diff_line(line: str) -> str:
    kind = "place" if line.startswith(("@@", "---", "+++")) else {"+": "added", "-": "removed"}.get(line[:1], "same")
    return f'<span class="{kind}">{html.escape(line, quote=False)}</span>\n'


def linked(line: str, name: str, place: Callable[[str], str]) -> str:
    """The line with its links led to the site; GitHub's anchors have the label of their page in front."""

    def led(match: re.Match[str]) -> str:
        link, _, anchor = match[1].partition("#")
        if "://" in match[1]:
            return match[0]
        target = place(link) if link else f"{name}.html"
        return f"]({target}" + (f"#{target.removesuffix('.html')}_{anchor}" if anchor else "")

    return re.sub(r"\]\(([^) ]+)", led, line)
