"""The counts of GPUs, docs/counters/<gpu>.csv (python3 -m tools profile --counters), beside the emulated device's."""

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools import markdown
from tools.command_line import REPOSITORY, read_text
from tools.nsight_compute import BLOCKS, BYTES_READ, INSTRUCTIONS, MEMORY, TIME
from tools.programs import EMULATED, Programs, steps_of
from tools.results import H200, Result

FOLDER = REPOSITORY / "docs/counters"
# The steps whose counts a GPU's file has, in order. 13 and 14 have nothing of their own to count: of integers they run
# another step's kernel.
STEPS = steps_of("ladder", "beyond")
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


class Counts(dict[str, float]):
    """By the names of the steps' JSON or of Nsight Compute. What was not counted is NaN."""

    def __missing__(self, name: str) -> float:
        return math.nan


def tables(programs: Programs) -> tuple[str, list[str]]:
    """The tables of the H200 and of each GPU that differs from the emulated device, and a line for each count that
    does. Throws NotPossible where a step does not run."""
    emulated = run_emulated(programs)
    compared = [compare(file, emulated, in_full=file.stem == H200.name) for file in sorted(FOLDER.glob("*.csv"))]
    return "\n".join(text for text, _ in compared), [line for _, differences in compared for line in differences]


def run_emulated(programs: Programs) -> dict[str, Result]:
    """All steps that the emulated device runs, by their names."""
    names = [name for name in STEPS if name in EMULATED]
    programs.require(*names)
    return {name: programs.result(name, "--device", "emulated", *INPUT) for name in names}


# ---- the two sides ----


def read(file: Path) -> tuple[dict[str, str], dict[str, Counts]]:
    """The lines `# key: value` in front, and the counts of each step."""
    description: dict[str, str] = {}
    counts = {step: Counts() for step in STEPS}
    for line in read_text(file).splitlines():
        if line.startswith("# "):
            description.update(re.findall("^# (.*?): (.*)", line))
        elif line != "step,metric,value":
            step, metric, value = line.split(",")
            counts[step][metric] = math.nan if value == "missing" else float(value)
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


def compare(file: Path, emulated: Mapping[str, Result], in_full: bool = True) -> tuple[str, list[str]]:
    """The tables of one GPU, else only that it agrees, and a line for each count that differs."""
    description, gpu = read(file)
    comparison = Comparison(gpu, {name: first_pass(emulated[name], counts[BLOCKS]) if name in emulated else Counts()
                                  for name, counts in gpu.items()})
    shown = [*comparison.shared_table("Loads from shared memory", "load"),
             *comparison.shared_table("Stores to shared memory", "store"),
             *comparison.global_table(),
             *comparison.gpu_table("Bytes read, only on the GPU", READ),
             *comparison.gpu_table("Only on the GPU", ONLY_ON_THE_GPU)]
    count, differences = comparison.compared, comparison.differences
    parts = [f"### {description.pop('GPU', file.stem)}",
             " · ".join(f"{key}: {value}" for key, value in description.items() if key != "command"),
             *(shown if in_full or differences else []),
             f"**{len(differences)} of {count} compared counts differ.**" if differences else
             f"All {count} compared counts agree: [{file.name}]({file.name})."]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n", differences


class Comparison:
    """Of both sides' counts of each step; those of the emulated device are empty where only a GPU runs it."""

    def __init__(self, gpu: dict[str, Counts], emulated: dict[str, Counts]) -> None:
        self.gpu, self.emulated = gpu, emulated
        self.compared = 0
        self.differences: list[str] = []

    def cells(self, step: str, what: str, emulated: float, gpu: float, allowance: float = 0) -> list[str]:
        """Of a count that has to be the same within `allowance`; in bold where it is not."""
        pair = [cell(emulated), cell(gpu)]
        excess = abs(gpu - emulated) - allowance
        self.compared += not math.isnan(excess)
        if not excess > 0:
            return pair
        self.differences.append(f"{step}: {what}: emulated {pair[0]}, GPU {pair[1]}")
        return [f"**{text}**" for text in pair]

    def steps(self) -> Iterator[tuple[str, str, Counts, Counts]]:
        for step, gpu in self.gpu.items():
            emulated = self.emulated[step]
            yield step, step if emulated else f"{step} (GPU only)", emulated, gpu

    def shared_table(self, title: str, access: str) -> list[str]:
        rows = []
        for step, name, emulated, gpu in self.steps():
            wavefronts, conflicts = (emulated[f"shared_{access}_{count}"] for count in ("wavefronts", "conflicts"))
            gpu_wavefronts, gpu_conflicts = (gpu[MEMORY[f"shared_{access}_{count}"]]
                                             for count in ("wavefronts", "conflicts"))
            rows.append([
                name, cell(emulated[f"shared_{access}_requests"]),
                *self.cells(step, f"{title}: wavefronts - conflicts", wavefronts - conflicts,
                            gpu_wavefronts - gpu_conflicts),
                *self.cells(step, f"{title}: conflicts", conflicts, gpu_conflicts, NOISE * gpu_wavefronts),
                cell(100 * (gpu_conflicts - conflicts) / (gpu_wavefronts or math.nan), ".2f")])
        names = ["step", "requests, emulated", "wavefronts − conflicts, emulated", "GPU", "conflicts, emulated", "GPU",
                 "difference, % of wavefronts"]
        return [f"**{title}**", markdown.table(names, rows)]

    def global_table(self) -> list[str]:
        counters = [f"{access}_{count}" for access in ("load", "store") for count in ("requests", "sectors")]
        compared = [(counter.replace("_", " "), f"global_{counter}", MEMORY[f"global_{counter}"])
                    for counter in counters]
        compared.append(("bytes in bulk", "bulk_copy_bytes", READ["of these by the TMA"]))
        names = [name for what, *_ in compared for name in (f"{what}, emulated", "GPU")]
        return ["**Global memory**", markdown.table(["step", *names], [
            [name, *(text for what, ours, theirs in compared
                     for text in self.cells(step, f"global {what}", emulated[ours], gpu[theirs]))]
            for step, name, emulated, gpu in self.steps()])]

    def gpu_table(self, title: str, metrics: dict[str, str]) -> list[str]:
        """What the emulated device does not count. Nothing for a file that has none of it."""
        rows = [[step, *(cell(gpu[metric] / 1000, ".2f") if metric == TIME else cell(gpu[metric])
                         for metric in metrics.values())] for step, gpu in self.gpu.items()]
        if all(text == markdown.DASH for row in rows for text in row[1:]):
            return []
        return [f"**{title}**", markdown.table(["step", *metrics], rows)]


def cell(count: float, form: str = ".10g", missing: str = markdown.DASH) -> str:
    return missing if math.isnan(count) else f"{count:{form}}"
