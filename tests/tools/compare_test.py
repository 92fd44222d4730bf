"""The comparison with programs that are made up: its tables, what it leaves out, what it refuses; and the timing of
Python's libraries, whose input is that of the steps."""

import ctypes
import json
import re
import signal
import sys
from collections.abc import Callable, Iterator
from math import nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fake_programs
import made_up_results
import pytest

from tools import __main__, gpu, results, sample_clock
from tools.command_line import ELEMENT_TYPES, REPOSITORY
from tools.results import Result

Patch = pytest.MonkeyPatch
Capture = pytest.CaptureFixture[str]
# Exit code or results, stdout, stderr.
Compare = Callable[..., tuple[int, str, str]]
Measure = Callable[..., tuple[list[Result], str, str]]

# CUB reaches 2000 GB/s, all others 1000; cuBLAS knows no integers, and Thrust's library cannot be loaded. FAULT says
# who exits with what: "07_cascade 2".
STEP = f"""
step, option = os.path.basename(sys.argv[0]), dict(zip(words, words[1:]))
faulty, fault = os.environ.get("FAULT", "none 0").split()
code = int(fault) if faulty in (step, "all") else 0
if code == 134: os.abort()
if code == 15: os.kill(os.getppid(), 15)
if step == "peer_thrust": sys.exit(127)
if "int8" in words: sys.exit(2)
if code > 1 or step == "peer_cublas" and "int" in option["-t"]: sys.exit(code or 3)
result = {made_up_results.result("", 1)} | dict(
    step=step, type=option["-t"], elements=2 ** int(option["-n"][2:]), samples=int(option["-s"]), verified=code == 0,
    seed=int(option.get("--seed", 1)), gbps=2000 if step == "peer_cub" else 1000)
json.dump(result, open(option["--json"], "w"))
sys.exit(code)
"""
# The header is half as fast as CUB.
AGAINST_CUB = f"""
option = dict(zip(words, words[1:]))
both = {made_up_results.result("", 1)} | dict(
    elements=2 ** int(option["-n"][2:]), samples=int(option["-s"]), cub_ms=None, gbps=1000, cub_gbps=2000)
json.dump([both], open(option["--json"], "w"))
"""
# With torch, with a jax that ends the process after its first result, and without cupy.
PYTHON = f"""
print("python:", *words[:-1], file=sys.stderr)
if words[2] == "cupy": sys.exit(3)
result = {made_up_results.result("", 1, elements=2**20, gbps=1000)} | dict(step="peer_" + words[2])
json.dump([result], open(words[-1], "w"))
if words[2] == "jax": os.abort()
"""
SMALL = """
| bfloat16 | 2^20 | 2^24 |
|:--|--:|--:|
| 12_any_operation | 1000.0 (50.0 %) | 1000.0 (50.0 %) |
| peer_cub | 2000.0 (100.0 %) | 2000.0 (100.0 %) |
"""
TABLE = """GB/s (share of CUB's):

| int32 | 2^20 | 2^24 |
|:--|--:|--:|
| 07_cascade | 1000.0 (50.0 %) | 1000.0 (50.0 %) |
| peer_cub | 2000.0 (100.0 %) | 2000.0 (100.0 %) |
| peer_cublas | – | – |
| peer_torch | 1000.0 (50.0 %) | – |
| peer_jax | 1000.0 (50.0 %) | – |

| float32 | 2^20 | 2^24 |
"""


