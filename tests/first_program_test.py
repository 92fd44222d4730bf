"""The program of docs/cuda_in_ten_minutes.md: the page shows what compiles and runs."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import REPOSITORY

FOLDER = REPOSITORY / "docs/first_program"


def test_page() -> None:
    page = (REPOSITORY / "docs/cuda_in_ten_minutes.md").read_text(encoding="utf-8")
    program = page.partition("<!-- program:begin -->")[2].partition("<!-- program:end -->")[0]
    # What it shows besides are lines of the files, with comments of its own.
    lines = {line.strip() for file in FOLDER.glob("*.cu") for line in file.read_text(encoding="utf-8").splitlines()}
    for shown in re.findall(r"^```cpp\n(.*?)^```", page.replace(program, ""), re.MULTILINE | re.DOTALL):
        assert {line.partition("  //")[0].strip() for line in shown.splitlines()} <= lines


@pytest.mark.parametrize("name", ["main", "memories", "divergence"])
def test_with_nvcc(name: str, tmp_path: Path) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("there is no nvcc here")
    program = tmp_path / name
    warnings = ["-Xcompiler", "-Wall,-Wextra", "--Werror=all-warnings"]
    subprocess.run(["nvcc", *warnings, FOLDER / f"{name}.cu", "-o", program], check=True)
    if shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0:
        subprocess.run([program], check=True)
