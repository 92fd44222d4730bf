"""Sums random float32 numbers in every order that the steps use, on the emulated device, and notes how far each sum is
from the exact one: docs/results/floating_point.json, and its figure, docs/floating_point.svg. It takes some minutes,
numpy and matplotlib.

Exit code: 0 done, 2 bad usage, 3 a program that fails.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from tools import output_file, plot, results
from tools.command_line import REPOSITORY, ExitCode, Parser, say
from tools.markdown import count_text, fixed, table
from tools.programs import Programs

DATA = REPOSITORY / "docs/results/floating_point.json"
FIGURE = REPOSITORY / "docs/floating_point.svg"
SIZES = [2**k for k in range(10, 25, 2)]
SEEDS, MORE_SEEDS = range(1, 4), range(1, 25)  # more of the running sum, whose errors differ most and which is quick
U = 2.0**-24  # the most that one rounding changes a float32, relative to it
# What has an order of its own; 02 adds in that of 01, 05 and 06 in that of 04.
STEPS = {"01_interleaved": "01 and 02", "03_sequential": "03", "04_first_add": "04 to 06",
         "07_cascade": "07", "08_warp_shuffle": "08", "09_vector_loads": "09", "10_single_pass": "10"}
RUNNING, COMPENSATED = "00_cpu_serial", "compensated"
ORDERS = {RUNNING: "running sum of 00", **STEPS, COMPENSATED: "compensated"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rounding:
    """How far sums of so many numbers are from the exact ones, in units of what rounding the result may do to it."""

    order: str
    elements: int
    errors: list[float]  # of each seed
    tolerance: float | None  # that the program allows; None for the compensated sum, which is no step's

    @property
    def error(self) -> float:
        """The root of the mean square."""
        return math.sqrt(sum(error**2 for error in self.errors) / len(self.errors))


def main(words: list[str]) -> int:
    parser = Parser("rounding", __doc__)
    parser.add_bin()
    programs = Programs(parser.parse_args(words).bin)
    programs.require(RUNNING, *STEPS)
    found = [measure(programs, order, size, seeds_of(order)) for order in (RUNNING, *STEPS) for size in SIZES]
    found += [Rounding(order=COMPENSATED, elements=size, tolerance=None, errors=[
        compensated_error(size, seed) for seed in SEEDS]) for size in SIZES]
    figure = draw(found)
    output_file.write(DATA, results.to_text([dataclasses.asdict(rounding) for rounding in found]))
    output_file.write(FIGURE, figure)
    say(f"{DATA.relative_to(REPOSITORY)} and {FIGURE.relative_to(REPOSITORY)} are new")
    return ExitCode.DONE


# ---- the sums ----


def measure(programs: Programs, order: str, elements: int, seeds: Sequence[int]) -> Rounding:
    device = [] if order == RUNNING else ["--device", "emulated", "--counters", "off"]
    # Also a wrong sum, as the running sum's may be.
    runs = [programs.result(order, *device, "-n", str(elements), "-t", "float32", "--seed", str(seed), "-s", "1",
                            accepted=(ExitCode.DONE, ExitCode.WRONG)) for seed in seeds]
    return Rounding(order=order, elements=elements, errors=[shown(float(one.error) / unit(elements)) for one in runs],
                    tolerance=shown(max(float(one.tolerance) for one in runs) / unit(elements)))


def seeds_of(order: str) -> Sequence[int]:
    return MORE_SEEDS if order == RUNNING else SEEDS


def unit(elements: int) -> float:
    """What rounding changes a sum of usual size: numbers in [-1, 1) have a mean square of 1/3."""
    return U * math.sqrt(elements / 3)


def shown(number: float) -> float:
    """Four digits, so that the file stays small."""
    return float(f"{number:.4g}")


def random_input(elements: int, seed: int) -> Any:
    """Of the steps, as common/harness/input.hpp has it: SplitMix64 for these counters, in [-1, 1)."""
    import numpy as np
    z = np.arange(1, elements + 1, dtype=np.uint64)
    z = z * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed * 0xD1342543DE82EF95 % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(40)).astype("float32") / np.float32(2**23) - 1


def compensated_error(elements: int, seed: int) -> float:
    """Of Kahan's sum, all of it in float32: what an addition loses is taken off the next number."""
    data = random_input(elements, seed)
    total = lost = data.dtype.type(0)
    for number in data:
        corrected = number - lost
        larger = total + corrected
        lost = (larger - total) - corrected
        total = larger
    return shown(abs(float(total) - math.fsum(data)) / unit(elements))


# ---- what is shown ----


def read() -> list[Rounding]:
    return results.read_list(DATA, Rounding)


def errors() -> str:
    found = {(rounding.order, rounding.elements): rounding for rounding in read()}
    columns = [*SIZES[::2], SIZES[-1]]
    rows = []
    for order in ORDERS:
        tolerance = found[order, SIZES[-1]].tolerance
        rows.append([ORDERS[order], *(fixed(error, 0 if error >= 10 else 1) for error in (
            found[order, size].error for size in columns)), tolerance and f"{tolerance:,.0f}"])
    return table(["error, in such units", *map(count_text, columns), f"tolerance at {count_text(SIZES[-1])}"], rows)


def draw(found: Sequence[Rounding]) -> str:
    plot.use_style()
    errors = f"errors: root mean square of {len(SEEDS)} inputs, {len(MORE_SEEDS)} for 00"
    figure, [axes] = plot.new_figure("The running sum loses more and more", [[
        ("Sums of random float32 numbers in [−1, 1)", plot.LIGHT["ink"]), (errors, plot.LIGHT["ink"])]], 72, 176, 360)
    axes.loglog()
    ends = []
    for order in ORDERS:
        of_order = [rounding for rounding in found if rounding.order == order]
        sizes = [rounding.elements for rounding in of_order]
        colour = plot.LIGHT["muted" if order in STEPS else "card0"]
        axes.plot(sizes, [rounding.error for rounding in of_order], **plot.line_of(colour))
        ends.append((of_order[-1].error, ORDERS[order], colour))
        if order in ("01_interleaved", "07_cascade"):
            tolerances = [rounding.tolerance or 0 for rounding in of_order]
            axes.plot(sizes, tolerances, linestyle=plot.DASHED, **plot.line_of(colour))
            ends.append((tolerances[-1], f"tolerance of {order[:2]}", colour))
    axes.set_xlim(SIZES[0], SIZES[-1])
    plot.name_points(axes, SIZES[-1], ends, 360)
    axes.set_xticks(SIZES[::2], [count_text(size) for size in SIZES[::2]])
    axes.yaxis.set_major_formatter(lambda y, position: f"{y:g}")
    axes.minorticks_off()
    axes.grid(axis="y")
    axes.set_xlabel("elements")
    plot.write(axes, "error, in roundings of the result", (0, 1), (plot.MARGIN - 72, 13))
    return plot.to_svg(figure)
