"""What holds the figures of the pages: data, programs, code, other tests, and sources (page_numbers_test.py).

A page is held by sentences, or parts of them, as a reader sees them: without the marks of links and bold text.
"""

import functools
import inspect
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from figures import NUMBER_WORDS
from tools import bandwidth, ptx, results, rounding
from tools.command_line import REPOSITORY
from tools.programs import Programs
from tools.results import Result

CARD = REPOSITORY / "docs/results/nvidia_h200"

# What pages may say anywhere, and who says so.
FACTS = {
    r"(all )?(its |the )?32 (neighbouring )?(lanes|threads)\b": "CUDA C++ Programming Guide: a warp has 32 threads",
    r"32 banks( of 4(-byte words| bytes))?\b": "CUDA C++ Programming Guide, Shared Memory: 32 banks of 32 bits",
    r"1024 threads\b": "CUDA C++ Programming Guide, Compute Capabilities: the most of a block",
    r"(sectors? of |distinct |`sectors` \(of )32[ -]bytes?\b": "Nsight Compute, Kernel Profiling Guide: a sector",
    r"(\b\d+, )*(\b\d+ (or|and) )?\b(4|8|16)[ -]bytes?\b": "C++: sizes of element types, a word, a vector",
    r"all-reduce of 8 bytes is reported to take 19 to 20 µs \(nccl-tests, issue 150\)": "two A100, 2023",
    r"cache lines of 64 bytes": "x86-64 and AArch64: a cache line",
    r"clock × bus width × 2 / 8": "DDR memory: two transfers a clock, 8 bits a byte",
    r"GB/s, 10⁹ bytes per second": "SI: giga",
    r"CUDA in ten minutes|tail that takes 64 threads for granted|Four loads of 16 bytes at a time": "a title",
    r"Homework in five minutes": "docs/teaching.md: a plan",
    r"structs of 12 or 24 bytes|They have 24 bytes": "C++: the size of three words, or of three doubles",
    r"right, but reads twice the bytes": "BLAS: a dot product has two vectors",
    r"More than 48 KiB of shared memory per block must be requested": "CUDA C++ Programming Guide, Shared Memory",
    r"after 30 to 40 seconds, and all of it takes 1½ to 2 minutes": "a first ./run_ladder.sh on two days",
    r"Give the ring four stages of 16 KiB|a ring of one stage of 32 KiB": "words of an exercise",
}

# What code says: the sentence, the file, and its words there.
IN_CODE: dict[str, list[tuple[str, str, str]]] = {
    "README.md": [
        ("until they agree within 0.5 %, for 2 s at most", "common/harness/sampling.cpp", "close_enough = 0.005;"),
        ("for 2 s at most", "common/harness/sampling.cpp", "longest_seconds = 2.0;")],
    "docs/CONTRIBUTING.md": [
        ("the mistakes alone 50 minutes on two cores", "tests/mutants.py", "about 50 minutes on two cores")],
    "common/README.md": [
        ("n over 1024 threads per multiprocessor, and 128 more", "common/harness/reduction_plan.cpp",
         "n / (std::size_t{1024} * std::max(1u, device.sms)) + 128;")],
    "beyond/09_vector_loads/README.md": [
        ("first four loads, then the additions", "beyond/09_vector_loads/kernel.cuh", "k < 4;"),
        ("for three loads with a test each", "beyond/09_vector_loads/kernel.cuh", "k < 3;"),
        ("That four loads are under way at once", "beyond/09_vector_loads/kernel.cuh", "loaded[4];"),
        ("The four loads in the machine code", "beyond/09_vector_loads/kernel.cuh", "loaded[4];")],
    "beyond/11_bulk_copy/README.md": [
        *((sentence, "beyond/11_bulk_copy/kernel.cuh", "stages = 3, tile = 2048;") for sentence in (
            "one thread asks for 32 KiB at once", "a whole tile, here 32 KiB", "it does not add 32 KiB in the time",
            "it sets up three barriers")),
        ("which has 228 KiB of shared memory", "common/emulated/run/device.cpp", "per_sm = std::size_t{228} << 10"),
        ("takes 1 KiB of it for each block", "common/emulated/run/device.cpp", "_bytes = std::size_t{1} << 10"),
        ("has room for 2048 threads", "common/emulated/run/device.cpp", "threads_per_sm = 2048,")],
    "beyond/12_any_operation/README.md": [
        ("one thread can ask for 32 KiB at once", "beyond/12_any_operation/reduction/constants.cuh",
         "bulk_stage_bytes = 32 << 10;"),
        ("one cluster of eight blocks", "beyond/12_any_operation/reduction/constants.cuh", "cluster_blocks = 8;"),
        ("so the four loads share one address", "beyond/12_any_operation/reduction/constants.cuh", "loads = 4;")],
    "beyond/14_same_bits/README.md": [
        ("the last round of blocks took up to 2.6 % of the time", "beyond/12_any_operation/reduction/constants.cuh",
         "took 2.6 % of the time"),
        ("if an element has more than 64 bytes", "beyond/12_any_operation/reduction/constants.cuh",
         "sizeof(T) <= 64 ? loads : 1;"),
        ("draws 500 calls", "tests/same_bits/main.cu", "prints the lines of 500 cases")],
    "beyond/13_many_gpus/README.md": [("Three runs warm up", "common/harness/timing_method.hpp", "warm_up_runs = 3;")],
    "beyond/peers/README.md": [
        ("the median of 100 samples", "tools/compare.py", "default=100")],
    "docs/results/README.md": [
        ("`--sweep block`: 32 to 1024 threads", "common/harness/options.hpp", "{32, 64, 128, 256, 512, 1024};"),
        ("the three atomics", "common/steps.txt", """
atomic_each       aside   any     beyond/atomics
atomic_vector     aside   any     beyond/atomics
atomic_block      aside   any     beyond/atomics
""")],
    "docs/counters/README.md": [
        ("must agree within 4 % of the wavefronts", "tools/counters.py", "NOISE = 0.04")],
    "docs/method.md": [
        ("a buffer of twice the L2's size", "common/harness/timing_method.hpp", "return 2 * l2_bytes;"),
        ("then three times more to warm up", "common/harness/timing_method.hpp", "warm_up_runs = 3;"),
        ("at least ten of them", "common/harness/sampling.cpp", "fewest = 10;"),
        ("nine in ten lie within 0.5 % of each other", "common/harness/sampling.cpp", "close_enough = 0.005;"),
        ("after two seconds", "common/harness/sampling.cpp", "longest_seconds = 2.0;")],
    "docs/glossary.md": [
        ("The times that 5 % and 95 % of the samples stay below", "common/harness/sampling.cpp", "0.95")],
    "docs/pitfalls/endless_loop.md": [
        ("where 2^21 barriers have gone by", "common/emulated/run/watchdog.cpp", "most_alike_watches = 4;"),
        ("nor a barrier has 10 s", "common/emulated/run/grid_context.hpp", "loop_limit = std::chrono::seconds{10};")],
    "docs/pitfalls/warp_synchronous_tail.md": [
        ("once 32 threads are left", "docs/pitfalls/warp_synchronous_tail.cuh", "if (tid < 32) {")],
}

