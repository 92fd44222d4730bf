"""What profile makes of Nsight Compute's reports, with an ncu and steps that are made up."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import fake_programs
import made_up_results
from tools import counters, profile
from tools.command_line import BadUsage, Failure, NotPossible
from tools.nsight_compute import BLOCKS, TIME, Launch, read_report
from tools.programs import Programs

H200 = (counters.FOLDER / "nvidia_h200.csv").read_text().splitlines()
# The one launch of a single pass.
COUNTED = {metric: value for step, metric, value in (line.split(",") for line in H200[8:]) if step == "10_single_pass"}
KERNEL, SHARES, LAST, CUB, CUB_LAST = (f"void {name}<Policy<int, (int)4>>(const T1 *)" for name in (
    "reduce_kernel", "combine_shares_kernel", "combine_kernel", "cub::detail::DeviceReduceKernel",
    "cub::detail::DeviceReduceSingleTileKernel"))


def report(metrics: list[str], *kernels: str, counted: dict[str, str] = COUNTED) -> str:
    """As ncu prints it: with commas in numbers, n/a for what is not there, among other lines."""
    values = (f"{int(value):,}" if value.isdecimal() else value
              for value in (counted.get(metric, "n/a") for metric in metrics))
    row = ",".join(f'"{value}"' for value in values)
    return "\n".join(["==PROF== Connected", '"ID","Kernel Name","Grid Size","' + '","'.join(metrics) + '"',
                      '"","",""' + ',"inst"' * len(metrics),
                      *(f'"{k}","{kernel}","(256, 1, 1)",{row}' for k, kernel in enumerate(kernels)), "| 1 | 2 |"])


def result(step: str, passes: int, elements: int = 2**22) -> made_up_results.Result:
    a_pass = {"elements": elements, "blocks": 256, "counters": None}
    return made_up_results.result(step, 0.01, elements=elements, passes=[a_pass] * passes, counters={"blocks": 1})


class Machine:
    """In place of subprocess.run. A test replaces what is to be otherwise."""

    ncu: str | None = "ncu"
    on_gpu = emulated = 0, ""  # the steps' exit code, and their words
    result = result("03_sequential", 3)

    def counted(self, step: str, metrics: list[str]) -> str:
        """What ncu prints."""
        return report(metrics, KERNEL, KERNEL, KERNEL)

    def run(self, words: list[str | Path], **_: object) -> "CompletedProcess[str]":
        code, said = 0, ""
        if "--metrics" in words:
            metrics, step = map(str, words[words.index("--metrics") + 1:][:2])
            said = self.counted(Path(step).name, metrics.split(","))
        elif "--json" in words:
            given = [word for word in words if str(word)[0] == "-"]
            assert len(given) == len(set(given)), f"a step refuses an option that is repeated: {words}"
            code, said = self.emulated if "emulated" in words else self.on_gpu
            Path(words[-1]).write_text(json.dumps(self.result))
        return CompletedProcess(words, code, said, "")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made_up = Machine()
    monkeypatch.setattr(counters, "FOLDER", tmp_path)
    monkeypatch.setattr("shutil.which", lambda _: made_up.ncu)
    monkeypatch.setattr(subprocess, "run", made_up.run)
    monkeypatch.setattr(Programs, "has", lambda programs, _: programs.folder.name != "nowhere")
    return made_up


def test_one_reduction_from_end_to_end(
        tools: Callable[..., "CompletedProcess[str]"], tmp_path: Path, bin_folder: Path) -> None:
    fake_programs.make(tmp_path, "10_single_pass", f"""
        if "emulated" in words:
            os.execv("{bin_folder}/10_single_pass", ["10_single_pass", *words])
        open(words[-1], "w").write({json.dumps(result("10_single_pass", 1))!r})""")
    fake_programs.make(tmp_path, "ncu", f"""
        version = words == ["--version"]
        print("Version 2025.3.1.0 (build 1)" if version else {report([*COUNTED], KERNEL)!r})""")
    ran = tools("profile", "--bin", tmp_path, "10_single_pass", "-b", "256", env=fake_programs.path_with(tmp_path))
    assert (ran.returncode, ran.stderr) == (0, "")
    rows = re.findall(r"\n\| .* \| `(\S+)` \| (\S+) \| (\S+) \|", ran.stdout)
    # The emulated device has no noise in its bank conflicts, and does not count what DRAM does.
    assert len(rows) == 12 and all(
        on_gpu == COUNTED.get(metric, "missing") and (ours in (on_gpu, "–") or "_data_" in metric)
        for metric, on_gpu, ours in rows)
    assert f"\nreduce_kernel: {int(COUNTED[TIME]) / 1000:.2f} µs\n" in ran.stdout


def test_a_report_is_read_among_other_lines() -> None:
    counted = {"dram__bytes_read.sum": "16785152", "smsp__ratio": "31.83", "tma__bytes": "1e+03"}
    text = report([*counted, "other__count", "Stream"], KERNEL, CUB, counted={**counted, "Stream": "7"})
    assert '"16,785,152"' in text and '"n/a"' in text
    assert read_report(text) == [Launch("reduce_kernel", counted), Launch("DeviceReduceKernel", counted)]
    # What the program that is profiled says before it.
    assert read_report(f'"Warm-up","done"\n{text}') == read_report(text)
    assert read_report('"no","header"\n"at","all"') == []


@pytest.mark.parametrize("words, made_up, failure, said", [
    ("--counters --bin nowhere", {}, BadUsage, "there is no 01_interleaved in"),
    ("--counters", {"ncu": None}, NotPossible, "there is no ncu on PATH"),
    ("--counters", {"on_gpu": (3, "no CUDA device")}, NotPossible, "01_interleaved: exit code 3: no CUDA device"),
    ("peer_cub", {"on_gpu": (1, "peer_cub: error: wrong")}, Failure, "peer_cub: error: wrong"),
    ("peer_cub", {"on_gpu": (2, "peer_cub: error: -n '2x'")}, BadUsage, "peer_cub: error: -n '2x'"),
    ("peer_cub", {"counted": lambda *_: "ERR_NVGPUCTRPERM"}, NotPossible, "NVreg_RestrictProfilingToAdminUsers=0"),
    ("peer_cub", {"counted": lambda *_: "a\nb"}, NotPossible, "0 of 3 launches in peer_cub; its last words:\na\nb"),
    ("peer_cub", {"counted": lambda *_: report([TIME], KERNEL)}, NotPossible, "counted 1 of 3 launches in peer_cub")])
def test_refusals(machine: Machine, words: str, made_up: dict[str, object], failure: type[Failure], said: str) -> None:
    vars(machine).update(made_up)
    with pytest.raises(Failure) as refused:
        profile.main(words.split())
    assert refused.type is failure and said in str(refused.value)


@pytest.mark.parametrize("made_up, kernels, said", [
    ({}, 3 * [KERNEL], ""),
    ({"emulated": (3, "03_sequential: error: no")}, 3 * [KERNEL], "did not count: 03_sequential: error: no\n"),
    ({"result": result("03_sequential", 3, 2**25)}, 3 * [KERNEL], "up to 2^24 elements here"),
    # A library has no passes of the harness. What leaves the result is its last launch.
    ({"result": result("peer_cub", 0)}, [CUB, CUB_LAST], ""),
    ({"result": result("12_any_operation", 0)}, [KERNEL, SHARES, LAST], ""),
    ({"result": result("peer_cub", 0)}, [CUB_LAST, CUB_LAST], "")])
def test_counts_are_sums_over_the_launches(
        machine: Machine, capsys: pytest.CaptureFixture[str], made_up: dict[str, object], kernels: list[str], said: str
        ) -> None:
    vars(machine).update(made_up, counted=lambda _, metrics: report(metrics, *kernels))
    assert profile.main(["03_sequential", "-n", "2^22"]) == 0
    launches = 1 if kernels[0] == CUB_LAST else len(kernels)
    printed = capsys.readouterr()
    assert said in printed.err
    assert f"`{BLOCKS}` | {launches * int(COUNTED[BLOCKS])} | {'–' if said else 1} |" in printed.out
    assert f"ncu gives {int(COUNTED[TIME]) * launches / 1e6:.4f} ms" in printed.out


def test_all_steps_into_a_file(machine: Machine, tmp_path: Path) -> None:
    def counted(step: str, metrics: list[str]) -> str:
        if any("divergent" in metric for metric in metrics):
            return "==ERROR== Failed to find metric regex:^smsp"
        if step == "11_bulk_copy":
            return f"{step}: error: it needs a CUDA device of compute capability 9.0 or higher\n==ERROR== code 3"
        return report(metrics, KERNEL, counted=dict.fromkeys(metrics, "1234567"))

    vars(machine).update(counted=counted)
    assert profile.main(["--counters"]) == 0
    file = tmp_path / "made_up.csv"
    lines = file.read_text().splitlines()
    assert lines[1] == "# GPU: Made up, compute capability 9.0" and lines[6:8] == H200[6:8]  # the command, the names
    assert sorted(lines[8:]) == sorted(
        f"{step},{metric},{'missing' if step == '11_bulk_copy' or 'threads_divergent' in metric else 1234567}"
        for step, metric, _ in (line.split(",") for line in H200[8:]))
    # What fails later leaves the earlier file as it is.
    vars(machine).update(counted=lambda step, metrics: counted(step, metrics) if step < "04" else "==ERROR== in use")
    with pytest.raises(NotPossible, match="counted 0 of 1 launches in 04_first_add"):
        profile.main(["--counters"])
    assert file.read_text().splitlines() == lines and len([*tmp_path.iterdir()]) == 1
