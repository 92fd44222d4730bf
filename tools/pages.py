"""What was measured on a GPU, as the pages show it: the sections of other pages, and the page of a card's folder."""

import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools import bandwidth, results
from tools.command_line import ELEMENT_TYPES, REPOSITORY, TYPES, read_text
from tools.compare import peer_tables
from tools.documented_tables import published
from tools.markdown import count_text, fixed, table
from tools.programs import Programs
from tools.results import H100, H200, AgainstCub, AloneResult, Measured, RanksResult, Result, RowsResult, read, read_as

# The cases of 12_against_cub: sum_int8_in_int32.
CASES: list[str] = re.findall(
    r'make_case<[^"]*"(\w+)"', read_text(REPOSITORY / "beyond/12_any_operation/against_cub/cases.cu"))
# What they are named after: the operation, and what it accumulates elements of a type in.
OPERATIONS = {
    "sum": ("Sum", "{}"), "same_bits": ("Sum in SameBits", "{}"),
    "compensated": ("CompensatedSum", "a {} and its bound"), "min": ("Min", "{}"), "max": ("Max", "{}"),
    "argmin": ("ArgMin", "a {} and its index"), "minmax": ("MinMax", "two {}"), "squares": ("Sum of squares", "{}")}
SUMS = [f"sum_{element_type}" for element_type in ELEMENT_TYPES]  # those of the steps
PROMISES = [case for case in CASES if case.startswith(("same_bits_", "compensated_"))]  # sums that promise more
PROMISE_SIZES = [2**k for k in (10, 12, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30)]
AgainstCubCells = dict[tuple[str, int], AgainstCub]  # by case and elements

IN_THE_KERNELS = "the kernels"  # what 13_many_gpus says that its ranks' sums were combined by


def elements_of(result: Result) -> str:
    return count_text(result.elements)


def step_of(result: Result) -> str:
    return result.step


# ---- the ladder and the sweeps ----


def provenance(folder: Path = H200) -> str:
    """Where and how it was measured, in a sentence."""
    return measured_on("one", results.measured(folder))


def measured_on(number: str, measured: Measured) -> str:
    return (f"Measured on {number} {measured.gpu} with driver {measured.driver} and CUDA {measured.cuda}, "
            f"{measured.date}, by `{measured.command}` at commit `{measured.short_commit}`.\n")


def cross_table(corner: str, found: Sequence[Result], row: Callable[[Result], object],
                column: Callable[[Result], str], cell: Callable[[Result], str], alignments: str = "") -> str:
    """A line for each value of `row`, a column for each value of `column`, both in order of appearance."""
    columns = list(dict.fromkeys(map(column, found)))
    cells = {(row(result), column(result)): cell(result) for result in found}
    return table([corner, *columns], [
        [name, *(cells.get((name, other)) for other in columns)]
        for name in dict.fromkeys(map(row, found))], alignments)


def bandwidth_table(corner: str, found: Sequence[Result], row: Callable[[Result], str],
                    column: Callable[[Result], str]) -> str:
    return cross_table(corner, found, row, column, lambda result: f"{result.bandwidth:.1f}")


# ---- the parts of the timing method ----


def flush(folder: Path = H200) -> str:
    """What emptying the L2 does to the bandwidth."""
    return bandwidth_table("GB/s, L2 emptied by", read(folder, "method_flush"), elements_of,
                           lambda result: result.method.flush)


def queue(folder: Path = H200) -> str:
    """What the host's launch latency adds where the device does not wait for it."""
    found = read(folder, "method_queue")
    queued, after = ({(result.step, result.elements): result for result in found if result.method.queued == ahead}
                     for ahead in (True, False))
    return table(["step", "elements", "passes", "µs, queued ahead", "µs, launched as it runs", "difference, µs"], [
        [step, count_text(elements), len(result.passes), fixed(result.us, 1), fixed(after[step, elements].us, 1),
         fixed(after[step, elements].us - result.us, 1)] for (step, elements), result in queued.items()])


