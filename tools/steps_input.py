"""The input of the steps and its sum, number by number as common/harness/input.hpp and verification.cpp have them."""

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
# Numbers: the arrays of a piece stay in a core's cache.
PIECE = 1 << 17


def over_pieces(work: Callable[[int, int], Any], count: int) -> list[Any]:
    """work(first, end) of every piece of `count` numbers, on all cores: numpy lets other threads run meanwhile."""
    firsts = range(0, count, PIECE)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        return list(threads.map(work, firsts, (min(first + PIECE, count) for first in firsts)))


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

    def fill(first: int, end: int) -> None:
        bits = random_bits(seed, first, end)
        if real.kind == "i":
            numbers[first:end] = (bits >> np.uint64(64 - real.itemsize * 8)).astype(f"u{real}").view(real)
        else:
            numbers[first:end] = (bits >> np.uint64(64 - digits)).astype(real) / real.type(2.0 ** (digits - 1)) - 1

    over_pieces(fill, len(numbers))
    return data


def reference(data: Array, sms: int) -> tuple[list[int] | list[float], float]:
    """The sum, a number per component, modulo 2^32 or 2^64 for integers and in higher precision for reals; and by how
    much a library's may differ."""
    if data.dtype.kind == "i":
        unsigned = np.dtype(f"u{data.dtype}")
        return [int(data.view(unsigned).sum(dtype=unsigned).view(data.dtype))], 0.0
    reals = data.view(data.real.dtype)
    parts = len(reals) // len(data)
    wider, epsilon = (np.float64, 2.0**-24) if reals.dtype == np.float32 else (np.longdouble, 2.0**-53)

    def sums_of(first: int, end: int) -> list[tuple[Any, Any]]:
        """Of each component of a piece its sum, and the sum of its magnitudes."""
        each_part = [reals[first + k:end:parts] for k in range(parts)]
        return [(part.sum(dtype=wider), np.abs(part).sum(dtype=np.float64)) for part in each_part]

    totals = np.array(over_pieces(sums_of, len(reals)), dtype=np.longdouble).sum(axis=0)
    # A library does not say how it adds: threads that fill the device, and trees of 128 additions on top.
    terms = (len(data) // (1024 * sms) + 129) * epsilon
    return [float(exact) for exact, _ in totals], float(totals[:, 1].max()) * terms / (1 - terms)


def error(result: complex, expected: list[int] | list[float]) -> float:
    """The largest of the components' errors, exact for integers; NaN if one is."""
    errors = [abs(part - exact) for part, exact in zip((result.real, result.imag), expected)]
    return max(errors, key=lambda size: (math.isnan(size), size))
