"""What the programs and run_ladder.sh print on a terminal: terminal_test.py REPOSITORY PROGRAMS.

Each runs on a pseudoterminal of a given width. No line may be wider than the terminal, and columns line up.
"""

import fcntl
import json
import os
import pty
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata
import unittest
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

repository = Path()
programs = Path()

STEPS = [
    "00_cpu_serial", "01_interleaved", "02_nondivergent", "03_sequential", "04_first_add", "05_unroll_warp",
    "06_templated", "07_cascade", "08_warp_shuffle", "09_vector_loads", "10_single_pass",
]
ATOMICS = ["atomic_each", "atomic_vector", "atomic_block"]
WIDTHS = [40, 60, 80, 120]
EMULATED = ["--device", "emulated", "-n", "2^14"]

# A CMake that builds nothing: what run_ladder.sh asks for is there already, in PROGRAMS.
CMAKE = """#!/usr/bin/env bash
case $1 in
  --version) echo "cmake version 3.25.1" ;;
  --preset) mkdir -p build && touch build/CMakeCache.txt ;;
  --build)
    mkdir -p build/bin
    for program in "$PROGRAMS"/{0*,10_*,peer_cub,ladder_table}; do
      if [[ ! -x $program ]]; then continue; fi
      [[ -e build/bin/${program##*/} ]] || cp "$program" build/bin
      echo "ready: ${program##*/}"
    done ;;
esac
"""
# Every package is installed.
DPKG_QUERY = """#!/usr/bin/env bash
for package; do echo "$package=installed"; done
"""


Environment = Mapping[str, str]
USUAL: Environment = {}


def environment(changes: Environment) -> dict[str, str]:
    """Returns the environment of a usual terminal, with changes."""
    left_out = ("NO_COLOR", "COLUMNS", "REDUCTION_LADDER")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
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
    while True:
        try:
            read = os.read(terminal, 1 << 16)
        except OSError:  # how Linux says that nobody has the terminal any more
            break
        if not read:
            break
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
            while end < len(lines) and lines[end] and not re.match("The same|None: |░ are|Per block", lines[end]):
                end += 1
            yield line, lines[number + 1:end]


