"""Measures what the pages show of a GPU, on the first GPU of this machine, and draws the plots: the ladder, the three
sweeps, the header beside CUB, the atomics, and what each part of the timing method is for.

The results are in FOLDER, docs/results/<the GPU's name> by default. Results that are there are replaced when all is
measured; a folder with anything else is refused. It takes about ten minutes.

Until then each run's result is a file in FOLDER.new. After a failure, Ctrl-C or the end of --limit the same command
goes on with what is missing. Where a command may take ten minutes:

  until python3 -m tools measure --limit 8; [ $? != 75 ]; do :; done

Exit code: 0 done, 1 a wrong result, 2 bad usage, 3 this machine cannot do it, 75 --limit is over and something is not
yet measured, 130 Ctrl-C. What was measured stays in FOLDER.new.
"""

import argparse
import dataclasses
import datetime
import fcntl
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from tools import gpu, output_file, pages, plot, profile, programs, results
from tools.command_line import REPOSITORY, BadUsage, ExitCode, Failure, NotPossible, Parser, parse_count, say
from tools.gpu import said
from tools.programs import ATOMICS, Programs
from tools.results import Measured, Result, SecondClock

# EX_TEMPFAIL of sysexits.h: call again.
TO_BE_CONTINUED = 75
# The step whose timing the method is shown with.
METHOD_STEP = "07_cascade"
# The header, which is held against CUB in all types and sizes.
HEADER_STEP = "12_any_operation"
CUB = "peer_cub"
BYTES = {"int32": 4, "int64": 8, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16}
# Measured by hand, and kept: many_gpus.json takes several GPUs, peers.json is written by `compare`.
KEPT = ("many_gpus.json", "many_gpus_alone.json", "peers.json")
FAILURES: dict[int, type[Failure]] = {ExitCode.BAD_USAGE: BadUsage, ExitCode.NOT_POSSIBLE: NotPossible}


# ---- the command ----

def main(words: list[str]) -> int:
    begun = time.monotonic()
    # A time limit's: the step that is running ends, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = parse(words)
    if options.bin:
        Programs(options.bin).require(METHOD_STEP, "ladder_table")
    require_gpu(options.bin)
    measured = describe(options)
    folder, work = choose_folders(options.folder or REPOSITORY / "docs/results" / gpu.slug())
    if not options.afresh:
        measured = begun_with(work, measured)
    executables = Programs(options.bin or programs.build(["ladder", *ATOMICS]))
    measurement = Measurement(work, executables, runnable(executables), options.largest, begun + 60 * options.limit)

    open_work(work, options.afresh)
    output_file.write(work / "measured.json", results.to_text(dataclasses.asdict(measured)))
    try:
        if not measurement.measure(options.only or PARTS):
            say(f"{options.limit:g} minutes are over. Measured until now: {work}; call again to go on")
            return TO_BE_CONTINUED
        if options.only:
            say(f"Measured until now: {work}; without --only the rest follows")
            return ExitCode.DONE
        finish(work, folder, executables)
    except (Failure, KeyboardInterrupt):
        say(f"Measured until now: {work}; call again to go on")
        raise
    say(f"The results: {folder}")
    draw_plots(folder)
    return ExitCode.DONE


def parse(words: list[str]) -> argparse.Namespace:
    parser = Parser("measure", __doc__)
    parser.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help="where the results go")
    parser.add_argument("--bin", type=Path, metavar="FOLDER", help="take executables from it, and build none")
    parser.add_argument("--commit", metavar="HASH", help="what they are built from; default what git says")
    parser.add_argument("--largest", type=parse_largest, metavar="COUNT",
                        help="where the size sweep ends; default what fits")
    parser.add_argument("--limit", type=float, default=float("inf"), metavar="MINUTES",
                        help="begin no run when so many minutes are over; each call makes at least one")
    parser.add_argument("--only", action="append", choices=PARTS, metavar="PART",
                        help=f"make these runs only, and no page yet; can be given again: {', '.join(PARTS)}")
    parser.add_argument("--afresh", action="store_true", help="forget what is in FOLDER.new")
    return parser.parse_args(words)


def parse_largest(text: str) -> str:
    """As it is given to the steps. What they would refuse is said now, not after minutes."""
    if parse_count(text) < 1024:
        raise argparse.ArgumentTypeError(f"'{text}': the size sweep begins at 2^10")
    return text


def require_gpu(bin_folder: Path | None) -> None:
    gpu.require()
    if not gpu.name():
        raise NotPossible(f"nvidia-smi knows no such GPU: CUDA_VISIBLE_DEVICES={os.environ['CUDA_VISIBLE_DEVICES']}")
    if not bin_folder and not shutil.which("nvcc"):
        raise NotPossible(
            "there is no nvcc on PATH: without the CUDA toolkit the steps are built for the emulated device only")


