"""The commands of the pages: each `sh` block is run as it is printed, in a copy of the repository with what is built.

A page's blocks run in their order and in one folder, so that a command may need what one before it wrote. A command
whose comment, behind it or on the line above, says "exit code 1" has to end with it, any other one with 0. What a page
shows as a command's output, its `text` blocks and a step's table of counters, has to be what it prints. The lists below
say what is not run, and why.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import REPOSITORY

import fake_programs
from tools import gpu, site, step_pages
from tools.__main__ import COMMANDS
from tools.measure import AGAINST_CUB
from tools.programs import STEPS, peer_names

# Patterns of whole commands. Each has to be on a page.
NOT_RUN = {
    r"sudo apt install .*": "changes the machine; the scripts install the same packages",
    r"docker run .*": "downloads an image",
    r"\./run_ladder\.sh.*": "builds for minutes; .ci/run calls it, and run_ladder_test.py its options",
    r"\./run_tests\.sh": "calls this test",
    r"cmake --build --preset release": "builds for minutes, which ./run_tests.sh does",
    r"ctest --preset release.*": "calls this test",
    r"(until )?python3 -m tools measure.*": "builds, and measures for ten minutes; measure_test.py has a made-up GPU",
    r"python3 -m tools scaling": "builds, and measures several GPUs; scaling_test.py has made-up ones",
    r"python3 -m tools compare.*": "builds, and measures for minutes; compare_test.py has a made-up GPU",
    r"python3 -m tools check-pages": "the test generated_pages is this command, in the repository",
    r"node docs/stills/draw_stills\.js --check": "the test stills is this command, in the repository",
    r"python3 -m tools rounding": "takes minutes; figures_test.py holds what it has written",
    r"python3 -m tools plot --out FOLDER .* RESULTS": "FOLDER and RESULTS are the reader's; plot_test.py has two cards",
    r"mpirun .* --hostfile hosts .*": "takes two machines",
    r"srun .*": "takes two machines and Slurm",
}
# As a rank of MPI does. The other programs of the steps need none: they take a GPU where there is one.
NEEDS_A_GPU = [
    r"build/bin/(11_bulk_copy|12_any_operation|12_against_cub|peer_\w+)\b.*",
    r"nvcc docs/first_program/main\.cu .*",
    r"cuobjdump .*",
    r"python3 -m tools profile .*",
]
# Run in a test with the label `long` only, so that the others take about a minute on two cores. The tests `plot`,
# `site` and `stills` make the same.
LONG = [
    r"cmake --preset docs && cmake --build --preset docs",
    r"node docs/stills/draw_stills\.js",
    r"python3 -m tools (plot|site|write-pages)",
    r"build/bin/\w+ .*-t float32 -n 2\^25",
]
# Not everywhere: what a command takes, and whether it is here.
TAKES: list[tuple[str, str, Callable[[], object]]] = [
    (r"cuobjdump .*", "cuobjdump", lambda: shutil.which("cuobjdump")),
    (r"g\+\+ .*", "g++", lambda: shutil.which("g++")),
    (r"mpirun .*", "Open MPI", lambda: "Open MPI" in gpu.said("mpirun", "--version")),
    (r"node .*", "Node", lambda: shutil.which("node")),
    (r"nvcc .*", "nvcc", lambda: shutil.which("nvcc")),
    (r"python3 -m tools profile .*", "Nsight Compute", lambda: shutil.which("ncu")),
    (r"python3 -m tools plot.*", "matplotlib", lambda: find_spec("matplotlib")),
    (r"(python3 -m tools site|cmake --preset docs).*", "all that the site takes", site.installed),
]
# `text` blocks that no command of their page prints: the page, how they begin, and what holds them.
NOT_PRINTED = [
    ("00_cpu_serial/README.md", "            5   2   8", "a drawing"),
    ("06_templated/README.md", "$L__BB0_6:", "ptx_test.py"),
    ("06_templated/README.md", "setp.gt.u32 %p3", "ptx_test.py"),
    ("06_templated/README.md", "06_templated: error: a block has", "of the exercise: solutions_test.py"),
    ("06_templated/README.md", "result  WRONG: 262144", "of the exercise: solutions_test.py"),
    *(("beyond/atomics/atomic_each/README.md", begins, "of the exercise: solutions_test.py")
      for begins in ("uninitialised read in", "race in reduce_kernel")),
    ("beyond/12_any_operation/README.md", "reduce([storage", "a signature"),
    ("common/emulated/README.md", "03_sequential: error:", "of a kernel without its barrier"),
    ("docs/no_gpu.md", "!git clone", "cells of a notebook"),
]
# Other languages that a block may have. A shell's other names would hide its commands from this test.
TEXT = {"text", ""}
LANGUAGES = {"sh", *TEXT, "cpp", "python", "diff", "cmake", "math"}

HANGS_AFTER, LONG_HANGS_AFTER = 120, 600  # seconds, on a machine that runs other tests as well
NOT_POSSIBLE_HERE = 3  # what the steps and the tools end with where the GPU cannot do it


class Block(NamedTuple):
    language: str
    line: int
    text: str


class Command(NamedTuple):
    text: str
    line: int
    exit_code: int

    def is_one_of(self, patterns: Iterable[str]) -> bool:
        return any(re.fullmatch(pattern, self.text) for pattern in patterns)

    def gpus(self) -> int:
        ranks = re.match(r"mpirun -np (\d+) ", self.text)
        if ranks and "--device emulated" not in self.text:
            return int(ranks[1])
        return int(self.is_one_of(NEEDS_A_GPU))

    def takes_a_gpu_where_there_is_one(self) -> bool:
        of_a_step = re.match(r"build/bin/(0[1-9]|1\d|atomic)_", self.text) and "--device" not in self.text
        return self.gpus() > 0 or of_a_step is not None

    def why_not_here(self, targets: set[str]) -> str:
        """What is missing, or nothing. Some programs are built only where there are CUDA, MPI or a library."""
        for pattern, what, is_here in TAKES:
            if re.fullmatch(pattern, self.text) and not is_here():
                return f"there is no {what} here"
        not_built = set(re.findall(r"\bbuild/bin/(\w+)", self.text)) - targets
        return f"this build has no {', '.join(sorted(not_built))}" if not_built else ""


class Ran(NamedTuple):
    exit_code: int
    output: str  # and errors, as a terminal shows them


def files_of_the_repository() -> list[str]:
    """Those that git tracks, and new ones that it does not ignore; where it is no git repository, what is not built."""
    listed = subprocess.run(["git", "-C", REPOSITORY, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True)
    files = listed.stdout.split("\0") if listed.returncode == 0 else [
        str(file.relative_to(REPOSITORY)) for file in REPOSITORY.rglob("*")
        if not str(file.relative_to(REPOSITORY)).startswith((".git/", "build"))]
    return sorted(file for file in files if (REPOSITORY / file).is_file())


def blocks_of(page: str) -> list[Block]:
    text = (REPOSITORY / page).read_text("utf-8")
    return [Block(found[2], text.count("\n", 0, found.start()) + 2, textwrap.dedent(found[3]))
            for found in re.finditer(r"(?ms)^ *(`{3,})(\S*)[^\n`]*\n(.*?)^ *\1`* *$", text)]


def commands_in(block: Block) -> Iterator[Command]:
    """A command may go on after a backslash, or up to the end of a loop."""
    lines: list[str] = []
    for number, line in enumerate(block.text.splitlines(), block.line):
        lines.append(line)
        source = "\n".join(lines)
        if line.endswith("\\") or subprocess.run(["bash", "-n", "-c", source], stderr=subprocess.DEVNULL).returncode:
            continue
        comments = " ".join(re.findall(r"(?:^|\s)#(.*)", source))
        text = re.sub(r"(?m)(^|\s)#.*", "", source.replace("\\\n", " ")).strip()
        if text:
            expected = re.search(r"exit code (\d+)", comments)
            differs = text.startswith("diff ")  # it ends with 1, and a page shows no files that are the same
            yield Command(re.sub(" +", " ", text), number, int(expected[1]) if expected else int(differs))
            lines = []
    assert not lines or not re.sub(r"(?m)^\s*#.*", "", "\n".join(lines)).strip(), f"this is no command: {lines}"


PAGES = {page: blocks_of(page) for page in files_of_the_repository() if page.endswith(".md")}
COMMANDS_OF = {page: [command for block in blocks if block.language == "sh" for command in commands_in(block)]
               for page, blocks in PAGES.items()}


def with_pages(has: Callable[[Command], bool]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", [page for page, commands in COMMANDS_OF.items() if any(map(has, commands))])


# ---- where they run ----


class Place:
    """The repository's files, with links to the programs in its build/bin, and a home of its own."""

    def __init__(self, folder: Path, repository: Path, targets: set[str]) -> None:
        self.folder = folder / "repository"
        self.targets = targets
        self.elsewhere = folder / "elsewhere"
        self.elsewhere.mkdir(parents=True)
        subprocess.run(["cp", "-R", "--link", repository, self.folder], check=True)  # to copy them takes a second
        fake_programs.make(folder / "programs", "python3",
                           f"os.execv({sys.executable!r}, [{sys.executable!r}, *words])")
        # Of a build only whether there are such targets.
        cmake = shutil.which("cmake")
        fake_programs.make(folder / "programs", "cmake", f"""
            if words[:3] == ["--build", "build", "--target"]:
                unknown = set(words[3:]) - {targets!r}
                sys.exit(f"there is no target {{unknown}}" if unknown else 0)
            os.execv({cmake!r}, [{cmake!r}, *words])""")
        self.environment = {
            **fake_programs.path_with(folder / "programs"), "HOME": str(self.elsewhere), "LC_ALL": "C.UTF-8",
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}

    def run(self, command: Command, environment: dict[str, str], hangs_after: int) -> Ran:
        text = command.text.replace("/tmp/", f"{self.elsewhere}/")
        process = subprocess.Popen(["bash", "-e", "-o", "pipefail", "-c", text], cwd=self.folder,
                                   env={**self.environment, **environment}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=hangs_after)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            output += b"\nit had not ended after %d s" % hangs_after
        return Ran(process.returncode, with_paths_in_the_repository(output.decode(errors="replace")))


