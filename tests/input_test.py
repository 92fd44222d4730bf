"""The generator as common/README.md has it, in Python: it and its table give what the programs expect."""

import json
import math
import re
import struct
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from conftest import REPOSITORY
from tools.command_line import ELEMENT_TYPES

INPUT = (REPOSITORY / "common/README.md").read_text().split("\n## Input\n")[1].split("\n## ")[0]
ROWS = re.findall(r"(?m)^\| (\w+\d) \| (.*) \|$", INPUT)
# The columns of the table: data, seed and number of elements. For the last one Python takes long.
COLUMNS = [("random", 1, 1), ("random", 2**64 - 1, 1), ("random", 1, 1000003), ("cancelling", 1, 1000003)]
Sum = int | float | list[float]


def sum_in_python(kind: str, data: str, seed: int, n: int) -> Sum:
    """By the page's own function. As the page says: modulo 2^32 or 2^64 and signed, or exact and rounded once."""
    [code] = re.findall(r"```python\n(.*?)```", INPUT, re.DOTALL)
    names: dict[str, Callable[..., float]] = {}
    exec(code, names)
    element = names["element"]
    if kind.startswith("int"):
        modulus = 1 << int(kind.removeprefix("int"))
        total = int(sum(element(kind, data, seed, n, i) for i in range(n))) % modulus
        return total - modulus if 2 * total >= modulus else total
    form = "f" if kind in ("float32", "complex64") else "d"
    parts = [struct.unpack(form, struct.pack(form, math.fsum(element(kind, data, seed, n, i, part) for i in range(n))))
             for part in range(2 if kind.startswith("complex") else 1)]
    return [part for part, in parts] if len(parts) == 2 else float(parts[0][0])


def test_the_pages_have_each_type() -> None:
    assert [kind for kind, _ in ROWS] == list(ELEMENT_TYPES)
    for page in ("docs/options.md", "common/explorer/README.md"):
        text = (REPOSITORY / page).read_text()
        assert not [kind for kind in ELEMENT_TYPES if f"`{kind}`" not in text], page


@pytest.mark.parametrize("kind, cells", ROWS)
def test_page_and_programs_have_the_same_input(bin_folder: Path, kind: str, cells: str) -> None:
    def expected(data: str, seed: int, n: int) -> Sum:
        words = f"-q -s 1 --json - -t {kind} --data {data} --seed {seed} -n {n}".split()
        ran = subprocess.run([bin_folder / "00_cpu_serial", *words], capture_output=True, text=True, timeout=60)
        value = json.loads(ran.stdout)["expected"]
        return int(value) if isinstance(value, str) else value

    table = [json.loads(cell) for cell in cells.split(" | ")]
    assert table == [expected(*column) for column in COLUMNS]
    assert table[:3] == [sum_in_python(kind, *column) for column in COLUMNS[:3]]
    for column in product(("random", "ones", "cancelling"), (0, 7, 2**64 - 1), (0, 1, 2, 1001)):
        assert sum_in_python(kind, *column) == expected(*column), column
