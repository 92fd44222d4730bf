"""docs/floating_point.md: its data are what the programs find, and its text what the data say."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tools import plot, rounding
from tools.bandwidth import additions_of_a_thread
from tools.command_line import REPOSITORY
from tools.programs import Programs

PAGE = (REPOSITORY / "docs/floating_point.md").read_text("utf-8")
FOUND = {(one.order, one.elements): one for one in rounding.read()}

need_numpy = pytest.mark.skipif(find_spec("numpy") is None, reason="there is no numpy here")


def error(order: str, exponent: int) -> float:
    return FOUND[order, 2**exponent].error


def test_every_point_is_there() -> None:
    orders = [rounding.RUNNING, *rounding.STEPS, rounding.COMPENSATED]
    assert list(FOUND) == [(order, size) for order in orders for size in rounding.SIZES]
    assert all(len(one.errors) == len(rounding.seeds_of(one.order)) for one in FOUND.values())


@need_numpy
@pytest.mark.parametrize("order", [rounding.RUNNING, *rounding.STEPS])
@pytest.mark.parametrize("size", [2**10, 2**16])
def test_programs_find_the_same(bin_folder: Path, order: str, size: int) -> None:
    assert rounding.measure(Programs(bin_folder), order, size, rounding.seeds_of(order)) == FOUND[order, size]


@need_numpy
def test_compensated_sum_is_the_same() -> None:
    errors = [rounding.compensated_error(2**12, seed) for seed in rounding.SEEDS]
    assert errors == FOUND[rounding.COMPENSATED, 2**12].errors


@pytest.mark.parametrize("steps", [("00_cpu_serial", "01_interleaved", "02_nondivergent"),
                                   ("04_first_add", "05_unroll_warp", "06_templated")])
def test_steps_that_share_a_line_have_the_same_sum(bin_folder: Path, steps: tuple[str, ...]) -> None:
    runs = [rounding.run(Programs(bin_folder), step, 2**16, 1) for step in steps]
    assert len({str((run.other_variants or [run])[0].result) for run in runs}) == 1


def test_figure_is_of_the_data() -> None:
    old = rounding.FIGURE.read_text("utf-8")
    if find_spec("matplotlib") is None or plot.drawn_by() not in old:
        pytest.skip("another matplotlib drew it, or there is none here")
    assert rounding.draw(rounding.read()) == old


@pytest.mark.parametrize("widening", [True, False])
def test_cache_lines(widening: bool) -> None:
    """As step 00's loops, and its exercise's, go over the array."""
    elements, levels, stride = 2**12, [], 1
    while stride < elements:
        left = elements // stride
        pairs = ([(i, i + stride) for i in range(0, elements, 2 * stride)] if widening else
                 [(i, i + left // 2) for i in range(left // 2)])
        read = {index // rounding.LINE for pair in pairs for index in pair}
        levels.append((len(read), len({to // rounding.LINE for to, _ in pairs})))
        stride *= 2
    assert levels == list(rounding.cache_lines(elements, widening))


def test_text() -> None:
    [running, tree, first_add, compensated] = ["00_cpu_serial", "01_interleaved", "04_first_add", "compensated"]
    growth = error(running, 24) / error(running, 10)
    assert 2**7 / 2 < growth < 2**7 * 2 and f"about as √n: {growth:.0f} times from 2¹⁰ to 2²⁴" in PAGE
    assert all(error(order, size) < 6 for order in (tree, "03_sequential", first_add) for size in range(10, 25, 2))
    assert all(error(compensated, size) < 1 for size in range(10, 25, 2))
    assert all(error(order, 24) < error(running, 24) / 50 for order in rounding.STEPS)
    tolerance = (FOUND[tree, 2**20].tolerance or 0) * rounding.unit(2**20)
    assert f"in 01 it is {tolerance:.2f}" in PAGE
    assert additions_of_a_thread("07", 2**24, 1056 * 256) == 64 and "each thread of 07 adds 64 numbers" in PAGE
    moved = [sum(read + written for read, written in rounding.cache_lines(2**28, widening)) * rounding.LINE / 2**28
             for widening in (True, False)]
    assert [round(times, 3) for times in moved] == [11, 3] and "3 times the array instead of 11" in PAGE
