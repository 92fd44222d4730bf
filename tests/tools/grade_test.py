"""`./emulate --grade`, which is `python3 -m tools grade`: solutions pass, and each mistake fails with a line that says
which."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import REPOSITORY, Ran

from tools import exercises
from tools.command_line import read_text
from tools.exercises import Exercise


class Attempt(NamedTuple):
    """A step's own kernel with one line of it replaced, and what is said of it."""

    step: str
    line: str
    by: str
    said: str


PITFALLS = "(see docs/pitfalls/"
ATTEMPTS = [
    Attempt("01", "    __syncthreads();\n  }", "  }", f"race in reduce_kernel: .*{PITFALLS}no_barrier_between_levels"),
    Attempt("01", "i < n ? in[i] : T{}", "in[i]", f"out of bounds in reduce_kernel: .*{PITFALLS}unguarded_second_load"),
    Attempt("01", "out[blockIdx.x] =", "out[0] =", f"race in reduce_kernel: .*{PITFALLS}one_cell_for_all_blocks"),
    Attempt("01", "out[blockIdx.x] =", "out[blockIdx.x] +=", "uninitialised read in reduce_kernel"),
    Attempt("01", "if (tid % (2 * stride) == 0) shared[tid] += shared[tid + stride];",
            "if (stride + tid == 1) for (unsigned k = 1; k < blockDim.x; ++k) shared[0] += shared[k];",
            "at most 160 shared memory requests per block: it has "),
    Attempt("02", "index < blockDim.x", "index <= blockDim.x", "out of bounds in reduce_kernel"),
    Attempt("02", "stride *= 2", "stride *= 4", "sums are wrong"),
    Attempt("03", "stride > 0", "stride > 1", "sums are wrong, the first for int32, block 32, n = 2: "),
    Attempt("03", "    if (tid < stride) shared[tid] += shared[tid + stride];\n    __syncthreads();",
            "    if (tid < stride) { shared[tid] += shared[tid + stride]; __syncthreads(); }",
            f"missed barrier in reduce_kernel: .*{PITFALLS}barrier_for_working_threads"),
    Attempt("03", "i < n ?", "blockIdx.x < n / blockDim.x ?",
            f"; only where the last tile is not full {PITFALLS}unguarded_second_load"),
    Attempt("04", "if (i + blockDim.x < n) sum", "sum", f"out of bounds .*{PITFALLS}unguarded_second_load"),
    Attempt("04", "ceil_divide(n, size_t{block} * 2)", "ceil_divide(n, block)",
            "at most 2,053 blocks of all passes: it has"),
    Attempt("04", "* blockDim.x * 2 + tid", "* blockDim.x + tid",
            f"; only of more than one block {PITFALLS}one_cell_for_all_blocks"),
    Attempt("05", "      __syncwarp();\n      shared[tid]", "      shared[tid]",
            f"race .*{PITFALLS}one_syncwarp_a_level"),
    Attempt("05", "if (stride < 32 || blockDim.x > 32) sum", "sum", f"{PITFALLS}tail_past_shared_memory"),
    Attempt("05", "stride > 32", "stride > 64", "sums are wrong, the first for int32, block 128, n = 127: "),
    Attempt("06", "reduce_kernel<T, 64>", "reduce_kernel<T, 32>",
            "no block size without a kernel of its own: it has 1"),
    Attempt("06", "block * sizeof(T)>>>", "block>>>", "out of bounds in reduce_kernel"),
    Attempt("07", "std::min(enough, ", "std::max(enough, ", "passes never end"),
    Attempt("07", "size_t{gridDim.x} * block * 2) {", "size_t{gridDim.x} * block) {", "sums are wrong"),
    Attempt("07", "std::min(enough, ceil_divide(n, size_t{block} * 8))", "ceil_divide(n, size_t{block} * 8)",
            r"at most 1,056 blocks for 2\^30 elements: it has 524,288"),
    Attempt("08", "tid < block / 32 ? shared[tid] : T{}", "shared[tid]", "in reduce_kernel: "),
    Attempt("08", "  __syncthreads();\n", "", "race in reduce_kernel"),
    Attempt("08", "stride = 16", "stride = 8", "sums are wrong, the first for int32, block 32, n = "),
    Attempt("08", "if (tid < 32) sum", "if (tid < block / 32) sum", "in reduce_kernel: "),
    Attempt("09", "min(n, -reinterpret_cast<size_t>(in) % 16 / sizeof(T))", "0", "misaligned access in reduce_kernel"),
    Attempt("09", "&& edge < n ?", "?", "in reduce_kernel: "),
    Attempt("09", "; i + 3 * step < vectors;", "; i < vectors;", "out of bounds in reduce_kernel"),
    Attempt("09", "blockIdx.x == 0 && edge", "edge", "; only"),
    Attempt("10", "    __threadfence();\n    is_last", "    is_last", "race in reduce_kernel"),
    Attempt("10", "    __threadfence();\n  }", "  }", f"{PITFALLS}no_fence_behind_the_ticket"),
    Attempt("10", "atomicInc(&tickets, gridDim.x - 1)", "atomicAdd(&tickets, 1)", "wrong when it is run again"),
    Attempt("10", ".single_pass = true", ".single_pass = false", "at most 1 launch: 1 of 1 sums are wrong"),
]
# In the place of the body of 03's kernel, or of the whole file; the one line that says it.
BODIES = {
    "*out = *reinterpret_cast<T*>(1);": "in reduce_kernel: ",
    "for (volatile int k = 0;; ++k) {}": f"not come to its end in 10 s of a CPU {PITFALLS}endless_loop",
    'printf("hello\\n"); *out = in[0];': "it prints 'hello'",
    "asm volatile(\"trap;\");": "trap in reduce_kernel",
}
FILES = {
    "": "there is no reduce_kernel in it",
    "// reduce_kernel grid_size launch_reduce\n": "there is no reduce_kernel in it",
    "KERNEL = 1;": r"kernel\.cuh:\d+:\d+: error: ",
    "KERNEL\n#include <cstdlib>\nstatic int gone = (std::exit(0), 1);": "it ends the program, with exit code 0",
    "KERNEL\n#include <unistd.h>\nstatic int gone = (_exit(0), 1);": "it ends the program, with exit code 0",
    "KERNEL\nstatic int gone = (__builtin_trap(), 1);": "it crashes: Illegal instruction",
    "KERNEL\nstatic int gone = [] { for (volatile int k = 0;; k = 1) {} return 1; }();": "not come to its end in 10 s",
    "KERNEL\n#include <vector>\nstatic std::vector<char> all(size_t{1} << 40, 1);": "it crashes: Aborted",
}


