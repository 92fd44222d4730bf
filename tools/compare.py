"""Runs the best steps and every peer on the first GPU of this machine, over sizes and element types, and prints one
Markdown table per type: a row per program, a column per size, GB/s and the share of CUB's. Elements of half and
bfloat16, which no step has, are summed in float32: by the header of 12_any_operation, CUB and the libraries.

SIZES and TYPES are lists with commas: -n 2^20,2^24,2^28 -t int32,float32. Options that are not listed here are the
steps' own; Python does not get them. What is not built, not installed or crashes is a line on stderr, and what
a program cannot sum is a dash.

Exit code: 0 done, 1 a wrong result, 2 bad usage, 3 this machine cannot do it, 130 Ctrl-C: the table of what was
measured is printed all the same.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tools import gpu, output_file, programs, results
from tools.command_line import SMALL_TYPES, TYPES, BadUsage, ExitCode, NotPossible, Parser, parse_count, read_text, say
from tools.markdown import count_text, table
from tools.programs import Programs
from tools.results import Result

LIBRARIES = ("torch", "cupy", "jax")
AGAINST_CUB = "12_against_cub"
# What the loader exits with where a program's library is not on this machine.
NO_LIBRARY = 127


def main(words: list[str]) -> int:
    parser = Parser("compare", __doc__)
    parser.add_argument("-n", type=lambda text: list(map(parse_count, text.split(","))), metavar="SIZES", dest="sizes",
                        default=[2**20, 2**22, 2**25, 2**28], help="numbers of elements; default 2^20,2^22,2^25,2^28")
    parser.add_argument("-t", type=lambda text: text.split(","), default=TYPES, metavar="TYPES", dest="types",
                        help=f"default all: {','.join(TYPES)}")
    # Until samples agree takes seconds for a small input, and there are hundreds of runs.
    parser.add_argument("-s", type=int, default=100, metavar="SAMPLES", dest="samples",
                        help="timed runs of each; default 100")
    parser.add_argument("--bin", type=Path, metavar="FOLDER", help="take executables from there; default: build them")
    parser.add_argument("--python", default=sys.executable, metavar="PROGRAM",
                        help="the interpreter that has torch, cupy or jax; default: this one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all results there")
    options, step_options = parser.parse_known_args(words)
    gpu.require()
    if options.json:
        output_file.make_folder(options.json.parent)
    executables = Programs(options.bin or programs.build(["ladder", "peers", AGAINST_CUB]))
    executables.require(program_names()[0])
    # As Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder:
        measured = Measured(Path(folder))
        try:
            run_programs(measured, executables, options, step_options)
            run_small_types(measured, executables, options)
            run_libraries(measured, options)
        finally:
            # After Ctrl-C, too.
            measured.show(options.json)
    if not measured.results:
        raise NotPossible("nothing could be measured")
    return ExitCode.DONE if all(result.verified for result in measured.results) else ExitCode.WRONG


def program_names() -> list[str]:
    """The last step of the ladder, those beyond that use one GPU, then the peers."""
    return [*programs.steps_of("ladder")[-1:], *programs.steps_of("beyond"), "14_same_bits", *programs.peer_names()]


class Measured:
    """What was measured until now: each program's file is kept as soon as it is there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: list[Path] = []
        self.results: list[Result] = []

    def run(self, name: str, *command: str | Path, made_results: Callable[[Path], None] = lambda file: None) -> bool:
        """Runs a step or a peer, whose last word is its file; whether it could sum. `made_results` makes a file of
        results of it where it is none. Throws BadUsage where the program refuses the options."""
        say(name)
        file = self.folder / f"{len(self.files):04}.json"
        # It shares stderr with this program: what it says is seen while it runs.
        code = subprocess.run([*command, file], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode
        if file.exists():
            made_results(file)
            self.results += results.read_list(file, Result)
            self.files.append(file)
        if code == ExitCode.BAD_USAGE:
            raise BadUsage(f"{name} refuses its options; its words are above")
        if code in (ExitCode.INTERRUPTED, -signal.SIGINT):
            raise KeyboardInterrupt
        if code not in (ExitCode.DONE, ExitCode.WRONG, ExitCode.NOT_POSSIBLE, NO_LIBRARY):
            say(f"{name} crashed: " + (signal.Signals(-code).name if code < 0 else f"exit code {code}"))
        return code in (ExitCode.DONE, ExitCode.WRONG)

    def show(self, file: Path | None) -> None:
        """Writes the file, and prints the tables: stdout may be full."""
        if self.results and file:
            results.gather(self.files, file, Result)
        if self.results:
            print("GB/s (share of CUB's):\n", *peer_tables(self.results), sep="\n", end="")


def run_programs(measured: Measured, executables: Programs, options: argparse.Namespace, step_options: list[str]
                 ) -> None:
    """Program by program: what has once failed for a type is not tried again for each size."""
    for name in program_names():
        if not executables.has(name):
            say(f"not built: {name}")
            continue
        for element_type in (of for of in options.types if of not in SMALL_TYPES):
            for size in map(count_text, options.sizes):
                if not measured.run(f"{name} -t {element_type} -n {size}", executables.folder / name,
                                    "-t", element_type, "-n", size, "-s", str(options.samples), "--device", "cuda",
                                    "--quiet", *step_options, "--json"):
                    break


def run_small_types(measured: Measured, executables: Programs, options: argparse.Namespace) -> None:
    if not executables.has(AGAINST_CUB):
        say(f"not built: {AGAINST_CUB}")
        return
    for element_type in filter(SMALL_TYPES.__contains__, options.types):
        for size in map(count_text, options.sizes):
            case = f"sum_{element_type}_in_float32"
            measured.run(f"{AGAINST_CUB} --case {case} -n {size}", executables.folder / AGAINST_CUB, "--case", case,
                         "-n", size, "-s", str(options.samples), "--json", made_results=one_each(element_type))


def one_each(element_type: str) -> Callable[[Path], None]:
    """Makes two results of the one of 12_against_cub: the header's and CUB's."""
    def make(file: Path) -> None:
        [both] = json.loads(read_text(file))
        none = dict.fromkeys(("block", "first_run_ms", "percent_of_peak", "counters"))
        exact = dict.fromkeys(("result", "error", "tolerance"), 0)
        output_file.write(file, results.to_text([
            both | none | exact | {"step": step, "type": element_type, "ms": both[of + "ms"], "gbps": both[of + "gbps"],
                                   "passes": []}
            for step, of in (("12_any_operation", ""), ("peer_cub", "cub_"))]))

    return make


def run_libraries(measured: Measured, options: argparse.Namespace) -> None:
    """Each in a process of its own, because none gives back all memory of the GPU before it ends, and the CUDA
    libraries that one has loaded may not be the other's. It says itself what is not installed."""
    if not gpu.said(options.python, "-c", "import numpy; print(numpy.__version__)"):
        say(f"not installed: {options.python}, or numpy for it")
        return
    like = measured.folder / "like.json"
    results.gather(measured.files, like, Result)
    for library in LIBRARIES:
        # It finds the package where this process did: by the working folder or PYTHONPATH.
        measured.run(f"{options.python}: {library}", options.python, "-m", "tools.python_peers", library, like)


# ---- the tables ----


def peer_tables(results: Sequence[Result], types: Sequence[str] = TYPES) -> list[str]:
    """A Markdown table for each of these types that there are results of: a row per program, a column per number of
    elements, in each cell GB/s and the share of peer_cub's."""
    sizes = sorted({result.elements for result in results})
    steps = dict.fromkeys(result.step for result in results)
    tables = []
    for element_type in dict.fromkeys(result.type for result in results if result.type in types):
        found = {(result.step, result.elements): result for result in results if result.type == element_type}
        tables.append(table([element_type, *map(count_text, sizes)], [
            [step, *(cell(found.get((step, size)), found.get(("peer_cub", size))) for size in sizes)]
            for step in steps]))
    return tables


def cell(result: Result | None, cub: Result | None) -> str | None:
    """"3695.4 (83.5 %)"; a dash where the program was not run or has no such type."""
    if result is None:
        return None
    if not result.verified:
        return "**WRONG**"
    share = f" ({result.bandwidth / cub.bandwidth * 100:.1f} %)" if cub else ""
    return f"{result.bandwidth:.1f}{share}"
