"""The comparison with a GPU, programs and Python libraries that are made up: its tables, what it leaves out, what it
refuses; and the timing of the libraries, whose input is that of the steps."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import fake_programs
import pytest

from tools import results
from tools.command_line import ELEMENT_TYPES, REPOSITORY
from tools.results import Result

Run = Callable[..., CompletedProcess[str]]
TEMPLATE = REPOSITORY / "docs/results/nvidia_h200/ladder.json"

# CUB reaches 2000 GB/s, all others 1000; cuBLAS knows no integers, and Thrust's library cannot be loaded. FAULT says
# what else is to happen: "07_cascade crashes".
STEP = f"""
import signal, time
step = os.path.basename(sys.argv[0])
option = dict(zip(words, words[1:]))
faulty, fault = os.environ.get("FAULT", "none .").split()
fault = fault if faulty in (step, "all") else ""
if fault == "crashes": os.abort()
if fault == "terminates": os.kill(os.getppid(), signal.SIGTERM) or time.sleep(3)
if fault == "refuses": sys.exit(2)
if step == "peer_thrust": sys.exit(127)
if fault == "fails" or step == "peer_cublas" and "int" in option["-t"]: sys.exit(3)
result = json.load(open("{TEMPLATE}"))[1]
base, exponent = option["-n"].split("^")
result |= dict(step=step, type=option["-t"], elements=int(base) ** int(exponent), verified=fault != "is_wrong",
               samples=int(option["-s"]), seed=int(option.get("--seed", 1)), gbps=2000 if step == "peer_cub" else 1000)
json.dump(result, open(option["--json"], "w"))
sys.exit(0 if result["verified"] else 1)
"""
# With torch, with a jax that ends the process after its first result, and without cupy.
PYTHON = f"""
print("python:", *words, file=sys.stderr)
library = words[words.index("--library") + 1]
if library == "cupy": sys.exit(print("not installed: cupy", file=sys.stderr) or 3)
result = json.load(open("{TEMPLATE}"))[1]
result |= dict(step="peer_" + library, type="int32", elements=2**20, gbps=1000)
json.dump([result], open(words[-1], "w"))
if library == "jax": os.abort()
"""
TABLES = """GB/s (share of CUB's):

| int32 | 2^20 | 2^24 |
|:--|--:|--:|
| 07_cascade | 1000.0 (50.0 %) | 1000.0 (50.0 %) |
| peer_cub | 2000.0 (100.0 %) | 2000.0 (100.0 %) |
| peer_cublas | – | – |
| peer_torch | 1000.0 (50.0 %) | – |
| peer_jax | 1000.0 (50.0 %) | – |

| float32 | 2^20 | 2^24 |
|:--|--:|--:|
| 07_cascade | 1000.0 (50.0 %) | 1000.0 (50.0 %) |
| peer_cub | 2000.0 (100.0 %) | 2000.0 (100.0 %) |
| peer_cublas | 1000.0 (50.0 %) | 1000.0 (50.0 %) |
| peer_torch | – | – |
| peer_jax | – | – |
"""


COMPARE = ("tools", "compare", "--bin", "bin", "--python", "./made_up_python")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a module in tmp_path, which has a GPU, programs and libraries; keywords go into its environment."""
    fake_programs.make(tmp_path / "path", "nvidia-smi", "sys.exit(os.environ.get('NO_GPU') or print('GPU 0: Made Up'))")
    fake_programs.make(tmp_path, "made_up_python", PYTHON)
    for name in ("07_cascade", "13_many_gpus", "peer_cub", "peer_thrust", "peer_cublas"):
        fake_programs.make(tmp_path / "bin", name, STEP)

    def run(*words: str, **more: str) -> CompletedProcess[str]:
        environment = fake_programs.path_with(tmp_path / "path") | more | {
            "PYTHONPATH": f"{os.path.relpath(REPOSITORY, tmp_path)}:{tmp_path}/libraries",
            "LD_LIBRARY_PATH": f"{tmp_path}/libraries"}
        return subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, env=environment)

    return run


