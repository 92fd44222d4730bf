"""The generator as common/README.md has it, in Python: it and its table give what the programs expect."""

import json
import math
import re
import struct
import subprocess
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

from conftest import REPOSITORY

INPUT = (REPOSITORY / "common/README.md").read_text().split("\n## Input\n")[1].split("\n## ")[0]
TYPES = ("int32", "int64", "float32", "float64", "complex64", "complex128")
# The columns of the table: data, seed and number of elements.
COLUMNS = (("random", 1, 1), ("random", 2**64 - 1, 1), ("random", 1, 1000003), ("cancelling", 1, 1000003))
Sum = int | float | list[float]


@pytest.fixture(scope="module")
def element() -> Callable[..., float]:
    """The page's own function."""
    code = re.findall(r"```python\n(.*?)```", INPUT, re.DOTALL)
    assert len(code) == 1
    names: dict[str, Callable[..., float]] = {}
    exec(code[0], names)
    return names["element"]


def sum_in_python(element: Callable[..., float], kind: str, data: str, seed: int, n: int) -> Sum:
    """As the page says: modulo 2^32 or 2^64 and signed, or exact and rounded once."""
    if kind.startswith("int"):
        modulus = 1 << int(kind.removeprefix("int"))
        total = int(sum(element(kind, data, seed, n, i) for i in range(n))) % modulus
        return total - modulus if 2 * total >= modulus else total
    code = "f" if kind in ("float32", "complex64") else "d"
    exact = [math.fsum(element(kind, data, seed, n, i, part) for i in range(n))
             for part in range(2 if kind.startswith("complex") else 1)]
    parts: list[float] = [struct.unpack(code, struct.pack(code, part))[0] for part in exact]
    return parts if len(parts) == 2 else parts[0]


@pytest.fixture(scope="module")
def expected(bin_folder: Path) -> Callable[..., Sum]:
    """What a program expects of that input."""

    def run(kind: str, data: str, seed: int, n: int) -> Sum:
        words = f"-q -s 1 --json - -t {kind} --data {data} --seed {seed} -n {n}".split()
        ran = subprocess.run([bin_folder / "00_cpu_serial", *words], capture_output=True, text=True, timeout=60)
        value = json.loads(ran.stdout)["expected"]
        return int(value) if isinstance(value, str) else value

    return run


def rows() -> Iterator[tuple[str, list[Sum]]]:
    for kind, cells in re.findall(r"(?m)^\| (\w+\d) \| (.*) \|$", INPUT):
        yield kind, [json.loads(cell) for cell in cells.split(" | ")]


def test_the_table_is_what_the_programs_expect(expected: Callable[..., Sum]) -> None:
    table = dict(rows())
    assert tuple(table) == TYPES
    for kind, sums in table.items():
        assert sums == [expected(kind, *column) for column in COLUMNS], kind


@pytest.mark.parametrize("kind", TYPES)
def test_the_code_gives_the_table(element: Callable[..., float], kind: str) -> None:
    """But for its last column, for which Python takes long: the next test has shorter inputs."""
    assert dict(rows())[kind][:3] == [sum_in_python(element, kind, *column) for column in COLUMNS[:3]]


@pytest.mark.parametrize("kind", TYPES)
def test_the_code_gives_what_the_programs_expect(element: Callable[..., float], expected: Callable[..., Sum],
                                                 kind: str) -> None:
    for data, seed, n in product(("random", "ones", "cancelling"), (0, 7, 2**64 - 1), (0, 1, 2, 1001)):
        assert sum_in_python(element, kind, data, seed, n) == expected(kind, data, seed, n), (data, seed, n)
