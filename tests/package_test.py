"""The package `reduction` in the projects of tests/package: installed, found, built with, and run."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import succeed
from tools import gpu
from tools.command_line import REPOSITORY

PROJECTS = REPOSITORY / "tests/package"
HEADERS = ["across", "compensated_sum", "constants", "elements", "hopper", "input", "launch", "operations", "reduce",
           "reduce_kernels", "rows", "rows_kernels", "same_bits", "version"]


def build(project: Path, folder: Path, *options: str) -> None:
    succeed("cmake", "-S", project, "-B", folder, *options)
    succeed("cmake", "--build", folder)


@pytest.fixture
def prefix(build_folder: Path, tmp_path: Path) -> Path:
    """Where the package is, and nothing remembers the folder that it was installed into."""
    succeed("cmake", "--install", build_folder, "--prefix", tmp_path / "first")
    return (tmp_path / "first").rename(tmp_path / "prefix")


def test_package(prefix: Path, tmp_path: Path) -> None:
    assert sorted(str(file.relative_to(prefix)) for file in prefix.rglob("*") if file.is_file()) == [
        *(f"include/reduction/{name}.cuh" for name in HEADERS),
        "share/cmake/reduction/reductionConfig.cmake", "share/cmake/reduction/reductionConfigVersion.cmake",
        "share/licenses/reduction/LICENSE"]
    build(PROJECTS / "without_cuda", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    # The headers' version is the one that find_package sees, and names what libraries hand to each other.
    [given] = re.findall(r'PACKAGE_VERSION "(\d+)\.(\d+)\.(\d+)"',
                         (prefix / "share/cmake/reduction/reductionConfigVersion.cmake").read_text())
    major, minor, patch = map(int, given)
    headers = {header.name: header.read_text() for header in (prefix / "include/reduction").iterdir()}
    assert f"#define REDUCTION_VERSION {10000 * major + 100 * minor + patch}\n" in headers["version.cuh"]
    assert f"inline namespace v{major}_{minor} {{" in headers["operations.cuh"]
    # Who takes one of the files, or the folder, has the repository's licence with it.
    licence = (REPOSITORY / "LICENSE").read_text()
    assert (prefix / "share/licenses/reduction/LICENSE").read_text() == licence
    name = licence.partition(" License\n")[0]
    assert all(text.startswith(f"// SPDX-License-Identifier: {name}\n") for text in headers.values())


def test_package_with_nvcc(prefix: Path, tmp_path: Path, cmake_cache: dict[str, str], need: Callable[[str], str]
                           ) -> None:
    need("nvcc")
    architectures = cmake_cache.get("CMAKE_CUDA_ARCHITECTURES", "all-major")
    if not architectures.isdecimal():  # several would take long
        architectures = "native" if gpu.said("nvidia-smi", "-L") else "90-virtual"
    option = f"-DCMAKE_CUDA_ARCHITECTURES={architectures}"
    build(PROJECTS, tmp_path / "found", f"-DCMAKE_PREFIX_PATH={prefix}", option)
    for folder in (REPOSITORY, REPOSITORY / "beyond/12_any_operation"):
        build(PROJECTS / "taken_along", tmp_path / folder.name, f"-DREDUCTION_FOLDER={folder}", option)
    ran = subprocess.run([tmp_path / "found/smallest"], capture_output=True, text=True)
    if ran.returncode == 77:
        pytest.skip("installed, found and built, but not run: there is no GPU")
    assert ran.returncode == 0, ran
