"""Every figure on a page is generated, or held by held_figures.py: one that is neither fails here, with its line."""

import functools
import re
from pathlib import Path

import pytest

from figures import Figure, figures, prose
from held_figures import FACTS, HELD, IN_CODE, SAYS, Known
from tools.command_line import REPOSITORY


def pages() -> list[str]:
    """All that are not generated as a whole, and not the device's, whose figures are settings that its headers name."""
    found = [page for page in REPOSITORY.rglob("*.md") if not page.with_name("measured.json").exists()
             and page != REPOSITORY / "common/emulated/README.md"]
    names = sorted(str(page.relative_to(REPOSITORY)) for page in found)
    return [name for name in names if not name.startswith((".", "build"))]  # these are hidden, or built


@functools.cache
def text_of(page: str) -> str:
    return prose((REPOSITORY / page).read_text(encoding="utf-8"))


def places(sentence: str, text: str) -> list[tuple[int, int]]:
    """Where it stands, also where it goes on in the next line; … is the rest of the line."""
    form = r"\s+".join(map(re.escape, sentence.split())).replace("…", "[^\n]*")
    return [found.span() for found in re.finditer(form, text)]


def unheld(text: str, held: list[tuple[int, int]]) -> list[Figure]:
    held = held + [found.span() for fact in FACTS for found in re.finditer(fact.replace(" ", r"\s+"), text)]
    return [figure for figure in figures(text)
            if not any(begin <= figure.begin and figure.end <= end for begin, end in held)]


@pytest.fixture(scope="module")
def known(bin_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Known:
    return Known(bin_folder, tmp_path_factory.mktemp("known"))


@pytest.mark.parametrize("page", pages())
def test_every_figure_of_a_page_is_held(page: str, known: Known) -> None:
    sentences = [*SAYS.get(page, lambda _: iter(()))(known), *(sentence for sentence, *_ in IN_CODE.get(page, [])),
                 *(sentence for each in HELD.get(page, {}).values() for sentence in each)]
    text = text_of(page)
    assert [sentence for sentence in sentences if not places(sentence, text)] == [], f"{page} does not say so"
    left = unheld(text, [place for sentence in sentences for place in places(sentence, text)])
    assert [f"{page}:{figure.line}: {figure.text}" for figure in left] == []


@pytest.mark.parametrize("file, words", sorted({(file, words) for each in IN_CODE.values() for _, file, words in each}))
def test_code_says_so(file: str, words: str) -> None:
    assert words in (REPOSITORY / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted({name for tests in HELD.values() for name in tests}))
def test_a_test_that_is_named_is_there(name: str) -> None:
    file, _, test = name.partition("::")
    assert re.search(rf"^def {test}\(", (REPOSITORY / "tests" / file).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("fact", FACTS)
def test_every_fact_is_on_a_page(fact: str) -> None:
    assert any(re.search(fact.replace(" ", r"\s+"), text_of(page)) for page in pages())


def test_what_is_not_caught_is_on_the_page() -> None:
    section = text_of("common/emulated/README.md").split("\n## What is not caught\n")[1].split("\n## ")[0]
    kernels = (REPOSITORY / "tests/emulated/not_caught_test.cpp").read_text(encoding="utf-8")
    assert set(re.findall(r"\| `(\w+)` \|", section)) == set(re.findall(r"^__global__ void (\w+)", kernels, re.M))


def test_pages_that_are_named_are_there() -> None:
    assert {*SAYS, *IN_CODE, *HELD} <= set(pages())


# ---- the detector ----


@pytest.mark.parametrize("text, found", [
    ("It takes 13 µs, or 0.35 ms.", ["13 µs", "0.35 ms"]), ("A run of two seconds", ["two seconds"]),
    ("At 4.5 TB/s of 4814 GB/s", ["4.5 TB/s", "4814 GB/s"]), ("1.15 ×, then four times", ["1.15 ×", "four times"]),
    ("a gain of × 1.15", ["× 1.15"]), ("150 requests, 45 more", ["150 requests"]), ("92 % or 91%", ["92 %", "91%"]),
    ("150 shared memory requests", ["150 shared memory requests"]), ("twice the GB/s", ["twice the GB/s"]),
    ("47 × 3 + 8 + 1 = 150 requests", ["150 requests"]), ("2048 → 4 → 1 blocks", ["2048 → 4 → 1 blocks"]),
    ("barriers per block: 9 → 3", ["barriers per block: 9 → 3"]), ("525 315 blocks", ["525 315 blocks"]),
    ("| registers | 256 KiB | about 4 |", ["256 KiB", "about 4"]), ("about 16 wave-\nfronts", []),
    ("**8** warps, [40 requests](https://a.b/7%20requests)", ["8 warps", "40 requests"])])
def test_a_figure_is_found(text: str, found: list[str]) -> None:
    assert [figure.text for figure in figures(prose(text))] == found


@pytest.mark.parametrize("text", [
    "## 13 µs", "`13 µs`", "```text\n13 µs\n```", "<!-- a:begin -->\n13 µs\n<!-- a:end -->", "in 2007 and 2025",
    "02 loads what 01 has stored", "11 and 12 run on a GPU only", "thread 0 loads the sum", "blocks of 256 threads",
    "2²⁸ elements", "two threads race", "[01](../01_interleaved/README.md)", "| 0 | every result is verified |",
    "n − 1 additions"])
def test_what_is_no_figure_is_left_out(text: str) -> None:
    assert figures(prose(text)) == []


def test_a_figure_has_the_line_of_the_page() -> None:
    page = "# 1\n<!-- a:begin -->\n7 ms\n<!-- a:end -->\n```\n8 ms\n```\nIt takes 9 ms."
    assert [(figure.line, figure.text) for figure in figures(prose(page))] == [(8, "9 ms")]


def test_a_figure_that_nothing_holds_is_left() -> None:
    text = "A warp has 32 lanes, and\n150 requests take 13 µs."
    assert [figure.text for figure in unheld(text, [])] == ["150 requests", "13 µs"]
    assert [figure.text for figure in unheld(text, places("and 150 requests take", text))] == ["13 µs"]
