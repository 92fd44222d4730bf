"""The command line that all commands share: exit codes, one line for bad input, and streams that cannot be written."""

import os
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE, CompletedProcess

import fake_programs
import pytest

from tools import output_file
from tools.__main__ import COMMANDS
from tools.command_line import REPOSITORY, BadUsage, NotPossible, list_of, parse_count

Tools = Callable[..., CompletedProcess[str]]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_has_help(tools: Tools, command: str) -> None:
    ran = tools(*filter(None, [command]), "--help")
    assert ran.returncode == 0 and ran.stdout.startswith(f"usage: python3 -m tools {command}".rstrip()), ran.stderr


@pytest.mark.parametrize("words, said", [
    ((), "the following arguments are required: COMMAND"),
    (("mesure",), "invalid choice: 'mesure' (choose from 'measure'"),
    (("plot", "/nowhere"), "'/nowhere/measured.json' cannot be read: No such file"),
    (("measure", "--largest", "many"), "'many' is no count: give 1000003, 2^28 or 64M"), (("site", ""), "no value"),
    (("site", "--bin", "/nowhere"), "there is no such folder"),
    (("measure", "--largest", "2^49"), "from 0 to 2^48"), (("measure", "--largest", "0"), "begins at 2^10"),
    (("measure", "--commit="), "'--commit=' has no value"), (("measure", "--lim", "3"), "unrecognized arguments: --li"),
    (("measure", "--limit", "3", "--limit=4"), "--limit is there 2 times; give it once"),
    (("write-pages", "more"), "unrecognized arguments: more"), (("write-pages", "--"), "'--': there is nothing but"),
    (("check-pages", "--bin"), "--bin: expected one argument"), (("rounding", "--bin", ""), "'' has no value"),
    (("compare", "-s", "0"), "'0': give a whole number from 1 to 1000000"), (("compare", "-s", "1000001"), "from 1 "),
    (("compare", "-s", "2^3"), "from 1 to"), (("compare", "-n", "8,2^49"), "'2^49' is no count"),
    (("compare", "--samples", "3"), "--samples is not for compare"), (("compare", "--json", "/proc/x"), "/proc/x': No"),
    (("profile", "03_sequential", "-s", "3"), "-s is not for profile"), (("profile", "--counters=x"), "ignored expl"),
    (("site", "/etc/passwd"), "'/etc/passwd' is no folder"), (("site", "/proc/x"), "'/proc/x' is no folder"),
    (("plot", "/proc/self/mem"), "Not a directory"), (("plot", "--out", "x", "--out", "y", "z"), "--out is there 2 "),
    # The name of a file may have anything in it.
    (("plot", "/no\n\x1bwhere"), "'/no\\n\\x1bwhere/measured.json' cannot be read"),
    (("check-pages", "--bin", "a\nb"), "a\\nb': build it"), (("no\nsuch",), "invalid choice: 'no\\nsuch'")])
def test_bad_usage_is_one_line(tools: Tools, words: tuple[str, ...], said: str) -> None:
    ran = tools(*words)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1) and said in ran.stderr, ran.stderr


@pytest.mark.parametrize("streams, help_code, refusal_code", [
    ("2>&-", 0, 2), ("2>/dev/full", 0, 2), (">&-", 0, 2), (">/dev/full", 3, 2), (">/dev/full 2>/dev/full", 3, 2),
    ("<&- >&- 2>&-", 0, 2)])
def test_the_exit_code_survives_broken_streams(streams: str, help_code: int, refusal_code: int) -> None:
    for words, code in (("--help", help_code), ("plot /nowhere", refusal_code)):
        command = f"{sys.executable} -m tools {words} {streams}"
        # Which would leave nothing in the streams' buffers.
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
        assert subprocess.run(["sh", "-c", command], cwd=REPOSITORY, env=environment).returncode == code, command


@pytest.mark.parametrize("text, count", [("0", 0), ("1", 1), ("2^28", 2**28), ("64M", 2**26), ("1000003", 1000003),
                                         ("2^48", 2**48), ("262144G", 2**48), ("007", 7), ("1^999", 1), ("0^70", 0)])
def test_counts_are_those_of_the_steps(text: str, count: int) -> None:
    assert list_of(parse_count)(f"{text},{text}") == [count, count]


@pytest.mark.parametrize("text", ["", "-1", "2^", "1.5", "2^99", "9" * 16, "1e6", "1KM", "٣", "2^48K",
                                  "262145G", "2^" + "9" * 5000, "9" * 5000])
def test_other_counts_are_refused(text: str) -> None:
    with pytest.raises(Exception, match="is no count"):
        parse_count(text)
    assert BadUsage.code == 2


def test_texts_are_utf_8_in_every_locale(tools: Tools, tmp_path: Path) -> None:
    ascii_only = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"}
    assert "nowhere/ö" in tools("plot", "/nowhere/ö", env=ascii_only).stderr
    fake_programs.make(tmp_path, "said", "sys.stdout.buffer.write('µ –'.encode())")
    script = "import sys; from tools import gpu, programs; from pathlib import Path; folder = Path(sys.argv[1]); " \
        "print(ascii(gpu.said(str(folder / 'said')) + programs.Programs(folder).text('said')))"
    said = subprocess.run([sys.executable, "-c", script, tmp_path], cwd=REPOSITORY, env=ascii_only, capture_output=True)
    assert said.stdout.decode().strip() == ascii("µ –" * 2), said.stderr


