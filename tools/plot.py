"""Draws measured results as figures (SVG), of one card or of several beside each other. It takes matplotlib.

The folder of a card has measured.json, ladder.json and sweep_{block,size,type}.json. After a failure the figures are
those of before. Without RESULTS all committed figures are drawn: those of each card in docs/results, in its folder, and
in docs/results itself those of the cards that the pages compare.
"""

from __future__ import annotations

import dataclasses
import io
import itertools
import math
import os
import re
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools import output_file, results
from tools.bandwidth import INTENSITY, additions_per_second
from tools.command_line import REPOSITORY, BadUsage, ExitCode, NotPossible, Parser, read_text, say
from tools.markdown import count_text
from tools.results import CARDS, H200, Result, RowsResult

# matplotlib takes half a second to import, so this is done where it draws.
if TYPE_CHECKING:
    from matplotlib.figure import Figure

# ---- style ----

# On a light page and on a dark one. A card has one colour in all figures.
COLOURS = {"paper": ("#ffffff", "#0d1117"), "ink": ("#1f2328", "#e6edf3"), "muted": ("#656d76", "#8b949e"),
           "grid": ("#d0d7de", "#30363d"), "card0": ("#0860ca", "#58a6ff"), "card1": ("#b54708", "#f0883e"),
           "card2": ("#197935", "#3fb950"), "card3": ("#8250df", "#bc8cff")}
# Figures are drawn in the light ones; to_svg() puts their CSS properties in their places.
LIGHT = {role: light for role, (light, dark) in COLOURS.items()}
DASHED = (0, (3, 1.5))
FONT = "'DejaVu Sans', Verdana, 'Segoe UI', Helvetica, Arial, sans-serif"
WIDTH = 480  # of a figure, in pixels, as all lengths here: on a phone, in 358 pixels, its texts are 11 pixels high
MARGIN, LINE, TOP = 10, 18, 36  # at the left, of a line of text, of the title
NAME = 160  # of the longest name of a step, in the widest font


def use_style() -> None:
    """Throws NotPossible where there is no matplotlib."""
    # It draws into files, and matplotlib fails where this names no device that it knows.
    os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib
    except ImportError:
        raise NotPossible("the plots take matplotlib. On Debian and Ubuntu: sudo apt install python3-matplotlib")
    matplotlib.rcdefaults()
    matplotlib.rcParams.update({
        # matplotlib brings the font: texts are as wide on every machine.
        "font.family": ["DejaVu Sans"], "font.size": 15, "svg.fonttype": "none", "svg.hashsalt": "plot",
        "text.parse_math": False, "axes.facecolor": "none", "axes.axisbelow": True,
        "axes.spines.top": False, "axes.spines.right": False,
        "grid.linewidth": 1, "grid.color": LIGHT["grid"], "savefig.facecolor": LIGHT["paper"],
        **dict.fromkeys(["text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"],
                        LIGHT["ink"])})


