"""Builds that .ci/run has none of: for every architecture that nvcc and the steps know, and by clang."""

import os
import re
from collections.abc import Callable
from pathlib import Path

from conftest import succeed
from tools import gpu

OLDEST = 75  # of the header of beyond/12_any_operation


def build(folder: Path, options: list[str], *targets: str) -> None:
    """Builds the targets, or all; a warning is an error."""
    succeed("cmake", "--preset", "ci", "-B", folder, *options)
    succeed("cmake", "--build", folder, "--parallel", str(os.cpu_count()), *(["--target", *targets] if targets else []))


def test_the_ladder_compiles_for_every_architecture(need: Callable[[str], str], tmp_path: Path) -> None:
    known = re.findall(r"compute_(\d+)", gpu.said(need("nvcc"), "--list-gpu-arch"))
    architectures = ";".join(each for each in known if int(each) >= OLDEST)
    assert architectures.count(";") > 3, known
    build(tmp_path, ["-DREDUCTION_CUDA=ON", f"-DCMAKE_CUDA_ARCHITECTURES={architectures}",
                     "-DREDUCTION_BUILD_TESTS=OFF"])


def test_clang_compiles_the_device(need: Callable[[str], str], tmp_path: Path) -> None:
    """A step and the device's tests, built and run."""
    tests = ["crashes_test", "step_matrix_05_unroll_warp_test", "races_test"]
    build(tmp_path, [f"-DCMAKE_CXX_COMPILER={need('clang++')}", "-DREDUCTION_CUDA=OFF"], "07_cascade", *tests)
    succeed(tmp_path / "bin/07_cascade", "--device", "emulated", "-n", "2^20")
    for test in tests:
        succeed(tmp_path / f"bin/{test}")
