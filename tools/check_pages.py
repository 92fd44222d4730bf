"""Names what is stale on the pages: generated parts that are not as `write-pages` makes them, plots that are not of the
committed results, and links that lead nowhere. Nothing is changed.

What differs from compiler to compiler is held by the repository's tests instead: the findings of the pitfalls, and the
traces behind the pictures of docs/stills.

Exit code: 0 nothing is, 1 what is stale is listed, 2 bad usage or a file that does not fit, 3 a program that fails.
"""

from pathlib import Path

from tools import counters, links, plot, write_pages
from tools.command_line import REPOSITORY, ExitCode, NotPossible, Parser, say
from tools.programs import Programs
from tools.write_pages import Part


def main(words: list[str]) -> int:
    parser = Parser("check-pages", __doc__)
    parser.add_bin()
    programs = Programs(parser.parse_args(words).bin)
    write_pages.require_programs(programs)
    stale = stale_parts(programs) + stale_plots() + links.dead_links_of_pages()
    for line in stale:
        print(line)
    return ExitCode.WRONG if stale else ExitCode.DONE


def stale_parts(programs: Programs) -> list[str]:
    if write_pages.stale_figures():
        return [f"{write_pages.FIGURES} is stale: run python3 -m tools write-pages"]
    counted, differences = counters.tables(programs)
    parts = [*write_pages.generated(programs), Part(Path("docs/counters/README.md"), "counters", counted)]
    return [f"{part.file} is stale{part.section and f' in its section {part.section!r}' or ''}: "
            "run python3 -m tools write-pages" for part in parts if write_pages.stale_texts([part])] + differences


def stale_plots() -> list[str]:
    lines = []
    for folder, cards in plot.committed().items():
        try:
            lines += [f"{file.relative_to(REPOSITORY)} is stale: run python3 -m tools write-pages"
                      for file in plot.stale(folder, cards)]
        except NotPossible as reason:
            say(f"not checked: {reason}")
    return lines
