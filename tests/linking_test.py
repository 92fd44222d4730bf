"""Two libraries with the header of beyond/12_any_operation, compiled in different ways, in one program.

Of two functions with the same name a linker keeps one. So what depends on the way needs another name in each library,
or one launches the kernels of the other, or takes its grid from them (CUB's issue 545)."""

import re
import subprocess
from pathlib import Path

import pytest

import cuda_compilers
from cuda_compilers import CudaCompiler

SOURCE = Path(__file__).parent / "header_matrix/sum.cu"
# The architecture and the options of each. At -O0 nothing is inlined, so whatever the header has is a symbol.
PAIRS = {
    "unoptimised": (("80", "-O0"), ("90", "-O0")),
    "optimised": (("80", "-O2"), ("90", "-O2")),
    # Kernels are symbols then, as they are with older versions of nvcc, and with clang.
    "relocatable": (("80", "-O0", "-rdc=true"), ("90", "-O0", "-rdc=true")),
    # One would queue its kernels on the other's default stream.
    "a stream per thread": (("80", "-O0"), ("80", "-O0", "--default-stream=per-thread")),
}
OF_NVCC = ("relocatable", "a stream per thread")


def run(*command: str | Path) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def symbols_of_the_header(*of: str | Path) -> set[str]:
    """Those that a linker or a loader sees and that depend on the way: all but the operations, whose namespace is named
    after the version alone. Libraries may pass their results on."""
    lines = run("nm", "--demangle", "--defined-only", "--extern-only", *of).splitlines()
    return {line.split(maxsplit=2)[2] for line in lines if re.search(r"\breduction::(?!v\d+_\d+::)", line)}


@pytest.mark.parametrize("pair", PAIRS)
@cuda_compilers.each()
def test_they_share_no_symbol(compiler: CudaCompiler, pair: str, tmp_path: Path) -> None:
    """And a shared library shows none at all."""
    if compiler.is_clang and pair in OF_NVCC:
        pytest.skip("these are options of nvcc")
    found = []
    for architecture, *options in PAIRS[pair]:
        pic = "-fPIC" if compiler.is_clang else "-Xcompiler=-fPIC"
        run(*compiler.command(architecture), *options, pic, "-c", SOURCE, "-o", tmp_path / "library.o")
        found.append(symbols_of_the_header(tmp_path / "library.o"))
        run("g++", "-shared", tmp_path / "library.o", "-o", tmp_path / "library.so")
        assert not symbols_of_the_header("--dynamic", tmp_path / "library.so")
    assert all(found) and not found[0] & found[1]
