"""What draws the pictures, under Node: the explorer's modules, and the stills of the pages."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.command_line import REPOSITORY


def test_modules(need: Callable[[str], str]) -> None:
    version = subprocess.run([need("node"), "--version"], capture_output=True, text=True).stdout.strip()
    if int(version.lstrip("v").split(".")[0]) < 18:
        pytest.skip(f"node is {version}, and the tests need v18 or later")
    subprocess.run(["node", "--test", REPOSITORY / "tests/explorer/explorer.test.js"], check=True)


def test_stills(need: Callable[[str], str], bin_folder: Path, cmake_cache: dict[str, str]) -> None:
    """The committed traces are those of the kernels, and the pictures those of the traces."""
    node, compiler = need("node"), cmake_cache["CMAKE_CXX_COMPILER"]
    if "Free Software Foundation" not in subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout:
        pytest.skip(f"the committed traces are of kernels that GCC has compiled, not {compiler}")
    subprocess.run([node, REPOSITORY / "docs/stills/draw_stills.js", "--check", "--bin", bin_folder], check=True)
