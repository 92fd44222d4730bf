"""docs/studies.md and what other pages say of the two cards: each conclusion holds for the committed results."""

import dataclasses
import math
import re
from pathlib import Path

import pytest

from tools import bandwidth, pages, studies
from tools.command_line import REPOSITORY
from tools.documented_tables import read_tables
from tools.results import CARDS, H100, H200, Result

PAGE = (REPOSITORY / "docs/studies.md").read_text("utf-8")
# That memory holds: all from 09 on, with CUB.
OF_MEMORY = ("09_vector_loads", "10_single_pass", "11_bulk_copy", "12_any_operation", "peer_cub")


def says(*texts: str) -> None:
    for text in texts:
        assert text in PAGE


def best(sweep: dict[int, Result], *blocks: int) -> float:
    return max(result.bandwidth for block, result in sweep.items() if not blocks or block in blocks)


def test_two_cards() -> None:
    """They differ in their memory; up to 06 the ladder does not see that, and from 07 on it does."""
    assert bandwidth.multiprocessors(H200) == bandwidth.multiprocessors(H100)
    assert bandwidth.clock(H200) == bandwidth.clock(H100)
    of_memory = bandwidth.peak(H200) / bandwidth.peak(H100)
    ratios = studies.ratios()
    assert len(ratios) == 13
    for step, ratio in ratios.items():
        if "01" <= step < "07":
            assert ratio == pytest.approx(1, abs=0.04), step
        else:
            assert 1.3 < ratio == pytest.approx(of_memory, rel=0.08), step
    shares = [{result.step: result.percent_of_peak for result in pages.read(card, "ladder")} for card in CARDS]
    assert (shares[0]["01_interleaved"] or 0) < (shares[1]["01_interleaved"] or 0)
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    assert "Up to step 06, instructions and barriers hold the steps back, and both cards are equally fast" in readme
    says("A faster memory leaves 01 to 06 as fast as they were", "01 has a larger share on the H100 than on the H200")


def test_older_cards_are_at_the_limit_with_05() -> None:
    tables = read_tables()
    shares = {name: tables[name].percent(figure) for name in (
        "2023_sizmann_rtx3070", "2023_sizmann_a100", "2026_nvidia_h200", "2026_nvidia_h100")
        if (figure := tables[name].find("05_unroll_warp"))}
    assert len(shares) == 4
    assert all(round(share, -1) == 90 for name, share in shares.items() if "sizmann" in name)
    assert all(40 < share < 65 for name, share in shares.items() if "nvidia" in name)
    says("at nine tenths of their peaks, and half-way on these two")


@pytest.mark.parametrize("card", CARDS, ids=[card.name for card in CARDS])
def test_block_size(card: Path) -> None:
    sweeps = studies.by_block(card)
    assert len(sweeps) == 11 and all(sorted(sweep) == list(studies.BLOCKS) for sweep in sweeps.values())
    for step, sweep in sweeps.items():
        if step < "09":
            assert best(sweep, 128, 256) > 0.99 * best(sweep), step
        else:
            assert best(sweep, 512, 1024) > 0.99 * best(sweep), step
            assert all(sweep[block].bandwidth > 0.965 * best(sweep) for block in (128, 256, 512, 1024)), step
        if studies.with_growing_grid(step):
            assert sweep[1024].bandwidth < 0.75 * best(sweep), step
    for step in ("07_cascade", "08_warp_shuffle"):
        assert all(sweeps[step][block].bandwidth > 0.95 * best(sweeps[step]) for block in studies.BLOCKS[1:])
    says("128 or 256 threads are best there", "From 09 on 512 or 1024 are best",
         "from 128 on the size matters little, by less than 4 %", "begin with 256")


def test_half_of_the_threads() -> None:
    """In blocks of 32, of which a multiprocessor takes 32; 07 loses more by it where memory is faster."""
    for step in ("07_cascade", "08_warp_shuffle"):
        first, second = (studies.by_block(card)[step] for card in CARDS)
        assert first[32].bandwidth / best(first) < 0.7 < second[32].bandwidth / best(second) < 0.85
    assert 32 * 32 == bandwidth.THREADS / 2 and 2 * 1024 == bandwidth.THREADS
    says("a multiprocessor takes 32 blocks at most, and has room for 2048 threads",
         "Of 1024 threads it has room for two", "The H200 loses more by it")


def test_blocks_begun() -> None:
    """As many in a nanosecond, in six steps of different trees, on both cards."""
    for card in CARDS:
        for step, sweep in studies.by_block(card).items():
            if studies.with_growing_grid(step):
                assert [studies.begun(sweep[block]) for block in (32, 64)] == pytest.approx([1.65] * 2, rel=0.02), step
                # No block size of any step gets through more.
                assert max(map(studies.begun, sweep.values())) < 1.65 * 1.02
                if step >= "03":
                    assert studies.begun(sweep[128]) == pytest.approx(1.65, rel=0.03), step
    says("about 1.65, on both cards", "03 to 06 run into it with 128 threads, too")


