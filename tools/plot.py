"""Draws measured results as figures (SVG), of one card or of several beside each other. It takes matplotlib.

The folder of a card has measured.json, ladder.json and sweep_{block,size,type}.json. After a failure the figures are
those of before. Without RESULTS all committed figures are drawn: those of each card in docs/results, in its folder, and
in docs/results itself those of the cards that the pages compare.
"""

from __future__ import annotations

import dataclasses
import io
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
from tools.results import CARDS, H200, Result

# matplotlib takes half a second to import, so this is done where it draws.
if TYPE_CHECKING:
    from matplotlib.figure import Figure

# ---- style: colours, and what a step looks like in every figure ----

# On a light page and on a dark one. A step's is that of its number; after the last one the first comes again, with
# another marker. A library has no number.
COLOURS = {"paper": ("#ffffff", "#0d1117"), "ink": ("#1f2328", "#e6edf3"), "grid": ("#8f8f8f", "#626a75"),
           "peak": ("#b3001b", "#ff7b72"), "library": ("#000000", "#ffffff"),
           "step0": ("#6a5785", "#b09fd6"), "step1": ("#e1386f", "#e0608f"), "step2": ("#1f949a", "#4fd0e8"),
           "step3": ("#b07f10", "#deb903"), "step4": ("#6a1b8a", "#9a86ff"), "step5": ("#1d8be0", "#3a9fd6"),
           "step6": ("#1b6b3a", "#5baa13"), "step7": ("#af3f9c", "#fcadd7"), "step8": ("#5f5a08", "#deeb6e"),
           "step9": ("#1855d2", "#6a76e0"), "step10": ("#c25a05", "#fdae75"), "step11": ("#0a8a64", "#2bba9f"),
           "step12": ("#662703", "#a57b4c")}
# Figures are drawn in the light ones; to_svg() puts their CSS properties in their places.
LIGHT = {role: light for role, (light, dark) in COLOURS.items()}
MARKERS = "os^Dv"
DASHED = (0, (3, 1.5))
HATCHES = ["", "////", "xxxx", "||||", "----", "++++"]  # of the cards in the ladder
FONT = "'DejaVu Sans', Verdana, 'Segoe UI', Helvetica, Arial, sans-serif"
WIDTH = 720  # of a figure, in pixels, as all lengths here
NAME = 144  # of the longest name of a step, in the widest font


def is_library(step: str) -> bool:
    return not re.match("[0-9]{2}_", step)


def colour_of(step: str) -> str:
    return LIGHT["library" if is_library(step) else f"step{int(step[:2]) % 13}"]


def curve(step: str) -> dict[str, Any]:
    """What a step looks like, whatever is drawn beside it; a library is dashed and hollow."""
    style = {"color": colour_of(step), "markersize": 6, "linewidth": 2, "clip_on": False}
    if is_library(step):
        return {**style, "marker": "s", "linestyle": DASHED, "markeredgewidth": 1.2, "markerfacecolor": LIGHT["paper"]}
    return {**style, "marker": MARKERS[int(step[:2]) % len(MARKERS)], "markeredgewidth": 0}


def bar(step: str, card: int = 0) -> dict[str, Any]:
    """The same of a bar; those of the second card and further ones are hatched."""
    style = {"edgecolor": colour_of(step), "hatch": HATCHES[card % len(HATCHES)], "clip_on": False}
    if is_library(step) or card > 0:
        return {**style, "facecolor": LIGHT["paper"], "linestyle": DASHED if is_library(step) else "-"}
    return {**style, "facecolor": colour_of(step), "linewidth": 0}


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
        "font.family": ["DejaVu Sans"], "font.size": 14, "svg.fonttype": "none", "svg.hashsalt": "plot",
        "text.parse_math": False,
        "legend.frameon": False, "legend.borderpad": 0, "legend.borderaxespad": 0, "legend.handlelength": 1.8,
        "legend.handletextpad": 0.5, "legend.labelspacing": 0.35, "legend.columnspacing": 1,
        "axes.facecolor": "none", "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
        "grid.linewidth": 0.5, "grid.color": LIGHT["grid"], "hatch.linewidth": 1.2, "savefig.facecolor": LIGHT["paper"],
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
    "sweep_type": ("", lambda row: row.type),
    "sweep_cpu": ("elements", lambda row: count_text(row.elements)),
}
# Where one core of the CPU and a GPU cross: the CPU's sweep beside these steps.
CROSSING = "07_cascade", "12_any_operation"