def to_svg(figure: Figure) -> str:
    """The figure as a text, which is the same for the same matplotlib."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata=dict.fromkeys(["Creator", "Date", "Format", "Type"]))
    text = re.sub(r'="([\d.]+)pt"', r'="\1"', stream.getvalue(), count=2)
    # A hundredth of a pixel is enough of a coordinate.
    text = re.sub(r"(\.\d\d)\d+(?=[^<>]*>)", r"\1", text)
    for role, light in LIGHT.items():
        text = text.replace(light, f"var(--{role})")
    lights, darks = ("; ".join(f"--{role}: {pair[k]}" for role, pair in COLOURS.items()) for k in (0, 1))
    style = f":root {{ --font: {FONT}; {lights} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {darks} }} }}\n"
    text = text.replace("'DejaVu Sans'", "var(--font)").replace("*{stroke", f"\n{style}*{{stroke", 1)
    return text.replace("<svg ", f"<!-- {drawn_by()} -->\n<svg ", 1)


def drawn_by() -> str:
    return f"Drawn by python3 -m tools plot with matplotlib {version('matplotlib')}"


# ---- the cards ----

# What each sweep is over, and its value of a result; none where a step chooses it by itself.
SWEEPS: dict[str, tuple[str, Callable[[Result], str | None]]] = {
    "sweep_block": ("threads per block", lambda row: str(row.block) if row.block else None),
    "sweep_size": ("elements", lambda row: count_text(row.elements)),
    "sweep_cpu": ("elements", lambda row: count_text(row.elements)),
}
# Where one core of the CPU and a GPU cross: the CPU's sweep beside these steps.
CROSSING = "01_interleaved", "07_cascade", "12_any_operation"
TYPES = "float32", "float64", "complex128"  # one of each size
GAIN = 1.05  # of a step over the one before it; those with less are muted


def is_library(step: str) -> bool:
    return not re.match("[0-9]{2}_", step)


@dataclasses.dataclass(frozen=True)
class Card:
    name: str
    conditions: str
    results: dict[str, list[Result]]  # by the name of their file, without .json
    rows: list[RowsResult]  # the sums of 15_rows
    peak: float  # GB/s
    roofs: dict[str, float]  # 10^9 additions/s, of each type that is known
    colour: str

    @property
    def heading(self) -> list[tuple[str, str]]:
        return [(self.name, self.colour), (self.conditions, LIGHT["ink"])]

    @property
    def ladder(self) -> list[Result]:
        """Without the CPU, of which each card's machine has another one."""
        return [row for row in self.results["ladder"] if row.on_gpu]

    @property
    def input(self) -> str:
        return f"{count_text(self.ladder[0].elements)} {self.ladder[0].type}"

    @property
    def gains(self) -> dict[str, float]:
        """Of the steps that gain: how many times as fast as the one before it. The first one begins with 1."""
        steps = [row for row in self.ladder if not is_library(row.step)]
        return {row.step: row.bandwidth / before.bandwidth for before, row in zip(steps[:1] + steps, steps)
                if row is before or row.bandwidth >= GAIN * before.bandwidth}

    def colour_of(self, step: str) -> str:
        return self.colour if step in self.gains else LIGHT["muted"]


def read_card(folder: Path, colour: str) -> Card:
    """Throws BadUsage for results that cannot be drawn."""
    measured = results.measured(folder)
    lists = {name: results.read(folder, name) for name in ("ladder", "sweep_type", *SWEEPS)}
    if lists["sweep_cpu"]:
        lists["sweep_cpu"] = [row for row in (*lists["sweep_cpu"], *lists["sweep_size"])
                              if row.elements <= 2**22 and (not row.on_gpu or row.step in CROSSING)]
    first = next((row for row in lists["ladder"] if row.device.peak_gbps), None)
    if first is None or first.device.peak_gbps is None:
        raise BadUsage(f"'{folder}/ladder.json' has no result of a GPU whose peak is known")
    return Card(measured.gpu, f"CUDA {measured.cuda}, driver {measured.driver}, {measured.date}", lists,
                [row for row in results.read_as(folder, "rows", RowsResult) if row.operation == "sum"],
                first.device.peak_gbps, additions_per_second(first, measured.clock_mhz), colour)


# ---- what figures are made of ----


def new_figure(title: str, panels: Sequence[Sequence[tuple[str, str]]], left: float, right: float,
               height: float) -> tuple[Figure, list[Any]]:
    """With axes below each other, each under its lines of a text and a colour."""
    from matplotlib.figure import Figure

    pitch = LINE * len(panels[0]) + 36 + height + 58
    whole = TOP + pitch * len(panels)
    figure, axes = Figure((WIDTH / 72, whole / 72), dpi=72), []
    figure.text(MARGIN / WIDTH, 1 - 26 / whole, title, fontsize=17, weight="bold")
    for top, lines in zip(itertools.count(TOP, pitch), panels):
        for k, (text, colour) in enumerate(lines, 1):
            figure.text(MARGIN / WIDTH, 1 - (top + LINE * k) / whole, text, color=colour)
        axes.append(figure.add_axes((left / WIDTH, 1 - (top + pitch - 58) / whole, 1 - (left + right) / WIDTH,
                                     height / whole)))
    return figure, axes


def line_of(colour: str) -> dict[str, Any]:
    """Also of a point: what is muted is thinner, and behind the others."""
    width, marker, above = (1.2, 5, 2) if colour == LIGHT["muted"] else (2.2, 8, 3)
    return {"color": colour, "linewidth": width, "markersize": marker, "zorder": above, "clip_on": False}


def write(axes: Any, text: str, place: tuple[float, float], shift: tuple[float, float], **style: Any) -> None:
    """At a place in the axes, of which each side is 1, and so many pixels from there."""
    axes.annotate(text, place, shift, **{"xycoords": "axes fraction", "textcoords": "offset points", **style})


