"""The pages beyond the ladder from 11 on, of the atomics and of the peers: their shape, the numbers that are worked out
on them, and the solutions of their exercises."""

import functools
import math
import os.path
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import REPOSITORY
from step_pages_test import HEADINGS, between, folded, parts_of, text_of

from tools import compiled, counters, gpu, pages, programs, results, site
from tools.nsight_compute import BLOCKS, INSTRUCTIONS, MEMORY
from tools.programs import NUMBERED, Programs
from tools.results import H100, AgainstCub, AloneResult, Milliseconds, RanksResult, Result

BEYOND = Path("beyond")
BULK, PACKAGE, RANKS, SAME = NUMBERED[11:]
ATOMICS = BEYOND / "atomics"
EACH, VECTOR, BLOCK = (ATOMICS / name for name in programs.ATOMICS)
PEERS = BEYOND / "peers"
CUB, THRUST, CUBLAS, GROUPS = (PEERS / name for name in ("cub", "thrust", "cublas", "cooperative_groups"))
# In the order in which they are read.
PAGES = [BULK, PACKAGE, RANKS, SAME, ATOMICS, EACH, VECTOR, BLOCK, PEERS, CUB, THRUST, CUBLAS, GROUPS]
CARD = REPOSITORY / "docs/results/nvidia_h200"
DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")

Need = Callable[[str], str]


