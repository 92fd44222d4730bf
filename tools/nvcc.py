"""nvcc: what it makes of a step's kernels, and the files of docs/counters that hold it."""

import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from tools import gpu, output_file, results
from tools.command_line import REPOSITORY, NotPossible, say


@dataclass(frozen=True, kw_only=True)
class Compiled:
    cuda: str = field(default_factory=gpu.cuda_version)  # the release of nvcc
    step: str


Kernel = TypeVar("Kernel", bound=Compiled)


@dataclass(frozen=True)
class CompiledFile(Generic[Kernel]):
    """A file of docs/counters: the kernels of some steps, as the nvcc that it names compiles them."""

    name: str
    kernel: type[Kernel]
    steps: Sequence[Path]
    compile_step: Callable[[Path], Iterator[Kernel]]

    @property
    def file(self) -> Path:
        return REPOSITORY / "docs/counters" / self.name

    def kernels(self) -> list[Kernel]:
        """Throws BadUsage where the file does not fit."""
        return results.read_list(self.file, self.kernel)

    def cuda(self) -> str:
        return self.kernels()[0].cuda

    def write(self) -> None:
        """Makes it again, where its nvcc is. Each release compiles a little otherwise: to take another, name it in the
        file."""
        if gpu.cuda_version() == self.cuda():
            output_file.write(self.file, self.made())
        else:
            say(f"{self.name} is left as it is: there is no nvcc {self.cuda()} here")

    def made(self) -> str:
        """The text of the file by the nvcc that is here. Throws NotPossible where nvcc fails."""
        return results.to_text([asdict(kernel) for step in self.steps for kernel in self.compile_step(step)])


def run(step: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    ran = subprocess.run(["nvcc", "-std=c++17", "--expt-relaxed-constexpr", *options, "-Icommon", f"-I{step}",
                          step / "main.cu"], cwd=REPOSITORY, capture_output=True, encoding="utf-8", errors="replace")
    if ran.returncode != 0:
        raise NotPossible(f"nvcc does not compile {step.name}: {ran.stderr[-500:]}")
    return ran


def ptx_of(step: Path) -> Iterator[tuple[str, list[str]]]:
    """The symbol of each kernel, and the lines of its body but for the declarations of registers."""
    ptx = run(step, "-arch=compute_90", "-ptx", "-o", "-").stdout
    for symbol, body in re.findall(r"\.entry (\w+)\(\n[^)]*\)\n.*?^\{\n(.*?)\n\}", ptx, re.DOTALL | re.MULTILINE):
        yield symbol, [" ".join(line.split()) for line in body.splitlines() if line.strip() and ".reg" not in line]


def count(lines: list[str], name: str = r"\w") -> int:
    """The instructions whose names begin so. A label is none; a predicate may stand in front."""
    return sum(bool(re.match(rf"(@!?%p\d+ )?{name}", line)) for line in lines)
