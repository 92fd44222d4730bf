"""Measuring several GPUs with a launcher, GPUs and a 13_many_gpus that are made up."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import fake_programs
import pytest

from tools import pages, results
from tools.command_line import REPOSITORY
from tools.results import AloneResult, Measured, RanksResult

Ran = subprocess.CompletedProcess[str]

# Starts the program once, as rank 0 of so many. The words after those that the caller knows are the program's.
MPIRUN = """
assert words[2:4] == ["--bind-to", "none"], words
os.environ["RANKS"] = words[1]
os.execv(words[4], words[4:])
"""
MANY_GPUS = f"""
sys.path.append({str(REPOSITORY / "tests")!r})
import made_up_results
from pathlib import Path
options = " ".join(words)
with Path(sys.argv[0]).with_name("calls").open("a") as calls:
    print(options, file=calls)
if os.environ.get("FAILS", "none") in options:
    print("[host] mpirun's own words")
    print("13_many_gpus: error: it is broken", file=sys.stderr)
    print("mpirun's last words", file=sys.stderr)
    sys.exit(int(os.environ["CODE"]))
assert words[:2] == ["--device", "cuda"]
if "--json" not in words:
    sys.exit()
given = dict(zip(words, words[1:]))
base, _, exponent = given["-n"].partition("^")
elements = int(base) ** int(exponent or 1)
weak = "--weak" in words
if gpu := os.environ.get("CUDA_VISIBLE_DEVICES"):
    found = made_up_results.ranks(1, 1 + int(gpu), elements)
else:
    found = [made_up_results.ranks(p, 2 / p, elements if weak else elements // p, weak, given["--combine"])
             for p in (1, int(os.environ["RANKS"]))]
Path(given["--json"]).write_text(json.dumps(found))
"""


@pytest.fixture
def call(tmp_path: Path) -> Callable[..., Ran]:
    """Runs the command on a machine of two GPUs."""
    fake_programs.make(tmp_path / "bin", "13_many_gpus", MANY_GPUS)
    fake_programs.make(tmp_path / "path", "mpirun", MPIRUN)
    fake_programs.make(tmp_path / "path", "nvcc", "print('Cuda compilation tools, release 12.9, V12.9.1')")
    fake_programs.make(tmp_path / "path", "nvidia-smi", """
        said = {"-L": "GPU 0: Made Up (UUID: GPU-0)\\nGPU 1: Made Up (UUID: GPU-1)",
                "--query-gpu=driver_version": "123.45", "--query-gpu=clocks.max.sm": "1980"}
        print(next((said[word] for word in words if word in said), "Made Up"))""")

    def run(*words: str, **environment: str) -> Ran:
        path = fake_programs.path_with(tmp_path / "path")
        path.pop("CUDA_VISIBLE_DEVICES", None)
        return subprocess.run(
            [sys.executable, "-m", "tools", "scaling", "--bin", tmp_path / "bin", "--commit", "c0ffee" * 7, *words,
             tmp_path / "card"], env=path | environment, cwd=REPOSITORY, capture_output=True, text=True)

    return run


def calls(folder: Path) -> list[str]:
    """Without the files' names."""
    return [line.split(" --quiet")[0].removeprefix("--device cuda ")
            for line in (folder / "bin/calls").read_text().splitlines()]


def test_measures_everything(call: Callable[..., Ran], tmp_path: Path) -> None:
    ran = call("--weak", "2^20")
    assert ran.returncode == 0, ran.stderr
    card = tmp_path / "card"
    jobs = results.read_list(card / "many_gpus.json", RanksResult)
    assert len(jobs) == 2 * 2 * 6 and {job.combined_by for job in jobs} == {"kernels", "nccl"}
    alone = results.read_list(card / "many_gpus_alone.json", AloneResult)
    assert [(gpu.rank, gpu.elements, gpu.ms.median) for gpu in alone] == [
        (rank, elements, 1 + rank) for elements in (2**27, 2**23, 2**20, 0) for rank in (0, 1)]
    measured = results.read_one(card / "many_gpus_measured.json", Measured)
    assert (measured.gpu, measured.cuda, measured.clock_mhz) == ("Made Up", "12.9", 1980)
    assert measured.command == "python3 -m tools scaling --weak 2^20"
    assert "| 2^20 int32 per rank | 2 | 1 | nccl |" in pages.scaling(card)
    made = calls(tmp_path)
    assert made[:6] == [
        "--weak -n 2^20 --samples 200 --scaling --combine kernels", "-n 2^28 --scaling --combine kernels",
        "-n 2^24 --scaling --combine kernels", "-n 0 --scaling --combine kernels",
        "-n 2^28 --scaling --combine kernels --queue off", "-n 0 --scaling --combine kernels --queue off"]
    assert made[12:] == [f"-n {elements}" for elements in (2**27, 2**23, 2**20, 0) for _ in (0, 1)]


@pytest.mark.parametrize("code", ["2", "3"])
def test_leaves_out_who_cannot_combine(call: Callable[..., Ran], tmp_path: Path, code: str) -> None:
    ran = call(FAILS="nccl", CODE=code)
    assert ran.returncode == 0 and "nccl is left out: 13_many_gpus --weak" in ran.stderr
    assert {job.combined_by for job in results.read_list(tmp_path / "card/many_gpus.json", RanksResult)} == {"kernels"}
    ran = call(FAILS="combine", CODE=code)
    assert ran.returncode == 3 and "neither of kernels and nccl can combine" in ran.stderr


@pytest.mark.parametrize("fails, code, expected", [
    ("--weak", "3", 3), ("-n 134217728", "1", 1), ("-n 0 --scaling", "139", 3)])
def test_a_failing_run_leaves_the_old_results(call: Callable[..., Ran], tmp_path: Path, fails: str, code: str,
                                              expected: int) -> None:
    (tmp_path / "card").mkdir()
    (tmp_path / "card/many_gpus.json").write_text("the old ones")
    ran = call("--weak", "2^21", FAILS=fails, CODE=code)
    assert ran.returncode == expected and "13_many_gpus: error: it is broken\n" in ran.stderr
    assert [file.read_text() for file in (tmp_path / "card").iterdir()] == ["the old ones"]


def test_refuses(call: Callable[..., Ran], tmp_path: Path) -> None:
    ran = call(PATH="")
    assert ran.returncode == 3 and ran.stderr.count("\n") == 1
    assert not (tmp_path / "card").exists()
    (tmp_path / "card").write_text("mine")
    ran = call()
    assert ran.returncode == 2 and "card' is no folder that can be written" in ran.stderr
    fake_programs.make(tmp_path / "path", "nvidia-smi", "sys.exit(9)")
    ran = call()
    assert ran.returncode == 3 and "there is no NVIDIA GPU here" in ran.stderr
