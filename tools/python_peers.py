"""Times the sums of torch, cupy or jax by the method of the steps (sample_clock.py), on the library's own stream.
`compare` runs it in a process for each library, since one may keep the memory that it once had:

  python3 -m tools.python_peers LIBRARY SIZES TYPES SAMPLES FILE

The input is the steps' numbers; the reference is summed on the host, with numpy's widest type. Before each sample the
library sums a buffer of twice the L2's size, which empties the cache. Its memory comes from its own pool, which the
runs that are not timed fill. `dtype` is given: torch and jax choose a type themselves for sums of 32-bit integers.
"""

import ctypes
import dataclasses
import importlib
import itertools
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

from tools import output_file, results, steps_input
from tools.command_line import ElementType, ExitCode, NotPossible, say
from tools.markdown import count_text
from tools.results import Device, Milliseconds, Number, Result, Timing, Value
from tools.sample_clock import LEAD_IN, SampleClock
from tools.steps_input import Array

WARM_UP_RUNS = 3
TIMING = Timing(flush="read", warm_up=WARM_UP_RUNS, queued=True, lead_in=LEAD_IN)
# The steps' own, when they are given none.
SEED = 1


def main(words: list[str]) -> int:
    """Writes FILE after each sum. What cannot be measured is a line on stderr."""
    name, sizes, types, samples, file = words
    try:
        library, device = LIBRARIES[name](), first_gpu()
    except ModuleNotFoundError as error:
        say(f"not installed: {error.name}")
        return ExitCode.NOT_POSSIBLE
    # What an installation that does not fit this machine raises may be anything.
    except Exception as error:
        say(f"not usable: {name}: {first_line(error)}")
        return ExitCode.NOT_POSSIBLE
    measured: list[object] = []
    for element_type, elements in itertools.product(types.split(","), map(int, sizes.split(","))):
        # What does not fit, or cannot be timed, keeps nothing else from being measured. Libraries raise what they
        # like, out of memory above all.
        try:
            result = measure(name, library, element_type, elements, int(samples), device)
        except Exception as error:
            say(f"not measured: {name}, {count_text(elements)} {element_type}: {first_line(error)}")
            continue
        # As a step that has one variant.
        measured.append({key: value for key, value in dataclasses.asdict(result).items()
                         if key not in ("variant", "other_variants")})
        # Each time: a library may also end the process.
        output_file.write(Path(file), results.to_text(measured))
    return ExitCode.DONE


def first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def first_gpu() -> Device:
    """What the steps' JSON says of it, by the driver's own interface. Throws NotPossible where CUDA sees none."""
    driver = ctypes.CDLL("libcuda.so.1")
    ordinal = ctypes.c_int()
    if driver.cuInit(0) != 0 or driver.cuDeviceGet(ctypes.byref(ordinal), 0) != 0:
        raise NotPossible("the driver lists no GPU")

    def attribute(number: int) -> int:
        value = ctypes.c_int()
        driver.cuDeviceGetAttribute(ctypes.byref(value), number, ordinal)
        return value.value

    name = ctypes.create_string_buffer(256)
    driver.cuDeviceGetName(name, len(name), ordinal)
    # CU_DEVICE_ATTRIBUTE_... MEMORY_CLOCK_RATE in kHz and GLOBAL_MEMORY_BUS_WIDTH in bits: two transfers a clock.
    peak = attribute(36) * 1e3 * attribute(37) * 2 / 8 / 1e9
    return Device(
        kind="cuda", name=name.value.decode(),
        compute_capability=f"{attribute(75)}.{attribute(76)}",  # COMPUTE_CAPABILITY_MAJOR and _MINOR
        sms=attribute(16),  # MULTIPROCESSOR_COUNT
        l2_bytes=attribute(38),  # L2_CACHE_SIZE
        peak_gbps=peak or None)


# ---- the libraries: each puts the input on the device, empties the L2, and sums ----