def with_paths_in_the_repository(text: str) -> str:
    """A source is named as seen from the current folder. That is the repository for a reader, and a copy for a test."""

    def shortened(found: re.Match[str]) -> str:
        parts = Path(found[0]).parts
        return next((str(path) for path in (Path(*parts[k:]) for k in range(1, len(parts)))
                     if (REPOSITORY / path).is_file()), found[0])

    return re.sub(r"(?<![\w.])/[\w./-]+(?=:\d+:\d+:)", shortened, text)


@pytest.fixture(scope="session")
def fresh_repository(tmp_path_factory: pytest.TempPathFactory, bin_folder: Path) -> Iterator[Path]:
    """What each place begins as. Places have links to its files: a command may replace one, but not write into it."""
    made = tmp_path_factory.mktemp("fresh") / "repository"
    for file in files_of_the_repository():
        (made / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / file, made / file)
    (made / "build/bin").mkdir(parents=True)
    for program in bin_folder.iterdir():
        (made / "build/bin" / program.name).symlink_to(program)
    if (bin_folder.parent / "emulated").is_dir():
        shutil.copytree(bin_folder.parent / "emulated", made / "build/emulated")
    written = {file: file.lstat().st_mtime_ns for file in made.rglob("*") if not file.is_dir()}
    yield made
    assert written == {file: file.lstat().st_mtime_ns for file in written}, "a command wrote into what all places share"


