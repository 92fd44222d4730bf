"""What of CUDA the emulated device does not have is refused by name when a kernel is compiled, with what to do."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import folders_of_kernels
from tools.command_line import REPOSITORY, read_text

BEFORE = '#include "device/cuda_or_emulated.cuh"\n#include <cooperative_groups.h>\n#include <cuda/atomic>\n'
# What is no function and no header: a line that has it.
IN_CODE = {
    "texture": "texture<float, 2> pixels;",
    "asm": "__global__ void k1() { asm volatile(__VERSION__); }",  # as it is where macros make the text
    "cuda::atomic": "struct Three { int a, b, c; }; __device__ cuda::atomic<Three> count;",
    "__cluster_dims__": "__global__ void __cluster_dims__(2, 1, 1) k5() {}  void of_k5() { k5<<<2, 1>>>(); }",
    "<<<>>> in a kernel": "__global__ void k7() {}  __global__ void k8() { k7<<<1, 1>>>(); }",
}
OF_REWRITER = "<<<>>> in a kernel"
DEVICE = REPOSITORY / "common/emulated"
CODE = [*sorted((DEVICE / "language").glob("**/*.hpp")), DEVICE / "language/include/cooperative_groups.h",
        DEVICE / "language/include/cuda/atomic", *sorted((DEVICE / "rewrite").glob("*.cpp"))]
WHERE = " on the emulated device: "


def is_header(name: str) -> bool:
    return re.search(r"^[^(<]*[./]", name) is not None


def text(name: str, reason: str, instead: str) -> str:
    """What is said of a refused name; a header has its name in brackets."""
    return f"{f'<{name}>' if is_header(name) else name}: {reason}{WHERE}{instead}"


def of_list() -> dict[str, str]:
    """What is said of the functions and headers, by their names."""
    said: dict[str, str] = {}
    reason = instead = ""
    for line in read_text(DEVICE / "language/unsupported.txt").splitlines():
        if line.startswith("  "):
            said |= {name: text(name.removesuffix("{}"), reason, instead) for name in line.split()}
        elif not line.startswith("#"):
            reason, _, instead = line.partition(": ")
    return said


def of_code() -> dict[str, str]:
    """What a string of the code refuses."""
    said: dict[str, str] = {}
    for file in CODE:
        joined = re.sub(r'"\s*\n\s*"', "", read_text(file).replace('\\"', '"'))
        for name, reason, instead in re.findall(rf'"([^"]+?): ((?:[^":]|::)+){WHERE}([^"]+)"', joined):
            said[name] = text(name, reason, instead)
    return said


def line_with(name: str) -> str:
    if is_header(name):
        return f"#include <{name}>"
    if name.endswith("{}"):
        return f"extern {name[:-2]}* pointer_to_{name[:-2].replace(':', '_')};"
    # As programs do that check errors: nothing else is wrong there.
    checked = f"if (cudaSuccess != {name}(nullptr, 1)) return;" if name.startswith("cuda") else f"{name}(nullptr, 1);"
    return f"inline void call_of_{name.replace(':', '_')}() {{ {checked} }}"


def said_of(source: str, folder: Path, build: Path, compiler: str, *flags: str) -> tuple[int, str]:
    """The exit code of the rewriter and the compiler, and what they say, with the source's own lines."""
    kernel = folder / "kernel.cu"
    rewritten = folder / "kernel.cpp"
    kernel.write_text(BEFORE + source)
    ran = subprocess.run([build / "bin/kernel_rewriter", kernel, rewritten], capture_output=True, text=True)
    if ran.returncode == 0:
        all_errors = ["-ferror-limit=0"] if "clang" in compiler else []
        ran = subprocess.run([compiler, *all_errors, "-std=c++20", "-fsyntax-only", "-w", *flags,
                              *folders_of_kernels(build), rewritten],
                             capture_output=True, text=True, env=os.environ | {"LC_ALL": "C.UTF-8"})
    return ran.returncode, ran.stderr


def test_named_by_the_rewriter(build_folder: Path, tmp_path: Path, need: Callable[[str], str]) -> None:
    code, said = said_of(IN_CODE[OF_REWRITER], tmp_path, build_folder, need("g++"))
    assert code == 1 and f"kernel.cu:4: error: {of_code()[OF_REWRITER]}" in said


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_named_by_the_compiler(compiler: str, build_folder: Path, tmp_path: Path, need: Callable[[str], str]) -> None:
    """The list and the code that refuses, each in a program: an error more does not hide the others."""
    assert of_code().keys() == IN_CODE.keys()
    in_code = {name: (IN_CODE[name], said) for name, said in of_code().items() if name != OF_REWRITER}
    in_list = {name: (line_with(name), said) for name, said in of_list().items()}
    for program in (in_code, in_list):
        code, said = said_of("".join(f"{line}\n" for line, _ in program.values()), tmp_path, build_folder,
                             need(compiler), "-include", "cuda_runtime.h")
        assert code != 0
        for number, (name, (_, refusal)) in enumerate(program.items(), start=BEFORE.count("\n") + 1):
            assert refusal in said, f"{name}: {said}"
            assert f"kernel.cu:{number}:" in said, f"{name}: {said}"
        # Nor is there any other error.
        errors = [line for line in said.splitlines() if "error: " in line or "error, " in line]
        others = [line for line in errors if "the emulated device: " not in line]
        assert others == []


ARCHITECTURE = """#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
__global__ void k() {
#if __CUDA_ARCH__ >= 700
  __syncwarp();
#else
#error "older"
#endif
}
"""
# What NVIDIA's helper_math.h, which many samples include, defines where __CUDACC__ is not; and what CUDA lacks.
OWN_FUNCTIONS = """#include <math.h>
inline float fminf(float a, float b) { return a < b ? a : b; }
inline float fmaxf(float a, float b) { return a > b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline int min(int a, int b) { return a < b ? a : b; }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline __device__ __host__ float lerp(float a, float b, float t) { return a + t * (b - a); }
__device__ float atomicMax(float* to, float x) { return *to = x; }
__global__ void k(float* out) {
  atomicMax(out, 1);
  atomicMax((int*)out, 1);
  out[0] = rsqrtf(2) + lerp(1, 2, fminf(1, 2)) + fmaxf(1, 2);
  out[1] = min(1, 2) + max(1, 2) + min(1U, 2U) + rsqrt(2.0);
}
"""
# A program, the compiler's flag, and what it is refused with, if it is.
PROGRAMS = {
    "an atomic of a type that has none": (
        "__global__ void k(short* out) { atomicAdd(out, 1); }\n", "-w", r"kernel\.cu:4:(.|\n)*atomicAdd"),
    "functions of the program's own": (OWN_FUNCTIONS, "-w", ""),
    "a texture that is passed on": ("__global__ void k(cudaTextureObject_t) {}\n", "-w", ""),
    "PTX for a GPU alone": ("__global__ void k() {\n#if __CUDA_ARCH__ >= 800\n  asm(\"ptx\");\n#endif\n}\n", "-w", ""),
    # Host and device have one compiler. A program whose functions are all for the device may define it.
    "no architecture": (ARCHITECTURE, "-w", "older"),
    "an architecture": (ARCHITECTURE, "-D__CUDA_ARCH__=800", ""),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_only_what_is_used_is_refused(compiler: str, name: str, build_folder: Path, tmp_path: Path,
                                      need: Callable[[str], str]) -> None:
    source, flag, refusal = PROGRAMS[name]
    code, said = said_of(source, tmp_path, build_folder, need(compiler), flag)
    assert (code != 0) == bool(refusal) and re.search(refusal, said), said