def lead_in(folder: Path = H200) -> str:
    """What empty kernels in front of a sample do to reductions of two kernels."""
    found = read(folder, "method_lead_in")
    return cross_table(
        "empty kernels in front", found, lambda result: result.method.lead_in,
        lambda result: f"{result.step}, µs (p5–p95)",
        lambda result: "{:.2f} ({:.2f}–{:.2f})".format(
            *(1e3 * ms for ms in (result.times.median, result.times.p5, result.times.p95))),
        "r" * (len(set(map(step_of, found))) + 1))


def warm_up(folder: Path = H200) -> str:
    """The very first run of a process, and its first timed sample after so many warm-up runs."""
    found = read(folder, "method_warm_up")
    groups = {"the first run, which is verified": [result.first_run_ms or 0 for result in found]}
    for runs in sorted({result.method.warm_up for result in found}):
        groups[f"first sample after {runs} warm-up runs"] = [
            result.median_ms for result in found if result.method.warm_up == runs]
    return table(["", "processes", "lowest, µs", "median, µs", "highest, µs"], [
        [name, len(ms), *(fixed(value * 1e3, 1) for value in (min(ms), statistics.median(ms), max(ms)))]
        for name, ms in groups.items()])


def repeat(folder: Path = H200) -> str:
    """How far apart the samples of a run lie, and two runs."""
    ladder = {result.step: result for result in read(folder, "ladder")}
    return table(["step", "samples", "p5, ms", "median, ms", "p95, ms", "median of a second run, ms",
                  "difference, %"], [
        [second.step, first.samples,
         *(fixed(ms, 4) for ms in (first.times.p5, first.median_ms, first.times.p95, second.median_ms)),
         fixed((second.median_ms / first.median_ms - 1) * 100, 2)]
        for second in read(folder, "repeat") for first in [ladder[second.step]]])


# ---- beyond the ladder ----


def scaling(folder: Path = H100) -> str:
    """13_many_gpus on more and more ranks, each GPU alone, and where they were measured."""
    jobs, alone = read_as(folder, "many_gpus", RanksResult), read_as(folder, "many_gpus_alone", AloneResult)
    rows = []
    for job in jobs:
        beside = slowest_alone(job, alone)
        rows.append([size_of_job(job), job.ranks, job.nodes, job.combined_by, clock_of(job),
                     fixed(job.median_ms, 4), fixed(job.gbps or None, 1), fixed(job.times_one_rank, 3),
                     fixed(beside and job.ranks * beside / job.median_ms if job.elements else None, 3),
                     fixed(beside and 1e3 * (job.median_ms - beside), 1)])
    text = table(["elements", "ranks", "nodes", "combined by", "clocks", "ms", "GB/s", "× one rank",
                  "× its slowest GPU alone", "µs longer than that"], rows, "lrrllrrrrr")
    text_alone = table(["GPU alone", "elements", "ms", "GB/s"], [
        [gpu.rank, count_text(gpu.elements), fixed(gpu.ms.median, 4), fixed(gpu.gbps or None, 1)] for gpu in alone],
        "rrrr")
    measured = results.read_one(folder / "many_gpus_measured.json", Measured)
    return "\n".join([text, text_alone, measured_on(f"{max(job.ranks for job in jobs)} ×", measured)])


def size_of_job(job: RanksResult) -> str:
    if job.elements == 0:
        return "0"
    return f"{count_text(job.elements_per_rank)} {job.type} per rank" if job.weak else \
        f"{count_text(job.elements)} {job.type} in all"


def clock_of(job: RanksResult) -> str:
    return "the GPUs'" if job.timing else "the hosts'"


