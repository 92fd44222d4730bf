"""The one way to write a file: it appears whole or not at all. A pipe, a device and `-` are written as they are."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.command_line import BadUsage, NotPossible

STDOUT = Path("-")


def write(path: Path, text: str) -> None:
    """Replaces the file, or the one that a link leads to, by `text` (UTF-8).

    Throws NotPossible where that cannot be written; the old file then stays.
    """
    try:
        if path == STDOUT:
            print(text, end="", flush=True)
        elif path.exists() and not path.is_file():
            path.write_text(text, "utf-8")
        else:
            replace(Path(os.path.realpath(path)), text)
    except OSError as error:
        raise NotPossible(f"'{path}' cannot be written: {error.strerror}") from None


def replace(target: Path, text: str) -> None:
    new = target.with_name(f".{target.name[:100]}.{os.getpid()}")
    try:
        new.write_text(text, "utf-8")
        if target.exists():
            shutil.copymode(target, new)
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)


def require_writable(path: Path, option: str) -> None:
    """Says now, not after minutes, that a file cannot be written. Throws BadUsage."""
    try:
        if path.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        if path == STDOUT or path.exists() and not path.is_file():
            return
        # Root may write anywhere, and still no file in /proc.
        with tempfile.TemporaryFile(dir=os.path.dirname(os.path.realpath(path))):
            pass
    except OSError as error:
        raise BadUsage(f"{option} '{path}': {error.strerror}; name a file in a folder that can be written") from None


def make_folder(folder: Path) -> None:
    """Makes it where it is not there. Throws BadUsage where it then cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BadUsage(f"'{folder}' is no folder that can be written: {error.strerror}") from None


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Makes the folder, and keeps it for this process: two that write into it would mix their files. Removes it again
    where nothing was written. Throws BadUsage as make_folder(), and NotPossible where it is another process's."""
    is_new = not folder.exists()
    make_folder(folder)
    lock = os.open(folder, os.O_RDONLY)
    try:
        take(lock, folder)
        yield
    finally:
        os.close(lock)
        if is_new and folder.exists() and not any(folder.iterdir()):
            folder.rmdir()


def take(lock: int, folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise NotPossible(f"another process works in '{folder}': wait for its end, or name another folder") from None
