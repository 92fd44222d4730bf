"""The counts of GPUs, docs/counters/<gpu>.csv (python3 -m tools profile --counters), beside the emulated device's."""

import csv
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tools import markdown
from tools.command_line import REPOSITORY, BadUsage, read_text
from tools.nsight_compute import BLOCKS, BYTES_READ, INSTRUCTIONS, MEMORY, TIME
from tools.programs import EMULATED, Programs, steps_of
from tools.results import Result

FOLDER = REPOSITORY / "docs/counters"
# What both sides count.
INPUT = ("-n", "2^22", "-t", "int32", "-b", "256")
# Other traffic through the L1 cache adds to a GPU's bank conflicts, and as much to its wavefronts. This share of the
# wavefronts may be such noise.
NOISE = 0.04

# Where what a kernel reads comes from, whoever asks for it.
READ = {
    "from memory": BYTES_READ,
    "from L2 to the multiprocessors": "l1tex__m_xbar2l1tex_read_bytes.sum",
    "of these by the TMA": "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"}
ONLY_ON_THE_GPU = {
    "blocks": BLOCKS,
    "warp instructions": INSTRUCTIONS,
    "threads per instruction": "smsp__thread_inst_executed_per_inst_executed.ratio",
    "divergent branches": "smsp__sass_branch_targets_threads_divergent.sum",
    "shared load instructions": "smsp__inst_executed_op_shared_ld.sum",
    "shared store instructions": "smsp__inst_executed_op_shared_st.sum",
    "µs": TIME}
METRICS = {*MEMORY.values(), *READ.values(), *ONLY_ON_THE_GPU.values()}


class Counts(dict[str, float]):
    """By the names of the steps' JSON or of Nsight Compute. What was not counted is NaN."""

    def __missing__(self, name: str) -> float:
        return math.nan


class Step(NamedTuple):
    """On both sides; `emulated` is empty where only a GPU runs it."""

    name: str
    emulated: Counts
    gpu: Counts

    def title(self) -> str:
        return self.name if self.emulated else f"{self.name} (GPU only)"


def steps() -> dict[str, bool]:
    """The steps whose counts a GPU's file has, in order, and whether the emulated device runs them, too."""
    # 13 and 14 have nothing of their own to count: of integers they run another step's kernel.
    return {step: step in EMULATED for step in steps_of("ladder", "beyond")}


def tables(programs: Programs) -> tuple[str, list[str]]:
    """The tables of all GPUs, and a line for each count that differs.

    Throws BadUsage where a GPU's file does not fit, NotPossible where a step does not run.
    """
    emulated = run_emulated(programs)
    compared = [compare(file, emulated) for file in sorted(FOLDER.glob("*.csv"))]
    return "\n".join(text for text, _ in compared), [line for _, differences in compared for line in differences]


def run_emulated(programs: Programs) -> dict[str, Result]:
    """All steps that the emulated device runs, by their names."""
    names = [name for name, runs_emulated in steps().items() if runs_emulated]
    programs.require(*names)
    return {name: programs.result(name, "--device", "emulated", *INPUT) for name in names}


def compare(file: Path, emulated: Mapping[str, Result]) -> tuple[str, list[str]]:
    """The tables of one GPU, and a line for each count that differs. Throws BadUsage where its file does not fit."""
    description, gpu = read(file)
    compared = [Step(name, first_pass(emulated[name], counts[BLOCKS]) if name in emulated else Counts(), counts)
                for name, counts in gpu.items()]
    comparison = Comparison()
    parts = [f"### {description.pop('GPU', file.stem)}",
             " · ".join(f"{key}: {value}" for key, value in description.items() if key != "command"),
             *shared_table(compared, "Loads from shared memory", "load", comparison),
             *shared_table(compared, "Stores to shared memory", "store", comparison),
             *global_table(compared, comparison),
             *gpu_table(compared, "Bytes read, only on the GPU", READ),
             *gpu_table(compared, "Only on the GPU", ONLY_ON_THE_GPU)]
    count, differences = comparison.compared, comparison.differences
    parts.append(f"**{len(differences)} of {count} compared counts differ.**" if differences else
                 f"All {count} compared counts agree.")
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n", differences


# ---- the two sides ----


def read(file: Path) -> tuple[dict[str, str], dict[str, Counts]]:
    """The lines `# key: value` in front, and the counts of each step. Throws BadUsage where the file does not fit."""
    description: dict[str, str] = {}
    counts = {step: Counts() for step in steps()}
    for number, line in enumerate(read_text(file).splitlines(), 1):
        if line.startswith("# "):
            description.update(re.findall("^# (.*?): (.*)", line))
        elif line != "step,metric,value":
            try:
                [[step, metric, value]] = csv.reader([line])
                if metric not in METRICS or value != "missing" and not 0 <= float(value) < 2**63:
                    raise ValueError
                counts[step][metric] = math.nan if value == "missing" else float(value)
            except (KeyError, ValueError, csv.Error):
                raise BadUsage(f"{file}:{number}: '{line[:80]}' is no line `step,metric,value` of a step and a metric "
                               "that are compared") from None
    for step in counts:
        if not counts[step]:
            raise BadUsage(f"'{file}' has no {step}: write it anew with python3 -m tools profile --counters")
    return description, counts


