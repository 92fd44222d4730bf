"""The generated parts of the pages: tables of what was measured and published, and writing them into pages."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fake_programs
import made_up_results
from tools import check_pages, documented_tables, pages, write_pages
from tools.command_line import REPOSITORY, BadUsage, NotPossible
from tools.markdown import has_section, with_section
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
     "| 0 | 8.00 (7.92–8.08) | 9.00 (8.91–9.09) |\n| 8 | 7.00 (6.93–7.07) | – |"),
    ("warm_up", "| first sample after 3 warm-up runs | 3 | 400.0 | 410.0 | 420.0 |"),
    ("warm_up", "| the first run, which is verified | 6 | 800.0 | 820.0 | 840.0 |"),
    ("repeat", "| 07_cascade | 10 | 0.3960 | 0.4000 | 0.4040 | 0.4000 | 0.00 |"),
    ("second_clock", "| 07_cascade | 0.2010 | 0.2000 | 0.5 |"),
    ("scaling", "| 2^10 int32 per rank | 1 | 1 | NCCL | the GPUs' | 0.0010 | 4.1 | 1.000 | – | – |\n"
     "| 2^10 int32 per rank | 2 | 1 | NCCL | the GPUs' | 0.0013 | 6.3 | 1.000 | 1.923 |"),
    ("scaling", "| 2^28 int32 in all | 2 | 1 | the kernels | the GPUs' | 0.2100 | 5113.1 | 1.000 | – | – |"),
    ("scaling", "| 0 | 2 | 1 | the kernels | the GPUs' | 0.0120 | – | – | – | 2.0 |"),
    ("scaling", "| 1 | 2^10 | 0.0013 | 3.3 |\n| 0 | 0 | 0.0100 | – |"),
    ("scaling", "Measured on 2 × Made up with driver 1.2.3 and CUDA 13.0, 2026-11-21, by `python3 -m tools scaling`"),
    ("scaling_model", "| the kernels | the GPUs' | 2753.2 | 10.0 | 2.0 |\n\n| elements | ranks |"),
    # 0.4 ms / 2 + 10 µs + 2 µs
    ("scaling_model", "| 2^28 int32 in all | 2 | the kernels | the GPUs' | 0.2070 | 0.2100 | 1.4 |\n"),
    ("against_cub", "| elements | int32 | int64 | float32 | float64 | complex64 | complex128 |"),
    ("against_cub", "| 2^10 | 1.25 | ≈ 0.99 | 1.25 | 1.25 | 1.25 | 1.25 |\n"
     "| 2^20 | 1.25 | 1.25 | 1.25 | 1.25 | 1.25 | – |\n\nWith the odd sizes between, these are 17. Their geometric "
     "mean: 1.23 below 2^20, 1.25 from 2^20 to 2^25. The lowest: ≈ 0.99 (2^10 int64)."),
    ("against_cub", "| operation | element type | accumulated in | 2^20 | 2^24 |\n|:--|:--|:--|--:|--:|\n"
     "| Max | half | half | 524.3 (1.25) | 8388.6 (1.25) |\n"
     "| ArgMin | float32 | a float32 and its index | – | 8388.6 (1.25) |"),
    ("against_cub", "Measured beside CUB 3.0.1."),
    ("promises", "| float32 on one Made up, µs | Sum | SameBits | Sum's time / its own | CompensatedSum | "
     "Sum's time / its own | CUB's sum |\n|:--|--:|--:|--:|--:|--:|--:|\n"
     "| 2^10 | 8.0 | 10.0 | 0.80 | 16.0 | 0.50 | 10.0 |\n"
     "| 2^18 | – | 10.0 | – | – | – | – |\n"
     "| 2^20 | 8.0 | 10.0 | 0.80 | 16.0 | 0.50 | 10.0 |\n\n| float64 on one Made up, µs |"),
    ("atomics", "| atomic_each | float32 | 2^25 | 32.0000 | 4.2 | 0.1 | "
     "2.47 GB/s, 0.3 % of peak (blog 2025, RTX 3090) |"),
    ("atomics", "| atomic_block | int32 | 2^28 | 0.5000 | 2147.5 | 53.7 | – |"),
    ("peers", "| int32 | 2^20 | 2^28 |\n|:--|--:|--:|\n| peer_cub | 8.4 (100.0 %) | 2147.5 (100.0 %) |\n"
     "| peer_torch | – | 1073.7 (50.0 %) |\n\n| "),
    ("peers", "The libraries: torch 1.2.3."),
])
def test_a_section_shows(card: Path, section: str, lines: str) -> None:
    assert lines in pages.section(getattr(pages, section), card)


def test_a_commit_with_changes_is_not_shown_as_one_without(card: Path) -> None:
    change(card / "measured.json", lambda measured: measured | {"commit": "c0ffee" * 7 + " with changes"})
    assert "at commit `c0ffeec0ffee with changes`" in pages.section(pages.provenance, card)


def test_other_versions_than_the_ladders_are_said(card: Path) -> None:
    change(card / "against_cub.json", lambda found: [cell | {"version": "0.2.0"} for cell in found])
    assert "Measured with version 0.2.0 of this repository, the ladder with 0.1.0, beside CUB 3.0.1." in pages.section(
        pages.against_cub, card)


def test_the_page_has_a_section_for_each_file(card: Path, bin_folder: Path) -> None:
    programs = Programs(bin_folder)
    page = pages.card_page(card, programs)
    for text in ("# Results · Made up\n", "| 07_cascade | 0.4000 | 2684.4 | 67.1 | – | – | 25.0 | yes |",
                 "## 12_any_operation against CUB", "[against_cub.json](against_cub.json)", "## Sums that promise more",
                 "## Peers",
                 "| complex128 | 2^20 | 2^28 |", "## Atomics"):
        assert text in page, text
    # The CPU and a library have no block. A step with another one than the rest: the heading does not speak for it.
    headings = ("2^28 int32{}. Data: [ladder.json]", "GB/s of int32{}. Data: [sweep_size.json]",
                "GB/s of 2^28 elements{}. Data: [sweep_type.json]")
    assert all(heading.format(" in blocks of 256 threads") in page for heading in headings)
    for name in ("ladder", "sweep_size", "sweep_type"):
        change(card / f"{name}.json", lambda found: [
            result | ({"block": 1024} if result["step"] == "08_warp_shuffle" else {}) for result in found])
    page = pages.card_page(card, programs)
    assert all(heading.format("") in page for heading in headings)


def test_one_table_of_promises_is_shown_and_the_others_are_folded(card: Path) -> None:
    shown, folded, end = re.split("</?details>", pages.promises_of_cards([card, card]))
    assert [text.count("| Sum | SameBits |") for text in (shown, folded, end)] == [1, 3, 0]
    assert shown.startswith("| float32 on one Made up, µs |") and folded.endswith("|\n\n")


def test_what_is_not_measured_is_left_out(card: Path, bin_folder: Path) -> None:
    change(card / "against_cub.json", lambda found: found[:2])
    assert "Other operations" not in pages.section(pages.against_cub, card)
    assert pages.section(pages.promises, card) == pages.promises_of_cards([card]) == pages.NOT_MEASURED
    change(card / "against_cub.json", lambda found: [made_up_results.against_cub("max_half", 2**20)])
    assert pages.section(pages.against_cub, card).startswith("Other operations")
    for name in ("against_cub", "peers", "atomics", "method_lead_in", "many_gpus", "second_clock"):
        (card / f"{name}.json").unlink()
    for section in ("against_cub", "promises", "atomics", "peers", "scaling", "scaling_model", "lead_in"):
        assert pages.section(getattr(pages, section), card) == pages.NOT_MEASURED
    assert pages.section(pages.second_clock, card) == "Nsight Compute was not run here.\n"
    page = pages.card_page(card, Programs(bin_folder))
    assert "## Element type" in page and not re.search("^## (12_|Sums|Peers|Atomics)", page, re.MULTILINE)
    (card / "many_gpus_alone.json").unlink()


# ---- what was published ----


def test_the_published_tables_fit_together() -> None:
    tables = documented_tables.read_tables()
    assert len(tables) >= 6
    kernels = {file.parent.name for file in REPOSITORY.glob("**/kernel.cuh")}
    for name, documented in tables.items():
        assert documented.rows, name
        for row in documented.rows:
            assert {kernel.removeprefix("peer_") for kernel in row.kernels} <= kernels, row.step
            # Sources state it in whole percent.
            assert row.percent is None or documented.percent(row) == pytest.approx(row.percent, abs=0.5), row
            assert 0 < documented.percent(row) <= 100, row
            if row.ms and row.gbps and documented.elements:  # the times have three digits
                assert documented.elements * 4 / row.ms / 1e6 == pytest.approx(row.gbps, rel=0.002)
            if documented.quotes:
                original = tables[documented.quotes].find(row.step)
                assert original and original.gbps == pytest.approx(row.gbps, abs=0.1)
    assert f"{tables['2007_harris_g80'].percent(tables['2007_harris_g80'].rows[-1]):.1f}" == "72.5"


def test_the_repositorys_own_table_comes_from_its_results(card: Path) -> None:
    file = card / "own.json"
    file.write_text(json.dumps({"label": "L 2026", "results": str(card)}))
    own = documented_tables.read_table(file)
    assert (own.gpu, own.source[-6:], own.peak_gbps) == ("Made up", ", 2026", 4000)
    assert own.input == "2^28 int32, block 256" and own.rows[0].gbps == 2684.4 and own.rows[0].step == "07_cascade"
    change(card / "ladder.json", lambda found: [found[1], found[2] | {"block": 512}])
    assert documented_tables.read_table(file).input == "2^28 int32"


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
    assert has_section("<!-- queue:end -->\n", "queue")
    with pytest.raises(BadUsage, match="docs/method.md: "):
        write_pages.stale_texts([Part(page, "nothing", "")])


def test_check_pages_names_what_is_stale(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [Part(Path("docs/method.md"), "flush", "new"), Part(Path("README.md"), None, "new"),
             Part(Path("LICENSE"), None, (REPOSITORY / "LICENSE").read_text())]
    monkeypatch.setattr(write_pages, "generated", lambda programs: (parts, ["a count differs"]))
    monkeypatch.setattr(write_pages, "stale_plots", lambda: {Path("a.svg"): "new"})
    assert check_pages.main([]) == 1
    assert capsys.readouterr().out == "".join(
        f"{file} is stale: run python3 -m tools write-pages\n" for file in ("docs/method.md", "README.md", "a.svg")
    ) + "a count differs\n"


def test_a_program_that_fails_ends_it(tmp_path: Path) -> None:
    for name in ("ladder_table", "pitfall"):
        fake_programs.make(tmp_path, name, "sys.exit('half a table') if words[0][0] == '/' else sys.exit(2)")
    with pytest.raises(NotPossible, match="exit code 1: half a table"):
        pages.card_page(H200, Programs(tmp_path))
    with pytest.raises(NotPossible, match="exit code 2, and a finding is 1: nothing was said"):
        list(write_pages.findings(Programs(tmp_path)))
