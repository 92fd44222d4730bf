"""What the commands share: exit codes, failures that end them, options, texts, and where the repository is."""

import argparse
import enum
import re
import sys
from pathlib import Path
from typing import Literal, NoReturn, get_args

REPOSITORY = Path(__file__).resolve().parent.parent
ElementType = Literal["int32", "int64", "float32", "float64", "complex64", "complex128", "half", "bfloat16"]
TYPES: tuple[str, ...] = get_args(ElementType)
# Those of the steps, and those that only the header and the libraries sum.
ELEMENT_TYPES, SMALL_TYPES = TYPES[:-2], TYPES[-2:]
MOST_ELEMENTS = 2**48  # the steps' bound


class ExitCode(enum.IntEnum):
    """Those of the steps."""

    DONE = 0
    WRONG = 1  # a wrong result, a stale page, a dead link
    BAD_USAGE = 2
    NOT_POSSIBLE = 3  # on this machine
    INTERRUPTED = 130


class Failure(Exception):
    """Ends the command with these words on stderr, and the exit code of its class."""

    code = ExitCode.WRONG


class BadUsage(Failure):
    code = ExitCode.BAD_USAGE


class NotPossible(Failure):
    code = ExitCode.NOT_POSSIBLE


class Paragraphs(argparse.HelpFormatter):
    """Folds each paragraph to the terminal's width, but for one that is a list."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        return "\n\n".join(part if "\n  " in part else fill(part, width, indent) for part in text.split("\n\n"))


class Parser(argparse.ArgumentParser):
    """The parser of a command. `description` is the docstring of its module."""

    def __init__(self, command: str, description: str | None, epilog: str = "") -> None:
        super().__init__(prog=f"python3 -m tools {command}".rstrip(), description=description, epilog=epilog,
                         allow_abbrev=False, formatter_class=Paragraphs)

    def error(self, message: str) -> NoReturn:
        raise BadUsage(f"{message} (--help lists what is allowed)")

    def add_bin(self) -> None:
        self.add_argument("--bin", type=Path, default=REPOSITORY / "build/bin", metavar="FOLDER",
                          help="the executables; default build/bin")

    def add_measurement(self) -> None:
        """What commands that build and measure share."""
        self.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help="where the results go")
        self.add_argument("--bin", type=Path, metavar="FOLDER", help="take executables from it, and build none")
        self.add_argument("--commit", metavar="HASH", help="what they are built from; default what git says")


def parse_count(text: str) -> int:
    """A number of elements as the steps take it: 1000003, 2^28, 64M."""
    if match := re.fullmatch(r"([0-9]{1,19})(?:\^([0-9]{1,3})|([KMG]))?", text):
        base, exponent, suffix = match.groups()
        count: int = int(base) ** int(exponent or 1) << 10 * " KMG".index(suffix or " ")
        if count <= MOST_ELEMENTS:
            return count
    raise argparse.ArgumentTypeError(f"'{text}' is no count: give 1000003, 2^28 or 64M, from 0 to 2^48")


def read_text(file: Path) -> str:
    """A file's text (UTF-8). Throws BadUsage where it has none."""
    try:
        return file.read_text("utf-8")
    except OSError as error:
        raise BadUsage(f"'{file}' cannot be read: {error.strerror}") from None
    except UnicodeError as error:
        raise BadUsage(f"'{file}' is no text in UTF-8: {error}") from None


def say(text: str) -> None:
    """Messages go to stderr; stdout has results."""
    print(text, file=sys.stderr, flush=True)
