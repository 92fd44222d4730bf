"""A kernel's file sees no name of the emulated device: each is CUDA's own, the C++ library's, or reserved."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import folders_of_kernels

HEADERS = ["cuda_runtime.h", "cuda.h", "driver_types.h", "math_constants.h", "cuda_fp16.h", "cuda_bf16.h",
           "cuComplex.h", "cooperative_groups.h", "cooperative_groups/reduce.h", "cuda/atomic", "cuda/std/cmath",
           "cuda/std/limits"]
KINDS = "u?char|u?short|u?int|u?long|u?longlong|float|double"
# CUDA's names: by how they begin, and those that begin like no others.
GLOBAL = re.compile(rf"""cuda\w* | CUDA\w* | cu[A-Z]\w* | CU_?\w+ | cuuint\d\d_t | nvtx\w* | NVTX\w*
    | (?:make_)?(?:{KINDS})[1-4] | make_cu\w+ | dim3 | (?:make_)?half2? | make_bfloat162 | nv_bfloat162?
    | threadIdx | blockIdx | blockDim | gridDim | warpSize
    | atomic(?:Add|Sub|Exch|Min|Max|Inc|Dec|CAS|And|Or|Xor)(?:_block|_system)?
    | (?:tex|surf)\w* | clock64 | cooperative_groups
    | (?:u|ll|ull)?(?:min|max) | fdividef
    | h2?(?:ceil|cos|exp|exp2|exp10|floor|log|log2|log10|rcp|rint|rsqrt|sin|sqrt|tanh|tanh_approx|trunc)
    | (?:cospi|sinpi|sincospi|erfinv|erfcinv|normcdf|normcdfinv|norm3d|norm4d|rnorm3d|rnorm4d|rhypot|rsqrt|rcbrt)f?
    | _[_A-Z]\w*""", re.VERBOSE)
NAMESPACES = {
    "cooperative_groups": re.compile(r"""details | thread_block | thread_block_tile | this_thread_block | thread_group
        | block_tile_memory | coalesced_group | coalesced_threads | tiled_partition | grid_group | this_grid | sync
        | thread_rank | group_size | binary_partition | labeled_partition | invoke_one | invoke_one_broadcast
        | inclusive_scan | exclusive_scan | this_cluster | cluster_group | this_multi_grid | multi_grid_group
        | reduce | plus | less | greater | bit_and | bit_or | bit_xor""", re.VERBOSE),
    "cuda": re.compile("std|thread_scope(_system|_device|_block|_thread)?|memory_order(_\\w+)?"
                       "|atomic(_ref|_thread_fence)?|aligned_size_t|__emulated_details"),
}


Said = Callable[..., str]


@pytest.fixture(scope="module")
def said(build_folder: Path, need: Callable[[str], str]) -> Said:
    """What a compiler prints."""

    def of(program: str, source: Path, *options: str, fails: bool = False) -> str:
        ran = subprocess.run([need(program), "-std=c++20", *folders_of_kernels(build_folder), *options, source],
                             capture_output=True, text=True)
        assert fails or ran.returncode == 0, ran.stderr
        return ran.stderr if fails else ran.stdout

    return of


@pytest.fixture(scope="module")
def with_and_without(tmp_path_factory: pytest.TempPathFactory, said: Said) -> tuple[Path, Path]:
    """All that kernels may include, and of it the headers of the C++ library alone."""
    folder = tmp_path_factory.mktemp("names")
    everything = folder / "everything.cpp"
    everything.write_text("".join(f"#include <{name}>\n" for name in HEADERS))
    library = sorted(set(re.findall(r"/c\+\+/\d+/([a-z_.]+)(?=\s)", said("g++", everything, "-M"))))
    assert "type_traits" in library
    alone = folder / "library.cpp"
    of_c = ["assert.h", "stdio.h", "string.h", "time.h"]
    alone.write_text("".join(f"#include <{name}>\n" for name in [*library, *of_c]))
    return everything, alone


def test_macros(with_and_without: tuple[Path, Path], said: Said) -> None:
    defined, of_library = (set(re.findall(r"(?m)^#define (\w+)", said("g++", file, "-dM", "-E")))
                           for file in with_and_without)
    assert {"__global__", "CUDART_VERSION"} <= defined - of_library
    assert [name for name in defined - of_library if not re.fullmatch(r"_[_A-Z]\w*|CUDA(RT)?_\w+", name)] == []


def test_declarations(with_and_without: tuple[Path, Path], said: Said, tmp_path: Path) -> None:
    listed, of_library = (set(said("clang++", file, "-fsyntax-only", "-Xclang", "-ast-list").splitlines())
                          for file in with_and_without)
    candidates = {name for name in listed - of_library if re.fullmatch(r"[A-Za-z]\w*", name)}
    # Local names are listed, too: those that nobody can name from outside.
    probe = tmp_path / "probe.cpp"
    probe.write_text(with_and_without[0].read_text() + "namespace probe {\n" +
                     "".join(f"using ::{name};\n" for name in candidates) + "}\n")
    local = set(re.findall(r"no member named '(\w+)' in the global namespace",
                           said("clang++", probe, "-fsyntax-only", "-ferror-limit=0", fails=True)))
    visible = candidates - local
    assert {"cudaMalloc", "float4", "threadIdx"} <= visible
    assert sorted(name for name in visible if not GLOBAL.fullmatch(name)) == []
    for namespace, names in NAMESPACES.items():
        members = {name.removeprefix(f"{namespace}::") for name in listed if name.startswith(f"{namespace}::")}
        assert sorted(name for name in members if re.fullmatch(r"\w+", name) and not names.fullmatch(name)) == []


def test_symbols(build_folder: Path, need: Callable[[str], str]) -> None:
    """Nor does a program that links the emulated device."""
    archives = [build_folder / "common/emulated" / f"lib{name}.a" for name in (
        "emulated_device", "findings", "host_threads")]
    listed = subprocess.run([need("nm"), "--extern-only", "--defined-only", "--demangle", "--format=just-symbols",
                             *archives], capture_output=True, text=True, check=True).stdout
    names = {line.partition("(")[0] for line in listed.splitlines()}
    assert "cudaFree" in names
    assert [name for name in names if re.fullmatch(r"\w+", name) and not GLOBAL.fullmatch(name)] == []


def test_headers_of_a_toolkit(said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA's own headers on the compiler's default path, which a third one includes as its neighbours, add nothing."""
    for name in ("cuda_runtime_api", "driver_types", "host_defines", "vector_types"):
        guard = f"__{name.upper()}_H__"
        (tmp_path / f"{name}.h").write_text(f"#if !defined({guard})\n#define {guard}\nstruct char1 {{}};\n#endif\n")
    (tmp_path / "third.h").write_text('#include "cuda_runtime_api.h"\n#include "driver_types.h"\n'
                                      '#include "host_defines.h"\n#include "vector_types.h"\n')
    program = tmp_path / "program.cpp"
    program.write_text("#include <cuda_runtime.h>\n#include <third.h>\n#include <vector_types.h>\nchar1 c;\n")
    monkeypatch.setenv("CPATH", str(tmp_path))
    said("g++", program, "-fsyntax-only")
