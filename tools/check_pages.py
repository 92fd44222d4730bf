"""Names what is stale on the pages: generated parts that are not as `write-pages` makes them, and plots that are not of
the committed results. Nothing is changed. `site` finds links that lead nowhere.

What differs from compiler to compiler is held by the repository's tests instead: the findings of the pitfalls, and the
traces behind the pictures of docs/stills.

Exit code: 0 nothing is, 1 what is stale is listed, 2 bad usage or a file that does not fit, 3 a program that fails.
"""

from tools import plot, write_pages
from tools.command_line import ExitCode, Parser
from tools.programs import Programs


def main(words: list[str]) -> int:
    parser = Parser("check-pages", __doc__)
    parser.add_bin()
    parts, differences = write_pages.generated(Programs(parser.parse_args(words).bin))
    stale = write_pages.stale_texts(parts) | plot.stale()
    lines = [*(f"{file} is stale: run python3 -m tools write-pages" for file in stale), *differences]
    print(*lines, sep="\n", end="\n" if lines else "")
    return ExitCode.WRONG if lines else ExitCode.DONE
