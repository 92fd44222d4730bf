"""The tables of docs/why_bandwidth.md: what a card could do, by its results and its counts, and what steps ask of it.

Where a number is not measured, it is one of NVIDIA's, which the page names.
"""

import math
import re
from collections.abc import Sequence
from pathlib import Path

from tools import counters, results
from tools.command_line import REPOSITORY, read_text
from tools.markdown import DASH, count_text, fixed, table
from tools.nsight_compute import INSTRUCTIONS, TIME
from tools.results import CARDS, H200, Result

# Additions per clock cycle on one multiprocessor: CUDA C++ Programming Guide, "Throughput of Native Arithmetic
# Instructions".
ADDITIONS = {"int32": dict.fromkeys(["7.0", "7.5", "8.0", "8.6", "8.9", "9.0"], 64),
             "float32": {"7.0": 64, "7.5": 64, "8.0": 64, "8.6": 128, "8.9": 128, "9.0": 128}}
# Warp instructions that a multiprocessor can begin in a clock cycle: one for each of its schedulers.
SCHEDULERS = 4
INTENSITY = 1 / 4  # additions per byte, of a sum of 4-byte numbers
THREADS = 2048  # that a multiprocessor of an H200 has room for
# Of a load from an H200's global memory, in cycles, of which the last digit differs from run to run.
LATENCY = round(float(re.findall(r"^global memory: .* ([\d.]+) cycles$", read_text(
    REPOSITORY / "docs/first_program/nvidia_h200.txt"), re.MULTILINE)[0]), -1)
SHOWN = ("01_interleaved", "04_first_add", "07_cascade", "09_vector_loads", "10_single_pass", "11_bulk_copy")


def first_on_gpu(folder: Path) -> Result:
    return next(result for result in results.read(folder, "ladder") if result.on_gpu)


def multiprocessors(folder: Path) -> int:
    return first_on_gpu(folder).device.sms or 0


def peak(folder: Path) -> float:
    """Bytes per second."""
    return (first_on_gpu(folder).device.peak_gbps or 0) * 1e9


def clock(folder: Path) -> float:
    """The highest of the multiprocessors, in Hz."""
    return (results.measured(folder).clock_mhz or 0) * 1e6


def additions_per_second(first: Result, clock_mhz: int | None) -> dict[str, float]:
    """The most that a card can do, in 10^9, for each type; nothing where its clock or architecture is not known."""
    return {kind: of[first.device.compute_capability or ""] * (first.device.sms or 0) * clock_mhz / 1e3
            for kind, of in ADDITIONS.items() if clock_mhz and first.device.compute_capability in of}


# ---- the two roofs ----


def roofs(cards: Sequence[Path] = CARDS) -> str:
    """How many additions there could be, and how many there can be with the bytes that arrive; nothing where a card
    does not tell its peak or its clock."""
    rows: list[list[str]] = []
    for card in cards:
        first, measured = first_on_gpu(card), results.measured(card)
        of_memory = (first.device.peak_gbps or 0) * INTENSITY
        rows += [[measured.gpu, kind, str(ADDITIONS[kind][first.device.compute_capability or ""]), f"{number:.0f}",
                  f"{number / of_memory * INTENSITY:.1f}", f"{of_memory:.0f}", f"{of_memory / number * 100:.1f} %"]
                 for kind, number in additions_per_second(first, measured.clock_mhz).items() if of_memory]
    return table(["GPU", "type", "additions per cycle and multiprocessor", "10⁹ additions/s: the flat roof",
                  "additions per byte where the roofs meet", "10⁹ additions/s at the peak of memory",
                  "of the flat roof"], rows, "llrrrrr")


def instructions(folder: Path = H200) -> str:
    """For 2^22 int32: the time that its bytes take at the peak, and that its instructions take if none ever waits."""
    per_second = SCHEDULERS * multiprocessors(folder) * clock(folder)
    for_memory = 2**22 * 4 / peak(folder) * 1e6
    _, gpu = counters.read(counters.FOLDER / f"{folder.name}.csv")
    rows = []
    for step, counted in gpu.items():
        for_instructions, measured = counted[INSTRUCTIONS] / per_second * 1e6, counted[TIME] / 1e3
        rows.append([step, f"{counted[INSTRUCTIONS] / 2**22:.2f}", f"{for_instructions:.1f}", f"{for_memory:.1f}",
                     f"{measured:.1f}", "instructions" if for_instructions > for_memory else "memory"])
    return table(["2^22 int32, first pass", "warp instructions per element", "µs for these, at the least",
                  "µs for the bytes, at the least", "µs, by Nsight Compute", "which is longer"], rows, "lrrrrl")


# ---- latency ----


def bytes_needed(folder: Path) -> float:
    """Little's law: what has to be under way at one multiprocessor all the time."""
    return peak(folder) * LATENCY / clock(folder) / multiprocessors(folder)


def in_flight(folder: Path = H200) -> str:
    needed = bytes_needed(folder)
    rows = []
    for result in results.read(folder, "ladder"):
        if result.block is None or result.step not in (*SHOWN, "08_warp_shuffle"):
            continue
        blocks = min(THREADS // result.block, math.ceil(result.passes[0].blocks / multiprocessors(folder)))
        # What a thread asks for before it needs the first of it. For 11 the TMA asks: of its three stages with 32 KiB
        # each, two are under way while one is read.
        of_thread = next((size for end, size in {"04": 4, "09": 8, "11": 64}.items() if result.step < end), None)
        each = of_thread * result.block if of_thread else 2 * 2048 * 16
        rows.append([result.step, f"{blocks} × {result.block}", fixed(of_thread, 0), f"{blocks * each / 1024:.0f}",
                     f"{blocks * each / needed:.1f}", f"{result.bandwidth:.1f}", f"{result.percent_of_peak:.1f}"])
    text = table(["step", "blocks × threads", "bytes per thread", "KiB under way", "× needed", "GB/s", "% of peak"],
                 rows)
    return (f"Needed: {peak(folder) / 1e9:.0f} GB/s × {LATENCY:.0f} cycles ÷ {clock(folder) / 1e9:.2f} GHz ÷ "
            f"{multiprocessors(folder)} multiprocessors = **{needed / 1024:.1f} KiB** per multiprocessor.\n\n{text}")


# ---- small inputs ----


def half_from(swept: Sequence[Result]) -> int:
    """The number of elements from which on half of the best bandwidth is reached."""
    best = max(result.bandwidth for result in swept)
    return min(result.elements for result in swept if result.bandwidth >= best / 2)


def small_inputs(folder: Path = H200) -> str:
    """Times over sizes, and from which size on a step has half of its own best."""
    swept = results.read(folder, "sweep_size")
    sizes = [2**k for k in (10, 16, 20, 22, 24, 28)]
    bytes_per_second = peak(folder)
    rows = [["*its bytes at the peak*", *(f"{4 * size / bytes_per_second * 1e6:.1f}" for size in sizes), DASH, DASH]]
    for step in SHOWN:
        of_step = [result for result in swept if result.step == step]
        times = {result.elements: result.median_ms * 1e3 for result in of_step}
        best = max(result.bandwidth for result in of_step)
        rows.append([step, *(f"{times[size]:.1f}" for size in sizes), f"{best:.0f}", count_text(half_from(of_step))])
    return table(["µs", *map(count_text, sizes), "best GB/s", "half of it from"], rows)
