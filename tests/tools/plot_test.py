"""The plots of cards that are made up from the H200's results. Skipped without matplotlib."""

import json
import math
import os
import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from xml.etree import ElementTree

import pytest

from tools import output_file, plot
from tools.command_line import REPOSITORY, BadUsage, NotPossible

pytestmark = pytest.mark.skipif(find_spec("matplotlib") is None, reason="there is no matplotlib here")

H200 = REPOSITORY / "docs/results/nvidia_h200"
NAME = "Made-up card, it's \"one\" & <$2$>"
STEPS = sorted({row["step"] for row in json.loads((H200 / "ladder.json").read_text())})


def make_card(folder: Path, name: str, peak: float, steps: Sequence[str] = STEPS) -> Path:
    """The H200's results with another peak, of which these steps reach the same share."""
    folder.mkdir()
    measured = json.loads((H200 / "measured.json").read_text())
    (folder / "measured.json").write_text(json.dumps({**measured, "gpu": name}))
    for file in plot.FILES:
        rows = [row for row in json.loads((H200 / f"{file}.json").read_text()) if row["step"] in steps]
        for row in rows:
            row["gbps"] *= peak / 4814
            row["device"]["peak_gbps"] = row["device"]["peak_gbps"] and peak
        (folder / f"{file}.json").write_text(json.dumps(rows))
    return folder


def texts_of(svg: str) -> list[str]:
    elements = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(element.itertext()) for element in elements]


def colours_in(svg: str) -> set[str]:
    return set(re.findall(r"var\(--(\w+)\)", svg)) - {"font", "paper", "ink", "grid", "peak"}


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_card(tmp_path_factory.mktemp("cards") / "one", NAME, 4814)


@pytest.fixture(scope="module")
def plots(one: Path) -> dict[str, str]:
    return plot.draw([one])


def test_one_card(plots: dict[str, str]) -> None:
    assert [*plots] == ["ladder.svg", "sweep_block.svg", "sweep_size.svg", "sweep_type.svg", "bandwidth.svg"]
    for name, svg in plots.items():
        texts = texts_of(svg)
        assert any(text.startswith(f"{NAME}: ") for text in texts)
        assert "CUDA 13.0, driver 580.159.04, 2026-11-21" in texts
        assert {*STEPS} - {"00_cpu_serial"} <= {*texts}
        assert ("peak 4814 GB/s" in texts) == (name != "sweep_size.svg")
    assert {"00_cpu_serial", "3757.9", "78.1 %"} <= {*texts_of(plots["ladder.svg"])}
    assert sum(map(len, plots.values())) < 250_000


def test_no_line_strikes_through_the_ladders_numbers(plots: dict[str, str]) -> None:
    lines = re.findall(r'd="M ([\d.]+) [\d.]+ \nL \1 [\d.]+ \n"', plots["ladder.svg"])
    numbers = re.findall(r'x="([\d.]+)"[^>]*>(\d+\.\d(?: %)?)<', plots["ladder.svg"])
    assert len(numbers) == 2 * len(STEPS) and lines
    for x, text in numbers:
        assert float(x) - plot.LETTER * len(text) > max(map(float, lines))


def test_two_cards(one: Path, tmp_path: Path) -> None:
    # Results from before a step was there.
    two = make_card(tmp_path / "two", "Another", 86.4, [*STEPS[:8], STEPS[-1]])
    svgs = plot.draw([one, two])
    for svg in svgs.values():
        assert all(any(name in text for text in texts_of(svg)) for name in (NAME, "Another"))
    ladder = texts_of(svgs["ladder.svg"])
    assert {f"{NAME}, peak 4814 GB/s", "Another, peak 86.4 GB/s"} <= {*ladder}
    assert ladder.count("78.1 %") == 2 and "00_cpu_serial" not in ladder


def test_a_step_looks_the_same_in_every_figure(plots: dict[str, str], tmp_path: Path) -> None:
    few = plot.draw([make_card(tmp_path / "few", NAME, 4814, ("03_sequential", "10_single_pass", "peer_cub"))])
    for name, svg in few.items():
        assert colours_in(svg) == {"step3", "step10", "grey0"}
        assert {f"step{k}" for k in range(1, 13)} <= colours_in(plots[name])
        markers = {mark for text in (svg, plots[name]) for mark in re.findall(
            r'<use xlink:href="#(m\w+)"[^>]*style="fill: var\(--step10\)', text)}
        assert len(markers) == (0 if name in ("ladder.svg", "sweep_type.svg") else 1)
    assert plot.Style.of("01_a") != plot.Style.of("14_a") != plot.Style.of("peer_new") != plot.Style.of("peer_cub")


