"""What SameBits promises: the bits of 500 drawn calls are the same on the emulated device and on GPUs, by whatever
compiler and options. After a change of the order, which is a new version of the header:

build/bin/same_bits_emulated | sha256sum
"""

import hashlib
import subprocess
from pathlib import Path

import pytest

import cuda_compilers
from cuda_compilers import CudaCompiler

FOLDER = Path(__file__).parent / "same_bits"
# Of a line for each call, with the bits of its result.
DIGEST = "11a57e02fa9ee8621a470a23530fa26073189402a60e1fe935a509f097a2f121"
# An order of the instructions, of the loads or of the roundings that is not the usual one.
OPTIONS = {"as usual": ["-O3"], "unoptimised": ["-O0"], "with fast math": ["-O3", "--use_fast_math"],
           "without contraction": ["-O3", "-fmad=false"]}


def digest_of(program: Path) -> str:
    """Of its lines. It compares each result with a loop's on the host, too, and names one that differs."""
    ran = subprocess.run([program], capture_output=True)
    assert ran.returncode == 0, ran.stderr
    return hashlib.sha256(ran.stdout).hexdigest()


def test_emulated_device(bin_folder: Path) -> None:
    assert digest_of(bin_folder / "same_bits_emulated") == DIGEST


@pytest.mark.usefixtures("gpus")
def test_on_a_gpu(bin_folder: Path) -> None:
    assert digest_of(bin_folder / "same_bits") == DIGEST
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
    assert digest_of(program) == DIGEST