@dataclasses.dataclass(frozen=True)
class Card:
    name: str
    conditions: str
    results: dict[str, list[Result]]  # by the name of their file, without .json
    peak: float  # GB/s
    roofs: dict[str, float]  # 10^9 additions/s, of each type that is known


def read_card(folder: Path) -> Card:
    """Throws BadUsage for results that cannot be drawn."""
    measured = results.measured(folder)
    lists = {name: results.read(folder, name) for name in ("ladder", *SWEEPS)}
    if lists["sweep_cpu"]:
        lists["sweep_cpu"] = [row for row in (*lists["sweep_cpu"], *lists["sweep_size"])
                              if row.elements <= 2**22 and (not row.on_gpu or row.step in CROSSING)]
    first = next((row for row in lists["ladder"] if row.device.peak_gbps), None)
    if first is None or first.device.peak_gbps is None:
        raise BadUsage(f"'{folder}/ladder.json' has no result of a GPU whose peak is known")
    return Card(measured.gpu, f"CUDA {measured.cuda}, driver {measured.driver}, {measured.date}", lists,
                first.device.peak_gbps, additions_per_second(first, measured.clock_mhz))


def input_text(rows: Sequence[Result]) -> str:
    """As far as it is the same in all rows: 2^28 int32."""
    counts, types = {count_text(row.elements) for row in rows}, {str(row.type) for row in rows}
    return " ".join([*(counts if len(counts) == 1 else []), *(types if len(types) == 1 else ["elements"])])


# ---- what figures are made of ----

PEAK = {"color": LIGHT["peak"], "linestyle": (0, (4, 2)), "linewidth": 1.5}
SHARES = [k / 5 for k in range(6)], [f"{20 * k} %" for k in range(6)]  # ticks


def new_figure(height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH / 72, height / 72))


def new_axes(figure: Figure, top: float, title: str, below: str, left: float, width: float, height: float) -> Any:
    """Axes below a title of two lines, which begins at `top`."""
    whole = 72 * figure.get_figheight()
    figure.text(16 / WIDTH, 1 - (top + 26) / whole, title, fontsize=17, weight="bold")
    figure.text(16 / WIDTH, 1 - (top + 46) / whole, below, fontsize=13)
    return figure.add_axes((left / WIDTH, 1 - (top + 84 + height) / whole, width / WIDTH, height / whole))


def write(axes: Any, text: str, place: tuple[float, float], shift: tuple[float, float], **style: Any) -> None:
    """At a place in the axes, of which each side is 1, and so many pixels from there."""
    axes.annotate(text, place, shift, **{"xycoords": "axes fraction", "textcoords": "offset points", **style})


