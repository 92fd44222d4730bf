"""Files that appear whole or not at all."""

import os
import tempfile
from pathlib import Path

from tools.command_line import BadUsage


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
    if not (replaceable and os.path.isdir(folder) and os.access(folder, os.W_OK)):
        raise BadUsage(f"{option} '{path}': name a file in a folder that can be written")


def current_umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