def test_a_table_per_type(run: Run, tmp_path: Path) -> None:
    ran = run(*COMPARE, "-n", "2^20,2^24", "-t", "int32,float32", "--json", "all.json", "--seed", "7")
    assert (ran.returncode, ran.stdout) == (0, TABLES), ran.stderr
    for line in ("not built: peer_cooperative_groups", "not installed: cupy", "./made_up_python: jax crashed: SIGABRT",
                 "python: -m tools.python_peers --library torch -n 1048576,16777216 -t int32,float32 -s 100 --json"):
        assert line in ran.stderr
    # Program by program; a type that is refused is not tried again, and several GPUs are not compared with one.
    tried = [line for line in ran.stderr.splitlines() if " -t " in line and "python" not in line]
    pairs = [f"-t {element_type} -n {size}" for element_type in ("int32", "float32") for size in ("2^20", "2^24")]
    assert tried == [*(f"07_cascade {pair}" for pair in pairs), *(f"peer_cub {pair}" for pair in pairs),
                     *(f"peer_cublas {pairs[k]}" for k in (0, 2, 3)), *(f"peer_thrust {pairs[k]}" for k in (0, 2))]
    written = results.read_list(tmp_path / "all.json", Result)
    assert [result.step for result in written[-2:]] == ["peer_torch", "peer_jax"] and len(written) == 12
    assert {(result.samples, result.seed) for result in written[:-2]} == {(100, 7)}


@pytest.mark.parametrize("fault, code, rows, said", [
    ("07_cascade is_wrong", 1, ["07_cascade | **WRONG**", "peer_cub | 2000.0 (100.0 %)"], ""),
    ("07_cascade crashes", 0, ["peer_cub | 2000.0 (100.0 %)"], "07_cascade -t int32 -n 2^20 crashed: SIGABRT"),
    ("peer_cub terminates", 130, ["07_cascade | 1000.0"], ""),
    ("peer_cub refuses", 2, ["07_cascade | 1000.0"], "error: peer_cub -t int32 -n 2^20 refuses its options"),
    ("all fails", 3, [], "error: nothing could be measured")])
def test_what_was_measured_is_shown_all_the_same(
        run: Run, tmp_path: Path, fault: str, code: int, rows: list[str], said: str) -> None:
    ran = run(*COMPARE, "--python", "no_python", "-n", "2^20", "-t", "int32", "--json", "all.json", FAULT=fault)
    assert ran.returncode == code and said in ran.stderr, ran.stderr
    assert [line for line in ran.stdout.splitlines() if line[2:5] in ("07_", "pee")] == [f"| {row} |" for row in rows]
    assert (tmp_path / "all.json").exists() == bool(rows)
    assert ("not installed: no_python" in ran.stderr) == (code in (0, 1, 3))


@pytest.mark.parametrize("said, words", [
    ("-n: expected one argument", ["-n"]), ("'2^x' is no count", ["-n", "2^20,2^x"]),
    ("'int8' is no type", ["-t", "int32,int8"]), ("'0' is no count", ["-s", "0"]),
    ("there is no 07_cascade in", ["--bin", "."]), ("--json '/nowhere/x'", ["--json", "/nowhere/x"])])
def test_bad_usage_is_refused_first(run: Run, said: str, words: list[str]) -> None:
    ran = run("tools", "compare", *words, NO_GPU="yes")
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1) and said in ran.stderr


def test_a_machine_without_gpu_is_refused(run: Run) -> None:
    ran = run(*COMPARE, NO_GPU="yes")
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (3, "", 1)
    assert "there is no NVIDIA GPU here" in ran.stderr


# ---- the timing of the libraries ----

