"""docs/amd/kernels.hip: compiled by hipcc for GPUs of both sorts, and run by the CPU in warps of 32 and of 64 lanes."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import REPOSITORY

KERNELS = REPOSITORY / "docs/amd/kernels.hip"
FACTS = """
#ifdef __HIP_DEVICE_COMPILE__
static_assert(warpSize == LANES && sizeof(__ballot(0)) == 8);
#endif
"""
# A replacement, and which kernel has a wrong result then, with 64 lanes only.
CASES = [
    ("", "", set()),
    ("stride = warpSize; stride > 0", "stride = 32; stride > 0", {"last_warp_unrolled"}),
    ("stride = warpSize / 2", "stride = 16", {"by_shuffles"}),
    ("const unsigned long long keepers", "const unsigned keepers", {"keep_positive"}),
    ("1ull << lane", "1u << lane", {"keep_positive"}),
]


@pytest.mark.parametrize("gpu, lanes", [("gfx90a", 64), ("gfx1030", 32)])
def test_hipcc_compiles_them(gpu: str, lanes: int, need: Callable[[str], str], tmp_path: Path) -> None:
    file = tmp_path / "kernels.hip"
    file.write_text(KERNELS.read_text("utf-8") + FACTS)
    subprocess.run([need("hipcc"), "-std=c++20", f"--offload-arch={gpu}", "-O3", "-Wall", "-Wextra", "-Werror",
                    f"-DLANES={lanes}", "-c", "-o", tmp_path / "kernels.o", file], check=True)


@pytest.mark.parametrize("right, mistake, wrong", CASES, ids=[mistake or "none" for _, mistake, _ in CASES])
def test_mistakes_show_with_64_lanes_only(right: str, mistake: str, wrong: set[str], tmp_path: Path) -> None:
    text = KERNELS.read_text("utf-8")
    assert right in text
    (tmp_path / "kernels.hip").write_text(text.replace(right, mistake))
    tests = REPOSITORY / "tests/amd"
    for lanes, named in ((32, set()), (64, wrong)):
        subprocess.run(["g++", "-std=c++20", "-pthread", f'-DKERNELS="{tmp_path}/kernels.hip"', f"-DLANES={lanes}",
                        f"-I{tests}", "-o", tmp_path / "run", tests / "main.cpp"], check=True)
        assert set(subprocess.check_output(tmp_path / "run", text=True).split()) == named


def test_the_page_shows_their_lines() -> None:
    page = (REPOSITORY / "docs/amd.md").read_text("utf-8")
    blocks = re.findall(r"(?s)```cpp\n(.*?)```", page)
    assert blocks and all(block in KERNELS.read_text("utf-8") for block in blocks)
