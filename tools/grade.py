"""Grades kernels as exercises of 01 to 10 (docs/exercises): ./emulate --grade 03 my_kernel.cuh.

A kernel.cuh is compiled as the step. It has to be right for each type and block size beside the edges of warp, block
and tile and for large inputs, to have no finding in five orders of threads and blocks, and to reach the step's goal.
Each run is a process of its own with limits of time and memory.

Exit code: 0 all of them pass, 1 one does not, 2 bad usage, 130 Ctrl-C.
"""

import contextlib
import dataclasses
import difflib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from tools import exercises, gpu, output_file
from tools.command_line import ELEMENT_TYPES, REPOSITORY, BadUsage, ExitCode, Parser, read_text
from tools.exercises import Counted, Exercise

BLOCKS = (32, 64, 128, 256, 512, 1024)
LARGE, LARGEST = 2**20 + 3, 2**22 + 1
ORDERS = 5
MOST_BYTES = 100_000
# Strings stay: they may have what looks like a comment.
COMMENTS = re.compile(r'(?s)("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/')
# Of a process: seconds on a clock, which goes on while others compute, seconds of a CPU, and bytes.
MOST_SECONDS, CPU_SECONDS = 300, 10
LIMITS = ("prlimit", f"--cpu={CPU_SECONDS}:{2 * CPU_SECONDS}", f"--as={8 << 30}", f"--fsize={64 << 20}", "--core=0")


@dataclasses.dataclass
class Check:
    name: str
    passed: bool | None  # None: not checked
    detail: str
    page: str = ""


@dataclasses.dataclass
class Grade:
    step: str
    file: str
    passed: bool
    checks: list[Check]
    diff: dict[str, int]
    gpu: str
    seconds: float


class Case(NamedTuple):
    """What one process adds up."""

    type: str
    block: int
    sizes: tuple[int, ...] = ()  # none: those beside the edges
    order: int = 0
    counters: bool = True


class Sum(NamedTuple):
    case: Case
    elements: int
    tile: int
    run: int
    got: str
    expected: str

    @property
    def is_wrong(self) -> bool:
        return self.got != self.expected

    def __str__(self) -> str:
        again = ", run again" if self.run == 2 else ""
        return f"{self.case.type}, block {self.case.block}, n = {self.elements:,}{again}"


class Ran(NamedTuple):
    sums: list[Sum]
    grid: int
    failure: str  # how the process has ended before its time, or ""
    page: str  # of the pitfall that this is
    findings: list[dict[str, Any]]
    counted: Counter[str]
    launches: int


