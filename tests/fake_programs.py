"""Programs that are made up, in place of a GPU's tools and of steps that need a GPU."""

import os
import shutil
import sys
import textwrap
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


def make(folder: Path, name: str, source: str) -> Path:
    """An executable of this Python source, without what is installed; `words` are its arguments."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!{sys.executable} -IS\nimport json, os, sys\nwords = sys.argv[1:]\n{textwrap.dedent(source)}")
    program.chmod(0o755)
    return program


def path_with(folder: Path) -> dict[str, str]:
    """The environment in which the programs of the folder come first, without what the scripts read from it."""
    usual = {key: value for key, value in os.environ.items() if not key.startswith("REDUCTION_")}
    return {**usual, "PATH": f"{folder}:{os.environ['PATH']}"}


def make_ladder(folder: Path, cmake: str) -> Path:
    """Copies both scripts and what they read to the folder. Returns a folder of programs for them: a dpkg-query that
    has every package, and a `cmake`, which is Python source."""
    for file in ("run_ladder.sh", "run_tests.sh", "CMakeLists.txt", "CMakePresets.json"):
        shutil.copy(REPOSITORY / file, folder)
    shutil.copytree(REPOSITORY / "common/scripts", folder / "common/scripts")
    shutil.copy(REPOSITORY / "common/steps.txt", folder / "common")
    make(folder / "fake", "dpkg-query", 'print("installed")')
    return make(folder / "fake", "cmake", cmake).parent
