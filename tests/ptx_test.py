"""What nvcc makes of the kernels is what docs/counters/ptx.json and compiled.json say."""

from collections.abc import Callable

import pytest

from tools import compiled, gpu, nvcc, ptx


@pytest.mark.parametrize("kernels", [ptx.COMPILED, compiled.COMPILED], ids=["ptx", "compiled"])
def test_nvcc_makes_it_again(kernels: "nvcc.CompiledFile[nvcc.Compiled]", need: Callable[[str], str]) -> None:
    need("nvcc")
    if gpu.cuda_version() != kernels.cuda():
        pytest.skip(f"{kernels.file.name} is by nvcc {kernels.cuda()}, and here is {gpu.cuda_version()}")
    assert kernels.made() == kernels.file.read_text(encoding="utf-8")
