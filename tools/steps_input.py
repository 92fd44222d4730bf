"""The input of the steps and its sum, number by number as common/harness/input.hpp and verification.cpp have them."""

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
OfPiece = TypeVar("OfPiece")
# Numbers: the arrays of a piece stay in a core's cache.
PIECE = 1 << 17


def over_pieces(work: Callable[[int, int], OfPiece], count: int) -> list[OfPiece]:
    """work(first, end) of every piece of `count` numbers, on all cores: numpy lets other threads run meanwhile."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        return list(threads.map(lambda first: work(first, min(first + PIECE, count)), range(0, count, PIECE)))


def random_bits(seed: int, first: int, count: int) -> Array:
    """SplitMix64 for the counters first to first + count."""
    counter = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    z = counter * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed * 0xD1342543DE82EF95 % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def components(data: Array) -> Array:
    """The same memory, as numbers that are real: a complex one has two of them."""
    return data.view(data.real.dtype)


def random_input(element_type: str, elements: int, seed: int) -> Array:
    """Integers over their whole range, reals in [-1, 1)."""
    data = np.empty(elements, element_type)
    numbers = components(data)
    real = numbers.dtype

    def fill(first: int, end: int) -> None:
        bits = random_bits(seed, first, end - first)
        if real.kind == "i":
            numbers[first:end] = (bits >> np.uint64(64 - real.itemsize * 8)).astype(f"u{real}").view(real)
        else:
            digits = 24 if real == np.float32 else 53
            numbers[first:end] = (bits >> np.uint64(64 - digits)).astype(real) / real.type(2.0 ** (digits - 1)) - 1

    over_pieces(fill, len(numbers))
    return data


class Reference:
    """The sum of an input: modulo 2^32 or 2^64 for integers, in higher precision for reals."""

    # One number a component.
    expected: list[int] | list[float]
    tolerance: float

    def __init__(self, data: Array, sms: int) -> None:
        if data.dtype.kind == "i":
            unsigned = np.dtype(f"u{data.dtype.name}")
            bits = data.view(unsigned)
            sums: list[Any] = over_pieces(lambda first, end: bits[first:end].sum(dtype=unsigned), len(bits))
            self.expected = [int(np.array(sums, dtype=unsigned).sum(dtype=unsigned).view(data.dtype))]
            self.tolerance = 0.0
            return
        reals = components(data)
        parts = len(reals) // len(data)
        wider = np.float64 if reals.dtype == np.float32 else np.longdouble

        def sums_of(first: int, end: int) -> list[tuple[Any, Any]]:
            """Of each component of a piece its sum, and the sum of its magnitudes."""
            each_part = [reals[first + k:end:parts] for k in range(parts)]
            return [(part.sum(dtype=wider), np.abs(part).sum(dtype=np.float64)) for part in each_part]

        totals = np.array(over_pieces(sums_of, len(reals)), dtype=np.longdouble).sum(axis=0)
        self.expected = [float(exact) for exact, _ in totals]
        # A library does not say how it adds: threads that fill the device, and trees of 128 additions on top.
        terms = (len(data) // (1024 * sms) + 129) * 2.0 ** (-24 if reals.dtype == np.float32 else -53)
        self.tolerance = float(totals[:, 1].max()) * terms / (1 - terms)

    def error(self, result: complex) -> float:
        """The largest of the components' errors, exact for integers; NaN if one is."""
        errors = [abs(part - expected) for part, expected in zip((result.real, result.imag), self.expected)]
        return max(errors, key=lambda error: (math.isnan(error), error))
