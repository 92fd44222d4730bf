"""The table of what of CUDA the emulated device refuses by name, from the list and from the code that refuses it."""

import re
from dataclasses import dataclass

from tools.command_line import REPOSITORY
from tools.markdown import table

DEVICE = REPOSITORY / "common/emulated"
LIST = DEVICE / "language/unsupported.txt"
# What no function or header is: where the code says so, in the same form.
CODE = [*sorted((DEVICE / "language").glob("**/*.hpp")), DEVICE / "language/include/cooperative_groups.h",
        DEVICE / "language/include/cuda/atomic", *sorted((DEVICE / "rewrite").glob("*.cpp"))]
WHERE = " on the emulated device: "


@dataclass(frozen=True)
class Refusal:
    """Why some names are refused, and what to do instead."""

    reason: str
    instead: str
    names: list[str]

    def text(self, name: str) -> str:
        """What a compiler says of the name."""
        return f"{shown(name)}: {self.reason}{WHERE}{self.instead}"


def shown(name: str) -> str:
    """A header has its name in brackets."""
    return f"<{name}>" if is_header(name) else name


def is_header(name: str) -> bool:
    return re.search(r"^[^(<]*[./]", name) is not None


def of_list() -> list[Refusal]:
    """The functions and headers."""
    refusals: list[Refusal] = []
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            refusals[-1].names.extend(line.split())
        elif not line.startswith("#"):
            reason, _, instead = line.partition(": ")
            refusals.append(Refusal(reason, instead, []))
    return refusals


def of_code() -> list[Refusal]:
    """All others: a string of the code in this form."""
    names: dict[tuple[str, str], list[str]] = {}
    for file in CODE:
        joined = re.sub(r'"\s*\n\s*"', "", file.read_text(encoding="utf-8").replace('\\"', '"'))
        for name, reason, instead in re.findall(rf'"([^"]+?): ((?:[^":]|::)+){WHERE}([^"]+)"', joined):
            names.setdefault((reason, instead), []).append(name)
    return [Refusal(*why, refused) for why, refused in names.items()]


def rows() -> str:
    """What the emulated device's page shows: the list itself is easy to read."""
    lines = [(", ".join(f"`{name}`" for name in of.names), of.reason, of.instead) for of in of_code()]
    return table(("is refused", "because on the emulated device", "instead"), "lll", lines)
