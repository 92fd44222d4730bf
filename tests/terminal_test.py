"""What the steps, the table of all of them and run_ladder.sh print on a terminal.

Each runs on a pseudoterminal of a given width. No line may be wider than the terminal, and columns line up.
"""

import dataclasses
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

import fake_programs
from tools import programs
from tools.command_line import REPOSITORY

STEPS = ["00_cpu_serial", *(step for step in programs.steps_of("ladder", "beyond") if step in programs.EMULATED)]
OTHERS = [step for step in programs.EMULATED if step not in STEPS]  # that the ladder does not climb
WIDTHS = [80, 120]
EMULATED = ["--device", "emulated", "-n", "2^14"]

# A CMake that builds nothing: what run_ladder.sh asks for is there already, in PROGRAMS.
CMAKE = """
import pathlib
if words[0] == "--version":
    print("cmake version 3.25.1")
bin = pathlib.Path("build/bin")
bin.mkdir(parents=True, exist_ok=True)
for program in pathlib.Path(os.environ["PROGRAMS"]).iterdir() if words[0] == "--build" else []:
    if not (bin / program.name).exists():
        (bin / program.name).symlink_to(program)
    print("[1/1] ready:", program.name)
"""

Environment = Mapping[str, str]
USUAL: Environment = {}


def environment(changes: Environment) -> dict[str, str]:
    """Returns the environment of a usual terminal, with changes."""
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    return {**kept, "TERM": "xterm-256color", **changes}


