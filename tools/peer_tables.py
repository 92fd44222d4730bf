"""The tables of steps and peers, which `compare` prints and the pages show."""

from collections.abc import Sequence

from tools import markdown
from tools.command_line import ELEMENT_TYPES
from tools.results import Result


def peer_tables(results: Sequence[Result], types: Sequence[str] = ELEMENT_TYPES) -> list[str]:
    """A Markdown table for each of these types that there are results of: a row per program, a column per number of
    elements, in each cell GB/s and the share of peer_cub's."""
    sizes = sorted({result.elements for result in results})
    steps = dict.fromkeys(result.step for result in results)
    tables = []
    for element_type in dict.fromkeys(result.type for result in results if result.type in types):
        found = {(result.step, result.elements): result for result in results if result.type == element_type}
        tables.append(markdown.table([element_type, *map(markdown.count_text, sizes)], "l" + "r" * len(sizes), [
            [step, *(cell(found.get((step, size)), found.get(("peer_cub", size))) for size in sizes)]
            for step in steps]))
    return tables


def cell(result: Result | None, cub: Result | None) -> str:
    """"3695.4 (83.5 %)"; a dash where the program was not run or has no such type."""
    if result is None:
        return markdown.DASH
    if not result.verified:
        return "**WRONG**"
    if result.gbps is None:
        return "not timed"
    share = f" ({result.gbps / cub.gbps * 100:.1f} %)" if cub and cub.gbps else ""
    return f"{result.gbps:.1f}{share}"
