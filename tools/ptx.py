"""The table of the PTX that the emulated device has, from common/emulated/language/ptx_table.hpp."""

import re
from typing import NamedTuple

from tools.command_line import read_text
from tools.markdown import table
from tools.unsupported import DEVICE


class Row(NamedTuple):
    name: str
    suffixes: str
    meaning: str


def table_rows() -> list[Row]:
    """Of constants for several rows' types, the text."""
    text = read_text(DEVICE / "language/ptx_table.hpp")
    constants = dict(re.findall(r'constexpr std::string_view (of_\w+) = "([^"]+)";', text))
    found = []
    for name, words, meaning in re.findall(r'\{"([\w.]+)", ([^{}]*?), \w+\},  // (.+)', text):
        types, suffixes = re.findall(r'"[^,]*"|of_\w+', re.sub(r'"\s*\n\s*"', "", words))
        both = f"{constants.get(types, types)} {suffixes}".replace('"', "").strip()
        found.append(Row(name, both, meaning.replace("|", "\\|")))
    return found


def rows() -> str:
    return table(("instruction", "with", "is"), [
        (f"`{name}`", f"`{suffixes}`" if suffixes else None, meaning)
        for name, suffixes, meaning in table_rows()], "lll")