def test_array_size() -> None:
    first, second = map(studies.by_size, CARDS)
    for sweeps in (first, second):
        assert studies.linear_from(sweeps["01_interleaved"]) == 2**24
        assert studies.linear_from(sweeps["07_cascade"]) in (2**26, 2**27)
        stairs = sweeps["01_interleaved"]
        assert [len(stairs[size].passes) for size in (2**16, 2**17)] == [2, 3]
        assert 1.4 < stairs[2**17].median_ms / stairs[2**16].median_ms < 1.6
        assert all(2**21 <= studies.half_from(sweep) <= 2**23 for sweep in sweeps.values())
        # The flat part.
        assert all(sweep[2**16].median_ms < 2 * sweep[2**10].median_ms for sweep in sweeps.values())
    assert [studies.linear_from(first[step]) for step in ("12_any_operation", "11_bulk_copy", "peer_cub")] == [
        2**26, 2**27, 2**27]
    for step in OF_MEMORY:
        assert studies.linear_from(first[step]) >= studies.linear_from(second[step]), step
    says("01 from 2²⁴ elements on, 07 from 2²⁶ or 2²⁷ on",
         "on the H200 it is linear from 2²⁶ on, where 11 and CUB are from 2²⁷",
         "01 takes about one and a half times as long for 2¹⁷ elements, three passes",
         f"at least {studies.LINEAR} times as long", "the ladder reaches half of its best between 2²¹ and 2²³ elements")


def test_linear_from() -> None:
    """Of a sweep that is made up: the last doubling that is too short ends it."""

    def sweep(*ms: float) -> dict[int, Result]:
        some = pages.read(H200, "ladder")[0]
        return {2**k: dataclasses.replace(some, ms=dataclasses.replace(pages.times(some), median=value))
                for k, value in enumerate(ms)}

    assert studies.linear_from(sweep(1, 2, 3, 6, 12)) == 4
    assert studies.linear_from(sweep(1, 2, 4, 8)) == 1
    assert studies.linear_from(sweep(1, 2, 4, 7)) == 8


def test_element_type() -> None:
    first, second = map(studies.by_type, CARDS)
    time = studies.times_of_int32
    most = 1.0  # of the steps that instructions hold
    for sweeps in (first, second):
        for step, sweep in sweeps.items():
            eights = [time(sweep, kind) for kind in ("int64", "float64", "complex64")]
            if step < "04":
                most = max(most, *eights)
            elif step < "09":
                assert all(1.1 < times < 1.9 for times in eights), step
            else:
                assert all(round(times, 2) in (1.97, 1.98, 1.99) for times in eights), step
            if step >= "03":
                assert time(sweep, "float32") == pytest.approx(1, rel=0.02)
                assert max(eights) / min(eights) < 1.02, step
        assert time(sweeps["02_nondivergent"], "float64") > max(time(sweeps[step], "float64") for step in (
            "01_interleaved", "03_sequential"))
    for step in ("04_first_add", "05_unroll_warp", "06_templated", "07_cascade", "08_warp_shuffle"):
        assert all(time(second[step], kind) > time(first[step], kind) for kind in ("int64", "float64", "complex128"))
    assert [round(time(sweeps["05_unroll_warp"], "float64"), 1) for sweeps in (second, first)] == [1.4, 1.2]
    says("takes 1.97 to 1.99 times as long", f"at most {math.ceil(100 * most) / 100:.2f} times", "02 gains least",
         "05 takes 1.4 times as long on the H100, 1.2 times on the H200", "from 03 on, types of the same size",
         "within 2 %")


def test_beside_jax() -> None:
    from_09 = []
    for card, least, most in ((H200, 0.45, 0.5), (H100, 0.65, 0.68)):
        share = {step: of["float32"].bandwidth / studies.jax_of(card)[2**28].bandwidth
                 for step, of in studies.by_type(card).items()}
        assert least < share["05_unroll_warp"] < most and max(of for step, of in share.items() if step < "09") < 0.95
        from_09 += [of for step, of in share.items() if step >= "09"]
        [of_12] = [result for result in pages.read(card, "peers")
                   if (result.step, result.type, result.elements) == ("12_any_operation", "float32", 2**28)]
        faster = 100 * studies.jax_of(card)[2**28].bandwidth / of_12.bandwidth - 100
        says(f"{faster:.1f} % faster on the H100" if card == H100 else
             f"within {math.ceil(10 * abs(faster)) / 10} % of 12 on the H200")
    blog = read_tables()[studies.BLOG]
    [library] = blog.others
    figure = blog.find("05_unroll_warp")
    assert figure and figure.gbps and library.gbps and figure.gbps / library.gbps > 0.95
    says("on the H100 05 is at two thirds, on the H200 at not quite half",
         f"and on both only 09 and what follows come within {math.ceil(100 - 100 * min(from_09))} % of it")
    row = re.findall(r"\| jnp\.sum \| 871 \| 100\.0 \| ([\d.]+) \| 100\.0 \| ([\d.]+) \|", PAGE)
    assert row == [tuple(f"{studies.jax_of(card)[2**28].bandwidth:.1f}" for card in (H200, H100))]
