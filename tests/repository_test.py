"""How the repository is shaped and built. CTest runs those by themselves that need a tool that is not everywhere."""

import itertools
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tools import gpu
from tools.command_line import REPOSITORY
from tools.programs import EMULATED, NUMBERED, STEPS, steps_of

# Those with a kernel to hold against the one before.
LADDER = [REPOSITORY / step.page for step in STEPS if step.part in ("ladder", "beyond") and step.program in EMULATED]
# The most words of prose on a page of the course: what is read in one go.
WORDS = {"README.md": 900, "docs/why_bandwidth.md": 900, "docs/work_and_depth.md": 900, "docs/small_inputs.md": 900,
         "[0-9]*/README.md": 1800, "beyond/[0-9]*/README.md": 1800, "beyond/atomics/**/README.md": 1800}


def output_of(*command: str | Path, standard_input: str = "") -> str:
    return subprocess.run(command, input=standard_input, stdout=subprocess.PIPE, text=True, check=True).stdout


def test_the_list_of_the_steps_is_complete() -> None:
    """And says what they are made of. A program's title is its page's."""
    folders = [path.parent.relative_to(REPOSITORY) for glob in ("[0-9]*/kernel.[ch]*", "beyond/[0-9]*/kernel.[ch]*")
               for path in sorted(REPOSITORY.glob(glob))]
    assert sorted(folders) == sorted(NUMBERED) and steps_of("peer") == ["peer_cub"]
    for step in STEPS:
        [main] = [file for folder in (step.page, f"{step.page}/{step.program}", f"{step.page}/{step.program[5:]}")
                  for file in (REPOSITORY / folder).glob("main.c*")]
        assert ("reduction::make_step(" in main.read_text()) == step.needs.startswith("any"), step
        page = (REPOSITORY / step.page / "README.md").read_text("utf-8")
        if title := re.match(r"# \d\d · (.*)\n", page):
            assert f'"{step.program}", "{title[1][0].lower()}{title[1][1:]}"' in main.read_text("utf-8"), step


def test_the_tools_call_steps_by_their_names() -> None:
    named = {name for tool in REPOSITORY.glob("tools/*.py") for name in re.findall(r'"(\d\d_\w+)"', tool.read_text())}
    assert named and named <= {step.program for step in STEPS} | {"12_against_cub"}


def test_step_shape() -> None:
    """A kernel fits a screen, main.cu differs by names only, and a step changes little: it is the lesson."""
    mains = [re.sub('"[^"]*"', "NAME", (step / "main.cu").read_text()) for step in LADDER]
    for step, main in zip(LADDER, mains):
        assert (step / "README.md").stat().st_size > 0, step
        assert 0 < (step / "kernel.cuh").read_text().count("\n") <= 70, step
        assert main.count("\n") <= 25, step
        assert main == mains[0], f"{step}: main.cu has more than other names"
    for before, step in itertools.pairwise(LADDER):
        changed = subprocess.run(["git", "diff", "--no-index", "--numstat", before / "kernel.cuh", step / "kernel.cuh"],
                                 stdout=subprocess.PIPE, text=True).stdout.split()
        assert changed and max(map(int, changed[:2])) <= (12 if step.name < "06" else 30), f"{step}: {changed}"


def words_of_prose(page: str) -> int:
    """Outside of generated parts, code, tables, tags and the targets of links. A folded answer counts."""
    for left_out in (r"^<!-- (\w+):begin -->.*?^<!-- \1:end -->", r"^ *```.*?^ *```", r"^ *\|[^\n]*",
                     r"</?[a-z][^>]*>|<!--.*?-->", r"(?<=\])\([^)]*\)"):
        page = re.sub(f"(?ms){left_out}", "", page)
    return len(re.findall(r"\S*\w\S*", page))


def test_a_page_of_the_course_is_short() -> None:
    shown = "Two *words*, [a link](to/a page.md).\n<!-- x:begin -->\nno word\n<!-- x:end -->\n| a | table |\n"
    assert words_of_prose(shown + "```sh\n./code\n```\n<summary>Answer</summary>\n") == 5
    pages = {page: limit for glob, limit in WORDS.items() for page in REPOSITORY.glob(glob)}
    assert len(pages) >= 23
    long = {page: words for page, limit in pages.items() if (words := words_of_prose(page.read_text())) > limit}
    assert not long


