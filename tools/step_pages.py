"""The generated parts of a step's page: its diff, its counters beside those of the step before, and what was measured
and published of it. A page has those whose marks stand on it."""

import functools
import os.path
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from tools import counters as counters_of_gpus
from tools import compiled, documented_tables, results
from tools.command_line import REPOSITORY, BadUsage, NotPossible, read_text
from tools.markdown import code, count_text, fixed, has_section, table
from tools.nsight_compute import BLOCKS, INSTRUCTIONS
from tools.programs import HEADER_STEP, Programs
from tools.results import H100

# The size and the block size of the comparison with hardware counters (docs/counters). Counters can only be compared in
# one block size, and steps differ in their default.
COUNTED_RUN = ("--device", "emulated", "-n", "2^22", "-b", "256")
SERIAL = Path("00_cpu_serial")
GLOSSARY = Path("docs/glossary.md")

# What only a GPU counts: that of the card's file in docs/counters, in the same run.
WARP_INSTRUCTIONS = "warp instructions"

# What shows a step's change, by the names that steps print.
CHANGED = {
    "01_interleaved": ("shared memory requests", "active lanes per shared request", "block barriers"),
    "02_nondivergent": ("shared memory requests", "active lanes per shared request", "of these, bank conflicts"),
    "03_sequential": ("shared memory requests", "shared memory wavefronts", "of these, bank conflicts"),
    "04_first_add": ("blocks", "global memory requests", "shared memory requests"),
    "05_unroll_warp": ("block barriers", "shared memory requests", WARP_INSTRUCTIONS),
    "06_templated": ("block barriers", "shared memory requests", WARP_INSTRUCTIONS),
    "07_cascade": ("blocks", "global memory requests", "shared memory requests"),
    "08_warp_shuffle": ("block barriers", "shared memory requests", "shuffles"),
    "09_vector_loads": ("global memory requests", "global memory sectors"),
    "10_single_pass": ("blocks", "block barriers", "atomics"),
    "11_bulk_copy": ("blocks", "global memory requests", "bytes copied in bulk", "shared memory requests"),
    "atomic_each": ("blocks", "global memory requests", "atomics"),
    "atomic_vector": ("blocks", "global memory requests", "atomics"),
    "atomic_block": ("blocks", "shared memory requests", "atomics"),
}
WIDER = [(2**28, "int64", 256), (2**28, "complex128", 256)]
# Where it helps and where it does not: elements, type and threads per block, of the sweeps of a card. Two numbers of
# threads are those of the step before and of the step; with 0 each has its own blocks.
HELPS: dict[str, Sequence[tuple[int, str, int | tuple[int, int]]]] = {
    "01_interleaved": [(2**k, "int32", 256) for k in (12, 16, 20, 24, 28)],
    "02_nondivergent": [*((2**28, "int32", block) for block in (32, 64, 128, 256)), *WIDER],
    "03_sequential": [*((2**28, "int32", block) for block in (32, 64, 128, 256)), *WIDER],
    "04_first_add": [*((2**k, "int32", 256) for k in (12, 16, 17, 20, 28)), (2**28, "int32", 32), WIDER[1]],
    "05_unroll_warp": [*((2**28, "int32", block) for block in (32, 64, 128, 256, 1024)), (2**16, "int32", 256),
                       WIDER[1]],
    "06_templated": [*((2**28, "int32", block) for block in (32, 64, 128, 256, 1024)), *WIDER],
    "07_cascade": [*((2**k, "int32", 256) for k in (10, 12, 18, 19, 28)), (2**28, "int32", 32), WIDER[1]],
    "08_warp_shuffle": [*((2**k, "int32", 256) for k in (12, 20, 22, 28)), (2**28, "int32", 32),
                        (2**28, "int32", 1024), WIDER[1]],
    "09_vector_loads": [*((2**k, "int32", 256) for k in (12, 16, 20, 28)), (2**28, "int32", 32), *WIDER],
    "10_single_pass": [*((2**k, "int32", (256, 1024)) for k in (10, 13, 16, 20, 28)),
                       *((2**28, "int32", block) for block in (32, 256, 1024))],
    "11_bulk_copy": [*((2**k, "int32", 1024) for k in (14, 20, 22, 27, 28, 33)), (2**28, "complex128", 1024),
                     *((2**28, "int32", block) for block in (256, 64, 32))],
    HEADER_STEP: [*((2**k, "int32", 0) for k in (10, 14, 17, 20, 24, 28, 33)), (2**28, "complex128", 0)],
}


