"""What profile makes of Nsight Compute's reports, with a made-up ncu and made-up steps on a GPU."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import fake_programs
from tools import counters, profile
from tools.command_line import REPOSITORY, NotPossible
from tools.programs import Programs

Ran = CompletedProcess[str]

# On a GPU it writes the H200's result, with three launches; emulated it is 03.
STEP = """
name, options = os.path.basename(sys.argv[0]), dict(zip(words, words[1:]))
fake, device = os.environ.get("FAKE_GPU"), words[len(words) - words[::-1].index("--device")]
def fail(code, text):
    sys.exit(print(f"{name}: error: {text}", file=sys.stderr) or code)
if fake == "none":
    fail(3, "no CUDA device: the driver lists no CUDA device")
if fake == "wrong":
    fail(1, "the sum is wrong")
if fake == "full" and name == "04_first_add":
    fail(3, "not enough memory on the device")
if fake == "older" and name == "11_bulk_copy":
    fail(3, "it needs a CUDA device of compute capability 9.0 or higher")
if options.get("-n") == "2x":
    fail(2, "--elements '2x': give a whole number")
if device == "emulated":
    os.execv("BIN/03_sequential", ["03_sequential", *words])
result = json.load(open("LADDER"))[3]
result["passes"] = [] if name.startswith("peer") else result["passes"][:3]
result["elements"] = 2**25 if "--elements=2^25" in words else 2**22
result["ms"]["median"], result["device"]["name"] = 4.95, "NVIDIA Test 9000"
if "--json" in options:
    json.dump(result, open(options["--json"], "w"))
"""

NCU = """
if words == ["--version"]:
    sys.exit(print("Version 2025.3.1.0 (build 1)"))
fake, options = os.environ.get("FAKE_NCU"), dict(zip(words, words[1:]))
metrics = options["--metrics"].split(",")
program = words[words.index("--metrics") + 2]
def fail(text):
    sys.exit(print(f"==ERROR== {text}", file=sys.stderr) or 1)
print("==PROF== Connected to process 4711", file=sys.stderr)
if os.environ["LC_ALL"] != "C":
    fail("numbers as they are written elsewhere")
if fake == "forbidden":
    fail("ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters")
if fake == "broken" or fake == "breaks_later" and program.endswith("/04_first_add"):
    fail("Failed to initialize the profiler: LibraryNotLoaded")
if fake == "older" and any("divergent" in metric or "bytes_write" in metric for metric in metrics):
    fail("Failed to find metric regex:^" + metrics[-1])
values = {"launch__grid_size": "16,384", "gpu__time_duration.sum": os.environ.get("FAKE_TIME", "n/a"),
          "smsp__thread_inst_executed_per_inst_executed.ratio": "17.20",
          "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": "72.46"}
def row(*cells):
    print(",".join(f'"{cell}"' for cell in cells))
print("| step | n |")
row("ID", "Kernel Name", "Grid Size", *metrics)
row("", "", "", *("inst" for _ in metrics))
for k in range(1 if fake == "first_launch_only" else int(options["-c"])):
    kernel = "void reduce_kernel<unsigned int>(const T1 *, T1 *, unsigned long)"
    if options["-k"] == "regex:DeviceReduce":
        name = "ReduceSingleTileKernel" if k == 1 or fake == "one_tile" else "ReduceKernel"
        kernel = f"void cub::detail::reduce::Device{name}<Policy<unsigned int, (int)4>, int *>(T2, T3, T4)"
    row(k, kernel, "(16384, 1, 1)", *("n/a" if fake == "no_values" else values.get(metric, "1,234,567")
                                      for metric in metrics))
"""


@pytest.fixture
def machine(tmp_path: Path, bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ncu in tools/, which is on PATH, and the steps in bin/."""
    source = STEP.replace("BIN", str(bin_folder)).replace(
        "LADDER", str(REPOSITORY / "docs/results/nvidia_h200/ladder.json"))
    for name in ["00_cpu_serial", *counters.steps(), "peer_cub"]:
        fake_programs.make(tmp_path / "bin", name, source)
    fake_programs.make(tmp_path / "tools", "ncu", NCU)
    monkeypatch.setenv("PATH", fake_programs.path_with(tmp_path / "tools")["PATH"])
    monkeypatch.setenv("FAKE_TIME", "1,500,000")
    return tmp_path


