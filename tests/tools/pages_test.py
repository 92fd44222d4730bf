"""The generated parts of the pages: tables of what was measured and published, and writing them into pages."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fake_programs
import made_up_results
from tools import check_pages, documented_tables, pages, plot, write_pages
from tools.command_line import REPOSITORY, BadUsage, NotPossible
from tools.markdown import with_section
from tools.programs import Programs
from tools.results import H200
from tools.write_pages import Part


@pytest.fixture
def card(tmp_path: Path) -> Path:
    made_up_results.write_card(tmp_path / "card")
    return tmp_path / "card"


def change(file: Path, changed: Callable[[Any], Any]) -> None:
    file.write_text(json.dumps(changed(json.loads(file.read_text()))))


# ---- what was measured ----


@pytest.mark.parametrize("section, lines", [
    ("provenance", "Measured on one Made up with driver 1.2.3 and CUDA 13.0, 2026-11-21, "
     "by `python3 -m tools measure` at commit `c0ffeec0ffee`."),
    ("flush", "| GB/s, L2 emptied by | read | memset | none |\n|:--|--:|--:|--:|\n| 2^28 | 2684.4 | 2684.4 | 2684.4 |"),
    ("queue", "| 07_cascade | 2^28 | 0 | 400.0 | 410.0 | 10.0 |"),
    ("lead_in", "| empty kernels in front | peer_cub, µs (p5–p95) | 07_cascade, µs (p5–p95) |\n|--:|--:|--:|\n"
     "| 8 | 7.00 (6.93–7.07) | – |\n| 0 | 8.00 (7.92–8.08) | 9.00 (8.91–9.09) |"),
    ("warm_up", "| the first run, which is verified | 6 | 800.0 | 820.0 | 840.0 |"),
    ("repeat", "| 07_cascade | 10 | 0.3960 | 0.4000 | 0.4040 | 0.4000 | 0.00 |"),
    ("scaling", "| 2^10 int32 per rank | 1 | 1 | NCCL | the GPUs' | 0.0010 | 4.1 | 1.000 | – | – |\n"
     "| 2^10 int32 per rank | 2 | 1 | NCCL | the GPUs' | 0.0013 | 6.3 | 1.000 | 1.923 |"),
    ("scaling", "| 0 | 2 | 1 | the kernels | the GPUs' | 0.0120 | – | – | – | 2.0 |"),
    ("scaling_model", "| the kernels | the GPUs' | 2753.2 | 10.0 | 2.0 |\n\n| elements | ranks |"),
    # 0.4 ms / 2 + 10 µs + 2 µs
    ("scaling_model", "| 2^28 int32 in all | 2 | the kernels | the GPUs' | 0.2070 | 0.2100 | 1.4 |\n"),
    ("against_cub", "| 2^10 | 1.25 | ≈ 0.99 | 1.25 | 1.25 | 1.25 | 1.25 |\n"
     "| 2^20 | 1.25 | 1.25 | 1.25 | 1.25 | 1.25 | – |\n\nWith the odd sizes between, these are 17. Their geometric "
     "mean: 1.23 below 2^20, 1.25 from 2^20 to 2^25. The lowest: ≈ 0.99 (2^10 int64)."),
    ("against_cub", "| operation | element type | accumulated in | 2^20 | 2^24 |\n|:--|:--|:--|--:|--:|\n"
     "| Max | half | half | 524.3 (1.25) | 8388.6 (1.25) |\n"
     "| ArgMin | float32 | a float32 and its index | – | 8388.6 (1.25) |"),
    ("promises", "| float32 on one Made up, µs | Sum | SameBits | Sum's time / its own | CompensatedSum | "
     "Sum's time / its own | CUB's sum |\n|:--|--:|--:|--:|--:|--:|--:|\n"
     "| 2^10 | 8.0 | 10.0 | 0.80 | 16.0 | 0.50 | 10.0 |\n"
     "| 2^20 | 8.0 | 10.0 | 0.80 | 16.0 | 0.50 | 10.0 |\n\n| float64 on one Made up, µs |"),
    ("atomics", "| atomic_each | float32 | 2^25 | 32.0000 | 4.2 | 0.1 | "
     "2.47 GB/s, 0.3 % of peak (blog 2025, RTX 3090) |"),
    ("peers", "| int32 | 2^20 | 2^28 |\n|:--|--:|--:|\n| peer_cub | 8.4 (100.0 %) | 2147.5 (100.0 %) |\n"
     "| peer_torch | – | 1073.7 (50.0 %) |\n\n| "),
])
def test_a_section_shows(card: Path, section: str, lines: str) -> None:
    assert lines in getattr(pages, section)(card)


def test_a_commit_with_changes_is_not_shown_as_one_without(card: Path) -> None:
    change(card / "measured.json", lambda measured: measured | {"commit": "c0ffee" * 7 + " with changes"})
    assert "at commit `c0ffeec0ffee with changes`" in pages.provenance(card)


def test_what_is_not_measured_is_left_out(card: Path, bin_folder: Path) -> None:
    for name in ("against_cub", "peers", "atomics", "method_lead_in"):
        (card / f"{name}.json").unlink()
    for section in ("against_cub", "promises", "atomics", "peers", "lead_in"):
        assert getattr(pages, section)(card) == ""
    page = pages.card_page(card, Programs(bin_folder))
    assert "## Element type" in page and not re.search("^## (12_|Sums|Peers|Atomics)", page, re.MULTILINE)


# ---- what was published ----


def test_the_published_tables_fit_together() -> None:
    tables = documented_tables.all_of_them()
    assert len(tables) >= 6
    kernels = {file.parent.name for file in REPOSITORY.glob("**/kernel.cuh")}
    for documented in tables:
        assert documented.rows, documented
        for row in documented.rows:
            assert {kernel.removeprefix("peer_") for kernel in row.kernels} <= kernels, row.step
            # Sources state it in whole percent.
            assert row.percent is None or documented.percent(row) == pytest.approx(row.percent, abs=0.5), row
            assert 0 < documented.percent(row) <= 100, row
            if row.ms and row.gbps and documented.elements:  # the times have three digits
                assert documented.elements * 4 / row.ms / 1e6 == pytest.approx(row.gbps, rel=0.002)
    harris = documented_tables.read_tables()["2007_harris_g80"]
    assert f"{harris.percent(harris.rows[-1]):.1f}" == "72.5"


def test_the_repositorys_own_table_comes_from_its_results(card: Path) -> None:
    own = documented_tables.table_of_card(card)
    assert (own.label, own.gpu, own.peak_gbps) == ("this repository 2026", "Made up", 4000)
    assert own.input == "2^28 int32, block 256" and own.rows[0].gbps == 2684.4 and own.rows[0].step == "07_cascade"
    change(card / "ladder.json", lambda found: [found[1], found[2] | {"block": 512}])
    assert documented_tables.table_of_card(card).input == "2^28 int32"


# ---- writing ----


PAGE = "before\n<!-- table:begin -->\nold\n<!-- table:end -->\nafter\n"


def test_a_section_is_replaced() -> None:
    assert with_section(PAGE, "table", "new\n") == PAGE.replace("old", "new")
    assert with_section(PAGE, "table", "old\n") == PAGE


@pytest.mark.parametrize("page", ["", PAGE * 2, PAGE.replace("end", "end2")])
def test_a_page_without_the_section_is_refused(page: str) -> None:
    with pytest.raises(BadUsage, match="have to stand once each"):
        with_section(page, "table", "new")


def test_parts_of_one_page_come_together() -> None:
    page = Path("docs/method.md")
    texts = write_pages.stale_texts([Part(page, "flush", "new flush"), Part(page, "queue", "new queue")])
    assert "new flush" in texts[page] and "new queue" in texts[page]


def test_check_pages_names_what_is_stale(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [Part(Path("docs/method.md"), "flush", "new"), Part(Path("README.md"), None, "new"),
             Part(Path("LICENSE"), None, (REPOSITORY / "LICENSE").read_text())]
    monkeypatch.setattr(write_pages, "generated", lambda programs: (parts, ["a count differs"]))
    monkeypatch.setattr(plot, "stale", lambda: {Path("a.svg"): "new"})
    assert check_pages.main([]) == 1
    assert capsys.readouterr().out == "".join(
        f"{file} is stale: run python3 -m tools write-pages\n" for file in ("docs/method.md", "README.md", "a.svg")
    ) + "a count differs\n"


def test_a_program_that_fails_ends_it(tmp_path: Path) -> None:
    fake_programs.make(tmp_path, "ladder_table", "sys.exit('half a table')")
    with pytest.raises(NotPossible, match="exit code 1: half a table"):
        pages.card_page(H200, Programs(tmp_path))
