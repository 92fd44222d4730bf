"""13_many_gpus as several ranks of one job, on the emulated device; what only GPUs can show is in test_on_gpus_*."""

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.command_line import ELEMENT_TYPES
from tools.results import RanksResult, read_list

# A CI's container has fewer cores than a test has ranks: one that waits should leave its core. What is left of a failed
# job is killed at once, not after two seconds, and hwloc starts no OpenCL in each process. Open MPI unloads modules of
# its own that have leaked: no suppression can name these any more.
MPI = {**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_odls_base_sigkill_timeout": "0",
       "HWLOC_COMPONENTS": "-opencl", "ASAN_OPTIONS": "detect_leaks=0", "CUDA_VISIBLE_DEVICES": ""}
Command = Callable[..., list[str | Path]]


@pytest.fixture
def job(bin_folder: Path, need: Callable[[str], str]) -> Command:
    """The command that runs that many ranks."""
    if "Open MPI" not in subprocess.run([need("mpirun"), "--version"], capture_output=True, text=True).stdout:
        pytest.skip("this mpirun is not Open MPI's")
    if not (bin_folder / "13_many_gpus").exists():
        pytest.skip("this build has no 13_many_gpus: it takes MPI")
    return lambda ranks, *options: [
        "mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks), bin_folder / "13_many_gpus",
        *([] if "--device" in options else ["--device", "emulated"]), *options]


@pytest.fixture
def faulty(job: Command, bin_folder: Path) -> Command:
    return lambda *words: [bin_folder / "faulty_rank" if word == bin_folder / "13_many_gpus" else word
                           for word in job(*words)]


@pytest.mark.parametrize("ranks, options, code, said, times", [
    (3, "-n 100003 -t complex64 --data cancelling --scaling", 0,
     r"(?m)^\| 13_many_gpus \| complex64 \| 100003 \| – \| [123] \| 1 \| .* \| the kernels \| .* \| yes \|$", 3),
    (3, "-n 1000 --weak --scaling --combine mpi", 0,
     r"(?m)^\| .* \| ([123])000 \| – \| \1 \| .* \| MPI \| .* \| yes \|$", 3),
    *((3, f"--sweep type -n 2^13 {how}", 0, r"(?m)^\| .* \| 2\^13 \| – \| 3 \| .* \| yes \|$", len(ELEMENT_TYPES))
      for how in ("", "--combine mpi")),
    (3, "-n 2 -t float64", 0, r"\| yes \|\n", 1),
    (3, "-n 0", 0, r"\nresult  0, exact\n", 1),
    (3, "-n 1000 --weak --data ones", 0, r"\nresult  3000, exact\n", 1),
    (3, "-n 1000003 --combine mpi -t float64", 0, r"\nranks   3 on 1 node, combined by MPI\n", 1),
    (2, "--help", 0, r"(?mi)^options:", 1),
    (3, "--type int16", 2, "--type 'int16': choose one of", 1),
    (2, "--device cuda:1", 2, "--device: each rank takes a GPU of its own", 1),
    (2, "--trace x.html", 2, "--trace is of one device", 1),
    (2, "--back-to-back 9", 2, "--grid and --back-to-back are of one device", 1),
    (2, "--combine nccl", 2, "--combine nccl: NCCL combines GPUs' sums only", 1),
    (2, "--combine tree", 2, "--combine 'tree': choose one of auto, kernels, nccl, mpi", 1),
    (2, "--time-limit 0", 2, "--time-limit '0': give a whole number", 1),
    (2, "--json {folder}/nowhere/file", 2, "--json '{folder}/nowhere/file'", 1),
    (2, "--device cuda", 3, "rank 0 on ", 1),
    (3, "-n 2^44", 3, "choose fewer elements", 1),
    (2, "-n 2^47 --weak", 3, "choose fewer elements", 1),
    (73, "-n 1000 -q --combine kernels", 2, "--combine kernels: at most 72 ranks on one machine do so", 1)])
def test_ranks(job: Command, tmp_path: Path, ranks: int, options: str, code: int, said: str, times: int) -> None:
    ran = subprocess.run(job(ranks, *options.format(folder=tmp_path).split()), capture_output=True, text=True, env=MPI)
    assert ran.returncode == code, ran
    assert len(re.findall(said.replace("{folder}", str(tmp_path)), ran.stdout + ran.stderr)) == times, ran
    # However many ranks there are, the program has one line to say; mpirun adds words of its own.
    assert len(re.findall("(?m)^13_many_gpus: .*error: ", ran.stderr)) == (1 if code else 0), ran


@pytest.mark.parametrize("element", ["int32", "float32", "complex64"])
def test_any_number_of_ranks_finds_the_bits_of_one(job: Command, bin_folder: Path, tmp_path: Path,
                                                   element: str) -> None:
    """Those of 14_same_bits, and each rank has whole chunks: of 13 with 8192 elements."""
    options: list[str | Path] = ["-t", element, "-n", "100003", "-q", "--json", tmp_path / "results.json"]
    subprocess.run([bin_folder / "14_same_bits", "--device", "emulated", *options], check=True, capture_output=True)
    expected = json.loads((tmp_path / "results.json").read_text())["result"]
    for ranks, shard in ((1, 100003), (2, 57344), (3, 40960), (5, None), (8, None)):
        subprocess.run(job(ranks, *options), check=True, capture_output=True, env=MPI)
        [found] = read_list(tmp_path / "results.json", RanksResult)
        assert found.verified and found.result == expected != 0 and found.ranks == ranks
        assert shard is None or element != "int32" or found.elements_per_rank == shard


