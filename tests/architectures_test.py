"""All programs, compiled for every architecture that nvcc knows, with warnings as errors; .ci/run has two of these."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from tools.command_line import REPOSITORY


def test_all_programs_compile_for_every_architecture(need: Callable[[str], str], tmp_path: Path) -> None:
    need("nvcc")
    options = ["-DREDUCTION_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=all", "-DREDUCTION_BUILD_TESTS=OFF"]
    for command in (["cmake", "--preset", "ci", "-B", str(tmp_path), *options],
                    ["cmake", "--build", str(tmp_path), "--parallel", str(os.cpu_count())]):
        ran = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert ran.returncode == 0, ran.stdout
