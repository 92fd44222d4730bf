#!/usr/bin/env python3
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

import argparse
import ctypes
import importlib
import importlib.util
import json
import math
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor

PROGRAM = "python_peers.py"
LIBRARIES = ("torch", "cupy", "jax")
TYPES = ("int32", "int64", "float32", "float64", "complex64", "complex128")
# Reading the buffer this often keeps the device busy for longer than the host takes to queue a sum.
READS = 16
# What a sample of many sums takes at least: the host's clock and its waking up are off by some hundredths of this.
SAMPLE_MS = 10
# Copies of the input at most. Where emptying the cache takes more, the sums are quicker than the host can ask for them.
MOST_COPIES = 500
WARM_UP_RUNS = 3


class CannotRun(Exception):
    """This machine cannot do it: exit code 3."""


# ---- the GPU ----


def device_info():
    """What the steps' JSON says of the first GPU, by the driver's own interface."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise CannotRun("no NVIDIA GPU: there is no libcuda.so.1, which comes with its driver") from None
    ordinal = ctypes.c_int()
    if driver.cuInit(0) != 0 or driver.cuDeviceGet(ctypes.byref(ordinal), 0) != 0:
        raise CannotRun("no NVIDIA GPU: the driver lists none")

    def attribute(number):
        value = ctypes.c_int()
        driver.cuDeviceGetAttribute(ctypes.byref(value), number, ordinal)
        return value.value

    name = ctypes.create_string_buffer(256)
    driver.cuDeviceGetName(name, len(name), ordinal)
    # CU_DEVICE_ATTRIBUTE_... MEMORY_CLOCK_RATE in kHz and GLOBAL_MEMORY_BUS_WIDTH in bits: two transfers a clock.
    peak = attribute(36) * 1e3 * attribute(37) * 2 / 8 / 1e9
    return {
        "kind": "cuda",
        "name": name.value.decode(),
        "compute_capability": f"{attribute(75)}.{attribute(76)}",  # COMPUTE_CAPABILITY_MAJOR and _MINOR
        "sms": attribute(16),  # MULTIPROCESSOR_COUNT
        "l2_bytes": attribute(38),  # L2_CACHE_SIZE
        "peak_gbps": peak or None,
    }


# ---- input and verification, as common/harness/input.hpp and verification.cpp have them ----


def random_bits(seed, first, count):
    """SplitMix64 for the counters first to first + count."""
    counter = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    z = counter * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed * 0xD1342543DE82EF95 % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def component_type(element_type):
    """The type of one component: a complex number has two of them."""
    return {"complex64": "float32", "complex128": "float64"}.get(element_type, element_type)


def parts_of(element_type):
    return 2 if element_type.startswith("complex") else 1


def over_chunks(work, count):
    """The list of work(first, end) for every piece of `count` numbers. numpy lets other threads run while it computes,
    and the arrays of a piece stay in a core's cache."""
    chunk = 1 << 17
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        return list(threads.map(lambda first: work(first, min(first + chunk, count)), range(0, count, chunk)))


def random_input(element_type, elements, seed):
    """Integers over their whole range, reals in [-1, 1)."""
    real = component_type(element_type)
    data = np.empty(elements * parts_of(element_type), dtype=real)

    def fill(first, end):
        bits = random_bits(seed, first, end - first)
        if real.startswith("int"):
            part = (bits >> np.uint64(64 - data.itemsize * 8)).astype(real.replace("int", "uint")).view(real)
        else:
            digits = 24 if real == "float32" else 53
            part = (bits >> np.uint64(64 - digits)).astype(real) / np.dtype(real).type(2.0 ** (digits - 1)) - 1
        data[first:end] = part

    over_chunks(fill, len(data))
    return data.view(element_type)