class Terminal(unittest.TestCase):
    """The steps, the table of all of them and run_ladder.sh."""

    maxDiff = None

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp())
        for step in STEPS:
            options = ["-s", "2"] if step == "00_cpu_serial" else []
            command = [str(programs / step), *EMULATED, *options, "--quiet", "--json", str(cls.folder / f"{step}.json")]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls) -> None:
        shutil.rmtree(cls.folder)

    folder: Path

    def step(self, name: str, *options: str) -> list[str]:
        return [str(programs / name), *EMULATED, *options]

    def compared(self, name: str, before: str, *options: str) -> list[str]:
        return self.step(name, "--compare", str(self.folder / f"{before}.json"), *options)

    def ladder(self, *names: str) -> list[str]:
        return [str(programs / "ladder_table"), *(str(self.folder / f"{name}.json") for name in names)]

    def measured_ladder(self) -> list[str]:
        return [str(programs / "ladder_table"), str(repository / "docs/results/nvidia_h200/ladder.json")]

    def assert_fits(self, text: str, columns: int, command: list[str]) -> None:
        """Fails for a line that is too wide, a cell outside of its column, and Markdown."""
        text = without_style(without_progress(text))
        self.assertNotIn("|:--", text)
        for line in text.split("\n"):
            self.assertLessEqual(width(line), columns, f"{line!r} of {command}")
        for rule, rows in tables(text):
            gaps = [position for position, character in enumerate(rule) if character == " "]
            for row in rows:
                for gap in gaps:
                    self.assertEqual(row[gap:gap + 1].strip(), "", f"{row!r} below {rule!r} of {command}")

    def test_no_line_is_wider_than_the_terminal(self) -> None:
        commands = [self.step("00_cpu_serial", "-s", "3"), *(self.step(name) for name in STEPS[1:] + ATOMICS)]
        commands += [self.compared(after, before) for before, after in zip(STEPS[1:-2], STEPS[2:-1])]
        commands += [self.step(name, "--quiet", "-s", "2") for name in ("00_cpu_serial", "07_cascade")]
        commands += [
            self.step(name, "-s", "2", "--sweep", axis)
            for name in ("00_cpu_serial", "03_sequential") for axis in ("block", "size", "type")
        ]
        commands += [[str(programs / "03_sequential"), "-n", "1000003", "-t", "complex128", "--device", "emulated"]]
        commands += [self.ladder(*STEPS), self.measured_ladder()]
        for columns in WIDTHS:
            for command in commands:
                shown, status = on_terminal(command, columns)
                self.assertEqual(status, 0, shown)
                self.assert_fits(shown, columns, command)
                told_in_lines = command == commands[0]
                self.assertEqual(list(tables(without_style(shown))) == [], told_in_lines, f"{command}: {shown}")

    def test_a_narrower_terminal_gets_what_40_columns_get(self) -> None:
        command = self.compared("03_sequential", "02_nondivergent")
        self.assertEqual(on_terminal(command, 12), on_terminal(command, 40))

    def test_columns_count_where_the_terminal_does_not_tell_its_width(self) -> None:
        command = self.compared("03_sequential", "02_nondivergent")
        self.assertEqual(on_terminal(command, 0, {"COLUMNS": "60"}), on_terminal(command, 60))
        self.assertEqual(on_terminal(command, 0, {"COLUMNS": "wide"}), on_terminal(command, 80))
        self.assertEqual(on_terminal(command, 120, {"COLUMNS": "60"}), on_terminal(command, 120))

    def test_what_changed_comes_first_and_is_bold(self) -> None:
        command = self.compared("03_sequential", "02_nondivergent")
        shown, _ = on_terminal(command, 80)
        self.assertRegex(shown, r"shared memory wavefronts +150 +45  \x1b\[1m÷ 3.33\x1b\[0m\n")
        plain = without_style(shown)
        self.assertEqual(plain, on_terminal(command, 80, {"NO_COLOR": "1"})[0])
        self.assertLess(plain.index("÷ 3.33"), plain.index("The same: "))
        self.assertRegex(plain, "02_nondivergent  █+░+ +150\n03_sequential    █+[▏▎▍▌▋▊▉]? +45\n")

    def test_no_escape_sequence_without_colour(self) -> None:
        for command in (self.compared("03_sequential", "02_nondivergent"), self.ladder(*STEPS), self.measured_ladder()):
            self.assertIn("\x1b[1m", on_terminal(command, 80)[0])
            self.assertIn("\x1b[1m", on_terminal(command, 80, {"NO_COLOR": ""})[0])
            for changes in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
                shown, status = on_terminal(command, 80, changes)
                self.assertEqual(status, 0)
                self.assertNotIn("\x1b", shown)
        self.assertNotIn("\x1b", on_terminal(self.step("03_sequential", "--sweep", "block"), 80, {"TERM": "dumb"})[0])

    def test_markdown_where_there_is_no_terminal(self) -> None:
        step = self.step("03_sequential")
        for command in (step, [*step, "--sweep", "type"], self.measured_ladder()):
            alone = subprocess.run(command, capture_output=True, check=True, env=environment(USUAL)).stdout.decode()
            self.assertIn("|:--|", alone)
            self.assertNotIn("\x1b", alone)
            # Neither a terminal on stderr nor the place in a ladder changes what a file gets.
            with tempfile.TemporaryFile() as file:
                shown, status = on_terminal(command, 80, {"REDUCTION_LADDER": "next"}, file.fileno())
                self.assertEqual(status, 0, shown)
                file.seek(0)
                self.assertEqual(file.read().decode(), alone)

    def test_tables_go_to_the_terminal_of_stderr_beside_json_on_stdout(self) -> None:
        for command in (self.step("03_sequential"), self.ladder("02_nondivergent", "03_sequential")):
            with tempfile.TemporaryFile() as file:
                shown, status = on_terminal([*command, "--json", "-"], 80, stdout=file.fileno())
                self.assertEqual(status, 0, shown)
                file.seek(0)
                json.load(file)
            self.assert_fits(shown, 80, command)
            self.assertNotEqual(list(tables(without_style(shown))), [])

    def test_a_step_names_pages_that_exist(self) -> None:
        for name in STEPS + ATOMICS:
            shown, _ = on_terminal(self.step(name, "-s", "2"), 80)
            pages = re.findall(r"\S+/README\.md", shown)
            self.assertNotEqual(pages, [], shown)
            self.assertIn(name.split("_")[0], pages[0])
            for page in pages:
                self.assertTrue((repository / page).is_file(), page)
        self.assertNotIn("README.md", on_terminal(self.step("03_sequential", "--quiet"), 80)[0])
        wrong = self.step("00_cpu_serial", "-n", "2^25", "-t", "float32", "--data", "ones", "-s", "1")
        shown, status = on_terminal(wrong, 80)
        self.assertEqual(status, 1)
        self.assertNotIn("README.md", shown)

    def climb(
        self,
        columns: int,
        *options: str,
        when: Callable[[str], bytes] = lambda text: b"",
        broken: str = "",
        term: str = "xterm-256color",
    ) -> tuple[str, int]:
        """Runs run_ladder.sh in a folder of its own, with programs that are built already; `broken` has a wrong sum."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file in ("run_ladder.sh", "CMakeLists.txt"):
                shutil.copy(repository / file, folder)
            shutil.copytree(repository / "common/scripts", folder / "common/scripts")
            made_up = {"fake/cmake": CMAKE, "fake/dpkg-query": DPKG_QUERY}
            if broken:
                made_up[f"build/bin/{broken}"] = "#!/bin/sh\nexit 1\n"
            for path, text in made_up.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text)
                (folder / path).chmod(stat.S_IRWXU)
            changes = {
                "PATH": f"{folder / 'fake'}:{os.environ['PATH']}",
                "PROGRAMS": str(programs),
                "REDUCTION_PRESET": "release",
                "REDUCTION_CUDA": "OFF",
                "TERM": term,
            }
            return on_terminal([str(folder / "run_ladder.sh"), *options], columns, changes, when=when)

    def test_the_ladder_fits_and_says_once_that_it_is_emulated(self) -> None:
        for columns in WIDTHS[1:]:
            shown, status = self.climb(columns, "-n", "2^14", "-s", "2")
            self.assertEqual(status, 0, shown)
            self.assert_fits(shown, columns, ["run_ladder.sh"])
            text = " ".join(without_style(shown).split())
            self.assertEqual(len(re.findall("^input ", shown, re.MULTILINE)), 2, "00's and 01's")
            if "emulated H200" in text:
                self.assertEqual(text.count("no CUDA device here"), 1, shown)
                self.assertEqual(text.count("emulated H200"), 1, shown)
            self.assertTrue(text.endswith("in 01_interleaved/README.md: each step has a page that says why."), text)
        shown, status = self.climb(80, "-n", "2^14", "-s", "2", "--beyond", "--device", "emulated", term="dumb")
        self.assertEqual(status, 0, shown)
        self.assertNotIn("\x1b", shown)
        self.assertIn("\nRead on in beyond/README.md", shown)

    def test_a_ladder_that_failed_names_no_page(self) -> None:
        shown, status = self.climb(80, "-n", "2^14", "-s", "2", broken="03_sequential")
        self.assertEqual(status, 1, shown)
        self.assertIn("wrong result: 03_sequential", shown)
        self.assertNotIn("README.md", shown)

    def test_ctrl_c_ends_the_ladder_with_its_table(self) -> None:
        def press_ctrl_c(text: str) -> bytes:
            return b"\x03" if "02_nondivergent: " in without_style(text) else b""

        shown, status = self.climb(80, "-n", "2^21", "-s", "2", "--device", "emulated", when=press_ctrl_c)
        self.assertEqual(status, 130, shown)
        self.assertNotIn("03_sequential: ", without_style(shown))
        self.assertRegex(without_style(shown), "\n01_interleaved +\\d+ ")


if __name__ == "__main__":
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError as error:
        print(f"skipped: there is no pseudoterminal here ({error})")
        sys.exit(77)
    repository, programs = (Path(argument).resolve() for argument in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
