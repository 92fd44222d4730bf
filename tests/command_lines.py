"""Draws command lines for programs whose options their --help lists, and says what each may end with."""

import dataclasses
import os
import random
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

# Exit codes that a line may end with, as digits: a word that is right leaves "0", one that has to be refused is "2".
Codes = str


@dataclasses.dataclass(frozen=True)
class Option:
    names: tuple[str, ...]
    placeholder: str = ""  # none: a flag

    @property
    def name(self) -> str:
        return self.names[-1]


@dataclasses.dataclass(frozen=True)
class Program:
    name: str  # as its messages have it
    command: tuple[str, ...]
    options: tuple[Option, ...]
    arguments: str = ""  # what it takes beside options: a key of VALUES
    first: tuple[str, ...] = ()  # options without which it would run for long
    as_steps: bool = True  # its options have the steps' values, and are read as strictly
    needs_gpu: bool = False
    last: tuple[str, ...] = ()  # what has to be refused, for a command that runs for long or writes into the repository

    @property
    def is_compiled(self) -> bool:
        return self.as_steps and not self.name.endswith(".sh")

    def has(self, name: str) -> bool:
        return any(name in option.names for option in self.options)


def read_options(help_text: str) -> tuple[Option, ...]:
    """Of CLI11, which from 2.5 on has a column for each of the names, or argparse."""
    lines = re.findall(r"^ {2,10}(-[^ ,]+(?:, *-[^ ,]+)*)(?: ([^\s]+))?(?= {2}| [a-z]| ?$)", help_text, re.MULTILINE)
    return tuple(Option(tuple(re.split(", *", names)), placeholder) for names, placeholder in lines)


@dataclasses.dataclass(frozen=True)
class Piece:
    """Words that belong together. `file` is what they allow to be written."""

    words: tuple[str, ...]
    codes: Codes = "0"
    file: str = ""


@dataclasses.dataclass(frozen=True)
class Line:
    program: Program
    pieces: tuple[Piece, ...]
    stdin: str
    stdout: str
    stderr: str

    @property
    def words(self) -> list[str]:
        return [word for piece in self.pieces for word in piece.words] + list(self.program.last)

    @property
    def files(self) -> set[str]:
        return {piece.file for piece in self.pieces if piece.file}

    @property
    def codes(self) -> set[int]:
        """What it may end with. Whoever asks for help or the version is answered, or told what is wrong."""
        # A tool may need more than options: files, or a GPU.
        every = ["023" if self.program.name.startswith("tools") else "0", *(piece.codes for piece in self.pieces)]
        if self.program.last:
            every.append("2")
        words = {name for piece in self.pieces for name in piece.words}
        if self.stdout in (">&-", ">/dev/full"):
            # Python and bash do not tell a stream that was closed from one that nobody reads.
            every.append("3" if self.program.is_compiled else "03")
        if words & {"-h", "--help", "--version"}:
            return {int(code) for code in "02" + "".join(every) if code in "023"}
        if self.program.needs_gpu:
            every.append("3")
        if "2" in every:
            return {2}
        allowed = {int(code) for codes in every for code in codes}
        return allowed - {0} if any("0" not in codes for codes in every) else allowed

    def __str__(self) -> str:
        command = [Path(word).name if Path(word).is_absolute() else word for word in self.program.command]
        return " ".join([*map(quoted, [*command, *self.words]), self.stdin, self.stdout, self.stderr]).rstrip()


def quoted(word: str) -> str:
    """For bash."""
    if len(word) > 300:
        return f"{quoted(word[:20])}…({len(word)} characters)"
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(chr(byte) if 32 <= byte < 127 and byte not in b"'\\" else f"\\x{byte:02x}"
                          for byte in os.fsencode(word)) + "'"


# ---- values ----

Values = dict[Codes, list[str]]

NOT_NUMBERS = ["", " ", "abc", "-1", "+1", "1.5", "1e3", "0x10", "nan", "inf", " 1", "1 ", "1,000", "٣", "１", "2^",
               "^2", "2^-1", "2^2^2", "1K1", "9" * 40, "9" * 5000, "18446744073709551616", "-9223372036854775809",
               "1\n2"]
# Descriptor 6 is a full device, 7 a file, 9 is closed.
AS_ROOT = "0" if os.geteuid() == 0 else "2"
INPUTS: Values = {
    "02": ["result.json", "pipe.json"],
    "2": ["", "-", "missing.json", "folder", "folder/missing.json", "notes.txt", "empty.json", "broken.json",
          "list.json", "null.json", "bytes.json", "huge_count.json", "self.json", "/dev/null", "/dev/zero",
          "/dev/full", "/dev/fd/9", "/proc/self/mem", "/proc/nonexistent", "result.json/", "x" * 5000]}
