"""The build folder as the scripts take it: by one run at a time, by a user who can write it. Streams, and packages."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest

import fake_programs
from tools.command_line import REPOSITORY
from tools.programs import steps_of

Script = Callable[..., "subprocess.Popen[str]"]
NOBODY = 65534
# Configures once, and builds nothing: the steps are there.
CMAKE = """
import time
if words[0] == "--version":
    print("cmake version 3.25.1")
elif words[0] == "--preset":
    time.sleep(0.5)
    with open("build/CMakeCache.txt", "w") as cache:
        cache.write("REDUCTION_BUILD_TESTS:BOOL=" + words[-2][-3:].strip("=") + "\\n")
elif words[-1] == "climb":
    for program in os.listdir("build/bin"):
        print("[1/1] ready:", program, flush=True)
"""
# Writes a line, a result where --json says, and ends when there is no file `hold`.
STEP = """
import time
while os.path.exists("hold") and "--help" not in words:
    time.sleep(0.05)
if "--json" in words and "--help" not in words:
    open(words[words.index("--json") + 1], "w").write("{}")
print(os.path.basename(sys.argv[0]), *words, flush=True)
"""
TAKE = "source common/scripts/set_up.sh; take_build_folder; "


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """One with programs that are made up, whose path has a space."""
    folder = tmp_path / "a checkout"
    folder.mkdir()
    fake_programs.make_ladder(folder, CMAKE)
    for name in ("00_cpu_serial", *steps_of("ladder"), "ladder_table"):
        fake_programs.make(folder / "build/bin", name, STEP)
    return folder


def environment(checkout: Path, **variables: str) -> dict[str, str]:
    return fake_programs.path_with(checkout / "fake") | {"REDUCTION_CUDA": "OFF"} | variables


@pytest.fixture
def start(checkout: Path) -> Iterator[Script]:
    """Starts a script, or a command of bash in the checkout, in a process group of its own."""
    started: list[subprocess.Popen[str]] = []

    def run(*words: str | Path, **variables: str) -> "subprocess.Popen[str]":
        started.append(subprocess.Popen(words, cwd=checkout, env=environment(checkout, **variables),
                                        process_group=0, stdin=subprocess.DEVNULL, stdout=PIPE, stderr=STDOUT,
                                        text=True))
        return started[-1]

    yield run
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def read_until(process: "subprocess.Popen[str]", text: str) -> str:
    assert process.stdout
    said = ""
    while text not in said:
        said += process.stdout.readline() or pytest.fail(f"'{text}' is not in:\n{said}")
    return said


def end_of(process: "subprocess.Popen[str]", timeout: float = 60) -> tuple[int, str]:
    said, _ = process.communicate(timeout=timeout)
    return process.returncode, said


# ---- one run at a time ----


def test_the_second_run_waits_for_the_first(checkout: Path, start: Script, need: Callable[[str], str]) -> None:
    """In a fresh checkout, both at once: each has its own results, and nothing is configured twice."""
    need("flock")
    first = start(checkout / "run_ladder.sh", "-n", "4M")
    said = read_until(first, "Configuring build")
    second = start(checkout / "run_ladder.sh", "-q")
    code, waited = end_of(second)
    assert code == 0 and end_of(first)[0] == 0, waited
    lines = waited.splitlines()
    assert lines[0] == f"Waiting for another run, which works in {checkout}/build", said
    assert "Configuring" not in waited and "00_cpu_serial -q --json" in lines[1], waited


def test_ctrl_c_ends_the_waiting(checkout: Path, start: Script, need: Callable[[str], str]) -> None:
    need("flock")
    (checkout / "hold").touch()
    first = start("bash", "-c", TAKE + "echo taken; read -r < <(sleep 60)")
    read_until(first, "taken")
    second = start(checkout / "run_tests.sh")
    read_until(second, "Waiting for another run")
    os.killpg(second.pid, signal.SIGINT)
    assert second.wait(10) == 130


def test_a_run_that_was_killed_leaves_no_lock(checkout: Path, start: Script, need: Callable[[str], str]) -> None:
    need("flock")
    (checkout / "hold").touch()
    first = start(checkout / "run_ladder.sh")
    read_until(first, "Configuring build")
    second = start("bash", "-c", TAKE + "echo taken")
    read_until(second, "Waiting for ")
    os.killpg(first.pid, signal.SIGKILL)
    assert end_of(second, 10) == (0, "taken\n")


def test_a_daemon_of_a_build_keeps_nobody_waiting(checkout: Path, start: Script, need: Callable[[str], str]) -> None:
    """Neither another run, nor whoever reads the table."""
    need("flock")
    daemon = """
