"""A driver or a GPU that fails: one line, exit code 3, and nothing left running. What cannot be had without changing
a machine's settings is simulated by gpu_faults/faulty_driver.cpp, which stands in for the driver's library."""

import ctypes
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

STEP = "03_sequential"


@pytest.fixture(scope="module")
def faulty_driver(bin_folder: Path) -> Path:
    folder = bin_folder / "faulty_driver"
    return folder if folder.exists() else pytest.skip("a build without CUDA asks no driver")


@pytest.fixture(scope="module")
def real_driver(gpus: int) -> Path:
    """The driver's library."""
    ctypes.CDLL("libcuda.so.1")
    [path, *_] = re.findall(r"(/\S*libcuda\.so\S*)", Path("/proc/self/maps").read_text())
    return Path(path)


def run(program: Path, *words: str, **variables: str) -> tuple[int, str]:
    """Its exit code, and the one line that it says; with 3 there is nothing else."""
    ran = subprocess.run([program, *words], capture_output=True, text=True, timeout=60, check=False,
                         env=os.environ | variables)
    assert ran.stderr.count("\n") == 1 and ran.stderr.startswith(f"{program.name}: error: "), ran.stderr
    return ran.returncode, ran.stderr


# ---- simulated, also without a GPU ----


@pytest.mark.parametrize("version, fault, said", [
    ("12090", "", "driver version is insufficient"),  # older than the toolkit
    ("11000", "", "driver version is insufficient"),
    ("13000", "cuInit=100", "no CUDA-capable device"),
    ("13000", "cuInit=803", "unsupported display driver / cuda driver combination"),
    ("13000", "cuInit=46", "busy or unavailable"),
    ("13000", "cuInit=999", "unknown error"),
])
def test_simulated_driver(faulty_driver: Path, bin_folder: Path, version: str, fault: str, said: str) -> None:
    variables = {"LD_LIBRARY_PATH": str(faulty_driver), "REDUCTION_DRIVER_VERSION": version, "REDUCTION_FAULT": fault}
    code, line = run(bin_folder / STEP, "--device", "cuda", **variables)
    assert code == 3 and said in line
    # Left the choice, a step takes the emulated device and says why.
    ran = subprocess.run([bin_folder / STEP, "-n", "1000"], capture_output=True, text=True, check=True,
                         env=os.environ | variables)
    assert re.search(rf"^note +no CUDA device here: .*{said}", ran.stdout, re.MULTILINE) and ran.stderr == ""


# ---- on a GPU ----


@pytest.mark.parametrize("fault, said", [
    ("cuMemAlloc=2", "a buffer needs"),  # another process was faster, after the check
    ("cuDevicePrimaryCtxRetain=46", "busy or unavailable"),  # another process has it, in exclusive mode
])
def test_simulated_fault_of_a_gpu(faulty_driver: Path, real_driver: Path, bin_folder: Path, fault: str, said: str
                                  ) -> None:
    code, line = run(bin_folder / STEP, "--device", "cuda", "-q", LD_LIBRARY_PATH=str(faulty_driver),
                     REDUCTION_DRIVER=str(real_driver), REDUCTION_FAULT=fault)
    assert code == 3 and said in line


@pytest.mark.parametrize("visible", ["", "7", "-1", "GPU-00000000", "MIG-00000000-0000-0000-0000-000000000000"])
def test_no_visible_device(real_driver: Path, bin_folder: Path, visible: str) -> None:
    code, line = run(bin_folder / STEP, "--device", "cuda", CUDA_VISIBLE_DEVICES=visible)
    assert code == 3 and "no CUDA device: " in line


def test_a_kernel_that_traps(real_driver: Path, bin_folder: Path) -> None:
    code, line = run(bin_folder / "faulty_kernel", "-n", "1", "-q", "--device", "cuda")
    assert code == 3 and "running the kernels: " in line
    code, line = run(bin_folder / "faulty_kernel", "-n", "1025", "-q", "--device", "cuda", "--sweep", "block")
    assert code == 3 and "running the kernels: " in line


@pytest.mark.parametrize("options", [[], ["--sweep", "block"]], ids=["run", "sweep"])
def test_ctrl_c_ends_a_kernel_that_never_ends(real_driver: Path, bin_folder: Path, options: list[str]) -> None:
    with subprocess.Popen([bin_folder / "faulty_kernel", "-n", "2", "--device", "cuda", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as step:
        assert step.stdout
        while not step.stdout.readline().startswith("device"):
            assert step.poll() is None
        time.sleep(2)
        for _ in ["", *options[:1]]:  # a sweep would end after the result at hand, and takes another one
            step.send_signal(signal.SIGINT)
            time.sleep(0.5)
        assert step.wait(timeout=20) == -signal.SIGINT
    running = subprocess.run(["nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader"], capture_output=True,
                             text=True, check=True).stdout.split()
    assert str(step.pid) not in running
    # The GPU is as before.
    assert subprocess.run([bin_folder / STEP, "--device", "cuda", "-n", "1000", "-q"], check=False).returncode == 0
