"""Draws measured results as five figures (SVG), of one card or of several beside each other. It takes matplotlib.

The folder of a card has measured.json, ladder.json and sweep_{block,size,type}.json. After a failure the figures are
those of before.
"""

from __future__ import annotations

import dataclasses
import io
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tools import output_file, results
from tools.command_line import ELEMENT_TYPES, BadUsage, ExitCode, NotPossible, Parser, say
from tools.markdown import count_text
from tools.results import Measured, Result

try:
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch
except ImportError:
    matplotlib = None

# ---- style: colours on a light page and on a dark one, and what a step looks like in every figure ----

# Of steps, by the number in their names; after the last one the first comes again, with another marker.
STEP_COLOURS = [("#6a5785", "#b09fd6"), ("#e1386f", "#e0608f"), ("#1f949a", "#4fd0e8"), ("#b07f10", "#deb903"),
                ("#6a1b8a", "#9a86ff"), ("#1d8be0", "#3a9fd6"), ("#1b6b3a", "#5baa13"), ("#af3f9c", "#fcadd7"),
                ("#5f5a08", "#deeb6e"), ("#1855d2", "#6a76e0"), ("#c25a05", "#fdae75"), ("#0a8a64", "#2bba9f"),
                ("#662703", "#a57b4c")]
GREYS = [("#000000", "#ffffff"), ("#5c5c5c", "#b8bec6"), ("#858585", "#878f99")]
COLOURS = {"paper": ("#ffffff", "#0d1117"), "ink": ("#1f2328", "#e6edf3"), "grid": ("#8f8f8f", "#626a75"),
           "peak": ("#b3001b", "#ff7b72"), **{f"step{k}": pair for k, pair in enumerate(STEP_COLOURS)},
           **{f"grey{k}": pair for k, pair in enumerate(GREYS)}}
MARKERS = "os^Dv"
# They have no number: grey, dashed and hollow. A library that is not named here looks like a fifth one.
LIBRARIES = ["peer_cub", "peer_thrust", "peer_cublas", "peer_cooperative_groups"]
HATCHES = ["", "////", "xxxx", "||||", "----", "++++"]  # of the cards' bars
FONT = "'DejaVu Sans', Verdana, 'Segoe UI', Helvetica, Arial, sans-serif"
WIDTH = 720  # of a figure, in pixels, as all lengths here
LETTER = 9  # of a name, on average, in the widest font


def colour(role: str) -> str:
    """What stands for a colour while a figure is drawn; to_svg() puts its CSS property in this place."""
    return f"#fade{list(COLOURS).index(role):02x}"


@dataclasses.dataclass(frozen=True)
class Style:
    """What a step looks like, whatever is drawn beside it."""

    colour: str
    marker: str = ""
    hollow: bool = False

    @staticmethod
    def of(step: str) -> Style:
        if number := re.match(r"\d+", step):
            k = int(number[0])
            return Style(colour(f"step{k % len(STEP_COLOURS)}"), MARKERS[k % len(MARKERS)])
        k = LIBRARIES.index(step) if step in LIBRARIES else len(LIBRARIES)
        return Style(colour(f"grey{k % len(GREYS)}"), MARKERS[(k + 1) % len(MARKERS)], hollow=True)

    def curve(self) -> dict[str, Any]:
        return {"color": self.colour, "marker": self.marker, "markersize": 6, "linewidth": 2, "clip_on": False,
                "linestyle": (0, (3, 1.5)) if self.hollow else "-", "markeredgewidth": 1.2 if self.hollow else 0,
                "markerfacecolor": colour("paper") if self.hollow else self.colour}

    def bar(self, card: int = 0) -> dict[str, Any]:
        hatch = HATCHES[card % len(HATCHES)]
        return {"facecolor": colour("paper") if self.hollow or hatch else self.colour, "edgecolor": self.colour,
                "linewidth": 1 if self.hollow or hatch else 0, "linestyle": (0, (3, 1.5)) if self.hollow else "-",
                "hatch": hatch, "clip_on": False}