# A driver with one GPU.
DRIVER = """
#include <string.h>
int cuInit(unsigned flags) { return (int)flags; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal; }
int cuDeviceGetName(char* name, int length, int device) { return strncpy(name, "Made Up", (size_t)length), device; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 36 ? 1000000 : attribute == 37 ? 8000 : attribute == 38 ? 1 << 20 : 9;
  return device;
}
"""
# It sums with numpy, in a millisecond; not what FAILS names, and with NANS to no number.
CUPY = """
import os
from types import SimpleNamespace
from numpy import asarray, zeros
__version__ = "1.2.3"
def sum(data, dtype):
    if os.environ.get("FAILS") == f"{len(data)} {data.dtype}": raise Exception("no kernel for this\\nand more lines")
    return data.sum(dtype=dtype) + (complex(0, float("nan")) if "NANS" in os.environ else 0)
def free(): print("freed", file=open(os.path.dirname(__file__) + "/freed", "a"))
get_default_memory_pool = lambda: SimpleNamespace(free_all_blocks=free)
nothing = lambda: None
cuda = SimpleNamespace(is_available=lambda: True, get_elapsed_time=lambda start, stop: 1.0,
                       Event=lambda: SimpleNamespace(record=nothing, synchronize=nothing))
"""
# It sums 1 GB/s by a clock of its own. With 32 sums ahead the next one waits, as XLA lets it. With SLOW_HOST, asking
# for a sum takes all of the time.
JAX = """
import os, time
from types import SimpleNamespace
__version__ = "4.5.6"
assert os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false" and os.environ["JAX_PLATFORMS"] == "cuda"
seconds, ahead = 0.0, []
time.perf_counter = lambda: seconds
class Array:
    def __init__(self, array): self.array = array
    def delete(self): self.array = None
class Result:
    def __init__(self, value): self.item = value.item
    def block_until_ready(self):
        global seconds
        seconds += sum(ahead)
        ahead.clear()
def jitted_sum(data):
    global seconds
    if "SLOW_HOST" in os.environ: seconds += data.array.nbytes / 1e9
    else: ahead.append(data.array.nbytes / 1e9)
    if len(ahead) > 32: seconds += ahead.pop(0)
    return Result(data.array.sum(dtype=data.array.dtype))
jit, default_backend, device_put = lambda function: jitted_sum, lambda: "gpu", Array
block_until_ready = lambda arrays: None
config, numpy = SimpleNamespace(update=lambda name, value: None), None
"""
TIME = ("tools.python_peers", "--json", "python.json", "--library")


@pytest.fixture
def libraries(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    for name, source in {"cupy.py": CUPY, "jax.py": JAX, "torch.py": "raise AttributeError('built for another numpy')",
                         "driver.c": DRIVER}.items():
        (tmp_path / "libraries").mkdir(exist_ok=True)
        (tmp_path / "libraries" / name).write_text(source)
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", "libcuda.so.1", "driver.c"], check=True,
                   cwd=tmp_path / "libraries")


# More elements than a piece has, and no multiple of one.
@pytest.mark.parametrize("elements, seed", [(300_001, 7), (131_072, 1), (1, 2**63 + 5)])
@pytest.mark.parametrize("element_type", ELEMENT_TYPES)
def test_the_input_is_that_of_the_steps(
        bin_folder: Path, tmp_path: Path, element_type: str, elements: int, seed: int) -> None:
    pytest.importorskip("numpy")
    from tools.steps_input import Reference, random_input
    subprocess.run([bin_folder / "00_cpu_serial", "-n", str(elements), "-t", element_type, "--seed", str(seed), "-s",
                    "1", "--json", tmp_path / "step.json"], check=True, capture_output=True)
    [step] = results.read_list(tmp_path / "step.json", Result)
    parts = step.expected if isinstance(step.expected, list) else [step.expected]
    mine = Reference(random_input(element_type, elements, seed), sms=132).expected
    if element_type.startswith("int"):
        assert mine == [int(part) for part in parts]
    else:
        # A step writes the sum of 32-bit numbers as one of them.
        rounding = 2**-24 if element_type in ("float32", "complex64") else 1e-13
        assert mine == pytest.approx([float(part) for part in parts], rel=rounding)