OUTPUTS: Values = {
    "0": ["new.json", "new.json", "folder/new.json", "./folder/../new.json", "result.json", "notes.txt", "link.json",
          "dangling.json", "fifo", "late_fifo", "n" * 255, "new µ – \udcff.json", "new\x01\n\t.json", " ",
          "{}.json", "%s%n.json", "/dev/null", "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/fd/7"],
    "03": ["/dev/stderr", "/dev/fd/2"],
    "3": ["/dev/full", "/dev/fd/6", "full\n.json"],
    "23": ["/dev/tty", "/proc/self/mem"],
    "023": ["/dev/stdin", "/dev/fd/0"],
    "2": ["", "folder", "folder/", ".", "..", "/", "missing/new.json", "notes.txt/new.json", "new.json/", "self.json",
          "/dev/fd/9", "/dev/fd/99999999999", "/proc/nonexistent/x", "n" * 256, "n" * 5000]}
OUTPUTS[AS_ROOT] = [*OUTPUTS[AS_ROOT], "read_only.json", "read_only/new.json"]
TRACES: Values = {
    "02": ["new.html", "trace.json", "new.json", "link.json", "fifo.html", "n" * 250 + ".json"],
    "23": ["full.html"],
    "2": ["", "-", "new", "new.txt", "new.html ", ".HTML", "folder", "missing/new.html", "folder.html", "/dev/full",
          "/dev/stdout", "self.json"]}
# By the option's last name: good ones, those that take another machine, those that are refused.
VALUES: dict[str, Values] = {
    "--elements": {"0": ["0", "1", "31", "32", "33", "1000", "4095", "4096", "2^0", "2^12", "4K", "1^99", "0004"],
                   "3": ["2^45", "2^48", "262144G", "281474976710656"],
                   "2": ["2^49", "281474976710657", "2^4294967296", "4k", "4KM", "16777216G", "K"]},
    "--type": {"0": ["int32", "int64", "float32", "float64", "complex64", "complex128"],
               "2": ["int8", "INT32", "int", "int32 ", "int32,int64"]},
    "--block": {"0": ["32", "64", "128", "256", "512", "1024"], "2": ["0", "1", "31", "33", "48", "2048", "2^5"]},
    "--samples": {"0": ["1", "2", "7"], "2": ["0", "1000001", "2^3"]},
    "--seed": {"0": ["0", "1", "18446744073709551615"], "2": ["2^3"]},
    "--data": {"0": ["random", "ones", "cancelling"], "2": ["zeros", "Random", "one"]},
    "--device": {"0": ["auto", "emulated"], "3": ["cuda"], "23": ["cuda:0", "cuda:2147483647"],
                 "2": ["gpu", "cuda:", "cuda:-1", "cuda:2147483648", "cuda:x", "Emulated"]},
    "--sweep": {"02": ["block", "size", "type"], "2": ["blocks", "n", "block,size"]},
    "--flush": {"0": ["read", "memset", "none"], "2": ["write", "on"]},
    "--warm-up": {"0": ["0", "3", "1000000"], "2": ["1000001", "4294967296"]},
    "--queue": {"0": ["on", "off"], "2": ["yes", "ON", "1"]},
    "--lead-in": {"0": ["0", "8", "256"], "2": ["257", "4294967297"]},
    "--counters": {"02": ["off"], "0": ["on"], "2": ["yes", "0"]},
    "--schedule": {"0": ["ascending", "descending", "random", "random:0", "random:18446744073709551615"],
                   "2": ["random:", "random:x", "random:-1", "random:18446744073709551616", "sideways"]},
    "--trace-block": {"02": ["0", "1:0", "3", "2:0", "18446744073709551615"], "2": ["0:0", "1:", ":1", "1:2:3", "x"]},
    "--cases": {"0": ["sum_int32", "min_int8,sum_float64", "sum_int32,sum_int32"],
                "2": ["", "sum", "SUM_INT32", "sum_int32,", "sum_int32, min_int8", "all"]},
    "--time-limit": {"0": ["1", "60", "86400"], "2": ["0", "86401"]},
    "--json": OUTPUTS,
    "--trace": TRACES,
    "--compare": INPUTS,
    "--trace-beside": {**INPUTS, "02": ["trace.json"]},
    "files": {**INPUTS, "0": ["result.json", "sweep.json"], "1": ["wrong.json"], "02": ["pipe.json"]},
    "pitfall": {"01": ["no_barrier_between_levels", "grid_from_bytes", "endless_loop"],
                "2": ["", "nonsense", "NO_BARRIER", "{}", "*"]},
    # The tools': which of two mistakes comes first is theirs to say.
    "RESULTS": {"2": ["", "missing", "folder", "notes.txt", "/dev/null", "new\n", "{}"]},
    "FOLDER": {"023": ["folder", "new", "", "notes.txt", "missing/new", "/dev/null", "{}\n"]},
    "STEP": {"23": ["03_sequential", "peer_cub"], "2": ["3_sequential", ""]},
}
FLAG_CODES = {"--weak": "0", "--scaling": "0", "--quiet": "0", "-q": "0"}
NUMBERS = {"--elements", "--block", "--samples", "--seed", "--warm-up", "--lead-in", "--time-limit"}
RANDOM_PARTS = ["a", "Z", "0", "9", ".", ",", ":", "=", "^", "%s", "%n", "{}", "{0}", "$HOME", "`", "'", '"', "\\", "*",
                " ", "\t", "\n", "\r", "\x01", "\x1b[31m", "\x7f", "µ", "漢", "🙂", "\u202e", "\u0301", "\ufeff",
                "\udcff", "~"]
