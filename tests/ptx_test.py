"""What nvcc makes of 05 and 06 is what docs/counters/ptx.json says."""

from collections.abc import Callable

import pytest

from tools import gpu, ptx


def test_nvcc_makes_it_again(need: Callable[[str], str]) -> None:
    need("nvcc")
    by = ptx.read().cuda
    if gpu.cuda_version() != by:
        pytest.skip(f"docs/counters/ptx.json is by nvcc {by}, and here is {gpu.cuda_version()}")
    assert ptx.written_text(ptx.compile_steps()) == ptx.FILE.read_text(encoding="utf-8")