class StepPages:
    """Of one card and the programs of one build."""

    def __init__(self, programs: Programs, scratch: Path, card: Path) -> None:
        self.programs = programs
        self.scratch = scratch  # keeps what a step counts for the next
        self.card = card
        self.printed: dict[str, dict[str, list[str]]] = {}  # by step, the cells of what it has counted
        description, self.gpu = counters_of_gpus.read(REPOSITORY / f"docs/counters/{card.name}.csv")
        self.card_name = description["GPU"].partition(",")[0]

    def sections(self, step: Path, previous: Path | None, origin: Path) -> dict[str, str]:
        """The texts of the generated sections on the step's page, by their names.

        `previous` is the step before, where there is one to compare with, and `origin` what the kernel is shown beside.
        """
        names = [folder.name for folder in (previous, step) if folder]
        texts: dict[str, Callable[[], str]] = {
            "kernel": lambda: kernel(step),
            "diff": lambda: kernel_diff(origin, step),
            "counters": lambda: self.counters(step, previous),
            "changed": lambda: self.changed(step, names),
            "documented": lambda: documented_tables.published_text(step.name, previous.name if previous else ""),
            # The H200's sweeps have 12 as it was before it took a tile per block.
            "helps": lambda: helps(H100 if step.name == HEADER_STEP else self.card, names),
            "one_core": lambda: one_core(self.card),
            "compiled": compiled.ring,
            "compiled_package": compiled.of_package,
        }
        page = read_text(REPOSITORY / step / "README.md")
        return {name: text() for name, text in texts.items() if has_section(page, name)}

    def counters(self, step: Path, previous: Path | None) -> str:
        """The table of counters that the step prints, beside those of the step before; names lead to the glossary."""
        compare: list[str | Path] = ["--compare", self.scratch / f"{previous.name}.json"] if previous else []
        said = self.programs.text(step.name, *COUNTED_RUN, "--json", self.scratch / f"{step.name}.json", *compare)
        found = re.search(r"^(\| counted .*\n.*\n)((?:\|.*\n)+)", said, re.MULTILINE)
        if not found:
            raise NotPossible(f"{step.name} prints no table of counters")
        rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in found[2].splitlines()]
        self.printed[step.name] = {name: cells for name, *cells in rows}
        return found[1] + re.sub(r"(?m)^\| (.*?) \|", lambda row: f"| {in_glossary(str(row[1]), step)} |", found[2])

    def changed(self, step: Path, names: list[str]) -> str:
        """The counters that CHANGED names, per block; of blocks, all there are."""
        rows = []
        for name in CHANGED[step.name]:
            if name == WARP_INSTRUCTIONS:
                term = f"[{name}]({os.path.relpath(GLOSSARY, step)}#warp-instruction) on one {self.card_name}"
                cells = [f"{self.gpu[of][INSTRUCTIONS] / self.gpu[of][BLOCKS]:.4g}" for of in names]
            else:
                term = in_glossary(name, step).replace("of these, bank", "shared memory bank")
                term += ", in all" * (name == "blocks")
                # A share of lanes is none of a block's; what a step does not print is none.
                cells = [total if name == "blocks" else per_block or total
                         for total, per_block, *_ in (self.printed[of].get(name, ["0", "0"]) for of in names)]
            rows.append([term, *cells])
        return table(["counted", *(["per block before", "per block now"] if names[1:] else ["per block"])], rows)


def kernel(step: Path) -> str:
    """The kernel alone, without its comment and its launch."""
    text = read_text(REPOSITORY / step / "kernel.cuh")
    [found] = re.findall(r"^template .*__global__.*?^}$", text, re.MULTILINE | re.DOTALL)
    return code("cpp", found)


def kernel_diff(before: Path, after: Path) -> str:
    """Of two folders, by the program diff: difflib's are longer, and less like what a reader sees at home."""
    files = [folder / ("kernel.hpp" if folder.name == SERIAL.name else "kernel.cuh") for folder in (before, after)]
    ran = subprocess.run(["diff", "-u", *(f"--label={file}" for file in files), *files], cwd=REPOSITORY,
                         capture_output=True, encoding="utf-8")
    return code("diff", ran.stdout)


@functools.cache
def glossary() -> dict[str, str]:
    """The anchors of counters in the glossary's table of them, by what is printed."""
    text = read_text(REPOSITORY / GLOSSARY).partition("\n## The counters\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| ([^|]+) \| [^|]* \| \[.*?\]\(#(.*?)\)", text, re.MULTILINE))


def in_glossary(name: str, step: Path) -> str:
    """A counter's name with a link to its term."""
    if name not in glossary():
        raise BadUsage(f"{GLOSSARY} does not explain '{name}', which {step.name} prints")
    return f"[{name}]({os.path.relpath(GLOSSARY, step)}#{glossary()[name]})"


# ---- what was measured ----


def helps(card: Path, names: Sequence[str]) -> str:
    """GB/s of the steps, a step and the one before, for the inputs and blocks that HELPS names."""
    swept: dict[tuple[str, int, str, int], float] = {}
    for by in ("size", "block", "type"):
        for found in results.read(card, f"sweep_{by}"):
            for block in (found.block or 0, 0 if by != "block" else found.block or 0):
                swept[found.step, found.elements, found.type, block] = found.bandwidth
    rows = []
    for elements, element_type, blocks in HELPS[names[-1]]:
        each = [blocks] * len(names) if isinstance(blocks, int) else blocks
        of_blocks = f", blocks of {' and '.join(map(str, dict.fromkeys(each)))}" if blocks else ""
        try:
            speeds = [swept[name, elements, element_type, block] for name, block in zip(names, each)]
        except KeyError as missing:
            raise BadUsage(f"the sweeps in '{card}' have no {missing}") from None
        rows.append([f"{count_text(elements)} {element_type}{of_blocks}", *(fixed(speed, 1) for speed in speeds),
                     *(fixed(speed / speeds[0], 2) for speed in speeds[1:])])
    return table([f"GB/s on one {results.measured(card).gpu}", *names, *["×" for _ in names[1:]]], rows)


def one_core(card: Path) -> str:
    """The sums of step 00 on the machine that the card is in."""
    [serial] = [result for result in results.read(card, "ladder") if result.step == SERIAL.name]
    return table([f"{count_text(serial.elements)} {serial.type} on {serial.device.name}", "ms", "GB/s"], [
        [result.variant, fixed(result.median_ms, 1), fixed(result.bandwidth, 1)]
        for result in (serial, *serial.other_variants)])
