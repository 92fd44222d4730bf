"""What the tests in Python share. CTest runs each file by itself (tests/CMakeLists.txt)."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from explorer.browser_test import Browser

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))
os.environ.pop("REDUCTION_PRESET", None)  # of CI: made-up checkouts have the usual one
os.environ.setdefault("CMAKE_GENERATOR", "Ninja")  # a bare machine has no make, and the scripts install Ninja
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")  # as whom a CI's container runs
# What CTest shows as skipped.
SKIPPED = 77

Ran = subprocess.CompletedProcess[str]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bin", type=Path, default=REPOSITORY / "build/bin", help="the executables")


@pytest.fixture(scope="session")
def bin_folder(request: pytest.FixtureRequest) -> Path:
    return Path(request.config.getoption("--bin")).absolute()


@pytest.fixture(scope="session")
def build_folder(bin_folder: Path) -> Path:
    return bin_folder.parent


def folders_of_kernels(build: Path) -> list[str]:
    """The compiler's options for all headers of the emulated device."""
    folders = (build / "emulated/common", REPOSITORY / "common")
    return [f"-I{folder}" for common in folders for folder in (common, common / "emulated/language/include")]


@pytest.fixture(scope="session")
def cmake_cache(build_folder: Path) -> dict[str, str]:
    """What CMake remembers of the build."""
    return dict(re.findall(r"^(\w+):\w+=(.*)$", (build_folder / "CMakeCache.txt").read_text(), re.MULTILINE))


@pytest.fixture
def without_sanitizers(cmake_cache: dict[str, str]) -> None:
    if cmake_cache["REDUCTION_SANITIZE"] != "OFF":
        pytest.skip("programs that `./emulate` makes have no sanitizer of the host's")


def succeed(*command: str | Path) -> str:
    """What a command prints, which has to end with 0."""
    ran = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


def emulate(bin_folder: Path, folder: Path, *words: str, stdin: str = "") -> Ran:
    """./emulate in a folder, where compilers say in English what is wrong."""
    return subprocess.run([bin_folder / "emulate", *words], cwd=folder, input=stdin, capture_output=True, text=True,
                          timeout=100, env=os.environ | {"LC_ALL": "C.UTF-8"})


@pytest.fixture(scope="session")
def need() -> Callable[[str], str]:
    """Returns the path of a program; without it, the test is skipped."""

    def path_of(program: str) -> str:
        return shutil.which(program) or pytest.skip(f"there is no {program} here")

    return path_of


@pytest.fixture(scope="session")
def gpus() -> int:
    """How many there are; without one, the test is skipped."""
    from tools import gpu
    return len(gpu.said("nvidia-smi", "-L").splitlines()) or pytest.skip("there is no GPU here")


@pytest.fixture(scope="module")
def browser(need: Callable[[str], str]) -> Iterator["Browser"]:
    pytest.importorskip("selenium", reason="there is no Selenium here (python3-selenium)")
    from explorer.browser_test import Browser
    made = Browser(need("chromium"), need("chromedriver"))
    yield made
    made.driver.quit()


@pytest.fixture(scope="session")
def tools() -> Callable[..., Ran]:
    """Runs `python3 -m tools` with these words; keywords are subprocess.run's."""

    def run(*words: str | Path, **options: object) -> Ran:
        return subprocess.run([sys.executable, "-m", "tools", *map(str, words)], cwd=REPOSITORY,  # type: ignore
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)

    return run


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A file whose tests are all skipped is shown as skipped."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    is_well = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if is_well and reporter is not None and reporter.stats.get("skipped") and not reporter.stats.get("passed"):
        session.exitstatus = SKIPPED
