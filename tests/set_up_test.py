"""The build folder as the scripts take it: by one run at a time, by a user who can write it, in any environment."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, STDOUT, CompletedProcess

import pytest

import fake_programs
from tools.command_line import REPOSITORY
from tools.programs import steps_of

Ran = CompletedProcess[str]
Script = Callable[..., "subprocess.Popen[str]"]
NOBODY = 65534
# Configures once, and builds nothing: the steps are there.
CMAKE = """
import time
if words[0] == "--version":
    print("cmake version 3.25.1")
elif words[0] == "--preset":
    time.sleep(0.5)
    open("build/CMakeCache.txt", "w").close()
elif words[-1] in ("climb", "climb_beyond", "climb_first"):
    for program in os.listdir("build/bin"):
        print("ready:", program, flush=True)
"""
# Leaves its own name where --json says, and ends when there is no file `hold`.
STEP = """
import time
while os.path.exists("hold"):
    time.sleep(0.05)
if "--json" in words:
    open(words[words.index("--json") + 1], "w").close()
print(os.path.basename(sys.argv[0]), *words)
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
    assert lines[0] == (f"Waiting for {checkout}/run_ladder.sh -n 4M (process {first.pid}), which works in "
                        f"{checkout}/build"), said
    assert "Configuring" not in waited and "00_cpu_serial -q --json" in lines[1], waited
    assert len(set(re.findall(r"build/ladder\.\w+", waited))) == 1
    assert not list(checkout.glob("build/ladder*"))


def test_ctrl_c_ends_the_waiting(checkout: Path, start: Script, need: Callable[[str], str]) -> None:
    need("flock")
    (checkout / "hold").touch()
    first = start("bash", "-c", TAKE + "echo taken; read -r < <(sleep 60)")
    read_until(first, "taken")
    second = start(checkout / "run_tests.sh")
    read_until(second, "Waiting for bash")
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
        assert (checkout / "build/lock").read_text() == "", "it names a run that has ended"
        assert end_of(start("bash", "-c", TAKE + "echo taken"), 10) == (0, "taken\n")
    finally:
        os.kill(int((checkout / "daemon").read_text()), signal.SIGKILL)


def test_what_a_killed_run_left_is_removed(checkout: Path, start: Script, need: Callable[[str], str]) -> None:
    """Names as mktemp makes them, and no other."""
    need("flock")
    (checkout / "build/ladder.mine.json").touch()
    (checkout / "hold").touch()
    first = start(checkout / "run_ladder.sh")
    while not (left := list(checkout.glob("build/ladder.??????"))) and first.poll() is None:
        time.sleep(0.02)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    (checkout / "build/pipe.a1B2c3").mkdir()
    assert left and left[0].exists()
    assert end_of(start("bash", "-c", TAKE + "echo taken"), 10) == (0, "taken\n")
    left = [*checkout.glob("build/ladder*"), *checkout.glob("build/pipe*")]
    assert [path.name for path in left] == ["ladder.mine.json"]


def test_what_a_run_calls_does_not_wait_for_it(checkout: Path, start: Script) -> None:
    nested = start("bash", "-c", f"{TAKE} bash -c '{TAKE} echo inside'")
    assert end_of(nested, 10) == (0, "inside\n")


def test_without_flock_there_is_no_lock(checkout: Path, start: Script) -> None:
    machine = checkout / "machine"
    machine.mkdir()
    for tool in ("bash", "sed", "grep", "mkdir", "find", "stat"):
        (machine / tool).symlink_to(str(shutil.which(tool)))
    first = start("bash", "-c", TAKE + "echo taken; read -r < <(sleep 60)")
    read_until(first, "taken")
    assert end_of(start(machine / "bash", "-c", TAKE + "echo taken", PATH=str(machine)), 10) == (0, "taken\n")