def first_pass(result: Result, gpu_blocks: float) -> Counts:
    """What a step counts on the emulated device, with the GPU's number of blocks.

    A grid that fills the device, as that of step 07, has another size on another device. What a block does in shared
    memory and what it stores stays the same, and so does what all blocks load of the input together. In a single pass
    the last block does as much once more, for the blocks' partial sums, and loads these.
    """
    counts = Counts(result.passes[0].counters or {})
    ours = counts["blocks"]
    blocks = ours if math.isnan(gpu_blocks) else gpu_blocks
    once_more = 1 if len(result.passes) == 1 else 0
    for name in counts:
        if name.startswith(("shared_", "global_store_")):
            counts[name] = counts[name] * (blocks + once_more) // (ours + once_more)
    if once_more:
        counts["global_load_requests"] += math.ceil(blocks / 32) - math.ceil(ours / 32)
        counts["global_load_sectors"] += math.ceil(blocks / 8) - math.ceil(ours / 8)
    return counts


# ---- the comparison ----


class Comparison:
    """What was compared so far, and what differs."""

    def __init__(self) -> None:
        self.compared = 0
        self.differences: list[str] = []

    def cells(self, step: Step, what: str, emulated: float, gpu: float, allowance: float = 0) -> list[str]:
        """Of a count that has to be the same within `allowance`; in bold where it is not."""
        pair = [cell(emulated), cell(gpu)]
        excess = abs(gpu - emulated) - allowance
        if math.isnan(excess):
            return pair
        self.compared += 1
        if excess <= 0:
            return pair
        self.differences.append(f"{step.name}: {what}: emulated {pair[0]}, GPU {pair[1]}")
        return [f"**{text}**" for text in pair]


def cell(count: float, form: str = ".10g", missing: str = markdown.DASH) -> str:
    return missing if math.isnan(count) else f"{count:{form}}"


def shared_table(compared: list[Step], title: str, access: str, comparison: Comparison) -> list[str]:
    rows = []
    for step in compared:
        requests, wavefronts, conflicts = (step.emulated[f"shared_{access}_{count}"]
                                           for count in ("requests", "wavefronts", "conflicts"))
        gpu_wavefronts, gpu_conflicts = (step.gpu[MEMORY[f"shared_{access}_{count}"]]
                                         for count in ("wavefronts", "conflicts"))
        rows.append([
            step.title(), cell(requests),
            *comparison.cells(step, f"{title}: wavefronts - conflicts", wavefronts - conflicts,
                              gpu_wavefronts - gpu_conflicts),
            *comparison.cells(step, f"{title}: conflicts", conflicts, gpu_conflicts, NOISE * gpu_wavefronts),
            cell(100 * (gpu_conflicts - conflicts) / (gpu_wavefronts or math.nan), ".2f")])
    names = ["step", "requests, emulated", "wavefronts − conflicts, emulated", "GPU", "conflicts, emulated", "GPU",
             "difference, % of wavefronts"]
    return [f"**{title}**", markdown.table(names, "lrrrrrr", rows)]


def global_table(compared: list[Step], comparison: Comparison) -> list[str]:
    names, rows = ["step"], [[step.title()] for step in compared]
    for counter in (f"{access}_{count}" for access in ("load", "store") for count in ("requests", "sectors")):
        what = counter.replace("_", " ")
        names += [f"{what}, emulated", "GPU"]
        for row, step in zip(rows, compared):
            row += comparison.cells(step, f"global {what}", step.emulated[f"global_{counter}"],
                                    step.gpu[MEMORY[f"global_{counter}"]])
    return ["**Global memory**", markdown.table(names, "lrrrrrrrr", rows)]


def gpu_table(compared: list[Step], title: str, metrics: dict[str, str]) -> list[str]:
    """What the emulated device does not count. Nothing for a file that has none of it."""
    rows = [[cell(step.gpu[metric] / 1000, ".2f") if metric == TIME else cell(step.gpu[metric])
             for metric in metrics.values()] for step in compared]
    if all(text == markdown.DASH for row in rows for text in row):
        return []
    return [f"**{title}**", markdown.table(["step", *metrics], "l" + "r" * len(metrics),
                                           [[step.name, *row] for step, row in zip(compared, rows)])]
