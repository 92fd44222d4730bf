"""Programs that are made up, in place of a GPU's tools and of steps that need a GPU."""

import os
import sys
import textwrap
from pathlib import Path


def make(folder: Path, name: str, source: str) -> Path:
    """An executable of this Python source; `words` are its arguments."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!{sys.executable}\nimport json, os, sys\nwords = sys.argv[1:]\n{textwrap.dedent(source)}")
    program.chmod(0o755)
    return program


def path_with(folder: Path) -> dict[str, str]:
    """The environment in which the programs of the folder come first."""
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
