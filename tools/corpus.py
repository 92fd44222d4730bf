"""Runs the programs of docs/corpus.csv on the emulated device, and says which of them do not end as they ought to.

FOLDER holds checkouts of their repositories, as owner/name or name. Nothing is fetched. What came is written into
docs/foreign_kernels.md, which says what the columns of the list mean. Programs that were not run keep their rows.

Exit code: 0 done, 1 a program has become worse, or fewer than 90 % of all end as they ought to, 2 bad usage, 3 there is
nothing to run, 130 Ctrl-C.
"""

import csv
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tools import output_file
from tools.command_line import REPOSITORY, ExitCode, NotPossible, Parser, read_text, say
from tools.markdown import table, with_section

LIST = REPOSITORY / "docs/corpus.csv"
PAGE = REPOSITORY / "docs/foreign_kernels.md"
EMULATE = REPOSITORY / "emulate"
ENOUGH = 0.9
TO_BUILD = 300  # seconds
REFUSED = "refused: "
PLACE = r"(?:[^\n]*/)?([^/:\n]+):(\d+)(?::\d+)?: "


class Program(NamedTuple):
    """A row of the list."""

    repository: str
    commit: str
    path: str
    options: str
    expects: str
    says: str
    because: str

    @property
    def cells(self) -> str:
        """How its row on the page begins, unlike all others."""
        link = f"https://github.com/{self.repository}/blob/{self.commit}/{self.path}"
        return f"[`{self.path}`]({link}) | " + (f"`{self.options}`" if self.options else "")


def read_list() -> list[Program]:
    return [Program(**row) for row in csv.DictReader(read_text(LIST).splitlines())]


def main(words: list[str]) -> int:
    parser = Parser("corpus", __doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the checkouts")
    parser.add_argument("--only", default="", metavar="PATTERN", help="programs whose owner/name/path matches it")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="programs at once; default 1")
    parser.add_argument("--seconds", type=int, default=600, metavar="S",
                        help="what a program gets whose row has no --limit; default 600")
    options = parser.parse_args(words)
    programs = read_list()
    folders = {key: checkout(options.folder, *key) for key in dict.fromkeys(one[:2] for one in programs)}
    chosen = [(one, folder) for one in programs if (folder := folders[one[:2]])
              and re.search(options.only, f"{one.repository}/{one.path}")]
    if not chosen:
        raise NotPossible("there is nothing to run")
    subprocess.run([EMULATE, "--version"], check=True, stdout=subprocess.DEVNULL)  # which builds it
    before = endings_on(read_text(PAGE))
    now = dict(before)
    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            for (one, _), ended in zip(chosen, pool.map(lambda each: run(options.seconds, *each), chosen)):
                now[one.cells] = ended
                if not is_as_expected(one.expects, ended):
                    print(f"{one.repository}/{one.path}: ought to: {one.expects}; ended: {ended}", flush=True)
                output_file.write(PAGE, with_section(read_text(PAGE), "corpus", rows(programs, now)))
        finally:
            pool.shutdown(cancel_futures=True)
    print(*(": ".join(each) for each in re.findall(r"### (.*)\n\n.*: (.*)\.", rows(programs, now))), sep="\n")
    good = good_ones(programs, now)
    is_enough = good >= good_ones(programs, before) and len(good) >= ENOUGH * len(programs)
    return ExitCode.DONE if is_enough else ExitCode.WRONG


def checkout(folder: Path, repository: str, commit: str) -> Path | None:
    for place in (folder / repository, folder / repository.split("/")[1]):
        if place.is_dir():
            git = subprocess.run(["git", "-C", place, "rev-parse", "HEAD"], capture_output=True, encoding="utf-8")
            if git.stdout.strip() != commit:
                say(f"{place} is at {git.stdout.strip() or 'no commit'}, and the list means {commit}")
            return place.resolve()
    say(f"{folder} has no {repository}, which the list means at {commit}")
    return None


# ---- how a program ends ----


