"""Lets Nsight Compute (ncu) count what steps do on the GPU of this machine.

With STEP, for example 03_sequential or peer_cub, it counts one whole reduction, all its launches. It prints the counts
beside those of the emulated device, then each launch, then ncu's time beside the step's own. OPTION... are the step's,
for example -n 2^24 -t float64 -b 512; without -n there are 2^22 elements.

With --counters it counts the first pass of each GPU step, and writes one file with a line `step,metric,value` for each
count. A metric that this GPU does not have is `missing` there, and so is all of a step that it cannot run (11 takes
compute capability 9.0). The file appears whole or not at all.

Exit code: 0 done, 1 a wrong result, 2 bad usage, 3 a machine that cannot do it.
"""

import dataclasses
import datetime
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

from tools import counters, gpu, markdown, output_file, results
from tools.command_line import BadUsage, ExitCode, Failure, NotPossible, Parser, say
from tools.nsight_compute import BLOCKS, BYTES_READ, INSTRUCTIONS, MEMORY, OPTIONS, TIME, Launch, NsightCompute
from tools.programs import Programs, last_words, peer_names
from tools.results import Result

# What is printed of a reduction: what it is, the emulated device's counter and ncu's metric. Without a metric it is the
# difference of the two rows above.
ROWS = [
    ("blocks", "blocks", BLOCKS),
    *((f"shared {access}s: {what}", counter, MEMORY.get(counter, "")) for access in ("load", "store")
      for what, counter in (("wavefronts", f"shared_{access}_wavefronts"),
                            ("bank conflicts", f"shared_{access}_conflicts"), ("without conflicts", ""))),
    *((f"global {access}s: {count}", f"global_{access}_{count}", MEMORY[f"global_{access}_{count}"])
      for access in ("load", "store") for count in ("requests", "sectors")),
    ("warp instructions", "", INSTRUCTIONS),
    ("bytes read from DRAM", "", BYTES_READ),
    ("bytes written to DRAM", "", "dram__bytes_write.sum")]
DRAM_SHARE = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
# What stands of a first pass in the file, in its order.
OF_A_FIRST_PASS = (
    BLOCKS, "smsp__inst_executed_op_shared_ld.sum", "smsp__inst_executed_op_shared_st.sum",
    *MEMORY.values(), *counters.READ.values(), INSTRUCTIONS, "smsp__thread_inst_executed_per_inst_executed.ratio",
    "smsp__sass_branch_targets_threads_divergent.sum", TIME)
# The emulated device takes seconds for as many, minutes for many more.
MOST_EMULATED_ELEMENTS = 2**24


def main(words: list[str]) -> int:
    parser = Parser("profile", __doc__)
    parser.usage = "%(prog)s STEP [--bin FOLDER] [OPTION...]\n       %(prog)s --counters [--bin FOLDER] [--out FILE]"
    parser.add_argument("step", nargs="?", metavar="STEP", help="a step that a GPU runs, or a peer")
    parser.add_bin()
    parser.add_argument("--device", help="with STEP: cuda (default) or cuda:N")
    parser.add_argument("--counters", action="store_true", help="all steps, into a file")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help="with --counters; default docs/counters/<gpu>.csv, for example nvidia_h200.csv")
    options, rest = parser.parse_known_args(words)
    programs = Programs(options.bin)
    if options.counters:
        given: list[str] = [word for word in (options.step, options.device, *rest) if word]
        if given:
            raise BadUsage(f"'{given[0]}': --counters takes all steps, without options of theirs")
        write_counters(programs, options.out)
        return ExitCode.DONE
    check_step(programs, options.step)
    for name in [word.partition("=")[0] for word in rest] + ["--out"] * (options.out is not None):
        if name in ("--json", "--sweep", "--compare", "--version", "--out"):
            raise BadUsage(f"{name} is not for profile STEP, which prints one reduction on two devices")
    device = options.device or "cuda"
    if not re.fullmatch("cuda(:.*)?", device):
        raise BadUsage(f"--device '{device}': ncu takes cuda or cuda:N")
    print_reduction(programs, options.step, ["--device", device, "-n", "2^22", *rest])
    return ExitCode.DONE


def check_step(programs: Programs, step: str | None) -> None:
    here = [name for name in (*counters.steps(), *peer_names()) if programs.has(name)]
    if not here:
        raise BadUsage(f"there is no step in '{programs.folder}': build them with ./run_ladder.sh, or name another "
                       "folder with --bin")
    if step not in here:
        raise BadUsage(f"{repr(step) if step else 'STEP is missing'}: choose from {', '.join(here)}")


