"""Times the sums of torch, cupy and jax, where they are installed, by the method of the steps.

The input is the steps' own, number by number, and the sum stays on the device. torch and cupy are timed with CUDA
events: before each sample a buffer of twice the L2's size is read, and the sum is queued while the device is still
reading, so that the host's latency is not in the sample. jax has no events: a sample is the host's time of many sums,
one behind the other, over their number. They take turns at copies of the input, as many as empty the cache. Where the
host cannot ask for sums faster than they are done, there is no figure.

A library keeps memory of the GPU for itself until the process ends, so on a small GPU, or beside other programs, take
one at a time with --library.

Exit code: 0 every sum verified, 1 a wrong one, 2 bad usage, 3 no GPU, nothing installed,
or something that could not be measured.
"""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
import importlib
import importlib.util
import itertools
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tools import output_file
from tools.command_line import (ELEMENT_TYPES, ElementType, ExitCode, Failure, NotPossible, Parser, list_of,
                                parse_count, parse_type, say)
from tools.markdown import DASH, count_text, or_dash
from tools.results import Device, Milliseconds, Number, Result, Timing, Value, to_text

if TYPE_CHECKING:
    from tools.steps_input import Array, Reference

# Reading the buffer this often keeps the device busy for longer than the host takes to queue a sum.
READS = 16
# What a sample of many sums takes at least: the host's clock and its waking up are off by some hundredths of this.
SAMPLE_MS = 10
# Copies of the input at most. Where emptying the cache takes more, the sums are quicker than the host can ask for them.
MOST_COPIES = 500
WARM_UP_RUNS = 3


def main(words: list[str]) -> int:
    options = parse_options(words)
    if not any(is_installed(name) for name in options.libraries):
        raise NotPossible(f"not installed: {', '.join(options.libraries)}")
    if not is_installed("numpy"):
        raise NotPossible("not installed: numpy, which makes the input")
    from tools.steps_input import Reference, random_input  # which imports it

    device = first_gpu()
    libraries = open_libraries(options.libraries)
    results: list[Result] = []
    complete = True
    # Where the JSON goes to stdout, it has that for itself, as with the steps.
    rows = sys.stderr if options.json == "-" else sys.stdout
    print("| step | type | elements | block | ms | p5 – p95 | GB/s | % of peak | verified |\n"
          "|:--|:--|--:|--:|--:|--:|--:|--:|:--|", file=rows, flush=True)
    for element_type, elements in itertools.product(options.types, options.elements):
        data = random_input(element_type, elements, options.seed)
        reference = Reference(data, device.sms or 1)
        for name, library in libraries.items():
            # What does not fit, or cannot be timed, keeps nothing else from being measured. Libraries raise what they
            # like, out of memory above all.
            try:
                results.append(measure(name, library, data, reference, device, options))
            except Exception as error:
                say(f"not measured: {name}, {count_text(elements)} {element_type}: {first_line(error)}")
                complete = False
                continue
            print(row(results[-1]), file=rows, flush=True)
            # Each time: a library may also end the process.
            if options.json not in (None, "-"):
                output_file.write(Path(options.json), json_text(results))
    if options.json == "-":
        sys.stdout.write(json_text(results))
    if not all(result.verified for result in results):
        return ExitCode.WRONG
    return ExitCode.DONE if complete else ExitCode.NOT_POSSIBLE


def parse_options(words: list[str]) -> argparse.Namespace:
    parser = Parser("python_peers", __doc__)
    parser.prog = "python3 -m tools.python_peers"
    parser.add_argument("-n", "--elements", type=list_of(parse_count), default=[2**28], metavar="COUNTS",
                        help="how many, with commas: 1000003,2^28; default 2^28")
    parser.add_argument("-t", "--type", type=list_of(parse_type), default=["int32"], metavar="TYPES", dest="types",
                        help=f"with commas: {', '.join(ELEMENT_TYPES)}; default int32")
    parser.add_argument("--library", type=list_of(parse_library), default=list(LIBRARIES), metavar="NAMES",
                        dest="libraries", help=f"with commas: {', '.join(LIBRARIES)}; default: all")
    parser.add_argument("-s", "--samples", type=parse_count, metavar="COUNT",
                        help="timed runs; default: until they agree within 0.5 %%, for 2 s at most")
    parser.add_argument("--seed", type=int, default=1, help="of the random input; default 1")
    parser.add_argument("--json", metavar="FILE", help="also write the results there; - for stdout")
    options = parser.parse_args(words)
    # Said now, not after minutes.
    if options.json not in (None, "-"):
        output_file.require_writable(Path(options.json), "--json")
    return options


def parse_library(text: str) -> str:
    if text not in LIBRARIES:
        raise argparse.ArgumentTypeError(f"'{text}' is no library: choose from {', '.join(LIBRARIES)}")
    return text


