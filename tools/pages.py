"""What was measured on a GPU, as the pages show it: the sections of other pages, and the page of a card's folder."""

import statistics
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tools import bandwidth, results
from tools.command_line import ELEMENT_TYPES
from tools.compare import peer_tables
from tools.documented_tables import published
from tools.markdown import DASH, count_text, or_dash, table
from tools.programs import Programs
from tools.results import H200, AgainstCub, AloneResult, Measured, RanksResult, Result, SecondClock, read, read_as

# The cases of 12_against_cub: the operation, the type of the elements, and what is accumulated in.
CASES = {
    "sum_int32": ("Sum", "int32", "int32"),
    "sum_int64": ("Sum", "int64", "int64"),
    "sum_float32": ("Sum", "float32", "float32"),
    "sum_float64": ("Sum", "float64", "float64"),
    "sum_complex64": ("Sum", "complex64", "complex64"),
    "sum_complex128": ("Sum", "complex128", "complex128"),
    "same_bits_float32": ("Sum in SameBits", "float32", "float32"),
    "same_bits_float64": ("Sum in SameBits", "float64", "float64"),
    "compensated_float32": ("CompensatedSum", "float32", "a float32 and its bound"),
    "compensated_float64": ("CompensatedSum", "float64", "a float64 and its bound"),
    "min_int8": ("Min", "int8", "int8"),
    "sum_int8": ("Sum", "int8", "int8"),
    "sum_int8_in_int32": ("Sum", "int8", "int32"),
    "max_uint8": ("Max", "uint8", "uint8"),
    "max_int16": ("Max", "int16", "int16"),
    "sum_int16": ("Sum", "int16", "int16"),
    "sum_int16_in_int32": ("Sum", "int16", "int32"),
    "max_half": ("Max", "half", "half"),
    "sum_half_in_float32": ("Sum", "half", "float32"),
    "sum_bfloat16_in_float32": ("Sum", "bfloat16", "float32"),
    "max_float32": ("Max", "float32", "float32"),
    "argmin_float32": ("ArgMin", "float32", "a float32 and its index"),
    "minmax_float32": ("MinMax", "float32", "two float32"),
    "squares_float64": ("Sum of squares", "float64", "float64"),
}
SUMS = [f"sum_{element_type}" for element_type in ELEMENT_TYPES]  # those of the steps
PROMISES = [case for case in CASES if case.startswith(("same_bits_", "compensated_"))]  # sums that promise more
PROMISE_SIZES = [2**k for k in (10, 12, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30)]
AgainstCubCells = dict[tuple[str, int], AgainstCub]  # by case and elements

IN_THE_KERNELS = "the kernels"  # what 13_many_gpus says that its ranks' sums were combined by

NOT_MEASURED = "No results are committed yet.\n"


def elements_of(result: Result) -> str:
    return count_text(result.elements)


# ---- the ladder and the sweeps ----


def provenance(folder: Path) -> str:
    """Where and how it was measured, in a sentence."""
    return measured_on("one", results.measured(folder))


def measured_on(number: str, measured: Measured) -> str:
    return (f"Measured on {number} {measured.gpu} with driver {measured.driver} and CUDA {measured.cuda}, "
            f"{measured.date}, by `{measured.command}` at commit `{measured.short_commit}`.\n")


def bandwidth_table(found: list[Result], corner: str, row: Callable[[Result], str],
                    column: Callable[[Result], str]) -> str:
    """GB/s: a line for each value of `row`, a column for each value of `column`, both in order of appearance."""
    columns = list(dict.fromkeys(map(column, found)))
    cells = {(row(result), column(result)): f"{result.bandwidth:.1f}" for result in found}
    return table([corner, *columns], [
        [name, *(cells.get((name, other), DASH) for other in columns)]
        for name in dict.fromkeys(map(row, found))])


# ---- the parts of the timing method ----


def flush(folder: Path) -> str:
    """What emptying the L2 does to the bandwidth."""
    return bandwidth_table(read(folder, "method_flush"), "GB/s, L2 emptied by", elements_of,
                           lambda result: result.method.flush)


