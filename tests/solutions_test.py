"""The exercises of the steps' pages, done: what each solution (docs/solutions) does is what its page says."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import REPOSITORY

from tools.results import Counters, Result, read_one

# beyond_pages_test.py has the others.
SOLUTIONS = sorted(folder.name for glob in ("0*", "10_*") for folder in REPOSITORY.glob(f"docs/solutions/{glob}"))
SERIAL = "00_cpu_serial"

# Counters per block of a run that is verified, or words of a finding.
Shown = dict[str, int] | str
VERIFIED: Shown = {}
# The step, how its solution is run, and what that shows.
RUNS: list[tuple[str, str, Shown]] = [
    *[(SERIAL, f"-n {n} -s 1", VERIFIED) for n in ("2^20", "1000003", "7", "2", "1", "0")],
    ("01_interleaved", "-n 65536", VERIFIED),
    ("01_interleaved", "-n 65537", "missed barrier in reduce_kernel: thread 0 of block 256 waits at __syncthreads()\n"),
    ("01_interleaved", "-n 65537", "\nthreads 1-255 have left the kernel\n"),
    ("02_nondivergent", "-n 2^22", {"shared_load_wavefronts": 25, "shared_store_wavefronts": 20,
                                    "shared_load_conflicts": 0, "shared_store_conflicts": 0}),
    ("02_nondivergent", "-n 2^20 -b 1024", {"shared_load_conflicts": 0, "shared_store_conflicts": 0}),
    ("03_sequential", "-n 2^20", "missed barrier in reduce_kernel: threads 0-127 of block 0 wait at __syncthreads()\n"),
    ("03_sequential", "-n 2^20", "\nthreads 128-255 have left the kernel\n"),
    ("04_first_add", "-n 2^18", VERIFIED),
    ("04_first_add", "-n 1000", "out of bounds in reduce_kernel: thread 232 of block 1 reads 4-byte word 1000 of a "
                                "global buffer (1000 words)\n"),
    *[("05_unroll_warp", f"-n 2^18 -b {block}", VERIFIED) for block in (64, 128, 1024)],
    ("05_unroll_warp", "-n 2^18 -b 32", "out of bounds in reduce_kernel: thread 0 of block 0 reads shared[32] "),
    ("06_templated", "-n 2^20 -b 256", VERIFIED),
    *[("07_cascade", f"-n {n}", VERIFIED) for n in ("2^20", "1000003", "1", "0")],
    ("08_warp_shuffle", "-n 2^22", {"block_barriers": 1, "shared_store_requests": 8, "shared_load_requests": 8,
                                    "shuffles": 80}),
    *[("08_warp_shuffle", f"-n 300007 -t {t} -b {block}", VERIFIED) for t, block in (
        ("float32", 32), ("int64", 256), ("complex128", 1024))],
    # The last launch alone: a block of 8 warps with four loads each.
    ("09_vector_loads", "-n 4096", {"global_load_requests": 32, "global_load_sectors": 1024}),
    *[("09_vector_loads", f"-n {n} -t {t}", VERIFIED) for t in ("int32", "float64", "complex128") for n in (
        "300007", "1021", "7", "0")],
    ("10_single_pass", "-n 2^22 -b 256", {"block_barriers": 1, "atomics": 1, "shared_load_requests": 1}),
    *[("10_single_pass", f"-n 300007 -t {t} -b {block}", VERIFIED) for t, block in (
        ("float32", 32), ("int32", 256), ("complex64", 1024))],
]

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(bin_folder: Path) -> Run:
    def run_program(name: str, options: str, *more: str | Path) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([bin_folder / name, "--device", "emulated", *options.split(), *more], capture_output=True,
                              text=True)

    return run_program


def counters(file: Path) -> Counters:
    result = read_one(file, Result)
    return result.required(result.counters, "counters")


def test_every_solution_is_run() -> None:
    assert sorted({step for step, _, _ in RUNS}) == SOLUTIONS


@pytest.mark.parametrize("step, options, shows", RUNS)
def test_a_solution_does_what_its_page_says(run: Run, tmp_path: Path, step: str, options: str, shows: Shown) -> None:
    file = tmp_path / "result.json"
    ran = run(f"solution_{step}", options, "--quiet", "--json", file)
    if isinstance(shows, str):
        assert ran.returncode == 1 and shows in ran.stderr, ran.stderr
        assert f"docs/solutions/{step}/kernel.cuh:" in ran.stderr
    else:
        assert ran.returncode == 0, ran.stderr
        assert {key: getattr(counters(file), key) / counters(file).blocks for key in shows} == shows


def test_what_kernel_for_of_06_returns_is_checked(run: Run) -> None:
    page = (REPOSITORY / "06_templated/README.md").read_text(encoding="utf-8")
    refused, wrong = (run("solution_06_templated", f"-n 2^20 --data ones -b {block}") for block in (1024, 512))
    assert (refused.returncode, wrong.returncode) == (3, 1)
    for ran, said in ((refused, refused.stderr.splitlines()[-1]), (wrong, wrong.stdout.splitlines()[4])):
        assert said in page


def test_the_passes_of_07(run: Run) -> None:
    passes = "passes  1056 → 5 → 1 blocks of 256 threads"
    assert f"\n{passes}\n" in run("solution_07_cascade", "-n 2^20").stdout
    assert f"`{passes}`" in (REPOSITORY / "07_cascade/README.md").read_text(encoding="utf-8")


def test_the_bits_of_08_are_those_of_the_step(run: Run, tmp_path: Path) -> None:
    files = [tmp_path / "step.json", tmp_path / "solution.json"]
    for program, file in zip(("08_warp_shuffle", "solution_08_warp_shuffle"), files):
        assert run(program, "-n 1000003 -t float32", "--json", file).returncode == 0
    before, after = (read_one(file, Result).result for file in files)
    assert before == after != 0


def test_the_sectors_of_09(run: Run, tmp_path: Path) -> None:
    """As many requests as in the step, and twice the sectors, over both passes."""
    loads = {}
    for program in ("09_vector_loads", "solution_09_vector_loads"):
        assert run(program, "-n 2^22", "--json", tmp_path / program).returncode == 0
        counted = counters(tmp_path / program)
        loads[program] = counted.global_load_requests, counted.global_load_sectors
    (requests, sectors), now = loads.values()
    assert now == (requests, 2 * sectors) and sectors == 16 * requests


def test_the_shuffles_of_10(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    assert run("solution_10_single_pass", "-n 2^22 -b 256", "--json", file).returncode == 0
    assert (counters(file).blocks, counters(file).shuffles) == (1024, 1024 * 46 + 5)
    page = (REPOSITORY / "beyond/10_single_pass/README.md").read_text(encoding="utf-8")
    assert "1 block barrier and 46 shuffles per block" in page
    assert f"each lane adds {1024 // 32}, one after the other, where each of 256 threads added {1024 // 256}" in page


def test_the_tree_of_00_becomes_several_times_as_fast(run: Run, tmp_path: Path, cmake_cache: dict[str, str]) -> None:
    if cmake_cache["CMAKE_BUILD_TYPE"] != "Release":
        pytest.skip("without optimisation the compiler uses no vector instructions")
    fastest = {}
    for program in (SERIAL, f"solution_{SERIAL}"):
        assert run(program, "-n 2^20", "--json", tmp_path / program).returncode == 0
        [tree] = read_one(tmp_path / program, Result).other_variants
        assert tree.variant == "tree" and tree.ms
        fastest[program] = tree.ms.min
    assert fastest[SERIAL] > 2 * fastest[f"solution_{SERIAL}"], fastest
