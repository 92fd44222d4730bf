"""run_ladder.sh with a build, a GPU and steps that are made up, and what run_tests.sh makes of ctest's words."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import fake_programs
from tools.programs import EMULATED, steps_of

CLASSIC = ["00_cpu_serial", *steps_of("ladder")]
BEYOND = [*CLASSIC, *(step for step in steps_of("beyond") if step in EMULATED)]
ALL = [*CLASSIC, *steps_of("beyond", "peer")]
OLDER_GPU = [step for step in ALL if step != "11_bulk_copy"]

# A step writes where it ran, and fails or waits where its name is in FAILS or WAITS.
STEP = """
import time
name = os.path.basename(sys.argv[0])
if "--nonsense" in words:
    sys.exit(print(name, "error: --nonsense", file=sys.stderr) or 2)
if "--help" in words:
    sys.exit(print("the options of", name))
if name == "ladder_table":
    print("table", *words)
    sys.exit()
print(name, *words[:words.index("--json")], flush=True)
if name == os.environ.get("WAITS"):
    time.sleep(30)
with open(words[words.index("--json") + 1], "w") as file:
    json.dump({"kind": os.environ.get("KIND"), "compute_capability": os.environ.get("CAPABILITY", "9.0")}, file)
sys.exit(int(os.environ["STATUS"]) if name == os.environ.get("FAILS") else 0)
"""
# The build of all waits until 01 has run, announces the programs, and goes on until it is ended; BREAKS is what does
# not compile.
CMAKE = f"""
import glob, signal, time
if words[0] == "--version":
    print("cmake version 3.25.1")
if words[-1] in ("climb", "climb_beyond"):
    with open("build/process", "w") as file:
        file.write(str(os.getpid()))
    signal.alarm(20)
    print("[0/2] Re-checking globbed directories...")
    print("[1/2] ready: 01_interleaved", flush=True)
    while not glob.glob("build/results/01_interleaved.json"):
        time.sleep(0.02)
    for program in {[*ALL, "ladder_table"]}:
        if program == os.environ.get("BREAKS"):
            sys.exit("main.cu:1: error: made up")
        print("[2/2] ready:", program, flush=True)
    signal.pause()
elif words[0] == "--build":
    print("ninja: no work to do.")