def queue(folder: Path) -> str:
    """What the host's launch latency adds where the device does not wait for it."""
    found = read(folder, "method_queue")
    after = {(result.step, result.elements): result.median_ms * 1e3 for result in found if not result.method.queued}
    rows = [[result.step, elements_of(result), str(len(result.passes)), f"{1e3 * result.median_ms:.1f}",
             *(f"{us:.1f}" for us in (after[key], after[key] - 1e3 * result.median_ms))]
            for result in found if result.method.queued for key in [(result.step, result.elements)]]
    return table(["step", "elements", "passes", "µs, queued ahead", "µs, launched as it runs", "difference, µs"], rows)


def lead_in(folder: Path) -> str:
    """What empty kernels in front of a sample do to reductions of two kernels."""
    found = read(folder, "method_lead_in")
    steps = dict.fromkeys(result.step for result in found)
    cells = {(result.method.lead_in, result.step): "{:.2f} ({:.2f}–{:.2f})".format(
        *(1e3 * ms for ms in (result.times.median, result.times.p5, result.times.p95))) for result in found}
    return table(["empty kernels in front", *(f"{step}, µs (p5–p95)" for step in steps)], [
        [str(number), *(cells.get((number, step), DASH) for step in steps)]
        for number in sorted({number for number, _ in cells})], "r" * (len(steps) + 1)) if found else ""


def warm_up(folder: Path) -> str:
    """The very first run of a process, and its first timed sample after so many warm-up runs."""
    found = read(folder, "method_warm_up")
    groups = {"the first run, which is verified": [result.first_run_ms or 0 for result in found]}
    for runs in sorted({result.method.warm_up for result in found}):
        groups[f"first sample after {runs} warm-up runs"] = [
            result.median_ms for result in found if result.method.warm_up == runs]
    return table(["", "processes", "lowest, µs", "median, µs", "highest, µs"], [
        [name, str(len(ms)), *(f"{value * 1e3:.1f}" for value in (min(ms), statistics.median(ms), max(ms)))]
        for name, ms in groups.items()])


def repeat(folder: Path) -> str:
    """How far apart the samples of a run lie, and two runs."""
    ladder = {result.step: result for result in read(folder, "ladder")}
    rows = []
    for second in read(folder, "repeat"):
        first = ladder[second.step]
        ms = first.times
        rows.append([second.step, str(first.samples), f"{ms.p5:.4f}", f"{ms.median:.4f}", f"{ms.p95:.4f}",
                     f"{second.median_ms:.4f}", f"{(second.median_ms / ms.median - 1) * 100:.2f}"])
    return table(["step", "samples", "p5, ms", "median, ms", "p95, ms", "median of a second run, ms", "difference, %"],
                 rows)


def second_clock(folder: Path) -> str:
    """The steps' own times beside those of Nsight Compute; where it could not be run, a sentence that says so."""
    rows = read_as(folder, "second_clock", SecondClock)
    return table(["step", "the step's own median, ms", "Nsight Compute, ms", "difference, %"], [
        [row.step, f"{row.step_ms:.4f}", f"{row.ncu_ms:.4f}", f"{(row.step_ms / row.ncu_ms - 1) * 100:.1f}"]
        for row in rows]) if rows else "Nsight Compute was not run here.\n"


# ---- beyond the ladder ----


def scaling(folder: Path) -> str:
    """13_many_gpus on more and more ranks, each GPU alone, and where they were measured."""
    jobs, alone = read_as(folder, "many_gpus", RanksResult), read_as(folder, "many_gpus_alone", AloneResult)
    if not jobs:
        return ""
    rows = []
    for job in jobs:
        beside = slowest_alone(job, alone)
        rows.append([size_of_job(job), str(job.ranks), str(job.nodes), job.combined_by, clock_of(job),
                     f"{job.median_ms:.4f}", or_dash(job.gbps or None, 1), or_dash(job.times_one_rank, 3),
                     or_dash(beside and job.ranks * beside / job.median_ms if job.elements else None, 3),
                     or_dash(beside and 1e3 * (job.median_ms - beside), 1)])
    text = table(["elements", "ranks", "nodes", "combined by", "clocks", "ms", "GB/s", "× one rank",
                  "× its slowest GPU alone", "µs longer than that"], rows, "lrrllrrrrr")
    if alone:
        text += "\n" + table(["GPU alone", "elements", "ms", "GB/s"], [
            [str(gpu.rank), count_text(gpu.elements), f"{gpu.ms.median:.4f}", or_dash(gpu.gbps or None, 1)]
            for gpu in alone], "rrrr")
    measured = folder / "many_gpus_measured.json"
    most = max(job.ranks for job in jobs)
    return text + ("\n" + measured_on(f"{most} ×", results.read_one(measured, Measured)) if measured.exists() else "")


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