@pytest.fixture
def compare(tmp_path: Path, monkeypatch: Patch, capfd: Capture) -> Iterator[Compare]:
    """Runs the command with a GPU."""
    python = fake_programs.make(tmp_path, "made_up_python", PYTHON)
    for name in ("07_cascade", "13_many_gpus", "peer_cub", "peer_thrust", "peer_cublas"):
        fake_programs.make(tmp_path / "bin", name, STEP)
    fake_programs.make(tmp_path / "bin", "12_against_cub", AGAINST_CUB)
    monkeypatch.setattr(gpu, "said", lambda *_: "GPU 0: Made Up")

    def run(*words: str) -> tuple[int, str, str]:
        usual = {"--bin": f"{tmp_path}/bin", "--python": f"{python}", "--json": f"{tmp_path}/all.json"}
        left = [word for option in usual.items() if option[0] not in words for word in option]
        monkeypatch.setattr(sys, "argv", ["tools", "compare", *left, *words])
        code = __main__.main()
        said = capfd.readouterr()
        return code, said.out, said.err

    yield run
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def test_a_table_per_type(compare: Compare, tmp_path: Path) -> None:
    code, out, err = compare("-n", "2^20,2^24", "-t", "int32,float32", "--seed", "7")
    assert code == 0 and out.startswith(TABLE), out + err
    said = err.splitlines()
    for name in ("cooperative_groups", "cub_gpu_to_gpu", "cub_newer", "cub_not_guaranteed", "fast_cu"):
        assert f"not built: peer_{name}" in said
    assert [line[-20:] for line in said if "crashed" in line] == ["jax crashed: SIGABRT"]
    # A type that is refused is not tried again.
    assert [line[12:] for line in said if "peer_cublas" in line] == [
        "-t int32 -n 2^20", "-t float32 -n 2^20", "-t float32 -n 2^24"]
    assert [re.sub(r"\S+/like.json", "FILE", line) for line in said if "python:" in line[:7]] == [
        f"python: -m tools.python_peers {library} FILE" for library in ("torch", "cupy", "jax")]
    written = results.read_list(tmp_path / "all.json", Result)
    assert [result.step for result in written[-2:]] == ["peer_torch", "peer_jax"] and len(written) == 12
    assert {(result.samples, result.seed) for result in written[:-2]} == {(100, 7)}


def test_small_types_are_the_headers_and_cubs(compare: Compare, tmp_path: Path) -> None:
    code, out, err = compare("-n", "2^20,2^24", "-t", "bfloat16")
    assert code == 0 and SMALL in out, out + err
    written = results.read_list(tmp_path / "all.json", Result)
    assert {(result.type, result.samples) for result in written[:4]} == {("bfloat16", 100)}


@pytest.mark.parametrize("fault, code, rows, said", [
    ("07_cascade 1", 1, ["07_cascade | **WRONG**", "peer_cub | 2000.0 (100.0 %)"], "not installed: "),
    ("07_cascade 134", 0, ["peer_cub | 2000.0 (100.0 %)"], "07_cascade -t int32 -n 2^20 crashed: SIGABRT"),
    ("peer_cub 130", 130, ["07_cascade | 1000.0"], ""),
    # SIGTERM
    ("peer_cub 15", 130, ["07_cascade | 1000.0"], ""),
    ("peer_cub 2", 2, ["07_cascade | 1000.0"], "error: peer_cub -t int32 -n 2^20 refuses its options"),
    ("all 3", 3, [], "error: nothing could be measured")])
def test_what_was_measured_is_shown(compare: Compare, monkeypatch: Patch, tmp_path: Path,
                                    fault: str, code: int, rows: list[str], said: str) -> None:
    monkeypatch.setenv("FAULT", fault)
    monkeypatch.setattr(gpu, "said", lambda program, *_: "GPU 0: Made Up" if program == "nvidia-smi" else "")
    got, out, err = compare("-n", "2^20", "-t", "int32")
    assert got == code and said in err
    assert [line for line in out.splitlines() if line[2:5] in ("07_", "pee")] == [f"| {row} |" for row in rows]
    assert (tmp_path / "all.json").exists() == bool(rows)


def test_it_refuses(compare: Compare, monkeypatch: Patch) -> None:
    assert "refuses its options" in compare("-n", "2^20", "-t", "int8")[2]
    monkeypatch.setattr(gpu, "said", lambda *_: "")
    code, out, err = compare()
    assert (code, out, err.count("\n")) == (3, "", 1) and "there is no NVIDIA GPU here" in err


