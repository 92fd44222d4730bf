"""The header of beyond/12_any_operation, compiled by every CUDA compiler of this machine, with warnings as errors."""

import re
import subprocess
from pathlib import Path

import pytest

import cuda_compilers
from cuda_compilers import HEADER, CudaCompiler

SOURCES = Path(__file__).parent / "header_matrix"
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
# What the header is compiled for, where the compiler can.
ARCHITECTURES = ["75", "80", "86", "89", "90", "90a", "100", "103", "120", "121"]
STANDARDS = [17, 20]
# Relocatable, for a debugger, for the linker to optimise, not optimised.
OPTIONS = [("-rdc=true",), ("-G",), ("-rdc=true", "-gencode=arch=compute_90,code=lto_90"), ("-O0", "-Xptxas=-O0")]
# What looks like a call and is none.
NO_CALLS = {"alignas", "alignof", "asm", "constexpr", "decltype", "dim3", "for", "if", "operator", "reinterpret_cast",
            "return", "sizeof", "static_assert", "static_cast", "switch", "template", "void", "volatile", "while"}

each_standard = pytest.mark.parametrize("standard", STANDARDS)
each_compiler = cuda_compilers.each()


def compile_source(compiler: CudaCompiler, source: str, folder: Path, architectures: list[str], standard: int,
                   *options: str) -> str:
    """Returns what the compiler says: nothing, if it succeeds."""
    warnings = WARNINGS if compiler.is_clang else ["-Werror=all-warnings", f"-Xcompiler={','.join(WARNINGS)}"]
    ran = subprocess.run([*compiler.command(*architectures, standard=standard), *warnings, *options,
                          f"-I{folder}", "-c", SOURCES / source, "-o", folder / "object.o"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert ran.stdout or ran.returncode == 0
    return ran.stdout


def without_comments(file: Path) -> str:
    return re.sub(r'//.*|"[^"\n]*"', "", file.read_text())


def write_traps(folder: Path) -> None:
    """For each function that the header calls, others of this name, which take any arguments and are deleted."""
    code = "".join(map(without_comments, (HEADER / "reduction").iterdir()))
    called = set(re.findall(r"\b([a-z]\w*) *(?:<[^;{}()]*>)?\(", code)) - NO_CALLS
    assert {"edge", "write_result"} <= called
    lines = ["namespace traps {\n"]
    for name in sorted(called):
        for template in ["typename... A", "auto, typename... A"]:
            for first in ["", "Number, ", "const Number&, "]:
                lines.append(f"template <{template}> void {name}({first}A&&...) = delete;\n")
    (folder / "traps.cuh").write_text("".join([*lines, "}  // namespace traps\n"]))


@each_compiler
@each_standard
def test_after_names_of_others(compiler: CudaCompiler, standard: int, tmp_path: Path) -> None:
    write_traps(tmp_path)
    assert not compile_source(compiler, "traps.cu", tmp_path, ["75", "90"], standard)


@each_compiler
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@each_standard
def test_everything(compiler: CudaCompiler, architecture: str, standard: int, tmp_path: Path) -> None:
    if architecture not in compiler.architectures():
        pytest.skip(f"{compiler.name} does not know sm_{architecture}")
    lambdas = [] if compiler.is_clang else ["--extended-lambda"]
    assert not compile_source(compiler, "everything.cu", tmp_path, [architecture], standard, *lambdas)


@cuda_compilers.each(clang=False)
@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_other_code(compiler: CudaCompiler, options: tuple[str, ...], tmp_path: Path) -> None:
    assert not compile_source(compiler, "sum.cu", tmp_path, ["80", "90"], 17, *options)
