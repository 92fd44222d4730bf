"""The files that other programs read: Dev Container, workflow, CITATION.cff, and the commands for a hosted GPU."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tools.command_line import REPOSITORY

DEV_CONTAINER = REPOSITORY / ".devcontainer"
SET_UP = (REPOSITORY / "common/scripts/set_up.sh").read_text()


def packages(script: str) -> list[str]:
    """Those of all lists in a script."""
    return " ".join(re.findall(r"(?m)^ *\w+_packages\+?=\((.*)\)$", script)).split()


def yaml(file: Path) -> Any:
    return pytest.importorskip("yaml", reason="there is no python3-yaml here").safe_load(file.read_text("utf-8"))


def test_top_level() -> None:
    """Beside dot files, the steps and the rooms there are a few files, and each is meant to be there."""
    tracked = subprocess.run(["git", "-C", REPOSITORY, "ls-files"], capture_output=True, text=True).stdout.split()
    if not tracked:
        pytest.skip("this is no git repository")
    files = {name for name in tracked if "/" not in name and not name.startswith(".")}
    assert files == {"README.md", "run_ladder.sh", "run_tests.sh", "CMakeLists.txt", "CMakePresets.json", "LICENSE",
                     "CITATION.cff"}


def test_ignored() -> None:
    """A trace that was written where the commands stand is not shown by `git status`; the project's files are."""
    names = ["03.html", "03.json", "sums.svg", "CMakePresets.json", "docs/x.html", "docs/x.json", "docs/x.svg"]
    told = subprocess.run(["git", "-C", REPOSITORY, "check-ignore", "--no-index", *names], capture_output=True,
                          text=True)
    if told.returncode > 1:
        pytest.skip("this is no git repository")
    assert told.stdout.split() == names[:3]


def test_dev_container() -> None:
    given = json.loads((DEV_CONTAINER / "devcontainer.json").read_text())
    dockerfile = DEV_CONTAINER / given["build"]["dockerfile"]
    context = DEV_CONTAINER / given["build"]["context"]
    assert context.resolve() == REPOSITORY
    sources = re.findall(r"(?m)^COPY (.*) \S+$", dockerfile.read_text())
    assert sources and all((context / source).is_file() for source in sources)
    assert (REPOSITORY / given["postCreateCommand"]).is_file()
    # It has no list of its own: this would drift.
    assert not set(packages(SET_UP)) & set(re.findall(r"[\w+-]+", dockerfile.read_text()))


def test_dev_container_installs_what_the_scripts_need(tmp_path: Path) -> None:
    """The Dockerfile's command, on a made-up machine that has none of the packages."""
    machine, folder = tmp_path / "bin", tmp_path / "folder"
    machine.mkdir()
    folder.mkdir()
    for tool in ("bash", "cat", "env", "grep", "mkdir", "rm", "sed", "tail", "tee"):
        (machine / tool).symlink_to(str(shutil.which(tool)))
    for tool, does in {"apt-get": f'echo "$@" >>{tmp_path}/said', "sudo": '"$@"', "dpkg-query": ""}.items():
        (machine / tool).write_text(f"#!{machine}/bash\n{does}\n")
        (machine / tool).chmod(0o755)
    shutil.copy(REPOSITORY / "common/scripts/set_up.sh", folder)
    command = re.findall(r"(?ms)^RUN (.*?)(?: \\\n  && rm .*?)?$", (DEV_CONTAINER / "Dockerfile").read_text())[0]
    ran = subprocess.run(["bash", "-c", command], cwd=folder, env={"PATH": str(machine)}, capture_output=True,
                         text=True)
    assert ran.returncode == 0, ran
    installed = set((tmp_path / "said").read_text().splitlines()[-1].split())
    # `git` is in the image, but not on this machine.
    assert set(packages(SET_UP)) | {"clangd"} <= installed


def test_hosted_gpu_commands() -> None:
    """docs/no_gpu.md names what the scripts take: their version of CMake, their commands, their options."""
    page = (REPOSITORY / "docs/no_gpu.md").read_text("utf-8")
    found = re.search(r"CMake ([\d.]+)", SET_UP)
    assert found and f"| CMake | {found[1]} |" in page
    commands = re.findall(r"(?m)^(?:!|docker run ).*", page.replace("\\\n", ""))
    assert len(commands) == 4
    for command in commands:
        subprocess.run(["bash", "-n", "-c", command.lstrip("!")], check=True)
    script = (REPOSITORY / "run_ladder.sh").read_text()
    called = re.findall(r"\./(\w+\.sh)((?: --\w+)*)$", "\n".join(commands), re.MULTILINE)
    assert [name for name, _ in called] == ["run_ladder.sh"] * 3
    assert all(f"{option})" in script for _, options in called for option in options.split())


def test_workflow() -> None:
    workflow = yaml(REPOSITORY / ".github/workflows/ci.yml")
    check, publish = workflow["jobs"]["check"], workflow["jobs"]["publish"]
    steps = check["steps"] + publish["steps"]
    for step in steps:
        assert re.fullmatch(r"actions/[\w-]+@v\d+", step.get("uses", "actions/none@v1")), step
        for script in re.findall(r"(?m)^\.\S+", step.get("run", "")):
            assert (REPOSITORY / script).is_file()
    assert ".ci/run" in [step.get("run") for step in steps]
    # What comes with a pull request may read; only what was merged is published.
    assert workflow["permissions"] == {"contents": "read"} and "permissions" not in check
    assert publish["permissions"] == {"pages": "write", "id-token": "write"}
    assert publish["if"] == "github.ref == 'refs/heads/main'" and publish["needs"] == "check"


def test_citation() -> None:
    text = (REPOSITORY / "CITATION.cff").read_text("utf-8")
    version = re.search(r"project\(reduction VERSION (\S+)", (REPOSITORY / "CMakeLists.txt").read_text())
    holder = re.search(r"Copyright \(c\) \d+ (.*)", (REPOSITORY / "LICENSE").read_text())
    assert version and f"\nversion: {version[1]}\n" in text
    assert holder and f"\nauthors:\n  - name: {holder[1]}\n" in text
    assert "\nlicense: MIT\n" in text


def test_citation_is_valid() -> None:
    """As the Citation File Format 1.2.0 has it, as far as this file goes."""
    citation = yaml(REPOSITORY / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(citation) <= {
        "cff-version", "message", "type", "title", "abstract", "authors", "version", "license", "keywords",
        "repository-code", "references"}
    assert citation["cff-version"] == "1.2.0" and citation["type"] == "software"
    for work in [citation, *citation["references"]]:
        assert work["title"] and work["type"] in ("software", "slides", "thesis")
        assert all(set(author) in ({"name"}, {"family-names", "given-names"}) for author in work["authors"])