import subprocess
if words[-1] == "00_cpu_serial":
    quiet = subprocess.DEVNULL
    started = subprocess.Popen(["sleep", "60"], stdin=quiet, stdout=quiet, stderr=quiet, close_fds=False,
                               start_new_session=True)
    open("daemon", "w").write(str(started.pid))
"""
    fake_programs.make(checkout / "fake", "cmake", CMAKE + daemon)
    try:
        code, said = end_of(start(checkout / "run_ladder.sh"), 30)
        assert code == 0 and "ladder_table" in said, said
        assert end_of(start("bash", "-c", TAKE + "echo taken"), 10) == (0, "taken\n")
    finally:
        os.kill(int((checkout / "daemon").read_text()), signal.SIGKILL)


def test_what_a_run_calls_does_not_wait_for_it(checkout: Path, start: Script) -> None:
    nested = start("bash", "-c", f"{TAKE} bash -c '{TAKE} echo inside'")
    assert end_of(nested, 10) == (0, "inside\n")


def test_tools_hold_the_folder_until_they_end(checkout: Path, start: Script, need: Callable[[str], str]) -> None:
    need("flock")
    shutil.copytree(REPOSITORY / "tools", checkout / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    script = "from tools import programs; print(programs.build(['ladder']), flush=True); input()"
    tool = subprocess.Popen([sys.executable, "-c", script, "measure"], cwd=checkout, stdin=PIPE, stdout=PIPE,
                            stderr=STDOUT, text=True, env=environment(checkout))
    read_until(tool, f"{checkout}/build/bin\n")
    second = start(checkout / "run_ladder.sh")
    read_until(second, "Waiting for another run")
    tool.communicate("\n")
    assert end_of(second, 20)[0] == 0


# ---- what a machine may lack ----


@pytest.mark.parametrize("script", ["./run_ladder.sh", "./run_tests.sh"])
@pytest.mark.parametrize("of_root", ["", "build", "build/lock"])
def test_a_folder_that_cannot_be_written_is_one_line(script: str, of_root: str) -> None:
    """What a run as root has left, or, where there is no build folder, the checkout."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are not open to others
        checkout = Path(folder)
        checkout.chmod(0o755)
        fake_programs.make_ladder(checkout, CMAKE)
        if of_root:
            (checkout / "build").mkdir()
            (checkout / "build/lock").touch()
        if of_root == "build/lock":
            os.chown(checkout / "build", NOBODY, NOBODY)
        ran = subprocess.run([script], cwd=checkout, env={"PATH": "/usr/local/bin:/usr/bin:/bin"}, capture_output=True,
                             text=True, user=NOBODY, group=NOBODY, extra_groups=[])
        assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (3, "", 1), ran
        assert f"error: {checkout}/build cannot be written: delete it (as root, if need be)" in ran.stderr


@pytest.mark.parametrize("script", ["run_ladder.sh", "run_tests.sh"])
def test_a_variable_that_means_nothing(checkout: Path, start: Script, script: str) -> None:
    assert end_of(start(checkout / script, REDUCTION_CUDA="yes")) == (
        2, f"{script}: error: REDUCTION_CUDA is 'yes'; it can be AUTO, ON or OFF\n")


