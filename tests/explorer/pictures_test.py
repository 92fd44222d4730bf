"""What draws the pictures, under Node: the explorer's modules, and the stills of the pages."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.command_line import ELEMENT_TYPES, REPOSITORY


def test_modules(need: Callable[[str], str], bin_folder: Path, tmp_path: Path) -> None:
    """With the traces of the pages' pictures, which are of int32, and of each type."""
    version = subprocess.run([need("node"), "--version"], capture_output=True, text=True).stdout.strip()
    if int(version.lstrip("v").split(".")[0]) < 18:
        pytest.skip(f"node is {version}, and the tests need v18 or later")
    for element_type in ELEMENT_TYPES:
        subprocess.run([bin_folder / "02_nondivergent", *"--device emulated -q -b 64 -n 1000 -t".split(), element_type,
                        "--trace", tmp_path / f"02_{element_type}.json"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["node", "--test", REPOSITORY / "tests/explorer/explorer.test.js"], check=True,
                   env=os.environ | {"EXPLORER_TRACES": str(tmp_path)})


def test_stills(need: Callable[[str], str], bin_folder: Path, cmake_cache: dict[str, str]) -> None:
    """The committed traces are those of the kernels, and the pictures those of the traces."""
    node, compiler = need("node"), cmake_cache["CMAKE_CXX_COMPILER"]
    if "Free Software Foundation" not in subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout:
        pytest.skip(f"the committed traces are of kernels that GCC has compiled, not {compiler}")
    subprocess.run([node, REPOSITORY / "docs/stills/draw_stills.js", "--check", "--bin", bin_folder], check=True)
