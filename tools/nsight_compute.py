"""Nsight Compute (ncu) counts what kernels do on the GPU of this machine."""

import csv
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.command_line import NotPossible, say

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
        self.said = ""  # in its last run

    def version(self) -> str:
        said = subprocess.run(["ncu", "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
        found = re.search(r"^Version ([\d.]+)", said, re.MULTILINE)
        return found[1] if found else ""

    def count(self, selection: Sequence[str], *command: str | Path) -> list[Launch]:
        """Those launches of the command that `selection` takes, options of ncu. Throws NotPossible where there are no
        values."""
        launches = self.run(self.metrics, selection, command)
        if not launches and "Failed to find metric" in self.said:
            # One unknown name keeps ncu from counting anything, and how it says which one differs from version to
            # version: so each metric is tried alone.
            for metric in list(self.metrics):
                if not self.run([metric], selection, command):
                    self.metrics.remove(metric)
                    say(f"{metric}: not on this GPU")
            launches = self.run(self.metrics, selection, command) if self.metrics else []
        if launches:
            return launches
        if "ERR_NVGPUCTRPERM" in self.said:
            raise NotPossible(NOT_PERMITTED.format(command=shlex.join(sys.orig_argv)))
        raise NotPossible(f"ncu counted nothing in {Path(command[0]).name}; its last words:\n{self.last_words()}")

    def run(self, metrics: list[str], selection: Sequence[str], command: Sequence[str | Path]) -> list[Launch]:
        """No launches where ncu reports no values; its exit code alone does not tell."""
        self.said = subprocess.run(
            ["ncu", *selection, *OPTIONS, "--metrics", ",".join(metrics), *map(str, command)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            env={**os.environ, "LC_ALL": "C"}).stdout
        launches = read_report(self.said)
        return launches if any(launch.values for launch in launches) else []

    def last_words(self) -> str:
        return "\n".join(self.said.splitlines()[-8:])


def read_report(text: str) -> list[Launch]:
    """Among other lines, a row of names, one of units and one of values for each launch; a number may have commas."""
    names: list[str] = []
    launches = []
    for row in csv.reader(line for line in text.splitlines() if line.startswith('"')):
        if row[0] == "ID" and "Kernel Name" in row:
            names = row
        elif row[0].isdecimal() and len(row) == len(names):
            fields = {name: value.replace(",", "") for name, value in zip(names, row)}
            # Of `void a::reduce_kernel<int>(const T1 *)` the name alone.
            kernel = re.split("[ :]", re.split("[<(]", fields["Kernel Name"])[0])[-1]
            launches.append(Launch(kernel, {
                name: value for name, value in fields.items()
                if "__" in name and re.fullmatch(r"\d+(\.\d+)?([eE][+-]?\d+)?", value)}))
    return launches