class Processes:
    """Programs that run side by side, each in a group of processes that ends with it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.groups: set[int] = set()
        self.is_stopped = False

    def run(self, folder: Path, said: Path, *words: str | Path, **variables: str) -> int | None:
        """Returns the exit code, minus a signal's number, or None for a program that has not ended in time."""
        with open(f"{said}.out", "wb") as out, open(f"{said}.err", "wb") as err, self.lock:
            if self.is_stopped:
                return None
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder,
                                       start_new_session=True, env=os.environ | {"TMPDIR": str(folder)} | variables)
            self.groups.add(process.pid)
        try:
            return process.wait(MOST_SECONDS)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self.end(process.pid)
            process.wait()

    def end(self, group: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
        self.groups.discard(group)

    def stop(self) -> None:
        with self.lock:
            self.is_stopped = True
            for group in list(self.groups):
                self.end(group)


def end_those_of(folder: str) -> None:
    """Ends what a kernel's program has begun and left, in whichever group: the folder is in its environment."""
    for file in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"TMPDIR={folder}".encode() in file.read_bytes().split(b"\0"):
                os.kill(int(file.parent.name), signal.SIGKILL)


class Grader:
    """Grades one file."""

    def __init__(self, exercise: Exercise, file: Path, emulate: Path, processes: Processes, folder: Path) -> None:
        self.exercise, self.file, self.emulate = exercise, file, emulate
        self.processes, self.folder = processes, folder
        self.program = folder / "program"
        self.numbers = itertools.count()
        self.has_ended_early = False

    def grade(self) -> Grade:
        begin = time.monotonic()
        checks = list(self.checks())
        passed = all(check.passed is not False for check in checks)
        gpu_says = self.time_on_gpu() if passed else "not timed"
        return Grade(self.exercise.step.name, str(self.file), passed, checks, self.diff(), gpu_says,
                     round(time.monotonic() - begin, 1))

    def diff(self) -> dict[str, int]:
        if not self.program.exists():
            return {}
        before, after = (read_text(file).strip().splitlines() for file in (REPOSITORY / self.exercise.start, self.file))
        signs = [line[0] for line in list(difflib.unified_diff(before, after, n=0))[2:]]
        return {"added": signs.count("+"), "removed": signs.count("-")}

    def checks(self) -> Iterator[Check]:
        why = self.why_not_compiled()
        yield Check("compiles", not why, why)
        if why:
            return
        small = self.run(Case(type, block) for block in BLOCKS for type in ELEMENT_TYPES)
        # In other orders each block size with another type.
        small += self.run(Case(ELEMENT_TYPES[(k + order) % len(ELEMENT_TYPES)], block, order=order)
                          for order in range(1, ORDERS) for k, block in enumerate(BLOCKS))
        yield right("right for each type and block size up to n = 10,007", small)
        large = self.run(Case(type, block, (LARGE,), order) for order, (type, block) in
                         enumerate(zip(ELEMENT_TYPES, itertools.cycle(BLOCKS))))
        large += self.run([Case("int64", 32, (LARGEST,), counters=False)])
        yield right(f"right for n = {LARGE:,} and {LARGEST:,}", large)
        counted = self.run([Case("int32", exercises.COUNTED_BLOCK, (exercises.COUNTED_ELEMENTS,))])
        yield self.without_finding([*small, *large, *counted])
        yield from self.goals(counted)

    def without_finding(self, runs: list[Ran]) -> Check:
        name = f"no finding in {ORDERS} orders of threads and blocks"
        # What most runs have first: a block of one warp has its own, and one fault leads to others.
        first = [ran.findings[0] for ran in runs if ran.findings]
        if not first:
            if any(ran.failure for ran in runs):
                return Check(name, None, "a run has not ended well")
            return Check(name, True, f"{len(runs)} runs")
        kinds = Counter((finding["kind"], finding["page"]) for finding in first)
        told = max(first, key=lambda finding: kinds[finding["kind"], finding["page"]])
        place = self.file.resolve()
        return Check(name, False, told["text"].replace(f"{place.parent.name}/{place.name}", place.name), told["page"])

    def goals(self, runs: list[Ran]) -> Iterator[Check]:
        """Of a kernel whose sum is right."""
        sum_is = right("", runs)
        for goal in self.exercise.goals:
            if not sum_is.passed:
                yield dataclasses.replace(sum_is, name=f"goal: {goal}")
                continue
            [ran] = runs
            counted = Counted(ran.counted, ran.launches, ran.grid, self.program, self.file)
            measured = goal.measured(counted)
            if why := exercises.why_no_reduction(counted):
                yield Check(f"goal: {goal}", False, why)
            elif measured is None:
                yield Check(f"goal: {goal}", None, "there is no nvcc here")
            else:  # a tile that is not full may take one access more
                measured = round(measured, 2)
                yield Check(f"goal: {goal}", measured <= goal.most, f"it has {measured:,.10g}")

    def time_on_gpu(self) -> str:
        """The kernel beside the step's own, both compiled and timed alike."""
        if not gpu.said("nvcc", "--version") or not gpu.name():
            return "no GPU: not timed"
        figures = []
        for name, kernel in (("it", self.file), ("the step", REPOSITORY / self.exercise.step / "kernel.cuh")):
            program, said = self.folder / f"{name} on a GPU", self.folder / name
            options = ("-O3", "-std=c++17", "-arch=native", "--expt-relaxed-constexpr", f"-I{REPOSITORY}/common")
            if self.processes.run(self.folder, said, "nvcc", *options, self.main_for(kernel), "-o", program) == 0:
                self.processes.run(self.folder, said, program, said, "time", "256")
            found = re.search("gbps (.*)", said.read_text() if said.exists() else "")
            figures.append(f"{name} has {found[1]} GB/s" if found else f"{name} could not be timed")
        return f"on {gpu.name()} " + ", ".join(figures)

    def main_for(self, kernel: Path) -> Path:
        main = self.folder / "grade.cu"
        main.write_text(read_text(REPOSITORY / "tools/grade.cu").replace("KERNEL\"", f"{kernel.resolve()}\""))
        return main

    def why_not_compiled(self) -> str:
        """In a line; nothing where it is compiled."""
        try:
            if self.file.exists() and not (self.file.is_file() and self.file.stat().st_size <= MOST_BYTES):
                return f"it is no file of at most {MOST_BYTES:,} bytes"
            source = read_text(self.file)
        except BadUsage as failure:
            return str(failure)
        for name in ("reduce_kernel", "grid_size", "launch_reduce"):
            if not re.search(rf"\b{name}\b", COMMENTS.sub(r"\1", source)):
                return f"there is no {name} in it: {self.exercise.start} has its signature"
        main = self.main_for(self.file)
        said = self.folder / "compiler"
        code = self.processes.run(self.folder, said, self.emulate, main, "-o", self.program)
        if code == 0:
            return ""
        if code is None:
            return f"the compiler has not come to its end in {MOST_SECONDS} s"
        text = Path(f"{said}.err").read_text(errors="replace")
        lines = text.replace(str(self.file.resolve()), str(self.file)).splitlines()
        errors = [line for line in lines if re.search(": (fatal )?error: ", line)]
        own = [line for line in errors if line.startswith(str(self.file))]
        return [*own, *errors, *lines, f"the compiler's exit code is {code}"][0].replace(f"{self.folder}/", "")

    def run(self, cases: Iterable[Case]) -> list[Ran]:
        """Runs them side by side. After one that ends before its time those that have not begun are left out."""
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            try:
                return [ran for ran in pool.map(self.run_one, cases) if ran]
            except KeyboardInterrupt:
                self.processes.stop()  # the pool waits for them
                raise

    def run_one(self, case: Case) -> Ran | None:
        if self.has_ended_early:
            return None
        said = self.folder / f"case{next(self.numbers)}"
        summary = said.with_suffix(".json")
        summary.write_text("{}")  # an order that is not the first adds to it
        settings = ["quiet", f"json={summary}", f"order={case.order}",
                    f"counters={'on' if case.counters else 'off'}"]
        code = self.processes.run(self.folder, said, *LIMITS, self.program, said, case.type, str(case.block),
                                  *map(str, case.sizes), EMULATE="\n".join(settings))
        ran = read(case, said, summary_in(summary), code)
        self.has_ended_early |= bool(ran.failure)
        return ran


def summary_in(file: Path) -> dict[str, Any]:
    """Nothing where the process has ended while it wrote."""
    with contextlib.suppress(ValueError):
        return dict(json.loads(file.read_text()))
    return {}


def read(case: Case, said: Path, summary: dict[str, Any], code: int | None) -> Ran:
    """What a process has left."""
    sums, grid, at, failure = [], 0, "before the first sum", "?"
    elements = tile = 0
    for line in said.read_text().splitlines() if said.exists() else []:
        match line.split(" ", 3):
            case ["grid", blocks]:
                grid = int(blocks)
            case ["begin", n, of_block]:
                elements, tile = int(n), int(of_block)
                at = f"n = {elements:,}"
            case ["sum", run, got, expected]:
                sums.append(Sum(case, elements, tile, int(run), got, expected))
            case ["refused", *words]:
                failure = " ".join(words)
            case ["done"] if sums:  # none of a type that grade.cu does not know
                failure = ""
    page = ""
    printed = Path(f"{said}.out").read_text(errors="replace")
    if printed:
        failure = f"it prints {(printed.strip().splitlines() or [''])[0][:60]!r}: a kernel's output is its sum alone"
    elif code is None or code == -signal.SIGXCPU:
        failure, page = f"it does not come to its end in {CPU_SECONDS} s of a CPU", "docs/pitfalls/endless_loop.md"
    elif code < 0:
        failure = f"it crashes: {signal.strsignal(-code)}"
    elif failure == "?":
        failure = f"it ends the program, with exit code {code}"
    kernels = summary.get("kernels", [])
    counted: Counter[str] = sum((Counter(kernel["counters"]) for kernel in kernels), Counter())
    return Ran(sums, grid, f"{case.type}, block {case.block}, {at}: {failure}" if failure else "", page,
               summary.get("findings", []), counted, sum(kernel["launches"] for kernel in kernels))


def right(name: str, runs: list[Ran]) -> Check:
    for ran in runs:
        if ran.failure:
            return Check(name, False, ran.failure, ran.page)
    sums = [each for ran in runs for each in ran.sums]
    wrong = [each for each in sums if each.is_wrong]
    if not wrong:
        return Check(name, True, f"{len(sums):,} sums") if sums else Check(name, None, "another run has not ended well")
    words, page = hint(sums, wrong)
    if any(ran.findings for ran in runs):
        page = ""  # a finding names a better one
    first = wrong[0]
    return Check(name, False, f"{len(wrong):,} of {len(sums):,} sums are wrong, the first for {first}: {first.got} in "
                 f"place of {first.expected}{words}", page)


def hint(sums: list[Sum], wrong: list[Sum]) -> tuple[str, str]:
    """What the wrong sums have in common and a right one has not, and the page of the pitfall that is so."""
    first_wrong = {each.case: each for each in reversed(wrong)}
    if all(each.run == 2 for each in first_wrong.values()):
        return "; right at first, wrong when it is run again: it finds what the first run has left", ""
    kinds: list[tuple[Callable[[Sum], bool], str, str]] = [
        (lambda each: each.case.block == 32, "in blocks of 32", "tail_past_shared_memory"),
        (lambda each: each.elements > each.tile, "of more than one block", "one_cell_for_all_blocks"),
        (lambda each: each.elements != each.tile, "where the last tile is not full", "unguarded_second_load")]
    for is_so, words, page in kinds:
        if all(map(is_so, wrong)) and any(each.elements and not is_so(each) for each in sums):
            return f"; only {words}", f"docs/pitfalls/{page}.md"
    return "", ""


# ---- the report ----

MARKS = {True: ("✓", "ok", 32), False: ("✗", "FAILED", 31), None: ("–", "not checked", 33)}


def text_of(grade: Grade) -> str:
    lines = [f"{grade.file} as {grade.step}:"]
    for check in grade.checks:
        mark, word, colour = MARKS[check.passed]
        page = f" (see {check.page})" if check.page else ""
        word = f"\x1b[{colour}m{mark} {word:<6}\x1b[0m" if sys.stdout.isatty() else f"{mark} {word:<6}"
        lines.append(f"  {word}  {check.name}" + (f": {check.detail}{page}" if check.detail else ""))
    if grade.diff:
        lines.append(f"  {grade.diff['added']} lines added to the start, {grade.diff['removed']} removed; {grade.gpu}; "
                     f"{grade.seconds} s")
    return "\n".join(lines)


def main(words: list[str]) -> int:
    parser = Parser("grade", __doc__)
    parser.add_argument("step", metavar="STEP", help="01 to 10")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a kernel.cuh")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the grades, a list, to this file")
    parser.add_argument("--emulate", type=Path, default=REPOSITORY / "build/bin/emulate", metavar="PROGRAM",
                        help="which compiles; default build/bin/emulate")
    options = parser.parse_args(words)
    exercise = next((each for each in exercises.ALL if options.step in (each.step.name, each.step.name[:2])), None)
    if exercise is None:
        raise BadUsage(f"there is no exercise '{options.step}': give 01 to 10")
    if options.json:
        output_file.write(options.json, "[]\n")
    for signal_that_ends in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signal_that_ends, interrupt)
    grades = []
    for file in options.files:
        processes = Processes()
        with tempfile.TemporaryDirectory(prefix="grade.", ignore_cleanup_errors=True) as folder:
            try:
                grades.append(Grader(exercise, file, options.emulate.absolute(), processes, Path(folder)).grade())
            finally:
                processes.stop()
                end_those_of(folder)
        print(text_of(grades[-1]), flush=True)
        if options.json:
            text = json.dumps([dataclasses.asdict(grade) for grade in grades], indent=1, ensure_ascii=False)
            output_file.write(options.json, text + "\n")
    return ExitCode.DONE if all(grade.passed for grade in grades) else ExitCode.WRONG


def interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
