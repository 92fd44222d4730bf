"""Measures what the pages show of a GPU, on the first GPU of this machine, and draws the plots: the ladder, the three
sweeps, the header beside CUB, the atomics, and what each part of the timing method is for. It takes about ten minutes.

The results are in FOLDER, docs/results/<the GPU's name> by default. Results that are there are replaced when all is
measured. Until then each run's result is a file in FOLDER.new. After a failure, Ctrl-C or SIGTERM the same command goes
on with what is missing.

Exit code: 0 done, 1 a wrong result, 2 bad usage, 3 this machine cannot do it, 130 Ctrl-C.
"""

import dataclasses
import datetime
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

from tools import gpu, output_file, pages, plot, programs, results
from tools.command_line import REPOSITORY, BadUsage, ExitCode, Failure, NotPossible, Parser, parse_count, say
from tools.markdown import count_text
from tools.programs import ATOMICS, HEADER_STEP, Programs, last_words
from tools.results import H200, AgainstCub, Measured, Result

METHOD_STEP = "07_cascade"  # whose timing the method is shown with
CUB = "peer_cub"
GRID_INPUTS = [*((2**k, 256) for k in (20, 22, 25, 28, 30)), (2**28, 512), (2**28, 1024)]  # elements, and block
AGAINST_CUB = "12_against_cub"  # the header and CUB's reduction in one process, case by case


def main(words: list[str]) -> int:
    # A time limit's: the step that is running ends, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = Parser("measure", __doc__)
    parser.add_measurement()
    parser.add_argument("--largest", type=parse_count, metavar="COUNT",
                        help="where the size sweep ends; default what fits")
    options = parser.parse_args(words)
    gpu.require()
    if not options.bin and not shutil.which("nvcc"):
        raise NotPossible("there is no nvcc on PATH: without it the steps are built for the emulated device only")
    folder = (options.folder or H200.with_name(gpu.slug(gpu.name()))).resolve()
    work = folder.with_name(folder.name + ".new")
    largest = f" --largest {count_text(options.largest)}" if options.largest else ""
    output_file.make_folder(work)
    measured = begun_with(work, measured_now(f"python3 -m tools measure{largest}", options.commit))
    executables = Programs(options.bin or programs.build(["ladder", AGAINST_CUB, *ATOMICS]))
    executables.require("ladder_table", AGAINST_CUB, *ATOMICS)
    measurement = Measurement(work, executables, runnable(executables), options.largest)
    output_file.write(work / "measured.json", results.to_text(dataclasses.asdict(measured)))
    try:
        measurement.measure()
        finish(work, folder, executables)
    finally:
        if work.exists():
            say(f"Measured until now: {work}; call again to go on")
    say(f"The results: {folder}")
    try:
        plot.main([str(folder)])
    except Failure as why:  # as for a GPU that does not tell its peak
        say(f"There are no plots: {why}; python3 -m tools plot {folder} draws them")
    if folder != H200:
        say(f"Beside the H200: python3 -m tools plot --out FOLDER {H200.relative_to(REPOSITORY)} {folder}")
    return ExitCode.DONE


def measured_now(command: str, commit: str | None) -> Measured:
    """Here, today, by this command. Throws BadUsage where git does not know the commit."""
    commit = commit or gpu.said("git", "-C", str(REPOSITORY), "describe", "--always", "--exclude=*", "--abbrev=40",
                                "--dirty= with changes")
    if not commit:
        raise BadUsage("this is no git repository: say with --commit which commit the programs are of")
    clock = gpu.query("clocks.max.sm")
    return Measured(gpu=gpu.name(), driver=gpu.query("driver_version"), cuda=gpu.cuda_version(), commit=commit,
                    clock_mhz=int(clock) if clock.isdigit() else None, command=command,
                    date=f"{datetime.datetime.now(datetime.UTC):%F}")


def begun_with(work: Path, now: Measured) -> Measured:
    """What describes the measurement that is to go on, else `now`. Throws BadUsage where it is another one."""
    file = work / "measured.json"
    before = results.read_one(file, Measured) if file.exists() else now
    if dataclasses.replace(before, date=now.date) != now:
        raise BadUsage(f"'{work}' was begun with another GPU, driver, CUDA, commit or command: delete that folder")
    return before


def finish(work: Path, folder: Path, executables: Programs) -> None:
    """Moves the results to where they belong. What other commands have written there stays."""
    folder.mkdir(exist_ok=True)
    for part in PARTS:
        (folder / f"{part}.json").unlink(missing_ok=True)
    for file in work.glob("*.json"):
        file.replace(folder / file.name)
    output_file.write(folder / "README.md", pages.card_page(folder, executables))
    shutil.rmtree(work)


# ---- what is measured ----