def spread(places: Sequence[float], end: float, gap: float = LINE) -> list[float]:
    """The ascending places, moved up until each is a gap above the one before, and then down below the end."""
    apart = itertools.accumulate(places, lambda before, place: max(before + gap, place))
    return [min(place, end - gap * k) for k, place in zip(reversed(range(len(places))), apart)]


def name_points(axes: Any, x: float, points: Sequence[tuple[float, str, str]], end: float) -> None:
    """Names of points (y, name, colour) at x, to the right of them and below `end`, with a thin line from each."""
    points = sorted(points)
    axes.get_ylim()  # matplotlib chooses the limits now
    pixels = [axes.transData.transform((x, y))[1] - axes.bbox.y0 for y, name, colour in points]
    for (y, name, colour), pixel, place in zip(points, pixels, spread(pixels, end)):
        axes.annotate(name, (x, y), (20, place - pixel), textcoords="offset points", va="center_baseline", color=colour,
                      annotation_clip=False, arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.7,
                                                         "shrinkA": 0, "shrinkB": 4, "relpos": (0, 0.5)})


def show_peak(axes: Any, card: Card) -> None:
    """The same height is the same share of the peak in every panel."""
    axes.set_ylim(0, 1.12 * card.peak)
    axes.axhline(card.peak, color=card.colour, linestyle=DASHED)
    write(axes, f"peak {card.peak:.4g}", (0, 1 / 1.12), (6, 5), color=card.colour,
          bbox={"color": LIGHT["paper"], "pad": 0})  # which hides the grid behind it


def end_sweep(axes: Any, values: Sequence[str], unit: str, ends: Sequence[tuple[float, str, str]], label: str) -> None:
    """Below and beside a sweep over these values, whose lines end there."""
    axes.set(xlim=(0, max(len(values) - 1, 1)), xlabel=label)
    name_points(axes, len(values) - 1, ends, 280)
    ticks = range(0, len(values), 5 if len(values) > 10 else 1)
    axes.set_xticks(ticks, [values[k] for k in ticks])
    axes.tick_params(axis="x", pad=9)  # clear of the 0
    axes.grid(axis="y")
    write(axes, unit, (0, 1), (-6, 13), ha="right")


# ---- the figures ----


def draw_ladder(cards: Sequence[Card]) -> Figure:
    """A bar for each step and card, on one axis of GB/s, and what each step that gains does."""
    steps = sorted({row.step for card in cards for row in card.ladder})  # by their numbers; libraries come last
    numbers = [row.bandwidth for card in cards for row in card.ladder]
    pitch = LINE * len(cards) + 9
    lines = [(f"{card.name}, peak {card.peak:.4g} GB/s", card.colour) for card in cards]
    lines += cards[0].heading[1:] if len(cards) == 1 else []
    lines.append((f"{cards[0].input}; gain: over the step before, from 5 % on", LIGHT["ink"]))
    figure, [axes] = new_figure(f"The ladder: from {min(numbers):.0f} to {max(numbers):.0f} GB/s", [lines], NAME + 6,
                                118, pitch * len(steps))
    for k, card in enumerate(cards):
        for row in card.ladder:
            y = steps.index(row.step) + (k + 0.5 - len(cards) / 2) * LINE / pitch
            gain, colour = card.gains.get(row.step, 0), card.colour_of(row.step)
            axes.barh(y, row.bandwidth, (LINE - 2) / pitch, color=card.colour, alpha=1 if gain else 0.4)
            # In columns, where no line strikes them through.
            for text, x in ((f"{row.bandwidth:.0f}", 50), (f"×{gain:.2f}" if gain > 1 else "", 108)):
                write(axes, text, (1, y), (x, 0), xycoords=("axes fraction", "data"), ha="right",
                      va="center_baseline", color=colour)
        axes.axvline(card.peak, color=card.colour, linestyle=DASHED)
    for text, x in (("GB/s", 50), ("gain", 108)):
        write(axes, text, (1, 1), (x, 8), ha="right")
    axes.set(xlim=(0, 1.02 * max(card.peak for card in cards)), ylim=(len(steps) - 0.5, -0.5))
    axes.locator_params(axis="x", nbins=4)
    axes.set_yticks(range(len(steps)), steps)
    for step, name in zip(steps, axes.get_yticklabels()):
        name.set_color(LIGHT["ink" if any(step in card.gains for card in cards) else "muted"])
    axes.tick_params(axis="y", length=0, pad=6)
    axes.set_xlabel("GB/s; dashed: the peak")
    axes.grid(axis="x")
    return figure


