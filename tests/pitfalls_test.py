"""The pitfalls (docs/pitfalls/*.cu): the list says what is found in each, at the same lines in every order of the
threads that is tried; its page shows what is said of it, and the change that makes it right."""

import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from conftest import REPOSITORY
from tools import pitfall

LIST = (REPOSITORY / pitfall.FOLDER / "README.md").read_text("utf-8")
NOTE = "failed call"  # which is no finding, and changes no exit code
SECONDS_IN_EACH_ORDER = ("endless loop", "wait for another block")
ROWS = {name: (title, found) for title, name, found in re.findall(r"(?m)^\| \[(.*?)\]\((\w+)\.md\) \| (.*?) \|", LIST)}


class Run(NamedTuple):
    exit_codes: set[int]
    said: str  # in the first order
    findings: list[dict[str, Any]]  # in all orders
    counters: dict[str, int]  # of all kernels


def run(bin_folder: Path, scratch: Path, source: Path, orders: int = 1, quiet: bool = True) -> Run:
    """As ./emulate does, in several orders of the threads."""
    program, of = scratch / source.stem, scratch / "of.json"
    subprocess.run([bin_folder / "emulate", "-o", program, source], cwd=REPOSITORY, check=True)
    ran = [subprocess.run([program], cwd=REPOSITORY, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=300, env=os.environ | {
                              "EMULATE": "quiet\n" * quiet + f"json={of}\norder={order}\n"}) for order in range(orders)]
    said = json.loads(of.read_text("utf-8"))
    counters: dict[str, int] = {}
    for kernel in said["kernels"]:
        for name, count in kernel["counters"].items():
            counters[name] = counters.get(name, 0) + count
    return Run({each.returncode for each in ran}, ran[0].stdout, said["findings"], counters)


def without_columns(text: str) -> str:
    """Compilers differ in which of an expression's characters its column is."""
    return re.sub(r"(?m)^ +\| +[~^]+\n", "", re.sub(r"(\.cu:\d+):\d+", r"\1", text))


@pytest.mark.parametrize("program", pitfall.all_of_them(), ids=lambda program: f"{program.stem}")
def test_pitfall(program: Path, bin_folder: Path, tmp_path: Path) -> None:
    source, page = (REPOSITORY / program).read_text("utf-8"), pitfall.page_of(program)
    title, found = ROWS[program.stem]
    assert page.splitlines()[0] == f"# {title[0].upper()}{title[1:]}"

    section, command = pitfall.section_of(page, "counters", "finding"), pitfall.command_of(program)
    orders = 2 if found in SECONDS_IN_EACH_ORDER else 5
    broken = run(bin_folder, tmp_path, program, orders, quiet="--quiet" in command)
    assert without_columns(f"$ {' '.join(command)}\n{broken.said}```") in without_columns(page)
    right = tmp_path / "fixed.cu"
    right.write_text(pitfall.fixed(source, page), "utf-8")
    fixed = run(bin_folder, tmp_path, right, 5 if section == "finding" else 1)
    assert (fixed.exit_codes, fixed.findings) == ({0}, []), fixed.said
    if section == "counters":
        [(counter, before, after)] = re.findall(r"([\w ]+): ([\d,]+), fixed ([\d,]+)", found)
        assert [f"{of.counters[counter.replace(' ', '_')]:,}" for of in (broken, fixed)] == [before, after]
        assert (broken.exit_codes, broken.findings) == ({0}, [])
    else:
        assert broken.exit_codes == {1}
        assert {finding["kind"] for finding in broken.findings} == set(found.split(", ")) - {"none", NOTE}, broken.said
    for finding in broken.findings:
        assert finding["kind"] in ROWS[Path(finding["page"]).stem][1].split(", "), "it names a page of another kind"
    times = Counter((finding["kind"], *sorted(witness["line"] for witness in finding["witnesses"]))
                    for finding in broken.findings)
    assert set(times.values()) <= {orders}, f"not in each order at the same lines: {times}"
    for barrier in re.finditer(r"(?m)^\+ *__(sync|threadfence).*\n", page):
        right.write_text(pitfall.fixed(source, page[:barrier.start()] + page[barrier.end():]), "utf-8")
        assert run(bin_folder, tmp_path, right).findings, f"one too many is {barrier[0]}"


def test_the_one_that_no_compiler_accepts(bin_folder: Path, tmp_path: Path) -> None:
    program = pitfall.FOLDER / "not_compiled/block_size_outside_the_template.cu"
    source, page = ((REPOSITORY / file).read_text("utf-8") for file in (program, pitfall.FOLDER / f"{program.stem}.md"))
    kernel = source.partition("\n\n")[2].partition("\n__managed__")[0]
    assert f"```cpp\n{kernel}```\n" in page
    ran = subprocess.run([bin_folder / "emulate", program], cwd=REPOSITORY, capture_output=True, text=True)
    assert ran.returncode == 2 and "error: " in ran.stderr and "block_size" in ran.stderr
    right = tmp_path / program.name
    right.write_text(pitfall.fixed(source, page), "utf-8")
    assert run(bin_folder, tmp_path, right)[:3] == ({0}, "128 ones: 128\n", [])


def test_a_symptom_leads_to_each_pitfall() -> None:
    symptoms = (REPOSITORY / "docs/symptoms.md").read_text("utf-8")
    assert not [name for name in ROWS if f"(pitfalls/{name}.md)" not in symptoms]


def test_each_kind_of_finding_has_a_pitfall() -> None:
    source = (REPOSITORY / "common/emulated/findings/finding.cpp").read_text("utf-8")
    rows = re.findall(r'case Fault::\w+: return {"([\w ]+)",\s+"(\w+)"};', source)
    assert len(rows) >= 20
    for kind, name in rows:
        assert kind in ROWS[name][1].split(", "), f"{name} is of another kind"
    page = (REPOSITORY / "common/emulated/README.md").read_text("utf-8")
    said = " ".join(re.findall(r"(?m)^\| (.*?) \|", page[page.index("## What is checked"):]))
    assert not [kind for kind, _ in rows if kind not in said], "What is checked has a row for each"