def describe(options: argparse.Namespace) -> Measured:
    return Measured(gpu=gpu.name(), driver=gpu.driver(), cuda=gpu.cuda_version(),
                    date=datetime.datetime.now(datetime.UTC).date().isoformat(),
                    command="python3 -m tools measure" + (f" --largest {options.largest}" if options.largest else ""),
                    commit=options.commit or commit_here())


def commit_here() -> str:
    head = said("git", "-C", str(REPOSITORY), "rev-parse", "HEAD")
    if not head:
        raise BadUsage("this is no git repository: say with --commit which commit the steps are of")
    changed = said("git", "-C", str(REPOSITORY), "status", "--porcelain", "--untracked-files=no")
    return head + (" with changes" if changed else "")


# ---- the folders ----

def choose_folders(results_folder: Path) -> tuple[Path, Path]:
    """FOLDER and FOLDER.new. They are replaced as a whole, so they must not have what this command has not written."""
    folder = results_folder.resolve()
    work = folder.with_name(folder.name + ".new")
    for taken in (folder, work):
        ours = (taken / "measured.json").is_file() or taken.is_dir() and not any(taken.iterdir())
        if taken.exists() and not ours:
            raise BadUsage(f"'{taken}' has something else than results in it: name another folder")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadUsage(f"'{folder}' cannot be made: {error.strerror}; name a folder where you can write") from None
    output_file.require_writable(folder.with_name("any file"), "the results' folder is to be made beside")
    return folder, work


def begun_with(work: Path, now: Measured) -> Measured:
    """What describes the measurement that is to go on, else `now`. Throws BadUsage where it is another one."""
    if not (work / "measured.json").exists():
        return now
    before = results.read_one(work / "measured.json", Measured)
    for key in ("gpu", "driver", "cuda", "command", "commit"):
        old, new = getattr(before, key), getattr(now, key)
        if old != new:
            raise BadUsage(f"'{work}' was begun with another {key}, '{old}', and this is '{new}': --afresh forgets it")
    return before


