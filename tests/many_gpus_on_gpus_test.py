"""13_many_gpus on two GPUs: who combines, and what ends a job whose rank is lost. Skipped where there are fewer."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from many_gpus_test import ranks_of

COMBINERS = ["kernels", "nccl"]
Command = Callable[..., list[str | Path]]


@pytest.fixture
def job(bin_folder: Path, need: Callable[[str], str], gpus: int) -> Command:
    """The command that runs a program on two GPUs."""
    if gpus < 2:
        pytest.skip("there are no two GPUs here")
    return lambda program, *options: [
        need("mpirun"), "--oversubscribe", "--bind-to", "none", "-np", "2", bin_folder / program, "--device", "cuda",
        "-n", "2^24", *options]


@pytest.mark.parametrize("who", COMBINERS)
def test_one_sum(job: Command, who: str) -> None:
    for clock in ("on", "off"):
        ran = subprocess.run(job("13_many_gpus", "--combine", who, "--scaling", "--queue", clock), capture_output=True,
                             text=True)
        assert ran.returncode == 0 and len(re.findall(r"(?m)^\| .* \| yes \|$", ran.stdout)) == 2, ran


def test_no_two_ranks_have_one_gpu(job: Command) -> None:
    command = job("13_many_gpus")
    command[command.index("2")] = "3"
    ran = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"CUDA_VISIBLE_DEVICES": "0,1"})
    assert ran.returncode == 3 and "rank 2 on" in ran.stderr and "same GPU as rank 0" in ran.stderr, ran


def test_the_kernels_combine_where_they_can(job: Command) -> None:
    ran = subprocess.run(job("faulty_rank"), capture_output=True, text=True)
    assert ran.returncode == 0 and "note " not in ran.stdout and "| the kernels | " in ran.stdout, ran


def test_nccl_combines_where_gpus_do_not_reach_each_other(job: Command) -> None:
    """One line says why."""
    ran = subprocess.run(job("faulty_rank"), capture_output=True, text=True, env=os.environ | {"FAULT": "apart"})
    notes = re.findall("(?m)^note    (.*)", ran.stdout)
    assert ran.returncode == 0 and re.search(r"\| (NCCL|MPI) .*\| yes \|", ran.stdout), ran
    assert notes == ["not combined in the kernels: a device does not reach another's memory"], ran
    ran = subprocess.run(job("faulty_rank", "--combine", "kernels"), capture_output=True, text=True,
                         env=os.environ | {"FAULT": "apart"})
    lines = re.findall("(?m)^13_many_gpus: .*", ran.stderr)
    assert ran.returncode == 3 and len(lines) == 1 and "another's memory" in lines[0], ran


@pytest.mark.parametrize("who", COMBINERS)
def test_a_rank_that_fails_ends_the_job(job: Command, who: str) -> None:
    ran = subprocess.run(job("faulty_rank", "--combine", who), capture_output=True, text=True, timeout=120,
                         env=os.environ | {"FAULT": "fail"})
    assert ran.returncode == 3 and not re.search(r"(?m)^(result|\|)", ran.stdout), ran
    lines = re.findall("(?m)^13_many_gpus: .*", ran.stderr)
    assert len(lines) == 1 and "rank 1 on" in lines[0] and "made to fail" in lines[0], ran


@pytest.mark.parametrize("who", COMBINERS)
@pytest.mark.parametrize("number, code, said", [
    (signal.SIGKILL, 128 + signal.SIGKILL, 0), (signal.SIGSTOP, 3, 1)])
def test_a_lost_rank_ends_the_job(job: Command, who: str, number: signal.Signals, code: int, said: int) -> None:
    """Within the time limit, in the middle of its samples, and nobody prints a sum."""
    running = subprocess.Popen(job("13_many_gpus", "--combine", who, "--samples", "1000000", "--time-limit", "5"),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout
    assert any(line.startswith("device ") for line in running.stdout)
    time.sleep(5)
    os.kill(ranks_of(running)[-1], number)
    began = time.monotonic()
    output, errors = running.communicate(timeout=120)
    assert running.returncode == code and not re.search(r"(?m)^(result|\|)", output), output + errors
    lines = re.findall("(?m)^13_many_gpus: .*", errors)
    assert len(lines) == said and all(line.endswith("within 5 s (--time-limit)") for line in lines), errors
    assert time.monotonic() - began < 20
