"""The pitfalls that are whole programs (docs/pitfalls/*.cu): the list says what is found in each, in every order of the
threads that is tried; its page shows what is said of it, and the change that makes it right."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from conftest import REPOSITORY
from tools import pitfall
from tools.command_line import BadUsage

LIST = (REPOSITORY / pitfall.FOLDER / "README.md").read_text("utf-8")
ROWS = {name: (title, found) for title, name, found in re.findall(r"(?m)^\| \[(.*?)\]\((\w+)\.md\) \| (.*?) \|", LIST)}


class Run(NamedTuple):
    exit_code: int
    said: str
    findings: list[dict[str, Any]]
    counters: dict[str, int]  # of all kernels


def run(bin_folder: Path, scratch: Path, *words: str | Path) -> Run:
    ran = subprocess.run([bin_folder / "emulate", "--json", scratch / "of.json", *words], cwd=REPOSITORY, text=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    said = json.loads((scratch / "of.json").read_text("utf-8"))
    counters: dict[str, int] = {}
    for kernel in said["kernels"]:
        for name, count in kernel["counters"].items():
            counters[name] = counters.get(name, 0) + count
    return Run(ran.returncode, ran.stdout, said["findings"], counters)


def without_columns(text: str) -> str:
    """Compilers differ in which of an expression's characters its column is."""
    return re.sub(r"(?m)^ +\| +[~^]+\n", "", re.sub(r"(\.cu:\d+):\d+", r"\1", text))


@pytest.mark.parametrize("program", pitfall.all_of_them(), ids=lambda program: f"{program.stem}")
def test_pitfall(program: Path, bin_folder: Path, tmp_path: Path) -> None:
    page = pitfall.page_of(program)
    title, found = ROWS[program.stem]
    assert page.splitlines()[0] == f"# {title[0].upper()}{title[1:]}"
    right = tmp_path / program.name
    right.write_text(pitfall.fixed((REPOSITORY / program).read_text("utf-8"), page), "utf-8")

    section = pitfall.section_of(page, "counters", "finding")
    _, *options = command = pitfall.command_of(program)
    broken = run(bin_folder, tmp_path, *options)
    assert without_columns(f"$ {' '.join(command)}\n{broken.said}```") in without_columns(page)
    fixed = run(bin_folder, tmp_path, *(["--schedules", "5"] if section == "finding" else []), right)
    assert (fixed.exit_code, fixed.findings) == (0, []), fixed.said
    if section == "counters":
        [(counter, before, after)] = re.findall(r"([\w ]+): ([\d,]+), fixed ([\d,]+)", found)
        assert [f"{of.counters[counter.replace(' ', '_')]:,}" for of in (broken, fixed)] == [before, after]
        assert (broken.exit_code, broken.findings) == (0, [])
    else:
        assert broken.exit_code == 1
        assert {finding["kind"] for finding in broken.findings} == set(found.split(", ")) - {"none"}, broken.said
    for finding in broken.findings:
        assert finding["kind"] in ROWS[Path(finding["page"]).stem][1].split(", "), "it names a page of another kind"


def test_each_kind_of_finding_has_a_pitfall() -> None:
    source = (REPOSITORY / "common/emulated/findings/finding.cpp").read_text("utf-8")
    names, of_kinds = ({fault: text for faults, text in re.findall(r'((?:case Fault::\w+:\s+)+)return "([\w ]+)"', part)
                        for fault in re.findall(r"::(\w+)", faults)} for part in source.split(" pitfall_of("))
    assert len(names) >= 20 and names.keys() == of_kinds.keys()
    for fault, name in of_kinds.items():
        assert names[fault] in ROWS[name][1].split(", "), f"{name} is of another kind"


def test_a_new_one_is_whole(bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pitfall, "REPOSITORY", tmp_path)
    (tmp_path / pitfall.FOLDER).mkdir(parents=True)
    (tmp_path / pitfall.LIST).write_text(LIST)
    words = ["made_up", "A made-up one", "--under", "On the host", "--bin", str(bin_folder)]
    assert pitfall.main(words) == 0
    host = (tmp_path / pitfall.LIST).read_text().split("## On the host")[1].split("##")[0]
    assert host.endswith("|\n| [a made-up one](made_up.md) | none |\n\n")
    page = pitfall.page_of(pitfall.FOLDER / "made_up.cu")
    assert page.startswith("# A made-up one\n") and "__global__ void sum" in page and "\n64 ones: 1\n```\n" in page
    assert "atomicAdd" in pitfall.fixed((tmp_path / pitfall.FOLDER / "made_up.cu").read_text(), page)
    for refused in (words, ["two words", "Two"], ["not_there"]):
        with pytest.raises(BadUsage):
            pitfall.main([*refused, "--bin", str(bin_folder)])
    assert pitfall.main(["made_up", "--bin", str(bin_folder)]) == 0
    assert pitfall.page_of(pitfall.FOLDER / "made_up.cu") == page