def slowest_alone(job: RanksResult, alone: list[AloneResult]) -> float | None:
    """The ms that the slowest of its GPUs takes for the longest shard by itself, which is by the GPUs' clocks; None
    where one was not measured, and for a job that was timed by the hosts' clocks."""
    shards = [gpu.ms.median for gpu in alone if gpu.rank < job.ranks and gpu.elements == job.elements_per_rank]
    return max(shards) if job.timing and job.ranks >= 2 and len(shards) == job.ranks else None


def scaling_model(folder: Path = H100) -> str:
    """The inputs of the model on 13's page, n·s / (P·B) + L + α · hops, and what it predicts beside what took place."""
    groups: dict[tuple[str, str], list[RanksResult]] = {}
    for job in read_as(folder, "many_gpus", RanksResult):
        groups.setdefault((job.combined_by, clock_of(job)), []).append(job)
    inputs, rows = [], []
    for (combined_by, clock), jobs in groups.items():
        nothing = {job.ranks: job.median_ms for job in jobs if job.elements == 0}
        largest = max((job for job in jobs if job.ranks == 1), key=lambda job: job.elements)
        most, launch = max(nothing), nothing[1]
        bandwidth = largest.bandwidth * largest.median_ms / (largest.median_ms - launch)
        hop = (nothing[most] - launch) / hops(combined_by, most)
        inputs.append([combined_by, clock, fixed(bandwidth, 1), fixed(1e3 * launch, 1), fixed(1e3 * hop, 1)])
        for job in jobs:
            if job.ranks >= 2 and job.elements:
                shard = (largest.median_ms - launch) * job.elements / job.ranks / largest.elements
                predicted = shard + launch + hop * hops(combined_by, job.ranks)
                rows.append([size_of_job(job), job.ranks, combined_by, clock, fixed(predicted, 4),
                             fixed(job.median_ms, 4), fixed((job.median_ms / predicted - 1) * 100, 1)])
    names = ["elements", "ranks", "combined by", "clocks", "predicted, ms", "measured, ms", "difference, %"]
    return "\n".join(["With what was measured put in:\n", table(
        ["combined by", "clocks", "B, GB/s", "L, µs", "α, µs"], inputs, "llrrr"), table(names, rows, "lrllrrr")])


def hops(combined_by: str, ranks: int) -> int:
    """In the kernels every GPU writes to every other; else a tree is assumed."""
    return 1 if combined_by == IN_THE_KERNELS else (ranks - 1).bit_length()


def described(case: str) -> list[str]:
    """The operation, the type of the elements, and what is accumulated in."""
    [(name, element, accumulator)] = re.findall(r"^(\w+?)_([a-z]+\d+|half)(?:_in_(\w+))?$", case)
    operation, form = OPERATIONS[name]
    return [operation, element, form.format(accumulator or element)]


@dataclass(frozen=True, kw_only=True)
class BesideXla:
    """The same sum by some kernels and by XLA's two, in microseconds, of one process after the other."""

    kernels: str
    us: list[float]
    xla_us: list[float]


@dataclass(frozen=True, kw_only=True)
class AgainstXla:
    """A sum by reduce() and by jnp.sum, in microseconds, of one process after the other."""

    type: str
    elements: int
    us: list[float]
    xla_us: list[float]

    @property
    def ratio(self) -> float:
        return statistics.mean(self.xla_us) / statistics.mean(self.us)


def against_xla() -> str:
    """A row per power of two, and what all sizes come to."""
    cells = read_as(H100, "against_xla", AgainstXla)
    types = list(dict.fromkeys(cell.type for cell in cells))
    by_size = {(cell.elements, cell.type): cell for cell in cells}
    powers = sorted({cell.elements for cell in cells if cell.elements.bit_count() == 1})
    text = table(["one H100: µs", *(head for name in types for head in (f"12: {name}", "`jnp.sum`", "its / 12's"))], [
        [count_text(n), *(value for name in types for cell in [by_size[n, name]] for value in (
            fixed(statistics.mean(cell.us), 2), fixed(statistics.mean(cell.xla_us), 2), fixed(cell.ratio, 3)))]
        for n in powers])
    means = ", ".join(f"{statistics.geometric_mean(cell.ratio for cell in cells if cell.type == name):.3f} of {name}"
                      for name in types)
    lowest = min(cells, key=lambda cell: cell.ratio)
    return text + (f"\nWith the sizes between, these are {len(cells)}. The geometric mean: {means}. The lowest: "
                   f"{lowest.ratio:.3f} ({count_text(lowest.elements)} {lowest.type}).\n")