# What another test holds: its name, and the sentences; … stands for the rest of a row of a table.
HELD: dict[str, dict[str, list[str]]] = {
    "README.md": {"repository_test.py::test_counts_of_the_readme": [
        "shared memory requests per block: 150 → 45", "shared memory wavefronts per block: 150 → 45",
        "block barriers per block: 9 → 3"]},
    "01_interleaved/README.md": {
        "step_pages_test.py::test_the_levels_of_01_and_02": [
            "| warps that add | …", "| threads that add | …", "that is 5.4 active lanes of 32",
            "47 × 3 + 8 + 1 = 150 requests"]},
    "02_nondivergent/README.md": {
        "step_pages_test.py::test_the_levels_of_01_and_02": [
            "| warps that add in 01 | …", "| warps that add in 02 | …", "| lanes in one bank in 02 | …",
            "12 × 3 + 8 + 1 = 45 requests per block"]},
    "04_first_add/README.md": {
        "step_pages_test.py::test_passes": ["03 needs 4096 → 16 → 1 blocks", "512 → 2 → 1 blocks become 256 → 1"],
        "step_pages_test.py::test_the_barriers_of_04": [
            "Of the 9 block barriers, 6 follow levels with `stride` 32 or less"]},
    "05_unroll_warp/README.md": {
        "step_pages_test.py::test_the_counts_of_05": ["6 × 3 requests become 1 + 6 × 2"]},
    "06_templated/README.md": {"step_pages_test.py::test_the_instructions_of_06": [
        "The 13 instructions of a level become 7", "127 in the test, 128 × 4 = 512 bytes in the address"]},
    "07_cascade/README.md": {
        "step_pages_test.py::test_passes": ["step 06 needs 8192 → 16 → 1 blocks"],
        "step_pages_test.py::test_the_numbers_of_07": [
            "a tree in each of 525 315 blocks"]},
    "beyond/08_warp_shuffle/README.md": {"step_pages_test.py::test_the_numbers_of_08": [
        "45 shuffles: 8 warps with 5 each, and 5 of the first", "The tree of 07 is 76 instructions",
        "counts 1229 warp instructions per block instead of 1244 and, as the emulated device, 8 stores to shared "
        "memory and 1 load"]},
    "beyond/09_vector_loads/README.md": {"step_pages_test.py::test_the_numbers_of_09": [
        "8 bytes. With 2048 threads, the most that fit, that is 16 KiB",
        "64 bytes under way, a full multiprocessor 128 KiB", "132162 requests for 2²² elements in both steps",
        "65 536 registers for 2048 threads are 32 for each. Four vectors alone are 16",
        "first 1024 blocks sums 4096 elements: 8 warps with 4 loads of 16 sectors",
        "each of 1056 blocks has 124 loads of 4 sectors", "8 KiB under way, where about 12 are needed"]},
    "beyond/10_single_pass/README.md": {
        "step_pages_test.py::test_the_numbers_of_10": [
            "A block meets 2 barriers", "there are 256 blocks: 256 atomics, and 513 barriers",
            "from 2¹⁵ to 2¹⁷ the two steps are within 7.1 % of each other"],
        "solutions_test.py::test_the_shuffles_of_10": [
            "1 block barrier and 46 shuffles per block", "where each of 256 threads added 4"]},
    "beyond/11_bulk_copy/README.md": {
        "beyond_pages_test.py::test_the_registers_and_copies_of_11": [
            "times the 2048 threads that a multiprocessor has room for, are 128 KiB", "16 registers, and no such load"],
        "beyond_pages_test.py::test_the_bandwidth_of_11_over_blocks_and_sizes": [
            "With 256 threads it does not fall, and from 512 down to 64 it changes by 2 %", "falls by 22 %"],
        "beyond_pages_test.py::test_the_rings_of_11": [
            "Two blocks with a ring of 96 KiB fit", "at least 128 KiB at any time", "| three stages of 32 KiB | …",
            "| four stages of 16 KiB | …", "| one stage of 32 KiB | …", "with 256 threads a third block fits"]},
    "beyond/12_any_operation/README.md": {
        "beyond_pages_test.py::test_the_methods_of_12": [
            "| up to 16 KiB |", "| up to 64 KiB |", "| up to 256 KiB |", "| up to 1 GiB |", "| 4 KiB |", "| 16 KiB |",
            "| 128 KiB |", "| 4 MiB |", "| 2 GiB |"],
        "beyond_pages_test.py::test_12_beside_11_and_cub": ["takes only 1 to 2 % longer than 12's"],
        "beyond_pages_test.py::test_12_with_small_types": ["of as many bytes of `float` on one H200, within 5 %"]},
    "beyond/13_many_gpus/README.md": {
        "beyond_pages_test.py::test_the_ranks_of_13": [
            "Two H200 reach 1.992 times the bandwidth", "0.4 % is missing, some 31 µs of 7.5 ms", "not its 34 GB",
            "64 bytes of each GPU cross the wires, 8 values", "With 2²⁴ in all they are 1.37 times as fast as one",
            "takes one GPU 14.1 µs, where all of them take 21.4", "Combining adds 1.5 µs"],
        "beyond_pages_test.py::test_what_combining_costs_in_13": [
            "adds 1.3 µs to a sum of nothing, and 2.4 µs to one of 2²⁸ elements",
            "adds 5.7 µs and 7.8 µs", "one in twenty takes at least 3.2 % longer than the median",
            "add 4.9 µs to a sum of nothing on one GPU", "and 6.9 µs on two",
            "the bytes would take two GPUs 7.3 µs, and the whole sum takes 15.6",
            "for 2²⁴ elements on two GPUs by 14 to 16 %"],
        "beyond_pages_test.py::test_the_model_of_13": [
            "half the time of two, within 5 %", "Half the time within 5 % is", "If L is 5.0 µs and α 1.3 µs",
            "t is at least 239 µs. At the 4612 GB/s of B above these are 1.1 GB",
            "with its L of 5.1 µs and α of 5.6 µs 855 µs, more than three times as much"]},
    "beyond/14_same_bits/README.md": {
        "beyond_pages_test.py::test_the_order_of_14": [
            "one over the 16 warps", "Each of its 16 warps takes neighbouring chunks", "and two kernels above 32 KiB",
            "up to 64 KiB one block of 12 has 1024 threads",
            "goes on to 256 KiB"],
        "beyond_pages_test.py::test_the_chunks_and_barriers_of_14": [
            "which has room for 528 blocks of 512 threads", "1520 blocks wait",
            "12 has 528 blocks in its first kernel"],
        "beyond_pages_test.py::test_the_sums_with_bounds_of_14": ["| random | …", "| cancelling | …"],
        "beyond_pages_test.py::test_a_twosum_is_six_operations": [
            "five more operations find it", "It takes six operations for a TwoSum"]},
    "beyond/peers/README.md": {"beyond_pages_test.py::test_jax_beside_12": [
        "by 5 % on the H200 and by 3 % on the H100", "by less than 3 %", "9 % behind 12",
        "No other peer has more than 99.1 %"]},
    "beyond/atomics/README.md": {
        "beyond_pages_test.py::test_the_number_of_atomics": [
            "| every element | 4 194 304 |", "| 1 048 576 |", "| the sum of a block's tree | 8192 |"],
        "beyond_pages_test.py::test_the_time_of_an_atomic": ["take 1.75 to 1.77 ns per atomic"]},
    "beyond/atomics/atomic_block/README.md": {
        "beyond_pages_test.py::test_the_atomics_of_a_block": [
            "524 288 atomics, one per block. At 1.75 ns each they take 0.92 ms alone, where 04 takes 0.66 ms",
            "takes 0.088 ms on an H200, and 04, with its passes, 0.090. For `float32` it takes 0.122 ms",
            "nearly what its 65 536 atomics take alone at 1.75 ns each, 0.115 ms",
            "1056 blocks on an H200 would have 1056 atomics, at 1.75 ns each less than 2 µs",
            "take 2²¹ atomics, at 1.75 ns each 3.7 ms"],
        "beyond_pages_test.py::test_what_the_solution_of_a_block_saves": [
            "32 atomics per block instead of 1, and 4 block barriers instead of 9; 30 requests to shared memory"]},
    "beyond/atomics/atomic_each/README.md": {"beyond_pages_test.py::test_the_time_of_an_atomic": [
        "takes 58.9 ms for 2²⁵ `float32` (measured), which are 1.75 ns for each atomic"]},
    "beyond/atomics/atomic_vector/README.md": {
        "beyond_pages_test.py::test_the_time_of_an_atomic": [
            "Four times: 14.7 ms instead of 58.9 on an H200", "less than four times, 3.6 times on an H200"],
        "beyond_pages_test.py::test_the_atomics_that_eight_vectors_save": [
            "131 072 atomics for 2²² `int32`",
            "at 1.75 ns each, 1.8 ms for 2²⁵ `float32`, and the bytes alone would take 0.03 ms"]},
    "beyond/peers/cooperative_groups/README.md": {"beyond_pages_test.py::test_the_end_of_the_peer_with_groups": [
        "2541 GB/s instead of 3763", "both steps take about 4 µs there, and less than 0.2 µs lies between them"]},
    "beyond/peers/cub/README.md": {"beyond_pages_test.py::test_12_beside_11_and_cub": [
        "takes 1.17 to 1.45 times as long on an H200, for sizes between them up to 1.86 times",
        "it takes only 1 to 2 % longer"]},
    "beyond/peers/cublas/README.md": {"beyond_pages_test.py::test_the_share_of_cublas": [
        "it has 86 % for `float64` and `complex64`", "for `float32` it has 53 %, and for `complex128` 50 %"]},
    "beyond/peers/thrust/README.md": {"beyond_pages_test.py::test_the_time_that_thrust_adds": [
        "From which size on is that less than 1 % of the time?", "takes 23 to 31 µs more than CUB",
        "A hundred times that is 2.3 to 3.1 ms, in which CUB sums 11 to 14 GB at the 4529 GB/s"]},
    "common/README.md": {"input_test.py::test_the_table_is_what_the_programs_expect": [
        "| int32 | -190250652 | …", "| int64 | -817120325086700006 | …", "| float32 | 0.9114075899124146 | …",
        "| float64 | 0.9114076368358937 | …"]},
    "docs/studies.md": {
        "studies_test.py::test_beside_jax": [
            "is within 0.2 % of 12 on the H200, and 1.0 % faster on the H100", "come within 4 % of it"],
        "studies_test.py::test_block_size": [
            "128 or 256 threads are best there", "from 128 on the size matters little, by less than 4 %"],
        "studies_test.py::test_blocks_begun": [
            "With 32 and 64 threads all six steps", "run into it with 128 threads, too"],
        "studies_test.py::test_half_of_the_threads": [
            "a multiprocessor takes 32 blocks at most, and has room for 2048 threads"],
        "studies_test.py::test_array_size": [
            "at least 1.9 times as long", "01 takes about one and a half times as long for 2¹⁷ elements, three passes",
            "as for 2¹⁶, two passes"],
        "studies_test.py::test_element_type": [
            "takes 1.97 to 1.99 times as long", "little longer for twice the bytes: at most 1.30 times",
            "nearly twice as fast", "05 takes 1.4 times as long on the H100, 1.2 times on the H200", "within 2 %"]},
    "docs/why_bandwidth.md": {
        "why_bandwidth_test.py::test_roofs": ["more than ten times as fast", "132 multiprocessors, times 1.98 GHz"],
        "why_bandwidth_test.py::test_work_and_depth": [
            "its cost is 32 times the work", "room for 270 336 threads", "within 3 %"],
        "why_bandwidth_test.py::test_bytes_under_way": ["twice the 8 KiB", "eight times as much under way"],
        "why_bandwidth_test.py::test_small_inputs": ["and a further pass about three more"]},
    "docs/cuda_in_ten_minutes.md": {"why_bandwidth_test.py::test_bytes_under_way": [
        "| about 670 |", "670 cycles are 0.34 µs at 1.98 GHz"]},
    "docs/floating_point.md": {"floating_point_test.py::test_text": [
        "about as √n: 67 times from 2¹⁰ to 2²⁴", "It moves 3 times the array instead of 11"]},
    "docs/glossary.md": {"beyond_pages_test.py::test_a_twosum_is_six_operations": ["Six operations that give"]},
    "docs/no_gpu.md": {"project_files_test.py::test_hosted_gpu_commands": ["| CMake | 3.25 |"]},
    "docs/teaching.md": {
        "teaching_test.py::test_plans": ["| 90 minutes |"],
        "teaching_test.py::test_table_of_counters": [
            "| 4096 → 16 → 1 | …", "| 2048 → 4 → 1 | …", "| 512 → 1 | …"],
        "teaching_test.py::test_arithmetic": ["132 × 8 = 1056"],
        "teaching_test.py::test_answer": [
            "3907, 16 and 1 blocks", "150, with 6.81 active lanes of 32", "45 requests (12 × 3 + 8 + 1 = 45)",
            "150 wavefronts, as before", "A block has 465 conflicts", "45 wavefronts and 0 conflicts",
            "45 requests, 74 wavefronts, 0 conflicts", "2048 → 4 → 1 blocks, and 9 barriers per block as before",
            "warp 0 meets 12 warp barriers", "40 shared memory requests per block", "1056 → 1 blocks",
            "9 requests, 1 barrier and 45 shuffles", "16 sectors per request; 32776 requests instead of 131105"]}}


