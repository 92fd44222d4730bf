"""The input of the steps, number by number as common/harness/input.hpp has it."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
# Numbers: the arrays of a piece stay in a core's cache.
PIECE = 1 << 17


def random_bits(seed: int, first: int, end: int) -> Array:
    """SplitMix64 for these counters."""
    counter = np.arange(first + 1, end + 1, dtype=np.uint64)
    z = counter * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed * 0xD1342543DE82EF95 % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def random_input(element_type: str, elements: int, seed: int) -> Array:
    """Integers over their whole range, reals in [-1, 1)."""
    data = np.empty(elements, element_type)
    # The same memory: a complex number is two real ones.
    numbers = data.view(data.real.dtype)
    real = numbers.dtype
    digits = 24 if real == np.float32 else 53

    def fill(first: int) -> None:
        end = min(first + PIECE, len(numbers))
        bits = random_bits(seed, first, end)
        if real.kind == "i":
            numbers[first:end] = (bits >> np.uint64(64 - real.itemsize * 8)).astype(f"u{real}").view(real)
        else:
            numbers[first:end] = (bits >> np.uint64(64 - digits)).astype(real) / real.type(2.0 ** (digits - 1)) - 1

    # numpy lets other threads run meanwhile.
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        list(threads.map(fill, range(0, len(numbers), PIECE)))
    return data