def runnable(executables: Programs) -> list[str]:
    """The steps that this GPU runs, in order, and at the end CUB's reduction."""
    steps = []
    for step in filter(executables.has, programs.steps_of("ladder", "beyond", "peer")):
        # A sweep of one size: this GPU may be too old for the step.
        ran = executables.run(step, *"--device cuda --sweep size -n 1024 -s 1".split())
        if ran.returncode in (ExitCode.BAD_USAGE, ExitCode.NOT_POSSIBLE):
            say(f"{step} is left out: {last_words(ran)}")
        else:
            steps.append(step)
    if not {METHOD_STEP, CUB} <= set(steps):
        raise NotPossible(f"{METHOD_STEP} and {CUB} of '{executables.folder}' have to run on the GPU, and one does not")
    return steps


@dataclasses.dataclass(frozen=True)
class Measurement:
    """Of the programs that run on this GPU, into `work`. A run is written as '07_cascade -n 2^20'."""

    work: Path
    programs: Programs
    steps: list[str]
    largest: int | None = None

    def each(self, options: str = "") -> list[str]:
        return [f"{step} {options}".rstrip() for step in self.steps]

    def measure(self) -> None:
        """Makes the runs whose results are not there."""
        parts = self.work / "parts"
        parts.mkdir(exist_ok=True)
        for part, runs in PARTS.items():
            files = {parts / f"{part}.{number:04}.{run.replace(' ', '_')}.json": run
                     for number, run in enumerate(runs(self))}
            for file, run in files.items():
                if not file.exists():
                    say(f"{part}: {run}")
                    self.programs.write(file, run)
            if files:
                results.gather([*files], self.work / f"{part}.json", RECORDS.get(part, Result))


def against_cub(measurement: Measurement) -> list[str]:
    """Case by case: to what fits, or to `largest`; what the steps do not sum, to 2^30."""
    largest = measurement.largest
    to_largest = f" -n {largest}" if largest else ""
    to_30 = f" -n {min(largest or 2**30, 2**30)}"
    return [f"{AGAINST_CUB} --case {case} --sweep size{to_largest if case in pages.SUMS else to_30}"
            for case in pages.CASES if HEADER_STEP in measurement.steps]


# The runs of each part, in the order in which they are made.
PARTS: dict[str, Callable[[Measurement], list[str]]] = {
    "ladder": lambda measurement: ["00_cpu_serial", *measurement.each()],
    # The same once more: how far two runs of a step are apart.
    "repeat": lambda measurement: measurement.each(),
    "sweep_block": lambda measurement: measurement.each("--sweep block -s 50"),
    "sweep_type": lambda measurement: measurement.each("--sweep type -s 50"),
    "sweep_size": lambda measurement: measurement.each(
        "--sweep size -s 50" + (f" -n {measurement.largest}" if measurement.largest else "")),
    "against_cub": against_cub,
    # 2^25 float32 have been published. The first takes tens of milliseconds per run for these: it gets few samples.
    "atomics": lambda _: [
        f"{program} {chosen} -s 20" for program in ATOMICS
        for chosen in ("-t float32 -n 2^15", "-t float32 -n 2^20", "-t float32 -n 2^25", "-t int32 -n 2^25")],
    # Those with one atomic per block, beside the tree that needs none.
    "atomics_block": lambda _: [
        f"{step} --sweep block -n 2^25 -t {chosen} -s 50" for chosen in ("float32", "int32")
        for step in ("atomic_shared", "atomic_leader", "atomic_block", "04_first_add")],
    # A block for each tile of so many elements per thread, beside the grid that fills the device.
    "sweep_grid": lambda _: [
        f"{step} -n {n} -b {block} -s 40" + (f" --grid {n // (block * each)}" if each else "")
        for step, inputs in (
            ("07_cascade", GRID_INPUTS), ("09_vector_loads", GRID_INPUTS), ("10_single_pass", GRID_INPUTS[-1:]))
        for n, block in inputs for each in (0, 2, 4, 8, 16, 32, 64) if each != 2 or step == "07_cascade"],
    # The CPU beside sweep_size.
    "sweep_cpu": lambda _: ["00_cpu_serial --sweep size -n 2^28 -s 20"],
    # For each part of the method, one step with it and without it.
    "method_flush": lambda _: [
        f"{METHOD_STEP} -n {n} --flush {flush} -s 200"
        for n in ("2^20", "2^22", "2^24", "2^25", "2^26", "2^28") for flush in ("read", "memset", "none")],
    "method_queue": lambda _: [
        f"{step} -n {n} --queue {queue} -s 200" for n in ("2^10", "2^16", "2^20", "2^24", "2^28")
        for queue in ("on", "off") for step in ("01_interleaved", METHOD_STEP)],
    # What takes two kernels at 2^20 elements.
    "method_lead_in": lambda measurement: [
        f"{step} -n 2^20 --lead-in {count} -s 200" for count in (0, 1, 2, 3, 4, 6, 8, 12, 16)
        for step in (METHOD_STEP, HEADER_STEP, CUB) if step in measurement.steps],
    # One sample per process, so that each is the first one.
    "method_warm_up": lambda _: [f"{METHOD_STEP} --warm-up {count} -s 1" for _ in range(10) for count in (0, 1, 3, 10)],
}
# What the parts' files hold, where that is not a Result.
RECORDS: dict[str, type] = {"against_cub": AgainstCub}