@pytest.fixture
def place(tmp_path: Path, fresh_repository: Path, targets: set[str]) -> Iterator[Place]:
    yield Place(tmp_path, fresh_repository, targets)
    subprocess.run(["rm", "-rf", tmp_path], check=True)  # pytest would keep dozens of copies


@pytest.fixture(scope="session")
def targets(build_folder: Path) -> set[str]:
    """Of the real build; Ninja and Make list them in different forms."""
    said = subprocess.run(["cmake", "--build", build_folder, "--target", "help"], capture_output=True, text=True)
    assert said.returncode == 0, said
    return set(re.findall(r"(?m)^(?:\.\.\. )?(\w+)(?:$|:| \()", said.stdout))


# ---- running them ----


def run_commands(page: str, place: Place, chosen: Callable[[Command], bool], on_a_gpu: bool = False,
                 hangs_after: int = HANGS_AFTER) -> tuple[dict[Command, str], list[str]]:
    """What each prints, and what could not be run on this machine."""
    printed: dict[Command, str] = {}
    left_out: list[str] = []
    for command in COMMANDS_OF[page]:
        if command.is_one_of(NOT_RUN) or not chosen(command):
            continue
        if why := command.why_not_here(place.targets):
            left_out.append(f"{command.text}: {why}")
            continue
        ran = place.run(command, {} if on_a_gpu else {"CUDA_VISIBLE_DEVICES": ""}, hangs_after)
        if on_a_gpu and ran.exit_code == NOT_POSSIBLE_HERE:
            left_out.append(f"{command.text}: {ran.output.strip().splitlines()[-1]}")
            continue
        assert ran.exit_code == command.exit_code, (
            f"{page}:{command.line}: {command.text}\nends with exit code {ran.exit_code} instead of "
            f"{command.exit_code}:\n{ran.output[-2000:]}")
        for code in re.findall(r"(?m)^exit code (\d+)$", ran.output):
            assert f"exit code {code}" in (REPOSITORY / page).read_text("utf-8"), (
                f"{page}:{command.line}: {command.text}\nprints an exit code that the page does not speak of:\n"
                f"{ran.output[-2000:]}")
        printed[command] = ran.output
    return printed, left_out


