"""What nvcc makes of the kernels of 05, 06 and 10 to 12 for int32: docs/counters/compiled.json, and its tables."""

import dataclasses
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tools import gpu, output_file, results
from tools.command_line import REPOSITORY, NotPossible, say
from tools.markdown import DASH, code, table

FILE = REPOSITORY / "docs/counters/compiled.json"
STEPS = [*map(Path, ("05_unroll_warp", "06_templated")), *(Path("beyond", name) for name in (
    "10_single_pass", "11_bulk_copy", "12_any_operation"))]
# The instructions of the PTX that are counted, by how their names begin.
COUNTED = ("bar", "bar.sync", "barrier.cluster.wait", "setp", "bra", "ld.global.v4", "ld.shared.v4", "cp.async.bulk")
# Those that the pages show a level of.
SHOWN = ("05_unroll_warp: reduce_kernel", "06_templated: reduce_kernel<256>")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kernel:
    cuda: str  # the release of nvcc
    step: str
    name: str  # one_block_kernel<1024>
    registers: int
    instructions: int
    counts: dict[str, int]
    launched_ahead: list[str]  # griddepcontrol's words
    level: list[str]  # one level of the tree above the last warp, of those that are SHOWN


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
        # of a block, the number of loads and that these are of vectors, or behind it the size of a block.
        found = re.match(r"_Z(?:N9reduction\d+v\w*?6detail)?\d+([a-z_]+_kernel)I(?:Lj(\d+)E)?(?:Lj\d+E)?(?:Lb1E)?"
                         r"(?:j(?:Lj(\d+)E)?Ev|NS1_9ReductionIjj)", symbol)
        if not found:
            continue
        block = found[2] or found[3]
        name = found[1] + (f"<{block}>" if block else "")
        lines = [" ".join(line.split()) for line in body.splitlines() if line.strip() and ".reg" not in line]
        yield Kernel(
            cuda=gpu.cuda_version(), step=step.name, name=name, registers=int(used[symbol]), instructions=count(lines),
            counts={begin: count(lines, re.escape(begin) + r"\b") for begin in COUNTED},
            launched_ahead=[word for line in lines for word in re.findall(r"^griddepcontrol\.(\w+)", line)],
            level=level_of(lines) if f"{step.name}: {name}" in SHOWN else [])


def nvcc(step: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    ran = subprocess.run(["nvcc", "-std=c++17", "--expt-relaxed-constexpr", *options, "-Icommon", f"-I{step}",
                          step / "main.cu"], cwd=REPOSITORY, capture_output=True, encoding="utf-8", errors="replace")
    if ran.returncode != 0:
        raise NotPossible(f"nvcc does not compile {step.name}: {ran.stderr[-500:]}")
    return ran


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


# ---- on the pages ----


def kernels(*steps: int) -> list[Kernel]:
    """Of the steps with these numbers, or of all."""
    return [kernel for kernel in results.read_list(FILE, Kernel) if not steps or int(kernel.step[:2]) in steps]


def levels() -> str:
    """A level of 05 and 06, as nvcc writes it."""
    return "\n".join(f"{kernel.step}:\n\n{code('', chr(10).join(kernel.level))}"
                     for kernel in kernels(5, 6) if kernel.level)


def of_levels() -> str:
    """05 and 06 side by side."""
    before, after = (
        (kernel.instructions, *(kernel.counts[name] for name in ("bar.sync", "setp", "bra")), count(kernel.level))
        for kernel in kernels(5, 6) if kernel.level)
    names = ("instructions", "of these, block barriers: `bar.sync`", "tests: `setp`", "branches: `bra`",
             "instructions of one level")
    return table([f"PTX by nvcc {kernels()[0].cuda}", STEPS[0].name, f"{STEPS[1]}, block of 256"], [
        list(map(str, row)) for row in zip(names, before, after)])


def barriers() -> str:
    """Of each block size."""
    counts = {kernel.name.partition("<")[2].rstrip(">") or "any size (05)": str(kernel.counts["bar.sync"])
              for kernel in kernels(5, 6)}
    return table(["compiled for blocks of", *counts], [["`bar.sync` in the kernel", *counts.values()]])


def ring() -> str:
    """10 and 11 side by side."""
    before, after = (
        (kernel.registers, kernel.instructions, *(kernel.counts[name] for name in (
            "ld.global.v4", "ld.shared.v4", "cp.async.bulk", "bar"))) for kernel in kernels(10, 11))
    names = ("registers per thread", "instructions in the PTX", "loads of 16 bytes from global memory: `ld.global.v4`",
             "loads of 16 bytes from shared memory: `ld.shared.v4`", "bulk copies: `cp.async.bulk`",
             "block barriers: `bar`")
    return table([f"by nvcc {kernels()[0].cuda}, for `int32`", STEPS[2].name, STEPS[3].name], [
        list(map(str, row)) for row in zip(names, before, after)])


def of_package() -> str:
    """Those of 12, and what each of them is for."""
    shown = ("ld.global.v4", "cp.async.bulk", "bar", "barrier.cluster.wait")
    names = ["registers per thread", *(f"`{name}`" for name in (*shown, "griddepcontrol"))]
    return table([f"by nvcc {kernels()[0].cuda}, for `int32`", *names], [
        [f"`{kernel.name}`", str(kernel.registers), *(str(kernel.counts[name]) for name in shown),
         " ".join(f"`{word}`" for word in kernel.launched_ahead) or DASH] for kernel in kernels(12)], "lrrrrrl")
