"""The steps and CUB, compiled for every architecture that nvcc and the steps know; .ci/run has one of these."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from tools import gpu
from tools.command_line import REPOSITORY

OLDEST = 75  # of the header of beyond/12_any_operation


def test_the_ladder_compiles_for_every_architecture(need: Callable[[str], str], tmp_path: Path) -> None:
    known = re.findall(r"compute_(\d+)", gpu.said(need("nvcc"), "--list-gpu-arch"))
    architectures = ";".join(each for each in known if int(each) >= OLDEST)
    assert architectures.count(";") > 3, known
    options = ["-DREDUCTION_CUDA=ON", f"-DCMAKE_CUDA_ARCHITECTURES={architectures}", "-DREDUCTION_BUILD_TESTS=OFF"]
    for command in (["cmake", "--preset", "ci", "-B", str(tmp_path), *options],
                    ["cmake", "--build", str(tmp_path), "--parallel", str(os.cpu_count())]):
        ran = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert ran.returncode == 0, ran.stdout
