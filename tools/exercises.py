"""The exercises of 01 to 10 (docs/exercises): what each asks for, how it is measured, and the kernel to start from."""

import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tools import gpu
from tools.command_line import REPOSITORY
from tools.markdown import table
from tools.programs import NUMBERED

EXERCISES = Path("docs/exercises")
COUNTED_ELEMENTS, COUNTED_BLOCK = 2**20, 256
MULTIPROCESSORS = 132  # of the emulated device


class Counted(NamedTuple):
    """What is known of a kernel after a run over 2^20 int32 in blocks of 256."""

    counters: Mapping[str, int]
    launches: int
    grid: int  # for 2^30 elements
    program: Path
    file: Path

    def per_block(self, *names: str) -> float:
        return sum(self.counters[name] for name in names) / max(1, self.counters["blocks"])


class Goal(NamedTuple):
    what: str
    most: float
    measured: Callable[[Counted], float | None]  # None: not on this machine

    def __str__(self) -> str:
        return f"at most {self.most:,} {self.what}" if self.most else f"no {self.what}"


class Exercise(NamedTuple):
    step: Path  # from the repository's root
    task: str
    goals: tuple[Goal, ...]

    @property
    def goal(self) -> str:
        return ", ".join(map(str, self.goals))

    @property
    def start(self) -> Path:
        """The kernel of the step before; of 01 its own without a body."""
        before = NUMBERED.index(self.step) - 1
        return (NUMBERED[before] if before else EXERCISES / self.step.name) / "kernel.cuh"


def shared(kind: str) -> Callable[[Counted], float]:
    return lambda counted: counted.per_block(f"shared_load_{kind}", f"shared_store_{kind}")


def why_no_reduction(counted: Counted) -> str:
    """Why a kernel that is right and cheap is no reduction on a GPU; nothing where it is one."""
    loads, sectors = (counted.counters[f"global_load_{kind}"] for kind in ("requests", "sectors"))
    if sectors < COUNTED_ELEMENTS * 4 // 32:
        return "its kernels have not loaded the whole input"
    if loads > 1.25 * COUNTED_ELEMENTS / 32:
        return f"its warps load {COUNTED_ELEMENTS / loads:.1f} elements at a time, not 32"
    if counted.counters["blocks"] < MULTIPROCESSORS:
        return f"it has {counted.counters['blocks']:,} blocks for {MULTIPROCESSORS} multiprocessors"
    return ""


def sizes_without_kernel(counted: Counted) -> int:
    """How many reduce_kernel for int32 are missing, if each of six block sizes has its own."""
    names = subprocess.run(["nm", "--demangle", counted.program], capture_output=True, text=True, check=True).stdout
    kernels = {words for words in re.findall(r"\breduce_kernel<(.*?)>\(", names) if "unsigned int" in words}
    return max(0, 6 - len(kernels))


def loops_in_ptx(counted: Counted) -> int | None:
    """Branches back in what nvcc makes of the kernels for int32."""
    main = counted.program.with_suffix(".ptx.cu")
    main.write_text(f'#include "{counted.file.resolve()}"\n'
                    "template void launch_reduce(unsigned, unsigned, const unsigned*, unsigned*, size_t);\n")
    branches = 0
    defined: set[str] = set()
    for line in gpu.said("nvcc", "-std=c++17", "-ptx", f"-I{REPOSITORY}/common", str(main), "-o", "-").splitlines():
        if label := re.match(r"(\$L\w+):", line):
            defined.add(label[1])
        elif branch := re.search(r"\bbra\S*\s+(\$L\w+);", line):
            branches += branch[1] in defined
    return branches if defined else None


def exercise(step: str, task: str, *goals: Goal) -> Exercise:
    return Exercise(next(folder for folder in NUMBERED if folder.name == step), task, goals)


ALL = [
    exercise("01_interleaved", "Write the kernel: a block adds up its tile as a tree in shared memory.",
             Goal("shared memory requests per block", 160, shared("requests"))),
    exercise("02_nondivergent", "Let whole warps work or rest on each level of the tree.",
             Goal("shared memory requests per block", 45, shared("requests"))),
    exercise("03_sequential", "End the bank conflicts.",
             Goal("shared memory wavefronts per block", 45, shared("wavefronts"))),
    exercise("04_first_add", "Take half as many blocks, of which each thread loads two elements.",
             Goal("blocks of all passes", 2053, lambda counted: counted.counters["blocks"])),
    exercise("05_unroll_warp", "Let the last warp finish without block barriers.",
             Goal("block barriers per block", 3, lambda counted: counted.per_block("block_barriers")),
             Goal("shared memory requests per block", 60, shared("requests"))),
    exercise("06_templated", "Let the compiler know the block size, so that the tree needs no loop.",
             Goal("block size without a kernel of its own", 0, sizes_without_kernel),
             Goal("branch back in the PTX", 0, loops_in_ptx)),
    exercise("07_cascade", "Take no more blocks than fill the device, however many elements there are.",
             Goal("blocks for 2^30 elements", 1056, lambda counted: counted.grid)),
    exercise("08_warp_shuffle", "Let the lanes of a warp add in registers: shared memory holds one value per warp.",
             Goal("shared memory requests per block", 9, shared("requests"))),
    exercise("09_vector_loads", "Load 16 bytes with each instruction. `in` may begin at any element's address.",
             Goal("global memory loads", 9000, lambda counted: counted.counters["global_load_requests"])),
    exercise("10_single_pass",
             "Let the last block add up what the others have left, and say `.single_pass = true` in `traits`.",
             Goal("launch", 1, lambda counted: counted.launches)),
]


def goals() -> str:
    return table(["step", "task", f"goal, for 2^20 `int32` in blocks of {COUNTED_BLOCK}"], [
        [f"[{each.step.name[:2]}](../../{each.step}/README.md)", each.task, each.goal] for each in ALL], "lll")