def beside_xla() -> str:
    return table(["2^17 float32 on one H100: the kernels", "µs", "more than XLA's, launched the same way"], [
        [each.kernels, fixed(statistics.mean(each.us), 2),
         fixed(statistics.mean(each.us) - statistics.mean(each.xla_us), 2)]
        for each in read_as(H100, "beside_xla", BesideXla)], "lrr")


def against_cub(folder: Path = H100) -> str:
    """The header beside CUB: the sums by size and type, then the other cases, and what they were measured with."""
    cells = against_cub_cells(folder)
    if not cells:
        return ""
    [version] = {cell.cub_version for cell in cells.values()}
    return "\n".join([sums_against_cub(cells), others_against_cub(cells), f"Measured beside CUB {version}.\n"])


def against_cub_cells(folder: Path) -> AgainstCubCells:
    return {(cell.case, cell.elements): cell for cell in read_as(folder, "against_cub", AgainstCub)}


def sums_against_cub(cells: AgainstCubCells) -> str:
    """CUB's time over the header's, a row per power of two and a column per type, and what all sizes come to."""
    sums = [cell for cell in cells.values() if cell.case in SUMS]
    powers = sorted({cell.elements for cell in sums if cell.elements.bit_count() == 1})
    means = []
    for name, least, most in (
            ("below 2^20", 0, 2**20 - 1), ("from 2^20 to 2^25", 2**20, 2**25), ("above", 2**25 + 1, 2**63)):
        if ratios := [cell.cub_over_ours for cell in sums if least <= cell.elements <= most]:
            means.append(f"{statistics.geometric_mean(ratios):.2f} {name}")
    lowest = min(sums, key=lambda cell: cell.cub_over_ours)
    return table(["elements", *ELEMENT_TYPES], [
        [count_text(elements), *(ratio_text(cells.get((case, elements))) for case in SUMS)] for elements in powers]) + (
        f"\nWith the odd sizes between, these are {len(sums)}. Their geometric mean: {', '.join(means)}. The lowest: "
        f"{ratio_text(lowest)} ({count_text(lowest.elements)} {described(lowest.case)[1]}). A ≈ says that the two "
        "times are at most 0.1 µs apart, the clock's tick.\n")


def others_against_cub(cells: AgainstCubCells) -> str:
    """The header's GB/s and CUB's time over its own, a row per case and a column for each of a few sizes."""
    def shown(cell: AgainstCub | None) -> str | None:
        return f"{cell.gbps:.1f} ({ratio_text(cell)})" if cell else None

    cases = [case for case in dict.fromkeys(case for case, _ in cells) if case not in (*SUMS, *PROMISES)]
    sizes = [size for size in (2**20, 2**24, 2**28, 2**30) if any((case, size) in cells for case in cases)]
    text = table(["operation", "element type", "accumulated in", *map(count_text, sizes)], [
        [*described(case), *(shown(cells.get((case, elements))) for elements in sizes)] for case in cases],
        "lll" + "r" * len(sizes))
    return f"Other operations: GB/s of 12_any_operation, and in brackets CUB's time over its own.\n\n{text}"


def ratio_text(cell: AgainstCub | None) -> str | None:
    return f"{'≈ ' * cell.within_tick}{cell.cub_over_ours:.2f}" if cell else None


