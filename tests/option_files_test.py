"""What a program does with the files that its options name, in whatever state they are."""

import os
import subprocess
from pathlib import Path

import pytest

STEP = "03_sequential -n 64 --device emulated -q"
# What is there, and what it links to. Of the others, only their names are.
FILES = {"notes.txt": "mine\n", "linked.json": "{}", "empty.json": "", "list.json": "[]", "bytes.json": "\0" * 99}
LINKS = {"link.json": "linked.json", "dangling.json": "nowhere.json", "self.json": "self.json",
         "full.html": "/dev/full"}
# A command, its exit code, and the one file that it changes.
CASES = [
    *((f"{STEP} --json {name}", 0, changed) for name, changed in [
        ("new.json", "new.json"), ("folder/../new.json", "new.json"), ("notes.txt", "notes.txt"), ("-", ""),
        ("link.json", "linked.json"), ("dangling.json", "nowhere.json"), ("/dev/null", ""), ("/dev/stdout", "")]),
    (f"{STEP} --json /dev/full", 3, ""),
    *((f"{STEP} --json {name}", 2, "") for name in (
        "folder", "folder/", ".", "/", "missing/new.json", "new.json/", "notes.txt/new.json", "self.json", "n" * 256)),
    (f"{STEP} --trace new.html", 0, "new.html"), (f"{STEP} --trace link.json", 0, "linked.json"),
    (f"{STEP} --trace full.html", 3, ""),
    *((f"{STEP} --trace {name}", 2, "") for name in ("folder.html", "missing/new.html", "self.json")),
    (f"{STEP} --trace new.html --trace-beside result.json", 2, ""),
    (f"{STEP} --compare result.json", 0, ""), ("ladder_table result.json", 0, ""),
    ("ladder_table wrong.json", 1, ""), ("ladder_table result.json --json new.json", 0, "new.json"),
    *((f"{command} {name}", 2, "") for command in (f"{STEP} --compare", "ladder_table") for name in (
        "missing.json", "folder", "notes.txt", "empty.json", "list.json", "bytes.json", "cut.json", "self.json",
        "/dev/null", "/proc/self/mem"))]


def state_of(folder: Path) -> dict[str, object]:
    """All that is in the folder."""
    return {str(path.relative_to(folder)): (os.readlink(path) if path.is_symlink() else path.is_file() and
                                            path.read_bytes()) for path in folder.rglob("*")}


@pytest.mark.parametrize(("line", "code", "changed"), CASES)
def test_a_program_changes_nothing_but_what_it_is_given(tmp_path: Path, bin_folder: Path, line: str, code: int,
                                                        changed: str) -> None:
    program, *words = line.split()
    for name in ("folder", "folder.html"):
        (tmp_path / name).mkdir()
    for name, target in LINKS.items():
        (tmp_path / name).symlink_to(target)
    subprocess.run([bin_folder / "03_sequential", "-n", "64", "--device", "emulated", "--json", "result.json"],
                   cwd=tmp_path, check=True, capture_output=True)
    result = (tmp_path / "result.json").read_text()
    wrong = result.replace('"verified": true', '"verified": false')
    for name, text in {**FILES, "cut.json": result[:200], "wrong.json": wrong}.items():
        (tmp_path / name).write_text(text)
    before = state_of(tmp_path)
    ran = subprocess.run([bin_folder / program, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    after = state_of(tmp_path)
    assert ran.returncode == code, ran.stderr
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} == {changed} - {""}
    if code in (2, 3):
        assert ran.stderr.startswith(f"{program}: error: ") and ran.stderr.count("\n") == 1
