"""Says whether a program has to take a command line: a second reading of it, to hold the programs' own against.

Nothing here looks at files: option_files_test.py does.
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Sequence

Value = Callable[[str], bool]


@dataclasses.dataclass(frozen=True)
class Option:
    names: tuple[str, ...]
    placeholder: str = ""  # none: a flag

    @property
    def name(self) -> str:
        return self.names[-1]


def read_options(help_text: str) -> tuple[Option, ...]:
    """Of CLI11, which from 2.5 on has a column for each of the names."""
    lines = re.findall(r"^ {2,10}(-[^ ,]+(?:, *-[^ ,]+)*)(?: ([^\s]+))?(?= {2}| ?$)", help_text, re.MULTILINE)
    return tuple(Option(tuple(re.split(", *", names)), placeholder) for names, placeholder in lines)


# ---- values ----

def whole_number(least: int, most: int) -> Value:
    return lambda text: bool(re.fullmatch("0*[0-9]{1,20}", text, re.ASCII)) and least <= int(text) <= most


def one_of(*names: str) -> Value:
    return lambda text: text in names


def numbered(prefix: str, most: int, *names: str) -> Value:
    """One of the names, or the prefix with a number behind it."""
    is_number = whole_number(0, most)
    return lambda text: text in names or text.startswith(prefix) and is_number(text[len(prefix):])


def is_elements(text: str) -> bool:
    power = re.fullmatch(r"([0-9]{1,20})\^([0-9]{1,20})", text, re.ASCII)
    number = re.fullmatch(r"([0-9]{1,20})([KMG]?)", text, re.ASCII)
    if power:
        base, exponent = map(int, power.groups())
        return base < 2 or exponent < 49 and base**exponent <= 2**48 or exponent == 0
    return bool(number) and int(number[1]) << 10 * " KMG".index(number[2] or " ") <= 2**48 if number else False


def is_file_name(text: str) -> bool:
    return text == "-" or text != "" and not text.startswith("-")


MOST_OF_64_BITS = 2**64 - 1
# By the option's last name; of these, each takes the values that the first one says, and the others are close to some.
VALUES: dict[str, tuple[Value, list[str]]] = {
    "--elements": (is_elements, ["0", "1", "33", "4096", "2^12", "4K", "1^99", "0004", "2^48", "262144G", "2^49", "-1",
                                 "281474976710657", "2^4294967296", "4k", "K", "2^", "^2", "1e3", "0x10", "1,000"]),
    "--type": (one_of("int32", "int64", "float32", "float64", "complex64", "complex128"),
               ["int32", "float64", "complex64", "int8", "INT32", "int32,int64"]),
    "--block": (one_of("32", "64", "128", "256", "512", "1024"), ["32", "1024", "0", "48", "2048", "2^5"]),
    "--samples": (whole_number(1, 1_000_000), ["1", "7", "0", "1000001", "-1"]),
    "--seed": (whole_number(0, MOST_OF_64_BITS), ["0", str(MOST_OF_64_BITS), str(MOST_OF_64_BITS + 1), "-1"]),
    "--data": (one_of("random", "ones", "cancelling"), ["ones", "cancelling", "zeros"]),
    "--device": (numbered("cuda:", 2**31 - 1, "auto", "cuda", "emulated"),
                 ["auto", "emulated", "cuda", "cuda:0", "cuda:2147483647", "cuda:2147483648", "cuda:", "cuda:-1"]),
    "--sweep": (one_of("block", "size", "type"), ["block", "type", "blocks", "block,type"]),
    "--flush": (one_of("read", "memset", "none"), ["memset", "none", "write"]),
    "--warm-up": (whole_number(0, 1_000_000), ["0", "1000000", "1000001"]),
    "--queue": (one_of("on", "off"), ["on", "off", "ON", "1"]),
    "--lead-in": (whole_number(0, 256), ["0", "256", "257", "4294967297"]),
    "--counters": (one_of("on", "off"), ["on", "off", "0"]),
    "--schedule": (numbered("random:", MOST_OF_64_BITS, "ascending", "descending", "random"),
                   ["descending", "random", "random:7", "random:", "random:-1", "sideways"]),
    "--json": (is_file_name, ["new.json", "-", " ", "new µ.json", "", "-x", "--quiet"]),
    # Files that would have to be there: option_files_test.py has these.
    **dict.fromkeys(("--compare", "--trace", "--trace-block", "--trace-beside"), (one_of(), ["", "-x", "1:"])),
}


# ---- lines ----

@dataclasses.dataclass(frozen=True)
class Reading:
    """What the words of a line mean; `wrong` says why they have to be refused."""

    wrong: str
    values: dict[str, str]

    @property
    def asks(self) -> bool:
        """For help, or the version."""
        return "--help" in self.values or "--version" in self.values

    @property
    def codes(self) -> set[int]:
        """What the program may end with. Whoever asks for the version is answered before values are read."""
        if self.wrong:
            return {0, 2} if "--version" in self.values else {2}
        if self.asks:
            return {0}
        # No GPU is there, and memory for some lines only.
        return {3} if self.values.get("--device", "").startswith("cuda") else {0, 3}


def read(options: Sequence[Option], words: Sequence[str]) -> Reading:
    """Reads the line of a program that takes nothing but options."""
    named = {name: option for option in options for name in option.names}
    values: dict[str, str] = {}
    counts: Counter[str] = Counter()
    wrong = ""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            break
        is_long = word.startswith("--")
        name, separator, value = word.partition("=") if is_long else (word[:2], "", word[2:])
        option = named.get(name)
        if option is None:
            wrong = wrong or f"{word} is not known"
            continue
        if not option.placeholder and value and not is_long:
            rest.insert(0, f"-{value}")  # -qn4 is -q -n4
        elif not option.placeholder and separator:
            wrong = wrong or f"{name} takes no value"
        elif option.placeholder and not value:
            if not rest:
                return Reading(wrong or f"{name} needs a value", values)
            value = rest.pop(0)
        if option.placeholder and not VALUES[option.name][0](value):
            wrong = wrong or f"{value} is no value of {name}"
        counts[option.name] += 1
        values[option.name] = value
    if any(word != "--" for word in rest):
        wrong = wrong or "there is nothing but options"
    twice = [name for name, count in counts.items() if count > 1 and name not in ("--help", "--version")]
    return Reading(wrong or "".join(twice), values)
