"""Draws mistakes of one line in the harness and the emulated device, and says which of them the C++ tests notice:
python3 tests/drawn_mistakes.py [--count 60] [--seed 1] [--jobs N] [--seconds S] [PART...]

A mistake is another comparison, a condition turned round, a number that is off by one, or a statement that is gone.
All are compiled into one copy of the project, where a test makes the one whose number DRAWN_MISTAKE is. What does not
compile is drawn again. A test runs with the mistakes that it comes to; after S seconds no further one does. With PARTs,
only of files whose names have one.

Exit code: 0 four of five mistakes are noticed, 1 fewer are.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from mutants import REPOSITORY, Copy

OPERATORS = ["<", "<=", ">", ">=", "==", "!="]  # as drawn_mistake.hpp numbers them
NO_CODE = re.compile(r'R"(\w*)\(.*?\)\1"|"(\\.|[^"\\\n])*"|\'(\\.|[^\'\\\n])*\'|//[^\n]*', re.DOTALL)
STATEMENT = re.compile(r"(return|break|continue|(\+\+|--)[\w.>-]+|[\w:.>\[\]()*-]+( [-+*/|&^]?= .*|\(.*\)));")
STEPS = ("02_nondivergent", "05_unroll_warp", "10_single_pass")  # of step_matrix_test


class Mistake(NamedTuple):
    file: str
    line: int  # from 0
    was: str
    what: str
    becomes: str  # with NUMBER for its own


def mistakes_on(file: str, line: int, text: str, code: str) -> list[Mistake]:
    """All that can be made on a line. Of `code`, which is as long, literals and comments are blanked out."""
    found = []

    def add(what: str, span: tuple[int, int], becomes: str) -> None:
        found.append(Mistake(file, line, text.strip(), what, text[:span[0]] + becomes + text[span[1]:]))

    if re.match(r"\s*(#|template|case |using |static_assert)|.*(\boperator|\bconstexpr|\\$)", code):
        return []
    for match in re.finditer(r" (<=?|>=?|==|!=) ", code):
        was = OPERATORS.index(match[1])
        for becomes in set(range(4) if was < 4 else range(4, 6)) - {was}:
            begin, end = "<>" if was < 4 else ("==", "==")
            add(f"{match[1]} → {OPERATORS[becomes]}", match.span(),
                f" {begin} drawn::relation<NUMBER, {was}, {becomes}> {end} ")
    for match in re.finditer(r"\b(?:if|while) \(([^;]*?)\)(?= [^&|<>=+*/?:-]|$)", code):
        if match[1].count("(") == match[1].count(")") and not re.search(r"[^=<>!]=[^=]", match[1]):
            condition = text[slice(*match.span(1))]
            add("negated", match.span(1), f"static_cast<bool>({condition}) != drawn::is_made<NUMBER>()")
    for match in re.finditer(r"(?<![\w.'<\[-])\d+[uU]?(?![\w.'>\]])", code):
        for step in (1, -1):
            add(f"{match[0]} → {match[0]}{step:+}", match.span(), f"({match[0]} + drawn::off<NUMBER, {step}>())")
    if STATEMENT.fullmatch(code.strip()) and code.count("(") == code.count(")") and "= delete" not in code:
        add("gone", (len(code) - len(code.lstrip()), len(code)), f"{{ if (!drawn::is_made<NUMBER>()) {text.strip()} }}")
    return found


def drawn(parts: list[str], count: int, seed: int) -> list[Mistake]:
    listed = subprocess.run(["git", "ls-files", "common/harness/*.?pp", "common/emulated/*.?pp"], cwd=REPOSITORY,
                            check=True, capture_output=True, text=True).stdout.split()
    lines = []
    for file in listed:
        if not parts or any(part in file for part in parts):
            text = (REPOSITORY / file).read_text("utf-8")
            code = NO_CODE.sub(lambda match: re.sub(r"[^\n]", "_", match[0]), text)
            lines += [(file, *line) for line in zip(range(len(text)), text.splitlines(), code.splitlines())]
    order = random.Random(seed)
    order.shuffle(lines)
    return [order.choice(mistakes) for line in lines if (mistakes := mistakes_on(*line))][:count]


class Draw:
    """A copy of the project with all mistakes in it."""

    def __init__(self, folder: Path, mistakes: list[Mistake]) -> None:
        self.copy = Copy(folder)
        self.mistakes = dict(enumerate(mistakes))
        self.sources = {file: (folder / file).read_text("utf-8") for file in {mistake.file for mistake in mistakes}}
        self.write(set(self.sources))
        self.copy.configure("-DCMAKE_CXX_FLAGS_DEBUG=-g -O1 -w")
        targets = re.findall(r"^(\w+): phony", self.ninja("-t", "targets", "all").stdout, re.MULTILINE)
        sources = {file.stem for file in (REPOSITORY / "tests").rglob("*_test.cpp")} - {"gpu_test"}
        headers = {target for target in targets if re.fullmatch(r"header_\w+_test", target)}
        self.tests = sorted(sources & set(targets) | headers | {f"step_matrix_{step}_test" for step in STEPS})

    def ninja(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(["ninja", *arguments], cwd=self.copy.build, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)

    def write(self, files: set[str]) -> None:
        for file in files:
            lines = self.sources[file].splitlines()
            for number, mistake in self.mistakes.items():
                if mistake.file == file:
                    lines[mistake.line] = mistake.becomes.replace("NUMBER", str(number))
            place = lines.index("#pragma once") + 1 if "#pragma once" in lines else 0
            lines.insert(place, f'#include "{self.copy.folder}/tests/drawn_mistake.hpp"')
            (self.copy.folder / file).write_text("\n".join([*lines, ""]), "utf-8")

    def build(self) -> None:
        """Takes out the mistakes that the compiler's errors name, until there are none."""
        for targets in (["harness", "rewriter"], ["all"]):
            while (built := self.ninja("-k0", *targets)).returncode != 0:
                named = {number for number, mistake in self.mistakes.items()
                         if re.search(rf"drawn::\w+<{number}\b|{mistake.file}:{mistake.line + 2}:", built.stdout)}
                # An error may tell of the place that the mistake's line is included or called from.
                named = named or {number for number, mistake in self.mistakes.items() if mistake.file in built.stdout}
                if not named:
                    raise SystemExit("\n".join(re.findall(r".*error:.*", built.stdout)) or built.stdout[-4000:])
                self.write({self.mistakes.pop(number).file for number in named})

    def reached(self, test: str) -> tuple[float, set[int]]:
        """How long a test takes, and the mistakes that it comes to: none where it fails without one."""
        begun = time.monotonic()
        with tempfile.NamedTemporaryFile() as file:
            file.truncate(4096)
            passes = self.copy.passes(f"{test} *", DRAWN_REACHED=file.name)
            numbers = {number for number, byte in enumerate(Path(file.name).read_bytes()) if byte}
        print("" if passes else f"left out, for it fails without a mistake: {test}\n", end="", flush=True)
        return time.monotonic() - begun, numbers if passes else set()

    def notices(self, test: str, number: int) -> bool:
        """In two runs: what else the machine does may fail one."""
        return not any(self.copy.passes(f"{test} *", DRAWN_MISTAKE=str(number)) for _ in range(2))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name, default in (("count", 60), ("seed", 1), ("jobs", len(os.sched_getaffinity(0))), ("seconds", sys.maxsize)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("parts", nargs="*", metavar="PART")
    asked = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="drawn.") as folder, ThreadPoolExecutor(asked.jobs) as pool:
        draw = Draw(Path(folder), drawn(asked.parts, asked.count * 3 // 2, asked.seed))
        draw.build()
        reached = dict(zip(draw.tests, pool.map(draw.reached, draw.tests)))
        print(f"built, and run without a mistake: {time.monotonic() - begun:.0f} s", flush=True)

        def is_noticed(number: int) -> bool | None:
            mistake = draw.mistakes[number]
            what = f"{mistake.file}:{mistake.line + 1}: {mistake.what}: {mistake.was}"
            tests = sorted((reached[test][0], test) for test in draw.tests if number in reached[test][1])
            for _, test in tests:
                if time.monotonic() - begun > asked.seconds:
                    return None
                if draw.notices(test, number):
                    print(f"noticed by {test}  {what}", flush=True)
                    return True
            print(f"SURVIVED {len(tests)} tests  {what}", flush=True)
            return False

        noticed = list(pool.map(is_noticed, list(draw.mistakes)[:asked.count]))
    tried = len(noticed) - noticed.count(None)
    print(f"{noticed.count(True)} of {tried} noticed, {(time.monotonic() - begun) / 60:.0f} min")
    return 0 if noticed.count(True) >= 0.8 * tried else 1


if __name__ == "__main__":
    sys.exit(main())