"""


def start(folder: Path, *options: str, **variables: str) -> "subprocess.Popen[str]":
    """Starts a run_ladder.sh whose build is made up, in a folder of its own."""
    fake = fake_programs.make_ladder(folder, CMAKE)
    fake_programs.make(fake, "nproc", "print(2)")
    for name in (*ALL, "ladder_table"):
        fake_programs.make(folder / "build/bin", name, STEP)
    return subprocess.Popen([folder / "run_ladder.sh", *options], env={**fake_programs.path_with(fake), **variables},
                            process_group=0, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def table(names: list[str], rest: str = "\n") -> str:
    return " ".join(["table", *(f"build/results/{name}.json" for name in names)]) + rest


@pytest.mark.parametrize("options, variables, code, said", [
    ("-n4M --type=float32", {}, 0, ["00_cpu_serial -n4M --type=float32\n", "01_interleaved -n4M",
                                    table(CLASSIC), "!\n08_warp", "!\npeer_cub"]),
    ("", {}, 0, ["\n00_cpu_serial\n", "01_interleaved --compare build/results/00_cpu_serial.json\n",
                 "07_cascade --compare build/results/06_templated.json\n", "!README.md"]),
    ("--beyond -q", {}, 0, [table(BEYOND), "11_bulk_copy takes a GPU of compute capability 9.0 or higher",
                            "12_any_operation takes a GPU: skipped", "!\npeer_cub"]),
    ("", {"KIND": "cuda"}, 0, [table([*CLASSIC, "peer_cub"]), "!\n08_warp"]),
    ("--beyond --json={folder}/all.json", {"KIND": "cuda"}, 0, [table(ALL, " --json {folder}/all.json\n")]),
    ("--beyond", {"KIND": "cuda", "CAPABILITY": "8.6"}, 0,
     [table(OLDER_GPU), "11_bulk_copy takes a GPU of compute capability 9.0"]),
    ("", {"FAILS": "03_sequential", "STATUS": "1"}, 1, [table(CLASSIC), "wrong result: 03_sequential"]),
    ("", {"FAILS": "03_sequential", "STATUS": "3"}, 3, ["03_sequential", "!\n04_first_add", "!table"]),
    ("", {"BREAKS": "04_first_add"}, 3, ["03_sequential", "main.cu:1: error: made up", "the build failed",
                                         "!\n04_first_add"]),
    ("", {"FAILS": "03_sequential", "STATUS": "139"}, 3, ["03_sequential crashed: exit code 139", "!\n04_first_add"]),
    ("", {"FAILS": "03_sequential", "STATUS": "1", "BREAKS": "05_unroll_warp"}, 1, ["wrong result: 03_sequential"]),
    ("-q -n=-1 -s2 --json -", {}, 0, ["00_cpu_serial -q -n=-1 -s2\n", table(CLASSIC, " --json -\n")])])
def test_run_ladder(tmp_path: Path, options: str, variables: dict[str, str], code: int, said: list[str]) -> None:
    """`said` has parts of the output, and behind an exclamation mark what is not in it."""
    ladder = start(tmp_path, *options.format(folder=tmp_path).split(), **variables)
    output = ladder.communicate()[0]
    assert ladder.returncode == code, output
    assert "Re-checking" not in output and "no work to do" not in output
    for text in said:
        assert (text.strip("!").format(folder=tmp_path) in output) != text.startswith("!"), f"{text} in\n{output}"


def test_ctrl_c_ends_the_build_and_shows_the_table(tmp_path: Path) -> None:
    ladder = start(tmp_path, WAITS="02_nondivergent")
    assert ladder.stdout
    output = ""
    while "02_nondivergent --compare" not in output:
        output += ladder.stdout.readline() or pytest.fail(output)
    # It reaches the process group of a terminal, which the build is not in.
    os.killpg(ladder.pid, signal.SIGINT)
    assert ladder.wait() == 130
    # A process that has ended may wait for whoever reaps orphans here.
    build = Path("/proc", (tmp_path / "build/process").read_text(), "stat")
    assert not build.exists() or build.read_text().rsplit(") ")[1][0] == "Z", "the build goes on"
    output += ladder.communicate()[0]
    assert table(["00_cpu_serial", "01_interleaved"]) in output and "03_sequential" not in output, output


@pytest.mark.parametrize("options, said", [
    (["-q", "--"], "run_ladder.sh: error: '--' is of one step"),
    (["--compare", "x.json"], "run_ladder.sh: error: '--compare' is of one step"),
    (["--trace=x.html"], "run_ladder.sh: error: '--trace=x.html' is of one step"),
    (["--json"], "run_ladder.sh: error: --json needs a value"), (["--json", "-q"], "run_ladder.sh: error: --json "),
    (["--json="], "run_ladder.sh: error: --json needs a value"),
    (["--json", "/nowhere/x"], "run_ladder.sh: error: --json '/nowhere/x' cannot be written; name a file in a folder"),
    (["--json", "/tmp"], "run_ladder.sh: error: --json '/tmp' cannot be written"),
    (["--json", "new/"], "run_ladder.sh: error: --json 'new/' cannot be written"),
    (["-n4", "--nonsense", "--beyond"], "00_cpu_serial error: --nonsense")])
def test_run_ladder_refuses(tmp_path: Path, options: list[str], said: str) -> None:
    """In one line, before it makes or runs anything; what the steps refuse, in the words of one that is built."""
    fake_programs.make(tmp_path / "build/bin", "00_cpu_serial", STEP)
    refused(tmp_path, "run_ladder.sh", options, said)


def test_the_first_step_refuses_where_none_is_built(tmp_path: Path) -> None:
    build = f"if words[-1] == '00_cpu_serial':\n    os.rename('built', 'build/bin')\n{CMAKE}"
    fake = fake_programs.make_ladder(tmp_path, build)
    fake_programs.make(tmp_path / "built", "00_cpu_serial", STEP)
    ran = subprocess.run([tmp_path / "run_ladder.sh", "--nonsense"], capture_output=True, text=True,
                         env=fake_programs.path_with(fake) | {"REDUCTION_CUDA": "OFF"})
    assert (ran.returncode, ran.stdout) == (2, ""), ran
    assert ran.stderr == "Configuring build\n00_cpu_serial error: --nonsense\n"


@pytest.mark.parametrize("file, given", [
    ("all.json", "{folder}/all.json"), ("link", "{folder}/link"), ("/dev/null", "/dev/null")])
def test_run_ladder_takes_other_files(tmp_path: Path, file: str, given: str) -> None:
    """What it does not refuse goes to the table's program, from the folder of whoever calls it."""
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    fake = fake_programs.make_ladder(tmp_path, CMAKE)
    for name in (*ALL, "ladder_table"):
        fake_programs.make(tmp_path / "build/bin", name, STEP)
    ran = subprocess.run([tmp_path / "run_ladder.sh", "-q", "--json", file], cwd=tmp_path, capture_output=True,
                         text=True, env=fake_programs.path_with(fake))
    wanted = table(CLASSIC, f" --json {given.format(folder=tmp_path)}\n")
    assert ran.returncode == 0 and ran.stdout.endswith(wanted), ran


