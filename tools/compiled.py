"""What nvcc makes of 10, 11 and 12 for int32 (docs/counters/compiled.json): the registers of each kernel, and how many
instructions of some kinds are in its PTX."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools import nvcc
from tools.markdown import DASH, table
from tools.nvcc import count

STEPS = [Path("beyond", name) for name in ("10_single_pass", "11_bulk_copy", "12_any_operation")]
# What ptxas says of a kernel.
USED = re.compile(r"Compiling entry function '(\w+)' for 'sm_90'.*?Used (\d+) registers", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Kernel(nvcc.Compiled):
    name: str  # one_block_kernel<1024>
    registers: int
    instructions: int
    wide_global_loads: int
    wide_shared_loads: int
    bulk_copies: int
    block_barriers: int
    cluster_barriers: int
    launched_ahead: list[str]  # griddepcontrol's words


def compile_step(step: Path) -> Iterator[Kernel]:
    said = nvcc.run(step, "-arch=sm_90", "-cubin", "-Xptxas=-v", "-o", "/dev/null").stderr
    used = {name: int(registers) for name, registers in USED.findall(said)}
    for symbol, lines in nvcc.ptx_of(step):
        # int32 is added as unsigned: j. In 12 it is a Reduction's element and accumulator, and before it may stand the
        # size of a block, the number of loads and that these are of vectors.
        if not (found := re.match(r"_Z(?:N9reduction\d+v\w*?6detail)?\d+([a-z_]+_kernel)I(?:Lj(\d+)E)?(?:Lj\d+E)?"
                                  r"(?:Lb1E)?(?:j|NS1_9ReductionIjj)", symbol)):
            continue
        yield Kernel(
            step=step.name, name=found[1] + (f"<{found[2]}>" if found[2] else ""), registers=used[symbol],
            instructions=count(lines), wide_global_loads=count(lines, r"ld\.global\.v4"),
            wide_shared_loads=count(lines, r"ld\.shared\.v4"), bulk_copies=count(lines, r"cp\.async\.bulk"),
            block_barriers=count(lines, r"bar\."), cluster_barriers=count(lines, r"barrier\.cluster\.wait"),
            launched_ahead=[word for line in lines for word in re.findall(r"^griddepcontrol\.(\w+)", line)])


COMPILED = nvcc.CompiledFile("compiled.json", Kernel, STEPS, compile_step)

# ---- on the pages of 11 and 12 ----

COUNTS = {
    "registers per thread": "registers",
    "instructions in the PTX": "instructions",
    "loads of 16 bytes from global memory: `ld.global.v4`": "wide_global_loads",
    "loads of 16 bytes from shared memory: `ld.shared.v4`": "wide_shared_loads",
    "bulk copies: `cp.async.bulk`": "bulk_copies",
    "block barriers: `bar`": "block_barriers"}


def side_by_side() -> str:
    """The kernels of 10 and 11."""
    pair = [kernel for kernel in COMPILED.kernels() if kernel.step in (STEPS[0].name, STEPS[1].name)]
    return table([f"by nvcc {COMPILED.cuda()}, for `int32`", *(kernel.step for kernel in pair)], "lrr", [
        [what, *(str(getattr(kernel, field)) for kernel in pair)] for what, field in COUNTS.items()])


def of_package() -> str:
    """Those of 12, and what each of them is for."""
    columns = ["registers", "wide_global_loads", "bulk_copies", "block_barriers", "cluster_barriers"]
    names = ["registers per thread", "`ld.global.v4`", "`cp.async.bulk`", "`bar`",
             "`barrier.cluster.wait`", "`griddepcontrol`"]
    return table([f"by nvcc {COMPILED.cuda()}, for `int32`", *names], "lrrrrrl", [
        [f"`{kernel.name}`", *(str(getattr(kernel, column)) for column in columns),
         " ".join(f"`{word}`" for word in kernel.launched_ahead) or DASH]
        for kernel in COMPILED.kernels() if kernel.step == STEPS[2].name])
