"""docs/why_bandwidth.md: what its text says is what its tables are made of, and these agree with the programs."""

import math
from pathlib import Path

import pytest

from tools import bandwidth, counters
from tools.command_line import REPOSITORY
from tools.nsight_compute import INSTRUCTIONS
from tools.programs import Programs
from tools.results import CARDS, H100, Result, read_list
from tools.results import H200 as CARD

PAGE = (REPOSITORY / "docs/why_bandwidth.md").read_text("utf-8")
LADDER: dict[str, Result] = {result.step: result for result in read_list(CARD / "ladder.json", Result)}


def says(*texts: str) -> None:
    for text in texts:
        assert text in PAGE


def additions_of(card: Path) -> dict[str, float]:
    return bandwidth.additions_per_second(bandwidth.first_on_gpu(card), 1980)


def test_roofs() -> None:
    roofs = additions_of(CARD)
    # An addition takes half of what NVIDIA's data sheet counts for a multiplication with an addition: 67 · 10^12.
    assert round(2 * roofs["float32"] / 1e3) == 67
    assert min(roofs.values()) > 10 * bandwidth.INTENSITY * bandwidth.peak(CARD) / 1e9
    assert not bandwidth.additions_per_second(LADDER["01_interleaved"], None)
    says("more than ten times as fast", "132 multiprocessors, times 1.98 GHz, the highest clock of both cards",
         "Both cards have the same flat roofs, and the H100 a lower slope")
    assert all((bandwidth.multiprocessors(card), bandwidth.clock(card)) == (132, 1.98e9) for card in CARDS)
    assert additions_of(H100) == roofs and bandwidth.peak(H100) < bandwidth.peak(CARD)


def test_instructions() -> None:
    _, gpu = counters.read(counters.FOLDER / "nvidia_h200.csv")
    per_byte = bandwidth.SCHEDULERS * bandwidth.multiprocessors(CARD) * bandwidth.clock(CARD) / bandwidth.peak(CARD)
    bound = [step for step, counted in gpu.items() if counted[INSTRUCTIONS] / per_byte > 2**22 * 4]
    assert bound == sorted(gpu)[:5]
    says("Up to 05 the instructions alone take longer than the bytes")
    # With a memory that is a third slower.
    on_h100 = next(result for result in read_list(H100 / "ladder.json", Result) if result.step == "06_templated")
    assert on_h100.bandwidth > 0.96 * LADDER["06_templated"].bandwidth and bandwidth.peak(H100) < 0.7 * bandwidth.peak(
        CARD)
    says("06 is as fast on an H100, whose memory is slower")


def test_work_and_depth() -> None:
    cascade, first = LADDER["07_cascade"], LADDER["01_interleaved"]
    work, depth, threads = cascade.elements - 1, int(math.log2(cascade.elements)), 132 * bandwidth.THREADS
    assert threads == cascade.passes[0].blocks * (cascade.block or 0)
    time, loop = bandwidth.additions_in_a_row(cascade), bandwidth.additions_of_a_thread("07", work + 1, threads)
    assert threads * time / work < 1.03
    assert bandwidth.additions_in_a_row(first) == 32 and len(first.passes) == 4
    says(f"W = {work:,} and S = {depth}, so the parallelism is {work / depth / 1e6:.1f} million".replace(",", " ", 2),
         f"room for {threads:,} threads".replace(",", " "),
         f"{work // threads + 1} + {depth} steps, and 07 needs {time}",
         f": {loop} in the loop", "its cost is 32 times the work", "within 3 %")


@pytest.mark.parametrize("step, to_zero", [("01_interleaved", 3), ("03_sequential", 3), ("04_first_add", 2),
                                           ("07_cascade", 0)])
def test_additions_are_those_of_the_tolerance(bin_folder: Path, step: str, to_zero: int) -> None:
    """It is Σ|x| · d·u / (1 − d·u), with one more in d for the result, and the first addition of a thread, to zero."""
    result = Programs(bin_folder).result(step, *"--device emulated --counters off --data ones -t float32".split(),
                                         "-n", "1000003")
    share = float(result.tolerance) / result.elements
    depth = round(share / (1 + share) * 2**24) - 1
    assert depth == bandwidth.additions_in_a_row(result) + to_zero


def test_bytes_under_way() -> None:
    by_threads = [bandwidth.THREADS * bandwidth.bytes_of_a_thread(step) for step in ("01", "07", "09")]
    assert by_threads == [8 << 10, 16 << 10, 128 << 10]
    assert by_threads[0] < bandwidth.bytes_needed(CARD) < by_threads[1]
    says("twice the 8 KiB", "eight times as much under way")
    memories = (REPOSITORY / "docs/cuda_in_ten_minutes.md").read_text("utf-8")
    assert f"| about {bandwidth.LATENCY:.0f} |\n" in memories
    assert f"{bandwidth.LATENCY:.0f} cycles are {bandwidth.LATENCY / 1980:.2f} µs at 1.98 GHz" in memories
    # 11 with a quarter of the threads, which 2 blocks of 256 are.
    by_block = {result.block: result.bandwidth for result in read_list(CARD / "sweep_block.json", Result)
                if result.step == "11_bulk_copy"}
    assert by_block[256] > 0.99 * by_block[1024]


def test_small_inputs() -> None:
    cascade = {result.elements: result for result in read_list(CARD / "sweep_size.json", Result)
               if result.step == "07_cascade"}
    assert [len(cascade[size].passes) for size in (2**10, 2**16)] == [1, 2]
    assert cascade[2**20].median_ms < 2 * cascade[2**10].median_ms
    assert round(1e3 * (cascade[2**16].median_ms - cascade[2**10].median_ms)) == 3
    says("and a further pass about three more")