def scaling_model(folder: Path) -> str:
    """The inputs of the model on 13's page, n·s / (P·B) + L + α · hops, and what it predicts beside what took place."""
    groups: dict[tuple[str, str], list[RanksResult]] = {}
    for job in read_as(folder, "many_gpus", RanksResult):
        groups.setdefault((job.combined_by, clock_of(job)), []).append(job)
    inputs, rows = [], []
    for (combined_by, clock), jobs in groups.items():
        nothing = {job.ranks: job.median_ms for job in jobs if job.elements == 0}
        largest = max((job for job in jobs if job.ranks == 1), key=lambda job: job.elements, default=None)
        most = max(nothing, default=0)
        if 1 not in nothing or most < 2 or largest is None or not largest.gbps:
            continue
        launch = nothing[1]
        bandwidth = largest.gbps * largest.median_ms / (largest.median_ms - launch)
        hop = (nothing[most] - launch) / hops(combined_by, most)
        inputs.append([combined_by, clock, f"{bandwidth:.1f}", f"{1e3 * launch:.1f}", f"{1e3 * hop:.1f}"])
        for job in jobs:
            if job.ranks >= 2 and job.elements:
                shard = (largest.median_ms - launch) * job.elements / job.ranks / largest.elements
                predicted = shard + launch + hop * hops(combined_by, job.ranks)
                rows.append([size_of_job(job), str(job.ranks), combined_by, clock, f"{predicted:.4f}",
                             f"{job.median_ms:.4f}", f"{(job.median_ms / predicted - 1) * 100:.1f}"])
    if not inputs:
        return ""
    names = ["elements", "ranks", "combined by", "clocks", "predicted, ms", "measured, ms", "difference, %"]
    return "\n".join(["With what was measured put in:\n", table(
        ["combined by", "clocks", "B, GB/s", "L, µs", "α, µs"], inputs, "llrrr"), table(names, rows, "lrllrrr")])


def hops(combined_by: str, ranks: int) -> int:
    """In the kernels every GPU writes to every other; else a tree is assumed."""
    return 1 if combined_by == IN_THE_KERNELS else (ranks - 1).bit_length()


def against_cub(folder: Path) -> str:
    """The header beside CUB: the sums by size and type, then the other cases, and what they were measured with."""
    found = read_as(folder, "against_cub", AgainstCub)
    if not found:
        return ""
    cells = {(cell.case, cell.elements): cell for cell in found}
    versions = " and ".join(dict.fromkeys(cell.version for cell in found))
    ladder = bandwidth.first_on_gpu(folder).version
    apart = f" with version {versions} of this repository, the ladder with {ladder}," if versions != ladder else ""
    measured = f"Measured{apart} beside CUB {found[0].cub_version}.\n"
    return "\n".join(filter(None, [sums_against_cub(cells), others_against_cub(cells), measured]))


