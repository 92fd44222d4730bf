"""Command lines of all programs and scripts, drawn at random, in a folder with files of all kinds.

Whatever a user types, a program ends with an exit code that its message means, and leaves all files as they are, but
for those that it was given to write. Each run draws other lines; `--seed S` repeats them, with `--line K` one of them.
"""

import collections
import concurrent.futures
import json
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import fake_programs
from command_lines import VALUES, Line, Option, Program, draw, read_options
from tools.__main__ import COMMANDS
from tools.command_line import REPOSITORY

LONGEST = 60  # seconds, on a machine that has much else to do
CODES = {0, 1, 2, 3, 130}
# The words of a refusal, and of a machine that cannot do it: neither may end with the other's exit code.
REFUSALS = re.compile(r"--help lists|choose one of|give a whole number|needs a value|takes no value|give it once")
SHORTAGES = re.compile(r"GiB are free|it needs a CUDA device|no CUDA device here|does not take the output")

# Programs, and how many lines each gets beside the others. Python takes its time to start, and so does MPI.
WEIGHTS = {"13_many_gpus": 0.3, "pitfall": 1, "ladder_table": 2, "tools plot": 0.2, "tools measure": 0.2,
           "tools rounding": 0.1, "tools write-pages": 0.1, "tools check-pages": 0.1, "run_ladder.sh": 0.5,
           "run_tests.sh": 0.5}
OF_TOOLS = 0.2

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
    if words[-1].startswith("climb"):
        print("[1/1] ready:", program.name)
"""
CTEST = """
if "--help" in words:
    os.execv(os.environ["CTEST"], [os.environ["CTEST"], "--help"])
"""


class Bench:
    """What the lines are run with: programs that exist, and a folder of files for each line."""

    def __init__(self, folder: Path, bin_folder: Path) -> None:
        self.folder = folder
        self.bin = bin_folder
        self.fake = folder / "fake"
        for gpu_tool in ("nvidia-smi", "nvcc", "ncu"):
            fake_programs.make(self.fake, gpu_tool, "sys.exit(9)")
        self.environment = {
            **fake_programs.path_with(self.fake), "PYTHONPATH": str(REPOSITORY),
            "PYTHONDONTWRITEBYTECODE": "1", "CUDA_VISIBLE_DEVICES": "", "OPENBLAS_NUM_THREADS": "1",
            "PROGRAMS": str(bin_folder), "CTEST": shutil.which("ctest") or "", "NO_COLOR": "1", "REDUCTION_CUDA": "OFF"}
        self.local = threading.local()
        self.result, self.trace = self.made("--json"), self.made("--trace")
        self.sweep = self.made("--sweep type --json")
        self.programs = {program.name: program for program in self.find_programs()}

    def made(self, options: str) -> str:
        """A file that a step writes."""
        file = self.folder / "made.json"
        step = f"{self.bin}/03_sequential -n 1024 --device emulated -q {options} {file}"
        subprocess.run(step.split(), check=True, capture_output=True, env=self.environment)
        return file.read_text()

    def find_programs(self) -> Iterator[Program]:
        for file in sorted(self.bin.iterdir()):
            if re.fullmatch(r"\d\d_\w+|atomic_(each|vector|block)|peer_\w+|ladder_table|pitfall", file.name):
                yield self.program(file.name, str(file))
        for command in COMMANDS:
            yield self.program(f"tools {command}", sys.executable, "-m", "tools", command)
        # Of the scripts each thread has a copy: two runs in one checkout wait for one another.
        yield self.program("run_ladder.sh", str(self.scripts() / "run_ladder.sh"))
        if self.environment["CTEST"]:
            script = str(self.scripts() / "run_tests.sh")
            some = (Option(("-R",), "<regex>"), Option(("-LE",), "<regex>"), Option(("-N",)))
            yield Program("run_tests.sh", (script,), some, as_steps=False)

    def program(self, name: str, *command: str) -> Program:
        said = subprocess.run([*command, "--help"], capture_output=True, text=True, env=self.environment)
        assert said.returncode == 0, f"{name} --help: {said.stderr}"
        options = read_options(said.stdout)
        as_steps = not name.startswith("tools")
        arguments = {"ladder_table": "files", "pitfall": "pitfall", "tools plot": "RESULTS", "tools profile": "STEP",
                     "tools measure": "FOLDER", "tools scaling": "FOLDER", "tools site": "FOLDER"}.get(name, "")
        first = ["-n"] * as_steps + ["-s"] * name.startswith(("00_", "13_", "run_ladder"))
        never_ends = name in ("tools write-pages", "tools check-pages", "tools rounding", "tools site")
        return Program(name, command, options, arguments, tuple(first), as_steps,
                       name.startswith(("11_", "12_", "peer_")), ("--refused",) if never_ends else ())

    def scripts(self) -> Path:
        """This thread's copy of the scripts, with a CMake that is made up."""
        if not hasattr(self.local, "scripts"):
            copy = Path(tempfile.mkdtemp(dir=self.folder, prefix="scripts."))
            fake_programs.make_ladder(copy, CMAKE)
            fake_programs.make(copy / "fake", "ctest", CTEST)
            for file in ("run_tests.sh", "CMakePresets.json"):
                shutil.copy(REPOSITORY / file, copy)
            (copy / "build").mkdir()
            (copy / "build/bin").symlink_to(self.bin)  # its --help shows that of a step
            self.local.scripts = copy
        return Path(self.local.scripts)

    def draw(self, seed: str, number: int) -> Line:
        chance = random.Random(f"{seed} {number}")
        names = list(self.programs)
        weights = [WEIGHTS.get(name, OF_TOOLS if name.startswith("tools") else 1) for name in names]
        return draw(chance, self.programs[chance.choices(names, weights)[0]])

    def fill(self, folder: Path) -> None:
        files = {"result.json": self.result, "sweep.json": self.sweep, "trace.json": self.trace, "notes.txt": "mine\n",
                 "wrong.json": self.result.replace('"verified": true', '"verified": false'), "empty.json": "",
                 "broken.json": self.result[:200], "list.json": "[]", "null.json": "null", "bytes.json": "\0" * 99,
                 "huge_count.json": re.sub(r'"elements": \d+', '"elements": 1e300', self.result),
                 "linked.json": "{}", "read_only.json": "{}", "descriptor.json": ""}
        for name, text in files.items():
            (folder / name).write_text(text)
        for name in ("folder", "folder.html", "read_only"):
            (folder / name).mkdir()
        for name, target in {"link.json": "linked.json", "dangling.json": "nowhere.json", "self.json": "self.json",
                             "full.html": "/dev/full", "full\n.json": "/dev/full"}.items():
            (folder / name).symlink_to(target)
        for name in ("pipe.json", *FIFOS):
            os.mkfifo(folder / name)
        (folder / "read_only.json").chmod(0o444)
        (folder / "read_only").chmod(0o555)


