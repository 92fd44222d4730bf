"""What the commands share: exit codes, failures that end them, options, texts, and where the repository is."""

import argparse
import enum
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NoReturn, TextIO, TypeVar, get_args

REPOSITORY = Path(__file__).resolve().parent.parent
ElementType = Literal["int32", "int64", "float32", "float64", "complex64", "complex128"]
ELEMENT_TYPES: tuple[str, ...] = get_args(ElementType)

Parsed = TypeVar("Parsed")


class ExitCode(enum.IntEnum):
    """Those of the steps."""

    DONE = 0
    WRONG = 1  # a wrong result, a stale page, a dead link
    BAD_USAGE = 2
    NOT_POSSIBLE = 3  # on this machine
    INTERRUPTED = 130


class Failure(Exception):
    """Ends the command with this line on stderr, and the exit code of its class."""

    code = ExitCode.WRONG


class BadUsage(Failure):
    code = ExitCode.BAD_USAGE


class NotPossible(Failure):
    code = ExitCode.NOT_POSSIBLE


class Parser(argparse.ArgumentParser):
    """The parser of a command. `description` is the docstring of its module, shown as it stands."""

    def __init__(self, command: str, description: str | None, epilog: str = "") -> None:
        super().__init__(prog=f"python3 -m tools{command.removeprefix('tools') and ' ' + command}",
                         description=description, epilog=epilog, allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message: str) -> NoReturn:
        raise BadUsage(f"{message} (--help lists what is allowed)")

    def add_bin(self) -> None:
        self.add_argument("--bin", type=Path, default=REPOSITORY / "build/bin", metavar="FOLDER",
                          help="the executables; default build/bin")


def parse_count(text: str) -> int:
    """A number of elements or samples as the steps take it: 1000003, 2^28, 64M."""
    match = re.fullmatch(r"([1-9]\d{0,14})(?:\^(\d{1,2})|([KMG]))?", text)
    count = 0
    if match:
        base, exponent, suffix = match.groups()
        count = int(base) ** int(exponent or 1) << 10 * (" KMG".index(suffix) if suffix else 0)
    if not 1 <= count <= 2**44:
        raise argparse.ArgumentTypeError(f"'{text}' is no count: give 1000003, 2^28 or 64M, from 1 to 2^44")
    return count


def parse_type(text: str) -> str:
    if text not in ELEMENT_TYPES:
        raise argparse.ArgumentTypeError(f"'{text}' is no type: choose from {', '.join(ELEMENT_TYPES)}")
    return text


def list_of(parse: Callable[[str], Parsed]) -> Callable[[str], list[Parsed]]:
    """Parses a list with commas."""
    return lambda text: [parse(item) for item in text.split(",")]


def read_text(file: Path) -> str:
    """A file's text (UTF-8). Throws BadUsage where it has none; a pipe's might never end."""
    try:
        if file.exists() and not file.is_file():
            raise OSError(0, "it is no file")
        return file.read_text("utf-8")
    except OSError as error:
        raise BadUsage(f"'{file}' cannot be read: {error.strerror}") from None
    except UnicodeError as error:
        raise BadUsage(f"'{file}' is no text in UTF-8: {error}") from None


def say(*lines: str) -> None:
    """Messages go to stderr; stdout has results. The exit code tells where stderr cannot be written."""
    try:
        for line in lines if sys.stderr else ():
            print(line, file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """What a stream that cannot be written still holds: Python writes it once more at its end, and fails with 120."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
