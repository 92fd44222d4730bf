"""The emulated device counts what every GPU in docs/counters counts, and the comparison notices where it does not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tools import counters, markdown, programs
from tools.command_line import BadUsage
from tools.programs import Programs
from tools.results import Result

H200 = counters.FOLDER / "nvidia_h200.csv"
LINES = [line.split(",") for line in H200.read_text().splitlines() if line[0].isdecimal()]
EXACT = ("launch__grid_size", "l1tex__t_", "l1tex__data_")
GPU_ONLY = ("11_bulk_copy", "12_any_operation")

Compared = tuple[str, list[str]]
# A line's new value, from its step, metric and value.
Change = Callable[[str, str, str], str]


@pytest.fixture(scope="session")
def emulated(bin_folder: Path) -> dict[str, Result]:
    return counters.run_emulated(Programs(bin_folder))


@pytest.fixture
def compare(emulated: dict[str, Result], tmp_path: Path) -> Callable[..., Compared]:
    """The H200's counts, changed, beside the emulated ones."""

    def compare(change: Change = lambda step, metric, value: value, lines: list[list[str]] = LINES) -> Compared:
        file = tmp_path / "gpu.csv"
        file.write_text("# GPU: changed\nstep,metric,value\n" + "".join(
            f"{step},{metric},{change(step, metric, value)}\n" for step, metric, value in lines))
        return counters.compare(file, emulated)

    return compare


