"""Nsight Compute (ncu) counts what kernels do on the GPU of this machine."""

import csv
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools import gpu
from tools.command_line import NotPossible

# Its names of what it counts, from Turing to Blackwell.
BLOCKS = "launch__grid_size"
INSTRUCTIONS = "smsp__inst_executed.sum"
BYTES_READ = "dram__bytes_read.sum"
TIME = "gpu__time_duration.sum"  # ns
# A wavefront is one turn at the banks of shared memory, a request one warp instruction at the L1 cache, a sector 32
# bytes. By the names of the emulated device's counters.
MEMORY = {f"{space}_{access}_{count}": f"{name}_{space}_op_{op}.sum"
          for space, count, name in (
              ("shared", "wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem"),
              ("shared", "conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem"),
              ("global", "requests", "l1tex__t_requests_pipe_lsu_mem"),
              ("global", "sectors", "l1tex__t_sectors_pipe_lsu_mem"))
          for access, op in (("load", "ld"), ("store", "st"))}

# The clocks stay as they are: locking them changes no count, and would change the times.
OPTIONS = ("--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base")

NOT_PERMITTED = """\
reading the GPU's counters is not permitted to this user (ERR_NVGPUCTRPERM). Either
  sudo env "PATH=$PATH" {command}     (in a container: start it with --cap-add=SYS_ADMIN)
or permit it to every user, and reboot:
  echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/nvidia-profiling.conf
NVIDIA's page on it: https://developer.nvidia.com/ERR_NVGPUCTRPERM"""


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel, and ncu's numbers by its names. What the GPU does not have is not among them."""

    kernel: str
    values: dict[str, str]


class NsightCompute:
    """Counts these metrics, less those that the GPU turns out not to have. Throws NotPossible where there is no ncu."""

    def __init__(self, *metrics: str) -> None:
        if shutil.which("ncu") is None:
            raise NotPossible("there is no ncu on PATH: it is Nsight Compute, a part of the CUDA toolkit; "
                              "try PATH=/usr/local/cuda/bin:$PATH, or install the package nsight-compute")
        self.metrics = list(metrics)

    def version(self) -> str:
        return "".join(re.findall(r"^Version ([\d.]+)", gpu.said("ncu", "--version"), re.MULTILINE))

    def count(self, selection: Sequence[str], command: Sequence[str | Path], at_least: int = 1) -> list[Launch]:
        """Those launches of the command that `selection` takes, options of ncu. Throws NotPossible for fewer."""
        launches, said = run(self.metrics, selection, command)
        if not launches and "Failed to find metric" in said:
            # One unknown name keeps ncu from counting anything, and how it says which one differs from version to
            # version: so each metric is tried alone.
            self.metrics = [metric for metric in self.metrics if run([metric], selection, command)[0]]
            launches, said = run(self.metrics, selection, command)
        if "ERR_NVGPUCTRPERM" in said:
            raise NotPossible(NOT_PERMITTED.format(command=shlex.join(sys.orig_argv)))
        if len(launches) < at_least:
            raise NotPossible(f"ncu counted {len(launches)} of {at_least} launches in {Path(command[0]).name}; its "
                              f"last words:\n{said[-500:]}")
        return launches


def run(metrics: list[str], selection: Sequence[str], command: Sequence[str | Path]) -> tuple[list[Launch], str]:
    """The launches, none where ncu reports no values, and all that was said. Its exit code alone does not tell."""
    said = subprocess.run(["ncu", *selection, *OPTIONS, "--metrics", ",".join(metrics), *command],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                          errors="replace", env={**os.environ, "LC_ALL": "C"}).stdout
    return [launch for launch in read_report(said) if launch.values], said


def read_report(text: str) -> list[Launch]:
    """Among other lines, a row of names, one of units and one of values for each launch; a number may have commas."""
    quoted = (line for line in text.splitlines() if line.startswith('"'))
    # The program that is profiled may quote, too, what it says before.
    table = itertools.dropwhile(lambda line: not line.startswith('"ID",'), quoted)
    rows = csv.DictReader(table, restkey="", restval="")
    launches = []
    for row in rows:
        # Of `void a::reduce_kernel<int>(const T1 *)` the name alone.
        kernel = re.search(r"\w+(?=[<(])", row.get("Kernel Name", "") + "(")
        if kernel and row["ID"].isdecimal():
            launches.append(Launch(kernel[0], {
                name: value.replace(",", "") for name, value in row.items()
                if "__" in name and re.fullmatch(r"\d[\d,]*(\.\d+)?([eE][+-]?\d+)?", value)}))
    return launches
