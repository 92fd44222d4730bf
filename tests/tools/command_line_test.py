"""The command line that all commands share: exit codes, one line for bad input, and streams that cannot be written."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import fake_programs
import pytest

from tools import output_file
from tools.__main__ import COMMANDS
from tools.command_line import REPOSITORY, BadUsage, list_of, parse_count

Tools = Callable[..., CompletedProcess[str]]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_has_help(tools: Tools, command: str) -> None:
    ran = tools(*filter(None, [command]), "--help")
    assert ran.returncode == 0 and ran.stdout.startswith(f"usage: python3 -m tools {command}".rstrip()), ran.stderr


@pytest.mark.parametrize("words, said", [
    ((), "the following arguments are required: COMMAND"),
    (("mesure",), "invalid choice: 'mesure' (choose from 'measure'"),
    (("plot",), "RESULTS"), (("plot", "/nowhere"), "'/nowhere/measured.json' cannot be read: No such file"),
    (("measure", "--largest", "many"), "'many' is no count: give 1000003, 2^28 or 64M"), (("site", ""), "no name"),
    (("write-pages", "more"), "unrecognized arguments: more"),
    (("check-pages", "--bin"), "--bin: expected one argument")])
def test_bad_usage_is_one_line(tools: Tools, words: tuple[str, ...], said: str) -> None:
    ran = tools(*words)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1) and said in ran.stderr, ran.stderr


@pytest.mark.parametrize("streams, help_code, refusal_code", [
    ("2>&-", 0, 2), ("2>/dev/full", 0, 2), (">&-", 0, 2), (">/dev/full", 3, 2), (">/dev/full 2>/dev/full", 3, 2)])
def test_the_exit_code_survives_broken_streams(streams: str, help_code: int, refusal_code: int) -> None:
    for words, code in (("--help", help_code), ("plot /nowhere", refusal_code)):
        command = f"{sys.executable} -m tools {words} {streams}"
        # Which would leave nothing in the streams' buffers.
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
        assert subprocess.run(["sh", "-c", command], cwd=REPOSITORY, env=environment).returncode == code, command


@pytest.mark.parametrize("text, count", [("1", 1), ("2^28", 2**28), ("64M", 2**26), ("1000003", 1000003)])
def test_counts_are_those_of_the_steps(text: str, count: int) -> None:
    assert list_of(parse_count)(f"{text},{text}") == [count, count]


@pytest.mark.parametrize("text", ["", "0", "-1", "2^", "1.5", "2^99", "9" * 16, "1e6", "1KM"])
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


def test_a_written_file_is_where_its_link_leads(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    output_file.write(tmp_path / "link", "µ")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "µ"
    with pytest.raises(BadUsage, match="surrogates not allowed"):
        output_file.write(tmp_path / "link", "\udcff")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "link"]