def test_a_written_file_is_where_its_link_leads_with_the_mode_of_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    output_file.write(tmp_path / "link", "new")
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666 & ~umask()
    (tmp_path / "file").chmod(0o640)
    output_file.write(tmp_path / "link", "µ")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text("utf-8") == "µ"
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "link"]


def umask() -> int:
    os.umask(mask := os.umask(0))
    return mask


WRITE = "import sys; from pathlib import Path; from tools import command_line, output_file\n" \
    "file = Path(sys.argv[1])\n" \
    "try:\n  output_file.require_writable(file, '--json'); output_file.write(file, 'n' * 9999)\n" \
    "except command_line.Failure as why: print(why, file=sys.stderr); sys.exit(why.code)"


def written(path: str, folder: Path, limit: str = "unlimited") -> CompletedProcess[str]:
    return subprocess.run(["sh", "-c", f'cd "$1" && ulimit -f {limit} && "$2" -c "$3" "$4"', "sh", folder,
                           sys.executable, WRITE, path], env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
                          capture_output=True, text=True)


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    full = written("file", tmp_path, limit="1")
    assert (full.returncode, full.stderr) == (3, "'file' cannot be written: File too large\n")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("file", "old")]
    full = written("/dev/full", tmp_path)
    assert (full.returncode, full.stderr) == (3, "'/dev/full' cannot be written: No space left on device\n")


@pytest.mark.parametrize("path", ["-", "/dev/stdout", "pipe"])
def test_a_pipe_and_a_device_are_written_as_they_are(tmp_path: Path, path: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=PIPE, text=True) if path == "pipe" else None
    ran = written(path, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (reader.communicate(timeout=10)[0] if reader else ran.stdout) == "n" * 9999
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize("path, said", [
    ("/proc/x", "No such file"), ("nowhere/file", "No such file"), (".", "it is a folder"),
    ("file/file", "Not a directory")])
def test_a_file_that_there_cannot_be_is_refused_at_once(tmp_path: Path, path: str, said: str) -> None:
    (tmp_path / "file").touch()
    ran = written(path, tmp_path)
    assert ran.returncode == 2 and ran.stderr.startswith(f"--json '{path}': {said}") and ran.stderr.count("\n") == 1


@pytest.mark.parametrize("text", ["1", "2^10", "2^48", "2^49", "0", "007", "1K", "3^30", "1^99", "2^4294967296", "x"])
def test_counts_are_bounded_as_a_step_bounds_them(bin_folder: Path, text: str) -> None:
    """Where the step's parser takes the count, what follows may still be too large for this machine."""
    ran = subprocess.run([bin_folder / "07_cascade", "--device", "emulated", "-q", "-n", text, "-s", "1000001"],
                         capture_output=True, text=True)
    try:
        parse_count(text)
    except ArgumentTypeError:
        assert f"--elements '{text}'" in ran.stderr
    else:
        assert "--samples '1000001': give a whole number from 1 to 1000000" in ran.stderr


def test_two_processes_do_not_write_into_one_folder(tmp_path: Path) -> None:
    folder = tmp_path / "made/new"
    script = "from pathlib import Path; import sys; from tools import output_file\n" \
        "with output_file.alone_in(Path(sys.argv[1])): print('in', flush=True); input()"
    first = subprocess.Popen([sys.executable, "-c", script, folder], cwd=REPOSITORY, stdin=PIPE, stdout=PIPE, text=True)
    assert first.stdout and first.stdout.readline() == "in\n"
    with pytest.raises(NotPossible, match="another process works in '.*/made/new': wait for its end"):
        with output_file.alone_in(folder):
            pytest.fail("both are in")
    first.kill()
    first.wait()
    with output_file.alone_in(folder):  # one that was killed leaves no lock
        pass
    assert folder.exists()
    folder.rmdir()
    with output_file.alone_in(folder):
        pass
    assert not folder.exists(), "a folder that stays empty is not left behind"


def test_a_folder_that_cannot_be_written_is_one_line() -> None:
    """By a user to whom this applies: root may write anywhere."""
    user = 65534 if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(REPOSITORY / "tools", Path(folder, "tools"), ignore=shutil.ignore_patterns("__pycache__"))
        Path(folder, "common").mkdir()
        shutil.copy(REPOSITORY / "common/steps.txt", Path(folder, "common"))
        os.chmod(folder, 0o555)
        ran = subprocess.run(["/usr/bin/env", "python3", "-Bm", "tools", "site", folder], cwd=folder, text=True,
                             capture_output=True, env={"PATH": "/usr/bin:/bin"}, user=user, group=user,
                             extra_groups=None if user is None else [])
        os.chmod(folder, 0o755)
    assert ran.returncode == 2 and ran.stderr == (
        f"tools site: error: '{folder}' is no folder that can be written: Permission denied\n")
