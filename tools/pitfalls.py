"""The pitfalls that are whole programs, docs/pitfalls/*.cu: what their pages show, and their fixed forms."""

import re
import subprocess
from pathlib import Path

from tools.command_line import REPOSITORY, BadUsage, read_text
from tools.markdown import has_section
from tools.programs import Programs

FOLDER = Path("docs/pitfalls")


def all_of_them() -> list[Path]:
    """From the repository's root."""
    return sorted(file.relative_to(REPOSITORY) for file in (REPOSITORY / FOLDER).glob("*.cu"))


def page_of(program: Path) -> str:
    return read_text(REPOSITORY / program.with_suffix(".md"))


def section_of(page: str, *names: str) -> str:
    """Which of these the page has."""
    return next(name for name in names if has_section(page, name))


def shown(program: str, section: str) -> str:
    """The program without its headers, or of this the kernels alone."""
    text = re.sub(r"\A(#include[^\n]*\n)*\n", "", program)
    return text if section == "program" else re.split(r"(?m)^(?:__managed__|int main)", text)[0]


def command_of(program: Path, section: str) -> list[str]:
    """What the page shows. Where nothing is found, the counters show what is wrong."""
    return ["./emulate", *(["--quiet"] if section == "finding" else []), str(program)]


def said(programs: Programs, program: Path, section: str) -> str:
    """The command and all that it says."""
    command = command_of(program, section)
    ran = subprocess.run([programs.folder / "emulate", *command[1:]], cwd=REPOSITORY, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return f"$ {' '.join(command)}\n{ran.stdout}"


def fixed(program: str, page: str) -> str:
    """The program with the changes that its page shows as diffs."""
    for block in re.findall(r"(?ms)^```diff\n(.*?)^```$", page):
        before, after = (re.sub(r"(?m)^.", "", re.sub(rf"(?m)^{left_out}.*\n", "", block)) for left_out in (r"\+", "-"))
        if program.count(before) != 1:
            raise BadUsage(f"what a diff changes has to be in the program once: {before}")
        program = program.replace(before, after)
    return program
