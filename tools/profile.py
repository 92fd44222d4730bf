"""Lets Nsight Compute (ncu) count what steps do on the GPU of this machine.

With STEP, for example 03_sequential or peer_cub, it counts one whole reduction, all its launches. It prints the counts
beside those of the emulated device, then each launch, then ncu's time beside the step's own. OPTION... are the step's,
for example -n 2^24 -t float64 -b 512; without -n there are 2^22 elements.

With --counters it counts the first pass of each GPU step, and writes docs/counters/<gpu>.csv, with a line
`step,metric,value` for each count. A metric that this GPU does not have is `missing` there, and so is all of a step
that it cannot run (11 takes compute capability 9.0).

Exit code: 0 done, 1 a wrong result, 2 bad usage, 3 a machine that cannot do it.
"""

import datetime
import re
from collections.abc import Sequence

from tools import counters, gpu, markdown, output_file
from tools.command_line import ExitCode, Failure, NotPossible, Parser, say
from tools.counters import Counts, cell
from tools.nsight_compute import BLOCKS, BYTES_READ, INSTRUCTIONS, MEMORY, OPTIONS, TIME, Launch, NsightCompute
from tools.programs import Programs, peer_names
from tools.results import Result

# What is printed of a reduction: the emulated device's counter, or what only a GPU counts, and ncu's metric.
PRINTED = {"blocks": BLOCKS, **MEMORY, "warp instructions": INSTRUCTIONS, "bytes read from DRAM": BYTES_READ,
           "bytes written to DRAM": "dram__bytes_write.sum"}
# What stands of a first pass in the file: what the page shows.
OF_A_FIRST_PASS = (*MEMORY.values(), *counters.READ.values(), *counters.ONLY_ON_THE_GPU.values())
# The emulated device takes seconds for as many, minutes for many more.
MOST_EMULATED_ELEMENTS = 2**24


def main(words: list[str]) -> int:
    steps = [*counters.STEPS, *peer_names()]
    parser = Parser("profile", __doc__)
    parser.usage = "%(prog)s STEP [--bin FOLDER] [OPTION...]\n       %(prog)s --counters [--bin FOLDER]"
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("step", nargs="?", metavar="STEP", choices=steps, help=", ".join(steps))
    what.add_argument("--counters", action="store_true", help="all steps, into a file")
    parser.add_bin()
    options, rest = parser.parse_known_args(words)
    programs = Programs(options.bin)
    if options.counters:
        write_counters(programs)
    else:
        size = [] if any(re.match("--elements(=|$)|-n", word) for word in rest) else ["-n", "2^22"]
        print_reduction(programs, options.step, [*size, *rest])
    return ExitCode.DONE


# ---- one reduction ----


def print_reduction(programs: Programs, step: str, options: list[str]) -> None:
    programs.require(step)
    ncu = NsightCompute(*PRINTED.values(), TIME)
    result, launches = count_reduction(ncu, programs, step, options)
    emulated = count_emulated(programs, step, options, result.elements)
    block = "" if result.block is None else f" in blocks of {result.block}"
    print(f"**{step}**, one reduction of {result.elements} {result.type}{block}, on {result.device.name}, as Nsight "
          f"Compute {ncu.version()} counts it:\n")
    print(markdown.table(["", "Nsight Compute's metric", "GPU", "emulated"], [
        [what.replace("_", " "), f"`{metric}`", cell(total(launches, metric), ".0f", "missing"),
         cell(emulated[what], ".0f")] for what, metric in PRINTED.items()], "llrr"))
    print("A request takes one wavefront where its elements have 4 bytes, and each bank conflict one more.\n")
    for launch in launches:
        print(f"{launch.kernel}: {total([launch], TIME) / 1e3:.2f} µs")
    own, kernels = result.median_ms, total(launches, TIME) / 1e6
    print(f"Time: ncu gives {kernels:.4f} ms (gpu__time_duration), the step's own median is {own:.4f} ms: "
          f"{own - kernels:+.4f} ms, {100 * (own / kernels - 1):+.1f} %.\n"
          "The step times from before its first launch to after its last; ncu each kernel alone, with empty caches.")


def count_reduction(
        ncu: NsightCompute, programs: Programs, step: str, options: Sequence[str]) -> tuple[Result, list[Launch]]:
    """Runs the step without ncu, for its time and its number of launches, then with it."""
    options = ["--device", "cuda", *options]
    result = programs.result(step, *options)
    passes, kernels = len(result.passes), "reduce_kernel"
    if passes == 0:
        # A library does not tell: one kernel takes a small input, else two, in 12 three a large one. Others run CUB's.
        kernels = "(one_block|reduce|combine_shares|combine)_kernel" if step.startswith("12_") else "DeviceReduce"
    # The first launches of a process verify; warm-up and samples repeat them.
    launches = ncu.count(["-k", f"regex:{kernels}", "-c", str(passes or 3)],
                         [programs.folder / step, *options, "-s", "1", "-q"], at_least=passes or 1)
    for k, launch in enumerate(launches, 1):
        if re.search("SingleTile|(one_block|combine)_kernel", launch.kernel):
            return result, launches[:k]  # this one leaves the result
    return result, launches


def count_emulated(programs: Programs, step: str, options: Sequence[str], elements: int) -> Counts:
    """What the emulated device counts in all passes; says why where it does not."""
    try:
        if elements > MOST_EMULATED_ELEMENTS:
            raise NotPossible("it counts up to 2^24 elements here: give a smaller -n")
        return Counts(programs.result(step, *options, "--device", "emulated").counters or {})
    except Failure as why:
        say(f"The emulated device did not count: {why}")
        return Counts()


def total(launches: list[Launch], metric: str) -> float:
    """The sum over the launches; NaN where one of them does not have the metric."""
    return sum(float(launch.values.get(metric, "nan")) for launch in launches)


# ---- the first passes of all steps ----


def write_counters(programs: Programs) -> None:
    """Writes the counts of this GPU into docs/counters/<gpu>.csv."""
    programs.require(*counters.STEPS)
    ncu = NsightCompute(*OF_A_FIRST_PASS)
    card = programs.result(counters.STEPS[0], "-n", "1", "--device", "cuda", "-s", "1").device
    file = counters.FOLDER / f"{gpu.slug(card.name)}.csv"
    # The first launch of the step's kernel is its first pass.
    selection = ("-k", "regex:reduce_kernel", "-s", "0", "-c", "1")
    options = (*counters.INPUT, "--device", "cuda", "-s", "1", "-q")
    lines = [
        "# The first pass of each step over 2^22 int32 in blocks of 256, as python3 -m tools profile --counters "
        "counted it.",
        f"# GPU: {card.name}, compute capability {card.compute_capability}",
        f"# driver: {gpu.query('driver_version')}",
        f"# CUDA: {gpu.cuda_version()}",
        f"# Nsight Compute: {ncu.version()}",
        f"# date: {datetime.datetime.now(datetime.timezone.utc):%F}",
        f"# command: ncu {' '.join((*selection, *OPTIONS))} --metrics <those below> <step> {' '.join(options)}",
        "step,metric,value"]
    for step in counters.STEPS:
        say(step)
        try:
            values = ncu.count(selection, [programs.folder / step, *options])[0].values
        except NotPossible as why:
            if "it needs a CUDA device of compute capability" not in str(why):
                raise
            say(f"{step} does not run on this GPU")
            values = {}
        lines += [f"{step},{metric},{values.get(metric, 'missing')}" for metric in OF_A_FIRST_PASS]
    output_file.write(file, "\n".join(lines) + "\n")
    say(f"{file} is written")