def draw_sweep(cards: Sequence[Card], sweep: str, title: str) -> Figure:
    """For each card a panel of bandwidths, or of times where the CPU is beside it."""
    label, value_of = SWEEPS[sweep]
    figure, panels = new_figure(title, [card.heading for card in cards], 62, NAME + 26, 280)
    for card, axes in zip(cards, panels):
        rows = card.results[sweep]
        if with_cpu := any(not row.on_gpu for row in rows):
            axes.set_yscale("log")
            axes.minorticks_off()
            axes.yaxis.set_major_formatter(lambda y, position: f"{y:g}")
        else:
            show_peak(axes, card)
        values = [value for value in dict.fromkeys(map(value_of, rows)) if value]  # in the order of the file
        ends = []
        for step in sorted({row.step for row in rows}):
            at = {value_of(row): row.us if with_cpu else row.bandwidth for row in rows if row.step == step}
            # Of a step with values and without, those with one.
            ys = [at[value] for value in values if value in at] or 2 * [at[None]]
            xs = [k for k, value in enumerate(values) if value in at] or [0, len(values) - 1]
            colour = card.colour_of(step) if not with_cpu else card.colour if step in CROSSING else LIGHT["ink"]
            axes.plot(xs, ys, linestyle=DASHED if is_library(step) else "-", **line_of(colour))
            ends.append((ys[-1], step, colour))
        end_sweep(axes, values, "µs" if with_cpu else "GB/s", ends, label)
    return figure


def draw_rows(cards: Sequence[Card]) -> Figure:
    """For each card that has them a panel of the bandwidths of 15_rows and of libraries, dashed, over a row's width."""
    cards = [card for card in cards if card.rows]
    figure, panels = new_figure("Each width has its kernel", [card.heading for card in cards], 62, NAME + 26, 280)
    for card, axes in zip(cards, panels):
        show_peak(axes, card)
        widths = list(dict.fromkeys(row.width for row in card.rows))
        ends = []
        for kernel in dict.fromkeys(row.kernel for row in card.rows):
            found = [row for row in card.rows if row.kernel == kernel]
            is_own = kernel in ("thread", "warp", "block", "blocks", "columns")
            colour = card.colour if is_own else LIGHT["muted"]
            axes.plot([widths.index(row.width) for row in found], [row.gbps for row in found],
                      linestyle="-" if is_own else DASHED, **line_of(colour))
            ends.append((found[-1].gbps, kernel, colour))
        end_sweep(axes, [count_text(width) for width in widths], "GB/s", ends, "elements of a row")
    return figure


def draw_types(cards: Sequence[Card]) -> Figure:
    """A line over the steps for each card and type: the time of an element beside that of an int32."""
    figure, [axes] = new_figure("Bytes count where memory limits", [[card.heading[0] for card in cards]], 40, 124, 300)
    ends = []
    for card in cards:
        times = {(row.step, str(row.type)): row.median_ms / row.elements for row in card.results["sweep_type"]}
        steps = sorted({step for step, kind in times if kind == "int32" and not is_library(step)})
        for kind in TYPES:
            ys = [times[step, kind] / times[step, "int32"] for step in steps if (step, kind) in times]
            if len(ys) == len(steps) > 0:
                axes.plot([step[:2] for step in steps], ys, **line_of(card.colour))
                ends.append((ys[-1], kind, card.colour))
    axes.set(xlim=(0, max(len(steps) - 1, 1)), ylim=(0, None), xlabel="step")
    name_points(axes, len(steps) - 1, ends, 300)
    axes.grid(axis="y")
    write(axes, "× the time of int32", (0, 1), (MARGIN - 40, 13))
    return figure