def is_installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def first_gpu() -> Device:
    """What the steps' JSON says of it, by the driver's own interface. Throws NotPossible where there is none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise NotPossible("no NVIDIA GPU: there is no libcuda.so.1, which comes with its driver") from None
    ordinal = ctypes.c_int()
    if driver.cuInit(0) != 0 or driver.cuDeviceGet(ctypes.byref(ordinal), 0) != 0:
        raise NotPossible("no NVIDIA GPU: the driver lists none")

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


def open_libraries(names: list[str]) -> dict[str, Library]:
    """Those that are installed and see the GPU; a line on stderr says why another is left out."""
    libraries = {}
    for name in names:
        if not is_installed(name):
            say(f"not installed: {name}")
            continue
        # What an installation that does not fit this machine raises may be anything.
        try:
            libraries[name] = LIBRARIES[name]()
        except Exception as error:
            say(f"not usable: {name}: {first_line(error)}")
    if not libraries:
        raise NotPossible(f"cannot be used: {', '.join(names)}")
    return libraries


def first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


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


def measure(name: str, library: Library, data: Array, reference: Reference, device: Device,
            options: argparse.Namespace) -> Result:
    """Throws what a library throws, and RuntimeError where there is no time to believe."""
    try:
        library.prepare(data, 2 * (device.l2_bytes or 0))
        began = time.perf_counter()
        library.sum().item()
        first_run_ms = (time.perf_counter() - began) * 1e3
        samples, result = take_samples(library, options.samples)
    finally:
        library.release()
    ms = summary(samples)
    if library.waits_for_host():
        raise RuntimeError("the host takes as long to ask for a sum as the sum takes")
    gbps = data.nbytes / ms.median / 1e6
    if device.peak_gbps and gbps > device.peak_gbps:
        raise RuntimeError(f"{gbps:.1f} GB/s is more than this device can move: the time is wrong")
    error = reference.error(result)
    return Result(
        step=f"peer_{name}", title=library.title, device=device, type=cast(ElementType, data.dtype.name),
        elements=len(data), block=None, grid=None, samples=len(samples), ms=ms, first_run_ms=first_run_ms,
        timing=library.timing, gbps=gbps, percent_of_peak=gbps / device.peak_gbps * 100 if device.peak_gbps else None,
        result=value_of([result.real, result.imag][:len(reference.expected)]), expected=value_of(reference.expected),
        error=number_or_text(error), tolerance=reference.tolerance,
        verified=error <= reference.tolerance,  # NaN is not
        data="random", seed=options.seed, version=f"{name} {library.module.__version__}", passes=[], counters=None)


def take_samples(library: Library, fixed: int | None) -> tuple[list[float], Any]:
    """Milliseconds, and the last sum."""
    for _ in range(WARM_UP_RUNS):
        library.sample()
    samples: list[float] = []
    result: Any = None
    began = time.perf_counter()
    while not enough(samples, fixed, time.perf_counter() - began):
        ms, result = library.sample()
        samples.append(ms)
    return samples, result.item()


def enough(samples: list[float], fixed: int | None, seconds: float) -> bool:
    """As the steps: nine samples in ten within 0.5 % of the median, at least ten of them, or two seconds."""
    if fixed:
        return len(samples) >= fixed
    if len(samples) < 10 or seconds < 2.0 and len(samples) % 10:
        return False
    ms = summary(samples)
    return seconds >= 2.0 or ms.p95 - ms.p5 <= 0.005 * ms.median


def summary(samples: list[float]) -> Milliseconds:
    ascending = sorted(samples)

    def quantile(q: float) -> float:
        position = q * (len(ascending) - 1)
        below = int(position)
        above = min(below + 1, len(ascending) - 1)
        return ascending[below] + (ascending[above] - ascending[below]) * (position - below)

    return Milliseconds(median=quantile(0.5), p5=quantile(0.05), p95=quantile(0.95), min=ascending[0])


def value_of(parts: list[Any]) -> Value:
    numbers = [number_or_text(part) for part in parts]
    return numbers if len(numbers) > 1 else numbers[0]


def number_or_text(number: int | float) -> Number:
    """As the steps' JSON has it: text for integers beyond 2^53, and for what is not finite."""
    exact = abs(number) <= 2**53 if isinstance(number, int) else math.isfinite(number)
    return number if exact else str(number)


def row(result: Result) -> str:
    ms = result.required(result.ms, "ms")
    return (f"| {result.step} | {result.type} | {count_text(result.elements)} | {DASH} | {ms.median:.4f} | "
            f"{ms.p5:.4f} – {ms.p95:.4f} | {result.bandwidth:.1f} | {or_dash(result.percent_of_peak, 1)} | "
            f"{'yes' if result.verified else '**NO**'} |")


def json_text(results: list[Result]) -> str:
    """Under the keys of a step that has one variant."""
    left_out = ("variant", "other_variants")
    return to_text([{key: value for key, value in dataclasses.asdict(result).items() if key not in left_out}
                    for result in results])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Failure, MemoryError) as failure:
        say(f"python_peers: error: {str(failure) or 'not enough memory for the input'}")
        sys.exit(failure.code if isinstance(failure, Failure) else ExitCode.NOT_POSSIBLE)
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