def sums_against_cub(cells: AgainstCubCells) -> str:
    """CUB's time over the header's, a row per power of two and a column per type, and what all sizes come to."""
    sums = [cell for cell in cells.values() if cell.case in SUMS]
    if not sums:
        return ""
    powers = sorted({cell.elements for cell in sums if cell.elements.bit_count() == 1})
    means = []
    for name, least, most in (
            ("below 2^20", 0, 2**20 - 1), ("from 2^20 to 2^25", 2**20, 2**25), ("above", 2**25 + 1, 2**63)):
        if ratios := [cell.cub_over_ours for cell in sums if least <= cell.elements <= most]:
            means.append(f"{statistics.geometric_mean(ratios):.2f} {name}")
    lowest = min(sums, key=lambda cell: cell.cub_over_ours)
    return table(["elements", *(CASES[case][1] for case in SUMS)], [
        [count_text(elements), *(ratio_text(cells.get((case, elements))) for case in SUMS)] for elements in powers]) + (
        f"\nWith the odd sizes between, these are {len(sums)}. Their geometric mean: {', '.join(means)}. The lowest: "
        f"{ratio_text(lowest)} ({count_text(lowest.elements)} {CASES[lowest.case][1]}). A ≈ says that the two times "
        "are at most 0.1 µs apart, the clock's tick.\n")


def others_against_cub(cells: AgainstCubCells) -> str:
    """The header's GB/s and CUB's time over its own, a row per case and a column for each of a few sizes."""
    def shown(cell: AgainstCub | None) -> str:
        return f"{cell.gbps:.1f} ({ratio_text(cell)})" if cell else DASH

    others = {key: cell for key, cell in cells.items() if cell.case not in (*SUMS, *PROMISES)}
    sizes = [size for size in (2**20, 2**24, 2**28, 2**30) if any(size == elements for _, elements in others)]
    rows = [[*CASES[case], *(shown(others.get((case, elements))) for elements in sizes)]
            for case in CASES if any((case, elements) in others for elements in sizes)]
    return "Other operations: GB/s of 12_any_operation, and in brackets CUB's time over its own.\n\n" + table(
        ["operation", "element type", "accumulated in", *map(count_text, sizes)], rows, "lll" + "r" * len(sizes)
    ) if rows else ""


def ratio_text(cell: AgainstCub | None) -> str:
    return f"{'≈ ' * cell.within_tick}{cell.cub_over_ours:.2f}" if cell else DASH


def promises(folder: Path) -> str:
    return "\n".join(tables_of_promises(folder))


def promises_of_cards(folders: Sequence[Path]) -> str:
    """The first table; all others are folded away."""
    first, *others = [text for folder in folders for text in tables_of_promises(folder)] or [NOT_MEASURED]
    if not others:
        return first
    return "\n".join([first, "<details>\n<summary>The same for float64, and on other cards</summary>\n", *others,
                      "</details>\n"])


def tables_of_promises(folder: Path) -> list[str]:
    """What SameBits and CompensatedSum cost: a table per type of their times beside those of the header's sum in its
    usual order and of CUB's."""
    cells = {(cell.case, cell.elements): cell for cell in read_as(folder, "against_cub", AgainstCub)}
    if not any(case in PROMISES for case, _ in cells):
        return []
    gpu = results.measured(folder).gpu
    return [promises_of_type(cells, element_type, gpu) for element_type in ("float32", "float64")]


def promises_of_type(cells: AgainstCubCells, element_type: str, gpu: str) -> str:
    def ms(name: str, elements: int) -> float | None:
        cell = cells.get((f"{name}_{element_type}", elements))
        return cell.ms.median if cell else None

    rows = []
    for elements in PROMISE_SIZES:
        usual, *promised = (ms(name, elements) for name in ("sum", "same_bits", "compensated"))
        if any(promised):
            cub = cells[f"sum_{element_type}", elements].cub_ms.median if usual else None
            rows.append([count_text(elements), microseconds(usual), *(
                text for own in promised for text in (microseconds(own), or_dash(own and usual and usual / own, 2))),
                microseconds(cub)])
    return table([f"{element_type} on one {gpu}, µs", "Sum", "SameBits", "Sum's time / its own", "CompensatedSum",
                  "Sum's time / its own", "CUB's sum"], rows)


def microseconds(ms: float | None) -> str:
    return or_dash(ms and 1e3 * ms, 1)


def atomics(folder: Path) -> str:
    """The kernels that add with atomics, beside what others have published."""
    found = read(folder, "atomics")
    return table(["kernel", "type", "elements", "ms", "GB/s", "% of peak", "published"], [
        [result.step, result.type, elements_of(result), f"{result.median_ms:.4f}", f"{result.bandwidth:.1f}",
         or_dash(result.percent_of_peak, 1), published(result)] for result in found], "llrrrrl") if found else ""


