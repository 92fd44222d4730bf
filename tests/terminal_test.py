"""What the programs and the scripts print on a terminal: no line is wider; what is right, wrong or an error is seen.
counter_report_test.cpp has columns that line up."""

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

import fake_programs
from tools import programs
from tools.command_line import ELEMENT_TYPES, REPOSITORY

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
    return re.sub(r"\x1b\[[?0-9;]*[hlm]", "", text)


def fits(shown: str, columns: int) -> bool:
    """Whether a table is there; fails for a line that is too wide, and for Markdown."""
    text = plain(shown)
    assert "|:--" not in text and max(map(len, text.split("\n"))) <= columns, text
    return "─\n" in text


@pytest.fixture(scope="module")
def folder(bin_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the programs, and the result of each step."""
    made = tmp_path_factory.mktemp("results")
    (made / "bin").symlink_to(bin_folder)
    for step in STEPS:
        options = [] if step == "00_cpu_serial" else ["--device", "emulated"]
        subprocess.run([bin_folder / step, *options, "-n", "2^14", "-s", "2", "--json", made / f"{step}.json"],
                       check=True, stdout=subprocess.DEVNULL)
    subprocess.run([bin_folder / "03_sequential", "--device", "emulated", "-n", "0", "--json", made / "empty.json"],
                   check=True, stdout=subprocess.DEVNULL)
    return made


@pytest.fixture(scope="module")
def checkout(bin_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the scripts, and a build that finds everything done."""
    made = tmp_path_factory.mktemp("checkout")
    fake_programs.make_ladder(made, "print('ninja: no work to do.')")
    (made / "build").mkdir()
    (made / "build/bin").symlink_to(bin_folder)
    return made


def run(folder: Path, command: str, columns: int = 80, **variables: str) -> tuple[str, int]:
    """A program of the repository; a step emulated, and with few elements."""
    usual = "" if command.startswith("ladder_table") else f"--device emulated {'' if ' -n' in command else '-n 2^14'}"
    program, *words = command.split(maxsplit=1)
    return on_terminal(f"bin/{program} {usual} {''.join(words)}", folder, columns, **variables)


at_both_widths = pytest.mark.parametrize("columns", [80, 120])


@at_both_widths
@pytest.mark.parametrize("command, has_table", [
    ("00_cpu_serial -s 3", False), *((f"{step} -s 2", True) for step in [*STEPS[1:], *OTHERS]),
    *((f"{after} --compare {before}.json", False) for before, after in zip(STEPS[1:], STEPS[2:])),
    *((f"{step} --quiet -s 2", True) for step in ("00_cpu_serial", "07_cascade")),
    *((f"{step} -s 2 --sweep {axis}", True)
      for step in ("00_cpu_serial", "03_sequential") for axis in ("block", "size", "type")),
    ("03_sequential -n 1000003 -t complex128", True), (MEASURED, True),
    *((f"ladder_table {' '.join(f'{step}.json' for step in steps)}", True) for steps in (STEPS, ["empty"]))])
def test_no_line_is_wider_than_the_terminal(folder: Path, command: str, has_table: bool, columns: int) -> None:
    shown, status = run(folder, command, columns)
    assert status == 0 and fits(shown, columns) == has_table, shown


@pytest.mark.parametrize("command", [COMPARED, MEASURED])
def test_no_escape_sequence_without_colour(folder: Path, command: str) -> None:
    bold, _ = run(folder, command)
    assert "\x1b[1m" in bold and bold == run(folder, command, NO_COLOR="")[0]
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
        assert run(folder, command, 80, **variables) == (plain(bold), 0)


@at_both_widths
@pytest.mark.parametrize("command", [*STEPS, *OTHERS, "ladder_table", "emulate", "./run_ladder.sh",
                                     "./run_tests.sh"])
def test_help_fits_and_has_each_type(checkout: Path, command: str, columns: int) -> None:
    program = command if "/" in command else f"build/bin/{command}"
    shown, status = on_terminal(f"{program} --help", checkout, columns)
    assert status == 0 and 20 < max(map(len, shown.split("\n"))) <= 80, shown
    assert command not in STEPS or all(element_type in shown for element_type in ELEMENT_TYPES), shown


@at_both_widths
@pytest.mark.parametrize("command, said", [
    ("build/bin/03_sequential -n x", "03_sequential: error: --elements 'x': give a whole number"),
    ("build/bin/ladder_table /nowhere", "ladder_table: error: '/nowhere': No such file"),
    ("./run_ladder.sh --json", "run_ladder.sh: error: --json needs a value")])
def test_an_error_is_set_apart(checkout: Path, command: str, said: str, columns: int) -> None:
    shown, status = on_terminal(command, checkout, columns)
    assert status == 2 and plain(shown).startswith(f"\n{said}") and not fits(shown, columns), shown
    assert ": \x1b[1;31merror:\x1b[0m " in shown
    assert on_terminal(command, checkout, columns, NO_COLOR="1") == (plain(shown), 2)


def test_a_wrong_sum_is_red(checkout: Path) -> None:
    """In one of two variants: ones, added one by one to a float32."""
    shown, status = on_terminal("build/bin/00_cpu_serial -n 2^25 -t float32 --data ones -s 1", checkout)
    assert status == 1 and "result  running sum: \x1b[1;31mWRONG:\x1b[0m 16777216, " in shown, shown
    assert "        tree: 33554432, \x1b[32merror 0\x1b[0m, tolerance" in shown, shown
    assert "\n\n00_cpu_serial: \x1b[1;31merror:\x1b[0m running sum: \x1b[1;31mWRONG:\x1b[0m" in shown, shown


@at_both_widths
def test_the_ladder_ends_with_the_answer(checkout: Path, columns: int) -> None:
    """Lines count from the first step's on; those of the build stand above, or are erased."""
    shown, status = on_terminal(
        "./run_ladder.sh -s 3", checkout, columns, REDUCTION_CUDA="OFF", CUDA_VISIBLE_DEVICES="",
        PATH=fake_programs.path_with(checkout / "fake")["PATH"])
    assert status == 0 and fits(shown, columns), shown
    text = plain(shown)[plain(shown).index("00_cpu_serial: "):]
    assert text.count("\n") <= 95, text
    for once in ("no CUDA device here", "A wavefront is one turn", "06_templated/README.md", "\ndevice  em"):
        assert text.count(once) == 1, text
    steps = re.split(r"\n\n(?=\d\d_)", text.partition("\n\nPublished figures")[0])
    per_element = {step[:2] for step in steps if "wavefronts per element " in step}
    assert len(steps) == 1 + len(programs.steps_of("ladder")) and per_element == {"04", "07"}, text
    ends = r"""
Published figures, % of each card's peak; sources in docs/tables:
card, source .*

Your run: emulated H200, 2\^20 int32; blocks, and counts per element
step .*
07_cascade .* yes
01 took 0\.5884 wavefronts per element, 07 takes 0\.0196\. All sums are right\.

Read on in 00_cpu_serial/README\.md: each step has a page that says why\.
"""
    assert re.search(ends + "$", text, re.DOTALL), text
    assert "\x1b[32mAll sums are right.\x1b[0m" in shown and shown.count("\x1b[32mexact\x1b[0m") == 9


@pytest.mark.parametrize("command", ["03_sequential", "03_sequential --sweep type", MEASURED])
def test_stdout_elsewhere_has_markdown_or_json(folder: Path, tmp_path: Path, command: str) -> None:
    """Beside a terminal on stderr, which has the tables where stdout has JSON."""
    assert run(folder, f"{command} >{tmp_path}/markdown")[1] == 0
    text = (tmp_path / "markdown").read_text("utf-8")
    assert "|:--|" in text and "\x1b" not in text
    shown, status = run(folder, f"{command} --json - >{tmp_path}/json")
    assert status == 0 and fits(shown, 80), shown
    json.loads((tmp_path / "json").read_text())
