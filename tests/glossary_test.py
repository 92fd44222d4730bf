"""The glossary explains what the programs print, and its links lead somewhere."""

import dataclasses
import re
from pathlib import Path

import pytest
from conftest import REPOSITORY

from tools import results

GLOSSARY = REPOSITORY / "docs/glossary.md"
TEXT = GLOSSARY.read_text(encoding="utf-8")
TABLE_LINES = re.findall(r"^\|(.*\]\(#.*)\|$", TEXT, re.MULTILINE)
# What is printed, its keys in JSON, and the entry.
ROWS = [[cell.strip() for cell in line.split("|")] for line in TABLE_LINES]
TERMS = re.findall(r"^### (.*)", TEXT, re.MULTILINE)
PAGES = [*REPOSITORY.glob("[0-9]*/README.md"), *REPOSITORY.glob("beyond/**/README.md")]
STEP_PAGES = [page for page in sorted(PAGES) if "<!-- counters:begin -->" in page.read_text(encoding="utf-8")]


def slugs(page: Path) -> list[str]:
    """GitHub's anchors of the page's headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_terms_are_in_order_and_have_a_text() -> None:
    assert TERMS == sorted(set(TERMS), key=str.casefold)
    for entry in re.split(r"^### ", TEXT, flags=re.MULTILINE)[1:]:
        assert entry.partition("\n")[2].strip(), entry


@pytest.mark.parametrize("record", [results.Counters, results.Milliseconds, results.Timing])
def test_every_key_has_a_row(record: type) -> None:
    keys = [key for row in ROWS for key in re.findall(r"`(\w+)`", row[1])]
    for field in dataclasses.fields(record):
        assert field.name in keys


@pytest.mark.parametrize("page", STEP_PAGES, ids=[page.parent.name for page in STEP_PAGES])
def test_every_counter_of_a_page_has_a_row(page: Path) -> None:
    section = page.read_text(encoding="utf-8").partition("<!-- counters:begin -->")[2].partition("<!-- counters:end")[0]
    counted = re.findall(r"^\| \[?([^]|:]+)(?:\]\(.*?\))? \|", section, re.MULTILINE)
    assert "blocks" in counted
    assert set(counted) - {"counted"} <= {row[0] for row in ROWS}


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)]+)\)", TEXT))))
def test_links_lead_somewhere(link: str) -> None:
    file, _, anchor = link.partition("#")
    target = GLOSSARY.parent / file if file else GLOSSARY
    assert target.exists()
    assert not anchor or anchor in slugs(target)
