"""Runs the programs of docs/corpus.csv on the emulated device, and says which of them do not end as they ought to.

FOLDER holds checkouts of their repositories, as owner/name or name. Nothing is fetched. How each ended is written into
the list, whose columns docs/foreign_kernels.md explains. Programs that were not run keep their rows.

Exit code: 0 done, 1 a program has become worse, or fewer than 90 % of all end as they ought to, 2 bad usage, 3 there is
nothing to run, 130 Ctrl-C.
"""

import csv
import io
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tools import output_file
from tools.command_line import REPOSITORY, ExitCode, NotPossible, Parser, read_text, say
from tools.markdown import table

LIST = REPOSITORY / "docs/corpus.csv"
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
    ended: str = ""  # not run: nothing

    @property
    def is_good(self) -> bool:
        return is_as_expected(self.expects, self.ended)


def read_list() -> list[Program]:
    return [Program(**row) for row in csv.DictReader(read_text(LIST).splitlines())]


def write_list(programs: list[Program]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([Program._fields, *programs])
    output_file.write(LIST, text.getvalue())


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
    chosen = {k: folder for k, one in enumerate(programs) if (folder := folders[one[:2]])
              and re.search(options.only, f"{one.repository}/{one.path}")}
    if not chosen:
        raise NotPossible("there is nothing to run")
    subprocess.run([EMULATE, "--version"], check=True, stdout=subprocess.DEVNULL)  # which builds it
    before = programs.copy()
    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            for k, ended in zip(chosen, pool.map(lambda k: run(options.seconds, before[k], chosen[k]), chosen)):
                one = programs[k] = before[k]._replace(ended=ended)
                if not one.is_good:
                    print(f"{one.repository}/{one.path}: ought to: {one.expects}; ended: {ended}", flush=True)
                write_list(programs)
        finally:
            pool.shutdown(cancel_futures=True)
    good = sum(one.is_good for one in programs)
    print(f"{good} of {len(programs)} end as they ought to")
    is_enough = good >= ENOUGH * len(programs) and all(
        now.is_good >= was.is_good for was, now in zip(before, programs))
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
    """How many programs end as they ought to, and which do not."""
    programs = read_list()
    good = sum(one.is_good for one in programs)
    counts = []
    for repository, commit in dict.fromkeys(one[:2] for one in programs):
        own = [one.is_good for one in programs if one.repository == repository]
        counts.append((f"[{repository}](https://github.com/{repository}/tree/{commit})", sum(own), len(own)))
    others = [(f"[`{one.path}`](https://github.com/{one.repository}/blob/{one.commit}/{one.path})",
               f"`{one.expects}`".replace("|", r"\|"), f"`{one.ended or 'not run'}`", one.because)
              for one in programs if not one.is_good]
    return "\n".join([
        f"{good} of {len(programs)} end as they ought to: {100 * good / len(programs):.0f} %.\n",
        table(("repository", "as they ought to", "of"), counts),
        table(("the others", "ought to", "ended", "because"), others, "llll")])
