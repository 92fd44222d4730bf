"""docs/teaching.md: its numbers are what the programs count, and each answer leads to the page that shows it."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tools.command_line import REPOSITORY, ExitCode
from tools.programs import Programs
from tools.results import Counters, Result

PAGE = (REPOSITORY / "docs/teaching.md").read_text("utf-8")
# Question 1 is the text between the first two headings, and so on.
QUESTIONS = re.split(r"(?m)^### Question \d+: .*$", PAGE)[1:]
WARPS = 8  # of a block of 256

Run = Callable[[str], Result]


@pytest.fixture
def run(bin_folder: Path) -> Run:
    """What a command of the page, without its `build/bin/`, finds."""

    def result_of(command: str) -> Result:
        program, *options = command.split()
        return Programs(bin_folder).result(program, *options, accepted=(ExitCode.DONE, ExitCode.WRONG))

    return result_of


def blocks(result: Result) -> list[int]:
    return [one.blocks for one in result.passes]


def counters(result: Result) -> Counters:
    assert result.counters and result.verified
    return result.counters


def shared(result: Result, what: str) -> int:
    """Loads and stores together."""
    both = (getattr(counters(result), f"shared_{kind}_{what}") for kind in ("load", "store"))
    return sum(both)


def per_block(result: Result, count: int) -> float:
    return count / counters(result).blocks


def requests(result: Result) -> float:
    return per_block(result, shared(result, "requests"))


def wavefronts(result: Result) -> float:
    return per_block(result, shared(result, "wavefronts"))


def conflicts(result: Result) -> float:
    return per_block(result, shared(result, "conflicts"))


def barriers(result: Result) -> float:
    return per_block(result, counters(result).block_barriers)


def warp_barriers(result: Result) -> float:
    return per_block(result, counters(result).warp_barriers)


def sectors(result: Result) -> float:
    """Per request of the input."""
    first = result.passes[0].counters
    assert first
    return first.global_load_sectors / first.global_load_requests


def mean_lanes(result: Result) -> float:
    return round(shared(result, "lanes") / shared(result, "requests"), 2)


def loads_of_input(result: Result) -> int:
    return counters(result).global_load_requests


# The bold numbers of an answer, from the results of its commands.
NUMBERS: dict[int, Callable[..., Sequence[object]]] = {
    2: lambda sums: [sums.result, sums.other_variants[0].result],
    3: blocks,
    4: lambda first: [per_block(first, counters(first).shared_store_requests) - WARPS],
    7: lambda first: [requests(first), mean_lanes(first)],
    8: lambda second: [requests(second), wavefronts(second), conflicts(second)],
    9: lambda second: [conflicts(second)],
    10: lambda third: [wavefronts(third), conflicts(third)],
    11: lambda third: [requests(third), wavefronts(third), conflicts(third)],
    12: lambda ints, doubles: [sectors(ints), sectors(doubles)],
    13: lambda fourth: [*blocks(fourth), barriers(fourth)],
    14: lambda fifth, small: [barriers(fifth), barriers(small), warp_barriers(fifth)],
    17: lambda fifth, sixth: [requests(fifth), requests(sixth)],
    18: lambda seventh: [*blocks(seventh), round(seventh.elements / (blocks(seventh)[0] * 256), 1)],
    19: lambda sixth, seventh: [shared(sixth, "requests"), shared(seventh, "requests")],
    20: lambda eighth: [requests(eighth), barriers(eighth), per_block(eighth, counters(eighth).shuffles)],
    21: lambda ninth, eighth: [sectors(ninth), loads_of_input(ninth), loads_of_input(eighth)],
}


@pytest.mark.parametrize("number", range(1, len(QUESTIONS) + 1))
def test_answer(number: int, run: Run) -> None:
    """An answer is folded, links to the page that shows it, and its numbers are those of its commands."""
    question, answer = QUESTIONS[number - 1].split("<details>\n")
    assert question.strip().endswith("?") and answer.rstrip().endswith("</details>")
    assert "](" in answer
    said = [float(bold) for bold in re.findall(r"\*\*(.+?)\*\*", answer)]
    results = [run(command) for command in re.findall(r"`build/bin/(.+?)`", answer)]
    assert bool(said) == bool(results) == (number in NUMBERS)
    if number in NUMBERS:
        assert said == NUMBERS[number](*results)


def test_arithmetic() -> None:
    """A count that is worked out by hand is right."""
    sums = re.findall(r"(\d+(?: [+×] \d+)+) = (\d+)", PAGE)
    assert len(sums) >= 4
    for terms, result in sums:
        assert eval(terms.replace("×", "*")) == int(result)


@pytest.mark.parametrize("row", re.findall(r"(?m)^\| (\d\d_\w+ \|.*) \|$", PAGE))
def test_table_of_counters(row: str, run: Run) -> None:
    step, passes, *counts = row.split(" | ")
    result = run(f"{step} --device emulated -n 2^20 -b 256")
    assert passes == " → ".join(map(str, blocks(result)))
    assert list(map(float, counts)) == [count(result) for count in (requests, wavefronts, barriers, warp_barriers)]


def test_plans() -> None:
    """The minutes of a lesson have no gap and sum up, and its questions are those of the quiz."""
    lessons = re.findall(r"(?ms)^## Lesson \d: .*?(?=^## )", PAGE)
    times = re.findall(r"(?m)^\| \[\d\. .*?\) \| (.+?) \|", PAGE)
    for lesson, time in zip(lessons, times, strict=True):
        length = 240 if time == "half a day" else int(time.removesuffix(" minutes"))
        minutes = [tuple(map(int, match)) for match in re.findall(r"(?m)^\| (\d+)–(\d+) \|", lesson)]
        assert minutes[0][0] == 0 and minutes[-1][1] == length
        assert [end for _, end in minutes[:-1]] == [begin for begin, _ in minutes[1:]]
    asked = {int(number) for number in re.findall(r"\(#question-(\d+)-", "".join(lessons))}
    assert asked == set(range(1, len(QUESTIONS) + 1))
