"""Two libraries with the header of beyond/12_any_operation, for different architectures, in one program.

Of two functions with the same name a linker keeps one. So what depends on the architecture needs another name in each
library, or one launches the kernels of the other, or takes its grid from them (CUB's issue 545)."""

import functools
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import cuda_compilers
from conftest import SKIPPED
from cuda_compilers import CudaCompiler

SOURCES = Path(__file__).parent / "linking"
ARCHITECTURES = ["80", "90"]
# At -O0 nothing is inlined, so whatever the header has is a symbol.
LEVELS = ["-O0", "-O2"]
# The first links.
COMPILERS = cuda_compilers.found()

Libraries = Callable[..., list[Path]]

each_compiler = cuda_compilers.each()
each_level = pytest.mark.parametrize("level", LEVELS)


def run(*command: str | Path) -> str:
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert ran.returncode == 0, f"{' '.join(map(str, command))}\n{ran.stdout}"
    return ran.stdout


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Libraries:
    """Compiles the object of each, fit for a shared library. The same options again give the same objects."""

    @functools.cache
    def compile_both(compiler: CudaCompiler, *options: str) -> list[Path]:
        folder = tmp_path_factory.mktemp("libraries")
        pic = "-fPIC" if compiler.is_clang else "-Xcompiler=-fPIC"
        objects = [folder / f"sum_{architecture}.o" for architecture in ARCHITECTURES]
        for architecture, made in zip(ARCHITECTURES, objects):
            run(*compiler.command(architecture), *options, pic, f"-DSUM=sum_{architecture}",
                "-c", SOURCES / "library.cu", "-o", made)
        return objects

    return compile_both


@pytest.fixture(scope="module")
def main_object(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("main") / "main.o"
    run(*COMPILERS[0].command("90"), "-c", SOURCES / "main.cu", "-o", made)
    return made


def symbols_of_the_header(*of: str | Path) -> set[str]:
    """Those that a linker or a loader sees: of the namespace `reduction`, or instantiated with names of it."""
    lines = run("nm", "--demangle", "--defined-only", "--extern-only", *of).splitlines()
    return {line.split(maxsplit=2)[2] for line in lines if "reduction::" in line}


def depends_on_the_architecture(symbol: str) -> bool:
    """All but the operations, whose namespace is named after the version alone: libraries may pass their results on."""
    return re.search(r"\breduction::(?!v\d+_\d+::)", symbol) is not None


def assert_none_in_both(objects: list[Path]) -> None:
    first, second = map(symbols_of_the_header, objects)
    assert first - second and second - first, "no symbol of the header is seen: there is nothing to compare"
    assert not list(filter(depends_on_the_architecture, first & second))


@each_level
@each_compiler
def test_they_share_no_symbol(compiler: CudaCompiler, level: str, libraries: Libraries) -> None:
    assert_none_in_both(libraries(compiler, level))


@cuda_compilers.each(clang=False)
def test_they_share_no_symbol_if_kernels_are_symbols(compiler: CudaCompiler, libraries: Libraries) -> None:
    """As they are with older versions of nvcc, and with clang, without this option."""
    assert_none_in_both(libraries(compiler, "-O0", "-rdc=true"))


@cuda_compilers.each(clang=False)
def test_they_share_no_symbol_if_one_has_a_default_stream_per_thread(compiler: CudaCompiler, libraries: Libraries
                                                                     ) -> None:
    """One would queue its kernels on the other's default stream."""
    per_thread = libraries(compiler, "-O0", "--default-stream=per-thread")
    assert_none_in_both([libraries(compiler, "-O0")[0], per_thread[0]])


@each_level
@each_compiler
def test_a_shared_library_exports_none(compiler: CudaCompiler, level: str, libraries: Libraries, tmp_path: Path
                                       ) -> None:
    for library in libraries(compiler, level):
        run("g++", "-shared", library, "-o", tmp_path / "library.so")
        exported = symbols_of_the_header("--dynamic", tmp_path / "library.so")
        assert not list(filter(depends_on_the_architecture, exported))


@pytest.mark.parametrize("order", [ARCHITECTURES, ARCHITECTURES[::-1]], ids="_".join)
@pytest.mark.parametrize("kind", ["static", "shared"])
@each_level
@each_compiler
def test_both_sum_right(compiler: CudaCompiler, level: str, kind: str, order: list[str], libraries: Libraries,
                        main_object: Path, tmp_path: Path) -> None:
    if compiler.toolkit != COMPILERS[0].toolkit:  # clang has the same
        pytest.skip("linked with the first one's toolkit only: others may be without libraries")
    files = []
    for library in sorted(libraries(compiler, level), key=lambda path: order.index(path.stem[-2:])):
        if kind == "static":
            files.append(tmp_path / f"lib{library.stem}.a")
            run("ar", "rcs", files[-1], library)
        else:
            files.append(tmp_path / f"lib{library.stem}.so")
            run(COMPILERS[0].program, "-shared", library, "-o", files[-1])
    run(COMPILERS[0].program, main_object, *files, "-Xlinker", f"-rpath={tmp_path}", "-o", tmp_path / "main")
    ran = subprocess.run([tmp_path / "main"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ran.returncode == SKIPPED:
        pytest.skip("built and linked, but not run: there is no GPU that can run code for both")
    assert ran.returncode == 0, ran.stdout