def use_style() -> None:
    """Throws NotPossible where there is no matplotlib."""
    if matplotlib is None:
        raise NotPossible("the plots take matplotlib. On Debian and Ubuntu: sudo apt install python3-matplotlib")
    matplotlib.rcdefaults()
    # matplotlib brings the font: texts are as wide on every machine.
    matplotlib.rcParams.update({
        "svg.fonttype": "none", "svg.hashsalt": "plot", "text.parse_math": False, "font.family": ["DejaVu Sans"],
        "font.size": 14, "hatch.linewidth": 1.2, "grid.linewidth": 0.5, "axes.axisbelow": True,
        "axes.facecolor": "none", "axes.spines.top": False, "axes.spines.right": False,
        "legend.frameon": False, "legend.borderpad": 0, "legend.borderaxespad": 0, "legend.handlelength": 1.8,
        "legend.handletextpad": 0.5, "legend.labelspacing": 0.35, "legend.columnspacing": 1,
        "savefig.facecolor": colour("paper"), "grid.color": colour("grid"), "text.color": colour("ink"),
        "axes.edgecolor": colour("ink"), "axes.labelcolor": colour("ink"), "xtick.color": colour("ink"),
        "ytick.color": colour("ink")})


def to_svg(figure: Figure) -> str:
    """The figure as a text, which is the same for the same matplotlib."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata=dict.fromkeys(["Creator", "Date", "Format", "Type"]))
    text = re.sub(r'="([\d.]+)pt"', r'="\1"', stream.getvalue(), count=2)
    # A hundredth of a pixel is enough of a coordinate.
    text = re.sub(r"(\.\d\d)\d+(?=[^<>]*>)", r"\1", text)
    text = re.sub("#fade(..)", lambda found: f"var(--{list(COLOURS)[int(found[1], 16)]})", text)
    light, dark = ("; ".join(f"--{role}: {pair[k]}" for role, pair in COLOURS.items()) for k in (0, 1))
    style = f":root {{ --font: {FONT}; {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    text = text.replace("'DejaVu Sans'", "var(--font)").replace("*{stroke", f"\n{style}*{{stroke", 1)
    return text.replace("<svg ", f"<!-- {drawn_by()} -->\n<svg ", 1)


def drawn_by() -> str:
    return f"Drawn by python3 -m tools plot with matplotlib {matplotlib.__version__}"


# ---- the cards ----

FILES = ["ladder", "sweep_block", "sweep_size", "sweep_type"]  # .json


@dataclasses.dataclass(frozen=True)
class Card:
    name: str
    conditions: str
    results: dict[str, list[Result]]  # by the name of their file, without .json
    peak: float  # GB/s


def read_card(folder: Path) -> Card:
    """Throws BadUsage for results that cannot be drawn."""
    measured = results.read_one(folder / "measured.json", Measured)
    lists: dict[str, list[Result]] = {name: results.read_list(folder / f"{name}.json") for name in FILES}
    for name, row in ((name, row) for name, rows in lists.items() for row in rows):
        if not (row.verified and row.ms and row.gbps):
            raise BadUsage(f"'{folder}/{name}.json': {row.step} has {'no time' if row.verified else 'a wrong result'}; "
                           "verified results with times are drawn")
    peaks = [row.device.peak_gbps for row in lists["ladder"] if row.on_gpu and row.device.peak_gbps]
    if not peaks:
        raise BadUsage(f"'{folder}/ladder.json' has no result of a GPU whose peak is known")
    return Card(measured.gpu, f"CUDA {measured.cuda}, driver {measured.driver}, {measured.date}", lists, peaks[0])


def steps_of(rows: Sequence[Result]) -> list[str]:
    """By their numbers; libraries, which have none, come last."""
    return sorted({row.step for row in rows})


def input_text(rows: Sequence[Result]) -> str:
    """As far as it is the same in all rows: 2^28 int32."""
    counts = sorted({count_text(row.elements) for row in rows})
    types: list[str] = sorted({row.type for row in rows})
    return " ".join((counts if len(counts) == 1 else []) + (types if len(types) == 1 else ["elements"]))


# ---- what figures are made of ----

PEAK = {"color": colour("peak"), "linestyle": (0, (4, 2)), "linewidth": 1.5}
SHARES = [k / 5 for k in range(6)], [f"{20 * k} %" for k in range(6)]  # ticks


def new_axes(figure: Figure, top: float, title: str, below: str, left: float, width: float, height: float) -> Any:
    """Axes below a title of two lines, which begins at `top`."""
    whole = 72 * figure.get_figheight()
    figure.text(16 / WIDTH, 1 - (top + 26) / whole, title, fontsize=17, weight="bold")
    figure.text(16 / WIDTH, 1 - (top + 46) / whole, below, fontsize=13)
    return figure.add_axes((left / WIDTH, 1 - (top + 84 + height) / whole, width / WIDTH, height / whole))


def write(axes: Any, text: str, place: tuple[float, float], shift: tuple[float, float], **style: Any) -> None:
    """At a place in the axes, of which each side is 1, and so many pixels from there."""
    axes.annotate(text, place, shift, **{"xycoords": "axes fraction", "textcoords": "offset points", **style})


# ---- the ladder ----


def draw_ladder(cards: Sequence[Card]) -> Figure:
    """A bar for each step and card, as long as the share of the card's own peak."""
    one = len(cards) == 1
    # Cards are compared by the share of their peaks, and a CPU has none.
    ladders = [[row for row in card.results["ladder"] if row.on_gpu or one] for card in cards]
    steps = steps_of(sum(ladders, []))
    left, height = 16 + LETTER * max(map(len, steps)), len(steps) * (26 if one else 18 * len(cards) + 10)
    below = 36 if one else 60 + 21 * len(cards)
    figure = Figure(figsize=(WIDTH / 72, (84 + height + below) / 72))
    title = cards[0].name if one else "Shares of each card's own peak"
    axes = new_axes(figure, 0, f"{title}: {input_text(ladders[0])}", cards[0].conditions if one else "", left,
                    WIDTH - left - 156, height)
    thickness = 0.72 if one else 0.84 / len(cards)
    for k, (card, ladder) in enumerate(zip(cards, ladders)):
        for row in ladder:
            y, share = steps.index(row.step) + (k + 0.5 - len(cards) / 2) * thickness, row.bandwidth / card.peak
            axes.barh(y, share, 0.94 * thickness, **Style.of(row.step).bar(k))
            # In columns, where no line strikes them through.
            for text, x in ((f"{row.bandwidth:.1f}", 64), (f"{100 * share:.1f} %", 140)):
                write(axes, text, (1, y), (x, 0), xycoords=("axes fraction", "data"), ha="right", va="center")
    for text, x in (("GB/s", 64), ("of peak", 140)):
        write(axes, text, (1, 1), (x, 8), ha="right")
    axes.set(xlim=(0, 1.04), ylim=(len(steps) - 0.5, -0.5))
    axes.set_xticks(*SHARES)
    axes.set_yticks(range(len(steps)), steps)
    axes.tick_params(axis="y", length=0, pad=6)
    axes.grid(axis="x")
    axes.axvline(1, **PEAK)
    peak = f"peak {cards[0].peak:.4g} GB/s" if one else "peak"
    write(axes, peak, (1 / 1.04, 1), (0, 8), ha="right", color=PEAK["color"])
    if not one:
        bars = [Patch(**Style(colour("ink")).bar(k)) for k in range(len(cards))]
        axes.legend(bars, [f"{card.name}, peak {card.peak:.4g} GB/s" for card in cards], loc="upper left",
                    bbox_to_anchor=(0, -44 / height))
    return figure


