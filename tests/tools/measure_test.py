"""Measuring with a GPU and steps that are made up: what is written, what is refused, and that a second call goes on."""

import dataclasses
import importlib.util
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import fake_programs
import made_up_results
import pytest

from tools import gpu, measure, plot, results
from tools.command_line import REPOSITORY, BadUsage, ExitCode, Failure, NotPossible
from tools.measure import AGAINST_CUB, PARTS, RECORDS
from tools.programs import ATOMICS, HEADER_STEP, Programs
from tools.results import Measured, Result

STEPS = ["07_cascade", HEADER_STEP, "peer_cub"]
LEFT_OUT = "14_same_bits"  # of integers it is 12


class MadeUpPrograms(Programs):
    """They write what steps would, but for those with another exit code, some of them when they are probed already."""

    probed = {"11_bulk_copy": 3}
    fails: dict[str, int] = {}

    def has(self, name: str) -> bool:
        return self.folder.exists() and name in {
            *STEPS, *ATOMICS, LEFT_OUT, "11_bulk_copy", AGAINST_CUB, "ladder_table"}

    def run(self, name: str, *options: str | Path, launcher: Sequence[str] = (), **variables: str
            ) -> "subprocess.CompletedProcess[str]":
        if name == "ladder_table":
            return super().run(name, *options)
        words = list(map(str, options))
        given = dict(zip(words, words[1:]))
        assert given["--device"] == "cuda"
        code = (self.fails if "--json" in given else self.probed).get(name, 0)
        if code == ExitCode.INTERRUPTED:
            raise KeyboardInterrupt
        if name == AGAINST_CUB:
            Path(given["--json"]).write_text(json.dumps([made_up_results.against_cub(given["--case"], 2**20)]))
        elif "--json" in given:
            number, _, exponent = given.get("-n", "2^28").partition("^")
            sizes = [1024] * (given.get("--sweep") == "size") + [int(number) ** int(exponent or 1)]
            timing = {"flush": given.get("--flush", "read"), "warm_up": int(given.get("--warm-up", 3)),
                      "queued": given.get("--queue") != "off", "lead_in": int(given.get("--lead-in", 8))}
            Path(given["--json"]).write_text(json.dumps([made_up_results.result(
                name, 0.5, given.get("-t", "int32"), size, timing=timing) for size in sizes]))
        return subprocess.CompletedProcess(words, code, "", f"{name}: error: it is broken\n")


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """To each question, nvidia-smi, nvcc and git give the same answer."""
    monkeypatch.setattr(measure, "Programs", MadeUpPrograms)
    monkeypatch.setattr(gpu, "said", lambda *_: "Made up")


@pytest.fixture
def call(bin_folder: Path, tmp_path: Path) -> Callable[..., int]:
    return lambda *words, to="card": measure.main(["--bin", str(bin_folder), *words, str(tmp_path / to)])


def contents(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in folder.iterdir()}