@dataclasses.dataclass
class Library:
    """It is asked for its sum while the device is held."""

    module: Any
    title: str
    to_device: Callable[[Array], Any]
    zeros: Callable[[int], Any]  # so many int32 on the device
    read: Callable[[Any], object]
    stream: Callable[[], int]
    free: Callable[[], object]
    clock: SampleClock = dataclasses.field(default_factory=SampleClock)
    data: Any = None
    buffer: Any = None

    def prepare(self, data: Array, flush_bytes: int) -> None:
        self.data = self.to_device(data)
        self.buffer = self.zeros(flush_bytes // 4)

    def sum(self) -> Any:
        return self.module.sum(self.data, dtype=self.data.dtype)

    def timed_sum(self) -> Any:
        stream = self.stream()
        self.clock.start(stream)
        result = self.sum()
        self.clock.stop(stream)
        return result

    def sample(self) -> tuple[float, Any]:
        """Milliseconds, and the sum, which is on the device."""
        for _ in range(2):  # the host may have been busy, once
            self.read(self.buffer)
            result = self.timed_sum()
            ms = self.clock.ms()
            if ms is not None:
                return ms, result
        raise RuntimeError("the device waited in vain for all of the sum to be queued, twice in a row")

    def release(self) -> None:
        self.data = self.buffer = None
        self.free()


def open_torch() -> Library:
    torch = importlib.import_module("torch")
    if not torch.cuda.is_available():
        raise NotPossible("it was built without CUDA, or sees no GPU")
    return Library(
        torch, "torch.sum", to_device=lambda data: torch.from_numpy(data).cuda(),
        zeros=lambda count: torch.zeros(count, dtype=torch.int32, device="cuda"), read=lambda buffer: buffer.sum(),
        stream=lambda: int(torch.cuda.current_stream().cuda_stream), free=torch.cuda.empty_cache)


def open_cupy() -> Library:
    cupy = importlib.import_module("cupy")
    if not cupy.cuda.is_available():
        raise NotPossible("it sees no GPU")
    return Library(
        cupy, "cupy.sum", to_device=cupy.asarray, zeros=lambda count: cupy.zeros(count, dtype="int32"),
        # Without dtype as int64, by a kernel to be compiled first.
        read=lambda buffer: cupy.sum(buffer, dtype=buffer.dtype),
        stream=lambda: int(cupy.cuda.get_current_stream().ptr),
        free=lambda: cupy.get_default_memory_pool().free_all_blocks())


class Jax(Library):
    """Only what XLA itself calls knows its stream, and is in order with its kernels. So the compiled program calls the
    clock, once before the sum and once behind it. The sum between is compiled to the same kernels as jnp.sum alone."""

    def __init__(self) -> None:
        # Else it takes three quarters of the GPU's memory at once, and looks for TPUs.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        os.environ.setdefault("JAX_PLATFORMS", "cuda")
        jax = importlib.import_module("jax")
        jax.config.update("jax_enable_x64", True)
        if jax.default_backend() != "gpu":
            raise NotPossible("it was installed without CUDA, or sees no GPU")
        jnp = jax.numpy
        jitted_sum = jax.jit(lambda data: jnp.sum(data, dtype=data.dtype))
        super().__init__(
            jax, "jax.numpy.sum", to_device=jax.device_put, zeros=lambda count: jnp.zeros(count, dtype="int32"),
            read=jitted_sum, stream=lambda: 0, free=lambda: None)
        self.jitted_sum = jitted_sum
        buffer_callback = importlib.import_module("jax.experimental.buffer_callback").buffer_callback

        def passing_on(call: Callable[[int], None], array: Any) -> Any:
            """The array itself, after the call. What takes it comes behind the call, what makes it before."""
            return buffer_callback(
                lambda context, *_: call(context.stream), jax.ShapeDtypeStruct(array.shape, array.dtype),
                has_side_effect=True, input_output_aliases={0: 0})(array)

        def timed(data: Any) -> tuple[Any, Any]:
            data = passing_on(self.clock.start, data)
            return data, passing_on(self.clock.stop, jnp.sum(data, dtype=data.dtype))

        # Given away and returned, the input is not copied for the call that it passes through.
        self.jitted_timed = jax.jit(timed, donate_argnums=0)

    def sum(self) -> Any:
        return self.jitted_sum(self.data)

    def timed_sum(self) -> Any:
        self.data, result = self.jitted_timed(self.data)
        result.block_until_ready()
        return result


LIBRARIES: dict[str, Callable[[], Library]] = {"torch": open_torch, "cupy": open_cupy, "jax": Jax}


# ---- measuring ----


def measure(name: str, library: Library, element_type: str, elements: int, samples: int, device: Device) -> Result:
    """Throws what a library throws, and RuntimeError where there is no time to believe."""
    data = steps_input.random_input(element_type, elements, SEED)
    expected, tolerance = steps_input.reference(data, device.sms or 1)
    try:
        library.prepare(data, 2 * (device.l2_bytes or 0))
        began = time.perf_counter()
        library.sum().item()
        first_run_ms = (time.perf_counter() - began) * 1e3
        times, result = take_samples(library, samples)
    finally:
        library.release()
    ms = summary(times)
    gbps = data.nbytes / ms.median / 1e6
    if device.peak_gbps and gbps > device.peak_gbps:
        raise RuntimeError(f"{gbps:.1f} GB/s is more than this device can move: the time is wrong")
    error = steps_input.error(result, expected)
    return Result(
        step=f"peer_{name}", title=library.title, device=device, type=cast(ElementType, element_type),
        elements=elements, block=None, grid=None, samples=samples, ms=ms, first_run_ms=first_run_ms,
        timing=TIMING, gbps=gbps, percent_of_peak=gbps / device.peak_gbps * 100 if device.peak_gbps else None,
        result=value_of([result.real, result.imag][:len(expected)]), expected=value_of(expected),
        error=number_or_text(error), tolerance=tolerance, verified=error <= tolerance,  # NaN is not
        data="random", seed=SEED, version=f"{name} {library.module.__version__}", passes=[], counters=None)


def take_samples(library: Library, count: int) -> tuple[list[float], Any]:
    """Milliseconds, and the last sum, which is no longer on the device."""
    for _ in range(WARM_UP_RUNS):
        library.sample()
    times: list[float] = []
    for _ in range(count):
        ms, result = library.sample()
        times.append(ms)
    return times, result.item()


def summary(times: list[float]) -> Milliseconds:
    p5, median, p95 = map(float, np.quantile(times, [0.05, 0.5, 0.95]))
    return Milliseconds(median=median, p5=p5, p95=p95, min=min(times))


def value_of(parts: list[Any]) -> Value:
    numbers = [number_or_text(part) for part in parts]
    return numbers if len(numbers) > 1 else numbers[0]


def number_or_text(number: int | float) -> Number:
    """As the steps' JSON has it: text for integers beyond 2^53, and for what is not finite."""
    exact = abs(number) <= 2**53 if isinstance(number, int) else math.isfinite(number)
    return number if exact else str(number)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
