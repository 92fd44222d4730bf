"""What pages compute from results, beside what programs find."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tools import bandwidth, figures, plot, results, rounding
from tools.markdown import with_section
from tools.programs import Programs

MARKED = "It takes <!-- latency_us -->9<!-- /latency_us --> µs, <!-- latency_us -->8<!-- /latency_us -->\n"
need_numpy = pytest.mark.skipif(find_spec("numpy") is None, reason="there is no numpy here")


def test_every_figure_is_on_a_page() -> None:
    assert {name for _, name, _ in figures.of_pages()} == set(figures.FIGURES)


def test_a_figure_in_a_sentence_is_replaced_wherever_it_stands() -> None:
    assert with_section(MARKED, "latency_us", "0.3") == MARKED.replace("9", "0.3").replace("8", "0.3")


def test_additions_in_a_row_are_counted_without_those_past_the_end() -> None:
    """Thread 0's, by hand: of 2^28 elements, in the passes of an H200. A new step may add in another way."""
    assert {result.step: bandwidth.in_a_row(result) for result in results.read(results.H200, "ladder")
            if result.block} == {
        "01_interleaved": 32, "02_nondivergent": 32, "03_sequential": 32, "04_first_add": 35, "05_unroll_warp": 35,
        "06_templated": 35, "07_cascade": 1015, "08_warp_shuffle": 1019, "09_vector_loads": 1024,
        "10_single_pass": 1017, "11_bulk_copy": 1021}


@need_numpy
@pytest.mark.parametrize("order", [rounding.RUNNING, *rounding.STEPS, rounding.COMPENSATED])
def test_programs_find_the_committed_errors(bin_folder: Path, order: str) -> None:
    found = {(one.order, one.elements): one for one in rounding.read()}
    assert [size for of, size in found if of == order] == rounding.SIZES
    if order == rounding.COMPENSATED:
        assert [rounding.compensated_error(2**12, seed) for seed in rounding.SEEDS] == found[order, 2**12].errors
        return
    for size in (2**10, 2**16):
        assert rounding.measure(Programs(bin_folder), order, size, rounding.seeds_of(order)) == found[order, size]


def test_the_figure_of_the_errors_is_of_the_committed_ones() -> None:
    old = rounding.FIGURE.read_text("utf-8")
    if find_spec("matplotlib") is None or plot.drawn_by() not in old:
        pytest.skip("another matplotlib drew it, or there is none here")
    assert rounding.draw(rounding.read()) == old
