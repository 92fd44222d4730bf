"""The emulated device counts what every GPU in docs/counters counts, and the comparison notices where it does not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tools import counters, markdown
from tools.programs import EMULATED, Programs
from tools.results import Result

Lines = list[list[str]]  # step, metric, value
Compare = Callable[..., tuple[str, list[str]]]
LINES = [line.split(",") for line in (counters.FOLDER / "nvidia_h200.csv").read_text().splitlines()[8:]]


@pytest.fixture(scope="session")
def emulated(bin_folder: Path) -> dict[str, Result]:
    return counters.run_emulated(Programs(bin_folder))


@pytest.fixture
def compare(emulated: dict[str, Result], tmp_path: Path) -> Compare:
    """The lines of a GPU beside the emulated counts."""

    def compare(lines: Lines, in_full: bool = False) -> tuple[str, list[str]]:
        file = tmp_path / "gpu.csv"
        file.write_text("\n".join(["# GPU: changed", "step,metric,value", *map(",".join, lines)]))
        return counters.compare(file, emulated, in_full)

    return compare


def changed(values: dict[str, str], only: str = "") -> Lines:
    """The H200's lines. Where a key of `values` is a part of the metric, its value is the new one, of one step only."""
    return [[step, metric, next((new for part, new in values.items() if only in step and part in metric), value)]
            for step, metric, value in LINES]


def test_every_gpu_counts_the_same_and_the_page_says_so(
        emulated: dict[str, Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "run_emulated", lambda _: emulated)
    text, differences = counters.tables(Programs(Path()))
    page = (counters.FOLDER / "README.md").read_text()
    assert differences == [] and markdown.with_section(page, "counters", text) == page
    # In each step: shared loads and stores, their conflicts, global load and store requests and sectors.
    # In 11 also the bytes that the TMA brings.
    gpus = list(counters.FOLDER.glob("*.csv"))
    assert text.count(f"\nAll {8 * len(emulated) + 1} compared counts agree: [") == len(gpus) >= 2


@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_any_number_that_is_five_percent_off_is_noticed(compare: Compare, factor: float) -> None:
    # 5 % of a smaller number may vanish in rounding.
    exact = [k for k, (step, metric, value) in enumerate(LINES) if step in EMULATED and float(value) >= 20
             and metric.startswith(("launch__grid_size", "l1tex__t_", "l1tex__data_"))]
    assert len(exact) >= 10 * 5
    for k in exact:
        step, metric, value = LINES[k]
        text, differences = compare([*LINES[:k], [step, metric, f"{float(value) * factor:.0f}"], *LINES[k + 1:]])
        assert differences and all(line.startswith(f"{step}: ") for line in differences), (step, metric)
        assert f"\n**{len(differences)} of 89 compared counts differ.**\n" in text and "| **" in text


@pytest.mark.parametrize("noise", [0.039, 0.044])
def test_noise_in_conflicts_up_to_four_percent_is_tolerated(compare: Compare, noise: float) -> None:
    # 03 reads shared memory in 409600 wavefronts, and has no conflicts of its own.
    lines = changed({"wavefronts_mem_shared_op_ld": f"{409600 * (1 + noise):.0f}",
                     "conflicts_pipe_lsu_mem_shared_op_ld": f"{409600 * noise:.0f}"}, "03_sequential")
    assert bool(compare(lines)[1]) == (noise > 0.04)


@pytest.mark.parametrize("missing", ["grid_size", "wavefronts", "conflicts", "t_requests", "t_sectors", "bytes"])
def test_what_the_gpu_does_not_have_is_left_out(compare: Compare, missing: str) -> None:
    text, differences = compare(changed({missing: "missing"}), in_full=True)
    assert differences == [] and "| – |" in text and ("Bytes read" in text) == (missing != "bytes")


# 108 multiprocessors with 8 blocks each. In 07 a block loads 20 times from shared memory, and stores as often. In 10
# there are 8 stores and 1 load for each block, and once more in the last: its 864 sums are 27 requests and 108 sectors.
@pytest.mark.parametrize("step, values", [
    ("07_cascade", {"grid_size": "864", "conflicts": "0", "wavefronts": "17280", "global_op_st": "864"}),
    ("10_single_pass", {"grid_size": "864", "conflicts": "0", "wavefronts_mem_shared_op_ld": "865",
                        "wavefronts_mem_shared_op_st": "6920", "global_op_st": "865",
                        "t_requests": "32795", "t_sectors": "524396"})])
def test_another_gpu_may_take_another_grid(compare: Compare, step: str, values: dict[str, str]) -> None:
    assert compare(changed(values, step))[1] == []