def test_tools_hold_the_folder_until_they_end(checkout: Path, start: Script, need: Callable[[str], str]) -> None:
    need("flock")
    shutil.copytree(REPOSITORY / "tools", checkout / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    script = "from tools import programs; print(programs.build(['ladder']), flush=True); input()"
    tool = subprocess.Popen([sys.executable, "-c", script, "measure"], cwd=checkout, stdin=PIPE, stdout=PIPE,
                            stderr=STDOUT, text=True, env=environment(checkout))
    read_until(tool, f"{checkout}/build/bin\n")
    second = start(checkout / "run_ladder.sh")
    assert f"(process {tool.pid})" in read_until(second, "Waiting for python3 -m tools measure")
    tool.communicate("\n")
    assert end_of(second, 20)[0] == 0


# ---- a folder that this user cannot write ----


@pytest.fixture
def foreign_checkout() -> Iterator[Path]:
    """Where another user can look for it, which pytest's own folders are not."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        shutil.copytree(REPOSITORY / "common/scripts", Path(folder, "common/scripts"))
        shutil.copytree(REPOSITORY / "tools", Path(folder, "tools"), ignore=shutil.ignore_patterns("__pycache__"))
        Path(folder, ".ci").mkdir()
        for file in ("run_ladder.sh", "run_tests.sh", ".ci/run", "CMakeLists.txt", "CMakePresets.json"):
            shutil.copy(REPOSITORY / file, Path(folder, file))
        yield Path(folder)
        subprocess.run(["chmod", "-R", "u+w", folder])


def give_away(*paths: Path) -> None:
    for path in paths:
        os.chown(path, NOBODY, NOBODY)


@pytest.mark.parametrize("script", ["./run_ladder.sh", "./run_tests.sh", ".ci/run", "tools"])
@pytest.mark.parametrize("foreign", ["", ".", "bin", "bin/03_sequential"])
def test_what_root_left_is_one_line(foreign_checkout: Path, script: str, foreign: str) -> None:
    """A file or a folder in the build folder, that itself, or, where there is none, the checkout."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    build = foreign_checkout / ("build-ci" if script == ".ci/run" else "build")
    named = build / foreign if foreign else foreign_checkout
    if foreign:
        (build / "bin").mkdir(parents=True)
        (build / "bin/03_sequential").touch()
    give_away(*(folder for folder in named.parents if folder.is_relative_to(build)))
    ran = run_script(foreign_checkout, script, NOBODY)
    assert_refused(ran, f"{named} cannot be written; it belongs to root: ")


@pytest.mark.parametrize("script", ["./run_ladder.sh", "./run_tests.sh", "tools"])
@pytest.mark.parametrize("locked", ["build", "build/bin"])
def test_a_read_only_folder_is_one_line(foreign_checkout: Path, script: str, locked: str) -> None:
    (foreign_checkout / "build/bin").mkdir(parents=True)
    if os.geteuid() == 0:
        give_away(foreign_checkout, foreign_checkout / "build", foreign_checkout / "build/bin")
    (foreign_checkout / locked).chmod(0o555)
    ran = run_script(foreign_checkout, script, NOBODY if os.geteuid() == 0 else None)
    assert_refused(ran, f"{foreign_checkout / locked} cannot be written; it belongs to ")


@pytest.mark.parametrize("file, said", [
    ("bin/kept", ""), ("configure.log", ""), ("lock", "build/lock cannot be written; it belongs to ")])
def test_a_read_only_file_of_ones_own_stops_no_build(foreign_checkout: Path, file: str, said: str) -> None:
    """But for the lock, which has to be written."""
    kept = foreign_checkout / "build" / file
    kept.parent.mkdir(parents=True)
    (foreign_checkout / "build/bin").mkdir(exist_ok=True)
    kept.write_text("mine")
    kept.chmod(0o444)
    as_root = os.geteuid() == 0
    if as_root:
        give_away(foreign_checkout, foreign_checkout / "build", foreign_checkout / "build/bin", kept)
    ran = subprocess.run(["bash", "-c", TAKE + "logged configure echo logged && echo taken"], cwd=foreign_checkout,
                         env={"PATH": "/usr/local/bin:/usr/bin:/bin"}, stdin=subprocess.DEVNULL, capture_output=True,
                         text=True, user=NOBODY if as_root else None, group=NOBODY if as_root else None,
                         extra_groups=[] if as_root else None)
    if said:
        assert_refused(ran, f"{foreign_checkout}/{said}")
    else:
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "taken\n", ""), ran


