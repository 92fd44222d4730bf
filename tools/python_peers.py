"""Times the sums of torch, cupy or jax by the method of the steps; beyond/peers/README.md says how. `compare` runs it
in a process for each library:

  python3 -m tools.python_peers LIBRARY SIZES TYPES SAMPLES FILE
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
from tools.steps_input import Array

# Reading the buffer this often keeps the device busy for longer than the host takes to queue a sum.
READS = 16
# What a sample of many sums takes at least: the host's clock and its waking up are off by some hundredths of this.
SAMPLE_MS = 10
# Copies of the input at most. Where emptying the cache takes more, the sums are quicker than the host can ask for them.
MOST_COPIES = 500
WARM_UP_RUNS = 3
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
class WithEvents:
    """A library whose device has events, and which is asked for its sum while the device is busy with readings."""

    module: Any
    title: str
    to_device: Callable[[Array], Any]
    zeros: Callable[[int], Any]  # so many int32 on the device
    read: Callable[[Any], object]
    event: Callable[[], Any]
    ms_between: Callable[[Any, Any], Any]
    free: Callable[[], object]
    data: Any = None
    buffer: Any = None
    timing = Timing(flush="read", warm_up=WARM_UP_RUNS, queued=True, lead_in=0)

    def prepare(self, data: Array, flush_bytes: int) -> None:
        self.data = self.to_device(data)
        self.buffer = self.zeros(flush_bytes // 4)

    def sum(self) -> Any:
        return self.module.sum(self.data, dtype=self.data.dtype)

    def sample(self) -> tuple[float, Any]:
        """Milliseconds, and the sum, which is on the device."""
        start, stop = self.event(), self.event()
        for _ in range(READS):
            self.read(self.buffer)
        start.record()
        result = self.sum()
        stop.record()
        stop.synchronize()
        return float(self.ms_between(start, stop)), result

    def waits_for_host(self) -> bool:
        return False

    def release(self) -> None:
        self.data = self.buffer = None
        self.free()


def open_torch() -> WithEvents:
    torch = importlib.import_module("torch")
    if not torch.cuda.is_available():
        raise NotPossible("it was built without CUDA, or sees no GPU")
    return WithEvents(
        torch, "torch.sum", to_device=lambda data: torch.from_numpy(data).cuda(),
        zeros=lambda count: torch.zeros(count, dtype=torch.int32, device="cuda"), read=lambda buffer: buffer.sum(),
        event=lambda: torch.cuda.Event(enable_timing=True), ms_between=lambda start, stop: start.elapsed_time(stop),
        free=torch.cuda.empty_cache)


def open_cupy() -> WithEvents:
    cupy = importlib.import_module("cupy")
    if not cupy.cuda.is_available():
        raise NotPossible("it sees no GPU")
    return WithEvents(
        cupy, "cupy.sum", to_device=cupy.asarray, zeros=lambda count: cupy.zeros(count, dtype="int32"),
        # Without dtype as int64, by a kernel to be compiled first.
        read=lambda buffer: cupy.sum(buffer, dtype=buffer.dtype),
        event=cupy.cuda.Event, ms_between=cupy.cuda.get_elapsed_time,
        free=lambda: cupy.get_default_memory_pool().free_all_blocks())


class Jax:
    title = "jax.numpy.sum"
    timing = None  # no way of the steps

    def __init__(self) -> None:
        # Else it takes three quarters of the GPU's memory at once, and looks for TPUs.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        os.environ.setdefault("JAX_PLATFORMS", "cuda")
        self.module = importlib.import_module("jax")
        self.module.config.update("jax_enable_x64", True)
        if self.module.default_backend() != "gpu":
            raise NotPossible("it was installed without CUDA, or sees no GPU")
        jnp = self.module.numpy
        self.jitted_sum = self.module.jit(lambda data: jnp.sum(data, dtype=data.dtype))
        self.copies: list[Any] = []
        self.sums = 0  # of a sample
        self.asking: list[float] = []  # parts of a sum's time that asking for it took

    def prepare(self, data: Array, flush_bytes: int) -> None:
        # Between two sums of one copy, those of all others empty the cache.
        copies = 1 + math.ceil(flush_bytes / max(1, data.nbytes))
        self.copies = [self.module.device_put(data) for _ in range(min(copies, MOST_COPIES))]
        self.sums = len(self.copies)
        self.sample()  # which compiles it
        ms, _ = self.sample()
        self.sums = max(self.sums, math.ceil(SAMPLE_MS / max(ms, 1e-3)))
        self.asking = []

    def sum(self) -> Any:
        return self.jitted_sum(self.copies[0])

    def sample(self) -> tuple[float, Any]:
        """The host's time of as many sums as take some milliseconds, one behind the other, over their number."""
        self.module.block_until_ready(self.copies)
        # Only the first: with some dozens of sums ahead, asking for one more waits for the device.
        first = min(16, self.sums)
        began = time.perf_counter()
        for k in range(self.sums):
            result = self.jitted_sum(self.copies[k % len(self.copies)])
            if k + 1 == first:
                asking = (time.perf_counter() - began) / first
        result.block_until_ready()
        seconds = (time.perf_counter() - began) / self.sums
        self.asking.append(asking / seconds)
        return seconds * 1e3, result

    def waits_for_host(self) -> bool:
        """Whether asking for a sum took about as long as a sum did."""
        return summary(self.asking).median > 0.8

    def release(self) -> None:
        for array in self.copies:
            array.delete()
        self.copies = []


Library = WithEvents | Jax
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
    if library.waits_for_host():
        raise RuntimeError("the host takes as long to ask for a sum as the sum takes")
    ms = summary(times)
    gbps = data.nbytes / ms.median / 1e6
    if device.peak_gbps and gbps > device.peak_gbps:
        raise RuntimeError(f"{gbps:.1f} GB/s is more than this device can move: the time is wrong")
    error = steps_input.error(result, expected)
    return Result(
        step=f"peer_{name}", title=library.title, device=device, type=cast(ElementType, element_type),
        elements=elements, block=None, grid=None, samples=samples, ms=ms, first_run_ms=first_run_ms,
        timing=library.timing, gbps=gbps, percent_of_peak=gbps / device.peak_gbps * 100 if device.peak_gbps else None,
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