def on_terminal(
    command: list[str],
    columns: int,
    changes: Environment = USUAL,
    stdout: int | None = None,
    when: Callable[[str], bytes] = lambda text: b"",
) -> tuple[str, int]:
    """Runs a command on a terminal, its stdout elsewhere if that is given. What `when` makes of the output so far is
    typed once. Returns what the terminal shows, and the exit code."""
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        if stdout is not None:
            os.dup2(stdout, 1)
        os.execve(command[0], command, environment(changes))
    shown = b""
    typed = False
    ends = 0
    # Linux answers EIO once nobody has the terminal any more. It looks for text first, then for the end: what is
    # written between the two looks, just before the end, is only there when it is asked again.
    while ends < 2:
        try:
            read = os.read(terminal, 1 << 16)
        except OSError:
            ends += 1
            continue
        shown += read
        keys = b"" if typed else when(shown.decode(errors="replace"))
        if keys:
            os.write(terminal, keys)
            typed = True
    os.close(terminal)
    return shown.decode().replace("\r\n", "\n"), os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def width(text: str) -> int:
    """Returns the display columns of a text."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def without_style(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def without_progress(text: str) -> str:
    """Leaves out lines that were erased."""
    return re.sub(r"\r\x1b\[K[^\r\n]*(?=\r\x1b\[K)|\r\x1b\[K", "", text)


def tables(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yields each table's rule, and its rows."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line.startswith("─"):
            end = number + 1
            while end < len(lines) and lines[end] and not re.match("The same|░ are|Per block", lines[end]):
                end += 1
            yield line, lines[number + 1:end]


@dataclasses.dataclass(frozen=True)
class Commands:
    """The steps and the table of all of them, with results to show."""

    programs: Path
    results: Path

    def step(self, name: str, *options: str) -> list[str]:
        usual = EMULATED[:2] if "-n" in options else EMULATED
        return [str(self.programs / name), *usual, *options]

    def compared(self, name: str, before: str) -> list[str]:
        return self.step(name, "--compare", str(self.results / f"{before}.json"))

    def ladder(self, *names: str) -> list[str]:
        return [str(self.programs / "ladder_table"), *(str(self.results / f"{name}.json") for name in names)]

    def measured_ladder(self) -> list[str]:
        return [str(self.programs / "ladder_table"), str(REPOSITORY / "docs/results/nvidia_h200/ladder.json")]


@pytest.fixture(scope="module")
def commands(bin_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Commands:
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError as error:
        pytest.skip(f"there is no pseudoterminal here ({error})")
    made = Commands(bin_folder, tmp_path_factory.mktemp("results"))
    for step in STEPS:
        options = ["-s", "2"] if step == "00_cpu_serial" else []
        command = made.step(step, *options, "--quiet", "--json", str(made.results / f"{step}.json"))
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return made


def fits(text: str, columns: int) -> bool:
    """Fails for a line that is too wide, a cell outside of its column, and Markdown."""
    text = without_style(without_progress(text))
    assert "|:--" not in text
    for line in text.split("\n"):
        assert width(line) <= columns
    for rule, rows in tables(text):
        gaps = [position for position, character in enumerate(rule) if character == " "]
        for row in rows:
            assert all(row[gap:gap + 1].strip() == "" for gap in gaps), f"{row!r} below {rule!r}"
    return True


def test_no_line_is_wider_than_the_terminal(commands: Commands) -> None:
    step = commands.step
    shown_ones = [step("00_cpu_serial", "-s", "3"), *(step(name) for name in [*STEPS[1:], *OTHERS])]
    shown_ones += [commands.compared(after, before) for before, after in zip(STEPS[1:-2], STEPS[2:-1])]
    shown_ones += [step(name, "--quiet", "-s", "2") for name in ("00_cpu_serial", "07_cascade")]
    shown_ones += [step(name, "-s", "2", "--sweep", axis)
                   for name in ("00_cpu_serial", "03_sequential") for axis in ("block", "size", "type")]
    shown_ones += [step("03_sequential", "-n", "1000003", "-t", "complex128")]
    shown_ones += [commands.ladder(*STEPS), commands.measured_ladder()]
    for columns in WIDTHS:
        for command in shown_ones:
            shown, status = on_terminal(command, columns)
            assert status == 0 and fits(shown, columns), f"{command}: {shown}"
            told_in_lines = command == shown_ones[0] or "nothing that is counted differs" in shown
            assert (list(tables(without_style(shown))) == []) == told_in_lines, f"{command}: {shown}"


def test_a_narrower_terminal_gets_what_40_columns_get(commands: Commands) -> None:
    command = [*commands.step("03_sequential"), "--sweep", "type"]
    assert on_terminal(command, 12) == on_terminal(command, 40)


def test_80_columns_where_the_terminal_does_not_tell_its_width(commands: Commands) -> None:
    command = commands.compared("03_sequential", "02_nondivergent")
    assert on_terminal(command, 0) == on_terminal(command, 80)


def test_what_changed_comes_first_and_is_bold(commands: Commands) -> None:
    command = commands.compared("03_sequential", "02_nondivergent")
    shown, _ = on_terminal(command, 80)
    assert re.search(r"shared memory wavefronts +150 +45  \x1b\[1m÷ 3.33\x1b\[0m\n", shown), shown
    plain = without_style(shown)
    assert plain == on_terminal(command, 80, {"NO_COLOR": "1"})[0]
    assert plain.index("÷ 3.33") < plain.index("The same: ")
    assert re.search("02_nondivergent  █+░+ +150\n03_sequential    █+[▏▎▍▌▋▊▉]? +45\n", plain), plain


def test_no_escape_sequence_without_colour(commands: Commands) -> None:
    for command in (commands.compared("03_sequential", "02_nondivergent"), commands.ladder(*STEPS),
                    commands.measured_ladder()):
        assert "\x1b[1m" in on_terminal(command, 80)[0]
        assert "\x1b[1m" in on_terminal(command, 80, {"NO_COLOR": ""})[0]
        for changes in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            shown, status = on_terminal(command, 80, changes)
            assert status == 0 and "\x1b" not in shown, shown
    assert "\x1b" not in on_terminal(commands.step("03_sequential", "--sweep", "block"), 80, {"TERM": "dumb"})[0]


def test_markdown_where_there_is_no_terminal(commands: Commands) -> None:
    step = commands.step("03_sequential")
    for command in (step, [*step, "--sweep", "type"], commands.measured_ladder()):
        alone = subprocess.run(command, capture_output=True, check=True, env=environment(USUAL)).stdout.decode()
        assert "|:--|" in alone and "\x1b" not in alone
        # A terminal on stderr changes nothing of what a file gets.
        with tempfile.TemporaryFile() as file:
            shown, status = on_terminal(command, 80, stdout=file.fileno())
            assert status == 0, shown
            file.seek(0)
            assert file.read().decode() == alone


def test_tables_go_to_the_terminal_of_stderr_beside_json_on_stdout(commands: Commands) -> None:
    for command in (commands.step("03_sequential"), commands.ladder("02_nondivergent", "03_sequential")):
        with tempfile.TemporaryFile() as file:
            shown, status = on_terminal([*command, "--json", "-"], 80, stdout=file.fileno())
            assert status == 0, shown
            file.seek(0)
            json.load(file)
        assert fits(shown, 80) and list(tables(without_style(shown))) != []


def test_a_step_names_pages_that_exist(commands: Commands) -> None:
    for name in [*STEPS, *OTHERS]:
        shown, _ = on_terminal(commands.step(name, "-s", "2"), 80)
        pages = re.findall(r"\S+/README\.md", shown)
        assert pages and name.split("_")[0] in pages[0], shown
        assert all((REPOSITORY / page).is_file() for page in pages), pages
    assert "README.md" not in on_terminal(commands.step("03_sequential", "--quiet"), 80)[0]
    wrong = commands.step("00_cpu_serial", "-n", "2^25", "-t", "float32", "--data", "ones", "-s", "1")
    shown, status = on_terminal(wrong, 80)
    assert status == 1 and "README.md" not in shown, shown


@pytest.fixture
def climb(commands: Commands, tmp_path: Path) -> Callable[..., tuple[str, int]]:
    """Runs run_ladder.sh in a folder of its own, with programs that are built already, but for those of which `instead`
    has the source."""

    def run(columns: int, *options: str, when: Callable[[str], bytes] = lambda text: b"",
            instead: Mapping[str, str] = USUAL, term: str = "xterm-256color") -> tuple[str, int]:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        fake = fake_programs.make_ladder(folder, CMAKE)
        for name, source in instead.items():
            fake_programs.make(folder / "build/bin", name, source)
        changes = {"PATH": fake_programs.path_with(fake)["PATH"], "PROGRAMS": str(commands.programs), "TERM": term,
                   "REDUCTION_PRESET": "release", "REDUCTION_CUDA": "OFF"}
        return on_terminal([str(folder / "run_ladder.sh"), *options, "-s", "2"], columns, changes,
                           when=when)

    return run


def test_the_ladder_fits_and_says_once_that_it_is_emulated(climb: Callable[..., tuple[str, int]]) -> None:
    for columns in WIDTHS:
        shown, status = climb(columns, "-n", "2^14")
        assert status == 0 and fits(shown, columns), shown
        text = " ".join(without_style(shown).split())
        assert len(re.findall("(?m)^input ", shown)) == 2, "00's and 01's"
        if "emulated H200" in text:
            assert text.count("no CUDA device here") == text.count("emulated H200") == 1, shown
        assert text.endswith("in 01_interleaved/README.md: each step has a page that says why."), text
    shown, status = climb(80, "--beyond", "-n", "2^14", "--device", "emulated", term="dumb")
    assert status == 0 and "\x1b" not in shown and "\nRead on in beyond/README.md" in shown, shown


def test_a_ladder_that_failed_names_no_page(climb: Callable[..., tuple[str, int]]) -> None:
    shown, status = climb(80, "-n", "2^14", instead={"03_sequential": "sys.exit(1)"})
    assert status == 1 and "wrong result: 03_sequential" in shown and "README.md" not in shown, shown


def test_ctrl_c_ends_the_ladder_with_its_table(climb: Callable[..., tuple[str, int]]) -> None:
    def press_ctrl_c(text: str) -> bytes:
        return b"\x03" if "02_nondivergent: " in without_style(text) else b""

    # The step itself, with so many elements that it is still at work when a busy machine comes to press the keys.
    slow = """
        more = ["2^26" if word == "2^14" else word for word in words]
        os.execv(os.environ["PROGRAMS"] + "/02_nondivergent", ["02_nondivergent", *more])
    """
    shown, status = climb(80, "-n", "2^14", "--device", "emulated", when=press_ctrl_c,
                          instead={"02_nondivergent": slow})
    assert status == 130 and "03_sequential: " not in without_style(shown), shown
    assert re.search("\n01_interleaved +\\d+ ", without_style(shown)), shown