def run(seconds: int, program: Program, folder: Path) -> str:
    file, options = folder / program.path, program.options.split()
    limit = [] if "--limit" in options else ["--limit", str(seconds)]
    try:
        return ending(program, subprocess.run(
            [EMULATE, "--quiet", *limit, file.name, *options], cwd=file.parent, timeout=seconds + TO_BUILD,
            stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace"))
    except subprocess.TimeoutExpired:
        return "hangs"


def ending(program: Program, ran: "subprocess.CompletedProcess[str]") -> str:
    """In the words of `expects`."""
    name, places = Path(program.path), dict[str, list[str]]()
    said_by_it = rf"{re.escape(name.stem)}: error"
    for file, line, kind in re.findall(rf"(?m)^{said_by_it}: {PLACE}(.+?) in ", ran.stderr):
        places.setdefault(kind, []).append(line if file == name.name else f"{file}:{line}")
    parts = [f"{kind} at {' '.join(dict.fromkeys(lines))}" for kind, lines in places.items()]
    if refusal := re.search(rf"(?m)^(?:\S+:\d+: (?:fatal )?error|{said_by_it}): (?!{PLACE})(.*)", ran.stderr):
        said = re.sub("[`‘’;|]", "'", refusal[3])
        parts.append(REFUSED + said.removeprefix("#error ").strip('"'))
    elif program.says not in ran.stdout + ran.stderr:
        parts.append(f"without '{program.says}'")
    if ran.returncode == 124:
        parts.append("limit")
    elif ran.returncode > bool(places) and not refusal:
        parts.append(f"exit {ran.returncode}")
    return "; ".join(parts) or "runs"


def is_as_expected(expects: str, ended: str) -> bool:
    wanted, came = expects.split("; "), ended.split("; ")
    if came == ["runs"]:
        return set(wanted) <= {"runs", "limit"}
    return (all(any(is_like(want, one) for want in wanted) for one in came)
            and all(want == "limit" or any(is_like(want, one) for one in came) for want in wanted))


def is_like(want: str, came: str) -> bool:
    if want.startswith(REFUSED) and came.startswith(REFUSED):
        return re.search(want.removeprefix(REFUSED), came.removeprefix(REFUSED)) is not None
    (kind, _, ranges), (other, _, lines) = want.partition(" at "), came.partition(" at ")
    return kind == other and all(any(is_within(line, few) for few in ranges.split()) for line in lines.split())


def is_within(line: str, lines: str) -> bool:
    """Whether kernels.cuh:282 is in kernels.cuh:281-286, or 12 in 12."""
    (file, _, number), (other, _, numbers) = line.rpartition(":"), lines.rpartition(":")
    first, _, last = numbers.partition("-")
    return file == other and int(first) <= int(number) <= int(last or first)


# ---- the page ----


def section() -> str:
    """The rows as the list has them, with what the page says of them."""
    return rows(read_list(), endings_on(read_text(PAGE)))


def endings_on(page: str) -> dict[str, str]:
    """How each program ended, by its cells."""
    cells = (re.split(r"(?<!\\) \| ", line[2:]) for line in page.splitlines() if line.startswith("| [`"))
    return {f"{row[0]} | {row[1]}": row[3].strip("*`") for row in cells}


def good_ones(programs: list[Program], endings: dict[str, str]) -> set[Program]:
    return {one for one in programs if is_as_expected(one.expects, endings.get(one.cells, ""))}


def rows(programs: list[Program], endings: dict[str, str]) -> str:
    good = good_ones(programs, endings)
    texts = [f"{len(good)} of {len(programs)} end as they ought to: {100 * len(good) / len(programs):.0f} %.\n"]
    for repository, commit in dict.fromkeys(one[:2] for one in programs):
        own = [one for one in programs if one.repository == repository]
        texts.append(f"### {repository}\n\nCommit `{commit}`: {len(good.intersection(own))} of {len(own)}.\n")
        texts.append(table(("file", "options and arguments", "ought to", "ended", "because"), (
            (one.cells, f"`{one.expects}`".replace("|", r"\|"), mark.format(endings.get(one.cells, "not run")),
             one.because) for one in own for mark in ["`{}`" if one in good else "**`{}`**"]), "lllll"))
    return "\n".join(texts)