def without_times(text: str) -> str:
    return re.sub(r"[\d.]+(?= ?(?:GB/s|[mµn]?s)\b)", "*", text)


def is_held_elsewhere(page: str, block: Block) -> bool:
    return any(page == its_page and block.text.startswith(begins) for its_page, begins, _ in NOT_PRINTED)


def compare_with_page(page: str, printed: dict[Command, str]) -> None:
    """A `text` block is printed by one command: by the one that it names behind a $, or else by any of the page."""
    for block in PAGES[page]:
        if block.language not in TEXT or is_held_elsewhere(page, block):
            continue
        named = re.match(r"\$ (.*)\n", block.text)
        shown = block.text.removeprefix(named[0]) if named else block.text
        by = [output for command, output in printed.items() if not named or command.text == named[1]]
        assert any(without_times(shown) in without_times(output) for output in by), (
            f"{page}:{block.line}: no command of the page prints\n{shown}\nbut:\n{''.join(by)[-4000:]}")


def counters_of(page: str) -> str:
    """The table of a step's counters without the links that `write-pages` puts in it; nothing where there is none."""
    found = re.search(r"(?s)<!-- counters:begin -->\n(\| counted \|.*?)<!-- counters:end -->",
                      (REPOSITORY / page).read_text("utf-8"))
    return re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", found[1]) if found else ""


def compare_counters_with_page(page: str, printed: dict[Command, str]) -> None:
    if table := counters_of(page):
        assert any(f"\n{table}\n" in output for output in printed.values()), f"{page}: no command prints\n{table}"


def is_quick(command: Command) -> bool:
    return command.gpus() == 0 and not command.is_one_of(LONG)


@pytest.mark.parametrize("page", [page for page, blocks in PAGES.items()
                                  if any(block.language in {"sh", *TEXT} for block in blocks)])
def test_without_a_gpu(page: str, place: Place) -> None:
    commands = COMMANDS_OF[page]
    printed, left_out = run_commands(page, place, is_quick)
    compare_counters_with_page(page, printed)
    if not left_out and not any(command.is_one_of(LONG) for command in commands):
        compare_with_page(page, printed)
    if left_out:
        pytest.skip(f"the others of {page} were run, but not {'; '.join(left_out)}")
    if commands and not printed:
        pytest.skip(f"{page}: the lists say why its commands are not run, or not here")