def test_a_file_of_another_owner_is_refused_before_the_build(foreign_checkout: Path) -> None:
    """It can be written, but not be replaced by one that has its owner."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    theirs = foreign_checkout / "all.json"
    theirs.touch()
    theirs.chmod(0o666)
    give_away(foreign_checkout)
    ran = subprocess.run(["./run_ladder.sh", "--json", "all.json"], cwd=foreign_checkout,
                         env={"PATH": "/usr/local/bin:/usr/bin:/bin"}, stdin=subprocess.DEVNULL, capture_output=True,
                         text=True, user=NOBODY, group=NOBODY, extra_groups=[])
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1), ran
    assert "--json 'all.json': it belongs to root; " in ran.stderr
    assert not (foreign_checkout / "build").exists() and not list(foreign_checkout.glob(".??????"))


def run_script(checkout: Path, script: str, user: int | None) -> Ran:
    command = [script] if script != "tools" else [
        "/usr/bin/env", "python3", "-c", "from tools import programs; programs.build(['ladder'])"]
    usual = {"PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=checkout, env=usual, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          user=user, group=user, extra_groups=None if user is None else [])


def assert_refused(ran: Ran, said: str) -> None:
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (3, "", 1), ran
    assert f"error: {said}" in ran.stderr, ran.stderr


# ---- any environment ----


@pytest.mark.parametrize("script", ["run_ladder.sh", "run_tests.sh"])
@pytest.mark.parametrize("name, value, said", [
    ("REDUCTION_PRESET", "nonsense", "it can be release, debug, sanitize, sanitize-threads, ci"),
    ("REDUCTION_PRESET", "docs", "it can be release, "), ("REDUCTION_PRESET", "release\ndebug", r"'release\ndebug'"),
    ("REDUCTION_PRESET", "../x", "it can be release, "), ("REDUCTION_CUDA", "yes", "it can be AUTO, ON or OFF")])
def test_a_variable_that_means_nothing(tmp_path: Path, script: str, name: str, value: str, said: str) -> None:
    fake_programs.make_ladder(tmp_path, CMAKE)
    before = sorted(tmp_path.iterdir())
    ran = subprocess.run([tmp_path / script], env=environment(tmp_path, **{name: value}), capture_output=True,
                         text=True)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1), ran
    assert f"error: {name} is '" in ran.stderr and said in ran.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("variables", [
    {"CDPATH": ".:/"}, {"TMPDIR": "/nowhere"}, {"GREP_OPTIONS": "-v"}, {"POSIXLY_CORRECT": "1"}, {"LC_ALL": "C"},
    {"TERM": ""}, {"HOME": "/nowhere"}, {"BASH_ENV": "/nowhere"}, {"SHELLOPTS": "noclobber:noglob"},
    {"BASHOPTS": "failglob:nullglob:nocasematch"}])
def test_an_unusual_environment_does_no_harm(checkout: Path, start: Script, variables: dict[str, str]) -> None:
    link = checkout.parent / "link to it"
    link.symlink_to(checkout / "run_ladder.sh")
    code, said = end_of(start(link, "-n", "4M", **variables))
    assert code == 0 and re.search(r"(?m)^07_cascade -n 4M ", said) and re.search("(?m)^ladder_table ", said), said


@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full", ">&-", "<&-", ">&- 2>&- <&-", ">/dev/full 2>/dev/full"])
@pytest.mark.parametrize("script", ["run_ladder.sh", "run_tests.sh"])
def test_broken_streams_keep_the_exit_code(checkout: Path, script: str, streams: str) -> None:
    command = f"'{checkout / script}' --nonsense {streams}"
    assert subprocess.run(["sh", "-c", command], env=environment(checkout), capture_output=True).returncode == 2


@pytest.mark.parametrize("options", ["--help", "--version"])
@pytest.mark.parametrize("stdout", ["full", "pipe"])
def test_help_that_nobody_gets(checkout: Path, options: str, stdout: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open("/dev/full" if stdout == "full" else writing, "w") as stream:
        ran = subprocess.run([checkout / "run_ladder.sh", options], env=environment(checkout), stdout=stream,
                             stderr=PIPE, text=True)
    assert (ran.returncode, ran.stderr) == (3, "run_ladder.sh: error: stdout does not take the output\n")


@pytest.mark.parametrize("script", ["run_ladder.sh", "run_tests.sh"])
@pytest.mark.parametrize("limit, said", [
    ("-f 0", "lock cannot be written: the disk is full, or ulimit -f is too low"),
    ("-n 10", "ulimit -n allows 10 open files, and a build takes more")])
def test_a_limit_that_is_too_low_is_named(checkout: Path, script: str, limit: str, said: str,
                                          need: Callable[[str], str]) -> None:
    need("flock")
    ran = subprocess.run(["bash", "-c", f"ulimit {limit}; exec './{script}'"], cwd=checkout,
                         env=environment(checkout), capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (3, "", 1), ran
    assert ran.stderr.startswith(f"{script}: error: ") and ran.stderr.endswith(f"{said}\n"), ran.stderr


def test_a_folder_that_ends_in_a_line_break(tmp_path: Path) -> None:
    folder = tmp_path / "checkout\n"
    folder.mkdir()
    fake_programs.make_ladder(folder, CMAKE)
    ran = subprocess.run([folder / "run_ladder.sh", "--version"], cwd="/", capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, ""), ran


def test_nothing_is_installed_where_packages_are_not_known(checkout: Path, start: Script) -> None:
    """A dpkg-query that fails does not say that all packages are missing."""
    fake_programs.make(checkout / "fake", "dpkg-query", "sys.exit(2)")
    fake_programs.make(checkout / "fake", "apt-get", "print('called')")
    assert end_of(start(checkout / "run_ladder.sh")) == (
        3, "run_ladder.sh: error: dpkg-query cannot say which packages are installed\n")


@pytest.mark.parametrize("has_pytest, missing", [(True, ""), (False, "python3-pytest\n")])
def test_a_tool_on_path_needs_no_package(checkout: Path, start: Script, has_pytest: bool, missing: str) -> None:
    """Of pytest it is the module that Python must find: a program of that name may be another Python's."""
    fake_programs.make(checkout / "fake", "dpkg-query", "")
    fake_programs.make(checkout / "fake", "python3", f"sys.exit(words != ['-c', 'import pytest'] or {not has_pytest})")
    for tool in ("flake8", "pytest", "libfmt-dev.so"):
        fake_programs.make(checkout / "fake", tool, "")
    asked = "missing_packages flake8 libfmt-dev python3-pytest"
    assert end_of(start("bash", "-c", f"source common/scripts/set_up.sh; {asked}")) == (0, f"libfmt-dev\n{missing}")


def test_macos_is_sent_to_the_container(checkout: Path, start: Script) -> None:
    """At once: with all libraries installed, it would be the compiler that fails."""
    assert end_of(start(checkout / "run_ladder.sh", OSTYPE="darwin23")) == (
        3, "run_ladder.sh: error: the emulated device takes Linux: docs/no_gpu.md has a container for macOS\n")


def test_an_unexpected_failure_is_no_wrong_result(checkout: Path, start: Script) -> None:
    """Exit code 1 is of a wrong result. The command is named: it may have said nothing."""
    fake_programs.make(checkout / "fake", "mktemp", "sys.exit(1)")
    code, said = end_of(start(checkout / "run_ladder.sh"))
    assert code == 3 and "\nrun_ladder.sh: error: exit code 1 of: results_folder=$(mktemp -d " in said, said