def test_every_gpu_counts_the_same_and_the_page_says_so(
        emulated: dict[str, Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "run_emulated", lambda _: emulated)
    text, differences = counters.tables(Programs(Path()))
    assert differences == []
    page = (counters.FOLDER / "README.md").read_text()
    assert markdown.with_section(page, "counters", text) == page
    # In each of 10 steps: shared loads and stores, their conflicts, global load and store requests and sectors.
    assert "\nAll 80 compared counts agree.\n" in text
    assert (text.count("### "), len(emulated)) == (len(list(counters.FOLDER.glob("*.csv"))), 10)


def test_any_number_that_is_five_percent_off_is_noticed(compare: Callable[..., Compared]) -> None:
    # 5 % of a smaller number may vanish in rounding.
    exact = [k for k, (step, metric, value) in enumerate(LINES)
             if step not in GPU_ONLY and metric.startswith(EXACT) and float(value) >= 20]
    assert len(exact) >= 10 * 5
    for k in exact:
        for factor in (0.95, 1.05):
            step, metric, value = LINES[k]
            other = LINES[:k] + [[step, metric, f"{round(float(value) * factor)}"]] + LINES[k + 1:]
            text, differences = compare(lines=other)
            assert differences and all(line.startswith(f"{step}: ") for line in differences), (step, metric)
            assert f"\n**{len(differences)} of 80 compared counts differ.**\n" in text and "| **" in text


@pytest.mark.parametrize("share, differ", [(0.039, False), (0.044, True)])
def test_noise_in_conflicts_up_to_four_percent_is_tolerated(
        compare: Callable[..., Compared], share: float, differ: bool) -> None:
    def noisy(step: str, metric: str, value: str) -> str:
        # 03 reads shared memory in 409600 wavefronts, and has no conflicts of its own.
        if step == "03_sequential" and metric.endswith("mem_shared_op_ld.sum") and "data" in metric:
            return f"{('wavefronts' in metric) * 409600 + round(409600 * share)}"
        return value

    assert bool(compare(noisy)[1]) == differ


@pytest.mark.parametrize("metric", ["grid_size", "wavefronts", "conflicts", "t_requests", "t_sectors"])
def test_what_the_gpu_does_not_have_is_left_out(compare: Callable[..., Compared], metric: str) -> None:
    text, differences = compare(lambda _, name, value: "missing" if metric in name else value)
    assert differences == [] and "| – |" in text


def test_another_gpu_may_take_another_grid(compare: Callable[..., Compared]) -> None:
    # 108 multiprocessors with 8 blocks each. In 07 a block loads 20 times from shared memory, and stores as often. In
    # 10 there are 8 stores and 1 load for each block, and once more in the last, whose 864 sums are 27 requests and
    # 108 sectors.
    counted = {"07_cascade": {"grid_size": "864", "conflicts": "0", "wavefronts": "17280", "global_op_st": "864"},
               "10_single_pass": {"grid_size": "864", "conflicts": "0", "wavefronts_mem_shared_op_ld": "865",
                                  "wavefronts_mem_shared_op_st": "6920", "global_op_st": "865",
                                  "requests_pipe_lsu_mem_global_op_ld": "32795",
                                  "sectors_pipe_lsu_mem_global_op_ld": "524396"}}
    for only in counted:
        assert compare(lambda step, metric, value: next(
            (count for part, count in counted[only].items() if step == only and part in metric), value))[1] == []


def test_what_only_the_gpu_ran_is_shown(compare: Callable[..., Compared]) -> None:
    text, differences = compare(lambda step, _, value: "4711" if step in GPU_ONLY else value)
    assert differences == [] and f"| 11_bulk_copy (GPU only) |{' – | 4711 |' * 4}" in text
    # A GPU that cannot run it has none of its counts.
    text, differences = compare(lambda step, _, value: "missing" if step == "11_bulk_copy" else value)
    assert differences == [] and f"| 11_bulk_copy (GPU only) |{' – |' * 8}" in text
    # Bytes are the GPU's alone, and need not be there.
    lines = [line for line in LINES if "bytes_read" not in line[1] and "read_bytes" not in line[1]]
    assert "Bytes read" not in compare(lines=lines)[0]
    lines.append(["11_bulk_copy", "dram__bytes_read.sum", "16777216"])
    assert "| 10_single_pass | – | – | – |\n| 11_bulk_copy | 16777216 | – | – |" in compare(lines=lines)[0]


@pytest.mark.parametrize("lines, said", [
    ([["01_interleaved", "launch__grid_size", "x"]], "gpu.csv:3: '01_interleaved,launch__grid_size,x' is no line"),
    ([*LINES, ["01_interleaved", "launch__grid_size", "1,2"]], f"gpu.csv:{len(LINES) + 3}: '01_interleaved,launch"),
    ([*LINES, ["14_newest", "launch__grid_size", "132"]], f"gpu.csv:{len(LINES) + 3}: there is no step '14_newest'"),
    ([*LINES, LINES[0]], f"gpu.csv:{len(LINES) + 3}: 01_interleaved has launch__grid_size twice"),
    ([line for line in LINES if line[0] != "04_first_add"], "gpu.csv' has no 04_first_add: write it anew"),
    ([[step, metric, "missing"] for step, metric, _ in LINES], "gpu.csv' has nothing to compare")])
def test_a_file_that_does_not_fit_is_refused(
        compare: Callable[..., Compared], lines: list[list[str]], said: str) -> None:
    with pytest.raises(BadUsage) as refused:
        compare(lines=lines)
    assert said in str(refused.value)


def test_a_new_step_is_not_forgotten(
        emulated: dict[str, Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for step, main in (("01_interleaved", "make_step("), ("beyond/11_new", "make_cuda_step("), ("beyond/13_x", "")):
        (tmp_path / step).mkdir(parents=True)
        (tmp_path / step / "kernel.cuh").touch()
        (tmp_path / step / "main.cu").write_text(f"reduction::{main})")
    for module in (counters, programs):
        monkeypatch.setattr(module, "REPOSITORY", tmp_path)
    assert counters.steps() == {"01_interleaved": True, "11_new": False}
    file = tmp_path / "gpu.csv"
    file.write_text("01_interleaved,launch__grid_size,16384\n")
    with pytest.raises(BadUsage, match="has no 11_new"):
        counters.compare(file, emulated)
    monkeypatch.setattr(counters, "FOLDER", tmp_path / "beyond")
    monkeypatch.setattr(counters, "run_emulated", lambda _: emulated)
    with pytest.raises(BadUsage, match="nothing to compare"):
        counters.tables(Programs(tmp_path))
    with pytest.raises(BadUsage, match="cannot be read"):
        counters.compare(tmp_path / "absent.csv", emulated)
