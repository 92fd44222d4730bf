"""Times the sums of torch, cupy or jax by the method of the steps (sample_clock.py), on the library's own stream.
`compare` runs it in a process for each library, since one may keep the memory that it once had:

  python3 -m tools.python_peers LIBRARY LIKE FILE

Sizes, types, the number of samples and the tolerance are those of the results of CUB in the file LIKE, whose input has
other random numbers. Before each sample the library sums a buffer larger than the L2, which empties the cache. Its
memory comes from its own pool, which the runs that are not timed fill. `dtype` is given: torch and jax choose a type
themselves for sums of 32-bit integers. Types of 16 bits are summed in float32, as the header of 12_any_operation does.
"""

import dataclasses
import importlib
import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools import output_file, results
from tools.command_line import SMALL_TYPES, ExitCode, NotPossible, say
from tools.markdown import count_text
from tools.sample_clock import L2_SIZES_FLUSHED, LEAD_IN, SampleClock

Array = NDArray[Any]
WARM_UP_RUNS = 3
TIMING = {"flush": "read", "warm_up": WARM_UP_RUNS, "queued": True, "lead_in": LEAD_IN}


def main(words: list[str]) -> int:
    """Writes FILE after each sum. What cannot be measured is a line on stderr."""
    name, like_file, file = words
    try:
        library = LIBRARIES[name]()
    # It may not be there, and what an installation that does not fit this machine raises may be anything.
    except Exception as error:
        say(f"not usable: {name}: {first_line(error)}")
        return ExitCode.NOT_POSSIBLE
    measured: list[object] = []
    for like in json.loads(Path(like_file).read_text("utf-8")):
        if like["step"] != "peer_cub":
            continue
        # What does not fit, or cannot be timed, keeps nothing else from being measured. Libraries raise what they
        # like, out of memory above all.
        try:
            measured.append(like | measure(library, like) | {
                "step": f"peer_{name}", "version": f"{name} {library.module.__version__}"})
        except Exception as error:
            say(f"not measured: {name}, {count_text(like['elements'])} {like['type']}: {first_line(error)}")
            continue
        # Each time: a library may also end the process.
        output_file.write(Path(file), results.to_text(measured))
    return ExitCode.DONE


def first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


# ---- the libraries: each puts the input on the device, empties the L2, and sums ----


def sum_all(module: Any, data: Any) -> Any:
    return module.sum(data, dtype=module.float32 if data.dtype.itemsize == 2 else data.dtype)


# What a library is timed with: of its module and an array.
Reduce = Callable[[Any, Any], Any]


@dataclasses.dataclass
class Library:
    """It is asked for its sum, or for what else `reduce` asks it for, while the device is held."""

    module: Any
    title: str
    reduce: Reduce
    to_device: Callable[[Array], Any]
    zeros: Callable[[int], Any]  # so many int32 on the device
    read: Callable[[Any], object]
    stream: Callable[[], int]
    free: Callable[[], object]
    cast: Callable[[Any, str], Any] = lambda data, element_type: data.astype(element_type)
    clock: SampleClock = dataclasses.field(default_factory=SampleClock)
    data: Any = None
    buffer: Any = None

    def sum(self) -> Any:
        return self.reduce(self.module, self.data)

    def timed_sum(self) -> Any:
        stream = self.stream()
        self.clock.start(stream)
        result = self.sum()
        self.clock.stop(stream)
        return result

    def sample(self) -> tuple[float, Any]:
        """Milliseconds, and the sum, which is on the device."""
        for _ in range(2):  # the host may have been busy, once
            self.clock.driver.cuCtxResetPersistingL2Cache()  # an older device has no such lines, and says so
            self.read(self.buffer)
            result = self.timed_sum()
            ms = self.clock.ms()
            if ms is not None:
                return ms, result
        raise RuntimeError("the device waited in vain for all of the sum to be queued, twice in a row")


def open_torch(reduce: Reduce = sum_all) -> Library:
    torch = importlib.import_module("torch")
    if not torch.cuda.is_available():
        raise NotPossible("it was built without CUDA, or sees no GPU")
    return Library(
        torch, "torch.sum", reduce, to_device=lambda data: torch.from_numpy(data).cuda(),
        zeros=lambda count: torch.zeros(count, dtype=torch.int32, device="cuda"), read=lambda buffer: buffer.sum(),
        stream=lambda: int(torch.cuda.current_stream().cuda_stream), free=torch.cuda.empty_cache,
        cast=lambda data, element_type: data.to(getattr(torch, element_type)))


def open_cupy(reduce: Reduce = sum_all) -> Library:
    cupy = importlib.import_module("cupy")
    if not cupy.cuda.is_available():
        raise NotPossible("it sees no GPU")
    return Library(
        cupy, "cupy.sum", reduce, to_device=cupy.asarray, zeros=lambda count: cupy.zeros(count, dtype="int32"),
        # Without dtype as int64, by a kernel to be compiled first.
        read=lambda buffer: cupy.sum(buffer, dtype=buffer.dtype),
        stream=lambda: int(cupy.cuda.get_current_stream().ptr),
        free=lambda: cupy.get_default_memory_pool().free_all_blocks())