@pytest.fixture
def run(machine: Path, tools: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Runs profile on this machine, with a variable of its environment as in FAKE_GPU=none."""

    def run(words: str, fake: str = "FAKE=") -> Ran:
        with monkeypatch.context() as patch:
            patch.setenv(*fake.split("=", 1))
            return tools("profile", "--bin", machine / "bin", *words.split())

    return run


@pytest.mark.parametrize("words, fake, code, said", [
    ("03_sequential", "PATH=/nowhere", 3, "there is no ncu on PATH"),
    ("--counters", "PATH=/nowhere", 3, "there is no ncu on PATH"),
    ("", "FAKE=", 2, "STEP is missing: choose from 01_interleaved, 02"),
    ("03_sideways", "FAKE=", 2, "'03_sideways': choose from 01_interleaved, 02"),
    ("00_cpu_serial", "FAKE=", 2, "'00_cpu_serial': choose from"),
    ("03_sequential --bin", "FAKE=", 2, "--bin: expected one argument"),
    ("03_sequential --bin docs", "FAKE=", 2, "docs': build them with ./run_ladder.sh"),
    ("03_sequential --sweep=block", "FAKE=", 2, "--sweep is not for"),
    ("03_sequential --out file", "FAKE=", 2, "--out is not for"),
    ("03_sequential --device emulated", "FAKE=", 2, "cuda or cuda:N"),
    ("03_sequential -n 2x", "FAKE=", 2, "03_sequential failed: 03_sequential: error: --elements '2x'"),
    ("03_sequential", "FAKE_GPU=wrong", 1, "03_sequential failed: 03_sequential: error: the sum is wrong"),
    ("03_sequential", "FAKE_GPU=none", 3, "03_sequential does not run on a GPU here: 03_sequential: error: no CUDA"),
    ("03_sequential", "FAKE_NCU=forbidden", 3, "NVreg_RestrictProfilingToAdminUsers=0"),
    ("03_sequential", "FAKE_NCU=forbidden", 3, "-m tools profile --bin"),
    ("03_sequential", "FAKE_NCU=broken", 3, "counted nothing in 03_sequential; its last words:\n==PROF=="),
    ("03_sequential", "FAKE_NCU=no_values", 3, "counted nothing in 03_sequential"),
    ("03_sequential", "FAKE_NCU=first_launch_only", 3, "reported 1 launches of 03_sequential, and a reduction has 3"),
    ("--counters 03_sequential", "FAKE=", 2, "'03_sequential': --counters takes all steps"),
    ("--counters -n 5", "FAKE=", 2, "--counters takes all steps"),
    ("--counters --out docs/nowhere/out.csv", "FAKE=", 2, "in a folder that can be written"),
    ("--counters --bin docs", "FAKE=", 2, "there is no 01_interleaved in"),
    ("--counters", "FAKE_GPU=none", 3, "01_interleaved does not run on a GPU here: 01_interleaved: error: no CUDA"),
])
def test_refusals(run: Callable[..., Ran], words: str, fake: str, code: int, said: str) -> None:
    refused = run(words, fake)
    assert (refused.returncode, refused.stdout) == (code, "") and said in refused.stderr, refused.stderr


def test_one_reduction(run: Callable[..., Ran]) -> None:
    # Three launches, which count 1234567 of everything but blocks each.
    printed = run("03_sequential").stdout
    for text in (
            "**03_sequential**, one reduction of 4194304 int32 in blocks of 256, on NVIDIA Test 9000, as Nsight "
            "Compute 2025.3.1.0 counts it:\n\n| | Nsight Compute's metric | GPU | emulated |\n|:--|:--|--:|--:|\n"
            "| blocks | `launch__grid_size` | 49152 | 16449 |\n"
            "| shared loads: wavefronts | `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum` | 3703701 | 411225 |",
            "\n| shared loads: without conflicts | their difference | 0 | 411225 |\n",
            "\n| global stores: sectors | `l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum` | 3703701 | 16449 |\n",
            "\n| bytes read from DRAM | `dram__bytes_read.sum` | 3703701 | – |\n",
            "\n\nThe emulated device has an H200's 132 multiprocessors: where a grid fills the device, this GPU takes",
            "\n\n| launch | kernel | blocks | µs | % of DRAM's peak |\n|--:|:--|--:|--:|--:|\n| 1 | reduce_kernel |",
            "\n| 3 | reduce_kernel | 16384 | 1500.00 | 72.5 |\n\nTime: ncu gives 4.5000 ms (gpu__time_duration, 3 "
            "launches), the step's own median is 4.9500 ms: +0.4500 ms, +10.0 %.\nThe step times from before"):
        assert text in printed, printed


@pytest.mark.parametrize("words, fake, said", [
    ("03_sequential", "FAKE_TIME=n/a", "ncu gives none here (gpu__time_duration); the step's own median is 4.95 ms."),
    ("03_sequential", "FAKE_NCU=older", "`dram__bytes_write.sum` | missing | – |"),
    ("03_sequential -t int16", "FAKE=", "The emulated device did not count: 03_sequential: error: --type"),
    ("03_sequential --elements=2^25", "FAKE=", "| blocks | `launch__grid_size` | 49152 |\n"),
    ("03_sequential --elements=2^25", "FAKE=", "up to 2^24 elements"),
    # A library: no passes of the harness, no emulated device.
    ("peer_cub", "FAKE=", "| 2 | DeviceReduceSingleTileKernel | 16384 |"),
    ("peer_cub", "FAKE=", "A library's kernels do not run on the emulated device."),
    ("peer_cub", "FAKE_NCU=one_tile", "(gpu__time_duration, 1 launch)"),
])
def test_what_is_not_there_is_said(run: Callable[..., Ran], words: str, fake: str, said: str) -> None:
    ran = run(words, fake)
    assert ran.returncode == 0 and said in ran.stdout, ran.stdout + ran.stderr


def test_the_time_of_a_reduction(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = Programs(machine / "bin")
    assert profile.kernel_milliseconds(programs, "03_sequential", ["-n", "2^28"]) == (4.5, 4.95)
    assert profile.kernel_milliseconds(programs, "peer_cub", []) == (3.0, 4.95)
    for name, value in (("FAKE_TIME", "n/a"), ("FAKE_NCU", "forbidden"), ("FAKE_GPU", "none")):
        with monkeypatch.context() as patch, pytest.raises(NotPossible):
            patch.setenv(name, value)
            profile.kernel_milliseconds(programs, "03_sequential", [])


def test_all_steps_into_a_file(
        run: Callable[..., Ran], machine: Path, monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str]) -> None:
    command = f"--counters --out {machine / 'out.csv'}"
    for fake, said in (("broken", "LibraryNotLoaded"), ("breaks_later", "counted nothing in 04_first_add")):
        refused = run(command, f"FAKE_NCU={fake}")
        assert refused.returncode == 3 and said in refused.stderr and not list(machine.glob("*.csv*"))

    # Where no file is named, the GPU's name is the file's.
    monkeypatch.setattr(counters, "FOLDER", machine)
    for fake in ("TIME=n/a", "NCU=older", "GPU=older"):
        monkeypatch.setenv(*f"FAKE_{fake}".split("="))
    assert profile.main(["--counters", "--bin", str(machine / "bin")]) == 0
    said = capfd.readouterr().err
    assert "smsp__sass_branch_targets_threads_divergent.sum: not on this GPU" in said and "9000.csv is written" in said
    assert "11_bulk_copy does not run on this GPU: 11_bulk_copy: error: it needs a CUDA device" in said
    file = machine / "nvidia_test_9000.csv"
    lines, h200 = (path.read_text().splitlines() for path in (file, REPOSITORY / "docs/counters/nvidia_h200.csv"))
    assert lines[1] == "# GPU: NVIDIA Test 9000, compute capability 9.0" and lines[6] == h200[6]  # the command
    assert [line.split(",")[:2] for line in lines[7:]] == [line.split(",")[:2] for line in h200[7:]]
    for line in ("07_cascade,smsp__inst_executed.sum,1234567", "07_cascade,launch__grid_size,16384",
                 "03_sequential,smsp__thread_inst_executed_per_inst_executed.ratio,17.20",
                 "12_any_operation,smsp__inst_executed.sum,1234567", "01_interleaved,gpu__time_duration.sum,missing",
                 "05_unroll_warp,smsp__sass_branch_targets_threads_divergent.sum,missing"):
        assert line in lines
    assert all(line.endswith(",missing") for line in lines if line.startswith("11_bulk_copy"))
    assert counters.read(file)[1]["07_cascade"]["launch__grid_size"] == 16384

    # Any failure of a step, but for "it needs another GPU", is ncu's to tell; the earlier file stays.
    monkeypatch.setenv("FAKE_NCU", "breaks_later")
    refused = run(f"--counters --out {file}", "FAKE_GPU=full")
    assert refused.returncode == 3 and "counted nothing in 04_first_add" in refused.stderr
    assert file.read_text().splitlines() == lines