# ---- the timing of the libraries ----


class Driver:
    """A libcuda whose kernels run at once and whose events are `ms` apart. `calls` has what is asked of the device, and
    the stream."""

    def __init__(self) -> None:
        self.calls: list[object] = []
        self.ms = 1.0
        self.fails = ""
        self.given_up = 0  # so many samples are not queued while the device is held
        self.words = (ctypes.c_uint32 * 2)()

    def __getattr__(self, function: str) -> Callable[..., int]:
        call = getattr(Driver, f"_{function}", lambda *_: None)
        return lambda *arguments: 719 if function == self.fails else call(self, *arguments) or 0

    def _cuMemHostAlloc(self, words: Any, size: ctypes.c_size_t, flags: int) -> None:
        assert size.value == ctypes.sizeof(self.words)
        words._obj.value = ctypes.addressof(self.words)

    def _cuMemHostGetDevicePointer_v2(self, address: Any, words: ctypes.c_void_p, flags: int) -> None:
        address._obj.value = words.value

    def _cuModuleGetFunction(self, kernel: Any, module: object, name: bytes) -> None:
        kernel._obj.value = (b"lead_in", b"hold").index(name) + 1

    def _cuLaunchKernel(self, kernel: ctypes.c_void_p, *arguments: Any) -> None:
        *sizes, shared, stream, parameters, _ = arguments
        assert sizes == [1] * 6 and shared == 0
        self.calls.append(("lead-in" if kernel.value == 1 else "hold", stream.value))
        if kernel.value == 1:
            return
        address, self.held = (kind.from_address(at).value for kind, at in zip(
            (ctypes.c_uint64, ctypes.c_uint32), parameters))
        assert address == ctypes.addressof(self.words)

    def _cuEventRecord(self, event: object, stream: ctypes.c_void_p) -> None:
        assert self.words[0] != self.held, "the device was let go before all was queued"
        self.calls.append(("event", stream.value))

    def _cuEventSynchronize(self, event: object) -> None:
        assert self.words[0] == self.held, "the device is held for ever"
        if self.given_up:
            self.given_up -= 1
            self.words[1] = self.held

    def _cuEventElapsedTime(self, ms: Any, *events: object) -> None:
        ms._obj.value = self.ms


@pytest.fixture
def driver(monkeypatch: Patch) -> Driver:
    made = Driver()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: made)
    return made


def cupy(sum_of: Callable[..., Any] = lambda data, dtype: data.sum(dtype=dtype)) -> Any:
    """It sums with numpy, on stream 7."""
    numpy = pytest.importorskip("numpy")
    return SimpleNamespace(
        __version__="1.2.3", float32=numpy.float32, asarray=numpy.asarray, zeros=numpy.zeros, sum=sum_of,
        cuda=SimpleNamespace(is_available=lambda: True, get_current_stream=lambda: SimpleNamespace(ptr=7)),
        get_default_memory_pool=lambda: SimpleNamespace(free_all_blocks=lambda: print("freed")))


@pytest.fixture
def measure(monkeypatch: Patch, tmp_path: Path, capsys: Capture, driver: Driver) -> Measure:
    """Measures with a library that is a Python object, on a GPU of 4000 GB/s."""
    peers = pytest.importorskip("tools.python_peers")

    def run(name: str, library: Any, size: int, types: str) -> tuple[list[Result], str, str]:
        monkeypatch.setitem(sys.modules, name, library)
        cub = []
        for element_type in types.split(","):
            cub.append(made_up_results.result(
                "peer_cub", 1, element_type, size, samples=3, device=made_up_results.device() | {"l2_bytes": 2**20},
                tolerance=0 if element_type[:3] in ("int", "hal") else size * 2.0**-24))
        (tmp_path / "cub.json").write_text(json.dumps(cub))
        peers.main([name, str(tmp_path / "cub.json"), str(tmp_path / "python.json")])
        said = capsys.readouterr()
        return results.read(tmp_path, "python"), said.out, said.err

    return run