def refused(folder: Path, script: str, options: list[str], said: str) -> None:
    fake = fake_programs.make_ladder(folder, "sys.exit('there is no need for CMake')")
    before = sorted(folder.rglob("*"))
    ran = subprocess.run([folder / script, *options], capture_output=True, text=True, env=fake_programs.path_with(fake))
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1), ran
    assert ran.stderr.startswith(said), ran.stderr
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("options, said", [
    ("--tests-rege x", "'--tests-rege' is not known here"), ("-Z", "'-Z' is not known here"),
    ("--stop", "'--stop' is not known here"), ("Table", "'Table': an option takes one value, as -R Table"),
    ("-V -R", "'-V -R': an option takes one value")])
def test_run_tests_refuses(tmp_path: Path, need: Callable[[str], str], options: str, said: str) -> None:
    """CTest itself would run all tests."""
    need("ctest")
    fake = fake_programs.make_ladder(tmp_path, "sys.exit('there is no need for CMake')")
    ran = subprocess.run([tmp_path / "run_tests.sh", *options.split()], capture_output=True, text=True,
                         env=fake_programs.path_with(fake))
    assert ran.returncode == 2 and ran.stderr.startswith(f"run_tests.sh: error: {said}"), ran


@pytest.mark.parametrize("ended, chosen, code, said", [
    (0, "03_sequential", 0, ""), (8, "03_sequential", 1, "a test failed"), (70, "03_sequential", 3, "a test failed"),
    (0, "", 2, "there is no such test: -R x -LE gpu")])
def test_run_tests_builds_what_it_runs(tmp_path: Path, ended: int, chosen: str, code: int, said: str) -> None:
    """And hands on every option of ctest."""
    options = ["-R", "x", "-LE", "gpu", "-j4", "--no-tests=ignore", "--stop-on-failure", "-I", "1,3", "-V"]
    fake = fake_programs.make_ladder(tmp_path, """
if words[0] == "--version":
    print("cmake version 3.25.1")
elif words[0] == "--build":
    print("built", *words[words.index("--target") + 1:])
""")
    tests = {"tests": [{"command": ["sh", f"{tmp_path}/build/bin/{chosen}"]}] if chosen else []}
    fake_programs.make(fake, "ctest", f"""
if words == ["--help"]:
    print("  -R <regex>, -LE <regex>, -I [Start], --no-tests=<>, --stop-on-failure, -V")
elif "--show-only=json-v1" in words:
    print(json.dumps({tests}, indent=2, separators=(",", " : ")))
else:
    print(*words)
    sys.exit({ended})
""")
    ran = subprocess.run([tmp_path / "run_tests.sh", *options], capture_output=True, text=True,
                         env=fake_programs.path_with(fake))
    assert ran.returncode == code and said in ran.stderr, ran
    if chosen:
        assert " ".join(options) in ran.stdout and f"built {chosen}\n" in ran.stderr, ran


@pytest.mark.parametrize("script, options, said", [
    ("run_ladder.sh", "--help", "Usage: ./run_ladder.sh [--beyond] [OPTIONS]"), ("run_ladder.sh", "-q -h", "Usage: "),
    ("run_ladder.sh", "--version", "run_ladder.sh "), ("run_tests.sh", "--help", "Runs every test that is done")])
def test_help_takes_no_build(tmp_path: Path, script: str, options: str, said: str) -> None:
    fake = fake_programs.make_ladder(tmp_path, "sys.exit('there is no need for CMake')")
    ran = subprocess.run([tmp_path / script, *options.split()], capture_output=True, text=True,
                         env=fake_programs.path_with(fake))
    assert (ran.returncode, ran.stderr) == (0, "") and ran.stdout.startswith(said)
    assert not list(tmp_path.glob("build*"))
