"""The plots of cards that are made up. Skipped without matplotlib."""

import itertools
import json
import os
import re
from collections.abc import Callable
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import made_up_results
import pytest

from tools import plot, results, rounding, studies
from tools.command_line import REPOSITORY, BadUsage

pytestmark = pytest.mark.skipif(find_spec("matplotlib") is None, reason="there is no matplotlib here")

NAME = "A card, it's \"one\" & <2>"


def change(file: Path, key: str, value: Any) -> None:
    """In all records of the file, or in its one record."""
    document = json.loads(file.read_text())
    for record in document if isinstance(document, list) else [document]:
        record[key] = value
    file.write_text(json.dumps(document))


@pytest.fixture
def card(tmp_path: Path) -> Path:
    folder = tmp_path / "card"
    made_up_results.write_card(folder)
    change(folder / "measured.json", "gpu", NAME)
    return folder


def texts_of(svg: str) -> set[str]:
    return set(map(unescape, re.findall("<text [^>]*>(.*?)</text>", svg)))


def test_one_card(card: Path) -> None:
    for name, svg in plot.draw([card]).items():
        texts = texts_of(svg)
        assert NAME in " ".join(texts)
        assert ("peak 4000" in " ".join(texts)) == (name != "sweep_type.svg")
        assert "00_cpu_serial" not in texts
        assert name == "sweep_type.svg" or texts > {"CUDA 13.0, driver 1.2.3, 2026-11-21", "07_cascade", "peer_cub"}
        # No colour is drawn that does not change with the page.
        assert not re.search("(fill|stroke)(: |=\")(#|black|white)", svg)


def test_two_cards(card: Path, tmp_path: Path) -> None:
    made_up_results.write_card(tmp_path / "two")
    change(tmp_path / "two/ladder.json", "device", made_up_results.device(peak=8000))
    svgs = plot.draw([card, tmp_path / "two"])
    assert all(name in " ".join(texts_of(svg)) for svg in svgs.values() for name in (NAME, "Made up"))
    # 2^28 int32 in 0.4 ms are 2684 GB/s, and in 0.3 a third more. CUB is no step.
    ladder = texts_of(svgs["ladder.svg"])
    assert ladder > {f"{NAME}, peak 4000 GB/s", "Made up, peak 8000 GB/s", "2684", "×1.33", "×1.50"}
    assert "×2.00" not in ladder


def test_only_steps_that_gain_are_emphasised(card: Path) -> None:
    ladder = [made_up_results.result(step, ms) for step, ms in (
        ("07_cascade", 1.05), ("08_warp_shuffle", 1), ("09_vector_loads", 0.96), ("peer_cub", 0.1))]
    (card / "ladder.json").write_text(json.dumps(ladder))
    read = plot.read_card(card, "blue")
    assert read.gains == {"07_cascade": 1, "08_warp_shuffle": 1.05}
    assert [read.colour_of(row["step"]) == "blue" for row in ladder] == [True, True, False, False]


@pytest.mark.parametrize("cards", [[results.H200], [results.H100], results.CARDS], ids=["H200", "H100", "both"])
def test_texts_neither_overlap_nor_leave_the_figure(cards: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[str, Any]] = []

    def record(text: Any, renderer: Any) -> None:
        # What is rotated fills little of its box.
        if text.get_text() and text.get_visible() and not text.get_rotation():
            drawn.append((text.get_text(), Text.get_window_extent(text, renderer)))

    def check(figure: Any) -> str:
        drawn.clear()
        FigureCanvasAgg(figure).draw()
        for text, box in drawn:
            assert box.x0 >= 0 and box.x1 <= plot.WIDTH and box.y0 >= 0 and box.y1 <= figure.bbox.height, text
        for (text, box), (other, beside) in itertools.combinations(drawn, 2):
            # A box has room above and below its letters.
            assert not box.padded(-2).overlaps(beside.padded(-2)), f"{text} and {other}"
        return ""

    plot.use_style()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text
    monkeypatch.setattr(Text, "draw", record)
    monkeypatch.setattr(plot, "to_svg", check)
    assert plot.draw(cards) and drawn


@pytest.mark.parametrize("svg", [rounding.FIGURE, *results.H200.parent.rglob("*.svg")],
                         ids=lambda svg: f"{svg.parent.name}/{svg.stem}")
def test_texts_are_large_enough_on_a_phone(svg: Path) -> None:
    """11 pixels in a window of 390, which leaves 358 for the figure."""
    text = svg.read_text("utf-8")
    [width] = re.findall('<svg [^>]*width="([0-9.]+)"', text)
    sizes = [float(size) for size in re.findall(r"font: [^;]*?([0-9.]+)px", text)]
    assert len(sizes) > 10 and min(sizes) * 358 / float(width) >= 11


def test_a_type_of_each_size_is_drawn() -> None:
    assert {studies.BYTES[kind] for kind in plot.TYPES} == set(studies.BYTES.values())


def test_each_committed_figure_is_on_a_page() -> None:
    shown = {(page.parent / target).resolve() for page in [REPOSITORY / "README.md", *REPOSITORY.glob("docs/**/*.md"),
                                                           *REPOSITORY.glob("beyond/*/README.md")]
             for target in re.findall(r"\]\(([^)#]*\.svg)\)", page.read_text("utf-8"))}
    assert set(results.H200.parent.rglob("*.svg")) <= shown


def test_what_cannot_be_drawn_changes_no_plot(card: Path) -> None:
    change(card / "ladder.json", "device", made_up_results.device("cpu"))
    with pytest.raises(BadUsage, match="ladder.json' has no result of a GPU whose peak is known"):
        plot.main([str(card)])
    assert not list(card.glob("*.svg"))


def test_command(tools: Callable[..., CompletedProcess[str]], card: Path, tmp_path: Path) -> None:
    ran = tools("plot", "--out", tmp_path / "a/b", card, env={**os.environ, "MPLBACKEND": "nonsense"})
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", f"5 plots are in {tmp_path}/a/b\n")
    # The same results give the same bytes.
    assert {path.name: path.read_text() for path in (tmp_path / "a/b").iterdir()} == plot.draw([card])
    with pytest.raises(BadUsage, match="is no folder that can be written"):
        plot.main(["--out", str(card / "ladder.json"), str(card)])
    (tmp_path / "matplotlib.py").write_text("raise ImportError")
    ran = tools("plot", card, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert ran.returncode == 3 and "apt install python3-matplotlib" in ran.stderr and not list(card.glob("*.svg"))


def test_pages_are_written_with_the_plots_that_are_stale(
        card: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(plot, "REPOSITORY", card.parent)
    monkeypatch.setattr(plot, "committed", lambda: {card: [card]})
    plot.main([])
    fresh = (card / "ladder.svg").read_text()
    (card / "ladder.svg").write_text(fresh.replace("2684", "2685"))
    assert plot.stale() == {Path("card/ladder.svg"): fresh}
    # Another matplotlib's are left alone, and it says so.
    (card / "ladder.svg").write_text("drawn by another one")
    assert plot.stale() == {}
    assert "python3 -m tools plot draws them anew" in capsys.readouterr().err
