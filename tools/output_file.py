"""The one way to write a file: it appears whole or not at all. And folders that one process at a time writes into."""

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
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


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Makes the folder, and keeps it for this process: two that write into it would mix their files. Throws BadUsage as
    make_folder(), and NotPossible where it is another process's."""
    make_folder(folder)
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise NotPossible(f"another process works in '{folder}': wait for its end, or name another folder") from None
    try:
        yield
    finally:
        os.close(lock)
