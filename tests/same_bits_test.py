"""What SameBits promises: the bits of 500 drawn calls are the same on the emulated device and on GPUs, by whatever
compiler and options. After a change of the order, which is a new version of the header:

build/bin/same_bits_emulated > tests/same_bits/bits.txt
"""

import subprocess
from pathlib import Path

import pytest

import cuda_compilers
from cuda_compilers import CudaCompiler

FOLDER = Path(__file__).parent / "same_bits"
# An order of the instructions, of the loads or of the roundings that is not the usual one.
OPTIONS = {"as usual": ["-O3"], "unoptimised": ["-O0"], "with fast math": ["-O3", "--use_fast_math"],
           "without contraction": ["-O3", "-fmad=false"]}


def lines(program: Path) -> list[str]:
    """It compares each result with a loop's on the host, too."""
    ran = subprocess.run([program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def kept() -> list[str]:
    return (FOLDER / "bits.txt").read_text().splitlines()


def test_emulated_device(bin_folder: Path) -> None:
    assert lines(bin_folder / "same_bits_emulated") == kept()


@pytest.mark.usefixtures("gpus")
def test_on_a_gpu(bin_folder: Path) -> None:
    assert lines(bin_folder / "same_bits") == kept()
    large = subprocess.run([bin_folder / "same_bits", "--large"], capture_output=True, text=True)
    assert large.returncode == 0, large.stderr


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize("options", OPTIONS)
@cuda_compilers.each()
def test_on_a_gpu_by(compiler: CudaCompiler, options: str, tmp_path: Path) -> None:
    chosen = OPTIONS[options]
    if compiler.is_clang:
        of_clang = {"--use_fast_math": "-fgpu-flush-denormals-to-zero", "-fmad=false": "-ffp-contract=off"}
        chosen = [of_clang.get(option, option) for option in chosen]
    object_file = tmp_path / "main.o"
    program = tmp_path / "same_bits"
    subprocess.run([*compiler.command("90"), *chosen, "-c", FOLDER / "main.cu", "-o", object_file], check=True)
    subprocess.run([cuda_compilers.found()[0].program, object_file, "-o", program], check=True)
    assert lines(program) == kept()
