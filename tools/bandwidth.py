"""The tables of docs/why_bandwidth.md, work_and_depth.md and small_inputs.md: what a card could do, by its results and
its counts, and what steps ask of it.

Where a number is not measured, it is one of NVIDIA's, which the page names.
"""

import math
import re
from collections.abc import Sequence
from pathlib import Path

from tools import counters, results
from tools.command_line import REPOSITORY, read_text
from tools.markdown import fixed, table
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


# ---- work and depth ----


def work_and_depth(folder: Path = H200) -> str:
    """Of each kernel, with its threads as processors and an addition as the unit of time."""
    ladder = [result for result in results.read(folder, "ladder") if result.block is not None]
    elements = ladder[0].elements
    work, levels = elements - 1, math.ceil(math.log2(elements))
    # Atomics wait for each other. What comes before them: a vector's four additions, or an addition and the block's.
    kernels = [("00_cpu_serial", 1, work), ("atomic_each", elements, elements),
               ("atomic_vector", elements // 4, 4 + elements // 4),
               *((f"atomic_{name}", elements // 2, 1 + of_block + elements // 512)
                 for name, of_block in (("shared", 256), ("leader", 255), ("block", 8))),
               *((result.step, result.passes[0].blocks * (result.block or 0), in_a_row(result)) for result in ladder)]
    rows = []
    for name, threads, depth in kernels:
        efficient = {"work": True, "step": depth < 2 * levels, "cost": threads * depth < 2 * work}
        rows.append([name, f"{threads:,}", f"{work / threads + levels:,.0f}", f"{depth:,}", f"{work / depth:,.0f}",
                     f"{threads * depth / work:,.2f}", ", ".join(name for name, holds in efficient.items() if holds)])
    return table(["kernel", "threads p", f"W/p + {levels}", "S, additions in a row", "parallelism W/S", "cost p·S/W",
                  "efficient in"], rows, "lrrrrrl")


def in_a_row(result: Result) -> int:
    """The additions of thread 0, which has the most: of what it loads, and of its block's tree."""
    block, step = result.block or 0, result.step
    tree = 10 if step >= "08" else block.bit_length() - 1  # of two warps, one after the other, or of the block
    additions = 0
    for one in result.passes:
        if step < "09":  # two elements of each tile; before 07 the first of them is added to nothing
            turn = 2 * one.blocks * block
            loads = math.ceil(one.elements / turn) + math.ceil(max(one.elements - block, 0) / turn)
            additions += tree + (0 if step < "04" else loads - 1 if step < "07" else loads)
        else:  # vectors of four, in 11 two of each tile
            turn = one.blocks * (2048 if step >= "11" else block)
            additions += tree + 4 * math.ceil(one.elements / 4 / turn) * (2 if step >= "11" else 1)
    left = result.passes[-1].blocks  # in a single pass the last block adds up what the others have left
    return additions + (math.ceil(left / block) + tree if left > 1 else 0)


# ---- latency ----


def bytes_needed(folder: Path) -> float:
    """Little's law: what has to be under way at one multiprocessor all the time."""
    return peak(folder) * LATENCY / clock(folder) / multiprocessors(folder)


# Steps with as many bytes under way as the one before them, and those below which a thread asks for so many.
AS_THE_ONE_BEFORE = "02_nondivergent", "03_sequential", "05_unroll_warp", "06_templated"
OF_THREAD = {"04_first_add": 4, "09_vector_loads": 8, "11_bulk_copy": 64}


def in_flight(folder: Path = H200) -> str:
    needed = bytes_needed(folder)
    rows = []
    for result in results.read(folder, "ladder"):
        if result.block is None or result.step in AS_THE_ONE_BEFORE:
            continue
        blocks = min(THREADS // result.block, math.ceil(result.passes[0].blocks / multiprocessors(folder)))
        # What a thread asks for before it needs the first of it. For 11 the TMA asks: of its three stages with 32 KiB
        # each, two are under way while one is read.
        of_thread = next((size for end, size in OF_THREAD.items() if result.step < end), None)
        each = of_thread * result.block if of_thread else 2 * 2048 * 16
        rows.append([result.step, f"{blocks} × {result.block}", fixed(of_thread, 0), f"{blocks * each / 1024:.0f}",
                     f"{blocks * each / needed:.1f}", f"{result.bandwidth:.1f}", f"{result.percent_of_peak:.1f}"])
    text = table(["step", "blocks × threads", "bytes per thread", "KiB under way", "× needed", "GB/s", "% of peak"],
                 rows)
    return (f"Needed: {peak(folder) / 1e9:.0f} GB/s × {LATENCY:.0f} cycles ÷ {clock(folder) / 1e9:.2f} GHz ÷ "
            f"{multiprocessors(folder)} multiprocessors = **{needed / 1024:.1f} KiB** per multiprocessor.\n\n{text}")