WRONG_USAGE = {
    "11 a.cuh": "there is no exercise '11': give 01 to 10",
    "03 a.cuh --json nowhere/a.json": "'nowhere/a.json' cannot be written: No such file or directory",
}


@pytest.fixture
def grade(bin_folder: Path, tmp_path: Path, tools: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
          ) -> Callable[..., Ran]:
    """Grades, and leaves nothing behind."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")

    def run(*words: str | Path) -> Ran:
        ran = tools("grade", "--emulate", bin_folder / "emulate", *words)
        assert not list(folder.iterdir())
        return ran

    return run


def kernel(step: str) -> str:
    [folder] = (each.step for each in exercises.ALL if each.step.name.startswith(step))
    return read_text(REPOSITORY / folder / "kernel.cuh")


def expect_failure(ran: Ran, said: str) -> None:
    assert ran.returncode == 1 and not ran.stderr, ran.stdout + ran.stderr
    assert re.search(rf"(?m)^  ✗ FAILED .*{said.replace('(see', '.see')}", ran.stdout), ran.stdout


@pytest.mark.parametrize("exercise", exercises.ALL, ids=[each.step.name for each in exercises.ALL])
def test_solution_passes_and_start_fails(exercise: Exercise, grade: Callable[..., Ran], tmp_path: Path) -> None:
    grades = tmp_path / "grades.json"
    ran = grade(exercise.step.name[:2], exercise.step / "kernel.cuh", exercise.start, "--json", grades)
    solution, start = json.loads(grades.read_text())
    assert (ran.returncode, solution["passed"], start["passed"]) == (1, True, False), ran.stdout
    goals = [check for check in start["checks"] if check["name"].startswith("goal: ")]
    assert len(goals) == len(exercise.goals) and not goals[0]["passed"]
    if exercise.step.name == "03_sequential":  # the page shows it
        page = read_text(REPOSITORY / exercises.EXERCISES / "README.md")
        shown = page.split("```\nmy_kernel.cuh as ")[1].split("```")[0]
        assert f"{exercise.start} as {shown}" in ran.stdout


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=[f"{each.step}-{each.by.strip()[:20]}" for each in ATTEMPTS])
def test_attempt(attempt: Attempt, grade: Callable[..., Ran], tmp_path: Path) -> None:
    text = kernel(attempt.step)
    assert text.count(attempt.line) > 0
    file = tmp_path / "kernel.cuh"
    file.write_text(text.replace(attempt.line, attempt.by, 1))
    expect_failure(grade(attempt.step, file), attempt.said)


@pytest.mark.parametrize("body", BODIES)
def test_body(body: str, grade: Callable[..., Ran], tmp_path: Path) -> None:
    file = tmp_path / "kernel.cuh"
    file.write_text("#include <cstdio>\n" + read_text(REPOSITORY / exercises.ALL[0].start).replace("// Yours.", body))
    expect_failure(grade("01", file), BODIES[body])


@pytest.mark.parametrize("text", FILES)
def test_file(text: str, grade: Callable[..., Ran], tmp_path: Path) -> None:
    file = tmp_path / "kernel.cuh"
    file.write_text(text.replace("KERNEL", kernel("03")))
    expect_failure(grade("03", file), FILES[text])


@pytest.mark.parametrize("words", WRONG_USAGE)
def test_wrong_usage(words: str, grade: Callable[..., Ran]) -> None:
    ran = grade(*words.split())
    assert ran.returncode in (2, 3) and ran.stderr.startswith(f"tools grade: error: {WRONG_USAGE[words]}"), ran.stderr


def test_each_of_several_files_is_graded(grade: Callable[..., Ran], tmp_path: Path) -> None:
    grades = tmp_path / "grades.json"
    ran = grade("03", tmp_path / "nowhere.cuh", tmp_path, "/dev/zero", "--json", grades)
    assert ran.returncode == 1
    assert [check["detail"] for each in json.loads(grades.read_text()) for check in each["checks"]] == [
        f"'{tmp_path}/nowhere.cuh' cannot be read: No such file or directory",
        *2 * ["it is no file of at most 100,000 bytes"]]


def test_ctrl_c_leaves_no_process(bin_folder: Path, tmp_path: Path) -> None:
    file, folder = tmp_path / "kernel.cuh", tmp_path / "tmp"
    folder.mkdir()
    file.write_text(kernel("03") + "static int gone = [] { for (volatile int k = 0;; k = 1) {} return 1; }();\n")
    words: list[str | Path] = [sys.executable, "-m", "tools", "grade", "03", file, "--emulate",
                               bin_folder / "emulate"]
    grading = subprocess.Popen(words, cwd=REPOSITORY, env=os.environ | {"TMPDIR": str(folder)},
                               stdout=subprocess.DEVNULL)
    while not list(folder.glob("*/case0.out")):
        time.sleep(0.1)
        assert grading.poll() is None
    grading.send_signal(signal.SIGINT)
    assert grading.wait(20) == 130 and not list(folder.iterdir())
    running = [each for each in Path("/proc").glob("[0-9]*/exe") if str(folder) in os.path.realpath(each)]
    assert not running
