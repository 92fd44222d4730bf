"""Measuring with a GPU and steps that are made up: what is written, what is refused, and that a second call goes on."""

import importlib.util
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import fake_programs
import pytest

from tools import results
from tools.command_line import REPOSITORY
from tools.measure import KEPT, PARTS
from tools.results import Result, SecondClock

Ran = subprocess.CompletedProcess[str]
Measure = Callable[..., Ran]
H200 = REPOSITORY / "docs/results/nvidia_h200"
ATOMICS = ("atomic_each", "atomic_vector", "atomic_block")
STEPS = ("00_cpu_serial", "01_interleaved", "07_cascade", "11_bulk_copy", "12_any_operation", "13_many_gpus",
         "peer_cub")

NVIDIA_SMI = """
    if "--id=7" in words: sys.exit(6)
    print("123.45" if "--query-gpu=driver_version" in words else "Made Up 3" if "--id=3" in words else "Made Up 9000")
"""
NCU = """
    if "NO_COUNTERS" in os.environ or "11_bulk_copy" in " ".join(words): sys.exit(1)
    print('"ID","Kernel Name","gpu__time_duration.sum"\\n"","","ns"\\n"0","DeviceReduceSingleTile","900000"')
"""
# It writes what a real step would. A file beside it, as 07_cascade.fails, says that it does not.
STEP = """
    import copy, pathlib, time
    here = pathlib.Path(sys.argv[0])
    option = lambda name, default=None: words[words.index(name) + 1] if name in words else default
    number, _, exponent = option("-n", "2^28").partition("^")
    elements = int(number) ** int(exponent or 1)
    probed = elements == 1024 and option("-s") == "1"
    def leave(code, text):
        print(here.name + ": " + text, file=sys.stderr)
        sys.exit(code)
    if here.name.startswith("13_") and "--sweep" in words: leave(2, "error: --sweep: unknown")
    if here.with_suffix(".newer").exists(): leave(3, "error: it needs a newer GPU")
    if here.with_suffix(".fails").exists() and not probed: leave(1, "it is broken")
    if here.with_suffix(".slow").exists() and not probed: time.sleep(30)
    def result(elements=elements, type=option("-t", "int32"), block=256):
        it = copy.deepcopy(template)
        it["device"].update(kind="cpu" if here.name < "01" else "cuda", name="Made Up 9000", peak_gbps=2000.0)
        it["timing"].update(flush=option("--flush", "read"), warm_up=int(option("--warm-up", 3)),
                            queued=option("--queue") != "off", lead_in=int(option("--lead-in", 8)))
        it["ms"].update(median=1.0, p5=0.9, p95=1.1, min=0.9)
        it.update(step=here.name, type=type, elements=elements, block=None if here.name[:1] in "0p" else block,
                  gbps=1000.0, percent_of_peak=50.0, passes=[])
        return it
    template = json.loads(pathlib.Path("LADDER").read_text())[1]
    swept = {"type": [{"type": "int32"}, {"type": "float64"}], "block": [{"block": 32}, {"block": 1024}],
             "size": [{"elements": 1024}, {}]}.get(option("--sweep"))
    pathlib.Path(option("--json", "/dev/null")).write_text(
        json.dumps([result(**other) for other in swept] if swept else result()))
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory, bin_folder: Path) -> Path:
    """A folder with `bin` and `path`."""
    folder = tmp_path_factory.mktemp("machine")
    fake_programs.make(folder / "path", "nvidia-smi", NVIDIA_SMI)
    fake_programs.make(folder / "path", "nvcc", "print('Cuda compilation tools, release 12.9, V12.9.1')")
    fake_programs.make(folder / "path", "ncu", NCU)
    for step in STEPS + ATOMICS:
        fake_programs.make(folder / "bin", step, STEP.replace("LADDER", str(H200 / "ladder.json")))
    (folder / "bin/ladder_table").symlink_to(bin_folder / "ladder_table")
    return folder


@pytest.fixture(scope="module")
def measure(machine: Path, tools: Callable[..., Ran]) -> Measure:
    """Measures into the folder. The last of an option's values counts."""

    def call(folder: Path, *words: str, **environment: str) -> Ran:
        return tools("measure", "--bin", machine / "bin", "--commit", "c0ffee", "--largest", "2^20", *words, folder,
                     env=fake_programs.path_with(machine / "path") | environment)

    return call


