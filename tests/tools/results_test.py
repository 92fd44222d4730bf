"""The reader of result files: its schema is what the steps write, and it refuses all else."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, run
from typing import Any

import pytest

from tools import pages, results
from tools.command_line import REPOSITORY, BadUsage
from tools.results import RanksResult, Result

OTHER_RECORDS: dict[str, type] = {
    "measured.json": results.Measured, "second_clock.json": results.SecondClock, "many_gpus.json": RanksResult,
    "many_gpus_alone.json": results.AloneResult, "many_gpus_measured.json": results.Measured,
    "against_cub.json": results.AgainstCub}


def written_by(bin_folder: Path, tmp_path: Path, *command: str) -> list[dict[str, Any]]:
    """What a step writes with --json."""
    file = tmp_path / "written.json"
    run([bin_folder / command[0], *command[1:], "--json", file], check=True, capture_output=True)
    document = json.loads(file.read_text())
    return document if isinstance(document, list) else [document]


def keys_of(record: type) -> set[str]:
    return set(record.__dataclass_fields__)  # type: ignore[attr-defined]


def test_the_steps_write_the_schema(bin_folder: Path, tmp_path: Path) -> None:
    [step] = written_by(bin_folder, tmp_path, "07_cascade", "--device", "emulated", "-n", "5000", "-t", "complex64")
    results.read_list(tmp_path / "written.json")
    assert set(step) == keys_of(Result) - {"variant", "other_variants"}
    assert set(step["device"]) == keys_of(results.Device)
    assert set(step["counters"]) == keys_of(results.Counters)
    assert set(step["passes"][0]) == keys_of(results.Pass)
    [cpu] = written_by(bin_folder, tmp_path, "00_cpu_serial", "-n", "5000", "-s", "2")
    results.read_list(tmp_path / "written.json")
    assert set(cpu) == keys_of(Result)
    assert set(cpu["ms"]) == keys_of(results.Milliseconds)
    sweep = written_by(bin_folder, tmp_path, "03_sequential", "--device", "emulated", "-n", "5000", "--sweep", "type")
    assert len(results.read_list(tmp_path / "written.json")) == len(sweep) == 6


def test_thirteen_writes_the_schema(bin_folder: Path, tmp_path: Path) -> None:
    if not (bin_folder / "13_many_gpus").exists():
        pytest.skip("there is no 13_many_gpus: it takes MPI")
    file = tmp_path / "ranks.json"
    for words, record in (((), RanksResult), (("--alone",), results.LoneRank)):
        run([bin_folder / "13_many_gpus", "--device", "emulated", "-n", "5000", *words, "--json", file], check=True,
            capture_output=True, env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                                      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
        results.read_list(file, record)
        document = json.loads(file.read_text())
        [written] = document if isinstance(document, list) else [document]
        assert set(written) == keys_of(record) - {"variant", "other_variants"}
        assert record is not RanksResult or written["combined_by"] == pages.IN_THE_KERNELS


def test_the_timing_of_a_gpu_is_the_schema() -> None:
    """No step is timed here, so the committed results stand for it."""
    written = json.loads((REPOSITORY / "docs/results/nvidia_h200/ladder.json").read_text())
    assert set(written[1]["timing"]) == keys_of(results.Timing)


def test_committed_files_fit() -> None:
    files = sorted(REPOSITORY.glob("docs/results/*/*.json"))
    assert len(files) >= 16
    for file in files:
        results.read_list(file, OTHER_RECORDS.get(file.name, Result))


@pytest.mark.parametrize("file", sorted([*REPOSITORY.glob("docs/results/**/*.json"), *(
    REPOSITORY.glob("docs/counters/*.json"))]), ids=lambda file: f"{file.parent.name}/{file.name}")
def test_committed_files_have_a_row_per_line(file: Path) -> None:
    text = file.read_text()
    assert text == results.to_text(json.loads(text))


def test_a_row_is_a_record() -> None:
    assert results.to_text([{"a": [1, 2]}, {"b": "µ"}]) == '[\n{"a": [1, 2]},\n{"b": "µ"}\n]\n'
    assert results.to_text({"a": [1, 2], "b": [{"c": 0.1}, {}]}) == (
        '{\n  "a": [1, 2],\n  "b": [\n{"c": 0.1},\n{}\n]\n}\n')


def change(key: str, value: object) -> Callable[[dict[str, Any]], object]:
    """A result with another value, where `key` is a path as ms.median."""

    def changed(result: dict[str, Any]) -> object:
        *parents, last = key.split(".")
        inner = result
        for parent in parents:
            inner = inner[parent]
        inner[last] = value
        return result

    return changed


@pytest.mark.parametrize("broken, said", [
    (lambda result: [], "has no result"),
    (lambda result: None, "is null, and an object belongs there"),
    (lambda result: 5, "is 5, and an object belongs there"),
    (lambda result: [result, [result]], "[1] is a list, and an object belongs there"),
    (lambda result: {k: v for k, v in result.items() if k != "gbps"}, "the key 'gbps' is missing"),
    (change("speed", 1), "the key 'speed' is unknown"),
    (change("elements", -1), ".elements is -1, and a whole number from 0 on belongs there"),
    (change("elements", 1e300), ".elements is 1e+300, and a whole number"),
    (change("elements", 10**40), ".elements is 1000000000000000000000000000000000000..., and a whole number"),
    (change("elements", True), ".elements is true, and a whole number"),
    (change("type", "int16"), '.type is "int16", and one of int32, int64, float32'),
    (change("ms.median", "fast"), '.ms.median is "fast", and a number from 1e-09 to 1e+15 belongs there'),
    (change("ms.median", 0), ".ms.median is 0, and a number from"),
    (change("gbps", 10**400), ".gbps is 1000"),
    (change("ms", []), ".ms is a list, and an object or null belongs there"),
    (change("device.name", None), ".device.name is null, and a text belongs there"),
    (change("passes", [{}]), ".passes[0]: the key 'elements' is missing"),
    (change("verified", 1), ".verified is 1, and true or false belongs there"),
    (change("result", [1, None]), ".result[1] is null"),
])
def test_what_does_not_fit_is_refused(tmp_path: Path, broken: Callable[[Any], object], said: str) -> None:
    result = json.loads((REPOSITORY / "docs/results/nvidia_h200/ladder.json").read_text())[1]
    file = tmp_path / "results.json"
    file.write_text(json.dumps(broken(result)))
    with pytest.raises(BadUsage) as refused:
        results.read_list(file)
    assert said in str(refused.value) and str(file) in str(refused.value)


@pytest.mark.parametrize("bytes_in_it, said", [
    (b"", "is no JSON"), (b"{", "is no JSON"), (b"[NaN]", "NaN is no number"), (b"\0\0", "is no JSON"),
    (b"\xff\xfe", "is no text in UTF-8"), (b'["\\ud800"]', "is no JSON"),
    (b"[" * 100_000, "is no JSON"), (b"[" + b"9" * 5000 + b"]", "is no JSON")])
def test_what_is_no_json_is_refused(tmp_path: Path, bytes_in_it: bytes, said: str) -> None:
    file = tmp_path / "results.json"
    file.write_bytes(bytes_in_it)
    with pytest.raises(BadUsage, match=said):
        results.read_list(file)
    os.mkfifo(tmp_path / "pipe")
    for unreadable in (tmp_path / "pipe", tmp_path, tmp_path / "nowhere", tmp_path / ("x" * 300)):
        with pytest.raises(BadUsage, match="cannot be read"):
            results.read_list(unreadable)


def test_gathered_results_are_as_they_were_written(bin_folder: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        run([bin_folder / "00_cpu_serial", "-n", "1000", "-s", "2", "--json", tmp_path / name], check=True,
            capture_output=True)
    results.gather([tmp_path / "a", tmp_path / "b"], tmp_path / "both")
    assert json.loads((tmp_path / "both").read_text()) == [json.loads((tmp_path / name).read_text()) for name in "ab"]
    with pytest.raises(BadUsage, match="cannot be read"):
        results.gather([tmp_path / "a", tmp_path / "c"], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_commands_refuse_such_files(tools: Callable[..., CompletedProcess[str]], tmp_path: Path) -> None:
    refused = tools("plot", tmp_path)
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1 and "measured.json" in refused.stderr
