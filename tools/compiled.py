"""What nvcc makes of the kernels of 10 to 12 for int32: docs/counters/compiled.json, and its tables."""

import dataclasses
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tools import gpu, output_file, results
from tools.command_line import REPOSITORY, NotPossible, say
from tools.markdown import table

FILE = REPOSITORY / "docs/counters/compiled.json"
STEPS = [Path("beyond", name) for name in ("10_single_pass", "11_bulk_copy", "12_any_operation")]
# The instructions of the PTX that are counted, by how their names begin.
COUNTED = ("bar", "ld.global.v4", "ld.shared.v4", "cp.async.bulk")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kernel:
    cuda: str  # the release of nvcc
    step: str
    name: str  # one_block_kernel<1024>
    registers: int
    instructions: int
    counts: dict[str, int]
    launched_ahead: list[str]  # griddepcontrol's words


# ---- compiling ----


def write() -> None:
    """Makes the file again, where its nvcc is. Each release compiles a little otherwise: to take another, name it in
    the file."""
    if gpu.cuda_version() == kernels()[0].cuda:
        output_file.write(FILE, made())
    else:
        say(f"{FILE.name} is left as it is: there is no nvcc {kernels()[0].cuda} here")


def made() -> str:
    """The text of the file by the nvcc that is here. Throws NotPossible where nvcc fails."""
    return results.to_text([dataclasses.asdict(kernel) for step in STEPS for kernel in compile_step(step)])


def compile_step(step: Path) -> Iterator[Kernel]:
    said = nvcc(step, "-arch=sm_90", "-cubin", "-Xptxas=-v", "-o", "/dev/null").stderr
    used = dict(re.findall(r"(?s)Compiling entry function '(\w+)' for 'sm_90'.*?Used (\d+) registers", said))
    ptx = nvcc(step, "-arch=compute_90", "-ptx", "-o", "-").stdout
    for symbol, body in re.findall(r"(?sm)\.entry (\w+)\(\n[^)]*\)\n.*?^\{\n(.*?)\n\}", ptx):
        # int32 is added as unsigned: j. In 12 it is a Reduction's element and accumulator. Before it may stand the size
        # of a block, the number of loads and that these are of vectors.
        found = re.match(r"_Z(?:N9reduction\d+v\w*?6detail)?\d+([a-z_]+_kernel)I(?:Lj(\d+)E)?(?:Lj\d+E)?(?:Lb1E)?"
                         r"(?:jEv|NS1_9ReductionIjj)", symbol)
        if found:
            lines = [" ".join(line.split()) for line in body.splitlines() if line.strip() and ".reg" not in line]
            yield Kernel(
                cuda=gpu.cuda_version(), step=step.name, name=found[1] + (f"<{found[2]}>" if found[2] else ""),
                registers=int(used[symbol]), instructions=count(lines),
                counts={begin: count(lines, re.escape(begin) + r"\b") for begin in COUNTED},
                launched_ahead=[word for line in lines for word in re.findall(r"^griddepcontrol\.(\w+)", line)])


def nvcc(step: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    ran = subprocess.run(["nvcc", "-std=c++17", "--expt-relaxed-constexpr", *options, "-Icommon", f"-I{step}",
                          step / "main.cu"], cwd=REPOSITORY, capture_output=True, encoding="utf-8", errors="replace")
    if ran.returncode != 0:
        raise NotPossible(f"nvcc does not compile {step.name}: {ran.stderr[-500:]}")
    return ran


def count(lines: list[str], name: str = r"\w") -> int:
    """The instructions whose names begin so. A label is none; a predicate may stand in front."""
    return sum(bool(re.match(rf"(@!?%p\d+ )?{name}", line)) for line in lines)


# ---- on the pages ----


def kernels() -> list[Kernel]:
    return results.read_list(FILE, Kernel)


def ring() -> str:
    """10 and 11 side by side."""
    both = [kernel for kernel in kernels() if kernel.step != STEPS[-1].name]
    return table([f"by nvcc {both[0].cuda}, for `int32`", *(kernel.step for kernel in both)], [
        ["registers per thread", *(kernel.registers for kernel in both)],
        ["instructions in the PTX", *(kernel.instructions for kernel in both)],
        *([f"{what}: `{name}`", *(kernel.counts[name] for kernel in both)] for what, name in (
            ("loads of 16 bytes from global memory", "ld.global.v4"),
            ("loads of 16 bytes from shared memory", "ld.shared.v4"), ("bulk copies", "cp.async.bulk"),
            ("block barriers", "bar")))])


def of_package() -> str:
    """Those of 12, and what each of them is for."""
    shown = ("ld.global.v4", "bar")
    names = ["registers per thread", *(f"`{name}`" for name in (*shown, "griddepcontrol"))]
    return table([f"by nvcc {kernels()[0].cuda}, for `int32`", *names], [
        [f"`{kernel.name}`", kernel.registers, *(kernel.counts[name] for name in shown),
         " ".join(f"`{word}`" for word in kernel.launched_ahead) or None]
        for kernel in kernels() if kernel.step == STEPS[-1].name], "lrrrl")