class Jax(Library):
    """Only what XLA itself calls knows its stream, and is in order with its kernels. So the compiled program calls the
    clock, once before the sum and once behind it. The sum between is compiled to the same kernels as jnp.sum alone."""

    def __init__(self, reduce: Reduce = sum_all) -> None:
        # Else it takes three quarters of the GPU's memory at once, and looks for TPUs.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        os.environ.setdefault("JAX_PLATFORMS", "cuda")
        jax = importlib.import_module("jax")
        jax.config.update("jax_enable_x64", True)
        if jax.default_backend() != "gpu":
            raise NotPossible("it was installed without CUDA, or sees no GPU")
        jnp = jax.numpy
        jitted_sum = jax.jit(lambda data: reduce(jnp, data))
        super().__init__(
            jax, "jax.numpy.sum", reduce, to_device=jax.device_put, zeros=lambda count: jnp.zeros(count, dtype="int32"),
            read=jax.jit(lambda buffer: sum_all(jnp, buffer)), stream=lambda: 0, free=lambda: None)
        self.jitted_sum = jitted_sum
        buffer_callback = importlib.import_module("jax.experimental.buffer_callback").buffer_callback

        def passing_on(call: Callable[[int], None], array: Any) -> Any:
            """The array itself, after the call. What takes it comes behind the call, what makes it before."""
            return buffer_callback(
                lambda context, *_: call(context.stream), jax.ShapeDtypeStruct(array.shape, array.dtype),
                has_side_effect=True, input_output_aliases={0: 0})(array)

        def timed(data: Any) -> tuple[Any, Any]:
            data = passing_on(self.clock.start, data)
            return data, passing_on(self.clock.stop, reduce(jnp, data))

        # Given away and returned, the input is not copied for the call that it passes through.
        self.jitted_timed = jax.jit(timed, donate_argnums=0)

    def sum(self) -> Any:
        return self.jitted_sum(self.data)

    def timed_sum(self) -> Any:
        self.data, result = self.jitted_timed(self.data)
        result.block_until_ready()
        return result


LIBRARIES: dict[str, Callable[..., Library]] = {"torch": open_torch, "cupy": open_cupy, "jax": Jax}


# ---- measuring ----


def random_input(element_type: str, elements: int) -> Array:
    """Integers over their whole range, reals in [-1, 1), as the steps' are. What is cast to 16 bits is small and whole,
    with exact sums, as the input of 12_against_cub."""
    random = np.random.default_rng(1)
    if element_type in SMALL_TYPES:
        return random.integers(-8, 8, elements, "int8", endpoint=True).astype("float32")
    kind = np.dtype(element_type)
    if kind.kind in "iu":
        return random.integers(np.iinfo(kind).min, np.iinfo(kind).max, elements, kind, endpoint=True)
    real: np.dtype[Any] = kind.type().real.dtype  # a complex number is two of them
    data = random.random(elements * kind.itemsize // real.itemsize).astype(real)
    return (2 * data - 1).view(kind)


def measure(library: Library, like: dict[str, Any]) -> dict[str, object]:
    """What is otherwise than in CUB's result. Throws what a library throws, and RuntimeError where there is no time to
    believe."""
    device = like["device"]
    data = random_input(like["type"], like["elements"])
    try:
        library.data = library.to_device(data)
        if like["type"] in SMALL_TYPES:
            library.data = library.cast(library.data, like["type"])
        size = library.data.nbytes
        library.buffer = library.zeros(L2_SIZES_FLUSHED * device["l2_bytes"] // 4)
        library.sum()
        for _ in range(WARM_UP_RUNS):
            library.sample()
        times, sums = zip(*(library.sample() for _ in range(like["samples"])))
        result = sums[-1].item()
    finally:
        library.data = library.buffer = None
        library.free()
    p5, median, p95 = map(float, np.quantile(times, [0.05, 0.5, 0.95]))
    gbps, peak = size / median / 1e6, device["peak_gbps"] or math.inf
    if gbps > peak:
        raise RuntimeError(f"{gbps:.1f} GB/s is more than this device can move: the time is wrong")
    # Of more digits than it is compared with; integers wrap round.
    exact: dict[str, Any] = {"i": data.dtype, "f": np.longdouble, "c": np.clongdouble}
    expected = data.sum(dtype=exact[data.dtype.kind]).item()
    error = float(abs(result - expected))
    return {"title": library.title, "ms": {"median": median, "p5": p5, "p95": p95, "min": min(times)},
            "first_run_ms": None, "timing": TIMING, "gbps": gbps, "percent_of_peak": gbps / peak * 100 or None,
            # Text: JSON has neither a complex number nor all integers.
            "result": str(result), "expected": str(expected), "error": error if math.isfinite(error) else str(error),
            "verified": error <= like["tolerance"]}  # NaN is not


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