@pytest.mark.parametrize("streams", ["2>/dev/full", "2>&-", "<&-", ">&-"])
def test_broken_streams_keep_the_exit_code(checkout: Path, streams: str) -> None:
    command = f"'{checkout}/run_ladder.sh' --json /nowhere/x {streams}"
    assert subprocess.run(["sh", "-c", command], env=environment(checkout), capture_output=True).returncode == 2


@pytest.mark.parametrize("options", ["--help", "--version"])
def test_help_that_nobody_gets(checkout: Path, options: str) -> None:
    with open("/dev/full", "w") as full:
        ran = subprocess.run([checkout / "run_ladder.sh", options], env=environment(checkout), stdout=full,
                             stderr=PIPE, text=True)
    assert ran.returncode == 3 and ran.stderr.endswith("run_ladder.sh: error: stdout does not take the output\n")


def test_a_link_from_elsewhere_is_followed(checkout: Path, start: Script) -> None:
    link = checkout.parent / "link to it"
    link.symlink_to(checkout / "run_ladder.sh")
    code, said = end_of(start(link, "-n", "4M", CDPATH=".:/"))
    assert code == 0 and "\n07_cascade -n 4M " in said and "\nladder_table " in said, said


@pytest.mark.parametrize("has_pytest, missing", [(True, ""), (False, "python3-pytest\n")])
def test_a_tool_on_path_needs_no_package(checkout: Path, start: Script, has_pytest: bool, missing: str) -> None:
    """Of pytest it is the module that Python must find: a program of that name may be another Python's."""
    fake_programs.make(checkout / "fake", "dpkg-query", "")
    fake_programs.make(checkout / "fake", "python3", f"sys.exit(words != ['-c', 'import pytest'] or {not has_pytest})")
    for tool in ("flake8", "pytest", "libfmt-dev.so"):
        fake_programs.make(checkout / "fake", tool, "")
    asked = "missing_packages flake8 libfmt-dev python3-pytest"
    assert end_of(start("bash", "-c", f"source common/scripts/set_up.sh; {asked}")) == (0, f"libfmt-dev\n{missing}")


def test_what_cannot_be_installed_is_named(checkout: Path, start: Script) -> None:
    fake_programs.make(checkout / "fake", "dpkg-query", "")
    fake_programs.make(checkout / "fake", "apt-get", "sys.exit(words[0] + ': not today')")
    fake_programs.make(checkout / "fake", "sudo", "os.execvp(words[0], words)")
    code, said = end_of(start("bash", "-c", "source common/scripts/set_up.sh; install_missing_packages libfmt-dev"))
    assert code == 3 and "update: not today\ninstall: not today\n" in said, said
    assert said.endswith("when 'apt-get install --no-install-recommends libfmt-dev' has, as root\n"), said


def test_without_apt_the_libraries_are_named(checkout: Path, start: Script) -> None:
    without_apt = "command() { [[ $2 != apt-get && $2 != cmake ]]; }; install_missing_packages x"
    assert end_of(start("bash", "-c", f"source common/scripts/set_up.sh; {without_apt}")) == (
        3, "bash: error: there is no CMake and no apt-get; this needs\n  CMake 3.25, a C++20 "
        "compiler, Ninja, CLI11, fmt, nlohmann-json; tests: GoogleTest, git, pytest, MPI\n")


def test_a_compiler_that_is_missing(checkout: Path, start: Script) -> None:
    fake_programs.make(checkout / "fake", "cmake", "sys.exit('there is no compiler')")
    code, said = end_of(start(checkout / "run_ladder.sh"))
    assert code == 3 and "\nthere is no compiler\nrun_ladder.sh: error: CMake could not configure" in said, said
    assert "\n  CMake 3.25, a C++20 compiler, Ninja, " in said


def test_an_unexpected_failure_is_no_wrong_result(checkout: Path, start: Script) -> None:
    """Exit code 1 is of a wrong result only. The command is named: it may have said nothing."""
    fake_programs.make(checkout / "fake", "mkdir", "sys.exit(words[0] != '-p')")
    code, said = end_of(start(checkout / "run_ladder.sh"))
    assert code == 3 and "\nrun_ladder.sh: error: exit code 1 of: mkdir " in said, said
