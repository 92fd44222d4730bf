"""The commands of the pages: each `sh` block is run as it is printed, in a copy of the repository with what is built.

A page's blocks run in their order and in one folder, so that a command may need what one before it wrote. A command
whose comment, behind it or on the line above, says "exit code 1" has to end with it, any other one with 0. What a
`text` block shows has to be what a command of its page prints; solutions_test.py holds those of exercises. The lists
below say what is not run, and why.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import REPOSITORY

import fake_programs

# Patterns of whole commands. Each has to be on a page.
NOT_RUN = {
    r"sudo apt install .*": "changes the machine; the scripts install the same packages",
    r"docker run .*": "downloads an image",
    r"\./run_ladder\.sh.*": "builds for minutes; .ci/run calls it, and scripts_test.py its options",
    r"\./run_tests\.sh": "calls this test",
    r"\./emulate .*": "builds the emulated device; emulate_test.py and pitfalls_test.py run what it builds",
    r"cmake --install build --component emulate .*": "takes that build; emulate_test.py installs this one's",
    r"cmake --build --preset release": "builds for minutes, which ./run_tests.sh does",
    r"ctest --preset release.*": "calls this test",
    r"(until .*)?python3 -m tools measure.*": "builds, and measures for ten minutes; measure_test.py has a made-up GPU",
    r"python3 -m tools scaling": "builds, and measures several GPUs; scaling_test.py has made-up ones",
    r"python3 -m tools rows": "builds, and measures for minutes",
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
    r"build/bin/(12_any_operation|12_against_cub|peer_\w+)\b.*",
    r"build/bin/\w+ .*--device cuda\b.*",
    r"nvcc (-.* )?docs/(first_program/main|persisting_lines)\.cu .*",
    r"cuobjdump .*",
    r"python3 -m tools profile .*",
]
# Run in a test with the label `long` only, so that the others take about a minute on two cores.
LONG = [
    r"cmake --preset docs && cmake --build --preset docs",
    r"node docs/stills/draw_stills\.js",
    r"python3 -m tools (plot|site|write-pages)",
    r"build/bin/\w+ .*-t float32 -n 2\^25",
]
TOOLS = {"cuobjdump", "doxygen", "gdb", "hipcc", "mpirun", "node", "nvcc"}  # that a machine may lack
# Other names of a shell would hide its commands from this test. A drawing has none.
LANGUAGES = {"sh", "text", "", "cpp", "python", "diff", "cmake", "math"}
NOT_POSSIBLE_HERE = 3  # what the steps and the tools end with where the machine cannot do it


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

    def why_not_here(self, programs: Path) -> str:
        """What is missing, or nothing. Some programs are built only where there are CUDA, MPI or a library."""
        tool = "doxygen" if "--preset docs" in self.text else self.text.split()[0]
        if tool in TOOLS and not shutil.which(tool):
            return f"there is no {tool} here"
        missing = [name for name in re.findall(r"\bbuild/bin/(1[23]_\w+|peer_\w+)", self.text)
                   if not (programs / name).exists()]
        return f"this build has no {', '.join(missing)}" if missing else ""


def blocks_of(page: Path) -> list[Block]:
    """But for those of exercises' solutions."""
    text = page.read_text("utf-8")
    exercise = text.find("\n## Exercise\n") % (len(text) + 1)
    return [Block(found[2], text.count("\n", 0, found.start()) + 2, found[3])
            for found in re.finditer(r"(?ms)^(`{3,})(\S*)[^\n`]*\n(.*?)^\1`*$", text)
            if found[2] == "sh" or found.start() < exercise]


def commands_in(block: Block) -> Iterator[Command]:
    """A command is a line, which may go on after a backslash."""
    comments = ""
    for line in re.finditer(r"(?:[^\n]*\\\n)*[^\n]+", block.text):
        text, *comment = re.split(r"(?:^|\s)#", line[0].replace("\\\n", " "), maxsplit=1)
        comments += " ".join(comment)
        if text := re.sub(" +", " ", text.strip()):
            expected = re.search(r"exit code (\d+)", comments)
            differs = text.startswith("diff ")  # it ends with 1, and a page shows no files that are the same
            yield Command(text, block.line + block.text.count("\n", 0, line.end()),
                          int(expected[1]) if expected else int(differs))
            comments = ""


PAGES = {str(page.relative_to(REPOSITORY)): blocks_of(page) for page in sorted(REPOSITORY.rglob("*.md"))
         if not str(page.relative_to(REPOSITORY)).startswith((".", "build"))}  # hidden, or built
COMMANDS_OF = {page: [command for block in blocks if block.language == "sh" for command in commands_in(block)]
               for page, blocks in PAGES.items()}


