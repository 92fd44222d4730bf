"""The table of what of CUDA the code of the emulated device refuses by name, but for functions and headers, which
common/emulated/language/unsupported.txt lists."""

import re

from tools.command_line import REPOSITORY, read_text
from tools.markdown import table

DEVICE = REPOSITORY / "common/emulated"
CODE = [*sorted((DEVICE / "language").glob("**/*.hpp")), DEVICE / "language/include/cooperative_groups.h",
        DEVICE / "language/include/cuda/atomic", *sorted((DEVICE / "rewrite").glob("*.cpp"))]
WHERE = " on the emulated device: "


def of_code() -> dict[tuple[str, str], list[str]]:
    """What a string of the code refuses: the names by the reason and by what to do instead."""
    names: dict[tuple[str, str], list[str]] = {}
    for file in CODE:
        joined = re.sub(r'"\s*\n\s*"', "", read_text(file).replace('\\"', '"'))
        for name, reason, instead in re.findall(rf'"([^"]+?): ((?:[^":]|::)+){WHERE}([^"]+)"', joined):
            names.setdefault((reason, instead), []).append(name)
    return names


def rows() -> str:
    """What the emulated device's page shows: the list itself is easy to read."""
    return table(("is refused", "because on the emulated device", "instead"), [
        (", ".join(f"`{name}`" for name in names), *why) for why, names in of_code().items()], "lll")