@pytest.mark.parametrize("element", ["int32", "float64"])
@pytest.mark.parametrize("fault", ["lose", "double"])
def test_an_element_that_a_rank_loses_or_counts_twice(faulty: Command, element: str, fault: str) -> None:
    """Although that rank sums a part of the reference, too."""
    ran = subprocess.run(faulty(3, "-n", "1000003", "-t", element), capture_output=True, text=True,
                         env=MPI | {"FAULT": fault})
    assert ran.returncode == 1 and re.search(r"\| \*\*NO\*\* \|\n", ran.stdout), ran
    assert len(re.findall("(?m)^13_many_gpus: error: WRONG: ", ran.stderr)) == 1, ran


@pytest.mark.parametrize("fault, said", [
    ("STUCK=init", "NCCL did not connect the GPUs within 1 s (--time-limit)"),
    ("STUCK=all_reduce", "NCCL did not connect the GPUs within 1 s (--time-limit)"),
    ("STUCK=wait", "the sum of all GPUs did not come within 1 s (--time-limit)"),
    ("STUCK=destroy", "NCCL did not let this rank go within 1 s (--time-limit)"),
    ("FAILING=init", "connecting the GPUs by NCCL: unhandled system error: the cable is out"),
    ("FAILING=all_reduce", "combining the sums by NCCL: unhandled system error: the cable is out"),
    ("FAILING=wait", "combining the sums by NCCL: unhandled system error: the cable is out"),
    ("FAILING=none", "")])
def test_an_nccl_comes_or_is_given_up(job: Command, bin_folder: Path, fault: str, said: str) -> None:
    """A stand-in for it: the line comes in time, and no rank waits for ever."""
    variable, call = fault.split("=")
    ran = subprocess.run([bin_folder / "slow_nccl"], capture_output=True, text=True, env=MPI | {variable: call},
                         timeout=60)
    lines = [line for line in ran.stderr.splitlines() if line.startswith("slow_nccl: ")]
    assert ran.returncode == (3 if said else 0) and len(lines) == bool(said), ran
    assert lines[0].endswith(f": error: {said}") if said else ran.stdout == "1\ndestroyed\n", ran


@pytest.mark.parametrize("who", ["kernels", "mpi"])
def test_a_rank_that_fails_ends_the_job(faulty: Command, who: str) -> None:
    ran = subprocess.run(faulty(3, "-n", "1000003", "--combine", who), capture_output=True, text=True,
                         env=MPI | {"FAULT": "fail"}, timeout=60)
    assert ran.returncode == 3 and not re.search(r"(?m)^(result|\|)", ran.stdout), ran
    assert re.findall("(?m)^13_many_gpus: .*", ran.stderr) == [
        f"13_many_gpus: rank 2 on {socket.gethostname()} with emulated H200: error: made to fail"], ran


def at_work(command: list[str | Path]) -> tuple["subprocess.Popen[str]", list[int]]:
    """A job in the middle of its work, and its ranks' processes."""
    # On one core, whatever machine this is, the work takes seconds.
    core = min(os.sched_getaffinity(0))
    running = subprocess.Popen(command, env=MPI, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    assert running.stdout
    # The heading: all ranks have a device, and the long part begins.
    assert any(line.startswith("device ") for line in running.stdout)
    return running, ranks_of(running)


def ranks_of(running: "subprocess.Popen[str]") -> list[int]:
    """The processes of a job's ranks. Each of mpirun's threads may have started some."""
    return [int(process) for task in Path(f"/proc/{running.pid}/task").iterdir()
            for process in (task / "children").read_text().split()]


@pytest.mark.parametrize("who, number, code", [
    ("kernels", signal.SIGSTOP, 3), ("mpi", signal.SIGSTOP, 3),
    *(("auto", number, 128 + number) for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT))])
def test_a_lost_rank_ends_the_job(job: Command, who: str, number: signal.Signals, code: int) -> None:
    """Nobody prints a sum. The others wait for one that stands still as long as they may, and one of them says so;
    after one that is gone, mpirun ends as a shell does."""
    running, ranks = at_work(job(3, "-n", "2^28", "--combine", who, "--time-limit", "3"))
    assert len(ranks) == 3
    os.kill(ranks[-1], number)
    began = time.monotonic()
    output, said = running.communicate(timeout=60)
    assert running.returncode == code and not re.search(r"(?m)^(result|\|)", output), output + said
    if number == signal.SIGSTOP:
        [line] = re.findall("(?m)^13_many_gpus: .*", said)
        assert line.endswith("within 3 s (--time-limit)"), said
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("who", ["kernels", "mpi"])
def test_a_job_that_is_suspended_goes_on(job: Command, who: str) -> None:
    """However long: while all ranks stand still, so does the clock of the limit."""
    running, ranks = at_work(job(3, "-n", "2^22", "--combine", who, "--time-limit", "2"))
    for rank in reversed(ranks):
        os.kill(rank, signal.SIGSTOP)
        time.sleep(0.5)  # the others wait for it by now
    time.sleep(3)
    for rank in ranks:
        os.kill(rank, signal.SIGCONT)
    output, said = running.communicate(timeout=60)
    assert running.returncode == 0 and "| yes |" in output, output + said