STREAMS = (["</dev/null", "<&-", "<notes.txt"], [">&-", ">/dev/full", ">&5"], ["2>&-", "2>/dev/full", "2>&5"])


def random_word(chance: random.Random) -> str:
    length = chance.choice([1, 2, 3, 8, 30, 300])
    word = "".join(chance.choice(RANDOM_PARTS) for _ in range(length))
    return word * 200 if chance.random() < 0.02 else word


def value_for(chance: random.Random, key: str, hostile: bool) -> tuple[str, Codes]:
    """A value and what it may end with."""
    values = VALUES.get(key)
    if values is None:
        # An option that nobody has described: it may take anything.
        return chance.choice(["1", "2^10", "on", "new.json", "folder", *NOT_NUMBERS, random_word(chance)]), "023"
    if not hostile:
        codes = chance.choice([codes for codes in values if "0" in codes and values[codes]] or list(values))
        return chance.choice(values[codes]), codes
    if key in NUMBERS and chance.random() < 0.5:
        return chance.choice(NOT_NUMBERS), "2"
    if key not in ("--json", "--trace", "FOLDER") and chance.random() < 0.3:
        return random_word(chance) + "~", "2"  # which no value has
    codes = chance.choice([codes for codes in values if values[codes]])
    return chance.choice(values[codes]), codes


# ---- lines ----

def key_of(option: Option, program: Program) -> str:
    """Of VALUES. The options of tools have names of the steps' and take other values."""
    return option.name if program.as_steps else f"tools {option.name}"


def option_piece(chance: random.Random, program: Program, option: Option, hostile: bool) -> Piece:
    name = chance.choice(option.names)
    if not option.placeholder:
        return Piece((name,), FLAG_CODES.get(option.name, "0" if name in ("-h", "--help", "--version") else "02"))
    value, codes = value_for(chance, key_of(option, program), hostile)
    is_of_one = option.name == "--compare" or option.name.startswith("--trace")
    if program.name == "run_ladder.sh" and is_of_one:
        codes = "2"
    if program.name.startswith("13_") and value.startswith("cuda:"):
        codes = "2"
    if program.name == "12_against_cub" and option.name == "--elements" and value == "0":
        codes = "2"  # times of nothing say nothing
    if program.name.startswith("00_") and option.name.startswith("--trace"):
        codes = "2"
    file = value if option.name in ("--json", "--trace", "--out") else ""
    if name.startswith("--") and chance.random() < 0.3:
        return Piece((f"{name}={value}",), codes, file)
    if not name.startswith("--") and value and chance.random() < 0.3:
        # argparse leaves out a = between a letter and its value.
        return Piece((name + value,), codes if not value.startswith("=") else "02", file)
    return Piece((name, value), codes, file)