@pytest.fixture(scope="module")
def complete(measure: Measure, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """The results of one call, and what it said."""
    folder = tmp_path_factory.mktemp("complete") / "results"
    ran = measure(folder)
    assert ran.returncode == 0, ran.stderr
    return folder, ran


@contextmanager
def marked(machine: Path, *names: str) -> Iterator[None]:
    """Steps are others meanwhile."""
    for name in names:
        (machine / "bin" / name).touch()
    yield
    for name in names:
        (machine / "bin" / name).unlink()


def made(ran: Ran, part: str) -> list[str]:
    """The runs of a part."""
    return [line.removeprefix(f"{part}: ") for line in ran.stderr.splitlines()
            if line.startswith(f"{part}: ") and "already" not in line]


def contents(folder: Path) -> dict[str, str]:
    """Of the files, but for the plots."""
    return {file.name: file.read_text() for file in folder.iterdir() if file.suffix != ".svg"}


def test_measures_everything(complete: tuple[Path, Ran]) -> None:
    folder, ran = complete
    for part in set(PARTS) - {"second_clock"}:
        assert all(result.verified for result in results.read_list(folder / f"{part}.json", Result))
    clocks = results.read_list(folder / "second_clock.json", SecondClock)
    assert {(clock.ncu_ms, clock.step_ms) for clock in clocks} == {(0.9, 1.0)}
    assert "second_clock: 11_bulk_copy is left out: ncu counted nothing" in ran.stderr
    measured = results.read_one(folder / "measured.json", results.Measured)
    assert (measured.gpu, measured.driver, measured.cuda) == ("Made Up 9000", "123.45", "12.9")
    assert (measured.command, measured.commit) == ("python3 -m tools measure --largest 2^20", "c0ffee")
    page = (folder / "README.md").read_text()
    for line in ("# Results · Made Up 9000", "| 07_cascade | 1.0000 | 1000.0 | 50.0 | 1.00 | 1.00 | 100.0 |",
                 "| 2^20 | 1000.0 | 1000.0 | 1000.0 |", "Their geometric mean: 1.00.",
                 "| atomic_each | float32 | 2^25 | 1.0000 |"):
        assert line in page
    assert [file.name for file in folder.parent.iterdir()] == ["results"] and not (folder / "parts").exists()
    if importlib.util.find_spec("matplotlib"):
        assert "Made Up 9000" in (folder / "ladder.svg").read_text()
    else:
        assert "There are no plots: " in ran.stderr
    # The header and CUB in turn, each type to the bytes of 2^20 int32.
    types = {"int32": 20, "int64": 19, "float32": 20, "float64": 19, "complex64": 19, "complex128": 18}
    assert made(ran, "sweep_size_types") == [f"{step} --sweep size -t {of_type} -n {2**exponent} -s 200"
                                             for of_type, exponent in types.items()
                                             for step in ("12_any_operation", "peer_cub")]
    assert made(ran, "atomics") == [f"{step} -t {chosen} -s 20" for step in ATOMICS for chosen in
                                    ("float32 -n 2^15", "float32 -n 2^20", "float32 -n 2^25", "int32 -n 2^25")]
    assert len(made(ran, "method_warm_up")) == 40


def test_goes_on_where_it_stopped(measure: Measure, machine: Path, complete: tuple[Path, Ran], tmp_path: Path) -> None:
    """After a limit, a failing step and a damaged file all is as if nothing had stopped it."""
    folder = tmp_path / "results"
    for step in ("00_cpu_serial", "01_interleaved"):
        stopped = measure(folder, "--limit", "0")
        assert stopped.returncode == 75 and f"Measured until now: {folder}.new; call again" in stopped.stderr
        assert made(stopped, "ladder") == [step]
    with marked(machine, "11_bulk_copy.fails"):
        failed = measure(folder)
    assert failed.returncode == 1 and "11_bulk_copy: it is broken" in failed.stderr
    assert "Measured until now" in failed.stderr and "error: 11_bulk_copy: exit code 1" in failed.stderr
    assert made(failed, "ladder") == ["07_cascade", "11_bulk_copy"]
    [damaged] = tmp_path.glob("results.new/parts/ladder.*07_cascade.json")
    damaged.write_text(damaged.read_text()[:200])
    rest = measure(folder)
    assert rest.returncode == 0 and "ladder: 2 of 6 runs are measured already" in rest.stderr
    assert f"measured again: '{damaged}' is no JSON" in rest.stderr
    assert made(rest, "ladder") == ["07_cascade", "11_bulk_copy", "12_any_operation", "peer_cub"]
    assert contents(folder) == contents(complete[0])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it(measure: Measure, machine: Path, tmp_path: Path, number: signal.Signals) -> None:
    folder = tmp_path / "results"
    with marked(machine, "01_interleaved.slow"):
        process = subprocess.Popen(
            [sys.executable, "-m", "tools", "measure", "--bin", machine / "bin", "--commit", "c0ffee", folder],
            env=fake_programs.path_with(machine / "path"), cwd=REPOSITORY, stderr=subprocess.PIPE, text=True)
        assert process.stderr
        said = iter(process.stderr.readline, "")
        assert "ladder: 01_interleaved\n" in said
        second = measure(folder, "--afresh")
        assert second.returncode == 3 and "another process measures into" in second.stderr
        process.send_signal(number)
        assert process.wait(10) == 130 and "Measured until now" in "".join(said)
    assert len(list(tmp_path.glob("results.new/parts/*.json"))) == 1


@pytest.mark.parametrize("words, environment, difference", [
    (["--largest", "2^21"], {}, "command, 'python3 -m tools measure --largest 2^20', and this is"),
    (["--commit", "cafe"], {}, "commit, 'c0ffee', and this is 'cafe'"),
    ([], {"CUDA_VISIBLE_DEVICES": "3,0"}, "gpu, 'Made Up 9000', and this is 'Made Up 3'")])
def test_another_measurement_does_not_go_on(measure: Measure, tmp_path: Path, words: list[str],
                                            environment: dict[str, str], difference: str) -> None:
    folder = tmp_path / "results"
    assert measure(folder, "--limit", "0").returncode == 75
    refused = measure(folder, *words, **environment)
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1
    assert difference in refused.stderr and "--afresh" in refused.stderr
    afresh = measure(folder, *words, "--limit", "0", "--afresh", **environment)
    assert afresh.returncode == 75 and made(afresh, "ladder") == ["00_cpu_serial"]


def test_measures_some_parts_only(measure: Measure, tmp_path: Path) -> None:
    """The header goes as far as the sweep of sizes, and to 2^30 elements."""
    early = measure(tmp_path / "results", "--only", "sweep_size_types")
    assert early.returncode == 2 and "measure that one first" in early.stderr
    ran = measure(tmp_path / "large", "--largest", "2^34", "--only", "sweep_size", "--only", "sweep_size_types")
    assert ran.returncode == 0 and not made(ran, "ladder") and not (tmp_path / "large").exists()
    assert "peer_cub --sweep size -s 50 -n 2^34" in made(ran, "sweep_size")
    for of_type in ("int32", "complex128"):
        assert f"peer_cub --sweep size -t {of_type} -n 1073741824 -s 200" in made(ran, "sweep_size_types")


def test_the_old_results_stay_until_the_new_ones_are_there(measure: Measure, complete: tuple[Path, Ran],
                                                           tmp_path: Path) -> None:
    folder = shutil.copytree(complete[0], tmp_path / "results")
    for name in KEPT:
        shutil.copy(H200 / name, folder)
    (folder / "peers.json").write_text("[]")
    before = contents(folder)
    # The page cannot be written.
    assert measure(folder).returncode == 2
    assert contents(folder) == before
    shutil.copy(H200 / "peers.json", folder)
    again = measure(folder)
    assert again.returncode == 0 and "method_warm_up: 40 of 40 runs are measured already" in again.stderr
    assert all((folder / name).read_text() == (H200 / name).read_text() for name in KEPT)
    assert [entry.name for entry in tmp_path.iterdir()] == ["results"]


def test_leaves_out_what_this_gpu_cannot_run(measure: Measure, machine: Path, tmp_path: Path) -> None:
    (machine / "bin/atomic_vector").rename(machine / "atomic_vector")
    (tmp_path / "older").mkdir()
    with marked(machine, "11_bulk_copy.newer", "12_any_operation.newer"):
        ran = measure(tmp_path / "older", NO_COUNTERS="1")
        with marked(machine, "07_cascade.newer"):
            none = measure(tmp_path / "none")
    (machine / "atomic_vector").rename(machine / "bin/atomic_vector")
    assert ran.returncode == 0 and made(ran, "second_clock")[:1] == ["01_interleaved -n 2^28"]
    assert not (tmp_path / "older/second_clock.json").exists() and "second_clock: 07_cascade" not in ran.stderr
    for said in ("13_many_gpus is left out: 13_many_gpus: error: --sweep: unknown",
                 "11_bulk_copy is left out: 11_bulk_copy: error: it needs a newer GPU",
                 "sweep_size_types is left out: there is no 12_any_operation", "atomics are left out: there is no"):
        assert said in ran.stderr
    steps = [result.step for result in results.read_list(tmp_path / "older/ladder.json", Result)]
    assert steps == ["00_cpu_serial", "01_interleaved", "07_cascade", "peer_cub"]
    page = (tmp_path / "older/README.md").read_text()
    assert "against CUB" not in page and "## Atomics" not in page
    assert none.returncode == 3 and "07_cascade and peer_cub have to run on the GPU" in none.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["older"]


@pytest.mark.parametrize("said, words", [
    ("unrecognized arguments: --nonsense", ["--nonsense"]),
    ("--commit: expected one argument", ["--commit"]),
    ("there is no 07_cascade in '/nonexistent'", ["--bin", "/nonexistent"]),
    ("unrecognized arguments: third", ["other", "third"]),
    ("--largest: '2^x' is no count", ["--largest", "2^x"]),
    ("--largest: '512': the size sweep begins at 2^10", ["--largest", "512"]),
    ("--only: invalid choice: 'ladders' (choose from 'ladder', 'repeat'", ["--only", "ladders"]),
    ("cannot be made", ["/dev/null/other"]),
    ("has something else than results in it", ["HOME"]),
    ("has something else than results in it", ["HOME/thesis"])])
def test_refuses_in_one_line(tools: Callable[..., Ran], machine: Path, tmp_path: Path, said: str,
                             words: list[str]) -> None:
    (tmp_path / "thesis").touch()
    words = [word.replace("HOME", str(tmp_path)) for word in words]
    refused = tools("measure", "--bin", machine / "bin", "--commit", "c0ffee", *words,
                    env=fake_programs.path_with(machine / "path"))
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1) and said in refused.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["thesis"]


def test_refuses_a_machine_without_a_gpu(measure: Measure, tmp_path: Path) -> None:
    fake_programs.make(tmp_path / "path", "nvidia-smi", "sys.exit(print('No devices were found') or 6)")
    for environment, said in ((fake_programs.path_with(tmp_path / "path"), "there is no NVIDIA GPU here"),
                              ({"CUDA_VISIBLE_DEVICES": "7"}, "no such GPU: CUDA_VISIBLE_DEVICES=7")):
        refused = measure(tmp_path / "other", **environment)
        assert (refused.returncode, refused.stderr.count("\n")) == (3, 1) and said in refused.stderr
