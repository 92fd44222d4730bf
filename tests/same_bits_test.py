"""What SameBits promises: the bits of 500 drawn calls are the same on the emulated device and on GPUs, by whatever
compiler and options. After a change of the order, which is a new version of the header:

build/bin/same_bits_emulated > tests/same_bits/bits.txt
"""

import shutil
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


def test_draws_vary() -> None:
    cases = [line.split() for line in kept()]
    assert [int(number) for number, *_ in cases] == list(range(500))
    assert len({kind for _, kind, *_ in cases}) == 25
    assert {int(start) for *_, start, _ in cases} == set(range(16))
    assert max(int(n) for _, _, n, *_ in cases) > 528 * 8192, "more chunks than a GPU has blocks at once"


@pytest.fixture(scope="module")
def gpu() -> None:
    if shutil.which("nvidia-smi") is None or subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode != 0:
        pytest.skip("there is no GPU here")


@pytest.mark.usefixtures("gpu")
def test_on_a_gpu(bin_folder: Path) -> None:
    assert lines(bin_folder / "same_bits") == kept()
    large = subprocess.run([bin_folder / "same_bits", "--large"], capture_output=True, text=True)
    assert large.returncode == 0, large.stderr


@pytest.mark.usefixtures("gpu")
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