ON_STREAMS = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/stderr", "/dev/fd/2"}
# Of the second, the reader comes late.
FIFOS = {"fifo": 0.0, "late_fifo": 0.3, "fifo.html": 0.0}
# Where what is written to a name arrives.
ARRIVES = {"link.json": "linked.json", "dangling.json": "nowhere.json", "/dev/fd/7": "descriptor.json",
           "/dev/stdin": "notes.txt"}

State = dict[str, tuple[object, ...]]


def state_of(folder: Path) -> State:
    """All that is in a folder. What folders and pipes hold changes without them."""
    state: State = {}
    for path in sorted(folder.rglob("*")):
        entry = path.lstat()
        is_file = stat.S_ISREG(entry.st_mode)
        state[str(path.relative_to(folder))] = (
            stat.S_IFMT(entry.st_mode), stat.S_IMODE(entry.st_mode), entry.st_uid,
            *((entry.st_ino, entry.st_size, entry.st_mtime_ns) if is_file else ()),
            os.readlink(path) if path.is_symlink() else "")
    return state


def read_fifo(path: Path, delay: float, ended: threading.Event) -> None:
    """Reads until the program has ended."""
    time.sleep(delay)
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
        while not ended.is_set():
            if not stream.read(1 << 16):
                time.sleep(0.01)


def write_fifo(path: Path, text: str, ended: threading.Event) -> None:
    """Writes as often as the program reads it."""
    while not ended.is_set():
        try:
            with open(os.open(path, os.O_WRONLY | os.O_NONBLOCK), "w") as stream:
                stream.write(text)
        except OSError:  # nobody has it open, or no longer
            pass
        time.sleep(0.01)


