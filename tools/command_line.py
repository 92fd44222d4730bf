"""What the commands share: exit codes, failures that end them, options, texts, and where the repository is."""

import argparse
import enum
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NoReturn, TextIO, TypeVar, get_args

REPOSITORY = Path(__file__).resolve().parent.parent
ElementType = Literal["int32", "int64", "float32", "float64", "complex64", "complex128"]
ELEMENT_TYPES: tuple[str, ...] = get_args(ElementType)

# The steps' bounds.
MOST_ELEMENTS = 2**48
MOST_SAMPLES = 1_000_000

Parsed = TypeVar("Parsed")


class ExitCode(enum.IntEnum):
    """Those of the steps."""

    DONE = 0
    WRONG = 1  # a wrong result, a stale page, a dead link
    BAD_USAGE = 2
    NOT_POSSIBLE = 3  # on this machine
    INTERRUPTED = 130


class Failure(Exception):
    """Ends the command with these lines on stderr, and the exit code of its class."""

    code = ExitCode.WRONG

    def __str__(self) -> str:
        return "\n".join(one_line(str(line)) for line in self.args)


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

        self.register("action", None, StoreOnce)
        self.takes_files = False

    def error(self, message: str) -> NoReturn:
        raise BadUsage(f"{message} (--help lists what is allowed)")

    def add_file(self, name: str, **settings: Any) -> None:
        """Adds an argument without a flag."""
        self.takes_files = True
        self.add_argument(name, **settings)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        for word in args:
            if word == "--" and not self.takes_files:
                self.error("'--': there is nothing but options here")
            if not word or re.fullmatch("--[a-z-]+=", word):
                self.error(f"'{word}' has no value")
        return super().parse_known_args(args, namespace)

    def add_bin(self) -> None:
        self.add_argument("--bin", type=Path, default=REPOSITORY / "build/bin", metavar="FOLDER",
                          help="the executables; default build/bin")


class StoreOnce(argparse.Action):
    """Stores an option's value. A second one would not be heard of."""

    is_stored = False

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
                 option_string: str | None = None) -> None:
        if self.is_stored and option_string:
            parser.error(f"{option_string} is there 2 times; give it once")
        self.is_stored = True
        setattr(namespace, self.dest, values)


def parse_count(text: str) -> int:
    """A number of elements as the steps take it: 1000003, 2^28, 64M."""
    match = re.fullmatch(r"([0-9]{1,19})(?:\^([0-9]{1,9})|([KMG]))?", text)
    count = MOST_ELEMENTS + 1
    if match:
        base, exponent, suffix = match.groups()
        count = int(base) ** min(int(exponent or 1), 64) << 10 * (" KMG".index(suffix) if suffix else 0)
    if count > MOST_ELEMENTS:
        raise argparse.ArgumentTypeError(f"'{text}' is no count: give 1000003, 2^28 or 64M, from 0 to 2^48")
    return count


def parse_samples(text: str) -> int:
    if not re.fullmatch("[0-9]{1,19}", text) or not 1 <= int(text) <= MOST_SAMPLES:
        raise argparse.ArgumentTypeError(f"'{text}': give a whole number from 1 to {MOST_SAMPLES}")
    return int(text)


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


def one_line(text: str) -> str:
    """The text without line breaks, whatever the name of a file has in it."""
    return re.sub(r"[\x00-\x08\n-\x1f\x7f]", lambda match: repr(match[0])[1:-1], text)


def say(*lines: str) -> None:
    """Messages go to stderr; stdout has results. The exit code tells where stderr cannot be written."""
    try:
        for line in lines if sys.stderr else ():
            print(one_line(line), file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """What a stream that cannot be written still holds: Python writes it once more at its end, and fails with 120."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
