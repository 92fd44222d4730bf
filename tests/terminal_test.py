"""What the steps and the table of all of them print on a terminal: no line is wider. counter_report_test.cpp has
columns that line up."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from tools import programs
from tools.command_line import REPOSITORY

STEPS = ["00_cpu_serial", *(step for step in programs.steps_of("ladder", "beyond") if step in programs.EMULATED)]
OTHERS = [step for step in programs.EMULATED if step not in STEPS]  # that the ladder does not climb
MEASURED = f"ladder_table {REPOSITORY}/docs/results/nvidia_h200/ladder.json"
COMPARED = "03_sequential --compare 02_nondivergent.json"


def on_terminal(command: str, folder: Path, columns: int = 80, **variables: str) -> tuple[str, int]:
    """What it shows, and the exit code of the command, which a shell runs in the folder."""
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(["sh", "-c", command], cwd=folder, stdin=end, stdout=end, stderr=end,
                               start_new_session=True, env=environment | {"TERM": "xterm-256color"} | variables)
    os.close(end)
    shown = b""
    ends = 0
    # Linux answers EIO once nobody has the terminal any more. It looks for text first, then for the end: what is
    # written between the two looks, just before the end, is only there when it is asked again.
    while ends < 2:
        try:
            shown += os.read(terminal, 1 << 16)
        except OSError:
            ends += 1
    os.close(terminal)
    return shown.decode().replace("\r\n", "\n"), process.wait()


def plain(text: str) -> str:
    """Without its style, and without lines that were erased."""
    text = re.sub(r"\r\x1b\[K[^\r\n]*(?=\r\x1b\[K)|\r\x1b\[K", "", text)
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def fits(shown: str, columns: int) -> bool:
    """Whether a table is there; fails for a line that is too wide, and for Markdown."""
    text = plain(shown)
    assert "|:--" not in text and max(map(len, text.split("\n"))) <= columns, text
    return "\n─" in text


@pytest.fixture(scope="module")
def folder(bin_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the programs, and the result of each step."""
    made = tmp_path_factory.mktemp("results")
    (made / "bin").symlink_to(bin_folder)
    for step in STEPS:
        options = [] if step == "00_cpu_serial" else ["--device", "emulated"]
        subprocess.run([bin_folder / step, *options, "-n", "2^14", "-s", "2", "--json", made / f"{step}.json"],
                       check=True, stdout=subprocess.DEVNULL)
    return made


def run(folder: Path, command: str, columns: int = 80, **variables: str) -> tuple[str, int]:
    """A program of the repository; a step emulated, and with few elements."""
    usual = "" if command.startswith("ladder_table") else f"--device emulated {'' if ' -n' in command else '-n 2^14'}"
    program, *words = command.split(maxsplit=1)
    return on_terminal(f"bin/{program} {usual} {''.join(words)}", folder, columns, **variables)


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("command, has_table", [
    ("00_cpu_serial -s 3", False), *((f"{step} -s 2", True) for step in [*STEPS[1:], *OTHERS]),
    *((f"{after} --compare {before}.json", after != "06_templated")  # which counts what 05 does
      for before, after in zip(STEPS[1:-2], STEPS[2:-1])),
    *((f"{step} --quiet -s 2", True) for step in ("00_cpu_serial", "07_cascade")),
    *((f"{step} -s 2 --sweep {axis}", True)
      for step in ("00_cpu_serial", "03_sequential") for axis in ("block", "size", "type")),
    ("03_sequential -n 1000003 -t complex128", True), (MEASURED, True),
    (f"ladder_table {' '.join(f'{step}.json' for step in STEPS)}", True)])
def test_no_line_is_wider_than_the_terminal(folder: Path, command: str, has_table: bool, columns: int) -> None:
    shown, status = run(folder, command, columns)
    assert status == 0 and fits(shown, columns) == has_table, shown


@pytest.mark.parametrize("command", [COMPARED, MEASURED])
def test_no_escape_sequence_without_colour(folder: Path, command: str) -> None:
    bold, _ = run(folder, command)
    assert "\x1b[1m" in bold and bold == run(folder, command, NO_COLOR="")[0]
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
        assert run(folder, command, 80, **variables) == (plain(bold), 0)


@pytest.mark.parametrize("command", ["03_sequential", "03_sequential --sweep type", MEASURED])
def test_stdout_elsewhere_has_markdown_or_json(folder: Path, tmp_path: Path, command: str) -> None:
    """Beside a terminal on stderr, which has the tables where stdout has JSON."""
    assert run(folder, f"{command} >{tmp_path}/markdown")[1] == 0
    text = (tmp_path / "markdown").read_text("utf-8")
    assert "|:--|" in text and "\x1b" not in text
    shown, status = run(folder, f"{command} --json - >{tmp_path}/json")
    assert status == 0 and fits(shown, 80), shown
    json.loads((tmp_path / "json").read_text())
