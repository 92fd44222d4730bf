"""The list of mutants fits the sources, and names tests that there are; mutants.py tries them."""

import re
from pathlib import Path

import pytest

from conftest import REPOSITORY
from mutants import MUTANTS, Mutant, is_pytest


def test_none_is_there_twice() -> None:
    assert len({(mutant.file, mutant.before, mutant.after) for mutant in MUTANTS}) == len(MUTANTS) >= 60


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{Path(mutant.file).name}: {mutant.before[:30]}")
def test_a_mutant_applies(mutant: Mutant) -> None:
    text = (REPOSITORY / mutant.file).read_text("utf-8")
    assert text.count(mutant.before) == 1 and mutant.before != mutant.after
    if is_pytest(mutant.test):
        file, function = mutant.test.partition("[")[0].split("::")  # of several programs, one
        assert f"\ndef {function}(" in (REPOSITORY / "tests" / file).read_text("utf-8")
    else:
        target, tests = mutant.test.split()
        file = re.sub(r"^step_matrix_\w+", "step_matrix_test", target)  # compiled once for each step
        file = re.sub(r"^header_", "", file)  # of reduce_header
        source = next((REPOSITORY / "tests").rglob(f"{file}.c[pu]*")).read_text("utf-8")
        names = map(".".join, re.findall(r"^(?:TYPED_)?TEST(?:_F)?\((\w+), (\w+)\)", source, re.MULTILINE))
        pattern = tests.replace(".", r"\.").replace("*", ".*")
        assert any(re.fullmatch(pattern, name) for name in names), tests
