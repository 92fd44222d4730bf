"""The plots of cards that are made up. Skipped without matplotlib."""

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

from tools import plot
from tools.command_line import BadUsage

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
        assert texts > {"CUDA 13.0, driver 1.2.3, 2026-11-21", "07_cascade", "12_any_operation", "peer_cub"}
        assert any(text.startswith(f"{NAME}: ") for text in texts)
        assert ("peak 4000 GB/s" in texts) == (name != "sweep_size.svg")
        assert ("00_cpu_serial" in texts) == (name == "ladder.svg")
        # No colour is drawn that does not change with the page.
        assert not re.search("(fill|stroke)(: |=\")(#|black|white)", svg)


def test_two_cards(card: Path, tmp_path: Path) -> None:
    made_up_results.write_card(tmp_path / "two")
    change(tmp_path / "two/ladder.json", "device", made_up_results.device(peak=8000))
    svgs = plot.draw([card, tmp_path / "two"])
    assert all(name in " ".join(texts_of(svg)) for svg in svgs.values() for name in (NAME, "Made up"))
    # 2^28 int32 in 0.4 ms are 2684 GB/s.
    ladder = texts_of(svgs["ladder.svg"])
    assert ladder > {f"{NAME}, peak 4000 GB/s", "Made up, peak 8000 GB/s", "67.1 %", "33.6 %"}
    # One axis of GB/s, to the higher peak.
    assert ladder > {"4000", "8000", "1000", "7000"} and not ladder & {"20 %", "9000"}


def test_what_cannot_be_drawn_changes_no_plot(card: Path) -> None:
    change(card / "ladder.json", "device", made_up_results.device("cpu"))
    with pytest.raises(BadUsage, match="ladder.json' has no result of a GPU whose peak is known"):
        plot.main([str(card)])
    assert not list(card.glob("*.svg"))


def test_command(tools: Callable[..., CompletedProcess[str]], card: Path, tmp_path: Path) -> None:
    ran = tools("plot", "--out", tmp_path / "a/b", card, env={**os.environ, "MPLBACKEND": "nonsense"})
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", f"6 plots are in {tmp_path}/a/b\n")
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
    (card / "ladder.svg").write_text(fresh.replace("67.1 %", "67.2 %"))
    assert plot.stale() == {Path("card/ladder.svg"): fresh}
    # Another matplotlib's are left alone, and it says so.
    (card / "ladder.svg").write_text("drawn by another one")
    assert plot.stale() == {}
    assert "python3 -m tools plot draws them anew" in capsys.readouterr().err
