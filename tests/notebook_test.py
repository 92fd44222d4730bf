"""docs/notebook/first_kernels.ipynb, run from top to bottom: in a checkout, and where there is none yet."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import REPOSITORY

Cell = dict[str, Any]

CELLS: list[Cell] = json.loads((REPOSITORY / "docs/notebook/first_kernels.ipynb").read_text("utf-8"))["cells"]
CODE = {cell["id"]: cell for cell in CELLS if cell["cell_type"] == "code"}
# What the text says of a cell's output.
SHOWN = {
    "setup": [r"^emulate \d"],
    "twice": [r"^Thread 5 of block 2 takes number 517\.$", r"^  global loads +32 +125 "],
    "eighth": [r"^  global loads +32 +1,000 ", r"^ +875 .* in\[8 \* i\]"],
    "race": [r"^cell: error: cell\.cu:10:46: race in sum: thread 2 ", r"^cell\.cu:10:68: thread 0 reads it",
             "^The sum is 63, and should be 2016.$"],
    "tree": [r"^The sum is 2016, and should be 2016\.$", '^<iframe srcdoc="&lt;!DOCTYPE html&gt;'],
    "exercise": ["ok +right for each type", "FAILED +goal: .* it has 150$"],
}
WITH_A_WORD = """%%emulate --quiet -- 7
#include <cstdio>
int main(int, char** words) { std::printf("a word: %s\\n", words[1]); }"""
NOT_COMPILED = "%%emulate --trace tree.html\nint main() { return missing; }"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    shutil.copytree(REPOSITORY, folder, ignore=shutil.ignore_patterns("build*", ".*", "__pycache__", "results"))
    return folder


def code(name: str, source: str) -> Cell:
    return {"cell_type": "code", "id": name, "metadata": {}, "execution_count": None, "outputs": [], "source": source}


def run(cells: list[Cell], folder: Path) -> dict[str, str]:
    """Of each code cell what it prints and shows, without a terminal's colours."""
    programs = sorted(REPOSITORY.glob("build*/venv/bin/jupyter-execute"))
    if not programs:
        pytest.skip("there is no nbclient here (pip install nbclient ipykernel in a venv, build/venv)")
    notebook = folder / "run.ipynb"
    notebook.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), "utf-8")
    subprocess.run([programs[0], "--kernel_name=python3", "--timeout=300", "--inplace", notebook.name], cwd=folder,
                   check=True)
    shown = {}
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        outputs = [part for output in cell.get("outputs", [])
                   for part in (output.get("text") or output["data"]["text/html"])]
        shown[cell["id"]] = re.sub(r"\r|\x1b\[[^a-zA-Z]*[a-zA-Z]", "", "".join(outputs))
    notebook.unlink()
    return shown


def test_the_cells(checkout: Path, bin_folder: Path) -> None:
    (checkout / "build/bin").mkdir(parents=True)
    (checkout / "build/bin/emulate").symlink_to(bin_folder / "emulate")
    (checkout / "build/bin/emulate.built").touch()
    shown = run(CELLS, checkout / "docs/notebook")
    for name, patterns in SHOWN.items():
        for pattern in patterns:
            assert re.search(pattern, shown[name], re.MULTILINE), f"{name}: {pattern}:\n{shown[name][:4000]}"


def test_where_there_is_no_checkout(checkout: Path, tmp_path: Path, bin_folder: Path) -> None:
    (checkout / "emulate").unlink()
    (checkout / "emulate").symlink_to(bin_folder / "emulate")  # which builds nothing
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=A", "-c", "user.email=A", "commit", "-qm", "All"]):
        subprocess.run(["git", *words], cwd=checkout, check=True)
    setup = "".join(CODE["setup"]["source"]).replace('"ADDRESS"', f'"file://{checkout}"')
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "tree.html").write_text("an old one")
    shown = run([code("setup", setup), code("word", WITH_A_WORD), code("error", NOT_COMPILED)], alone)
    assert shown["word"] == "a word: 7\n"
    assert "cell.cu:2:21: error:" in shown["error"]
    assert "iframe" not in shown["error"]
    assert [file.name for file in alone.iterdir()] == ["reduction"]


def test_what_is_committed() -> None:
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in CODE.values())
    start = (REPOSITORY / "01_interleaved/kernel.cuh").read_text("utf-8")
    assert "".join(CODE["exercise"]["source"]) + "\n" == f"%%emulate --grade 02\n{start}"
    text = "".join(line for cell in CELLS if cell not in CODE.values() for line in cell["source"])
    assert all((REPOSITORY / path).exists() for path in re.findall(r"`([\w/]+(?:/|\.md))`", text))
