"""What nvcc makes of 05 and 06 for int32 (docs/counters/ptx.json): how many instructions are in the PTX of each kernel,
and a level of the tree."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tools import gpu, results
from tools.command_line import REPOSITORY, NotPossible, say
from tools.markdown import code, table
from tools.results import Count

FILE = REPOSITORY / "docs/counters/ptx.json"
STEPS = ("05_unroll_warp", "06_templated")
OPTIONS = ("-std=c++17", "--expt-relaxed-constexpr", "-arch=compute_90", "-ptx")
BLOCK = 256


@dataclass(frozen=True, kw_only=True)
class Kernel:
    step: str
    block: Count | None  # the threads that it is compiled for
    instructions: Count
    block_barriers: Count
    tests: Count
    branches: Count
    level: list[str]  # one level of the tree above the last warp; only for any block, and for 256 threads


@dataclass(frozen=True, kw_only=True)
class Compiled:
    cuda: str  # the release of nvcc
    kernels: list[Kernel]


def read() -> Compiled:
    """Throws BadUsage where the file does not fit."""
    return results.read_one(FILE, Compiled)


def written_text(compiled: Compiled) -> str:
    return results.to_text(asdict(compiled))


# ---- from nvcc ----


def can_compile(file: Path, cuda: str) -> bool:
    """Whether this nvcc is here. Each release compiles a little otherwise: to take another, name it in the file."""
    if gpu.cuda_version() == cuda:
        return True
    say(f"{file.relative_to(REPOSITORY)} is left as it is: there is no nvcc {cuda} here")
    return False


def compile_steps() -> Compiled:
    """Throws NotPossible where nvcc fails."""
    return Compiled(cuda=gpu.cuda_version(), kernels=[kernel for step in STEPS for kernel in compile_step(step)])


def compile_step(step: str) -> Iterator[Kernel]:
    ran = subprocess.run(["nvcc", *OPTIONS, "-Icommon", f"-I{step}", "-o", "-", f"{step}/main.cu"], cwd=REPOSITORY,
                         capture_output=True, encoding="utf-8")
    if ran.returncode != 0:
        raise NotPossible(f"nvcc does not compile {step}: {ran.stderr[-500:]}")
    # int32 is added as unsigned: j. A template's block size comes behind it.
    kernels = re.findall(r"reduce_kernelIj(?:Lj(\d+)E)?Ev\w*\(\n[^)]*\)\n\{\n(.*?)\n\}", ran.stdout, re.DOTALL)
    for block, body in kernels:
        lines = [" ".join(line.split()) for line in body.splitlines() if line.strip() and ".reg" not in line]
        level = level_of(lines) if block in ("", str(BLOCK)) else []
        yield Kernel(step=step, block=int(block) if block else None, instructions=count(lines),
                     block_barriers=count(lines, r"bar\.sync"), tests=count(lines, "setp"),
                     branches=count(lines, "bra"), level=level)


def count(lines: list[str], name: str = r"\w") -> int:
    """The instructions whose names begin so. A label is none; a predicate may stand in front."""
    return sum(bool(re.match(rf"(@!?%p\d+ )?{name}", line)) for line in lines)


def level_of(lines: list[str]) -> list[str]:
    """The body of the loop over the strides; without a loop, from the first block barrier to the second."""
    for end, line in enumerate(lines):
        if (target := re.search(r"bra (\S+);", line)) and f"{target[1]}:" in lines[:end]:
            return lines[lines.index(f"{target[1]}:"):end + 1]
    first, second, *_ = (k for k, line in enumerate(lines) if line.startswith("bar.sync"))
    return lines[first + 1:second + 1]


# ---- on the page of 06 ----


def of_block_256() -> list[Kernel]:
    return [kernel for kernel in read().kernels if kernel.block in (None, BLOCK)]


def counts() -> str:
    """The kernels of both steps side by side."""
    rows = [["instructions", *(str(kernel.instructions) for kernel in of_block_256())],
            ["of these, block barriers: `bar.sync`", *(str(kernel.block_barriers) for kernel in of_block_256())],
            ["tests: `setp`", *(str(kernel.tests) for kernel in of_block_256())],
            ["branches: `bra`", *(str(kernel.branches) for kernel in of_block_256())],
            ["instructions of one level", *(str(count(kernel.level)) for kernel in of_block_256())]]
    return table([f"PTX by nvcc {read().cuda}", STEPS[0], f"{STEPS[1]}, block of {BLOCK}"], "lrr", rows)


def barriers() -> str:
    """Of each block size."""
    kernels = read().kernels
    return table(["compiled for blocks of", *(str(kernel.block or "any size (05)") for kernel in kernels)],
                 "l" + "r" * len(kernels),
                 [["`bar.sync` in the kernel", *(str(kernel.block_barriers) for kernel in kernels)]])


def levels() -> str:
    """A level of both steps, as nvcc writes it."""
    return "\n".join(f"{kernel.step}:\n\n{code('text', chr(10).join(kernel.level))}" for kernel in of_block_256())
