"""Markdown: tables, numbers in them, and the generated sections of pages."""

import re
from collections.abc import Iterable, Sequence

from tools.command_line import BadUsage

DASH = "–"
# Round a figure in a sentence.
MARK = re.compile(r"<!-- /?\w+ -->")


def table(names: Sequence[str], rows: Iterable[Sequence[object]], alignments: str = "") -> str:
    """A table whose columns are aligned as `alignments` says, a letter each: l, or r as all are but the first. A cell
    that is None is a dash; without rows there is no table."""
    rows = list(rows)
    if not rows:
        return ""
    ends = {"l": ":--|", "r": "--:|"}
    lines = ["|" + "".join(f" {name} |" if name else " |" for name in names),
             "|" + "".join(ends[letter] for letter in alignments or "l" + "r" * (len(names) - 1))]
    lines += ["| " + " | ".join(DASH if cell is None else str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def count_text(count: int) -> str:
    """2^20 for a power of two from 1024 on, else all digits."""
    return f"2^{count.bit_length() - 1}" if count >= 1024 and count & (count - 1) == 0 else str(count)


def fixed(number: float | None, digits: int) -> str | None:
    return None if number is None else f"{number:.{digits}f}"


def code(language: str, text: str) -> str:
    """A fenced block."""
    return f"```{language}\n{text.rstrip(chr(10))}\n```\n"


def has_section(page: str, name: str) -> bool:
    """Or one half of it, which with_section() refuses."""
    return f"<!-- {name}:" in page


def with_section(page: str, name: str, text: str) -> str:
    """The page with `text` between the lines <!-- name:begin --> and <!-- name:end -->, or, in the midst of lines,
    between each <!-- name --> and <!-- /name -->.

    Throws BadUsage where the two lines do not stand there once each, in this order.
    """
    inline = re.compile(rf"(<!-- {name} -->)[^<\n]*(<!-- /{name} -->)")
    if inline.search(page):
        return inline.sub(rf"\g<1>{text}\g<2>", page)
    begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->\n"
    new = "\n".join([begin.rstrip(), text.rstrip("\n"), end])
    page, count = re.subn(f"(?ms)^{begin}.*?^{end}", lambda _: new, page)
    if count != 1:
        raise BadUsage(f"the marks {name}:begin and {name}:end have to stand once each, in this order")
    return page