@pytest.mark.parametrize("scheme", [0, 1])
def test_contrast(plots: dict[str, str], scheme: int) -> None:
    for svg in plots.values():
        # No colour is drawn that does not change with the page.
        assert all("fill: var(--" in tag for tag in re.findall("<text [^>]*>", svg))
        assert not re.search("(fill|stroke)(: |=\")(#|black|white)", svg)
        colours = dict(re.findall(r"--(\w+): (#\w{6})", svg.split("@media (prefers-color-scheme: dark)")[scheme]))
        for role, colour in colours.items():
            least = {"paper": 1, "ink": 4.5, "peak": 4.5}.get(role, 3)
            assert contrast(colour, colours["paper"]) >= least, role


def contrast(*colours: str) -> float:
    """As WCAG 2 defines it."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else math.pow((part + 0.055) / 1.055, 2.4)

    dark, light = sorted(sum(weight * linear(int(colour[k:k + 2], 16) / 255) for weight, k in (
        (0.2126, 1), (0.7152, 3), (0.0722, 5))) for colour in colours)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("file, key, value, said", [
    ("sweep_size", "verified", False, "01_interleaved has a wrong result"),
    ("sweep_type", "ms", None, "01_interleaved has no time"),
    ("sweep_block", "gbps", None, "01_interleaved has no time"),
    ("ladder", "device", {"kind": "cpu"}, "ladder.json' has no result of a GPU whose peak is known"),
])
def test_refusals_leave_the_old_plots(tmp_path: Path, one: Path, file: str, key: str, value: Any, said: str) -> None:
    card = make_card(tmp_path / "card", NAME, 4814)
    rows = json.loads((card / f"{file}.json").read_text())
    for row in rows:
        row[key] = {**row[key], **value} if isinstance(value, dict) else value
    (card / f"{file}.json").write_text(json.dumps(rows))
    (card / "ladder.svg").write_text("the old one")
    for words in ([str(card), str(one)], ["--out", str(tmp_path / "new"), str(one), str(card)]):
        with pytest.raises(BadUsage, match=re.escape(said)):
            plot.main(words)
    assert [path.read_text() for path in card.glob("*.svg")] == ["the old one"] and not (tmp_path / "new").exists()


def test_command(tools: Callable[..., CompletedProcess[str]], one: Path, plots: dict[str, str], tmp_path: Path) -> None:
    ran = tools("plot", "--out", tmp_path / "a/b", one)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", f"5 plots are in {tmp_path}/a/b\n")
    # The same results give the same bytes.
    assert {path.name: path.read_text() for path in (tmp_path / "a/b").iterdir()} == plots
    for words, said in (((), "RESULTS"), (("--out", one / "ladder.json", one), "is no folder that can be written")):
        refused = tools("plot", *words)
        assert refused.returncode == 2 and said in refused.stderr and refused.stderr.count("\n") == 1
    (tmp_path / "matplotlib.py").write_text("raise ImportError")
    ran = tools("plot", "--out", tmp_path / "c", one, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert ran.returncode == 3 and "apt install python3-matplotlib" in ran.stderr and ran.stderr.count("\n") == 1
    assert not (tmp_path / "c").exists()


def test_stale_plots(tmp_path: Path) -> None:
    card = make_card(tmp_path / "card", NAME, 4814)
    assert len(plot.stale(card)) == 5
    plot.main([str(card)])
    assert plot.stale(card) == []
    ladder = card / "ladder.svg"
    output_file.write(ladder, ladder.read_text().replace("3757.9", "3757.8"))
    assert plot.stale(card) == [ladder]
    output_file.write(ladder, ladder.read_text().replace("with matplotlib 3", "with matplotlib 1"))
    with pytest.raises(NotPossible, match="are not compared: another matplotlib drew them"):
        plot.stale(card)


def test_committed_plots() -> None:
    try:
        assert plot.stale(H200) == [], "run python3 -m tools plot docs/results/nvidia_h200"
    except NotPossible as why:
        pytest.skip(str(why))