def with_pages(has: Callable[[Command], bool]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", [page for page, commands in COMMANDS_OF.items() if any(map(has, commands))])


# ---- running them ----


class Place:
    """The repository's files, with links to the programs in its build/bin, and a home of its own."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self.home, self.programs = folder / "repository", folder / "home", programs
        self.home.mkdir()
        built = shutil.ignore_patterns("build", "build-*", ".git", ".*_cache", "__pycache__")
        shutil.copytree(REPOSITORY, self.folder, ignore=built)
        (self.folder / "build").mkdir()
        (self.folder / "build/bin").symlink_to(programs)
        fake_programs.make(folder / "fake", "python3", f"os.execv({sys.executable!r}, [{sys.executable!r}, *words])")
        # Of a build only whether there are such programs.
        fake_programs.make(folder / "fake", "cmake", f"""
            if words[:3] == ["--build", "build", "--target"]:
                sys.exit(not all(os.path.exists("build/bin/" + word) for word in words[3:]))
            os.execv({shutil.which("cmake")!r}, [{shutil.which("cmake")!r}, *words])""")
        self.environment = {
            **fake_programs.path_with(folder / "fake"), "HOME": str(self.home), "LC_ALL": "C.UTF-8",
            "OMPI_MCA_mpi_yield_when_idle": "1"}

    def run(self, command: Command, environment: dict[str, str], seconds: int) -> tuple[int, str]:
        """Its exit code and what a terminal shows, with sources named as seen from the repository."""
        text = command.text.replace("/tmp/", f"{self.home}/")
        ran = subprocess.run(["timeout", str(seconds), "bash", "-e", "-o", "pipefail", "-c", text], cwd=self.folder,
                             env={**self.environment, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace")
        return ran.returncode, ran.stdout.replace(f"{REPOSITORY}/", "")


@pytest.fixture
def place(tmp_path: Path, bin_folder: Path) -> Iterator[Place]:
    yield Place(tmp_path, bin_folder)
    shutil.rmtree(tmp_path)  # pytest would keep dozens of copies


def run_page(page: str, place: Place, chosen: Callable[[Command], bool], seconds: int = 120, on_a_gpu: bool = False
             ) -> None:
    """The test is skipped where not all of it could be done on this machine."""
    printed: dict[str, str] = {}
    left_out = []
    for command in COMMANDS_OF[page]:
        if command.is_one_of(NOT_RUN) or not chosen(command):
            continue
        if why := command.why_not_here(place.programs):
            left_out.append(f"{command.text}: {why}")
            continue
        code, output = place.run(command, {} if on_a_gpu else {"CUDA_VISIBLE_DEVICES": ""}, seconds)
        if code == NOT_POSSIBLE_HERE and (on_a_gpu or "python3 -m tools" in command.text):
            left_out.append(f"{command.text}: {output.strip().splitlines()[-1]}")
            continue
        assert code == command.exit_code, (f"{page}:{command.line}: {command.text}\nends with exit code {code} instead "
                                           f"of {command.exit_code}:\n{output[-2000:]}")
        printed[command.text] = output
    if not left_out and all(map(chosen, COMMANDS_OF[page])):
        compare_with_page(page, printed)
    if left_out:
        pytest.skip(f"the others of {page} were run, but not {'; '.join(left_out)}")
    if not printed:
        pytest.skip(f"{page}: the lists say why its commands are not run, or not here")


def compare_with_page(page: str, printed: dict[str, str]) -> None:
    """A `text` block is printed by the command that it names behind a $, or else by any; times may differ. The list of
    what is not run says who holds the others."""

    def without_times(text: str) -> str:
        return re.sub(r"[\d.]+(?= ?(?:GB/s|[mµn]?s)\b)", "*", text)

    for block in PAGES[page]:
        named = re.match(r"\$ (.*)\n", block.text)
        is_not_run = named and Command(named[1], block.line, 0).is_one_of(NOT_RUN)
        if block.language == "text" and not is_not_run:
            by = [output for command, output in printed.items() if not named or command == named[1]]
            shown = block.text.removeprefix(named[0]) if named else block.text
            assert any(without_times(shown) in without_times(output) for output in by), (
                f"{page}:{block.line}: no command of the page prints\n{shown}\nbut:\n{''.join(by)[-4000:]}")


@with_pages(lambda command: True)
def test_without_a_gpu(page: str, place: Place) -> None:
    run_page(page, place, lambda command: command.gpus() == 0 and not command.is_one_of(LONG))


@with_pages(lambda command: command.is_one_of(LONG))
def test_long(page: str, place: Place) -> None:
    run_page(page, place, lambda command: command.gpus() == 0, seconds=600)


@with_pages(Command.takes_a_gpu_where_there_is_one)
def test_on_a_gpu(page: str, gpus: int, place: Place) -> None:
    if not (place.programs / "12_any_operation").exists():
        pytest.skip("this build is without CUDA")
    run_page(page, place, lambda command: command.gpus() <= gpus and not command.is_one_of(LONG), 600, on_a_gpu=True)


# ---- the lists and the reading ----


@pytest.mark.parametrize("pattern", [*NOT_RUN, *NEEDS_A_GPU, *LONG])
def test_what_is_on_a_list_is_on_a_page(pattern: str) -> None:
    assert any(command.is_one_of([pattern]) for commands in COMMANDS_OF.values() for command in commands)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_has_a_language_that_is_known(page: str) -> None:
    assert {block.language for block in PAGES[page]} <= LANGUAGES
    assert all(block.language != "text" or COMMANDS_OF[page] for block in PAGES[page])


def test_a_block_is_split_into_commands() -> None:
    text = ("# above, exit code 2\nnvcc a.cu\n\nfirst \\\n  -q   # exit code 1\n"
            "[ $# = 0 ] || echo \"exit code $?\"\n# below\n")
    assert list(commands_in(Block("sh", 7, text))) == [
        ("nvcc a.cu", 8, 2), ("first -q", 11, 1), ("[ $# = 0 ] || echo \"exit code $?\"", 12, 0)]
