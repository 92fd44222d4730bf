"""What nvcc makes of the kernels is what docs/counters/compiled.json says."""

from collections.abc import Callable

import pytest

from tools import compiled, gpu


def test_nvcc_makes_it_again(need: Callable[[str], str]) -> None:
    need("nvcc")
    if gpu.cuda_version() != compiled.kernels()[0].cuda:
        pytest.skip(f"{compiled.FILE.name} is by nvcc {compiled.kernels()[0].cuda}, and here is {gpu.cuda_version()}")
    assert compiled.made() == compiled.FILE.read_text("utf-8")