def draw_ladder(cards: Sequence[Card]) -> Figure:
    """A bar for each step and card, on one axis of GB/s, which ends at the highest peak; of one card the axis has the
    shares of its peak."""
    from matplotlib.patches import Patch

    one, most = len(cards) == 1, max(card.peak for card in cards)
    # Each card is in a machine with another CPU.
    ladders = [[row for row in card.results["ladder"] if row.on_gpu or one] for card in cards]
    steps = sorted({row.step for ladder in ladders for row in ladder})  # by their numbers; libraries come last
    # A step has 18 pixels for each card, and 8 between it and the next one.
    pitch = 18 * len(cards) + 8
    height, below = pitch * len(steps), 36 if one else 60 + 21 * len(cards)
    figure = new_figure(84 + height + below)
    title, conditions = (cards[0].name, cards[0].conditions) if one else (
        "The ladder", "Bars: GB/s. Lines: each card's own peak")
    axes = new_axes(figure, 0, f"{title}: {input_text(ladders[0])}", conditions, 16 + NAME, WIDTH - NAME - 172, height)
    for k, (card, ladder) in enumerate(zip(cards, ladders)):
        for row in ladder:
            y = steps.index(row.step) + (k + 0.5 - len(cards) / 2) * 18 / pitch
            axes.barh(y, row.bandwidth / most, 17 / pitch, **bar(row.step, k))
            # In columns, where no line strikes them through.
            for text, x in ((f"{row.bandwidth:.1f}", 64), (f"{100 * row.bandwidth / card.peak:.1f} %", 140)):
                write(axes, text, (1, y), (x, 0), xycoords=("axes fraction", "data"), ha="right", va="center")
        axes.axvline(card.peak / most, **PEAK)
        write(axes, f"peak {card.peak:.4g} GB/s" if one else f"{card.peak:.4g}", (card.peak / most / 1.04, 1), (0, 8),
              ha="right", color=PEAK["color"])
    for text, x in (("GB/s", 64), ("of peak", 140)):
        write(axes, text, (1, 1), (x, 8), ha="right")
    axes.set(xlim=(0, 1.04), ylim=(len(steps) - 0.5, -0.5))
    axes.set_xticks(*(SHARES if one else ([gbps / most for gbps in range(0, int(most), 1000)],
                                          [f"{gbps}" for gbps in range(0, int(most), 1000)])))
    axes.set_yticks(range(len(steps)), steps)
    axes.tick_params(axis="y", length=0, pad=6)
    axes.grid(axis="x")
    if not one:
        bars = [Patch(color=LIGHT["ink"], fill=k == 0, hatch=HATCHES[k % len(HATCHES)]) for k in range(len(cards))]
        axes.legend(bars, [f"{card.name}, peak {card.peak:.4g} GB/s" for card in cards], loc="upper left",
                    bbox_to_anchor=(0, -44 / height))
    return figure


def draw_sweep(cards: Sequence[Card], sweep: str, *units: str) -> Figure:
    """For each card a panel of bandwidths (GB/s), times (ms), or one of each, one below the other."""
    panels, bars = [(card, unit) for card in cards for unit in units], sweep == "sweep_type"
    number = len({row.step for card in cards for row in card.results[sweep]})
    # The legend of curves is on the right, that of bars below, in four columns.
    left, share_axis, height = 62, 66, max(300, 21 * number)
    width = WIDTH - left - share_axis - (0 if bars else NAME + 40)
    pitch = 84 + height + (44 + 21 * math.ceil(number / 4) if bars else 60)
    figure = new_figure(pitch * len(panels))
    for k, (card, unit) in enumerate(panels):
        title = f"{card.name}: {input_text(card.results[sweep])}"
        axes = new_axes(figure, k * pitch, title, card.conditions, left, width, height)
        draw_results(axes, card.results[sweep], sweep, unit, bars)
        if bars:
            axes.legend(loc="upper left", bbox_to_anchor=(0, -32 / height), ncols=4)
        else:
            in_order = sorted(axes.get_lines(), key=lambda line: -float(line.get_ydata()[-1]))  # as the curves end
            axes.legend(handles=in_order, loc="center left", bbox_to_anchor=(1 + share_axis / width, 0.5))
        axes.grid(axis="y")
        write(axes, unit, (0, 1), (0, 8), ha="right")
        if unit == "GB/s":
            draw_bandwidth_axis(axes, card.peak)
        elif not bars:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(lambda y, position: f"{y:g}")
            axes.minorticks_off()
    return figure


def draw_results(axes: Any, rows: Sequence[Result], sweep: str, unit: str, bars: bool) -> None:
    """Each step's over the values of the sweep, in the order of the file."""
    label, value_of = SWEEPS[sweep]
    values = list(filter(None, dict.fromkeys(map(value_of, rows))))
    steps = sorted({row.step for row in rows})
    for k, step in enumerate(steps):
        ys = {value_of(row): row.bandwidth if unit == "GB/s" else row.median_ms for row in rows if row.step == step}
        # Of a step with values and without, those with one.
        level = ys.pop(None, None)
        xs = [values.index(value) for value in ys if value]
        if bars:
            width = 0.86 / len(steps)
            axes.bar([x + (k + 0.5) * width - 0.43 for x in xs], ys.values(), width, label=step, **bar(step))
        elif xs:
            axes.plot(xs, ys.values(), label=step, **curve(step))
        else:
            axes.axhline(level, label=step, **{**curve(step), "marker": ""})
    ticks = range(0, len(values), 5 if len(values) > 10 else 1)
    axes.set_xticks(ticks, [values[k] for k in ticks])
    axes.set_xlabel(label)


