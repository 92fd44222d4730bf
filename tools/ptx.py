"""What nvcc makes of 05 and 06 for int32 (docs/counters/ptx.json): how many instructions are in the PTX of each kernel,
and a level of the tree."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools import nvcc
from tools.markdown import code, table
from tools.nvcc import count

STEPS = (Path("05_unroll_warp"), Path("06_templated"))
BLOCK = 256


@dataclass(frozen=True, kw_only=True)
class Kernel(nvcc.Compiled):
    block: int | None  # the threads that it is compiled for
    instructions: int
    block_barriers: int
    tests: int
    branches: int
    level: list[str]  # one level of the tree above the last warp; only for any block, and for 256 threads


def compile_step(step: Path) -> Iterator[Kernel]:
    for symbol, lines in nvcc.ptx_of(step):
        # int32 is added as unsigned: j. A template's block size comes behind it.
        if not (found := re.search(r"reduce_kernelIj(?:Lj(\d+)E)?Ev", symbol)):
            continue
        block = int(found[1]) if found[1] else None
        yield Kernel(step=step.name, block=block, instructions=count(lines),
                     block_barriers=count(lines, r"bar\.sync"), tests=count(lines, "setp"),
                     branches=count(lines, "bra"), level=level_of(lines) if block in (None, BLOCK) else [])


def level_of(lines: list[str]) -> list[str]:
    """The body of the loop over the strides; without a loop, from the first block barrier to the second."""
    for end, line in enumerate(lines):
        if (target := re.search(r"bra (\S+);", line)) and f"{target[1]}:" in lines[:end]:
            return lines[lines.index(f"{target[1]}:"):end + 1]
    first, second, *_ = (k for k, line in enumerate(lines) if line.startswith("bar.sync"))
    return lines[first + 1:second + 1]


COMPILED = nvcc.CompiledFile("ptx.json", Kernel, STEPS, compile_step)

# ---- on the page of 06 ----


def of_block_256() -> list[Kernel]:
    return [kernel for kernel in COMPILED.kernels() if kernel.block in (None, BLOCK)]


def counts() -> str:
    """The kernels of both steps side by side."""
    before, after = ((kernel.instructions, kernel.block_barriers, kernel.tests, kernel.branches, count(kernel.level))
                     for kernel in of_block_256())
    names = ("instructions", "of these, block barriers: `bar.sync`", "tests: `setp`", "branches: `bra`",
             "instructions of one level")
    return table([f"PTX by nvcc {COMPILED.cuda()}", STEPS[0].name, f"{STEPS[1]}, block of {BLOCK}"], "lrr", [
        list(map(str, row)) for row in zip(names, before, after)])


def barriers() -> str:
    """Of each block size."""
    kernels = COMPILED.kernels()
    return table(["compiled for blocks of", *(str(kernel.block or "any size (05)") for kernel in kernels)],
                 "l" + "r" * len(kernels),
                 [["`bar.sync` in the kernel", *(str(kernel.block_barriers) for kernel in kernels)]])


def levels() -> str:
    """A level of both steps, as nvcc writes it."""
    return "\n".join(f"{kernel.step}:\n\n{code('text', chr(10).join(kernel.level))}" for kernel in of_block_256())