def kernel_milliseconds(programs: Programs, step: str, options: Sequence[str]) -> tuple[float, float]:
    """ncu's time of all launches of one reduction, and the median of the step's own times.

    Throws NotPossible where ncu cannot tell or the step does not run on a GPU here.
    """
    ncu = NsightCompute(TIME)
    words = ["--device", "cuda", *options]
    result = run_alone(programs, step, words)
    nanoseconds = total(count_launches(ncu, programs, step, words, len(result.passes)), TIME)
    if nanoseconds is None:
        raise NotPossible(f"ncu gives no time of {step} here ({TIME})")
    return nanoseconds / 1e6, result.median_ms


# ---- one reduction ----


def print_reduction(programs: Programs, step: str, options: list[str]) -> None:
    ncu = NsightCompute(*(metric for _, _, metric in ROWS if metric), DRAM_SHARE, TIME)
    result = run_alone(programs, step, options)
    launches = count_launches(ncu, programs, step, options, len(result.passes))
    emulated, remark = count_emulated(programs, step, options, result)
    if emulated and emulated["blocks"] != total(launches, BLOCKS):
        remark = "The emulated device has an H200's 132 multiprocessors: where a grid fills the device, this GPU " \
            "takes another."
    block = "" if result.block is None else f" in blocks of {result.block}"
    print(f"**{step}**, one reduction of {result.elements} {result.type}{block}, on {result.device.name}, as Nsight "
          f"Compute {ncu.version()} counts it:\n\n{table_of_counts(launches, emulated)}\n"
          "A request takes one wavefront where its elements have 4 bytes, and each bank conflict one more.\n")
    if remark:
        print(f"{remark}\n")
    print(markdown.table(["launch", "kernel", "blocks", "µs", "% of DRAM's peak"], "rlrrr", [
        [str(k), launch.kernel, launch.values.get(BLOCKS, "missing"), number(total([launch], TIME), 2, unit=1000),
         number(total([launch], DRAM_SHARE), 1)] for k, launch in enumerate(launches, 1)]))
    nanoseconds, own = total(launches, TIME), result.median_ms
    if nanoseconds is None:
        print(f"Time: ncu gives none here (gpu__time_duration); the step's own median is {own} ms.")
        return
    kernels, launched = nanoseconds / 1e6, "1 launch" if len(launches) == 1 else f"{len(launches)} launches"
    print(f"Time: ncu gives {kernels:.4f} ms (gpu__time_duration, {launched}), "
          f"the step's own median is {own:.4f} ms: {own - kernels:+.4f} ms, {100 * (own / kernels - 1):+.1f} %.\n"
          "The step times from before its first launch to after its last; ncu each kernel alone, with empty caches.")