def of_each(pages: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", pages, ids=[page.name for page in pages])


# ---- the shape ----


@of_each(PAGES)
def test_a_page_says_first_how_hard_it_is(page: Path) -> None:
    assert re.match(r"# .+\n\n\*\*How hard\.\*\* .+\n\n", text_of(page))


@of_each([BULK, PACKAGE, RANKS, SAME, EACH, VECTOR, BLOCK])
def test_a_page_has_the_shape_of_the_ladder(page: Path) -> None:
    """What a page has in addition stands between."""
    parts = parts_of(page)
    headings = [heading for heading in HEADINGS if page != PACKAGE or heading != "The change"]
    assert [heading for heading in parts if heading in headings] == headings
    assert "**The idea.** " in parts[""]
    assert f"/{page.name} " in parts["Run"]
    measured = between(parts["How fast"], {RANKS: "scaling", SAME: "promises"}.get(page, "documented"))
    assert measured.count("\n") >= 3 or (page, measured) == (SAME, pages.NOT_MEASURED)


@of_each([page for page in PAGES if page not in (ATOMICS, PEERS)])
def test_answers_and_solutions_are_folded(page: Path) -> None:
    parts = parts_of(page)
    assert "?" in parts["Predict"].partition("<details>")[0] and len(folded(parts["Predict"])) == 1
    if PEERS not in page.parents:
        [solution] = folded(parts["Exercise"])
        section = {PACKAGE: "moments", RANKS: "", SAME: "order"}.get(page, "solution")
        assert not section or between(solution, section).count("\n") > 5
    assert text_of(page).count("<details>") == sum(len(folded(part)) for part in parts.values())


@of_each([BULK, EACH, VECTOR, BLOCK])
def test_an_exercise_says_how_to_build_and_run_it(page: Path) -> None:
    assert f"cmake --build build --target {page.name}\nbuild/bin/{page.name} " in parts_of(page)["Exercise"]


def test_each_page_leads_to_the_next(tmp_path: Path) -> None:
    """In the order of the site's chapter."""
    assert site.Site(tmp_path).chapters["Beyond"][-len(PAGES):] == [f"{page}/README.md" for page in PAGES]

    def title(page: Path) -> str:
        return text_of(page).partition("\n")[0][2:]

    pages = [BEYOND / "10_single_pass", *PAGES, Path("docs/pitfalls")]
    for before, page, after in zip(pages, pages[1:], pages[2:]):
        def link(other: Path, text: str) -> str:
            return f"[{text}]({os.path.relpath(other, page)}/README.md)"

        way = [link(before, f"← {title(before)}"), link(Path("."), "the ladder"), link(after, f"{title(after)} →")]
        assert text_of(page).endswith(f"\n\n{' · '.join(way)}\n")


def test_the_list_names_all_of_it() -> None:
    listed = re.findall(r"^\| \[(\w+)\]\(\1/README\.md\) \|", text_of(BEYOND), re.MULTILINE)
    assert listed == [*sorted(folder.name for folder in REPOSITORY.glob("beyond/[01]*")), "atomics", "peers"]


# ---- what was measured ----


@functools.cache
def found(file: str) -> list[Result]:
    return results.read_list(CARD / f"{file}.json")


@functools.cache
def against_cub() -> list[AgainstCub]:
    return results.read_list(CARD / "against_cub.json", AgainstCub)


def one(file: str, step: str, elements: int, element_type: str = "int32", block: int | None = None) -> Result:
    """Without a block, in that which the step has by itself."""
    [result] = [result for result in found(file) if (result.step, result.elements, result.type) == (
        step, elements, element_type) and block in (None, result.block)]
    return result


def milliseconds(*what: str | int) -> float:
    return one(*what).median_ms  # type: ignore[arg-type]


def test_the_registers_and_copies_of_11() -> None:
    before, now = (kernel for kernel in compiled.COMPILED.kernels() if kernel.step in ("10_single_pass", BULK.name))
    [answer] = folded(parts_of(BULK)["Predict"])
    assert (before.registers, now.registers) == (30, 16) and "if 10 takes 30 for" in text_of(BULK)
    assert "16 registers, and no such load" in answer and (before.wide_global_loads, now.wide_global_loads) == (7, 0)
    assert 0.5 < now.registers / before.registers < 0.55 and now.instructions > before.instructions
    assert now.bulk_copies == 2
    # Of 4 bytes; a multiprocessor has 64 Ki of them.
    assert 4 * 16 * 2048 == 128 * 1024 == 64 * 1024 * 4 // 2 and "are 128 KiB, half of all" in text_of(BULK)


def test_what_a_gpu_counts_of_11() -> None:
    _, steps = counters.read(REPOSITORY / "docs/counters/nvidia_h200.csv")
    before, now = steps["10_single_pass"], steps[BULK.name]
    assert now[MEMORY["global_load_requests"]] == math.ceil(now[BLOCKS] / 32)
    assert now[counters.READ["of these by the TMA"]] == 2**22 * 4
    assert 0.55 < now[INSTRUCTIONS] / before[INSTRUCTIONS] < 0.62 and "two fifths fewer" in text_of(BULK)
    twelve = steps[PACKAGE.name]
    assert now[INSTRUCTIONS] < twelve[INSTRUCTIONS] < before[INSTRUCTIONS] and "11 has still fewer" in text_of(PACKAGE)
    assert twelve[BLOCKS] * 512 * 4 * 4 == 2**22  # threads, vectors, elements: blocks of 512


def test_the_bandwidth_of_11_over_blocks_and_sizes() -> None:
    [answer] = folded(parts_of(BULK)["Predict"])
    speeds = {block: one("sweep_block", BULK.name, 2**28, "int32", block).bandwidth for block in (
        32, 64, 128, 256, 512, 1024)}
    middle = [speeds[block] for block in (64, 128, 256, 512)]
    assert max(middle) / min(middle) < 1.025 and "from 512 down to 64 it changes by 2 %" in answer
    assert abs(speeds[256] / speeds[1024] - 1) < 0.002
    assert "In blocks of 256 it is as fast as in blocks of 1024" in answer
    assert one("sweep_block", "10_single_pass", 2**28, "int32", 256).bandwidth < speeds[256]
    assert f"falls by {100 * (1 - speeds[32] / speeds[1024]):.0f} %" in answer
    passes = {size: one("sweep_size", BULK.name, size).passes for size in (2**20, 2**28)}
    assert passes[2**20][0].blocks == 2**20 // (2048 * 4) == 128 and "there are 128 tiles" in text_of(BULK)
    assert passes[2**28][0].blocks == 2 * 132
    slower = [k for k in range(10, 28)
              if milliseconds("sweep_size", BULK.name, 2**k) > milliseconds("sweep_size", "10_single_pass", 2**k)]
    assert len(slower) >= 13 and {14, 20, 22, 26} < set(slower) and "slower than 10 almost everywhere" in text_of(BULK)
    for k in range(28, 35):
        assert milliseconds("sweep_size", BULK.name, 2**k) <= milliseconds("sweep_size", "10_single_pass", 2**k)


@pytest.mark.parametrize("name, stages, kib", [
    ("three stages of 32 KiB", 3, 32), ("four stages of 16 KiB", 4, 16), ("one stage of 32 KiB", 1, 32)])
def test_the_rings_of_11(name: str, stages: int, kib: int) -> None:
    ring = stages * (kib * 1024 + 8)

    def blocks(threads: int) -> int:
        return min(228 * 1024 // (ring + 1024), 2048 // threads)

    cells = [cell for threads in (1024, 256) for cell in (blocks(threads), blocks(threads) * (stages - 1) * kib)]
    assert f"\n| {name} | {stages * kib} | {' | '.join(map(str, cells))} |\n" in text_of(BULK)
    if stages == 3:
        assert cells == [2, 128, 2, 128] and "Two blocks with a ring of 96 KiB fit" in text_of(BULK)
        assert "at least 128 KiB at any time" in text_of(BULK)


def test_the_methods_of_12() -> None:
    source = (REPOSITORY / PACKAGE / "reduction/constants.cuh").read_text()
    bounds = {name: int(a) << int(b) for name, a, b in re.findall(
        r"size_t (\w+)_bytes = std::size_t\{(\d+)\} << (\d+);", source)}
    page, part = text_of(PACKAGE), parts_of(PACKAGE)["How it is built"]
    assert list(bounds) == ["small_block", "large_block", "cluster", "two_kernels"]
    assert "unsigned small_block = 256;" in source and "unsigned large_block = 1024;" in source
    words = ["one block of 256 threads", "one block of 1024 threads", "one cluster of eight blocks",
             "two kernels, the second launched ahead"]
    for bound, word in zip(bounds.values(), words):
        assert f"\n| up to {f'{bound >> 30} GiB' if bound >> 30 else f'{bound >> 10} KiB'} | {word} | " in part
    launched = ["one kernel, one block of 256 threads", "one kernel, one block of 1024 threads",
                "one kernel, one cluster", "two kernels", "two kernels, the first with bulk copies"]
    rows = re.findall(r"^\| 2(\S+) `(\w+)` \| (\d+) (\w)iB \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == 5
    for power, element_type, count, unit, said in rows:
        size = {"int32": 4, "complex128": 16}[element_type] << int(power.translate(DIGITS))
        assert size == int(count) << {"K": 10, "M": 20, "G": 30}[unit]
        assert said == launched[sum(size > bound for bound in bounds.values())]


def test_the_features_of_12_are_in_kernels_of_their_own() -> None:
    kernels = {kernel.name: kernel for kernel in compiled.COMPILED.kernels() if kernel.step == PACKAGE.name}
    assert len(kernels) == 6
    for name, kernel in kernels.items():
        loads = {"bulk_kernel": 0, "combine_kernel<256>": 0, "reduce_kernel": 8}.get(name, 4)
        assert kernel.wide_global_loads == loads
        assert bool(kernel.bulk_copies) == (name == "bulk_kernel")
        assert bool(kernel.cluster_barriers) == (name == "cluster_kernel")
        assert kernel.launched_ahead == {"bulk_kernel": ["launch_dependents"], "reduce_kernel": ["launch_dependents"],
                                         "combine_kernel<256>": ["wait"]}.get(name, [])


def test_12_beside_11_and_cub() -> None:
    sums = {(cell.case, cell.elements): cell.cub_over_ours for cell in against_cub() if cell.case in pages.SUMS}
    assert {case for case, size in sums if size >= 2**30} == set(pages.SUMS)
    large = {round(ratio, 2) for (_, size), ratio in sums.items() if size >= 2**28}
    assert (min(large), max(large)) == (1.01, 1.02)
    assert all("takes only 1 to 2 % longer" in text_of(page) for page in (PACKAGE, CUB))
    middle = [sums["sum_int32", 2**k] for k in range(13, 21)]
    most = max(ratio for (case, size), ratio in sums.items() if case == "sum_int32" and 2**13 < size < 2**20)
    assert (f"takes {min(middle):.2f} to {max(middle):.2f} times as long on an H200, for sizes between them up to "
            f"{most:.2f} times") in text_of(CUB)
    over_11 = {k: milliseconds("sweep_size", BULK.name, 2**k) / milliseconds("sweep_size", PACKAGE.name, 2**k)
               for k in range(10, 35)}
    assert min(over_11[k] for k in range(10, 27)) > max(over_11[k] for k in range(28, 35))
    assert over_11[20] > 1.2 and max(over_11[k] for k in range(31, 35)) < 1.001


def test_12_with_small_types() -> None:
    """Beside a Max of as many bytes of float, or of the next more that were measured: these take no longer per byte."""
    floats = [cell for cell in against_cub() if cell.case == "max_float32"]
    small = [cell for cell in against_cub() if cell.element_bytes <= 2 and cell.elements in (2**28, 2**30)]
    assert len(small) == 20
    for cell in small:
        size = cell.elements * cell.element_bytes
        beside = min((other for other in floats if 4 * other.elements >= size), key=lambda other: other.elements)
        assert cell.gbps and beside.gbps and 0.95 < cell.gbps / beside.gbps < 1.05, cell


def ms_of_job(combined_by: str, ranks: int, elements: int, by_gpus: bool = True) -> Milliseconds:
    """Of 2^33 elements, a rank has as many."""
    [job] = [job for job in results.read_list(CARD / "many_gpus.json", RanksResult)
             if job.combined_by.startswith(combined_by) and job.ranks == ranks and bool(job.timing) == by_gpus
             and elements == (job.elements_per_rank if job.weak else job.elements)]
    return job.required(job.ms, "ms")


def us_longer_than_alone(combined_by: str, elements: int) -> float:
    """What combining costs two GPUs."""
    shard = elements if elements == 2**33 else elements // 2
    alone = results.read_list(CARD / "many_gpus_alone.json", AloneResult)
    slowest = max(gpu.ms.median for gpu in alone if gpu.elements == shard)
    return 1e3 * (ms_of_job(combined_by, 2, elements).median - slowest)


def test_the_ranks_of_13() -> None:
    page = text_of(RANKS)
    both = ms_of_job("the kernels", 2, 2**33)
    less = us_longer_than_alone("the kernels", 2**33) / 1e3
    assert f"Two H200 reach {2 * (both.median - less) / both.median:.3f} times" in page
    assert f"{100 * less / both.median:.1f} % is missing, some {1e3 * less:.0f} µs of {both.median:.1f} ms" in page
    assert f"not its {2**33 * 4 / 1e9:.0f} GB" in page
    values = constants_of_the_header()["chunk_combine_block"] // 32 // 2
    assert f"{8 * values} bytes of each GPU cross the wires, {values} values and the number of the call with" in page
    small, of_one = ms_of_job("the kernels", 2, 2**24).median, ms_of_job("the kernels", 1, 2**24).median
    cost = us_longer_than_alone("the kernels", 2**24)
    assert f"With 2²⁴ in all they are {of_one / small:.2f} times as fast as one" in page
    assert f"takes one GPU {1e3 * small - cost:.1f} µs, where all of them take {1e3 * of_one:.1f}" in page
    assert f"Combining adds {cost:.1f} µs" in page


def test_what_combining_costs_in_13() -> None:
    page = text_of(RANKS)
    costs = [us_longer_than_alone(who, n) for who in ("the kernels", "NCCL") for n in (0, 2**28)]
    assert f"adds {costs[0]:.1f} µs to a sum of nothing, and {costs[1]:.1f} µs to one of 2²⁸ elements" in page
    assert f"NCCL's all-reduce adds {costs[2]:.1f} µs and {costs[3]:.1f} µs" in page
    longer = []
    for who in ("the kernels", "NCCL"):
        both = ms_of_job(who, 2, 2**33)
        longer.append(both.p95 / both.median - 1)
        assert us_longer_than_alone(who, 2**33) / 1e3 < both.p95 - both.median
    assert f"one in twenty takes at least {math.floor(1000 * min(longer)) / 10} % longer" in page
    launch = [1e3 * (ms_of_job("the kernels", ranks, 0, False).median - ms_of_job("the kernels", ranks, 0).median)
              for ranks in (1, 2)]
    assert f"add {launch[0]:.1f} µs to a sum of nothing on one GPU" in page and f"{launch[1]:.1f} µs on two" in page
    bytes_alone = 1e3 * ms_of_job("the kernels", 1, 2**33).median * 2**23 / 2**33
    small = 1e3 * ms_of_job("the kernels", 2, 2**24).median
    assert f"the bytes would take two GPUs {bytes_alone:.1f} µs, and the whole sum takes {small:.1f}" in page
    short = []
    for who in ("the kernels", "NCCL"):
        nothing, combined = (ms_of_job(who, ranks, 0).median for ranks in (1, 2))
        shard = (ms_of_job(who, 1, 2**33).median - nothing) * 2**23 / 2**33
        short.append(100 * (ms_of_job(who, 2, 2**24).median / (shard + combined) - 1))
    assert f"for 2²⁴ elements on two GPUs by {min(short):.0f} to {max(short):.0f} %" in page


def test_the_model_of_13() -> None:
    """The bound on the time of all bytes is where four GPUs take half the time of two, within 5 %."""
    page = text_of(RANKS)

    def inputs(who: str) -> tuple[float, float]:
        launch, both = (1e3 * ms_of_job(who, ranks, 0).median for ranks in (1, 2))
        return round(launch, 1), round(both - launch, 1)

    def time(ranks: int, t: float, launch: float, hops: float) -> float:
        return t / ranks + launch + hops

    bounds = []
    for who, of_four in (("the kernels", 1), ("NCCL", 2)):
        launch, hop = inputs(who)
        least = 38 * launch + (38 if of_four == 1 else 118) * hop
        for more in (0.9, 1, 1.1):
            four, half = (time(ranks, more * least, launch, hops * hop) / of
                          for ranks, hops, of in ((4, of_four, 1), (2, 1, 2)))
            assert math.isclose(four, 1.05 * half) if more == 1 else (four < 1.05 * half) == (more > 1)
        bounds.append(least)
    launch, hop = inputs("the kernels")
    one_rank = 4 * 2**33 / (ms_of_job("the kernels", 1, 2**33).median - ms_of_job("the kernels", 1, 0).median) / 1e6
    assert f"If L is {launch:.1f} µs and α {hop:.1f} µs, t is at least {bounds[0]:.0f} µs" in page
    assert f"At the {one_rank:.0f} GB/s of B above" in page
    size = bounds[0] * one_rank * 1e3
    assert f"{size / 1e9:.1f} GB: {size / 4 / 1e9:.2f} · 10⁹ `int32`" in page and 2**28 < size / 4 < 2**29
    launch, hop = inputs("NCCL")
    assert f"with its L of {launch:.1f} µs and α of {hop:.1f} µs {bounds[1]:.0f} µs, more than three times" in page
    assert 3 < bounds[1] / bounds[0] < 4


# ---- the same bits ----


def constants_of_the_header() -> dict[str, int]:
    text = (REPOSITORY / PACKAGE / "reduction/constants.cuh").read_text()
    return {name: int(value) for name, value in re.findall(r"constexpr unsigned (\w+) = (\d+);", text)}


def test_the_order_of_14() -> None:
    page, constants = text_of(SAME), constants_of_the_header()
    threads, most = constants["chunk_block"], constants["most_chunks"]
    tile = threads * constants["loads"]
    assert (threads, most, tile) == (512, 8192, 2048) and threads == constants["chunk_combine_block"]
    assert f"a multiple of {tile} (of {threads}, if an element has more than 64 bytes), the same" in page
    assert f"at most {most} chunks. Thread t of {threads} combines" in page
    warps = threads // 32
    assert f"over the {warps} warps" in page
    assert f"by one block of {threads} threads. Each of its {warps} warps takes neighbouring chunks" in page
    assert f"Up to {tile} vectors ({4 * tile} `float`) there is one chunk" in page
    assert f"two kernels above {tile * 16 >> 10} KiB" in page
    bounds = (REPOSITORY / PACKAGE / "reduction/constants.cuh").read_text()
    assert all(f"{bound};" in bounds for bound in (
        "large_block_bytes = std::size_t{64} << 10", "cluster_bytes = std::size_t{256} << 10"))
    assert "up to 64 KiB one block of 12 has 1024 threads, and a cluster goes on to 256 KiB" in page


def test_the_chunks_and_barriers_of_14(bin_folder: Path, tmp_path: Path) -> None:
    page, constants = text_of(SAME), constants_of_the_header()
    vectors = 2**24 // 4
    threads = constants["chunk_block"]
    chunks, room = vectors // (threads * constants["loads"]), 132 * 2048 // threads
    assert vectors == 2**22 and chunks < constants["most_chunks"]
    assert f"an H200, which has room for {room} blocks of {threads} threads" in page
    assert f"2²² vectors are {chunks} tiles, and as many chunks: {chunks - room} blocks wait" in page
    counted = Programs(bin_folder).result(SAME.name, *"--device emulated -t float32 -n 2^24".split()).counters
    assert counted and counted.blocks == counted.block_barriers == chunks + 1
    assert f"A block and a barrier for each of {chunks} chunks, and one of each for the second kernel" in page
    assert f"12 has {room} blocks in its first kernel here" in page


def test_two_orders_have_two_sums() -> None:
    """What the commands print, page_commands_test.py holds."""
    sums = re.findall(r"^result  (-1331\.\S+), ", parts_of(SAME)["Why the order matters"], re.MULTILINE)
    assert len(sums) == 3 and sums[0] == sums[2] != sums[1]


def test_the_sums_with_bounds_of_14() -> None:
    """emulated_promises_test has computed them."""
    page, test = text_of(SAME), (REPOSITORY / "tests/emulated_promises_test.cpp").read_text()
    digits = re.findall(r"^constexpr \w+ (\w+) = (.*?)F?;", test, re.MULTILINE)
    said = {name: float(value) for name, value in digits}
    rounded_up = {name: math.ceil(said[name] * 1e8) / 1e3 for name in ("random_bound", "cancelling_bound")}
    assert f"| random | −1331.9575 | −1331.9575 ± {rounded_up['random_bound']:.3f} · 10⁻⁵ | −1331.957541942… |" in page
    assert f"| cancelling | 0.5 | 0 ± {rounded_up['cancelling_bound']:.3f} · 10⁻⁵ | 0 |" in page
    assert (said["random_sum"], said["cancelling_sum"]) == (-1331.95752, 0.5)
    assert str(said["exact_sum"]).startswith("-1331.957541942")
    error = abs(-1331.95751953125 - said["exact_sum"])  # of the float nearest to the sum
    assert error < said["random_bound"] < 1.001 * error and "hardly more than what the last rounding has lost" in page


def test_a_twosum_is_six_operations() -> None:
    source = (REPOSITORY / PACKAGE / "reduction/compensated_sum.cuh").read_text()
    body = source.partition(" T two_sum(T a, T b, T& error) {")[2].partition("}")[0]
    assert len(re.findall(r"rounded_(?:sum|difference)\(", body)) == 6
    assert "six operations for a TwoSum" in text_of(SAME) and "five more operations find it" in text_of(SAME)
    accumulator = source.partition("struct Compensated {")[2].partition("Compensated()")[0]
    assert len(re.findall(r"^  T \w+;", accumulator, re.MULTILINE)) == 3


@pytest.fixture(scope="module")
def on_host(tmp_path_factory: pytest.TempPathFactory, cmake_cache: dict[str, str]) -> Path:
    """A program that adds numbers of the steps in the order of 14's exercise: float32 N DATA."""
    folder = tmp_path_factory.mktemp("on_host")
    (folder / "main.cpp").write_text("""#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include "harness/input.hpp"
#include "one_order.hpp"
template <typename T> void print_sum(const reduction::Input& input) {
  std::vector<T> numbers;
  for (std::size_t i = 0; i < input.n; ++i)
    numbers.push_back(reduction::real_at<T>(input, i, 0, 1));
  std::printf("%.17g", static_cast<double>(sum_in_one_order(numbers.data(), numbers.size())));
}
int main(int, char** words) {
  const auto data = words[3][0] == 'r' ? reduction::Data::random : reduction::Data::cancelling;
  const reduction::Input input{data, 1, std::strtoull(words[2], nullptr, 10)};
  std::string(words[1]) == "float32" ? print_sum<float>(input) : print_sum<double>(input);
}
""")
    subprocess.run([cmake_cache["CMAKE_CXX_COMPILER"], "-std=c++20", "-O2", f"-I{REPOSITORY}/common",
                    f"-I{REPOSITORY}/docs/solutions/{SAME.name}", "-o", folder / "on_host", folder / "main.cpp"],
                   check=True)
    return folder / "on_host"


# The last two have more than 8192 tiles.
@pytest.mark.parametrize("element_type, elements", [
    *[(kind, n) for kind in ("float32", "float64")
      for n in (0, 1, 3, 5, 2047, 4096, 4097, 8192, 8193, 16385, 300007, 1000003)],
    ("float32", 2**26 + 5), ("float64", 2**25 + 1)])
@pytest.mark.parametrize("device", ["emulated", "cuda"])
def test_the_order_of_the_solution_of_14_has_its_bits(bin_folder: Path, tmp_path: Path, on_host: Path, device: str,
                                                      element_type: str, elements: int) -> None:
    if device == "cuda" and not gpu.said("nvidia-smi", "-L"):
        pytest.skip("there is no GPU")
    for data in ("random", "cancelling"):
        ran = subprocess.run([
            bin_folder / SAME.name, "--device", device, "-t", element_type, "-n", str(elements), "--data", data,
            "--counters", "off", "-q", "--json", tmp_path / "run"], capture_output=True, text=True)
        if device == "cuda" and "this build is without CUDA" in ran.stderr:
            pytest.skip("this build is without CUDA")
        assert ran.returncode == 0, ran.stderr
        sum_on_host = subprocess.run([on_host, element_type, str(elements), data], stdout=subprocess.PIPE, text=True,
                                     check=True).stdout
        assert results.read_one(tmp_path / "run", Result).result == float(sum_on_host)


# ---- the atomics ----


def per_atomic(kernel: Path, elements: int, elements_of_an_atomic: int) -> float:
    """In ns."""
    return milliseconds("atomics", kernel.name, elements, "float32") * 1e6 * elements_of_an_atomic / elements


def test_the_time_of_an_atomic() -> None:
    times = [per_atomic(kernel, n, share) for kernel, share in ((EACH, 1), (VECTOR, 4)) for n in (2**20, 2**25)]
    assert f"take {min(times):.2f} to {max(times):.2f} ns per atomic" in text_of(ATOMICS)
    each, vector = (milliseconds("atomics", kernel.name, 2**25, "float32") for kernel in (EACH, VECTOR))
    assert f"takes {each:.1f} ms for 2²⁵ `float32`" in text_of(EACH) and "1.75 ns for each atomic" in text_of(EACH)
    assert f"{min(times):.2f}" == "1.75"
    assert f"Four times: {vector:.1f} ms instead of {each:.1f}" in text_of(VECTOR) and round(each / vector, 1) == 4
    assert round(2**28 * min(times) * 1e-9, 1) == 0.5 and "about half a second" in text_of(EACH)
    first = one("sweep_type", "01_interleaved", 2**28, "float32").bandwidth
    assert first > 100 * one("atomics", EACH.name, 2**25, "float32").bandwidth
    slowest = {n: milliseconds("sweep_size", "01_interleaved", n) for n in (2**15, 2**20, 2**25)}
    assert all(milliseconds("atomics", EACH.name, n, "float32") > ms for n, ms in slowest.items())
    integers = [milliseconds("atomics", kernel.name, 2**25) for kernel in (EACH, VECTOR)]
    assert integers[0] > slowest[2**25] and f"{integers[0] / integers[1]:.1f} times on an H200" in text_of(VECTOR)


def test_the_atomics_of_a_block() -> None:
    page, ns = text_of(BLOCK), 1.75
    assert f"= {2**28 // 512:,} atomics".replace(",", " ") in page
    assert f"{2**28 / 512 * ns / 1e6:.2f} ms alone" in page
    assert f"04 takes {milliseconds('sweep_size', '04_first_add', 2**28):.2f} ms for all of it" in page
    of_ints, of_floats = (milliseconds("atomics", BLOCK.name, 2**25, kind) for kind in ("int32", "float32"))
    assert f"takes {of_ints:.3f} ms on an H200, and 04, with its passes, " \
           f"{milliseconds('sweep_size', '04_first_add', 2**25):.3f}." in page
    alone = 2**25 / 512 * ns / 1e6
    assert f"it takes {of_floats:.3f} ms, nearly what its 65 536 atomics take" in page and 2**25 // 512 == 65536
    assert f"{alone:.3f} ms: the trees wait" in page and 0.9 < alone / of_floats < 1
    assert 1056 * ns < 2000 and "less than 2 µs" in page
    exercise = 32 * alone
    assert 2**25 // 512 * 32 == 2**21 and f"{exercise:.1f} ms, thirty times" in page
    assert round(exercise / of_floats) == 30


def test_the_atomics_that_eight_vectors_save() -> None:
    page = text_of(VECTOR)
    assert f"{2**22 // 32:,} atomics for 2²² `int32`".replace(",", " ") in page
    assert f"{2**25 / 32 * 1.75 / 1e6:.1f} ms for 2²⁵ `float32`" in page
    peak = one("ladder", BULK.name, 2**28).device.peak_gbps
    assert peak and f"the bytes alone would take {2**25 * 4 / peak / 1e6:.2f} ms" in page


def test_the_number_of_atomics(bin_folder: Path, tmp_path: Path) -> None:
    """It depends on the size of the array."""
    def atomics(kernel: Path, elements: str, element_type: str = "int32") -> int:
        ran = Programs(bin_folder).result(kernel.name, "--device", "emulated", "-n", elements, "-t", element_type)
        return ran.required(ran.counters, "counters").atomics

    assert [atomics(BLOCK, f"2^{k}") for k in (18, 20)] == [2**18 // 512, 2**20 // 512]
    assert atomics(EACH, "2^16", "complex128") == atomics(VECTOR, "2^16", "complex128") == 2 * 2**16
    listed = re.findall(r"^\| \[(\w+)\].* \| ([\d ]+) \|$", text_of(ATOMICS), re.MULTILINE)
    assert [(name, int(count.replace(" ", ""))) for name, count in listed] == [
        (kernel.name, atomics(kernel, "2^22")) for kernel in (EACH, VECTOR, BLOCK)]


VERIFIED: dict[str, int] = {}


@pytest.mark.parametrize("kernel, options, shows", [
    (EACH, "-n 1", "uninitialised read in reduce_kernel: thread 0 of block 0 reads 4-byte word 0 of a global buffer "
                   "(1 words), which nothing has written\n"),
    (EACH, "-n 2^20", "race in reduce_kernel: thread 0 of block 0 writes 4-byte word 0 of a global buffer (4096 words)"
                      "\n"),
    (EACH, "-n 2^20", "thread 1 reads it, and nothing orders the two\n"),
    (VECTOR, "-n 2^22", {"atomics": 256, "global_load_requests": 64, "global_load_sectors": 1024}),
    *[(VECTOR, f"-n {n} -t {kind}", VERIFIED) for n in ("0", "1", "1000003") for kind in ("int32", "complex64")],
    (BLOCK, "-n 2^22", {"atomics": 32, "block_barriers": 4, "shared_load_requests": 15, "shared_store_requests": 15}),
    *[(BLOCK, f"-n {n} -b {block}", VERIFIED) for n in ("1", "1000003") for block in (32, 1024)]])
def test_a_solution_does_what_its_page_says(bin_folder: Path, tmp_path: Path, kernel: Path, options: str,
                                            shows: str | dict[str, int]) -> None:
    file = tmp_path / "result.json"
    ran = subprocess.run([bin_folder / f"solution_{kernel.name}", "--device", "emulated", *options.split(), "-q",
                          "--json", file], capture_output=True, text=True)
    if isinstance(shows, str):
        assert ran.returncode == 1 and shows in ran.stderr, ran.stderr
        assert shows.strip() in text_of(kernel) and "Both have exit code 1" in text_of(kernel)
    else:
        assert ran.returncode == 0, ran.stderr
        counted = results.read_one(file, Result).counters
        assert counted and {key: getattr(counted, key) / counted.blocks for key in shows} == shows


def test_what_the_solution_of_a_block_saves() -> None:
    """What it does itself, test_a_solution_does_what_its_page_says has."""
    assert ("32 atomics per block instead of 1, and 4 block barriers instead of 9; 30 requests to shared memory "
            "instead of 45") in text_of(BLOCK)
    counted = between(text_of(BLOCK), "counters")
    assert all(re.search(rf"{name}\]\(.*?\) \| \d+ \| {count} \|", counted) for name, count in (
        ("atomics", 1), ("block barriers", 9), ("shared memory requests", 45)))


# ---- the peers ----


def test_jax_beside_12() -> None:
    """No other peer comes as near."""
    page = text_of(PEERS)
    share: dict[tuple[Path, str, str, int], float] = {}
    for card in (CARD, H100):
        found = {(result.step, result.type, result.elements): result for result in pages.read(card, "peers")}
        assert all(result.timing and result.timing.lead_in == 8 for (step, _, _), result in found.items()
                   if step in ("peer_torch", "peer_cupy", "peer_jax"))
        share |= {(card, *key): result.bandwidth / found[PACKAGE.name, *key[1:]].bandwidth
                  for key, result in found.items() if key[0].startswith("peer_")}
    small = [share.pop((card, "peer_jax", "float32", 2**20)) for card in (CARD, H100)]
    faster = [f"{100 * of - 100:.0f} %" for of in small]
    assert f"for 2²⁰ `float32` by {faster[0]} on the H200 and by {faster[1]} on the H100" in page
    jax = {key: of for key, of in share.items() if key[1] == "peer_jax"}
    slowest = min(jax, key=lambda key: jax[key])
    assert slowest == (CARD, "peer_jax", "int32", 2**28)
    assert max(jax.values()) < 1.03 and "for other types and sizes by less than 3 %" in page
    assert f"{100 - 100 * jax[slowest]:.0f} % behind 12, where CUB, cupy and torch are ahead of it" in page
    assert all(share[CARD, peer, "int32", 2**28] > jax[slowest] for peer in ("peer_cub", "peer_cupy", "peer_torch"))
    assert max(of for (_, peer, _, _), of in share.items() if peer != "peer_jax") < 0.991
    assert "No other peer has more than 99.1 % of 12's bandwidth" in page


def test_the_time_that_thrust_adds() -> None:
    page, sizes = text_of(THRUST), (2**20, 2**25, 2**28)
    more = [milliseconds("peers", "peer_thrust", n) - milliseconds("peers", "peer_cub", n) for n in sizes]
    least, most = min(more), max(more)
    assert f"takes {1e3 * least:.0f} to {1e3 * most:.0f} µs more than CUB" in page
    speed = one("peers", "peer_cub", 2**28).bandwidth
    assert f"that is {100 * least:.1f} to {100 * most:.1f} ms" in page and f"at the {speed:.0f} GB/s" in page
    low, high = (100 * ms * speed / 1e3 for ms in (least, most))
    assert f"{low:.0f} to {high:.0f} GB" in page and 2**31 * 4 / 1e9 < low and high < 2**32 * 4 / 1e9
    assert "From about 2³² `int32` on" in page


def test_the_share_of_cublas() -> None:
    share = {kind: round(100 * milliseconds("peers", "peer_cub", 2**28, kind) / milliseconds(
        "peers", "peer_cublas", 2**28, kind)) for kind in ("float32", "float64", "complex64", "complex128")}
    assert share == {"float32": 53, "float64": 86, "complex64": 86, "complex128": 50}
    assert "86 % for `float64` and `complex64`" in text_of(CUBLAS)
    assert "for `float32` it has 53 %, and for `complex128` 50 %" in text_of(CUBLAS)


def test_the_end_of_the_peer_with_groups() -> None:
    page = text_of(GROUPS)
    large = {step: one("peers", step, 2**28).bandwidth for step in (
        "07_cascade", "08_warp_shuffle", "peer_cooperative_groups")}
    assert abs(large["08_warp_shuffle"] / large["07_cascade"] - 1) < 0.005
    assert "08, with such an end, is as fast as 07" in page
    assert f"{large['peer_cooperative_groups']:.0f} GB/s instead of {large['07_cascade']:.0f} for `int32`" in page
    small = [1e3 * milliseconds("sweep_size", step, 2**10) for step in ("07_cascade", "08_warp_shuffle")]
    assert [round(us) for us in small] == [4, 4] and abs(small[1] - small[0]) < 0.2
    assert "both steps take about 4 µs there, and less than 0.2 µs lies between them" in page


# ---- solutions that no emulated device runs ----


def nvcc(need: Need, *words: str | Path) -> None:
    ran = subprocess.run([need("nvcc"), "-std=c++17", "--expt-relaxed-constexpr", "-arch=sm_90", *words,
                          "--Werror=all-warnings"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_nvcc_compiles_the_solution_of_11(need: Need, tmp_path: Path) -> None:
    """In the place of the step's kernel, with a ring of the same size as on the page."""
    file = tmp_path / "main.cu"
    file.write_text((REPOSITORY / BULK / "main.cu").read_text() + "\nstatic_assert(ring_bytes == 4 * (16384 + 8));\n")
    nvcc(need, f"-I{REPOSITORY}/common", f"-I{REPOSITORY}/docs/solutions/{BULK.name}", "-cubin", "-o",
         tmp_path / "out.cubin", file)


def test_nvcc_compiles_the_solution_of_12(need: Need, tmp_path: Path) -> None:
    file = tmp_path / "main.cu"
    file.write_text("""#include <reduction/reduce.cuh>
#include "moments.cuh"
cudaError_t variance(const double* in, Moments* out, std::size_t n) {
  return reduction::transform_reduce(in, out, n, CombineMoments{}, OfOne{});
}
""")
    nvcc(need, f"-I{REPOSITORY}/{PACKAGE}", f"-I{REPOSITORY}/docs/solutions/{PACKAGE.name}", "-cubin", "-o",
         tmp_path / "out.cubin", file)


def test_the_solution_of_12_combines_moments(tmp_path: Path, cmake_cache: dict[str, str]) -> None:
    """On the host, value by value and as a tree, with identities between: mean and variance of large, close values."""
    file = tmp_path / "main.cpp"
    file.write_text("""#define __host__
#define __device__
#include "moments.cuh"
#include <cmath>
#include <cstring>
#include <vector>
bool same(const Moments& a, const Moments& b) { return std::memcmp(&a, &b, sizeof(Moments)) == 0; }
bool close(const Moments& moments, double n) {
  return moments.count == n && std::abs(moments.mean - 1e9) < 1e-3 && std::abs(moments.deviations / n - 1) < 1e-3;
}
int main() {
  const CombineMoments combine;
  const auto identity = CombineMoments::identity<Moments>();
  if (!same(combine(identity, identity), identity)) return 1;
  std::vector<Moments> level;
  for (int i = 0; i < 4096; ++i)
    level.push_back({1, 1e9 + (i % 2 == 0 ? 1 : -1), 0});
  Moments running = identity;
  for (const Moments& one : level) {
    if (!same(combine(identity, one), one) || !same(combine(one, identity), one)) return 2;
    running = combine(combine(running, one), identity);
  }
  for (; level.size() > 1; level.resize(level.size() / 2))
    for (std::size_t i = 0; i < level.size() / 2; ++i)
      level[i] = combine(level[i], level[i + level.size() / 2]);
  if (!close(level[0], 4096)) return 3;
  return close(running, 4096) ? 0 : 4;
}
""")
    program = tmp_path / "main"
    subprocess.run([cmake_cache["CMAKE_CXX_COMPILER"], "-std=c++17", f"-I{REPOSITORY}/docs/solutions/{PACKAGE.name}",
                    "-o", program, file], check=True)
    assert subprocess.run([program]).returncode == 0
    assert "for values around 10⁹ with a variance of 1 the result is right" in text_of(PACKAGE)


def test_every_solution_is_held() -> None:
    """By this file, but for those of solutions_test.py."""
    assert {folder.name for folder in REPOSITORY.glob("docs/solutions/*_*")
            if not re.match("0|10_", folder.name)} == {page.name for page in (BULK, PACKAGE, SAME, EACH, VECTOR, BLOCK)}


# ---- the build ----


def test_without_mpi_the_build_says_so_in_a_line(need: Need, tmp_path: Path) -> None:
    """A FindMPI that finds none stands for a machine without MPI."""
    (tmp_path / "FindMPI.cmake").write_text("""include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MPI REQUIRED_VARS MPI_OF_THIS_TEST HANDLE_COMPONENTS)
""")
    (tmp_path / "CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.25)
project(without_mpi LANGUAGES NONE)
list(APPEND CMAKE_MODULE_PATH ${{CMAKE_CURRENT_SOURCE_DIR}})
add_subdirectory({REPOSITORY}/{RANKS} ranks)
""")
    said = subprocess.run([need("cmake"), "-S", tmp_path, "-B", tmp_path / "build"], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    lines = [line for line in said.stdout.splitlines() if not re.match("-- (Configuring|Generating|Build files)", line)]
    assert lines == ["-- 13_many_gpus is left out: there is no MPI"]