def draw_roofline(cards: Sequence[Card]) -> Figure:
    """For each card a panel of additions per second over additions per byte as far as a sum gets, and a smaller one of
    what the card could do."""
    left, height = 72, 320
    figure, panels = new_figure("Memory is the roof of a sum", [card.heading for card in cards], left, MARGIN, height)
    for card, axes in zip(cards, panels):
        reached = card.peak * INTENSITY
        axes.set(xlim=(0, 2 * INTENSITY), ylim=(0, 1.2 * reached), xlabel="additions per byte that memory delivers")
        axes.axline((0, 0), slope=card.peak, color=card.colour, linestyle=DASHED)
        write(axes, f"peak {card.peak:.4g} GB/s", (INTENSITY / 2, reached / 2), (6, -16), xycoords="data", ha="center",
              color=card.colour, rotation=math.degrees(math.atan2(height / 1.2, axes.bbox.width / 2)),
              rotation_mode="anchor")
        points = [(row.elements / row.median_ms / 1e6, row.step, card.colour_of(row.step)) for row in card.ladder]
        for y, _, colour in points:
            axes.plot([INTENSITY], [y], "o", **line_of(colour))
        name_points(axes, INTENSITY, points, height / 1.2)
        axes.axvline(INTENSITY, color=LIGHT["grid"], linewidth=1)
        axes.set_xticks([0, 1 / 8, 1 / 4, 3 / 8], ["0", "1/8", "1/4", "3/8"])
        axes.yaxis.set_major_formatter(lambda y, position: f"{y:,.0f}")
        write(axes, "10⁹ additions/s", (0, 1), (MARGIN - left, 13))
        if roof := card.roofs.get(str(card.ladder[0].type)):
            whole = axes.inset_axes((0.02, 0.7, 0.36, 0.28), xscale="log", yscale="log", xlim=(0.1, 50), ylim=(99, 4e4))
            whole.plot([0.1, roof / card.peak, 50], [card.peak / 10, roof, roof], color=card.colour, linestyle=DASHED)
            whole.plot([INTENSITY], [reached], "o", **line_of(card.colour))
            whole.tick_params(which="both", length=0, labelbottom=False, labelleft=False)
            write(whole, f"flat roof\n{roof:,.0f}", (1, roof), (0, -6), xycoords=("axes fraction", "data"), ha="right",
                  va="top")
    return figure


FIGURES: dict[str, Callable[[Sequence[Card]], Figure]] = {
    "ladder": draw_ladder,
    "roofline": draw_roofline,
    "sweep_block": lambda cards: draw_sweep(cards, "sweep_block", f"GB/s of {cards[0].input} by block size"),
    "bandwidth": lambda cards: draw_sweep(cards, "sweep_size", "Small inputs do not fill a GPU"),
    "sweep_type": draw_types,
    "rows": draw_rows,
    "crossing": lambda cards: draw_sweep(cards, "sweep_cpu", "One core is faster for small inputs"),
}


def draw(folders: Sequence[Path]) -> dict[str, str]:
    """The text of each file. Throws BadUsage for results that cannot be drawn, NotPossible without matplotlib."""
    folders = [folder.resolve() for folder in folders]
    order = list(dict.fromkeys([*CARDS, *folders]))
    cards = [read_card(folder, LIGHT[f"card{order.index(folder) % 4}"]) for folder in folders]
    use_style()
    # Not every card has these.
    missing = {"crossing": any(not card.results["sweep_cpu"] for card in cards),
               "rows": not any(card.rows for card in cards)}
    return {f"{name}.svg": to_svg(figure(cards)) for name, figure in FIGURES.items() if not missing.get(name)}


def committed() -> dict[Path, Sequence[Path]]:
    """The folders of the committed figures, and of which cards these are."""
    folders = [file.parent for file in sorted(H200.parent.glob("*/measured.json"))]
    return {**{folder: [folder] for folder in folders}, H200.parent: CARDS}


def stale() -> dict[Path, str]:
    """The committed plots that are not those of their results, from the repository's root, and what they should be.
    Another matplotlib draws a little differently: its plots are left alone."""
    found: dict[Path, str] = {}
    try:
        for folder, cards in committed().items():
            fresh = {folder / name: text for name, text in draw(cards).items()}
            old = {file: read_text(file) for file in fresh if file.exists()}
            if any(drawn_by() not in text for text in old.values()):
                raise NotPossible(f"another matplotlib than {version('matplotlib')} drew the plots in {folder}; "
                                  "python3 -m tools plot draws them anew")
            found |= {file.relative_to(REPOSITORY): text for file, text in fresh.items() if old.get(file) != text}
    except NotPossible as reason:
        say(f"not compared: {reason}")
    return found


def main(words: list[str]) -> int:
    parser = Parser("plot", __doc__)
    parser.add_argument("results", type=Path, nargs="*", metavar="RESULTS", help="the folder of a card's results")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where the plots go; default the first RESULTS")
    options = parser.parse_args(words)
    wanted = {options.out or options.results[0]: options.results} if options.results else committed()
    for folder, cards in wanted.items():
        texts = draw(cards)
        output_file.make_folder(folder)
        for name, text in texts.items():
            output_file.write(folder / name, text)
        say(f"{len(texts)} plots are in {folder}")
    return ExitCode.DONE