def peers(folder: Path, only: Sequence[str] = ELEMENT_TYPES) -> str:
    """The tables of `compare`, one for each of these types."""
    found = read(folder, "peers")
    tables = peer_tables(found, only)
    # Those of libraries that say their own version: torch 2.8.0.
    if versions := dict.fromkeys(result.version for result in found if " " in result.version):
        tables.append(f"The libraries: {', '.join(versions)}.\n")
    return "\n".join(tables)


def section(shown: Callable[[Path], str], folder: Path = H200) -> str:
    """A section of a page that has a place for it, whether it was measured or not."""
    return shown(folder) or NOT_MEASURED


def sections(*shown: Callable[[Path], str]) -> dict[str, Callable[[], str]]:
    """Those of the H200, by the names of what makes them."""
    return {show.__name__: partial(section, show) for show in shown}


# ---- the page of the folder ----


def card_page(folder: Path, programs: Programs) -> str:
    """The README of a card's folder: a section for each file of results. Throws BadUsage where one does not fit."""
    measured, first = results.measured(folder), bandwidth.first_on_gpu(folder)
    ladder, blocks, sizes, types = (read(folder, name) for name in (
        "ladder", "sweep_block", "sweep_size", "sweep_type"))
    elements = elements_of(first)
    text = (
        f"# Results · {measured.gpu}\n\n{provenance(folder)}\n"
        f"Peak: {or_dash(first.device.peak_gbps, 0)} GB/s (memory clock × bus width × 2 / 8). Each time is the median "
        "of a run's samples; [the method](../../method.md) says how they are taken; [the studies](../../studies.md) "
        "say what sweeps show. This page is written by `python3 -m tools write-pages` from the JSON files beside it.\n")
    for title, file, plot, what, shown in (
            # The first of the tables that the ladder ends with.
            ("The ladder", "ladder", "ladder", f"{elements} {first.type}{in_blocks(ladder)}",
             programs.text("ladder_table", folder / "ladder.json").split("\n\n")[0] + "\n"),
            ("The roofline", "ladder", "roofline", "Additions per second against additions per byte: "
             "[why bandwidth](../../why_bandwidth.md#one-addition-for-four-bytes)", bandwidth.roofs([folder])),
            ("Block size", "sweep_block", "sweep_block", f"GB/s of {elements} {first.type} in blocks of 32 to 1024 "
             "threads", bandwidth_table(blocks, "GB/s with blocks of", lambda result: result.step,
                                        lambda result: str(result.block or "its own"))),
            ("Array size", "sweep_size", "bandwidth", f"GB/s of {first.type}{in_blocks(sizes)}",
             bandwidth_table(sizes, "elements", elements_of, lambda result: result.step)
             + "\nThe same as time against size:\n\n![Time against array size](sweep_size.svg)\n"),
            ("Element type", "sweep_type", "sweep_type", f"GB/s of {range_of_elements(types)} elements"
             f"{in_blocks(types)}", bandwidth_table(types, "GB/s", lambda result: result.step,
                                                    lambda result: result.type)),
            # Not every card has these results.
            ("12_any_operation against CUB", "against_cub", "", "CUB's time over that of 12_any_operation: above 1 CUB "
             "takes longer ([when and how it was measured](../README.md#the-files))", against_cub(folder)),
            ("Sums that promise more", "against_cub", "", "What "
             "[SameBits and CompensatedSum](../../../beyond/14_same_bits/README.md) of 12_any_operation's header take, "
             "beside its sum in the usual order and CUB's", promises(folder)),
            ("Peers", "peers", "", "GB/s, and the share of CUB's, in one run of `python3 -m tools compare`. A dash is "
             "what a program cannot sum or was not measured on", peers(folder)),
            ("Atomics", "atomics", "", "The kernels of [beyond/atomics](../../../beyond/atomics/README.md) beside what "
             "others have published", atomics(folder))):
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