def promises(folder: Path, types: Sequence[str] = ("float32", "float64")) -> str:
    """What SameBits and CompensatedSum cost: a table per type of their times beside those of the header's sum in its
    usual order and of CUB's."""
    cells, gpu = against_cub_cells(folder), results.measured(folder).gpu
    tables = []
    for of in types:
        found = [[cells.get((f"{name}_{of}", elements)) for name in ("sum", "same_bits", "compensated")]
                 for elements in PROMISE_SIZES]
        tables.append(table([f"{of} on one {gpu}, µs", "Sum", "SameBits", "Sum's time / its own", "CompensatedSum",
                             "Sum's time / its own", "CUB's sum"], [
            [count_text(usual.elements), fixed(1e3 * usual.ms.median, 1),
             *(text for own in (same, compensated) for text in (
                 fixed(1e3 * own.ms.median, 1), fixed(usual.ms.median / own.ms.median, 2))),
             fixed(1e3 * usual.cub_ms.median, 1)]
            for usual, same, compensated in found if usual and same and compensated]))
    return "\n".join(filter(None, tables))


def atomics(folder: Path = H200) -> str:
    """The kernels that add with atomics, beside what others have published."""
    return table(["kernel", "type", "elements", "ms", "GB/s", "% of peak", "published"], [
        [result.step, result.type, elements_of(result), fixed(result.median_ms, 4), fixed(result.bandwidth, 1),
         fixed(result.percent_of_peak, 1), published(result)] for result in read(folder, "atomics")], "llrrrrl")


def atomics_by_block(folder: Path = H100) -> str:
    """The kernels with one atomic per block, and 04 with its passes, in blocks of every size."""
    return bandwidth_table("2^25 elements: GB/s with blocks of", read(folder, "atomics_block"),
                           lambda result: f"{result.step}, {result.type}", lambda result: str(result.block))


def peers(folder: Path, only: Sequence[str] = TYPES, file: str = "peers") -> str:
    """The tables of `compare`, one for each of these types."""
    found = read(folder, file)
    tables = peer_tables(found, only)
    # Those of libraries that say their own version: torch 2.8.0.
    if versions := dict.fromkeys(result.version for result in found if " " in result.version):
        tables.append(f"The libraries: {', '.join(versions)}.\n")
    return "\n".join(tables)


def rows(folder: Path, *operations: str, widths: Sequence[int] = ()) -> str:
    """Of 15_rows: a table for each operation, a row per width (of `widths`, if any), a column per kernel."""
    found = read_as(folder, "rows", RowsResult)
    tables = []
    for operation in operations or dict.fromkeys(result.operation for result in found):
        kernels = list(dict.fromkeys(result.kernel for result in found if result.operation == operation))
        cells = {(result.width, result.kernel): fixed(result.gbps, 0) for result in found
                 if result.operation == operation}
        tables.append(table([f"{operation}: GB/s at width", *kernels], [
            [count_text(width), *(cells.get((width, kernel)) for kernel in kernels)]
            for width in dict.fromkeys(width for width, _ in cells) if not widths or width in widths]))
    return "\n".join(tables)


def rows_of_cards() -> str:
    """The figure of the sums, and the first measured card's table of them; nothing before one is measured."""
    measured = [folder for folder in (H200, H100) if (folder / "rows.json").exists()]
    if not measured:
        return ""
    first = measured[0]
    pages = ", ".join(f"[{results.measured(folder).gpu}](../../docs/results/{folder.name}/README.md#rows-and-columns)"
                      for folder in measured)
    return (
        "![GB/s over the width of a row: each kernel is fast in a range of widths](../../docs/results/rows.svg)\n\n"
        f"Sums of 2²⁸ elements on one {results.measured(first).gpu}. The other operations: {pages}.\n\n"
        f"{rows(first, 'sum', widths=[4**k for k in range(2, 11)])}")


# ---- the page of the folder ----


