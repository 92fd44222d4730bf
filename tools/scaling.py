"""Measures 13_many_gpus on the GPUs of this machine: weak and strong scaling, a sum of nothing, both clocks, combined
in the kernels and by NCCL, and each GPU's part alone. It takes some minutes.

The results are many_gpus.json, many_gpus_alone.json and many_gpus_measured.json in FOLDER, by default
docs/results/<the GPU's name>. All are written at the end.

Exit code: 0 done, 1 a wrong result, 2 bad usage, 3 this machine cannot do it, 130 Ctrl-C.
"""

import dataclasses
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools import gpu, output_file, programs, results
from tools.command_line import BadUsage, ExitCode, NotPossible, Parser, parse_count, say
from tools.markdown import count_text
from tools.measure import measured_now
from tools.programs import Programs
from tools.results import H200, RanksResult

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
    parser.add_argument("--weak", type=parse_count, default=MOST_OF_A_RANK, metavar="COUNT",
                        help="the elements of each rank in weak scaling; default 2^33, 32 GiB")
    options = parser.parse_args(words)
    gpu.require()
    if not shutil.which("mpirun"):
        raise NotPossible("there is no mpirun here: install an MPI")
    weak = "" if options.weak == MOST_OF_A_RANK else f" --weak {count_text(options.weak)}"
    folder = (options.folder or H200.with_name(gpu.slug(gpu.name()))).resolve()
    measured = measured_now(f"python3 -m tools scaling{weak}", options.commit)
    output_file.make_folder(folder)
    executables = Programs(options.bin or programs.build([PROGRAM]))
    executables.require(PROGRAM)
    launcher = ["mpirun", "-np", str(gpu.count()), "--bind-to", "none"]

    def write(name: str, run: str, launcher: Sequence[str] = (), **variables: str) -> Path:
        say(run)
        return executables.write(Path(scratch, name), f"{PROGRAM} {run}", launcher, **variables)

    jobs: list[Path] = []
    with tempfile.TemporaryDirectory() as scratch:
        for combiner in COMBINERS:
            runs = runs_of(combiner, f"--weak -n {count_text(options.weak)} --samples {SAMPLES_OF_WEAK}")
            try:
                jobs += [write(f"{combiner}{k}.json", run, launcher) for k, run in enumerate(runs)]
            except (BadUsage, NotPossible) as why:
                say(f"{combiner} is left out: {why}")
        if not jobs:
            raise NotPossible(f"neither of {' and '.join(COMBINERS)} can combine what is on these GPUs")
        found = [result for file in jobs for result in results.read_list(file, RanksResult)]
        shards = sorted({result.elements_per_rank for result in found if result.ranks == gpu.count()}, reverse=True)
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(gpu.count())))).split(",")
        by_itself = [
            json.loads(write("alone.json", f"-n {shard}", CUDA_VISIBLE_DEVICES=one).read_text("utf-8")) | {"rank": rank}
            for shard in shards for rank, one in enumerate(visible)]
        results.gather(jobs, folder / "many_gpus.json", RanksResult)
    output_file.write(folder / "many_gpus_alone.json", results.to_text(by_itself))
    output_file.write(folder / "many_gpus_measured.json", results.to_text(dataclasses.asdict(measured)))
    say(f"The results: {folder}")
    return ExitCode.DONE


def runs_of(combiner: str, weak: str) -> list[str]:
    return [f"{size} --scaling --combine {combiner}{clock}" for clock, sizes in (
        ("", (weak, *STRONG)), (" --queue off", BY_HOST_CLOCKS)) for size in sizes]