def test_measures_everything(call: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--largest", "2^20") == ExitCode.DONE
    folder, said = tmp_path / "card", capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [folder] and not (folder / "parts").exists()
    for part in PARTS:
        assert results.read_list(folder / f"{part}.json", RECORDS.get(part, Result))
    command = results.read_one(folder / "measured.json", Measured).command
    assert command == "python3 -m tools measure --largest 2^20"
    page = (folder / "README.md").read_text()
    assert "# Results · Made up" in page and "| atomic_each | float32 | 2^25 | 0.5000 |" in page
    assert "11_bulk_copy is left out: 11_bulk_copy: error: it is broken" in said
    assert f"Beside the H200: python3 -m tools plot --out FOLDER docs/results/nvidia_h200 {folder}" in said
    if importlib.util.find_spec("matplotlib"):
        assert all((folder / name).read_text() == text for name, text in plot.draw([folder]).items())
    else:
        assert "There are no plots: " in said


@pytest.mark.parametrize("code, failure", [
    (1, Failure), (3, NotPossible), (-11, NotPossible), (130, KeyboardInterrupt)])
def test_goes_on_where_it_stopped(call: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                  monkeypatch: pytest.MonkeyPatch, code: int, failure: type[BaseException]) -> None:
    """After a failing step all is as if nothing had stopped it."""
    call(to="at once")
    with monkeypatch.context() as context, pytest.raises(failure) as raised:
        context.setattr(MadeUpPrograms, "fails", {"peer_cub": code})
        call()
    assert raised.type is failure
    assert f"\nMeasured until now: {tmp_path}/card.new; call again to go on\n" in capsys.readouterr().err
    assert call() == ExitCode.DONE
    said = capsys.readouterr().err
    assert [line for line in said.splitlines() if line[:7] == "ladder:"] == ["ladder: peer_cub"]
    assert contents(tmp_path / "card") == contents(tmp_path / "at once")


@pytest.mark.parametrize("key", ["gpu", "driver", "cuda", "command", "commit"])
def test_another_measurement_does_not_go_on(tmp_path: Path, key: str) -> None:
    made_up_results.write_card(tmp_path)
    begun = results.read_one(tmp_path / "measured.json", Measured)
    # Another day, the first one's date stays.
    now = dataclasses.replace(begun, date="2026-11-22")
    assert measure.begun_with(tmp_path, now) == begun
    with pytest.raises(BadUsage, match="was begun with another GPU, .*: delete that folder"):
        measure.begun_with(tmp_path, dataclasses.replace(now, **{key: "other"}))


def test_the_old_results_stay_until_the_new_ones_are_there(call: Callable[..., int], tmp_path: Path,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    made_up_results.write_card(tmp_path / "card")
    (tmp_path / "card/thesis").write_text("mine")
    before = contents(tmp_path / "card")
    with monkeypatch.context() as context, pytest.raises(NotPossible):
        context.setattr(MadeUpPrograms, "fails", {"peer_cub": 3})
        call()
    assert contents(tmp_path / "card") == before
    assert call() == ExitCode.DONE
    after = contents(tmp_path / "card")
    of_others = ("thesis", "many_gpus.json", "many_gpus_alone.json", "many_gpus_measured.json", "peers.json")
    assert all(after[name] == before[name] for name in of_others) and after["ladder.json"] != before["ladder.json"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["card"]


def test_leaves_out_what_this_gpu_cannot_run(call: Callable[..., int], tmp_path: Path,
                                             monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MadeUpPrograms, "probed", {HEADER_STEP: 3})
    assert call() == ExitCode.DONE
    assert not (tmp_path / "card/against_cub.json").exists()
    assert "12_any_operation" not in (tmp_path / "card/README.md").read_text()
    monkeypatch.setattr(MadeUpPrograms, "probed", {"07_cascade": 3})
    with pytest.raises(NotPossible, match="have to run on the GPU"):
        call()


@pytest.mark.parametrize("name, visible, refusal", [
    ("", "7", "CUDA_VISIBLE_DEVICES names none"), ("Made up", "", "CUDA_VISIBLE_DEVICES names none"),
    ("Made up", "7", "there is no nvcc on PATH")])
def test_refuses_a_machine(monkeypatch: pytest.MonkeyPatch, name: str, visible: str, refusal: str) -> None:
    monkeypatch.setattr(gpu, "said", lambda *words: name)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotPossible, match=refusal):
        measure.main([])


def test_a_signal_stops_it(tmp_path: Path) -> None:
    """By the command line, on the second GPU of a machine, whose steps take half a minute but for a small input."""
    for program in ("00_cpu_serial", "07_cascade", "peer_cub", AGAINST_CUB, "ladder_table", *ATOMICS):
        fake_programs.make(tmp_path / "bin", program, 'import time; "size" in words or time.sleep(30)')
    fake_programs.make(tmp_path / "path", "nvcc", "print('Cuda compilation tools, release 12.9, V12.9.1')")
    fake_programs.make(tmp_path / "path", "nvidia-smi", """
        print("123.45" if "--query-gpu=driver_version" in words else "Made Up 3" if "--id=3" in words else "GPU 0")""")
    process = subprocess.Popen(
        [sys.executable, "-m", "tools", "measure", "--bin", tmp_path / "bin", "--commit", "c0ffee", tmp_path / "card"],
        env=fake_programs.path_with(tmp_path / "path") | {"CUDA_VISIBLE_DEVICES": "3,0"}, cwd=REPOSITORY,
        stderr=subprocess.PIPE, text=True)
    assert process.stderr and process.stderr.readline() == "ladder: 00_cpu_serial\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 130 and "Measured until now" in process.stderr.read()
    measured = results.read_one(tmp_path / "card.new/measured.json", Measured)
    assert (measured.gpu, measured.driver, measured.cuda) == ("Made Up 3", "123.45", "12.9")