# ---- the sweeps ----


@dataclasses.dataclass(frozen=True)
class Panel:
    """What is drawn of a file, and over what."""

    file: str
    x: Callable[[Result], float | None]  # None: a level line over all x
    x_label: str
    x_text: Callable[[int], str]  # at a tick
    quantity: str  # GB/s or ms
    bars: bool = False

    def y(self, row: Result) -> float:
        return row.bandwidth if self.quantity == "GB/s" else row.median_ms


BLOCKS = Panel("sweep_block", lambda row: math.log2(row.block) if row.block else None, "threads per block",
               lambda x: str(2**x), "GB/s")
SIZES = Panel("sweep_size", lambda row: math.log2(row.elements), "elements", lambda x: f"2^{x}", "GB/s")
TYPES = Panel("sweep_type", lambda row: ELEMENT_TYPES.index(row.type), "", lambda x: ELEMENT_TYPES[x], "GB/s", True)


def draw_panels(cards: Sequence[Card], *panels: Panel) -> Figure:
    """All panels of a card, then those of the next, one below the other."""
    pairs = [(card, panel) for card in cards for panel in panels]
    steps = steps_of([row for card, panel in pairs for row in card.results[panel.file]])
    # The legend of curves is on the right, that of bars below.
    bars, left, share_axis, name = panels[0].bars, 62, 66, LETTER * max(map(len, steps))
    columns = (WIDTH - left) // (name + 20)
    width, height = WIDTH - left - share_axis - (0 if bars else name + 40), max(300, 21 * len(steps))
    pitch = 84 + height + (44 + 21 * math.ceil(len(steps) / columns) if bars else 60)
    figure = Figure(figsize=(WIDTH / 72, pitch * len(pairs) / 72))
    for k, (card, panel) in enumerate(pairs):
        title = f"{card.name}: {input_text(card.results[panel.file])}"
        axes = new_axes(figure, k * pitch, title, card.conditions, left, width, height)
        drawn = draw_panel(axes, card, panel)
        if bars:
            axes.legend([*drawn.values()], [*drawn], loc="upper left", bbox_to_anchor=(0, -32 / height), ncols=columns)
        else:
            drawn = dict(sorted(drawn.items(), key=lambda item: -float(item[1].get_ydata()[-1])))  # as the curves end
            axes.legend([*drawn.values()], [*drawn], loc="center left", bbox_to_anchor=(1 + share_axis / width, 0.5))
    return figure