def trouble(chance: random.Random, program: Program) -> Piece:
    """What no line may have, or none of this program."""
    valued = [option for option in program.options if option.placeholder]
    refused = "2"
    if program.name in ("tools profile", "tools compare"):
        refused = "23"  # what they do not know is the steps'
    kind = chance.choice(["unknown", "abbreviated", "--", "argument", "empty", "flag with a value", "form"])
    if kind == "abbreviated" and valued:
        name = chance.choice(valued).name
        short = name[:chance.randrange(3, max(4, len(name)))]
        if not program.has(short) and short.startswith("--") and len(short) > 2:
            return Piece((short, "1"), refused)
    if kind == "--" and not program.last:
        return Piece(("--",), "0123")
    if kind == "argument":
        word = chance.choice(["more", "1", "README.md", "=", "{}", random_word(chance).lstrip("-") or "x"])
        return Piece((word,), refused if program.arguments in ("", "files", "pitfall") else "023")
    if kind == "empty":
        return Piece(("",), refused)
    flags = [option.name for option in program.options if not option.placeholder and option.name.startswith("--")]
    if kind == "flag with a value" and flags:
        return Piece((f"{chance.choice(flags)}={chance.choice(['1', 'off'])}",), refused)
    if kind == "form":
        return Piece((chance.choice(["-", "-=", "--=", "---", "-=1", "--=1", "--\n", "-\udcff", "-µ", "--{}", "--%s%n",
                                     "-?", "--json-", "--JSON", "-1", "-0"]),),
                     refused if program.as_steps or not program.arguments else "023")
    return Piece((chance.choice(["--frobnicate", "--frobnicate=1", "--no-quiet", "-z", "-Z5", "---json", "--n", "--h",
                                 "-" + "x" * 5000, "--" + random_word(chance) + "!"]),), refused)


def draw(chance: random.Random, program: Program) -> Line:
    hostile = chance.random() < 0.6
    required = [option for option in program.options if set(option.names) & set(program.first)]
    others = [option for option in program.options if option not in required]
    if chance.random() > 0.03:
        others = [option for option in others if not {"--help", "--version"} & set(option.names)]
    # A page takes longer to write than all else to run.
    if chance.random() < 0.7:
        others = [option for option in others if option.name != "--trace"]
    chosen = required + chance.sample(others, min(len(others), chance.choice([0, 1, 1, 2, 2, 3, 5])))
    bad = chance.choice(chosen) if hostile and chosen and chance.random() < 0.6 else None
    pieces = [option_piece(chance, program, option, option is bad) for option in chosen]
    if program.arguments and chance.random() < 0.9:
        for _ in range(chance.choice([1, 1, 1, 2, 5]) if program.arguments in ("files", "RESULTS") else 1):
            value, codes = value_for(chance, program.arguments, hostile and chance.random() < 0.5)
            # What begins so is an option.
            pieces.append(Piece((value,), codes if not value.startswith("-") else "023"))
    elif program.arguments in ("files", "pitfall"):
        pieces.append(Piece((), "2" if program.arguments == "files" else "02"))
    if hostile and (bad is None or chance.random() < 0.2):
        pieces.append(trouble(chance, program))
    if hostile and chosen and chance.random() < 0.1:
        # What is there twice: the first, the last?
        again = option_piece(chance, program, chance.choice(chosen), False)
        pieces.append(dataclasses.replace(again, codes="2" if program.as_steps else "0123"))
    chance.shuffle(pieces)
    valued = [option for option in program.options if option.placeholder]
    if hostile and valued and chance.random() < 0.1:
        # Its value is missing, at the end or before another option.
        name = chance.choice(chance.choice(valued).names)
        first = "".join(word for piece in pieces[:1] for word in piece.words[:1])
        is_option = program.as_steps and re.match("-[^0-9]", first, re.DOTALL)
        place = 0 if is_option and chance.random() < 0.5 else len(pieces)
        pieces.insert(place, Piece((name,), "2" if program.as_steps else "0123"))
    return Line(program, settled(program, pieces), *(chance.choice(streams) if chance.random() < 0.2 else ""
                                                     for streams in STREAMS))


def settled(program: Program, pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """What words allow beside others: a word that is right by itself may not be."""
    words = [word.split("=")[0] for piece in pieces for word in piece.words]
    if "--" in words:
        # What is behind it is an argument.
        return tuple(dataclasses.replace(piece, codes=piece.codes if piece.words == ("--",) else "0123")
                     for piece in pieces)
    traced = any(word.startswith("--trace") for word in words)
    if not traced and "--sweep" not in words and "--list" not in words:
        return tuple(pieces)
    return tuple(dataclasses.replace(piece, codes="".join(sorted({*piece.codes, "2"})))
                 if set(piece.codes) <= set("01") else piece for piece in pieces)
