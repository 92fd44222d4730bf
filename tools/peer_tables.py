"""The table of steps and peers, which `compare` prints and the pages show."""

from collections.abc import Iterable, Sequence

from tools import markdown
from tools.results import Result


def types_of(results: Iterable[Result]) -> list[str]:
    """The element types of the results, each once, in the order in which they come first."""
    return list(dict.fromkeys(result.type for result in results))


def peer_table(results: Sequence[Result], element_type: str) -> str:
    """The results of one type as a Markdown table: a row per program, a column per number of elements, in each cell
    GB/s and the share of peer_cub's."""
    # Of results that were measured twice, the first.
    found = {(result.step, result.elements): result for result in reversed(results) if result.type == element_type}
    sizes = sorted({result.elements for result in results})
    steps = dict.fromkeys(result.step for result in results)
    return markdown.table(
        [element_type, *map(markdown.count_text, sizes)], "l" + "r" * len(sizes),
        ([step, *(cell(found.get((step, size)), found.get(("peer_cub", size))) for size in sizes)] for step in steps))


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