class Ran:
    """A line, run in a folder of its own, and what is wrong with how it ended."""

    def __init__(self, bench: Bench, line: Line) -> None:
        self.line = line
        self.code: int | None = None
        self.stdout = self.stderr = ""
        # Its name is as long on every machine: there are limits.
        self.folder = Path(tempfile.mkdtemp(dir=bench.folder, prefix="line."))
        bench.fill(self.folder)
        self.before = state_of(self.folder)
        self.scripts: Path | None = None
        command, self.environment = list(line.program.command), bench.environment
        if line.program.name.endswith(".sh"):
            self.scripts = bench.scripts()
            command = [str(self.scripts / line.program.name)]
            self.environment = {**bench.environment, "PATH": f"{self.scripts / 'fake'}:{bench.environment['PATH']}"}
        self.run(command, bench.result)
        self.after = state_of(self.folder)
        self.faults = list(self.judge())
        (self.folder / "read_only").chmod(0o755)
        shutil.rmtree(self.folder)

    def run(self, command: list[str], result: str) -> None:
        line, ended = self.line, threading.Event()
        others = [threading.Thread(target=read_fifo, args=(self.folder / name, FIFOS[name], ended), daemon=True)
                  for name in line.files & set(FIFOS)]
        if any("pipe.json" in word for word in line.words):
            file = self.folder / "pipe.json"
            others.append(threading.Thread(target=write_fifo, args=(file, result, ended), daemon=True))
        for other in others:
            other.start()
        # Descriptor 5 is a pipe whose reader has left.
        reading, writing = os.pipe()
        os.close(reading)
        script = f'exec "$@" 5>&{writing} {writing}>&- 6>/dev/full 7>>descriptor.json 9>&-'
        script += f" {line.stdin} {line.stdout} {line.stderr}"
        process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command, *line.words], cwd=self.folder, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=[writing],
            start_new_session=True)
        os.close(writing)
        try:
            stdout, stderr = process.communicate(timeout=LONGEST)
            self.code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
        self.stdout, self.stderr = (text.decode("utf-8", "surrogateescape") for text in (stdout, stderr))
        ended.set()
        for other in others:
            other.join()

    def judge(self) -> Iterator[str]:
        line, code = self.line, self.code
        if code is None:
            yield f"it does not end within {LONGEST} s"
            return
        if code not in CODES | ({75} if line.program.name == "tools measure" else set()):
            yield f"exit code {code}"
        elif code not in line.codes and code != 75:
            yield f"exit code {code} instead of {' or '.join(map(str, sorted(line.codes)))}"
        if not line.stderr:
            yield from self.judge_messages()
        if code in (2, 3) and self.stdout and not self.may_have_printed():
            yield f"exit code {code}, and on stdout: {self.stdout[:200]!r}"
        if code == 0 and line.program.as_steps and not line.stdout and not self.stdout:
            yield "it says nothing"
        yield from self.judge_files()

    def may_have_printed(self) -> bool:
        """A table is not thrown away because a file cannot be written; and of the ladder, 00 needs no GPU."""
        return self.code == 3 and bool(re.search("--(json|trace) '", self.stderr) or self.line.stderr or
                                       self.line.program.name == "run_ladder.sh")

    def judge_messages(self) -> Iterator[str]:
        code, name = self.code, self.line.program.name
        # A trace that is written is told of. Of scripts, what they are at; and the steps read the values of options.
        messages = [message for message in self.stderr.split("\n")[:-1] if not re.search(
            r"^Configuring |^\[1/1\] ready: |: block \d+ of pass \d+, \d+ events|^$", message)]
        if name == "13_many_gpus":
            # A rank that fails alone says which it is, and MPI that it ends the job.
            messages = [message for message in messages if message.startswith(name)]
            name += "(: rank 0 on [^:]*)?"
        elif name.endswith(".sh"):
            name = f"({re.escape(name)}|[01][0-9]_[a-z_]+|ladder_table)"
        if code == 3 and self.line.files & ON_STREAMS:
            messages = messages[-1:]  # what else there is are results
        if code == 0 and re.search("error: ", self.stderr):
            yield f"exit code 0, and on stderr: {self.stderr[-300:]!r}"
        if code not in (2, 3):
            return
        if len(messages) != 1 or self.stderr[-1:] != "\n":
            yield f"{len(messages)} lines on stderr: {self.stderr[:300]!r}"
        elif not re.match(f"{name}: error: .", messages[0]):
            yield f"stderr is: {messages[0][:300]!r}"
        elif re.search("[\x00-\x08\x0a-\x1f\x7f]", messages[0]):
            yield f"control characters on stderr: {messages[0][:300]!r}"
        elif code == 3 and REFUSALS.search(messages[0]) or code == 2 and SHORTAGES.search(messages[0]):
            yield f"exit code {code} does not mean {messages[0][:300]!r}"
        elif code == 2 and not self.is_named_in(messages[0]):
            yield f"it does not name what was typed: {messages[0][:300]!r}"

    def is_named_in(self, message: str) -> bool:
        names = [name for option in self.line.program.options for name in option.names]
        words = [part for word in self.line.words for part in re.findall("[!-~]+", word)]
        return any(word in message for word in names + words + ["''", "' '", "\\x", "required", "name a pitfall"])

    def judge_files(self) -> Iterator[str]:
        """A line that is refused changes nothing, any other what it was given."""
        given = {ARRIVES.get(name, os.path.normpath(name)) for name in self.line.files}
        if self.code == 2 or self.code == 3 and not self.line.stdout and not self.may_have_printed():
            given = set()
        for name in sorted({*self.before, *self.after}):
            old, new = self.before.get(name), self.after.get(name)
            if old == new:
                continue
            if not any(name == file or name.startswith(f"{file}/") for file in given):
                yield f"{'changed' if old and new else 'deleted' if old else 'left behind'}: {name!r}"
            elif old and new and old[:3] != new[:3]:
                yield f"{name!r} has another kind, mode or owner: {old[:3]}, {new[:3]}"
        for name in given if self.code == 0 else ():
            file = self.folder / name
            if name.endswith(".json") and name in self.after and file.is_file() and "/dev/fd/7" not in self.line.files:
                yield from judge_json(file)
        if self.scripts and (left := list((self.scripts / "build").glob("ladder.*"))):
            yield f"left behind: {left}"