def test_sums_are_verified_and_fit_the_reader(run: Run, libraries: None, tmp_path: Path) -> None:
    ran = run(*TIME, "cupy", "-n", "5000", "-t", ",".join(ELEMENT_TYPES), "-s", "3")
    assert ran.returncode == 0, ran.stderr
    written = results.read_list(tmp_path / "python.json", Result)
    assert [result.type for result in written] == list(ELEMENT_TYPES)
    for result in written:
        assert (result.verified, result.samples, result.version) == (True, 3, "cupy 1.2.3")
        assert result.device.name == "Made Up" and result.timing == results.Timing(
            flush="read", warm_up=3, queued=True, lead_in=0)
    assert (tmp_path / "libraries/freed").read_text().count("\n") == 6
    assert set(json.loads((tmp_path / "python.json").read_text())[0]) == set(json.loads(TEMPLATE.read_text())[1])


def test_a_sum_that_is_no_number_is_wrong(run: Run, libraries: None, tmp_path: Path) -> None:
    ran = run(*TIME, "cupy", "-n", "5000", "-t", "complex64", "-s", "3", NANS="yes")
    assert ran.returncode == 1 and "| **NO** |" in ran.stdout
    [result] = results.read_list(tmp_path / "python.json", Result)
    assert isinstance(result.result, list) and result.result[1] == result.error == "nan" and not result.verified


def test_the_rest_is_measured_where_a_library_fails(run: Run, libraries: None, tmp_path: Path) -> None:
    ran = run(*TIME, "torch,cupy", "-n", "1K", "-t", "int32,int64", "-s", "3", FAILS="1024 int32")
    assert (ran.returncode, ran.stderr.splitlines()) == (3, [
        "not usable: torch: built for another numpy", "not measured: cupy, 2^10 int32: no kernel for this"])
    assert [result.type for result in results.read_list(tmp_path / "python.json", Result)] == ["int64"]
    assert (tmp_path / "libraries/freed").read_text().count("\n") == 2


def test_there_is_no_figure_of_the_hosts_own_time(run: Run, libraries: None, tmp_path: Path) -> None:
    words = (*TIME, "jax", "-n", "4K", "-t", "int32", "-s", "20")
    ran = run(*words, SLOW_HOST="yes")
    assert ran.returncode == 3 and "the host takes as long to ask for a sum as the sum takes" in ran.stderr
    assert not (tmp_path / "python.json").exists()
    ran = run(*words)
    assert ran.returncode == 0, ran.stderr
    assert "| peer_jax | int32 | 2^12 | – | 0.0164 | 0.0164 – 0.0164 | 1.0 |" in ran.stdout
    assert results.read_list(tmp_path / "python.json", Result)[0].timing is None


def test_both_together(run: Run, libraries: None) -> None:
    ran = run(*COMPARE[:4], "-n", "2^12", "-t", "int32", "-s", "3")
    assert ran.returncode == 0 and "| peer_cupy | 0.0 (0.0 %) |\n| peer_jax | 1.0 (0.0 %) |\n" in ran.stdout, ran.stderr


# -S: without the folders of installed packages.
@pytest.mark.parametrize("code, said, words", [
    (3, "not installed: torch, cupy, jax", []), (2, "'0' is no count", ["-n", "0"]), (2, "no count", ["-n", "2^99"]),
    (2, "'complex' is no type", ["-t", "int32,complex"]), (2, "'numpy' is no library", ["--library", "numpy"]),
    (2, "--frobnicate", ["--frobnicate"]), (2, "--json '/nowhere/x'", ["--json", "/nowhere/x"])])
def test_the_timing_refuses(code: int, said: str, words: list[str]) -> None:
    ran = subprocess.run([sys.executable, "-S", "-m", "tools.python_peers", *words], cwd=REPOSITORY,
                         capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (code, "", 1) and said in ran.stderr