# ---- what data and programs say ----


class Known:
    """The programs, and what they count."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self.programs, self.scratch = Programs(folder), scratch

    @functools.cache
    def run(self, step: str, options: str = "-n 2^16") -> Result:
        return self.programs.result(step, "--device", "emulated", *options.split())

    def per_block(self, step: str, counter: str, options: str = "-n 2^16") -> int:
        """Of the first pass; `shared_requests` are those of loads and stores."""
        counted = self.run(step, options).passes[0].counters
        assert counted
        kind, _, what = counter.partition("_")
        names = [counter] if hasattr(counted, counter) else [f"{kind}_load_{what}", f"{kind}_store_{what}"]
        total: int = sum(getattr(counted, name) for name in names)
        assert total % counted.blocks == 0
        return total // counted.blocks

    @functools.cache
    def events(self, step: str, options: str) -> list[dict[str, Any]]:
        """What the first block does."""
        file = self.scratch / "trace.json"
        self.programs.text(step, "--device", "emulated", *options.split(), "-q", "--trace", file)
        return events_of(file)


def events_of(file: Path) -> list[dict[str, Any]]:
    """Those of a trace, each with the number of its interval."""
    interval, events = 0, json.loads(file.read_text(encoding="utf-8"))["events"]
    for event in events:
        event["interval"] = interval
        interval += event["kind"] == "block_barrier"
    return list(events)


def word(count: int) -> str:
    return NUMBER_WORDS[count]


Says = Callable[[Known], Iterator[str]]
SAYS: dict[str, Says] = {}


def says(page: str) -> Callable[[Says], Says]:
    """Of a function that works out what stands on a page."""

    def keep(sentences: Says) -> Says:
        SAYS[page] = sentences
        return sentences

    return keep


BLOCK = 256
WARPS = BLOCK // 32


def lanes(event: dict[str, Any]) -> int:
    return int(event["lanes"]).bit_count()


def level(events: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """The accesses to shared memory of a level of the tree, from 1 on."""
    return [event for event in events if event["interval"] == number and event["kind"].startswith("shared_")]


def stores(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One for each time that a warp adds."""
    return [event for event in events if event["kind"] == "shared_store"]


