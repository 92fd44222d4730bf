"""What the sweeps of the cards show: the tables of docs/studies.md and small_inputs.md, and the README's of two cards.

Where a cell has one figure for each card, they stand in the order of CARDS: H200 · H100.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from tools import bandwidth, documented_tables, pages, results
from tools.command_line import ELEMENT_TYPES
from tools.markdown import count_text, fixed, table
from tools.results import CARDS, H100, Result

# The files of the sweeps, and the key of a result that was swept over.
BY_BLOCK, BY_SIZE, BY_TYPE = ("sweep_block", "block"), ("sweep_size", "elements"), ("sweep_type", "type")
BLOCKS = (32, 64, 128, 256, 512, 1024)
BYTES = {name: int(name.lstrip(ascii_lowercase)) // 8 for name in ELEMENT_TYPES}
BLOG = "2025_blog_rtx3090"
# A doubling of the elements that takes so many times as long counts as linear.
LINEAR = 1.9

Sweep = dict[Any, Result]  # of a step, by what was swept over


def short(card: Path) -> str:
    """H100 of "NVIDIA H100 80GB HBM3"."""
    return results.measured(card).gpu.removeprefix("NVIDIA ").split()[0]


def with_growing_grid(step: str) -> bool:
    """01 to 06: the larger the input, the more blocks."""
    return "01" <= step < "07"


def swept(name: str, key: str) -> list[dict[str, Sweep]]:
    """On each card, of each step; what chooses its blocks by itself is in no sweep over these."""
    cards: list[dict[str, Sweep]] = [{} for _ in CARDS]
    for card, found in zip(CARDS, cards):
        for result in results.read(card, name):
            if (value := getattr(result, key)) is not None:
                found.setdefault(result.step, {})[value] = result
    return cards


def of_both(title: str, by: tuple[str, str], columns: dict[str, Any], cell: Callable[[Sweep, Any], str],
            chosen: Callable[[str], bool] = bool) -> str:
    """A row per step, and in each cell what `cell` makes of the step's sweep on either card and of the column."""
    def both(texts: Iterable[str]) -> str:
        return "\u00a0·\u00a0".join(texts)

    sweeps = swept(*by)
    return table([f"{both(map(short, CARDS))}:{title}", *columns], [
        [step, *(both(cell(sweep[step], column) for sweep in sweeps) for column in columns.values())]
        for step in filter(chosen, sweeps[0])])


# ---- two cards ----


def ladder() -> str:
    """Each step on each card, and how many times as fast the first card is."""
    ladders = [{result.step: result for result in results.read(card, "ladder")} for card in CARDS]
    rows, before = [], ""
    for step in ladders[0]:
        row: list[str | None] = [step]
        for found in ladders:
            # Neither the CPU nor a library is a step to compare with.
            gain = found[step].bandwidth / found[before].bandwidth if before and step[0].isdigit() else None
            row += [fixed(found[step].bandwidth, 1), fixed(found[step].percent_of_peak, 1), fixed(gain, 2)]
        first, second = (found[step] for found in ladders)
        rows.append([*row, fixed(first.bandwidth / second.bandwidth if first.on_gpu else None, 2)])
        before = step if ladders[0][step].on_gpu else ""
    columns = (name for card in CARDS for name in (f"{short(card)}: GB/s", "% of peak", "× previous"))
    return table(["step", *columns, " / ".join(map(short, CARDS))], rows)


def apart() -> str:
    ladders = [{result.step: result.bandwidth for result in results.read(card, "ladder") if result.on_gpu}
               for card in CARDS]
    ratios = {step: gbps / ladders[1][step] for step, gbps in ladders[0].items()}
    furthest = max(abs(ratio - 1) for step, ratio in ratios.items() if with_growing_grid(step))
    late = [ratio for step, ratio in ratios.items() if not with_growing_grid(step)]
    first, second = map(short, CARDS)
    of_memory = bandwidth.peak(CARDS[0]) / bandwidth.peak(CARDS[1])
    return (f"From 01 to 06 the two are at most {100 * furthest:.1f} % apart. From 07 on the {first} is "
            f"{min(late):.2f} to {max(late):.2f} times as fast as the {second}; its memory is {of_memory:.2f} times as "
            "fast.\n")


def provenance() -> str:
    return "\n".join(map(pages.provenance, CARDS))


# ---- the sweeps ----


def block_size() -> str:
    """The share of a step's own best that each block size gives."""
    return of_both(
        " % of the best, with threads per block", BY_BLOCK, {str(block): block for block in BLOCKS},
        lambda sweep, block: f"{100 * sweep[block].bandwidth / max(one.bandwidth for one in sweep.values()):.0f}")


