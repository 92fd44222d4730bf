"""The compilers of this machine that can compile CUDA: every nvcc, and clang with the toolkit of the nvcc on PATH."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import REPOSITORY

HEADER = REPOSITORY / "beyond/12_any_operation"
# Where toolkits are beside the one on PATH.
TOOLKITS = ["/usr/local/cuda*", "/opt/cuda*"]
# What the header takes.
LEAST_NVCC = (12, 4)
LEAST_CLANG = 20
NONE = "there is no compiler for CUDA here that the header is for"


@dataclass(frozen=True)
class CudaCompiler:
    name: str  # "nvcc 13.0", "clang 22"
    program: str
    toolkit: Path

    @property
    def is_clang(self) -> bool:
        return self.name.startswith("clang")

    def command(self, *architectures: str, standard: int = 17) -> list[str]:
        """Compiles a file for these architectures, such as "90a", and newer ones, with the header."""
        if not self.is_clang:
            targets = [f"-gencode=arch=compute_{each},code=[sm_{each},compute_{each}]" for each in architectures]
            # The host's compiler may be newer than an older toolkit knows.
            return [self.program, "-allow-unsupported-compiler", *targets, f"-std=c++{standard}", f"-I{HEADER}"]
        targets = [f"--cuda-gpu-arch=sm_{each}" for each in architectures]
        # What nvcc finds by itself from CUDA 13.0 on.
        library = ["-isystem", str(self.toolkit / "include/cccl")] if (self.toolkit / "include/cccl").exists() else []
        return [self.program, f"--cuda-path={self.toolkit}", "-Wno-unknown-cuda-version", "--cuda-include-ptx=all",
                *targets, *library, f"-std=c++{standard}", f"-I{HEADER}", "-x", "cuda"]

    def architectures(self) -> set[str]:
        """Those that it can compile for, such as "90" and "90a"."""
        if not self.is_clang:
            return set(re.findall(r"sm_(\w+)", said(self.program, "--list-gpu-code"))) | {"90a"}
        listed = subprocess.run([self.program, "--print-supported-cpus", "--target=nvptx64"], capture_output=True,
                                text=True).stderr
        return set(re.findall(r"sm_(\w+)", listed))


def found() -> list[CudaCompiler]:
    """The nvcc on PATH first."""
    programs = [shutil.which("nvcc")]
    for pattern in TOOLKITS:
        programs += sorted(map(str, Path("/").glob(f"{pattern[1:]}/bin/nvcc")))
    compilers: dict[str, CudaCompiler] = {}
    for program in filter(None, programs):
        if release := re.search(r"release (\d+)\.(\d+),", said(program, "--version")):
            name = f"nvcc {release[1]}.{release[2]}"
            if (int(release[1]), int(release[2])) >= LEAST_NVCC:
                compilers.setdefault(name, CudaCompiler(name, program, Path(program).resolve().parent.parent))
    if clang := newest_clang():
        for nvcc in list(compilers.values())[:1]:
            name = f"clang {clang[0]}"
            compilers[name] = CudaCompiler(name, clang[1], nvcc.toolkit)
    return list(compilers.values())


def each(clang: bool = True) -> pytest.MarkDecorator:
    """Gives a test each of them as `compiler`; in the test's name the first one is `default`."""
    compilers = [compiler for compiler in found() if clang or not compiler.is_clang]
    names = ["default", *(compiler.name.replace(" ", "_") for compiler in compilers[1:])]
    if not compilers:
        return pytest.mark.parametrize("compiler", [pytest.param(None, marks=pytest.mark.skip(NONE))], ids=names)
    return pytest.mark.parametrize("compiler", compilers, ids=names)


def newest_clang() -> tuple[int, str] | None:
    """Its version and path, unless all are too old."""
    versions = []
    for name in ["clang++", *(f"clang++-{version}" for version in range(LEAST_CLANG, 40))]:
        path = shutil.which(name)
        if path and (release := re.search(r"clang version (\d+)", said(path, "--version"))):
            versions.append((int(release[1]), path))
    return max((each for each in versions if each[0] >= LEAST_CLANG), default=None)


def said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True).stdout