def open_work(work: Path, afresh: bool) -> None:
    """Makes the folder, and locks it until this process ends: two on one GPU would measure each other."""
    work.mkdir(exist_ok=True)
    try:
        fcntl.flock(os.open(work, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise NotPossible(f"another process measures into '{work}'") from None
    for entry in work.iterdir() if afresh else ():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    (work / "parts").mkdir(exist_ok=True)


def finish(work: Path, folder: Path, executables: Programs) -> None:
    """Makes the work the results. The old ones are deleted last."""
    for file in filter(Path.is_file, (folder / name for name in KEPT)):
        shutil.copy2(file, work)
    output_file.write(work / "README.md", pages.card_page(work, executables))
    aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    folder.mkdir(exist_ok=True)
    folder.rename(aside / "old")
    try:
        work.rename(folder)
    except BaseException:
        (aside / "old").rename(folder)
        raise
    shutil.rmtree(aside)
    shutil.rmtree(folder / "parts")


def draw_plots(folder: Path) -> None:
    """Beside the card that the pages show."""
    shown = REPOSITORY / "docs/results/nvidia_h200"
    try:
        plot.main([str(folder), *([] if folder == shown else [str(shown)])])
    except NotPossible as why:
        say(f"There are no plots: {why}; python3 -m tools plot {folder} draws them")


# ---- what is measured ----

def runnable(executables: Programs) -> list[str]:
    """The steps that this GPU runs, in order, and at the end CUB's reduction."""
    steps = []
    for step in filter(executables.has, [*(folder.name for folder in programs.step_folders()), CUB]):
        # A sweep of one size: this GPU may be too old for the step, and a step over many GPUs has no sweeps.
        ran = executables.run(step, *"--device cuda --sweep size -n 1024 -s 1".split())
        if ran.returncode in (ExitCode.BAD_USAGE, ExitCode.NOT_POSSIBLE):
            say(f"{step} is left out: {ran.stderr.strip()}")
        else:
            steps.append(step)
    if not {METHOD_STEP, CUB} <= set(steps):
        raise NotPossible(
            f"{METHOD_STEP} and {CUB} have to run on the GPU, and one of them in '{executables.folder}' does not")
    return steps


@dataclasses.dataclass(frozen=True)
class Measurement:
    """Of the programs that run on this GPU, into `work`. A run is written as '07_cascade -n 2^20'."""

    work: Path
    programs: Programs
    steps: list[str]
    largest: str | None
    deadline: float  # of time.monotonic(), s

    def each(self, options: str = "") -> list[str]:
        return [f"{step} {options}".rstrip() for step in self.steps]

    def measure(self, parts: Iterable[str]) -> bool:
        """Makes the runs whose results are not there. Returns whether it came to the end before the deadline."""
        begun = False
        for part in parts:
            record = SecondClock if part == "second_clock" else Result
            files = {self.work / "parts" / f"{part}.{number:04}.{run.replace(' ', '_')}.json": run
                     for number, run in enumerate(PARTS[part](self))}
            missing = [file for file in files if not is_measured(file, record)]
            if len(missing) < len(files):
                say(f"{part}: {len(files) - len(missing)} of {len(files)} runs are measured already")
            for file in missing:
                if begun and time.monotonic() >= self.deadline:
                    return False
                begun = True
                say(f"{part}: {files[file]}")
                if record is Result:
                    self.run(files[file], file)
                # Where Nsight Compute cannot profile the first one, it can none.
                elif not self.run_with_second_clock(files[file], file) and file == next(iter(files)):
                    break
            if found := list(filter(Path.exists, files)):
                results.gather(found, self.work / f"{part}.json", record)
        return True

    def run(self, run: str, file: Path) -> None:
        """Throws the failure that the program's exit code says."""
        program, *options = run.split()
        # A sweep writes what it has when Ctrl-C ends it. So the file gets its name when the program has succeeded.
        unfinished = self.work / "parts/unfinished"
        unfinished.unlink(missing_ok=True)
        # On the GPU, never on the emulated device in its place.
        ran = self.programs.run(program, "--device", "cuda", *options, "--quiet", "--json", unfinished)
        if ran.returncode == ExitCode.INTERRUPTED:
            raise KeyboardInterrupt
        if ran.returncode != 0:
            say((ran.stdout + ran.stderr).rstrip())
            raise FAILURES.get(ran.returncode, Failure)(f"{run}: exit code {ran.returncode}")
        results.read_list(unfinished)
        unfinished.rename(file)

    def run_with_second_clock(self, run: str, file: Path) -> bool:
        """Writes Nsight Compute's time beside the step's own. Returns whether it has one."""
        step, *options = run.split()
        try:
            ncu_ms, step_ms = profile.kernel_milliseconds(self.programs, step, options)
        except NotPossible as why:
            say(f"second_clock: {step} is left out: {why}")
            return False
        clock = SecondClock(step=step, ncu_ms=round(ncu_ms, 6), step_ms=round(step_ms, 6))
        output_file.write(file, results.to_text(dataclasses.asdict(clock)))
        return True


def is_measured(file: Path, record: type) -> bool:
    """A file that is damaged is measured again."""
    try:
        results.read_list_if_there(file, record)
    except BadUsage as why:
        say(f"measured again: {why}")
        return False
    return file.exists()


def beside_cub(measurement: Measurement) -> list[str]:
    """The header and CUB in turn, a type after the other, so that the two of a type are measured side by side: to 2^30
    elements, or to as many bytes as the size sweep went to. Small inputs take a few microseconds, and a median of more
    samples is worth its time there.
    """
    if HEADER_STEP not in measurement.steps:
        say(f"sweep_size_types is left out: there is no {HEADER_STEP}")
        return []
    sweep = measurement.work / "sweep_size.json"
    if not sweep.exists():
        raise BadUsage("sweep_size_types goes as far as sweep_size: measure that one first")
    most = max(result.elements for result in results.read_list(sweep, Result))
    sizes = {of_type: max(1024, min(2**30, most * BYTES["int32"] // size)) for of_type, size in BYTES.items()}
    return [f"{program} --sweep size -t {of_type} -n {size} -s 200"
            for of_type, size in sizes.items() for program in (HEADER_STEP, CUB)]


def atomics(measurement: Measurement) -> list[str]:
    """2^25 float32 have been published. The first takes tens of milliseconds per run for these: it gets few samples."""
    for program in ATOMICS:
        if not measurement.programs.has(program):
            say(f"atomics are left out: there is no {program} in '{measurement.programs.folder}'")
            return []
    inputs = ("-t float32 -n 2^15", "-t float32 -n 2^20", "-t float32 -n 2^25", "-t int32 -n 2^25")
    return [f"{program} {chosen} -s 20" for program in ATOMICS for chosen in inputs]


# What can be asked for with --only, and the runs of each, in the order in which they are made.
PARTS: dict[str, Callable[[Measurement], list[str]]] = {
    "ladder": lambda measurement: ["00_cpu_serial", *measurement.each()],
    # The same once more: how far two runs of a step are apart.
    "repeat": lambda measurement: measurement.each(),
    "sweep_block": lambda measurement: measurement.each("--sweep block -s 50"),
    "sweep_type": lambda measurement: measurement.each("--sweep type -s 50"),
    "sweep_size": lambda measurement: measurement.each(
        "--sweep size -s 50" + (f" -n {measurement.largest}" if measurement.largest else "")),
    "sweep_size_types": beside_cub,
    "atomics": atomics,
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
    "method_warm_up": lambda _: [
        f"{METHOD_STEP} --warm-up {count} -s 1" for _ in range(10) for count in (0, 1, 3, 10)],
    # Nsight Compute's times beside the steps' own, where its counters may be read.
    "second_clock": lambda measurement: measurement.each("-n 2^28"),
}