def run_step(programs: Programs, step: str, options: Sequence[str]) -> tuple["CompletedProcess[str]", Result | None]:
    """With a result where the step succeeds."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "result.json")
        ran = programs.run(step, *options, "-q", "--json", file)
        return ran, results.read_one(file, Result) if ran.returncode == ExitCode.DONE else None


def run_alone(programs: Programs, step: str, options: Sequence[str]) -> Result:
    """The step without ncu: its time, and how many launches a reduction is."""
    ran, result = run_step(programs, step, options)
    if result is not None:
        return result
    if ran.returncode in (ExitCode.WRONG, ExitCode.BAD_USAGE):
        raise (Failure if ran.returncode == ExitCode.WRONG else BadUsage)(f"{step} failed: {last_words(ran)}")
    raise NotPossible(f"{step} does not run on a GPU here: {last_words(ran)}")


def count_launches(ncu: NsightCompute, programs: Programs, step: str, options: Sequence[str],
                   passes: int) -> list[Launch]:
    """The launches of one reduction. The first ones of a process verify; warm-up and samples repeat them."""
    kernels = "reduce_kernel"
    if passes == 0:
        # A library does not tell: it takes one kernel for a small input, else two. Other libraries run CUB's.
        kernels = "(one_block|cluster|reduce|bulk|combine)_kernel" if step.startswith("12_") else "DeviceReduce"
    launches = ncu.count(["-k", f"regex:{kernels}", "-c", str(passes or 2)], programs.folder / step, *options,
                         "-s", "1", "-q")
    if len(launches) < passes:
        raise NotPossible(f"ncu reported {len(launches)} launches of {step}, and a reduction has {passes}; its last "
                          f"words:\n{ncu.last_words()}")
    for k, launch in enumerate(launches, 1):
        if re.search("SingleTile|one_block|cluster|combine", launch.kernel):
            return launches[:k]  # this one leaves the result
    return launches


def count_emulated(programs: Programs, step: str, options: Sequence[str], result: Result) -> tuple[dict[str, int], str]:
    """What the emulated device counts in all passes, or why it does not."""
    if not result.passes:
        return {}, "A library's kernels do not run on the emulated device."
    if result.elements > MOST_EMULATED_ELEMENTS:
        return {}, "The emulated device counts up to 2^24 elements here: with a smaller -n its counts stand beside."
    ran, emulated = run_step(programs, step, [*options, "--device", "emulated"])
    if emulated is None or emulated.counters is None:
        return {}, f"The emulated device did not count: {last_words(ran)}"
    return dataclasses.asdict(emulated.counters), ""


def table_of_counts(launches: list[Launch], emulated: dict[str, int]) -> str:
    """With the emulated counts in its last column, where there are any."""
    both: list[tuple[float | None, float | None]] = []
    for _, counter, metric in ROWS:
        both.append((total(launches, metric), emulated.get(counter)) if metric else
                    (counters.minus(both[-2][0], both[-1][0]), counters.minus(both[-2][1], both[-1][1])))
    rows = [["", "Nsight Compute's metric", "GPU", "emulated"]] + [
        [what, f"`{metric}`" if metric else "their difference", number(gpu, 0), markdown.or_dash(ours, 0)]
        for (what, _, metric), (gpu, ours) in zip(ROWS, both)]
    names, *rows = rows if emulated else [row[:3] for row in rows]
    return markdown.table(names, "llrr"[:len(names)], rows)


def total(launches: list[Launch], metric: str) -> float | None:
    """The sum over the launches; None where one of them does not have the metric."""
    values = [launch.values[metric] for launch in launches if metric in launch.values]
    return sum(map(float, values)) if len(values) == len(launches) else None


def number(value: float | None, digits: int, unit: int = 1) -> str:
    return "missing" if value is None else f"{value / unit:.{digits}f}"


# ---- the first passes of all steps ----


def write_counters(programs: Programs, out: Path | None) -> None:
    """Writes the counts of this GPU into `out`, by default docs/counters/<gpu>.csv."""
    steps = list(counters.steps())
    programs.require(*steps)
    ncu = NsightCompute(*OF_A_FIRST_PASS)
    on_gpu = ("--device", "cuda", "-s", "1")
    device = run_alone(programs, steps[0], ("-n", "1", *on_gpu)).device
    file = out or counters.FOLDER / (re.sub("[^a-z0-9]+", "_", device.name.lower()) + ".csv")
    output_file.require_writable(file, "--out")
    # The first launch of the step's kernel is its first pass.
    selection, options = ("-k", "regex:reduce_kernel", "-s", "0", "-c", "1"), (*counters.INPUT, *on_gpu, "-q")
    lines = [
        "# The first pass of each step over 2^22 int32 in blocks of 256, as python3 -m tools profile --counters "
        "counted it.",
        f"# GPU: {device.name}, compute capability {device.compute_capability}",
        f"# driver: {gpu.driver()}",
        f"# CUDA: {gpu.cuda_version()}",
        f"# Nsight Compute: {ncu.version()}",
        f"# date: {datetime.datetime.now(datetime.timezone.utc):%F}",
        f"# command: ncu {' '.join((*selection, *OPTIONS))} --metrics <those below> <step> {' '.join(options)}",
        "step,metric,value"]
    for step in steps:
        say(step)
        ran, _ = run_step(programs, step, ("-n", "1", *on_gpu))
        values: dict[str, str] = {}
        # Any other failure is ncu's to tell.
        if ran.returncode == ExitCode.NOT_POSSIBLE and "it needs a CUDA device of compute capability" in ran.stderr:
            say(f"{step} does not run on this GPU: {last_words(ran)}")
        else:
            values = ncu.count(selection, programs.folder / step, *options)[0].values
        lines += [f"{step},{metric},{values.get(metric, 'missing')}" for metric in OF_A_FIRST_PASS]
    output_file.write(file, "\n".join(lines) + "\n")
    say(f"{file} is written")