@with_pages(lambda command: command.is_one_of(LONG))
def test_long(page: str, place: Place) -> None:
    printed, left_out = run_commands(page, place, lambda command: command.gpus() == 0, hangs_after=LONG_HANGS_AFTER)
    if left_out:
        pytest.skip(f"the others of {page} were run, but not {'; '.join(left_out)}")
    compare_with_page(page, printed)


@pytest.fixture(scope="session")
def gpus(bin_folder: Path) -> int:
    """How many there are; without one, the test is skipped."""
    found = gpu.said("nvidia-smi", "-L").splitlines()
    if not found:
        pytest.skip("there is no GPU here")
    if not (bin_folder / "12_any_operation").exists():
        pytest.skip("this build is without CUDA")
    return len(found)


@with_pages(Command.takes_a_gpu_where_there_is_one)
def test_on_a_gpu(page: str, gpus: int, place: Place) -> None:
    _, left_out = run_commands(
        page, place, lambda command: command.gpus() <= gpus and not command.is_one_of(LONG), True, LONG_HANGS_AFTER)
    left_out += [f"{command.text}: there are fewer than {command.gpus()} GPUs here" for command in COMMANDS_OF[page]
                 if command.gpus() > gpus]
    if left_out:
        pytest.skip(f"the others of {page} were run, but not {'; '.join(left_out)}")


# ---- the lists ----


@pytest.mark.parametrize("pattern", [*NOT_RUN, *NEEDS_A_GPU, *LONG, *(pattern for pattern, _, _ in TAKES)])
def test_what_is_on_a_list_is_on_a_page(pattern: str) -> None:
    assert any(command.is_one_of([pattern]) for commands in COMMANDS_OF.values() for command in commands)


@pytest.mark.parametrize("page, begins", [(page, begins) for page, begins, _ in NOT_PRINTED])
def test_a_text_on_the_list_is_on_its_page(page: str, begins: str) -> None:
    assert any(block.text.startswith(begins) for block in PAGES[page])


def test_each_step_with_counters_has_their_table() -> None:
    assert {Path(page).parent.name for page in PAGES if counters_of(page)} == set(step_pages.CHANGED)


def test_every_command_of_a_shell_is_in_a_block_of_sh() -> None:
    for page, blocks in PAGES.items():
        assert {block.language for block in blocks} <= LANGUAGES, page


def test_a_block_is_split_into_commands() -> None:
    block = Block("sh", 7, "# above, exit code 2\nnvcc a.cu\n\nfirst \\\n  -q   # exit code 1\nfor i in 1 2; do\n  a\n"
                           "done\n[ $# = 0 ] || echo \"exit code $?\"\n# below\n")
    assert list(commands_in(block)) == [
        ("nvcc a.cu", 8, 2), ("first -q", 11, 1), ("for i in 1 2; do\n a\ndone", 14, 0),
        ("[ $# = 0 ] || echo \"exit code $?\"", 15, 0)]


# ---- what texts, messages and scripts name ----


def test_what_is_named_is_there(targets: set[str]) -> None:
    """The programs, targets, tools and scripts that a reader is told to run, in whatever file."""
    programs = targets | {step.program for step in STEPS} | set(peer_names()) | {"peers", AGAINST_CUB}
    programs |= {"08_mine", "step_matrix_08_mine_test"}  # a step of the reader's own
    wrong = []
    for file in files_of_the_repository():
        if not file.endswith((".md", ".py", ".sh", ".cpp", ".hpp", ".js", ".yml", ".json", ".cmake", ".txt")):
            continue
        text = (REPOSITORY / file).read_text("utf-8")
        named = re.findall(r"\bbuild/bin/(\w+)", text)
        for options in re.findall(r"cmake --build build --target ((?:[\w]+ ?)+)", text):
            named += shlex.split(options)
        wrong += [f"{file}: {name}" for name in named if name not in programs and name != name.upper()]
        wrong += [f"{file}: tools {name}" for name in re.findall(r"python3 -m tools ([a-z][\w-]*)", text)
                  if name not in COMMANDS]
        wrong += [f"{file}: {script}" for script in re.findall(r"(?<![\w.}])\./(\w+\.sh)\b", text)
                  if not (REPOSITORY / script).exists()]
    assert not wrong, "\n".join(wrong)
