"""What the steps, the table of all of them and run_ladder.sh print on a terminal: no line is wider. table_test.cpp has
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

import fake_programs
from tools import programs
from tools.command_line import REPOSITORY

STEPS = ["00_cpu_serial", *(step for step in programs.steps_of("ladder", "beyond") if step in programs.EMULATED)]
OTHERS = [step for step in programs.EMULATED if step not in STEPS]  # that the ladder does not climb
MEASURED = f"ladder_table {REPOSITORY}/docs/results/nvidia_h200/ladder.json"
COMPARED = "03_sequential --compare 02_nondivergent.json"

# A CMake that builds nothing: what run_ladder.sh asks for is there already.
CMAKE = """
if words[0] == "--version":
    print("cmake version 3.25.1")
for program in os.listdir("build/bin") if words[0] == "--build" else []:
    print("[1/1] ready:", program)
"""


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
    """With the result of each step, and a copy of run_ladder.sh."""
    made = tmp_path_factory.mktemp("results")
    fake_programs.make_ladder(made, CMAKE)
    (made / "build/bin").mkdir(parents=True)
    for program in (*STEPS, *OTHERS, "ladder_table"):
        (made / "build/bin" / program).symlink_to(bin_folder / program)
    for step in STEPS:
        options = [] if step == "00_cpu_serial" else ["--device", "emulated"]
        subprocess.run([bin_folder / step, *options, "-n", "2^14", "-s", "2", "--json", made / f"{step}.json"],
                       check=True, stdout=subprocess.DEVNULL)
    return made


def run(folder: Path, command: str, columns: int = 80, **variables: str) -> tuple[str, int]:
    """A program of the repository; a step emulated, and with few elements."""
    usual = "" if command.startswith("ladder_table") else f"--device emulated {'' if ' -n' in command else '-n 2^14'}"
    program, *words = command.split(maxsplit=1)
    return on_terminal(f"build/bin/{program} {usual} {''.join(words)}", folder, columns, **variables)


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


@pytest.mark.parametrize("told, as_wide_as", [(12, 40), (0, 80)])
def test_a_width_that_is_too_small_or_not_told(folder: Path, told: int, as_wide_as: int) -> None:
    assert run(folder, COMPARED, told) == run(folder, COMPARED, as_wide_as)


def test_what_changed_comes_first_and_is_bold(folder: Path) -> None:
    shown, _ = run(folder, COMPARED)
    assert re.search(r"shared memory wavefronts +150 +45  \x1b\[1m÷ 3.33\x1b\[0m\n", shown), shown
    assert re.search("02_nondivergent  █+░+ +150\n03_sequential    █+[▏▎▍▌▋▊▉]? +45\n", plain(shown)), shown
    assert plain(shown).index("÷ 3.33") < plain(shown).index("The same: ")


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


@pytest.mark.parametrize("step", [*STEPS, *OTHERS])
def test_a_step_names_its_page(folder: Path, step: str) -> None:
    """But not beside a wrong result, and where it is to be quiet."""
    pages = re.findall(r"\S+/README\.md", run(folder, f"{step} -s 2")[0])
    assert step.split("_")[0] in pages[0] and all((REPOSITORY / page).is_file() for page in pages)
    assert "README.md" not in run(folder, f"{step} -s 2 --quiet")[0]


def test_a_wrong_result_names_no_page(folder: Path) -> None:
    shown, status = run(folder, "00_cpu_serial -n 2^25 -t float32 --data ones -s 1")
    assert status == 1 and "README.md" not in shown, shown


@pytest.mark.parametrize("options, term, page", [
    ("-s 2", "xterm-256color", "01_interleaved"), ("--beyond -s 2 --device emulated", "dumb", "beyond")])
def test_the_ladder_fits(folder: Path, options: str, term: str, page: str) -> None:
    """And says once that it is emulated, and where to read on."""
    path = fake_programs.path_with(folder / "fake")["PATH"]
    shown, status = on_terminal(f"./run_ladder.sh -n 2^14 {options}", folder, PATH=path, TERM=term,
                                REDUCTION_CUDA="OFF")
    assert status == 0 and fits(shown, 80) and ("\x1b" in shown) == (term != "dumb"), shown
    assert len(re.findall("(?m)^input ", shown)) == 2 and plain(shown).count("no CUDA device here") <= 1
    assert f"\nRead on in {page}/README.md:\n\neach step has a page that says why.\n" in plain(shown), shown