def blocks_begun() -> str:
    """Of all passes."""
    return of_both(
        " blocks per ns, with threads per block", BY_BLOCK, {str(block): block for block in BLOCKS[:4]},
        lambda sweep, block: f"{sum(one.blocks for one in sweep[block].passes) / sweep[block].median_ms / 1e6:.2f}",
        with_growing_grid)


def grid() -> str:
    return "\n".join(grid_of(card) for card in CARDS if results.read(card, "sweep_grid"))


def grid_of(card: Path) -> str:
    """GB/s of the grid that a step chooses, and of one with a block for each tile of so many elements per thread."""
    runs: dict[tuple[str, int, int], list[Result]] = {}
    for result in results.read(card, "sweep_grid"):
        runs.setdefault((result.step, result.elements, result.block or 0), []).append(result)
    tiles = {key: {elements // one.passes[0].blocks // block: one for one in with_tiles}
             for key, (_, *with_tiles) in runs.items() for _, elements, block in [key]}
    each = sorted({size for sizes in tiles.values() for size in sizes})
    return table([f"{short(card)}: GB/s", "elements", "threads per block", "its own grid", *map(str, each)], [
        [key[0], count_text(key[1]), key[2], fixed(own.bandwidth, 0),
         *(fixed(tiles[key][size].bandwidth, 0) if size in tiles[key] else None for size in each)]
        for key, (own, *_) in runs.items()])


def linear_from(sweep: Sweep) -> int:
    """The number of elements from which on each doubling takes nearly twice as long."""
    sizes: list[int] = sorted(sweep, reverse=True)
    for larger, size in zip(sizes, sizes[1:]):
        if sweep[larger].median_ms < LINEAR * sweep[size].median_ms:
            return larger
    return sizes[-1]


def array_size() -> str:
    return of_both("", BY_SIZE, {"half of its best GB/s from": half_from, "linear from": linear_from},
                   lambda sweep, number_of: count_text(number_of(sweep)))


def half_from(sweep: Sweep) -> int:
    """The number of elements from which on half of the best bandwidth is reached."""
    best = max(result.bandwidth for result in sweep.values())
    return min(result.elements for result in sweep.values() if result.bandwidth >= best / 2)


def small_inputs() -> str:
    """One core's running sum, and the time that steps take, from small inputs on."""
    core = {result.elements: result.us for result in results.read(H100, "sweep_cpu")}
    sizes = [2**k for k in (10, 12, 13, 14, 15, 16, 18, 20, 22)]
    return table(["one core of the CPU: µs", *map(count_text, sizes)], [
        ["00_cpu_serial", *(f"{core[size]:.1f}" for size in sizes)]]) + "\n" + of_both(
            " µs", BY_SIZE, {count_text(size): size for size in sizes}, lambda sweep, size: f"{sweep[size].us:.1f}",
            lambda step: step in ("01_interleaved", "04_first_add", "07_cascade", "09_vector_loads", "10_single_pass",
                                  "11_bulk_copy", "12_any_operation"))


def element_type() -> str:
    """How many times as long an element takes as one of int32."""
    def times(sweep: Sweep, name: str) -> str:
        each, of_int32 = (result.median_ms / result.elements for result in (sweep[name], sweep["int32"]))
        return f"{each / of_int32:.2f}"

    columns = {f"{name}, {BYTES[name]} bytes": name for name in sorted(ELEMENT_TYPES[1:], key=BYTES.__getitem__)}
    return of_both(" × int32's time", BY_TYPE, columns, times)


def beside_jax() -> str:
    """Each step's share of jnp.sum: what the blog says, and what was measured of 2^28 float32."""
    blog = documented_tables.read_tables()[BLOG]
    [library] = blog.others
    titles = [f"{blog.label}, {blog.gpu}, 2^25", *(f"{short(card)}, 2^28" for card in CARDS)]
    sums = [library.gbps, *(result.bandwidth for card in CARDS for result in results.read(card, "peers")
                            if (result.step, result.type, result.elements) == ("peer_jax", "float32", 2**28))]
    sweeps = swept(*BY_TYPE)
    rows = []
    for step in [*sweeps[0], library.name]:
        figure = blog.find(step)
        speeds = sums if step == library.name else [
            figure.gbps if figure else None, *(sweep[step]["float32"].bandwidth for sweep in sweeps)]
        rows.append([step, *(text for speed, of_jax, form in zip(speeds, sums, ("g", ".1f", ".1f")) for text in (
            (f"{speed:{form}}", f"{100 * speed / of_jax:.1f}") if speed and of_jax else (None, None)))])
    return table(["float32", *(text for title in titles for text in (f"{title}: GB/s", "% of jnp.sum"))], rows)
