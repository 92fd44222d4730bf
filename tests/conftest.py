"""What the tests in Python share. CTest runs each file by itself (tests/CMakeLists.txt)."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))
# What CTest shows as skipped.
SKIPPED = 77

Ran = subprocess.CompletedProcess[str]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bin", type=Path, default=REPOSITORY / "build/bin", help="the executables")


@pytest.fixture(scope="session")
def bin_folder(request: pytest.FixtureRequest) -> Path:
    return Path(request.config.getoption("--bin")).absolute()


@pytest.fixture(scope="session")
def tools() -> Callable[..., Ran]:
    """Runs python3 -m tools with these words; keywords are subprocess.run's."""

    def run(*words: str | Path, **options: object) -> Ran:
        return subprocess.run([sys.executable, "-m", "tools", *map(str, words)], cwd=REPOSITORY,  # type: ignore
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)

    return run


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A file whose tests are all skipped is shown as skipped."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == 0 and reporter is not None and reporter.stats.get("skipped") and not reporter.stats.get("passed"):
        session.exitstatus = SKIPPED