class Reference:
    """The sum of an input: modulo 2^32 or 2^64 for integers, in higher precision for reals."""

    def __init__(self, data, sms):
        self.is_integer = data.dtype.kind == "i"
        if self.is_integer:
            unsigned = np.dtype(f"uint{data.itemsize * 8}")
            bits = data.view(unsigned)
            sums = over_chunks(lambda first, end: bits[first:end].sum(dtype=unsigned), len(bits))
            self.expected = int(np.array(sums, dtype=unsigned).sum(dtype=unsigned).view(data.dtype))
            self.tolerance = 0.0
            return
        parts = parts_of(data.dtype.name)
        reals = data.view(component_type(data.dtype.name))
        wider = np.float64 if reals.dtype == np.float32 else np.longdouble

        def sums_of(first, end):
            """Of each component of a piece its sum, and the sum of its magnitudes."""
            components = [reals[first + k : end : parts] for k in range(parts)]
            return [(each.sum(dtype=wider), np.abs(each).sum(dtype=np.float64)) for each in components]

        totals = np.array(over_chunks(sums_of, len(reals)), dtype=np.longdouble).sum(axis=0)
        self.expected = [float(exact) for exact, _ in totals]
        # A library does not say how it adds: threads that fill the device, and trees of 128 additions on top.
        terms = (len(data) // (1024 * sms) + 129) * 2.0 ** (-24 if reals.dtype == np.float32 else -53)
        self.tolerance = float(totals[:, 1].max()) * terms / (1 - terms)

    def error(self, result):
        if self.is_integer:
            return abs(int(result) - self.expected)
        parts = [result.real, result.imag][: len(self.expected)]
        return max(abs(float(part) - expected) for part, expected in zip(parts, self.expected))


# ---- the libraries: each puts the input on the device, reads the L2's buffer, and sums ----


class WithEvents:
    """A library whose device has events, and which is asked for its sum while the device is busy with readings."""

    # What the steps' JSON says of this way to time.
    timing = {"flush": "read", "warm_up": WARM_UP_RUNS, "queued": True, "lead_in": 0}

    def sum(self):
        return self.module.sum(self.data, dtype=self.data.dtype)

    def value(self, result):
        return result.item()

    def sample(self):
        start, stop = self.event(), self.event()
        for _ in range(READS):
            self.read_buffer()
        start.record()
        result = self.sum()
        stop.record()
        stop.synchronize()
        return self.ms_between(start, stop), result

    def waits_for_host(self):
        return False


class Torch(WithEvents):
    def __init__(self):
        self.module = importlib.import_module("torch")
        if not self.module.cuda.is_available():
            raise CannotRun("it was built without CUDA, or sees no GPU")

    def prepare(self, data, flush_bytes):
        self.data = self.module.from_numpy(data).cuda()
        self.buffer = self.module.zeros(flush_bytes // 4, dtype=self.module.int32, device="cuda")
        self.title = "torch.sum"

    def read_buffer(self):
        return self.buffer.sum()

    def event(self):
        return self.module.cuda.Event(enable_timing=True)

    def ms_between(self, start, stop):
        return start.elapsed_time(stop)

    def release(self):
        self.data = self.buffer = None
        self.module.cuda.empty_cache()


class Cupy(WithEvents):
    def __init__(self):
        self.module = importlib.import_module("cupy")
        if not self.module.cuda.is_available():
            raise CannotRun("it sees no GPU")

    def prepare(self, data, flush_bytes):
        self.data = self.module.asarray(data)
        self.buffer = self.module.zeros(flush_bytes // 4, dtype="int32")
        self.title = "cupy.sum"

    def read_buffer(self):
        return self.module.sum(self.buffer, dtype=self.buffer.dtype)  # else as int64, by a kernel to be compiled first

    def event(self):
        return self.module.cuda.Event()

    def ms_between(self, start, stop):
        return self.module.cuda.get_elapsed_time(start, stop)

    def release(self):
        self.data = self.buffer = None
        self.module.get_default_memory_pool().free_all_blocks()


class Jax:
    timing = None  # no way of theirs

    def __init__(self):
        # Else it takes three quarters of the GPU's memory at once, and looks for TPUs.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        os.environ.setdefault("JAX_PLATFORMS", "cuda")
        self.copies = []
        self.module = importlib.import_module("jax")
        self.module.config.update("jax_enable_x64", True)
        if self.module.default_backend() != "gpu":
            raise CannotRun("it was installed without CUDA, or sees no GPU")
        jnp = self.module.numpy
        self.jitted_sum = self.module.jit(lambda data: jnp.sum(data, dtype=data.dtype))

    def prepare(self, data, flush_bytes):
        # Between two sums of one copy, those of all others empty the cache.
        copies = 1 + math.ceil(flush_bytes / max(1, data.nbytes))
        self.copies = [self.module.device_put(data) for _ in range(min(copies, MOST_COPIES))]
        self.title = "jax.numpy.sum"
        self.sums = len(self.copies)
        self.asking = []
        self.sample()  # which compiles it
        ms, _ = self.sample()
        self.sums = max(self.sums, math.ceil(SAMPLE_MS / max(ms, 1e-3)))
        self.asking = []

    def sum(self):
        return self.jitted_sum(self.copies[0])

    def value(self, result):
        return result.item()

    def sample(self):
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

    def waits_for_host(self):
        """Whether asking for a sum took about as long as a sum did."""
        return median(self.asking) > 0.8

    def release(self):
        for array in self.copies:
            array.delete()
        self.copies = []


# ---- measuring ----


def quantile(ascending, q):
    position = q * (len(ascending) - 1)
    below = int(position)
    above = min(below + 1, len(ascending) - 1)
    return ascending[below] + (ascending[above] - ascending[below]) * (position - below)


def median(samples):
    return quantile(sorted(samples), 0.5)


def summary(samples):
    ascending = sorted(samples)
    return {"median": quantile(ascending, 0.5), "p5": quantile(ascending, 0.05), "p95": quantile(ascending, 0.95),
            "min": ascending[0]}


def enough(samples, fixed, seconds):
    """As the steps: nine samples in ten within 0.5 % of the median, at least ten of them, or two seconds."""
    if fixed:
        return len(samples) >= fixed
    if len(samples) < 10 or seconds < 2.0 and len(samples) % 10:
        return False
    ms = summary(samples)
    return seconds >= 2.0 or ms["p95"] - ms["p5"] <= 0.005 * ms["median"]


def take_samples(library, fixed):
    for _ in range(WARM_UP_RUNS):
        library.sample()
    samples, began, result = [], time.perf_counter(), None
    while not enough(samples, fixed, time.perf_counter() - began):
        ms, result = library.sample()
        samples.append(ms)
    return samples, library.value(result)


def number_or_text(value):
    """As the steps' JSON has it: [re, im] for complex numbers, text for integers beyond 2^53."""
    if isinstance(value, list):
        return value if len(value) > 1 else value[0]
    if isinstance(value, complex):
        return [value.real, value.imag]
    return str(value) if isinstance(value, int) and abs(value) > 2**53 else value


def measure(name, library, data, reference, device, arguments):
    try:
        library.prepare(data, 2 * device["l2_bytes"])
        began = time.perf_counter()
        library.value(library.sum())
        first_run_ms = (time.perf_counter() - began) * 1e3
        samples, result = take_samples(library, arguments.samples)
    finally:
        library.release()
    ms = summary(samples)
    if library.waits_for_host():
        raise RuntimeError("the host takes as long to ask for a sum as the sum takes")
    gbps = data.nbytes / ms["median"] / 1e6
    if device["peak_gbps"] and gbps > device["peak_gbps"]:
        raise RuntimeError(f"{gbps:.1f} GB/s is more than this device can move: the time is wrong")
    error = reference.error(result)
    return {
        "step": f"peer_{name}",
        "title": library.title,
        "device": device,
        "type": data.dtype.name,
        "elements": len(data),
        "block": None,
        "grid": None,
        "samples": len(samples),
        "ms": ms,
        "first_run_ms": first_run_ms,
        "timing": library.timing,
        "gbps": gbps,
        "percent_of_peak": gbps / device["peak_gbps"] * 100 if device["peak_gbps"] else None,
        "result": number_or_text(result),
        "expected": number_or_text(reference.expected),
        "error": error,
        "tolerance": reference.tolerance,
        "verified": bool(error <= reference.tolerance),  # NaN is not
        "data": "random",
        "seed": arguments.seed,
        "version": f"{name} {library.module.__version__}",
        "passes": [],
        "counters": None,
    }


def count_text(count):
    return f"2^{count.bit_length() - 1}" if count >= 1024 and count & (count - 1) == 0 else str(count)


def print_row(result):
    ms = result["ms"]
    percent = "–" if result["percent_of_peak"] is None else f"{result['percent_of_peak']:.1f}"
    print(f"| {result['step']} | {result['type']} | {count_text(result['elements'])} | – | {ms['median']:.4f} | "
          f"{ms['p5']:.4f} – {ms['p95']:.4f} | {result['gbps']:.1f} | {percent} | "
          f"{'yes' if result['verified'] else '**NO**'} |", flush=True)


# ---- the command line ----


def parse_count(text):
    match = re.fullmatch(r"(\d{1,15})(?:\^(\d{1,2})|([KMG]))?", text)
    count = 0
    if match:
        base, exponent, suffix = match.groups()
        count = int(base) ** int(exponent or 1) << 10 * (" KMG".index(suffix) if suffix else 0)
    if not 1 <= count <= 2**40:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of elements: 1000003, 2^28 or 64M, from 1 to 2^40")
    return count


def parse_type(text):
    if text not in TYPES:
        raise argparse.ArgumentTypeError(f"'{text}' is no type: {', '.join(TYPES)}")
    return text


def parse_library(text):
    if text not in LIBRARIES:
        raise argparse.ArgumentTypeError(f"'{text}' is no library: {', '.join(LIBRARIES)}")
    return text


def list_of(parse):
    return lambda text: [parse(item) for item in text.split(",")]


class Parser(argparse.ArgumentParser):
    def error(self, message):
        fail(2, f"{message} (--help lists what is allowed)")


def fail(code, message):
    print(f"{PROGRAM}: error: {message}", file=sys.stderr)
    sys.exit(code)


def parse_arguments():
    parser = Parser(prog=PROGRAM, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--elements", type=list_of(parse_count), default=[2**28], metavar="COUNTS",
                        help="how many, with commas: 1000003,2^28; default 2^28")
    parser.add_argument("-t", "--type", type=list_of(parse_type), default=["int32"], metavar="TYPES",
                        help=f"with commas: {', '.join(TYPES)}; default int32")
    parser.add_argument("--library", dest="libraries", type=list_of(parse_library), default=list(LIBRARIES), metavar="NAMES",
                        help=f"with commas: {', '.join(LIBRARIES)}; default: all")
    parser.add_argument("-s", "--samples", type=parse_count, metavar="COUNT",
                        help="timed runs; default: until they agree within 0.5 %%, for 2 s at most")
    parser.add_argument("--seed", type=int, default=1, help="of the random input; default 1")
    parser.add_argument("--json", metavar="FILE", help="also write the results there; - for stdout")
    return parser.parse_args()


def open_libraries(names):
    """Those that are installed and see the GPU; a line on stderr says why another is left out."""
    libraries = {}
    for name in names:
        if not is_installed(name):
            print(f"not installed: {name}", file=sys.stderr)
            continue
        # What an installation that does not fit this machine raises may be anything.
        try:
            libraries[name] = {"torch": Torch, "cupy": Cupy, "jax": Jax}[name]()
        except Exception as error:
            print(f"not usable: {name}: {first_line(error)}", file=sys.stderr)
    if not libraries:
        raise CannotRun(f"cannot be used: {', '.join(names)}")
    return libraries


def is_installed(name):
    return importlib.util.find_spec(name) is not None


def first_line(error):
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def json_text(results):
    return json.dumps(results, indent=2) + "\n"


def write_json(results, file):
    """Replaces the file by these results, where one was asked for."""
    if file in (None, "-"):
        return
    try:
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(json_text(results))
    except OSError as error:
        fail(2, f"--json '{file}' cannot be written: {error.strerror}")


def run(arguments):
    if not any(is_installed(name) for name in arguments.libraries):
        raise CannotRun(f"not installed: {', '.join(arguments.libraries)}")
    if not is_installed("numpy"):
        raise CannotRun("not installed: numpy, which makes the input")
    global np
    np = importlib.import_module("numpy")
    device = device_info()
    libraries = open_libraries(arguments.libraries)
    results = []
    # Says now, not after minutes, that it cannot be written.
    write_json(results, arguments.json)

    print("| step | type | elements | block | ms | p5 – p95 | GB/s | % of peak | verified |\n"
          "|:--|:--|--:|--:|--:|--:|--:|--:|:--|", flush=True)
    complete = True
    for element_type in arguments.type:
        for elements in arguments.elements:
            data = random_input(element_type, elements, arguments.seed)
            reference = Reference(data, device["sms"])
            for name, library in libraries.items():
                # What does not fit, or cannot be timed, keeps nothing else from being measured. Libraries raise what
                # they like, out of memory above all.
                try:
                    results.append(measure(name, library, data, reference, device, arguments))
                except Exception as error:
                    print(f"not measured: {name}, {count_text(elements)} {element_type}: {first_line(error)}",
                          file=sys.stderr)
                    complete = False
                    continue
                print_row(results[-1])
                # Each time: a library may also end the process.
                write_json(results, arguments.json)
    if arguments.json == "-":
        sys.stdout.write(json_text(results))
    if not all(result["verified"] for result in results):
        return 1
    return 0 if complete else 3


def main():
    try:
        sys.exit(run(parse_arguments()))
    except (CannotRun, MemoryError) as error:
        fail(3, str(error) or "not enough memory for the input")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
