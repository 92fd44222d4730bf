"""The command line that all commands share: exit codes, one line for bad input, and files that are written."""

import os
import subprocess
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tools import output_file
from tools.command_line import REPOSITORY, BadUsage, parse_count

Tools = Callable[..., CompletedProcess[str]]


@pytest.mark.parametrize("words, said", [
    ((), "the following arguments are required: COMMAND"),
    (("plot", "/nowhere"), "'/nowhere/measured.json' cannot be read: No such file"),
    (("measure", "--largest", "many"), "'many' is no count: give 1000003, 2^28 or 64M"),
    (("measure", "--larg", "3"), "unrecognized arguments: --larg"),
    (("check-pages", "--bin", "/nowhere"), "there is no ladder_table in '/nowhere'"),
    (("compare", "-n", "8,2^49"), "'2^49' is no count"),
    (("site", "/etc/passwd"), "'/etc/passwd' is no folder")])
def test_bad_usage_is_one_line(tools: Tools, words: tuple[str, ...], said: str) -> None:
    ran = tools(*words)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1) and said in ran.stderr, ran.stderr


@pytest.mark.parametrize("text, count", [
    ("0", 0), ("1000003", 1000003), ("007", 7), ("2^28", 2**28), ("64M", 2**26), ("2^48", 2**48), ("2^49", None),
    ("3^30", 3**30), ("1^99", 1), ("262145G", None), ("1KM", None), ("-1", None), ("٣", None), ("9" * 5000, None)])
def test_counts_are_those_of_the_steps(bin_folder: Path, text: str, count: int | None) -> None:
    """Where the step's parser takes the count, the number of samples is what it refuses."""
    ran = subprocess.run([bin_folder / "07_cascade", "--device", "emulated", "-q", "-n", text, "-s", "1000001"],
                         capture_output=True, text=True)
    try:
        assert parse_count(text) == count and "--samples '1000001': give a whole number from 1" in ran.stderr
    except ArgumentTypeError:
        assert count is None and "--elements" in ran.stderr


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    output_file.write(tmp_path / "file", "µ")
    assert (tmp_path / "file").read_text("utf-8") == "µ"
    write = "from pathlib import Path; from tools import output_file; output_file.write(Path('file'), 'n' * 9999)"
    full = subprocess.run(["sh", "-c", f'cd "$0" && ulimit -f 1 && "{sys.executable}" -c "{write}"', tmp_path],
                          env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, capture_output=True, text=True)
    assert "NotPossible: 'file' cannot be written: File too large\n" in full.stderr
    assert [(file.name, file.read_text("utf-8")) for file in tmp_path.iterdir()] == [("file", "µ")]


def test_a_folder_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(BadUsage, match="is no folder that can be written: No such file"):
        output_file.make_folder(Path("/proc/x"))
