"""The counts of GPUs, docs/counters/<gpu>.csv (python3 -m tools profile --counters), beside the emulated device's."""

import csv
import dataclasses
import math
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tools import markdown, results
from tools.command_line import REPOSITORY, BadUsage
from tools.nsight_compute import BLOCKS, BYTES_READ, INSTRUCTIONS, MEMORY, TIME
from tools.programs import Programs, step_folders
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
    "of these by the copy engine": "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"}
ONLY_ON_THE_GPU = {
    "blocks": BLOCKS,
    "warp instructions": INSTRUCTIONS,
    "threads an instruction": "smsp__thread_inst_executed_per_inst_executed.ratio",
    "divergent branches": "smsp__sass_branch_targets_threads_divergent.sum",
    "shared load instructions": "smsp__inst_executed_op_shared_ld.sum",
    "shared store instructions": "smsp__inst_executed_op_shared_st.sum",
    "µs": TIME}

# By the names of results.Counters or of Nsight Compute. None: the GPU does not have it.
Counts = Mapping[str, float | None]


@dataclasses.dataclass(frozen=True)
class Step:
    """On both sides; `emulated` is empty where only a GPU runs it."""

    name: str
    emulated: Counts
    gpu: Counts

    @property
    def title(self) -> str:
        return self.name if self.emulated else f"{self.name} (GPU only)"


def steps() -> dict[str, bool]:
    """The steps whose counts a GPU's file has, in order, and whether the emulated device runs them, too."""
    # 13 has nothing of its own to count: its ranks run another step's kernel.
    return {folder.name: "reduction::make_step(" in (REPOSITORY / folder / "main.cu").read_text(encoding="utf-8")
            for folder in step_folders() if not folder.name.startswith("13_")}


def tables(programs: Programs) -> tuple[str, list[str]]:
    """The tables of all GPUs, and a line for each count that differs.

    Throws BadUsage where a GPU's file does not fit or nothing is compared, NotPossible where a step does not run.
    """
    emulated = run_emulated(programs)
    compared = [compare(file, emulated) for file in sorted(FOLDER.glob("*.csv"))]
    if not compared:
        raise BadUsage(f"'{FOLDER}' has no <gpu>.csv: there is nothing to compare")
    return "\n".join(text for text, _ in compared), [line for _, differences in compared for line in differences]


def run_emulated(programs: Programs) -> dict[str, Result]:
    """All steps that the emulated device runs, by their names."""
    names = [name for name, runs_emulated in steps().items() if runs_emulated]
    programs.require(*names)
    ran = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            file = Path(folder, f"{name}.json")
            programs.text(name, "--device", "emulated", *INPUT, "-q", "--json", file)
            ran[name] = results.read_one(file, Result)
    return ran


def compare(file: Path, emulated: Mapping[str, Result]) -> tuple[str, list[str]]:
    """The tables of one GPU, and a line for each count that differs. Throws BadUsage where its file does not fit."""
    description, gpu = read(file)
    compared = [Step(name, first_pass(emulated[name], gpu[name].get(BLOCKS)) if name in emulated else {},
                     gpu[name]) for name in steps()]
    comparison = Comparison()
    parts = ["\n\n".join(f"### {value}" for key, value in description if key == "GPU"),
             " · ".join(f"{key}: {value}" for key, value in description if key not in ("GPU", "command")),
             *shared_table(compared, "Loads from shared memory", "load", comparison),
             *shared_table(compared, "Stores to shared memory", "store", comparison),
             *global_table(compared, comparison),
             *gpu_table(compared, "Bytes read, only on the GPU", READ),
             *gpu_table(compared, "Only on the GPU", ONLY_ON_THE_GPU)]
    count, differences = comparison.compared, comparison.differences
    if count == 0:
        raise BadUsage(f"'{file}' has nothing to compare")
    parts.append(f"**{len(differences)} of {count} compared counts differ.**" if differences else
                 f"All {count} compared counts agree.")
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n", differences


# ---- the two sides ----