def draw_bandwidth_axis(axes: Any, peak: float) -> None:
    """Ends a little above the peak, so that the same height is the same share of it in every panel."""
    axes.set_ylim(0, 1.12 * peak)
    axes.secondary_yaxis("right", functions=(lambda y: y / peak, lambda share: share * peak)).set_yticks(*SHARES)
    axes.axhline(peak, **PEAK)
    write(axes, "of peak", (1, 1), (0, 8))
    # On paper, which hides the grid behind it.
    write(axes, f"peak {peak:.4g} GB/s", (0, 1 / 1.12), (6, 4), color=PEAK["color"],
          bbox={"facecolor": LIGHT["paper"], "edgecolor": "none", "pad": 1})


def draw_roofline(cards: Sequence[Card]) -> Figure:
    """For each card a panel of additions per second over additions per byte: what it could do, and what steps do."""
    left, height, (least, most), (low, high) = 76, 330, (1 / 16, 64), (60, 1e5)
    width = WIDTH - left - NAME - 56
    pitch = 84 + height + 60
    figure = new_figure(pitch * len(cards))
    for k, card in enumerate(cards):
        ladder = sorted((row for row in card.results["ladder"] if row.on_gpu), key=lambda row: -row.bandwidth)
        axes = new_axes(figure, k * pitch, f"{card.name}: {input_text(ladder)}", card.conditions, left, width, height)
        axes.set(xscale="log", yscale="log", xlim=(least, most), ylim=(low, high))
        end = max(card.roofs.values(), default=high)
        axes.plot([least, end / card.peak], [card.peak * least, end], **PEAK)
        steep = (height / math.log(high / low)) / (width / math.log(most / least))  # pixels up for one to the right
        write(axes, f"peak {card.peak:.4g} GB/s", (0.75, card.peak * 0.75), (-8, 8), xycoords="data", ha="center",
              rotation=math.degrees(math.atan(steep)), rotation_mode="anchor", color=PEAK["color"])
        for kind, roof in card.roofs.items():
            axes.plot([roof / card.peak, most], [roof, roof], color=LIGHT["ink"], linewidth=1.5)
            # Above its roof: below it the slope may strike it through.
            write(axes, f"{kind}, {roof:,.0f}", (1, roof), (-2, 4), xycoords=("axes fraction", "data"), ha="right")
        for row in ladder:
            axes.plot([INTENSITY], [row.elements / row.median_ms / 1e6], label=row.step,
                      **{**curve(row.step), "linestyle": "", "clip_on": True})
        axes.legend(loc="center left", bbox_to_anchor=(1 + 12 / width, 0.5))
        axes.set_xticks([1 / 16, 1 / 4, 1, 4, 16], ["1/16", "1/4", "1", "4", "16"])
        axes.yaxis.set_major_formatter(lambda y, position: f"{y:,.0f}")
        axes.minorticks_off()
        axes.grid()
        axes.set_xlabel("additions per byte that memory delivers")
        write(axes, "10⁹ additions/s", (0, 1), (-left + 16, 8))
    return figure


FIGURES: dict[str, Callable[[Sequence[Card]], Figure]] = {
    "ladder": draw_ladder,
    "sweep_block": lambda cards: draw_sweep(cards, "sweep_block", "GB/s"),
    "sweep_size": lambda cards: draw_sweep(cards, "sweep_size", "ms"),
    "sweep_type": lambda cards: draw_sweep(cards, "sweep_type", "GB/s", "ms"),
    "bandwidth": lambda cards: draw_sweep(cards, "sweep_size", "GB/s"),
    "crossing": lambda cards: draw_sweep(cards, "sweep_cpu", "ms"),
    "roofline": draw_roofline,
}


def draw(folders: Sequence[Path]) -> dict[str, str]:
    """The text of each file. Throws BadUsage for results that cannot be drawn, NotPossible without matplotlib."""
    cards = [read_card(folder) for folder in folders]
    use_style()
    # Not every card has a CPU's sweep.
    return {f"{name}.svg": to_svg(figure(cards)) for name, figure in FIGURES.items()
            if name != "crossing" or all(card.results["sweep_cpu"] for card in cards)}


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