@pytest.mark.parametrize("step", steps_of("ladder"))
def test_plain_cuda(step: str, need: Callable[[str], str], tmp_path: Path) -> None:
    """A student can take each of 01 to 07 elsewhere: plain nvcc compiles it, pasted into a file of its own behind three
    standard headers and a line for each of the two helpers that it calls."""
    kernel, file = (REPOSITORY / step / "kernel.cuh").read_text(), tmp_path / "pasted.cu"
    file.write_text("""
#include <cstddef>
#include <algorithm>
#include <stdexcept>
constexpr size_t ceil_divide(size_t n, size_t part) { return (n + part - 1) / part; }
template <typename Kernel> size_t blocks_to_fill_device(Kernel*, unsigned, size_t) { return 1056; }
""" + re.sub('(?m)^#(pragma once|include "device/cuda_or_emulated.cuh").*', "", kernel) + """
template <typename T> void reduce(const T* in, T* out, size_t n, unsigned block) {
  launch_reduce(static_cast<unsigned>(grid_size<T>(n, block)), block, in, out, n);
}
int main() {
  reduce<int>(nullptr, nullptr, 0, 256);
  reduce<double>(nullptr, nullptr, 0, 256);
}
""")
    output_of(need("nvcc"), "-std=c++17", "-arch=sm_75", "--Werror=all-warnings", "-c", "-o", tmp_path / "out.o", file)


@pytest.mark.parametrize("name", ["main", "memories", "divergence"])
def test_first_program(name: str, need: Callable[[str], str], tmp_path: Path) -> None:
    """The programs of docs/cuda_in_ten_minutes.md, which take nothing but CUDA."""
    output_of(need("nvcc"), "-Xcompiler", "-Wall,-Wextra", "--Werror=all-warnings", "-o", tmp_path / name,
              REPOSITORY / f"docs/first_program/{name}.cu")
    if gpu.said("nvidia-smi", "-L"):
        output_of(tmp_path / name)


@pytest.mark.parametrize("machine", ["x86-64", "x86-64-v3"])
@pytest.mark.parametrize("compiler", ["of this build", "g++", "clang++"])
def test_running_sum(compiler: str, machine: str, cmake_cache: dict[str, str], need: Callable[[str], str]) -> None:
    """00's running sum is a chain of additions in machine code, too: no compiler adds integers in several lanes at
    once. (Additions of floating-point numbers may not be reordered.)"""
    path = cmake_cache["CMAKE_CXX_COMPILER"] if compiler == "of this build" else need(compiler)
    if not output_of(path, "-dumpmachine").startswith("x86_64"):
        pytest.skip("this knows x86-64's instructions only")
    assembly = output_of(path, f"-march={machine}", "-std=c++20", "-O3", "-S", "-o", "-", "-x", "c++", "-",
                         f"-I{REPOSITORY}/00_cpu_serial", standard_input="""
#include <cstdint>
#include "kernel.hpp"
template std::uint32_t running_sum(std::uint32_t, const std::uint32_t*, std::size_t);
template std::uint64_t running_sum(std::uint64_t, const std::uint64_t*, std::size_t);
""")
    assert "running_sum" in assembly
    assert re.findall(r"\bv?padd[dq]\b", assembly) == []


def test_emulated_symbols(build_folder: Path, need: Callable[[str], str]) -> None:
    """No symbol of the emulated device has a name of CUDA's without a namespace: nvcc compiles CUDA's into the same
    program."""
    objects = [build_folder / f"CMakeFiles/{step}_emulated.dir/common/harness/emulated_step.cpp.o" for step in EMULATED]
    objects += build_folder.glob("tests/emulated/CMakeFiles/plain_kernels_test.dir/**/*.o")
    assert len(objects) > len(EMULATED)
    library = build_folder / "common/emulated/libemulated_device.a"
    symbols = output_of(need("nm"), "--demangle", "--extern-only", library, *objects)
    names = "dim3|u?int3|float3|threadIdx|blockIdx|blockDim|gridDim|warpSize"
    others, own = re.subn(f"__emulated::(types::)?({names})", "", symbols)
    assert own > 0 and re.findall(rf".*\b(?:{names})\b.*", others) == []


def test_emulated_objects(build_folder: Path, cmake_cache: dict[str, str], need: Callable[[str], str]) -> None:
    """A step's kernels for the emulated device are an object that shows one function. nvcc's object of the same step
    has templates of the same names, and a linker that saw both would keep one of them for both devices."""
    if not Path(cmake_cache.get("CMAKE_CUDA_COMPILER", "NOTFOUND")).exists():
        pytest.skip("this build has no CUDA")
    objects = {build_folder / f"{step}_emulated.o": "step" for step in EMULATED}
    if (build_folder / "bin/13_many_gpus").exists():
        objects[build_folder / "beyond/13_many_gpus/13_many_gpus_emulated.o"] = "rank"
    for file, of in objects.items():
        shown = output_of(need("nm"), "--extern-only", "--defined-only", "--demangle", "--format=just-symbols", file)
        assert shown == f"reduction::emulated_{of}_kernels()\n", file
