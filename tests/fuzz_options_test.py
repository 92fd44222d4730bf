"""Command lines of the steps, drawn at random: each is answered, or refused by one line on stderr, and changes nothing
but the file that --json names. options_test.cpp has what a step takes and what it refuses."""

import re
import subprocess
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("hypothesis", reason="there is no Hypothesis here (python3-hypothesis)")
from hypothesis import given, settings, strategies  # noqa: E402

# Values that an option takes, and some that are close to those. A large number of elements would take time.
VALUES = {
    "--elements": "0 1 33 4096 2^12 4K 1^99 0004 262144G 2^49 -1 281474976710657 2^4294967296 4k K 2^ ^2 1e3 0x10 1,0",
    "--type": "int32 float64 complex64 int8 INT32 int32,int64", "--block": "32 1024 0 48 2048 2^5",
    "--samples": "1 7 0 1000001 -1", "--seed": "0 18446744073709551615 18446744073709551616 -1",
    "--data": "ones cancelling zeros", "--sweep": "block type blocks block,type", "--flush": "memset none write",
    "--device": "auto emulated cuda cuda:0 cuda:2147483647 cuda:2147483648 cuda: cuda:-1",
    "--warm-up": "0 1000000 1000001", "--queue": "on off ON 1", "--lead-in": "0 256 257 4294967297",
    "--counters": "on off 0", "--schedule": "descending random random:7 random: random:-1 sideways",
    "--json": "new.json - new-µ.json -x --quiet", "--compare": "-x 1:", "--trace": "-x 1:", "--trace-block": "-x 1:",
    "--trace-beside": "-x 1:"}
FLAGS = ["--quiet", "--help", "--version"]
# What none of them knows, or takes so.
STRAY = ["--frobnicate", "--frobnicate=1", "--elem", "--n", "--no-quiet", "--quiet=maybe", "-z", "-qx", "-Z5", "--",
         "---", "--JSON", "stray", ""]
ANY_TEXT = strategies.text("aKMG0129-+.,:=^%{}$'\"\\* \t\n\r\x01\x1bµ漢٣～", max_size=9).filter(
    lambda text: len(text) < 5 or not text[-2:].isdigit())  # not many elements


@strategies.composite
def option_with_value(draw: strategies.DrawFn, name: str) -> list[str]:
    value = draw(strategies.sampled_from([*VALUES[name].split(), " ", ""]) | ANY_TEXT)
    return [name, value] if draw(strategies.booleans()) or not value else [f"{name}={value}"]


@strategies.composite
def lines(draw: strategies.DrawFn) -> list[str]:
    """Some of the options, and at times what is wrong. Without its first two, a step would run for long."""
    names = ["--elements", "--samples", *draw(strategies.lists(strategies.sampled_from(sorted(VALUES)), max_size=4))]
    pieces = [draw(option_with_value(name)) for name in names]
    others = strategies.sampled_from([*FLAGS, *STRAY, *VALUES])
    pieces += [[word] for word in draw(strategies.lists(others, max_size=1))]
    return sum(draw(strategies.permutations(pieces)), [])


@pytest.mark.parametrize("program", ["00_cpu_serial", "03_sequential", "10_single_pass"])
@settings(max_examples=50, derandomize=True, deadline=None, database=None)
@given(words=lines())
def test_a_line_is_answered_or_refused(bin_folder: Path, program: str, words: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run([bin_folder / program, *words], cwd=folder, capture_output=True, text=True, timeout=60)
        files = {file.name for file in Path(folder).iterdir()}
    if ran.returncode == 0:
        assert "error: " not in ran.stderr and ran.stdout
        assert not files or any(files == {word.removeprefix("--json=")} for word in words)
        return
    assert ran.returncode in (2, 3) and ran.stdout == "" and files == set()
    assert re.fullmatch(f"{program}: error: [^\x00-\x08\x0a-\x1f\x7f]+\n", ran.stderr)


def test_every_option_has_values(bin_folder: Path) -> None:
    said = subprocess.run([bin_folder / "03_sequential", "--help"], check=True, capture_output=True, text=True).stdout
    assert set(re.findall(r"^ {2,10}(?:-\w, *)?(--[\w-]+)", said, re.MULTILINE)) == {*VALUES, *FLAGS}