def request_of_an_addition(known: Known, step: str) -> str:
    """Of the last level, where one warp works."""
    last = level(known.events(step, "-n 2^20"), 8)
    return f"{len(last) - len(stores(last))} loads and {len(stores(last))} store"


def additions_of_warps(known: Known, step: str) -> int:
    return sum(len(stores(level(known.events(step, "-n 2^20"), number))) for number in range(1, 9))


@functools.cache
def ladder() -> dict[str, Result]:
    return {result.step: result for result in results.read_list(CARD / "ladder.json", Result)}


def multiprocessors() -> int:
    return bandwidth.multiprocessors(CARD)


def resident_blocks(known: Known) -> int:
    """Of an H200, and of the emulated device that is modelled on it."""
    [grid] = {result.passes[0].blocks for result in (ladder()["07_cascade"], known.run("07_cascade", "-n 2^22"))}
    assert grid == multiprocessors() * (bandwidth.THREADS // BLOCK)
    return grid


def l2() -> str:
    return f"{(ladder()['07_cascade'].device.l2_bytes or 0) >> 20} MiB"


def peak() -> str:
    return f"{bandwidth.peak(CARD) / 1e9:.0f} GB/s"


def gbps_by_block(step: str) -> dict[int | None, float]:
    return {result.block: result.bandwidth for result in results.read_list(CARD / "sweep_block.json", Result)
            if result.step == step}


def doubles(step: str, *blocks: int) -> str:
    """Said of blocks that have twice the threads of those before."""
    speeds = [gbps_by_block(step)[block] for block in blocks]
    assert all(abs(after / before - 2) < 0.05 for before, after in zip(speeds, speeds[1:]))
    return "twice the threads have twice the GB/s"


@says("README.md")
def of_the_readme(known: Known) -> Iterator[str]:
    yield f"the start: {known.per_block('01_interleaved', 'shared_requests')} shared memory requests per block"
    yield "at 2²⁸ elements passes: {} → {}".format(*(len(ladder()[s].passes) for s in ("06_templated", "07_cascade")))
    # The edited kernel numbers its threads column by column: `tid` of the threads of each warp.
    tids = [[lane * WARPS + warp for lane in range(32)] for warp in range(WARPS)]
    turns = sum(wavefronts(tid) for tid in tids) + 1  # the first stores, and the last load
    for stride in (128, 64, 32, 16, 8, 4, 2, 1):
        for tid in tids:
            adds = [t for t in tid if t < stride]
            turns += 2 * wavefronts(adds) + wavefronts([t + stride for t in adds])
    before = known.per_block("03_sequential", "shared_wavefronts")
    yield f"takes {turns} wavefronts of shared memory instead of {before}"
    banks = {t % 32 for t in tids[0]}
    yield (f"All 32 words are in {word(len(banks))} banks, {word(32 // len(banks))} in each, so this one request takes "
           f"{word(wavefronts(tids[0]))} wavefronts")
    yield f"{len({t * 4 // 32 for t in tids[0]})} sectors each instead of {32 * 4 // 32}"


def wavefronts(words: list[int]) -> int:
    """Of a request for words of shared memory, all different: the most in one bank."""
    return max(Counter(index % 32 for index in words).values(), default=0)


@says("00_cpu_serial/README.md")
def of_00(_: Known) -> Iterator[str]:
    levels = [4, 2, 1]  # of the tree over the eight elements of the picture
    yield f"A chain of {word(8 - 1)} additions beside a tree of {word(len(levels))} levels"
    yield f"Eight elements, {word(sum(levels))} additions either way"
    yield f"only {word(len(levels))} are in a row"
    yield f"cache lines of {rounding.LINE * 4} bytes"


@says("01_interleaved/README.md")
def of_01(known: Known) -> Iterator[str]:
    events = known.events("01_interleaved", "-n 2^20")
    at_16 = stores(level(events, 5))
    assert {lanes(event) for event in at_16} == {1}
    yield f"how many of its {WARPS} warps have work"
    yield f"so all {len(at_16)} warps work, each with one lane"
    passes = known.run("01_interleaved", "-n 1000003").passes
    yield f"{word(len(passes)).capitalize()} launches: the line `passes  3907 → 16 → 1 blocks of 256 threads`"
    yield f"{additions_of_warps(known, '01_interleaved')} times a warp adds"
    yield f"with {request_of_an_addition(known, '01_interleaved')} of shared memory"
    yield f"With the {len(stores(level(events, 0)))} first stores"
    yield f"the first pass has {known.run('01_interleaved', '-n 65536').passes[0].blocks} full blocks"


@says("02_nondivergent/README.md")
def of_02(known: Known) -> Iterator[str]:
    events = known.events("02_nondivergent", "-n 2^20")
    [at_16] = stores(level(events, 5))
    turns = word(at_16["wavefronts"])
    yield f"One request at stride 16: {word(lanes(at_16))} words of bank 0, in {turns} wavefronts"
    yield f"at stride 16: {word(lanes(at_16))} lanes ask for {word(lanes(at_16))} words"
    yield f"so it takes {turns} wavefronts"
    banks = [len(set(stores(level(events, number))[0]["banks"])) for number in range(1, 6)]
    yield "falls into {}, {} or {} banks at the first three strides".format(*banks)
    yield f"At stride 8 only {lanes(stores(level(events, 4))[0])} threads have work, in {banks[3]} banks"
    assert banks[4] == 1
    worst = {block: max(event.get("wavefronts", 0) for event in known.events("02_nondivergent", f"-n 2^20 -b {block}"))
             for block in (512, 1024)}
    assert worst[512] < worst[1024]
    yield f"The worst case needs 1024 threads: at stride 16 a full warp has all its {worst[1024]} lanes in bank 0"
    yield (f"{additions_of_warps(known, '02_nondivergent')} times a warp adds, with "
           f"{request_of_an_addition(known, '02_nondivergent')}; with the {len(stores(level(events, 0)))} first stores")
    yield doubles("02_nondivergent", 32, 64)
    yield "the {} requests take {} wavefronts".format(
        *(known.per_block("solution_02_nondivergent", f"shared_{what}") for what in ("requests", "wavefronts")))


@says("03_sequential/README.md")
def of_03(known: Known) -> Iterator[str]:
    events = known.events("03_sequential", "-n 2^20")
    [at_16] = stores(level(events, 4))
    assert at_16["wavefronts"] == 1 and known.per_block("03_sequential", "shared_conflicts") == 0
    working = word(lanes(at_16))
    yield f"{working} words in {word(len(set(at_16['banks'])))} banks, in one wavefront"
    before = lanes(stores(level(known.events("02_nondivergent", "-n 2^20"), 5))[0])
    yield f"so {working} lanes still work at stride 16, not {word(before)}"
    at_128, at_4 = stores(level(events, 1)), stores(level(events, 6))
    yield f"{word(len(at_128))} warps have {lanes(at_128[0])} neighbouring lanes each"
    yield f"At stride 4, {word(lanes(at_4[0]))} lanes ask for {word(lanes(at_4[0]))} neighbouring words"
    wide = [known.events("03_sequential", f"-n 2^20 -t {kind}") for kind in ("int64", "complex128")]
    first = [next(event for event in each if event["kind"] == "shared_store") for each in wide]
    assert [event["conflicts"] for event in first] == [0, 0]
    yield ("8-byte elements take {} wavefronts even without a conflict and its 16-byte elements {}"
           .format(*(word(event["wavefronts"]) for event in first)))
    yield f"only {sum(map(lanes, at_128))} of {BLOCK} threads work"
    strides = [96 >> k for k in range(1, 7)]
    yield "With 96 threads the strides would be {}, {}, {}, {}, {} and {}".format(*strides)


@says("05_unroll_warp/README.md")
def of_05(known: Known) -> Iterator[str]:
    yield f"A block of 256 met {known.per_block('04_first_add', 'block_barriers')} block barriers in 04"
    yield f"by which {word(WARPS - 1)} idle warps came to them"
    yield doubles("05_unroll_warp", 32, 64, 128)


@says("06_templated/README.md")
def of_06(known: Known) -> Iterator[str]:
    yield f"In 05 the compiled kernel has {ptx.COMPILED.kernels()[0].block_barriers} block barriers as instructions"
    barriers = known.per_block("06_templated", "block_barriers")
    yield f"a whole tree, with {barriers} barriers, for only {2 * BLOCK} elements"


@says("07_cascade/README.md")
def of_07(known: Known) -> Iterator[str]:
    fit = resident_blocks(known) // multiprocessors()
    yield f"{multiprocessors()} multiprocessors, each with room for {fit} blocks of 256 threads"
    of_06, of_07 = ([one.blocks for one in ladder()[step].passes] for step in ("06_templated", "07_cascade"))
    yield f"06 needs {len(of_06)} passes ({' → '.join(map(str, of_06))})"
    yield f"07 needs {len(of_07)} passes ({' → '.join(map(str, of_07))}) and {sum(of_07)} trees, as for 2²²"
    assert sum(one.blocks for one in known.run("07_cascade", "-n 2^22").passes) == sum(of_07)
    yield "at 2¹² elements {} blocks become {}, and at 2¹⁸ {} become {}".format(
        *(" → ".join(str(one.blocks) for one in known.run(step, f"-n 2^{exponent}").passes)
          for exponent in (12, 18) for step in ("06_templated", "07_cascade")))
    yield f"spread over {known.run('solution_07_cascade', '-n 2^20').passes[1].blocks} blocks"


LEVELS = 5  # of the tree of a warp


@says("beyond/08_warp_shuffle/README.md")
def of_08(known: Known) -> Iterator[str]:
    yield f"adds its {2**LEVELS} values in {word(LEVELS)} shuffles"
    before = [known.per_block("07_cascade", each) for each in ("block_barriers", "warp_barriers", "shared_requests")]
    yield "A block of 256 has {} block barriers, {} warp barriers and {} requests".format(*before)
    shared = [event for event in known.events("08_warp_shuffle", "-n 2^20") if event["kind"].startswith("shared_")]
    kept = len(stores(shared))
    yield f"{len(shared)} requests: {kept} stores, one per warp, and {len(shared) - kept} load"
    shuffles = known.per_block("08_warp_shuffle", "shuffles")
    yield (f"{before[2]} accesses, {before[1]} warp barriers, and {before[0]} block barriers that each of the {WARPS} "
           f"warps comes to. Now it is {len(shared) + shuffles + WARPS}, with {len(shared)} accesses, {shuffles} "
           f"shuffles and {WARPS} times one barrier")
    assert sorted(map(lanes, shared)) == [1] * kept + [WARPS]
    yield f"Of the {len(shared)} requests {kept} have one active lane each, and the last has {WARPS}"
    yield f"the same two times {word(LEVELS)} levels for every block size"
    yield f"has {bandwidth.bytes_of_a_thread('09')} bytes per thread under way"
    solved, requests, written = (known.per_block("solution_08_warp_shuffle", each)
                                 for each in ("shuffles", "shared_requests", "shared_store_requests"))
    yield (f"{solved} shuffles instead of {shuffles}, as each of the {WARPS} warps now does {LEVELS} + {LEVELS}. "
           f"{requests} requests: {written} stores as before")


@says("beyond/09_vector_loads/README.md")
def of_09(known: Known) -> Iterator[str]:
    before, now = (known.events(step, "-n 2^20")[0] for step in ("08_warp_shuffle", "09_vector_loads"))
    yield f"One request for {now['bytes']} bytes per lane: {lanes(now)} lanes, {now['sectors']} sectors"
    yield f"{32 * now['bytes']} bytes are under way where 08 had {32 * before['bytes']}"
    assert 8 * 16 // 4 >= 65536 // bandwidth.THREADS  # registers of 4 bytes
    yield "With eight loads each thread needs more"
    yield f"Since 08 the tree has two times {word(LEVELS)} levels"
    yield f"fetched {lanes(before)} × {before['bytes']} bytes, which are {before['sectors']} sectors of 32 bytes"
    yield f"{lanes(now)} × {now['bytes']} bytes are {now['sectors']} sectors"
    yield f"With elements of 8 and 16 bytes 08 has {2 * 8} or {2 * 16} bytes per thread under way"
    yield f"four neighbouring vectors, {4 * now['bytes']} bytes in a row"


@says("beyond/10_single_pass/README.md")
def of_10(known: Known) -> Iterator[str]:
    def passes(step: str, exponent: int) -> str:
        return " → ".join(str(one.blocks) for one in known.run(step, f"-n 2^{exponent}").passes)

    nine, ten = "09_vector_loads", "10_single_pass"
    assert passes(ten, 13) == passes(ten, 14) == "1"
    yield f"At 2¹³, {passes(nine, 13)} blocks become one"
    yield f"As soon as 10 has {word(int(passes(ten, 15)))} blocks, at 2¹⁵ elements"
    yield f"At 2²⁰, {passes(nine, 20)} blocks become {passes(ten, 20)}"


@says("beyond/11_bulk_copy/README.md")
def of_11(_: Known) -> Iterator[str]:
    yield f"there are {2**20 // (2048 * 4)} tiles for {multiprocessors()} multiprocessors"


@says("beyond/12_any_operation/README.md")
def of_12(_: Known) -> Iterator[str]:
    bytes_of_a_warp = (48 << 10) // (1024 // 32)  # of a block's shared memory
    yield f"constructible type of at most {bytes_of_a_warp} bytes"
    yield f"It may have at most {bytes_of_a_warp} bytes"


@says("beyond/13_many_gpus/README.md")
def of_13(_: Known) -> Iterator[str]:
    constants = (REPOSITORY / "beyond/12_any_operation/reduction/constants.cuh").read_text(encoding="utf-8")
    chunks, threads = (int(number) for name in ("most_chunks", "chunk_combine_block")
                       for number in re.findall(rf"constexpr unsigned {name} = (\d+);", constants))
    warps = threads // 32
    yield f"Each of its {warps} warps has neighbouring chunks"
    yield f"exchange {warps // 2} values each, not the results of {chunks // 2} chunks"
    assert round(0.99 / (1 - 0.99)) == 99
    yield "e / (1 − e) − L: for 99 %, about a hundred times as long"


@says("beyond/atomics/atomic_each/README.md")
def of_atomic_each(known: Known) -> Iterator[str]:
    yield f"how many can a GPU with {multiprocessors()} multiprocessors do at once"
    yield f"{known.per_block('atomic_each', 'atomics') // WARPS} atomics per warp"


@says("beyond/atomics/atomic_vector/README.md")
def of_atomic_vector(known: Known) -> Iterator[str]:
    load = known.events("atomic_vector", "-n 2^20 -b 64")[0]
    yield f"One request for {load['sectors']} sectors, {lanes(load)} lanes below them"
    yield f"One warp: {lanes(load) * load['bytes']} bytes come with one instruction"
    figures = {row["step"]: row["gbps"] for row in json.loads(
        (REPOSITORY / "docs/tables/2025_blog_rtx3090.json").read_text(encoding="utf-8"))["rows"]}
    yield (f"What others have published is {word(round(figures['atomic_vector'] / figures['atomic_each']))} times the "
           "figure of one atomic per element")


@says("beyond/atomics/atomic_block/README.md")
def of_atomic_block(known: Known) -> Iterator[str]:
    yield f"04 takes {word(len(ladder()['04_first_add'].passes))} passes and this kernel one launch"
    before, now = (known.per_block(name, "block_barriers") for name in ("atomic_block", "solution_atomic_block"))
    yield f"and {word(before - now)} barriers fewer"


@says("docs/solutions/README.md")
def of_the_solutions(known: Known) -> Iterator[str]:
    yield f"for {known.per_block('solution_atomic_block', 'atomics')} times the atomics"


@says("docs/why_bandwidth.md")
def of_why_bandwidth(_: Known) -> Iterator[str]:
    first = ladder()["01_interleaved"]
    depth, passes = int(math.log2(first.elements)), word(len(first.passes))
    yield (f"{bandwidth.additions_in_a_row(first)} additions in a row instead of {depth}, because each of its {passes} "
           f"passes builds a whole tree of {int(math.log2(BLOCK))} levels")
    yield f"of {BLOCK} threads {BLOCK // 2} add on the first level"
    yield f"The {(first.grid or 0) * BLOCK // 10**6} million threads of 01"


@says("common/README.md")
def of_common(known: Known) -> Iterator[str]:
    assert known.run("07_cascade").device.sms == multiprocessors()
    yield f"Its limits ({multiprocessors()} multiprocessors"
    largest = max(result.elements for result in results.read_list(CARD / "sweep_size.json", Result))
    yield f"{largest * 4 >> 30} GiB on a GPU need no {largest * 4 >> 30} GiB on the host"


@says("docs/counters/README.md")
def of_counters(known: Known) -> Iterator[str]:
    before, now = (known.events(step, "-n 2^20")[0]["sectors"] for step in ("08_warp_shuffle", "09_vector_loads"))
    yield f"one request of a warp brings {now} sectors instead of {before}"
    wide = next(event for event in known.events("03_sequential", "-n 2^20 -t complex128")
                if event["kind"] == "shared_load")
    assert (lanes(wide), wide["bytes"], wide["conflicts"]) == (32, 16, 0)
    yield f"a warp's load of 16 bytes per lane takes {word(wide['wavefronts'])} wavefronts, one per quarter of the warp"
    cases = (REPOSITORY / "docs/counters/bank_conflicts/nvidia_h200.csv").read_text(encoding="utf-8").splitlines()
    measured = [line for line in cases if not line.startswith(("#", "bytes"))]
    yield f"each of its {len(measured)} lines is one load of a warp and one store"
    adds = level(known.events("01_interleaved", "-n 2^20 -t float64"), 1)
    costs = {event["kind"]: (event["wavefronts"], event["conflicts"]) for event in adds
             if event["kind"] in ("shared_load", "shared_store")}
    assert costs == {"shared_load": (2, 1), "shared_store": (2, 0)}
    yield "It takes two wavefronts, as the store does by half warps, but one of the two counts as a conflict"


def memories() -> Iterator[str]:
    """What memories.cu and divergence.cu have printed on an H200."""
    text = (REPOSITORY / "docs/first_program/nvidia_h200.txt").read_text(encoding="utf-8")
    registers, shared, l1, l2 = re.findall(r"^(?:registers|shared memory|L1|L2)\b.* ([\d.]+) cycles$", text,
                                           re.MULTILINE)
    yield f"256 KiB per multiprocessor | {float(registers):.0f} |"
    yield f"up to 228 KiB per multiprocessor, 227 per block | {float(shared):.0f} |"
    yield f"256 KiB, together with shared memory | {float(l1):.0f} |"
    yield f"| about {round(float(l2), -1):.0f} |"
    assert "each 256 KiB of registers and up to 228 KiB of shared memory, up to 227 for one block" in text
    [gib] = re.findall(r"60 MiB of L2 and ([\d.]+) GiB of global memory", text)
    yield f"{float(gib):.0f} GiB"
    [every_other, half] = re.findall(r"^(?:every other thread|half of each block): ([\d.]+) ms$", text, re.MULTILINE)
    yield f"the first took {float(every_other):.2f} ms, the second {float(half):.2f} ms"


@says("docs/cuda_in_ten_minutes.md")
def of_ten_minutes(known: Known) -> Iterator[str]:
    yield from memories()
    fit, threads = resident_blocks(known), bandwidth.THREADS
    yield f"an H200 has {multiprocessors()}. A block"
    yield (f"room for {threads} threads, so for {threads // BLOCK} blocks of 256, and the whole device for "
           f"{threads // BLOCK} × {multiprocessors()} = {fit} of them")
    yield f"| L2 cache | all | {l2()} |"
    yield f"bring about {bandwidth.bytes_needed(CARD) / 1024:.0f} KiB to each multiprocessor, at the peak of {peak()}"
    yield f"{threads} threads with one load of 4 bytes each have {threads * 4 >> 10} KiB under way"
    blocks = [one.blocks for one in known.run("01_interleaved", "-n 1000003").passes]
    yield f"of the {blocks[0]} blocks here an H200 holds {fit} at once"
    yield "one launch leaves {} numbers, the next makes {} of these".format(*blocks)
    neighbours, apart = (len({lane * by * 4 // 32 for lane in range(32)}) for by in (1, 8))
    yield f"these are {neighbours} sectors, and every byte is used"
    yield f"it takes {apart} sectors, and seven bytes of eight were fetched for nothing"
    assert (apart * 32 - 32 * 4) / (apart * 32) == 7 / 8


@says("docs/floating_point.md")
def of_floating_point(_: Known) -> Iterator[str]:
    loop = inspect.getsource(rounding.compensated_error).partition("for number in data:")[2].partition("return")[0]
    yield f"It costs {word(len(re.findall(' [-+] ', loop)))} operations instead of one"
    yield f"in cache lines of {rounding.LINE * 4} bytes, {rounding.LINE} elements each"
    yield "`float64`: it costs twice the bytes"  # 8 and 4


@says("docs/method.md")
def of_the_method(_: Known) -> Iterator[str]:
    yield f"the default is 2²⁸ elements, {2**28 * 4 >> 30} GiB of int32"


@says("docs/glossary.md")
def of_the_glossary(known: Known) -> Iterator[str]:
    yield f"{l2()} on an H200"
    first = ladder()["01_interleaved"]
    per_byte = bandwidth.additions_per_second(first, 1980)["float32"] * 1e9 / bandwidth.peak(CARD)
    yield (f"about {per_byte:.0f} `float` additions in the time that one byte takes to arrive ({multiprocessors()} "
           f"multiprocessors × {bandwidth.ADDITIONS['float32']['9.0']} additions per cycle, CUDA C++ Programming "
           f"Guide, × {bandwidth.clock(CARD) / 1e9:.2f} GHz ÷ {peak()})")
    yield "{} of them per block in 01, {} in 02".format(
        *(known.per_block(step, "shared_requests") for step in ("01_interleaved", "02_nondivergent")))


@says("docs/teaching.md")
def of_teaching(known: Known) -> Iterator[str]:
    eighth = ladder()["08_warp_shuffle"]
    yield f"each thread adds {eighth.elements / ((eighth.grid or 0) * BLOCK):.0f} elements before its block's one tree"
    yield f"{word(8 - 1).capitalize()} additions either way"
    yield f"{word(len(known.run('01_interleaved', '-n 1000003').passes)).capitalize()} launches, of 3907"
    adding = [stores(level(known.events("01_interleaved", "-n 2^20"), number)) for number in range(1, 9)]
    additions, of_warps = sum(lanes(event) for each in adding for event in each), sum(map(len, adding))
    yield f"A block of 256 makes {additions} additions"
    yield f"fewer than {word(math.ceil(additions / of_warps))} active lanes of 32"
    yield f"each of the {WARPS} warps before the first"
    yield f"a store for each of {of_warps} warp additions, {WARPS} first stores and 1 last load"
    narrow = next(event for event in known.events("03_sequential", "-n 2^20 -t float64")
                  if event["kind"] == "shared_store" and event["wavefronts"] == 1)
    yield f"A warp with {lanes(narrow)} active lanes or fewer has only one half"
    yield f"The emulated device has {multiprocessors()} multiprocessors"


@says("docs/foreign_kernels.md")
def of_foreign_kernels(_: Known) -> Iterator[str]:
    page = (REPOSITORY / "docs/foreign_kernels.md").read_text(encoding="utf-8")
    barriers = [(int(reported), int(deleted)) for reported, deleted in re.findall(r"\| (\d+) of (\d+) \|", page)]
    deleted = sum(deleted for _, deleted in barriers)
    reported = sum(reported for reported, _ in barriers)
    yield f"Of these {deleted} barriers, {reported} were a finding when they were deleted"
    yield f"The other {word(deleted - reported)} order nothing"


@says("docs/pitfalls/grid_from_bytes.md")
def of_a_grid_from_bytes(_: Known) -> Iterator[str]:
    yield f"With elements of 4 bytes there are {word(4)} blocks for each tile"


@says("docs/pitfalls/tail_past_shared_memory.md")
def of_a_tail(_: Known) -> Iterator[str]:
    harris = json.loads((REPOSITORY / "docs/tables/2007_harris_g80.json").read_text(encoding="utf-8"))
    yield f"Their own blocks have {harris['input']['block']} threads"
