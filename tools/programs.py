"""The executables of the repository: which there are (common/steps.txt), building them, running them."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tools import results
from tools.command_line import REPOSITORY, BadUsage, ExitCode, Failure, NotPossible, say
from tools.results import Result

# Of build(): their folders are this process's as long as they are open.
builders: list["subprocess.Popen[str]"] = []


class Step(NamedTuple):
    """A line of common/steps.txt, which says what these are."""

    program: str
    part: str
    needs: str
    page: str


STEPS = [Step(*line.split()) for line in (REPOSITORY / "common/steps.txt").read_text("utf-8").splitlines()
         if not line.startswith("#")]
# The folders of 00 to 14, in order, from the repository's root.
NUMBERED = [Path(step.page) for step in STEPS if step.page.endswith(step.program)]
EMULATED = [step.program for step in STEPS if step.needs.startswith("any")]
HEADER_STEP = "12_any_operation"
ATOMICS = [step.program for step in STEPS if step.page == "beyond/atomics"]


def steps_of(*parts: str) -> list[str]:
    """The programs of these parts, without the one that needs no device."""
    return [step.program for step in STEPS if step.part in parts and step.needs != "cpu"]


# What is built only if the build is given headers or a checkout.
PEERS_BESIDE = ("cub_gpu_to_gpu", "cub_newer", "cub_not_guaranteed", "fast_cu")


def peer_names() -> list[str]:
    folders = [kernel.parent.name for kernel in REPOSITORY.glob("beyond/peers/*/kernel.cuh")]
    return sorted(f"peer_{name}" for name in (*folders, *PEERS_BESIDE))


def build(targets: Sequence[str]) -> Path:
    """Builds the targets as run_ladder.sh does, installing what is missing; returns the executables' folder. Until this
    process ends, it keeps other runs from building there."""
    script = """set -euo pipefail; source common/scripts/set_up.sh
        take_build_folder; install_missing_packages "${build_packages[@]}"; configure_with_tests OFF; build "$@"
        echo "$build_folder"; read -r || true"""
    # It has the lock, and waits for the end of its stdin.
    bash = subprocess.Popen(["bash", "-c", script, "tools", *targets], cwd=REPOSITORY,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    builders.append(bash)
    assert bash.stdout
    if folder := bash.stdout.readline().strip():
        return REPOSITORY / folder / "bin"
    code = bash.wait()
    if code < 0:
        raise NotPossible(f"the build was ended by {signal.Signals(-code).name}")
    sys.exit(code)  # it has said why


class Programs:
    """The executables of one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()

    def has(self, name: str) -> bool:
        return (self.folder / name).is_file() and os.access(self.folder / name, os.X_OK)

    def require(self, *names: str) -> None:
        """Throws BadUsage where one is missing."""
        for name in names:
            if not self.has(name):
                raise BadUsage(f"there is no {name} in '{self.folder}': build it, or name another folder with --bin")

    def run(self, name: str, *options: str | Path, launcher: Sequence[str] = (), **variables: str
            ) -> "subprocess.CompletedProcess[str]":
        """Runs it to its end, and keeps what it says. Its exit code is the caller's to judge."""
        return subprocess.run([*launcher, self.folder / name, *options], stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", errors="replace", env=os.environ | variables)

    def write(self, file: Path, run: str, launcher: Sequence[str] = (), **variables: str) -> Path:
        """Runs '07_cascade -n 2^20' on the GPU, never on the emulated device in its place, into the file, and returns
        this. Throws the failure that the exit code says."""
        name, *options = run.split()
        # A sweep writes what it has when Ctrl-C ends it. So the file gets its name when the program has succeeded.
        unfinished = file.with_name("unfinished")
        ran = self.run(name, "--device", "cuda", *options, "--quiet", "--json", unfinished, launcher=launcher,
                       **variables)
        if ran.returncode != 0:
            say(ran.stdout + ran.stderr)
            raise failure(ran.returncode, f"{run}: exit code {ran.returncode}")
        return unfinished.rename(file)

    def text(self, name: str, *options: str | Path) -> str:
        """What a program prints that has to succeed. Throws NotPossible with its last words where it does not."""
        ran = self.run(name, *options)
        if ran.returncode != 0:
            raise NotPossible(f"{name} {' '.join(map(str, options))}: exit code {ran.returncode}: {last_words(ran)}")
        return ran.stdout

    def result(self, step: str, *options: str | Path, accepted: Sequence[int] = (ExitCode.DONE,)) -> Result:
        """What a step finds. Throws the failure of its exit code, with its last words, where that is not accepted."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "result.json")
            ran = self.run(step, *options, "-q", "--json", file)
            if ran.returncode in accepted:
                return results.read_one(file, Result)
        said = last_words(ran)
        raise failure(ran.returncode, said if said.startswith(step) else f"{step}: exit code {ran.returncode}: {said}")


def failure(exit_code: int, text: str) -> Failure:
    """The failure that a program's exit code says; a crash is none of its verdicts."""
    kinds: dict[int, type[Failure]] = {ExitCode.WRONG: Failure, ExitCode.BAD_USAGE: BadUsage}
    return kinds.get(exit_code, NotPossible)(text)


def last_words(ran: "subprocess.CompletedProcess[str]") -> str:
    return (ran.stderr.strip() or ran.stdout.strip() or "nothing was said").splitlines()[-1]
