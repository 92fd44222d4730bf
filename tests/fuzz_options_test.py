"""Command lines of the steps, drawn at random: each is read as command_lines.py reads it.

A line that is wrong is refused by one line on stderr and exit code 2, also beside --help, and changes nothing.
"""

import functools
import re
import subprocess
import tempfile
from pathlib import Path

import pytest

from command_lines import VALUES, Option, read, read_options

pytest.importorskip("hypothesis", reason="there is no Hypothesis here (python3-hypothesis)")
from hypothesis import given, note, settings, strategies  # noqa: E402

PROGRAMS = ["00_cpu_serial", "03_sequential", "07_cascade", "10_single_pass"]
# What none of them knows, or takes so.
STRAY = ["--frobnicate", "--frobnicate=1", "--elem", "--n", "--no-quiet", "--quiet=maybe", "-z", "-qx", "-Z5", "--",
         "---", "--JSON", "stray", ""]
CHARACTERS = strategies.sampled_from("aKMG0129-+.,:=^%{}$'\"\\* \t\n\r\x01\x1bµ漢٣～")
ANY_TEXT = strategies.lists(CHARACTERS, max_size=9).map("".join)
NEEDED = re.compile("--help lists|choose one of|give |need|takes? ")  # some of it is in every refusal


@strategies.composite
def words_of(draw: strategies.DrawFn, option: Option) -> list[str]:
    """An option as a user may write it, with a value that may be wrong."""
    name = draw(strategies.sampled_from(option.names))
    if not option.placeholder:
        return [name]
    # A number of five digits may be more elements than there is time for.
    text = ANY_TEXT.filter(lambda text: len(text) < 5 or not text[-2:].isdigit())
    value = draw(strategies.sampled_from(VALUES[option.name][1]) | text)
    if draw(strategies.booleans()) or not value:
        return [name, value]
    return [f"{name}={value}" if name.startswith("--") else name + value]


@strategies.composite
def lines(draw: strategies.DrawFn, options: tuple[Option, ...]) -> list[str]:
    """Some of the options once, and at times what is wrong. Without its first two, a step would run for long."""
    first = [option for option in options if option.name in ("--elements", "--samples")]
    others = strategies.sampled_from([option for option in options if option not in first])
    chosen = first + draw(strategies.lists(others, max_size=4, unique=True))
    pieces = [draw(words_of(option)) for option in chosen]
    if draw(strategies.booleans()):
        pieces.append(draw(strategies.sampled_from(STRAY).map(lambda word: [word]) |
                           strategies.sampled_from(options).flatmap(words_of) |
                           strategies.sampled_from(options).map(lambda option: [option.name])))
    return sum(draw(strategies.permutations(pieces)), [])


@functools.cache
def options_of(program: Path) -> tuple[Option, ...]:
    return read_options(subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_option_has_values(bin_folder: Path, program: str) -> None:
    """Else the lines would hold none."""
    names = {option.name for option in options_of(bin_folder / program) if option.placeholder}
    assert names == set(VALUES)


@pytest.mark.parametrize("program", PROGRAMS)
@settings(max_examples=50, derandomize=True, deadline=None, database=None)
@given(data=strategies.data())
def test_a_line_is_read_as_it_is_written(bin_folder: Path, program: str, data: strategies.DataObject) -> None:
    options = options_of(bin_folder / program)
    words = data.draw(lines(options))
    reading = read(options, words)
    note(str(reading))
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run([bin_folder / program, *words], cwd=folder, capture_output=True, text=True, timeout=60)
        files = {file.name for file in Path(folder).iterdir()}
    assert ran.returncode in reading.codes, ran.stderr
    if ran.returncode == 0:
        assert "error: " not in ran.stderr
        assert files <= {reading.values.get("--json")} and not (files and reading.asks)
        return
    assert re.fullmatch(f"{program}: error: [^\x00-\x08\x0a-\x1f\x7f]+\n", ran.stderr)
    assert bool(NEEDED.search(ran.stderr)) or ran.returncode == 3
    assert ran.stdout == "" and files == set()