def draw_panel(axes: Any, card: Card, panel: Panel) -> dict[str, Any]:
    """What is drawn for each step."""
    rows, drawn = card.results[panel.file], {}
    steps = steps_of(rows)
    for k, step in enumerate(steps):
        points = sorted((x, panel.y(row)) for row in rows if row.step == step and (x := panel.x(row)) is not None)
        xs, ys = [x for x, y in points], [y for x, y in points]
        if panel.bars:
            width = 0.86 / len(steps)
            drawn[step] = axes.bar([x + (k + 0.5) * width - 0.43 for x in xs], ys, width, **Style.of(step).bar())
        elif points:
            [drawn[step]] = axes.plot(xs, ys, **Style.of(step).curve())
        else:
            level = next(panel.y(row) for row in rows if row.step == step)
            drawn[step] = axes.axhline(level, **{**Style.of(step).curve(), "marker": ""})
    ticks = sorted({round(x) for row in rows if (x := panel.x(row)) is not None})
    ticks = [x for x in ticks if len(ticks) <= 10 or x % 5 == 0]
    axes.set_xticks(ticks, [panel.x_text(x) for x in ticks])
    axes.set_xlabel(panel.x_label)
    axes.grid(axis="y")
    write(axes, panel.quantity, (0, 1), (0, 8), ha="right")
    if panel.quantity == "GB/s":
        draw_bandwidth_axis(axes, card.peak)
    elif not panel.bars:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda y, position: f"{y:g}")
        axes.minorticks_off()
    return drawn


def draw_bandwidth_axis(axes: Any, peak: float) -> None:
    """Ends a little above the peak, so that the same height is the same share of it in every panel."""
    axes.set_ylim(0, 1.12 * peak)
    axes.secondary_yaxis("right", functions=(lambda y: y / peak, lambda share: share * peak)).set_yticks(*SHARES)
    axes.axhline(peak, **PEAK)
    write(axes, "of peak", (1, 1), (0, 8))
    # On paper, which hides the grid behind it.
    write(axes, f"peak {peak:.4g} GB/s", (0, 1 / 1.12), (6, 4), color=PEAK["color"],
          bbox={"facecolor": colour("paper"), "edgecolor": "none", "pad": 1})


# ---- the figures ----

FIGURES: dict[str, Callable[[Sequence[Card]], Figure]] = {
    "ladder": draw_ladder,
    "sweep_block": lambda cards: draw_panels(cards, BLOCKS),
    "sweep_size": lambda cards: draw_panels(cards, dataclasses.replace(SIZES, quantity="ms")),
    "sweep_type": lambda cards: draw_panels(cards, TYPES, dataclasses.replace(TYPES, quantity="ms")),
    "bandwidth": lambda cards: draw_panels(cards, SIZES),
}


def draw(folders: Sequence[Path]) -> dict[str, str]:
    """The text of each file. Throws BadUsage for results that cannot be drawn, NotPossible without matplotlib."""
    cards = [read_card(folder) for folder in folders]
    use_style()
    return {f"{name}.svg": to_svg(figure(cards)) for name, figure in FIGURES.items()}


def stale(folder: Path) -> list[Path]:
    """The plots in this folder, of its one card, that are not those of its results.

    Throws NotPossible, which says why, where they cannot be compared: another matplotlib draws a little differently.
    """
    fresh = {folder / name: text for name, text in draw([folder]).items()}
    old = {file: file.read_text(encoding="utf-8") for file in fresh if file.exists()}
    if not all(drawn_by() in text for text in old.values()):
        raise NotPossible(f"the plots in {folder} are not compared: another matplotlib drew them, and "
                          f"{matplotlib.__version__} is here")
    return [file for file, text in fresh.items() if old.get(file) != text]


def main(words: list[str]) -> int:
    parser = Parser("plot", __doc__)
    parser.add_argument("results", type=Path, nargs="+", metavar="RESULTS", help="the folder of a card's results")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where the plots go; default the first RESULTS")
    options = parser.parse_args(words)
    texts = draw(options.results)
    folder = options.out or options.results[0]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadUsage(f"--out '{folder}' is no folder that can be written: {error.strerror}") from None
    for name, text in texts.items():
        output_file.write(folder / name, text)
    say(f"{len(texts)} plots are in {folder}")
    return ExitCode.DONE
