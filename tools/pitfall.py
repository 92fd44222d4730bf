"""The pitfalls, docs/pitfalls/NAME.cu, and the generated parts of their pages: the program, and what ./emulate says."""

import re
import subprocess
from pathlib import Path

from tools.command_line import REPOSITORY, BadUsage, read_text
from tools.markdown import code, has_section
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


def source_part(program: Path) -> tuple[str, str]:
    """The section with the program, without its headers, or with its kernels alone."""
    section = section_of(page_of(program), "program", "kernel")
    text = re.sub(r"\A(#include[^\n]*\n)*\n", "", read_text(REPOSITORY / program))
    return section, code("cpp", text if section == "program" else re.split(r"(?m)^(?:__managed__|int main)", text)[0])


def command_of(program: Path) -> list[str]:
    """What the page shows. Where nothing is found, the counters show what is wrong."""
    return ["./emulate", *(["--quiet"] if has_section(page_of(program), "finding") else []), str(program)]


def said_part(programs: Programs, program: Path) -> tuple[str, str]:
    """The section with the command and all that it says."""
    command = command_of(program)
    ran = subprocess.run([programs.folder / "emulate", *command[1:]], cwd=REPOSITORY, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return section_of(page_of(program), "counters", "finding"), code("text", f"$ {' '.join(command)}\n{ran.stdout}")


def fixed(program: str, page: str) -> str:
    """The program with the changes that its page shows as diffs."""
    for block in re.findall(r"(?ms)^```diff\n(.*?)^```$", page):
        before, after = (re.sub(r"(?m)^.", "", re.sub(rf"(?m)^{left_out}.*\n", "", block)) for left_out in (r"\+", "-"))
        if program.count(before) != 1:
            raise BadUsage(f"what a diff changes has to be in the program once: {before}")
        program = program.replace(before, after)
    return program
