"""The figures of a page: times, rates, sizes, percentages, factors, and counts of what a program does or a GPU has.

What is generated, code, headings, links, and the sizes of blocks that a sentence chooses are none.
"""

import re
from dataclasses import dataclass

NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
                "twelve", "thirteen", "fourteen", "fifteen", "sixteen")
# 1 000 003, 1,000,003, 2^18, 10⁹, 5.4, seven; but not the 02 that is a step.
DIGITS = r"(?!0\d)\d+(?:[.,  ]\d+)*(?:\^\d+|[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"
NUMBER = rf"(?:{DIGITS}|(?:{'|'.join(NUMBER_WORDS[2:])})\b)"
# "4 to 7", "2048 → 4 → 1", "6 × 3"; but not the number of a thread, and not the 1 of n − 1.
NAMED = "".join(rf"(?<!\b{name} )" for name in ("thread", "warp", "lane", "block", "stride", "offset", "word", "bank"))
NUMBERS = rf"{NAMED}(?<!− )(?<![\w.,^/#_-]){NUMBER}(?:(?:, | or | and | to |–| → | × | \+ | - | − ){NUMBER})*"
UNIT = (r"ns|µs|ms|s|seconds?|minutes?|hours?|(?:clock )?cycles?|[KMGT]?B/s|[MGT]?FLOP/s|[MG]Hz|[KMGT]i?B|bytes?|%|"
        r"×(?! ?\d)|times")
# The steps 10 to 13 load, store, run and launch something.
COUNTED = (r"(?:requests?|sectors?|wavefronts?|conflicts?|blocks?|barriers?|instructions?|pass(?:es)?|additions?|"
           r"operations?|atomics?|shuffles?|warps?|lanes?|threads?|multiprocessors?|banks?|registers?|trees?|samples?|"
           r"(?<!\b1[0-3] )(?:loads?|stores?|runs?|launch(?:es)?))\b")
# What may stand before it: "150 shared memory requests", "8 first stores".
SORT = (r"(?:million|thousand|more|fewer|other|full|idle|active|working|neighbouring|first|last|empty|resident|host|"
        r"shared|global|memory|block|warp|bank) ")
FIGURE = re.compile("|".join([
    rf"{NUMBERS}[ -]?(?:{UNIT})(?![\w/])",
    rf"(?!two\b){NUMBERS} (?:{SORT})*{COUNTED}",  # two threads that race are no count
    rf"\b{COUNTED}(?: per \w+)?: {NUMBER} → {NUMBER}",
    rf"(?<![\d)] )×\s{NUMBER}",
    r"\btwice (?:as (?:fast|long)|the (?:GB/s|time|bytes|speed))",
    rf"(?<=\S \| )(?:about )?{DIGITS}(?= \|)"]),  # a cell of a table, but for the first of its row
    re.IGNORECASE)

GENERATED = re.compile(r"^<!-- (\w+):begin -->$.*?^<!-- \1:end -->$|^ *(```+).*?^ *\2$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[([^]]*)\]\([^)\s]*\)")
EMPHASIS = re.compile(r"(?<!\w)\*+(?=\S)|(?<=\S)\*+(?!\w)")
LEFT_OUT = re.compile("|".join([
    r"(?<!`)(`+)(?!`)(?:[^\n]|\n(?!\s*\n))+?(?<!`)\1(?!`)",  # code
    r"^#+ [^\n]*",
    r"^\|[^\n]*(?=\n\|:?-)",  # the names of a table's columns
    r"https?:\S+",
    rf"\b[Bb]locks? of {NUMBER}(?:(?:, | or | and | to ){NUMBER})*(?: threads)?"]), re.MULTILINE)


@dataclass(frozen=True)
class Figure:
    line: int
    begin: int  # in the prose
    end: int
    text: str


def prose(page: str) -> str:
    """What a reader reads, on its lines: no generated part, no block of code, no marks of links and bold text."""
    text = GENERATED.sub(lambda part: "\n" * part[0].count("\n"), page)
    return EMPHASIS.sub("", LINK.sub(r"\1", text))


def figures(text: str) -> list[Figure]:
    """Those of a text as prose() returns it."""
    kept = LEFT_OUT.sub(lambda part: re.sub(r"[^\n]", " ", part[0]), text)
    return [Figure(text.count("\n", 0, found.start()) + 1, *found.span(), found[0]) for found in FIGURE.finditer(kept)]
