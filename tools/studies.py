"""What the sweeps of the cards show: the tables of docs/studies.md, and the README's of two cards.

Where a cell has one figure for each card, they stand in the order of CARDS: H200 · H100.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from tools import bandwidth, documented_tables, pages, results
from tools.markdown import DASH, count_text, or_dash, table
from tools.results import CARDS, Result

BLOCKS = (32, 64, 128, 256, 512, 1024)
BLOG = "2025_blog_rtx3090"
# A doubling of the elements that takes so many times as long counts as linear.
LINEAR = 1.9


def short(card: Path) -> str:
    """H100 of "NVIDIA H100 80GB HBM3"."""
    return results.measured(card).gpu.removeprefix("NVIDIA ").split()[0]


def both(texts: Sequence[str]) -> str:
    """A cell with a figure for each card, in one line."""
    return "\u00a0·\u00a0".join(texts)


def names() -> str:
    return both(list(map(short, CARDS)))


def with_growing_grid(step: str) -> bool:
    """01 to 06: the larger the input, the more blocks."""
    return "01" <= step < "07"


# ---- two cards ----


def ladder() -> str:
    """Each step on each card, and how many times as fast the first card is."""
    ladders = [{result.step: result for result in results.read(card, "ladder")} for card in CARDS]
    rows = []
    before = ""
    for step in ladders[0]:
        row = [step]
        for found in ladders:
            # Neither the CPU nor a library is a step to compare with.
            gain = found[step].bandwidth / found[before].bandwidth if before and step[0].isdigit() else None
            row += [f"{found[step].bandwidth:.1f}", or_dash(found[step].percent_of_peak, 1), or_dash(gain, 2)]
        rows.append([*row, or_dash(ratios().get(step), 2)])
        before = step if ladders[0][step].on_gpu else ""
    columns = [name for card in CARDS for name in (f"{short(card)}: GB/s", "% of peak", "× previous")]
    return table(["step", *columns, " / ".join(map(short, CARDS))], "l" + "r" * 7, rows)


def ratios() -> dict[str, float]:
    """How many times as fast each step is on the first card as on the second."""
    ladders = [{result.step: result for result in results.read(card, "ladder") if result.on_gpu} for card in CARDS]
    return {step: ladders[0][step].bandwidth / ladders[1][step].bandwidth for step in ladders[0]}


def apart() -> str:
    first, second = map(short, CARDS)
    early = [ratio for step, ratio in ratios().items() if with_growing_grid(step)]
    late = [ratio for step, ratio in ratios().items() if not with_growing_grid(step)]
    of_memory = bandwidth.peak(CARDS[0]) / bandwidth.peak(CARDS[1])
    furthest = max(abs(ratio - 1) for ratio in early)
    return (f"From 01 to 06 the two are at most {100 * furthest:.1f} % apart. From 07 on the {first} is "
            f"{min(late):.2f} to {max(late):.2f} times as fast as the {second}; its memory is {of_memory:.2f} times as "
            "fast.\n")


def provenance() -> str:
    return "\n".join(pages.provenance(card) for card in CARDS)


def what_differs() -> str:
    """Of the cards themselves."""
    firsts = [bandwidth.first_on_gpu(card) for card in CARDS]
    return table(["", *map(short, CARDS)], "lrr", [
        ["multiprocessors", *(str(bandwidth.multiprocessors(card)) for card in CARDS)],
        ["their highest clock, GHz", *(f"{bandwidth.clock(card) / 1e9:.2f}" for card in CARDS)],
        ["L2, MiB", *(f"{first.required(first.device.l2_bytes, 'l2_bytes') / 2**20:.0f}" for first in firsts)],
        ["peak of memory, GB/s", *(f"{bandwidth.peak(card) / 1e9:.0f}" for card in CARDS)]])


# ---- block size ----


def by_block(card: Path) -> dict[str, dict[int, Result]]:
    """The sweep of each step that is told its block size."""
    found: dict[str, dict[int, Result]] = {}
    for result in results.read(card, "sweep_block"):
        if result.block is not None:
            found.setdefault(result.step, {})[result.block] = result
    return found


def block_size() -> str:
    """The share of a step's own best that each block size gives."""
    sweeps = [by_block(card) for card in CARDS]

    def share(sweep: dict[int, Result], block: int) -> str:
        return f"{100 * sweep[block].bandwidth / max(result.bandwidth for result in sweep.values()):.0f}"

    return table([f"{names()}: % of the best, with threads per block", *map(str, BLOCKS)], "l" + "r" * len(BLOCKS), [
        [step, *(both([share(sweep[step], block) for sweep in sweeps]) for block in BLOCKS)] for step in sweeps[0]])


def begun(result: Result) -> float:
    """Blocks per ns, of all passes."""
    return sum(one.blocks for one in result.passes) / result.median_ms / 1e6


