"""Makes a pitfall, docs/pitfalls/NAME.cu, with its page and its row in the list; or writes its page's generated parts.

With a title it makes the files: a small program whose sum is wrong, and the change that makes it right. Put the bug in
its place, and run this again without a title: the page then shows the program and what ./emulate says of it. The test
`pitfalls` holds the row to that, and the change to the right result.

Exit code: 0 done, 2 bad usage.
"""

import re
import subprocess
from pathlib import Path

from tools import output_file
from tools.command_line import REPOSITORY, BadUsage, ExitCode, Parser, read_text
from tools.markdown import code, has_section, with_section
from tools.programs import Programs

FOLDER = Path("docs/pitfalls")
LIST = FOLDER / "README.md"
SLOW = "Right, and slow"  # the heading of those that the counters show
NEW_PROGRAM = """#include <cstdio>

/// Meant to leave a block's sum in out[0].
__global__ void sum(const int* in, int* out) {
  if (threadIdx.x == 0) out[0] = in[0];
}

__managed__ int in[64], out;

int main() {
  for (int& element : in)
    element = 1;
  sum<<<1, 64>>>(in, &out);
  cudaDeviceSynchronize();
  std::printf("64 ones: %d\\n", out);
  return out != 64;
}
"""
NEW_PAGE = """# {title}

<!-- kernel:begin -->
<!-- kernel:end -->

```sh
{command}
```

<details>
<summary>What it says, what is wrong, and the fix</summary>

<!-- {section}:begin -->
<!-- {section}:end -->

Why it is wrong, and why it often seems to work.

```diff
-  if (threadIdx.x == 0) out[0] = in[0];
+  atomicAdd(out, in[threadIdx.x]);
```

</details>

Who reported it, with a link.
"""


def main(words: list[str]) -> int:
    text = read_text(REPOSITORY / LIST)
    parser = Parser("pitfall", __doc__)
    parser.add_bin()
    parser.add_argument("name", metavar="NAME", help="of its files: the mistake in a few words, joined_like_this")
    parser.add_argument("title", metavar="TITLE", nargs="?", help="the mistake, as the list has it; it makes the files")
    parser.add_argument("--under", choices=re.findall("(?m)^## (.*)$", text), default="In a reduction",
                        metavar="HEADING", help=f"of the list; under '{SLOW}' the page shows counters")
    chosen = parser.parse_args(words)
    programs, program = Programs(chosen.bin), FOLDER / f"{chosen.name}.cu"
    programs.require("emulate")
    if chosen.title:
        make(program, chosen.title, chosen.under, text)
    elif not (REPOSITORY / program).exists():
        raise BadUsage(f"there is no {program}: with a title, this makes it")
    page = page_of(program)
    for section, part in (source_part(program), said_part(programs, program)):
        page = with_section(page, section, part)
    output_file.write(REPOSITORY / program.with_suffix(".md"), page)
    return ExitCode.DONE


def make(program: Path, title: str, heading: str, text: str) -> None:
    """Writes its files and, as the last one under the heading, its row."""
    if not re.fullmatch(r"[a-z]\w*", program.stem) or list((REPOSITORY / FOLDER).glob(f"{program.stem}.*")):
        raise BadUsage(f"'{program.stem}' is no new name: a_few_words like those in {FOLDER}")
    section = "counters" if heading == SLOW else "finding"
    before, table, after = re.split(rf"(?ms)(^## {heading}\n.*?^(?:\|[^\n]*\n)+)", text)
    row = f"| [{title[0].lower()}{title[1:]}]({program.stem}.md) | none |\n"
    command = f"./emulate {program}{'' if section == 'counters' else '  # exit code 1'}"
    page = NEW_PAGE.format(title=title[0].upper() + title[1:], command=command, section=section)
    files = {program: NEW_PROGRAM, program.with_suffix(".md"): page, LIST: before + table + row + after}
    for file, new in files.items():
        output_file.write(REPOSITORY / file, new)


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
