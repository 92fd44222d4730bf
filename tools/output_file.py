"""Files that appear whole or not at all."""

import contextlib
import fcntl
import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.command_line import BadUsage, NotPossible


def write(path: Path, text: str) -> None:
    """Replaces the file, or the one that a link leads to, by `text` (UTF-8).

    Throws BadUsage where that cannot be written; the old file then stays.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~current_umask()
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{path.name[:100]}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
                stream.write(text)
            os.chmod(name, mode)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise BadUsage(f"'{path}' cannot be written: {why}") from None


def require_writable(path: Path, option: str) -> None:
    """Says now, not after minutes, that a file cannot be written. Throws BadUsage."""
    folder = os.path.dirname(os.path.realpath(path))  # where the new file is made
    replaceable = not path.exists() or path.is_file() and os.access(path, os.W_OK)
    try:
        # Root may write anywhere, and still no file in /proc.
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        replaceable = False
    if not replaceable:
        raise BadUsage(f"{option} '{path}': name a file in a folder that can be written")


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Makes the folder, and keeps it for this process: two that write into it would mix their files. Removes it again
    where nothing was written. Throws BadUsage where there can be no such folder, NotPossible where it is another's."""
    is_new, is_own = not folder.exists(), False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:
        raise NotPossible(not_writable(next(parent for parent in folder.parents if parent.exists()))) from None
    except OSError as error:
        raise BadUsage(f"'{folder}' is no folder that can be written: {error.strerror}") from None
    try:
        if blocked := first_that_is_not_writable(folder):
            raise NotPossible(not_writable(blocked))
        if not is_locked_by_now(lock, folder):
            raise NotPossible(f"another process works in '{folder}': wait for its end, or name another folder")
        is_own = True
        yield
    finally:
        if is_new and is_own and folder.exists() and not any(folder.iterdir()):
            folder.rmdir()
        os.close(lock)


def is_locked_by_now(lock: int, folder: Path) -> bool:
    with contextlib.suppress(OSError):  # of a file system that has no locks
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    # Whoever had it may have renamed or deleted it.
    return folder.exists() and os.path.samestat(os.fstat(lock), folder.stat())


def first_that_is_not_writable(folder: Path) -> Path | None:
    """In its first two levels."""
    paths = itertools.chain([folder], folder.glob("*"), folder.glob("*/*"))
    return next((path for path in paths if not path.is_symlink() and not os.access(path, os.W_OK)), None)


def not_writable(path: Path) -> str:
    try:
        owner = path.owner()
    except (KeyError, OSError):
        owner = "somebody else"
    return f"{path} cannot be written; it belongs to {owner}: make it writable, or name another folder"


def current_umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