def judge_json(file: Path) -> Iterator[str]:
    try:
        json.loads(file.read_text())
    except ValueError as error:
        yield f"{file.name} is no JSON: {error}"


# ---- the tests ----

@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, bin_folder: Path) -> Bench:
    return Bench(tmp_path_factory.mktemp("lines"), bin_folder)


def run_lines(bench: Bench, request: pytest.FixtureRequest, count: int) -> None:
    """Draws and runs the lines. Prints how often each program ended with each exit code."""
    seed = request.config.getoption("--seed") or str(random.SystemRandom().randrange(10**9))
    chosen = request.config.getoption("--line")
    numbers = range(count) if chosen is None else [chosen]
    begun = time.monotonic()
    lines = [bench.draw(seed, number) for number in numbers]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        all_ran = list(pool.map(lambda line: Ran(bench, line), lines))
    summary = f"{len(lines)} command lines of --seed {seed} in {time.monotonic() - begun:.0f} s"
    for name in ("", *bench.programs):
        codes = collections.Counter(ran.code for ran in all_ran if name in ("", ran.line.program.name))
        if codes:
            counts = ", ".join(f"{codes[code]} × {code}" for code in sorted(codes, key=str))
            summary += f"\n  {name or 'exit codes'}: {counts}"
    with request.getfixturevalue("capfd").disabled():
        print(f"\n{summary}")
    wrong = [(number, ran) for number, ran in zip(numbers, all_ran) if ran.faults]
    if wrong:
        again = f"python3 -m pytest tests/fuzz_options_test.py -k two_hundred --bin {bench.bin} --seed {seed} --line "
        pytest.fail(f"{len(wrong)} of {summary}\nFor one of them: {again}NUMBER\n\n" + "\n\n".join(
            f"{number}: {ran.line}\n  " + "\n  ".join(ran.faults) for number, ran in wrong[:50]), pytrace=False)


def test_grammars_are_read(programs: Bench) -> None:
    """Else the lines would hold no option at all."""
    step = programs.programs["03_sequential"]
    assert Option(("-n", "--elements"), "COUNT") in step.options and Option(("-q", "--quiet")) in step.options
    assert programs.programs["pitfall"].has("--list") and programs.programs["ladder_table"].has("--json")
    without = {option.name for option in step.options if option.placeholder} - set(VALUES)
    assert not without, f"{without} have no values in VALUES of tests/command_lines.py"
    assert programs.programs["run_ladder.sh"].has("--elements")


def test_two_hundred_command_lines(programs: Bench, request: pytest.FixtureRequest) -> None:
    run_lines(programs, request, 200)


def test_ten_thousand_command_lines(programs: Bench, request: pytest.FixtureRequest) -> None:
    run_lines(programs, request, 10_000)