def test_sums_are_verified(measure: Measure, tmp_path: Path) -> None:
    types = (*ELEMENT_TYPES, "half")
    written, out, _ = measure("cupy", cupy(), 5000, ",".join(types))
    assert [result.type for result in written] == list(types) and out == "freed\n" * 7
    assert written[-1].bandwidth == pytest.approx(5000 * 2 / 1e6)
    for result in written:
        assert (result.verified, result.samples, result.seed, result.version) == (True, 3, 1, "cupy 1.2.3")
        assert result.timing == results.Timing(flush="read", warm_up=3, queued=True, lead_in=8)
    [first, *_] = json.loads((tmp_path / "python.json").read_text())
    assert first.keys() == made_up_results.result("", 1).keys() and first["title"] == "cupy.sum"
    for kind, more, error in (("int64", 1, 1), ("complex64", complex(0, nan), "nan")):
        [wrong], _, _ = measure("cupy", cupy(lambda data, dtype: data.sum(dtype=dtype) + more), 9, kind)
        assert not wrong.verified and wrong.error == error


def test_a_sample_is_taken_as_the_steps_take_theirs(measure: Measure, driver: Driver) -> None:
    """A reading of the buffer, the hold, eight empty kernels, and between the events the sum and nothing else."""
    def sum_of(data: Any, dtype: Any) -> Any:
        driver.calls.append("sum" if len(data) == 4096 else f"read {len(data)}")
        return data.sum(dtype=dtype)

    [result], _, err = measure("cupy", cupy(sum_of), 4096, "int32")
    assert result.verified and result.bandwidth == pytest.approx(4096 * 4 / 1e6), err
    # Twice the L2's bytes.
    sample = ["read 524288", ("hold", 7), *[("lead-in", 7)] * 8, ("event", 7), "sum", ("event", 7)]
    assert driver.calls == ["sum", *sample * 6]


def test_the_clock_is_that_of_the_steps() -> None:
    peers = pytest.importorskip("tools.python_peers")
    method = (REPOSITORY / "common/harness/timing_method.hpp").read_text()
    assert f"lead_in = {sample_clock.LEAD_IN};" in method and f"warm_up_runs = {peers.WARM_UP_RUNS};" in method
    assert f"return {sample_clock.L2_SIZES_FLUSHED} * l2_bytes;" in method
    lines = (REPOSITORY / "docs/persisting_lines.cu").read_text()
    assert f"flush_words = size_t{{{sample_clock.L2_SIZES_FLUSHED}}} * l2_bytes / 4" in lines
    timer = (REPOSITORY / "common/harness/cuda_device.cu").read_text().replace("'", "")
    [limit] = re.findall(r"limit_nanoseconds = (\d+);", timer)
    assert f"%now, {limit};".encode() in sample_clock.KERNELS


@pytest.mark.parametrize("changes, measured, said", [
    ({"given_up": 1}, ["int32", "int64"], ""),
    ({"given_up": 2}, ["int64"], "int32: the device waited in vain for all of the sum to be queued, twice in a row\n"),
    ({"ms": 1.5e-6}, ["int32"], "int64: 5461.3 GB/s is more than this device can move: the time is wrong\n"),
    ({"fails": "cuEventSynchronize"}, [], "int64: cuEventSynchronize: CUDA error 719\n")])
def test_what_has_no_time_keeps_nothing_else_from_being_measured(
        measure: Measure, driver: Driver, changes: dict[str, Any], measured: list[str], said: str) -> None:
    vars(driver).update(changes)
    written, out, err = measure("cupy", cupy(), 1024, "int32,int64")
    assert [result.type for result in written] == measured and out == "freed\n" * 2
    assert err.endswith(said and f"not measured: cupy, 2^10 {said}") and err.count("\n") == 2 - len(measured)


def test_what_is_not_installed(measure: Measure) -> None:
    said = "not usable: cupy: import of cupy halted; None in sys.modules\n"
    assert measure("cupy", None, 8, "int32") == ([], "", said)