def read(file: Path) -> tuple[list[tuple[str, str]], dict[str, Counts]]:
    """The lines `# key: value` in front, and the counts of each step. Throws BadUsage where the file does not fit."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadUsage(f"'{file}' cannot be read: {error}") from None
    known_steps = steps()
    description: list[tuple[str, str]] = []
    counts: dict[str, dict[str, float | None]] = {}
    for number, line in enumerate(lines, 1):
        if line.startswith("# "):
            key, colon, value = line[2:].partition(": ")
            description += [(key, value)] if colon else []
        elif line != "step,metric,value":
            row: list[str] = next(csv.reader([line]), [])
            if len(row) != 3 or not re.fullmatch(r"missing|\d{1,18}(\.\d{1,18})?([eE][+-]?\d\d?)?", row[2]):
                raise BadUsage(f"{file}:{number}: '{line[:80]}' is no line `step,metric,value`")
            step, metric, value = row
            if step not in known_steps:
                raise BadUsage(f"{file}:{number}: there is no step '{step[:80]}' to compare or to show")
            if metric in counts.setdefault(step, {}):
                raise BadUsage(f"{file}:{number}: {step} has {metric} twice")
            counts[step][metric] = None if value == "missing" else float(value)
    for step in known_steps:
        if step not in counts:
            raise BadUsage(f"'{file}' has no {step}: write it anew with python3 -m tools profile --counters")
    return description, dict(counts)


def first_pass(result: Result, gpu_blocks: float | None) -> Counts:
    """What a step counts on the emulated device, with the GPU's number of blocks.

    A grid that fills the device, as that of step 07, has another size on another device. What a block does in shared
    memory and what it stores stays the same, and so does what all blocks load of the input together. In a single pass
    the last block does as much once more, for the blocks' partial sums, and loads these.
    """
    counters = result.passes[0].counters
    if counters is None:
        raise BadUsage(f"{result.step} counted nothing on the emulated device")
    counts: dict[str, int] = dataclasses.asdict(counters)
    blocks = counters.blocks if gpu_blocks is None else int(gpu_blocks)
    once_more = 1 if len(result.passes) == 1 else 0
    for name in counts:
        if name.startswith(("shared_", "global_store_")):
            counts[name] = counts[name] * (blocks + once_more) // (counters.blocks + once_more)
    if once_more:
        counts["global_load_requests"] += math.ceil(blocks / 32) - math.ceil(counters.blocks / 32)
        counts["global_load_sectors"] += math.ceil(blocks / 8) - math.ceil(counters.blocks / 8)
    return counts


# ---- the comparison ----


class Comparison:
    """What was compared so far, and what differs."""

    def __init__(self) -> None:
        self.compared = 0
        self.differences: list[str] = []

    def cells(self, step: Step, what: str, emulated: float | None, gpu: float | None,
              allowance: float = 0) -> list[str]:
        """Of a count that has to be the same within `allowance`; in bold where it is not."""
        pair = [cell(emulated), cell(gpu)]
        if emulated is None or gpu is None:
            return pair
        self.compared += 1
        if abs(gpu - emulated) <= allowance:
            return pair
        self.differences.append(f"{step.name}: {what}: emulated {pair[0]}, GPU {pair[1]}")
        return [f"**{text}**" for text in pair]


def cell(count: float | None) -> str:
    return markdown.DASH if count is None else f"{count:.10g}"


def minus(left: float | None, right: float | None) -> float | None:
    return None if left is None or right is None else left - right


def shared_table(compared: list[Step], title: str, access: str, comparison: Comparison) -> list[str]:
    rows = []
    for step in compared:
        requests, wavefronts, conflicts = (step.emulated.get(f"shared_{access}_{count}")
                                           for count in ("requests", "wavefronts", "conflicts"))
        gpu_wavefronts = step.gpu.get(MEMORY[f"shared_{access}_wavefronts"])
        # Whether they agree, the wavefronts say.
        gpu_conflicts = step.gpu.get(MEMORY[f"shared_{access}_conflicts"]) if gpu_wavefronts is not None else None
        difference = minus(gpu_conflicts, conflicts)
        share = 100 * difference / gpu_wavefronts if difference is not None and gpu_wavefronts else None
        rows.append([
            step.title, cell(requests),
            *comparison.cells(step, f"{title}: wavefronts - conflicts", minus(wavefronts, conflicts),
                              minus(gpu_wavefronts, gpu_conflicts)),
            *comparison.cells(step, f"{title}: conflicts", conflicts, gpu_conflicts, NOISE * (gpu_wavefronts or 0)),
            markdown.or_dash(share, 2)])
    names = ["step", "requests, emulated", "wavefronts − conflicts, emulated", "GPU", "conflicts, emulated", "GPU",
             "difference, % of wavefronts"]
    return [f"**{title}**", markdown.table(names, "lrrrrrr", rows)]


def global_table(compared: list[Step], comparison: Comparison) -> list[str]:
    counted = [f"global_{access}_{count}" for access in ("load", "store") for count in ("requests", "sectors")]
    titles = [counter.replace("_", " ") for counter in counted]
    names = ["step"] + [name for title in titles for name in (f"{title.removeprefix('global ')}, emulated", "GPU")]
    rows = [[step.title] + [text for title, counter in zip(titles, counted) for text in comparison.cells(
        step, title, step.emulated.get(counter), step.gpu.get(MEMORY[counter]))] for step in compared]
    return ["**Global memory**", markdown.table(names, "lrrrrrrrr", rows)]


def gpu_table(compared: list[Step], title: str, metrics: dict[str, str]) -> list[str]:
    """What the emulated device does not count. Nothing for a file that has none of it."""
    def shown(step: Step, metric: str) -> str:
        count = step.gpu.get(metric)
        return f"{count / 1000:.2f}" if count is not None and metric == TIME else cell(count)

    if all(step.gpu.get(metric) is None for step in compared for metric in metrics.values()):
        return []
    rows = [[step.name, *(shown(step, metric) for metric in metrics.values())] for step in compared]
    return [f"**{title}**", markdown.table(["step", *metrics], "l" + "r" * len(metrics), rows)]