def card_page(folder: Path, programs: Programs) -> str:
    """The README of a card's folder: a section for each file of results. Throws BadUsage where one does not fit."""
    first = bandwidth.first_on_gpu(folder)
    ladder, blocks, sizes, types = (read(folder, name) for name in (
        "ladder", "sweep_block", "sweep_size", "sweep_type"))
    elements = elements_of(first)
    text = (
        f"# Results · {results.measured(folder).gpu}\n\n{provenance(folder)}\n"
        f"Peak: {fixed(first.device.peak_gbps, 0)} GB/s (memory clock × bus width × 2 / 8). Each time is the median "
        "of a run's samples; [the method](../../method.md) says how they are taken; [the studies](../../studies.md) "
        "say what sweeps show. This page is written by `python3 -m tools write-pages` from the JSON files beside it.\n")
    for title, file, plot, what, shown in (
            # The published ones stand above it.
            ("The ladder", "ladder", "ladder", f"{elements} {first.type}{in_blocks(ladder)}",
             programs.text("ladder_table", folder / "ladder.json").partition("Your run: ")[2].split("\n\n")[1] + "\n"),
            ("The roofline", "ladder", "roofline", "Additions per second against additions per byte: "
             "[why bandwidth](../../why_bandwidth.md#one-addition-for-four-bytes)", bandwidth.roofs([folder])),
            ("Block size", "sweep_block", "sweep_block", f"GB/s of {elements} {first.type} in blocks of 32 to 1024 "
             "threads", bandwidth_table("GB/s with blocks of", blocks, step_of,
                                        lambda result: str(result.block or "its own"))),
            ("Array size", "sweep_size", "bandwidth", f"GB/s of {first.type}{in_blocks(sizes)}",
             bandwidth_table("elements", sizes, elements_of, step_of)),
            ("Element type", "sweep_type", "sweep_type", f"GB/s of {range_of_elements(types)} elements"
             f"{in_blocks(types)}; in the figure times beside int32's",
             bandwidth_table("GB/s", types, step_of, lambda result: result.type)),
            # Not every card has these results.
            ("12_any_operation against CUB", "against_cub", "", "CUB's time over that of 12_any_operation: above 1 CUB "
             "takes longer ([when and how it was measured](../README.md#the-files))", against_cub(folder)),
            ("Sums that promise more", "against_cub", "", "What "
             "[SameBits and CompensatedSum](../../../beyond/14_same_bits/README.md) of 12_any_operation's header take, "
             "beside its sum in the usual order and CUB's", promises(folder)),
            ("Peers", "peers", "", "GB/s, and the share of CUB's, in one run of `python3 -m tools compare`. A dash is "
             "what a program cannot sum or was not measured on", peers(folder)),
            ("Atomics", "atomics", "", "The kernels of [beyond/atomics](../../../beyond/atomics/README.md) beside what "
             "others have published", atomics(folder)),
            ("Rows and columns", "rows", "rows", "The kernels of [15](../../../beyond/15_rows/README.md) beside CUB, "
             "torch and jax, in as many elements of every width ([the file](../README.md#the-files))", rows(folder))):
        if shown:
            picture = f"![{title}]({plot}.svg)\n\n" if plot else ""
            text += f"\n## {title}\n\n{what}. Data: [{file}.json]({file}.json)\n\n{picture}{shown}"
    return text


def in_blocks(found: list[Result]) -> str:
    """" in blocks of 256 threads" where all results have the same; the CPU's and libraries' have none."""
    blocks = {result.block for result in found if result.block is not None}
    return f" in blocks of {blocks.pop()} threads" if len(blocks) == 1 else ""


def range_of_elements(found: list[Result]) -> str:
    """On a GPU with less memory, there are fewer elements of the large types."""
    least, most = (count_text(end(result.elements for result in found)) for end in (min, max))
    return most if least == most else f"{least} to {most}"
