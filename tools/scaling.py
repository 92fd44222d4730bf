"""Measures 13_many_gpus on the GPUs of this machine, or on those where COMMAND starts it: weak and strong scaling, a
sum of nothing, both clocks, combined in the kernels and by NCCL, and on this machine each GPU's part alone. It takes
some minutes.

  python3 -m tools scaling
  python3 -m tools scaling --launch "srun --nodes 2 --ntasks-per-node 4 --gpus-per-node 4 --gpu-bind none"

The results are many_gpus.json, many_gpus_alone.json and many_gpus_measured.json in FOLDER, by default
docs/results/<the GPU's name>. All are written at the end.

Exit code: 0 done, 1 a wrong result, 2 bad usage, 3 this machine cannot do it, 130 Ctrl-C.
"""

import dataclasses
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from tools import gpu, output_file, programs, results
from tools.command_line import ExitCode, NotPossible, Parser, parse_count, say
from tools.markdown import count_text
from tools.measure import measured_now
from tools.programs import Programs
from tools.results import H200, Measured, RanksResult

PROGRAM = "13_many_gpus"
COMBINERS = ("kernels", "nccl")
MOST_OF_A_RANK = 2**33  # elements, 32 GiB
SAMPLES_OF_WEAK = 200  # ten agree within 0.5 %, and a call costs less than 0.1 %
STRONG = ("-n 2^28", "-n 2^24", "-n 0")  # of all ranks together
BY_HOST_CLOCKS = ("-n 2^28", "-n 0")


def main(words: list[str]) -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parser = Parser("scaling", __doc__)
    parser.add_measurement()
    parser.add_argument("--launch", type=shlex.split, metavar="COMMAND",
                        help="starts the ranks; default: mpirun -np N --bind-to none, with all N GPUs of this machine")
    parser.add_argument("--weak", type=parse_count, default=MOST_OF_A_RANK, metavar="COUNT",
                        help="the elements of each rank in weak scaling; default 2^33, 32 GiB")
    options = parser.parse_args(words)
    gpu.require()
    command = "python3 -m tools scaling"
    if options.launch:
        command += f" --launch {shlex.quote(shlex.join(options.launch))}"
    if options.weak != MOST_OF_A_RANK:
        command += f" --weak {count_text(options.weak)}"
    launch = options.launch or ["mpirun", "-np", str(gpu.count()), "--bind-to", "none"]
    if not shutil.which(launch[0]):
        raise NotPossible(f"there is no {launch[0]} here: install an MPI, or say with --launch what starts the ranks")
    folder = (options.folder or H200.with_name(gpu.slug(gpu.name()))).resolve()
    measured = measured_now(command, options.commit)
    output_file.make_folder(folder)
    executables = Programs(options.bin or programs.build([PROGRAM]))
    executables.require(PROGRAM)
    program = [str(executables.folder / PROGRAM), "--device", "cuda"]
    numbers = ",".join(map(str, range(gpu.count())))
    # Another launcher may start ranks on other machines.
    gpus = [] if options.launch else os.environ.get("CUDA_VISIBLE_DEVICES", numbers).split(",")
    measure(Job([*launch, *program]), [Job(program, {"CUDA_VISIBLE_DEVICES": each}) for each in gpus], options.weak,
            folder, measured)
    say(f"The results: {folder}")
    return ExitCode.DONE


def measure(job: "Job", alone: list["Job"], elements: int, folder: Path, measured: Measured) -> None:
    weak = f"--weak -n {count_text(elements)} --samples {SAMPLES_OF_WEAK}"
    together = [run for who in combiners(job) for run in runs_of(who, weak)]
    with tempfile.TemporaryDirectory() as scratch:
        jobs = [job.write(run, Path(scratch, f"{k}.json"), RanksResult) for k, run in enumerate(together)]
        found = [result for file in jobs for result in results.read_list(file, RanksResult)]
        most = max(result.ranks for result in found)
        shards = sorted({result.elements_per_rank for result in found if result.ranks == most}, reverse=True)
        by_itself = [json.loads(own.write(f"-n {shard}", Path(scratch, "alone.json"), RanksResult).read_text("utf-8"))
                     | {"rank": rank} for shard in shards for rank, own in enumerate(alone)]
        results.gather(jobs, folder / "many_gpus.json", RanksResult)
    (folder / "many_gpus_alone.json").unlink(missing_ok=True)
    if by_itself:
        output_file.write(folder / "many_gpus_alone.json", results.to_text(by_itself))
    output_file.write(folder / "many_gpus_measured.json", results.to_text(dataclasses.asdict(measured)))


def runs_of(combiner: str, weak: str) -> list[str]:
    return [f"{size} --scaling --combine {combiner}{clock}" for clock, sizes in (
        ("", (weak, *STRONG)), (" --queue off", BY_HOST_CLOCKS)) for size in sizes]


@dataclasses.dataclass(frozen=True)
class Job:
    """Starts ranks with these words and variables; a run is the words behind them."""

    words: list[str]
    variables: dict[str, str] = dataclasses.field(default_factory=dict)

    def run(self, run: str, *more: str | Path) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([*self.words, *run.split(), *more], stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", errors="replace", env=os.environ | self.variables)

    def write(self, run: str, file: Path, record: type) -> Path:
        """Writes its results to the file, and returns it. Throws the failure that the program's exit code says."""
        say(run)
        ran = self.run(run, "--quiet", "--json", file)
        if ran.returncode != 0:
            say(ran.stdout + ran.stderr)
            raise programs.failure(ran.returncode, f"{run}: exit code {ran.returncode}")
        results.read_list(file, record)
        return file


def combiners(job: Job) -> list[str]:
    """Those that can combine here. Throws NotPossible where none can."""
    able = []
    for combiner in COMBINERS:
        ran = job.run(f"-n 1024 -s 1 --combine {combiner}")
        if ran.returncode == ExitCode.DONE:
            able.append(combiner)
        elif ran.returncode in (ExitCode.BAD_USAGE, ExitCode.NOT_POSSIBLE):
            say(f"{combiner} is left out: {ran.stderr}")
        else:
            raise programs.failure(ran.returncode, f"{combiner}: exit code {ran.returncode}: {ran.stderr}")
    if not able:
        raise NotPossible(f"neither of {' and '.join(COMBINERS)} can combine what is on these GPUs")
    return able
