"""The one way to write a file: it appears whole or not at all."""

import os
import tempfile
from pathlib import Path

from tools.command_line import BadUsage, NotPossible


def write(path: Path, text: str) -> None:
    """Replaces the file by `text` (UTF-8). Throws NotPossible where that cannot be written; the old one then stays."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.write_text(text, "utf-8")
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise NotPossible(f"'{path}' cannot be written: {error.strerror}") from None


def make_folder(folder: Path) -> None:
    """Makes it where it is not there. Throws BadUsage now, not after minutes, where it then cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BadUsage(f"'{folder}' is no folder that can be written: {error.strerror}") from None