def blocks_begun() -> str:
    sweeps = [by_block(card) for card in CARDS]
    return table([f"{names()}: blocks per ns, with threads per block", *map(str, BLOCKS[:4])], "lrrrr", [
        [step, *(both([f"{begun(sweep[step][block]):.2f}" for sweep in sweeps]) for block in BLOCKS[:4])]
        for step in sweeps[0] if with_growing_grid(step)])


# ---- array size ----


def by_size(card: Path) -> dict[str, dict[int, Result]]:
    found: dict[str, dict[int, Result]] = {}
    for result in results.read(card, "sweep_size"):
        found.setdefault(result.step, {})[result.elements] = result
    return found


def linear_from(sweep: dict[int, Result]) -> int:
    """The number of elements from which on each doubling takes nearly twice as long."""
    sizes = sorted(sweep, reverse=True)
    for larger, size in zip(sizes, sizes[1:]):
        if sweep[larger].median_ms < LINEAR * sweep[size].median_ms:
            return larger
    return sizes[-1]


def half_from(sweep: dict[int, Result]) -> int:
    """The number of elements from which on half of the best bandwidth is reached."""
    best = max(result.bandwidth for result in sweep.values())
    return min(size for size, result in sweep.items() if result.bandwidth >= best / 2)


def array_size() -> str:
    sweeps = [by_size(card) for card in CARDS]
    return table([f"{names()}:", "µs for 2^10", "µs for 2^16", "half of its best GB/s from", "linear from"], "lrrrr", [
        [step, *(both([f"{sweep[step][size].median_ms * 1e3:.1f}" for sweep in sweeps]) for size in (2**10, 2**16)),
         *(both([count_text(of(sweep[step])) for sweep in sweeps]) for of in (half_from, linear_from))]
        for step in sweeps[0]])


# ---- element type ----


def by_type(card: Path) -> dict[str, dict[str, Result]]:
    found: dict[str, dict[str, Result]] = {}
    for result in results.read(card, "sweep_type"):
        found.setdefault(result.step, {})[result.type] = result
    return found


def times_of_int32(sweep: dict[str, Result], element_type: str) -> float:
    """How many times as long an element takes."""
    one, other = sweep["int32"], sweep[element_type]
    return other.median_ms / other.elements / (one.median_ms / one.elements)


def element_type() -> str:
    sweeps = [by_type(card) for card in CARDS]
    types = {"float32": 4, "int64": 8, "float64": 8, "complex64": 8, "complex128": 16}
    return table([f"{names()}: × int32's time", *(f"{name}, {size} bytes" for name, size in types.items())], "lrrrrr", [
        [step, *(both([f"{times_of_int32(sweep[step], name):.2f}" for sweep in sweeps]) for name in types)]
        for step in sweeps[0]])


# ---- beside jnp.sum ----


def jax_of(card: Path) -> dict[int, Result]:
    """jax.numpy.sum over float32, by the number of elements."""
    return {result.elements: result for result in results.read(card, "peers")
            if result.step == "peer_jax" and result.type == "float32"}


def beside_jax() -> str:
    """Each step's share of jnp.sum: what the blog says, and what was measured of 2^28 float32."""
    blog = documented_tables.read_tables()[BLOG]
    [library] = blog.others
    cards = [card for card in CARDS if 2**28 in jax_of(card)]
    columns = [f"{blog.label}, {blog.hardware.name}, 2^25: GB/s", "% of jnp.sum"]
    columns += [text for card in cards for text in (f"{short(card)}, 2^28: GB/s", "% of jnp.sum")]
    sweeps = [by_type(card) for card in cards]
    rows = []
    for step in sweeps[0]:
        figure = blog.find(step)
        row = [step, DASH, DASH]
        if figure and figure.gbps and library.gbps:
            row = [step, f"{figure.gbps:g}", f"{100 * figure.gbps / library.gbps:.1f}"]
        for card, sweep in zip(cards, sweeps):
            share = sweep[step]["float32"].bandwidth / jax_of(card)[2**28].bandwidth
            row += [f"{sweep[step]['float32'].bandwidth:.1f}", f"{100 * share:.1f}"]
        rows.append(row)
    sums = [text for card in cards for text in (f"{jax_of(card)[2**28].bandwidth:.1f}", "100.0")]
    rows.append([library.name, f"{library.gbps:g}", "100.0", *sums])
    return table(["float32", *columns], "l" + "r" * len(columns), rows)


# The sections of the README, and of docs/studies.md.
TWO_CARDS: dict[str, Callable[[], str]] = {"ladder": ladder, "provenance": provenance}
SECTIONS: dict[str, Callable[[], str]] = {
    "apart": apart, "what_differs": what_differs, "block_size": block_size, "blocks_begun": blocks_begun,
    "array_size": array_size, "element_type": element_type, "beside_jax": beside_jax}
