"""The reader of result files: its schema is what the steps write, and it refuses all else."""

import json
import re
from pathlib import Path
from subprocess import run

import pytest

from tools import pages, results
from tools.command_line import REPOSITORY, BadUsage
from tools.results import RanksResult, Result

OTHER_RECORDS: dict[str, type] = {
    "measured.json": results.Measured, "many_gpus.json": RanksResult,
    "many_gpus_alone.json": results.AloneResult, "many_gpus_measured.json": results.Measured,
    "rows.json": results.RowsResult, "against_cub.json": results.AgainstCub, "against_xla.json": pages.AgainstXla,
    "beside_xla.json": pages.BesideXla}


@pytest.mark.parametrize("number, command", [
    (1, "07_cascade --device emulated -n 5000 -t complex64"), (1, "00_cpu_serial -n 5000 -s 2"),
    (6, "03_sequential --device emulated -n 5000 --sweep type")])
def test_the_steps_write_what_is_read(bin_folder: Path, tmp_path: Path, number: int, command: str) -> None:
    step, *options = command.split()
    run([bin_folder / step, *options, "--json", tmp_path / "step.json"], check=True, capture_output=True)
    assert len(results.read(tmp_path, "step")) == number


def test_thirteen_writes_what_is_read(bin_folder: Path, tmp_path: Path) -> None:
    if not (bin_folder / "13_many_gpus").exists():
        pytest.skip("there is no 13_many_gpus: it takes MPI")
    run([bin_folder / "13_many_gpus", "--device", "emulated", "-n", "5000", "--weak", "--json",
         tmp_path / "ranks.json"], check=True, capture_output=True)
    [job] = results.read_as(tmp_path, "ranks", RanksResult)
    assert job.combined_by == pages.IN_THE_KERNELS


def test_committed_files_fit() -> None:
    """And have a row per line."""
    files = sorted(REPOSITORY.glob("docs/results/*/*.json"))
    assert len(files) >= 16
    for file in files:
        results.read_list(file, OTHER_RECORDS.get(file.name, Result))
    for file in [*files, *REPOSITORY.glob("docs/counters/*.json"), REPOSITORY / "docs/results/floating_point.json"]:
        assert file.read_text() == results.to_text(json.loads(file.read_text()))


@pytest.mark.parametrize("key, value, said", [
    ("gbps", None, "missing 1 required keyword-only argument: 'gbps'"),
    ("elements", True, ".elements is true, and int belongs there"),
    ("type", "int16", '.type is "int16", and typing.Literal['),
    ("gbps", "fast", '.gbps is "fast", and float belongs there'),
    ("ms", [], ".ms is [], and Milliseconds belongs there"),
    ("ms", {"median": "1"}, '.ms.median is "1", and float'),
    ("passes", [None], ".passes[0] is null, and Pass belongs there"),
    ("verified", 1, ".verified is 1, and bool"),
    ("result", [1, None], ".result is [1, null], and int belongs there")])
def test_what_does_not_fit_is_refused(tmp_path: Path, key: str, value: object, said: str) -> None:
    [_, result, *_] = json.loads((REPOSITORY / "docs/results/nvidia_h200/ladder.json").read_text())
    changed = {**result, key: value}
    if "missing" in said:
        del changed[key]
    file = tmp_path / "results.json"
    file.write_text(json.dumps([changed]))
    with pytest.raises(BadUsage, match=re.escape(said)) as refused:
        results.read_list(file, Result)
    assert f"'{file}': [0]" in str(refused.value)


@pytest.mark.parametrize("bytes_in_it, said", [
    (b"", "is no JSON"), (b"[]", "has no result"), (b"\xff\xfe", "is no text in UTF-8")])
def test_what_is_no_json_is_refused(tmp_path: Path, bytes_in_it: bytes, said: str) -> None:
    file = tmp_path / "results.json"
    file.write_bytes(bytes_in_it)
    with pytest.raises(BadUsage, match=said):
        results.read_list(file, Result)


def test_gathered_results_are_as_they_were_written(bin_folder: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        run([bin_folder / "00_cpu_serial", "-n", "1000", "-s", "2", "--json", tmp_path / name], check=True,
            capture_output=True)
    results.gather([tmp_path / "a", tmp_path / "b"], tmp_path / "both", Result)
    assert json.loads((tmp_path / "both").read_text()) == [json.loads((tmp_path / name).read_text()) for name in "ab"]
    with pytest.raises(BadUsage, match="cannot be read"):
        results.gather([tmp_path / "a", tmp_path / "c"], tmp_path / "none", Result)
    assert not (tmp_path / "none").exists()
