"""run_ladder.sh and run_tests.sh with a build, a GPU and steps that are made up: what is built and run, what is
refused, one run at a time, and what a machine may lack."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest

import fake_programs
from tools.programs import EMULATED, steps_of

Running = subprocess.Popen[str]
Start = Callable[..., Running]

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
elif words[0] == "--preset":
    time.sleep(0.5)
    with open("build/CMakeCache.txt", "w") as cache:
        cache.write("REDUCTION_BUILD_TESTS:BOOL=" + words[-2][-3:].strip("=") + "\\n")
elif words[-1] in ("climb", "climb_beyond"):
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
else:
    print("ninja: no work to do.")
"""
TAKE = "source common/scripts/set_up.sh; take_build_folder; "


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """One whose build is made up, and whose path has a space."""
    folder = tmp_path / "a checkout"
    folder.mkdir()
    fake = fake_programs.make_ladder(folder, CMAKE)
    fake_programs.make(fake, "nproc", "print(2)")
    for name in (*ALL, "ladder_table"):
        fake_programs.make(folder / "build/bin", name, STEP)
    return folder


@pytest.fixture
def start(checkout: Path) -> Iterator[Start]:
    """Starts a script, or a command of bash in the checkout, in a process group of its own."""
    started: list[Running] = []

    def run(*words: str | Path, **variables: str) -> Running:
        environment = fake_programs.path_with(checkout / "fake") | {"REDUCTION_CUDA": "OFF"} | variables
        started.append(subprocess.Popen(words, cwd=checkout, env=environment, process_group=0,
                                        stdin=subprocess.DEVNULL, stdout=PIPE, stderr=STDOUT, text=True))
        return started[-1]

    yield run
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def read_until(process: Running, text: str) -> str:
    assert process.stdout
    said = ""
    while text not in said:
        said += process.stdout.readline() or pytest.fail(f"'{text}' is not in:\n{said}")
    return said


def end_of(process: Running, timeout: float = 60) -> tuple[int, str]:
    said, _ = process.communicate(timeout=timeout)
    return process.returncode, said


def table(names: list[str], rest: str = "\n") -> str:
    return " ".join(["table", *(f"build/results/{name}.json" for name in names)]) + rest


# ---- run_ladder.sh ----


@pytest.mark.parametrize("options, variables, code, said", [
    ("-n4M --type=float32", {}, 0, ["00_cpu_serial -n4M --type=float32\n", "01_interleaved -n4M",
                                    table(CLASSIC), "!\n08_warp", "!\npeer_cub"]),
    ("", {}, 0, ["\n00_cpu_serial\n", "01_interleaved --compare build/results/00_cpu_serial.json\n",
                 "07_cascade --compare build/results/06_templated.json\n", "!README.md"]),
    ("--beyond -q", {}, 0, [table(BEYOND), "!11_bulk_copy takes",
                            "12_any_operation takes a GPU: skipped", "!\npeer_cub"]),
    ("", {"KIND": "cuda"}, 0, [table([*CLASSIC, "peer_cub"]), "!\n08_warp"]),
    ("--beyond --json=/dev/null", {"KIND": "cuda"}, 0, [table(ALL, " --json /dev/null\n")]),
    ("--beyond", {"KIND": "cuda", "CAPABILITY": "8.6"}, 0,
     [table(OLDER_GPU), "11_bulk_copy takes a GPU of compute capability 9.0"]),
    ("", {"FAILS": "03_sequential", "STATUS": "1"}, 1, [table(CLASSIC), "wrong result: 03_sequential"]),
    ("", {"FAILS": "03_sequential", "STATUS": "3"}, 3, ["03_sequential", "!\n04_first_add", "!table"]),
    ("", {"BREAKS": "04_first_add"}, 3, ["03_sequential", "main.cu:1: error: made up", "the build failed",
                                         "!\n04_first_add"]),
    ("", {"FAILS": "03_sequential", "STATUS": "139"}, 3, ["03_sequential crashed: exit code 139", "!\n04_first_add"]),
    ("", {"FAILS": "03_sequential", "STATUS": "1", "BREAKS": "05_unroll_warp"}, 1, ["wrong result: 03_sequential"]),
    ("-q -n=-1 -s2 --json -", {}, 0, ["00_cpu_serial -q -n=-1 -s2\n", table(CLASSIC, " --json -\n")])])
def test_run_ladder(checkout: Path, start: Start, options: str, variables: dict[str, str], code: int, said: list[str]
                    ) -> None:
    """`said` has parts of the output, and behind an exclamation mark what is not in it."""
    ended, output = end_of(start(checkout / "run_ladder.sh", *options.split(), **variables))
    assert ended == code, output
    for text in (*said, "!Re-checking", "!no work to do"):
        assert (text.strip("!") in output) != text.startswith("!"), f"{text} in\n{output}"


def test_from_elsewhere(checkout: Path, start: Start) -> None:
    """The script by a link, and the file of --json in the folder of whoever calls it."""
    link, elsewhere = checkout.parent / "link to it", checkout.parent / "elsewhere"
    link.symlink_to(checkout / "run_ladder.sh")
    elsewhere.mkdir()
    code, said = end_of(start("bash", "-c", f"cd '{elsewhere}' && '{link}' --json all.json", CDPATH=".:/"))
    assert code == 0 and said.endswith(table(CLASSIC, f" --json {elsewhere}/all.json\n")), said


def test_ctrl_c_ends_the_build_and_shows_the_table(checkout: Path, start: Start) -> None:
    ladder = start(checkout / "run_ladder.sh", WAITS="02_nondivergent")
    read_until(ladder, "02_nondivergent --compare")
    # It reaches the process group of a terminal, which the build is not in.
    os.killpg(ladder.pid, signal.SIGINT)
    code, said = end_of(ladder)
    # A process that has ended may wait for whoever reaps orphans here.
    build = Path("/proc", (checkout / "build/process").read_text(), "stat")
    assert not build.exists() or build.read_text().rsplit(") ")[1][0] == "Z", "the build goes on"
    assert code == 130 and table(["00_cpu_serial", "01_interleaved"]) in said and "03_sequential" not in said, said


@pytest.mark.parametrize("options, said", [
    (["-q", "--"], "run_ladder.sh: error: '--' is of one step"),
    (["--compare", "x.json"], "run_ladder.sh: error: '--compare' is of one step"),
    (["--trace=x.html"], "run_ladder.sh: error: '--trace=x.html' is of one step"),
    *(([*json], "run_ladder.sh: error: --json needs a value") for json in (["--json"], ["--json", "-q"], ["--json="])),
    *((["--json", file], f"run_ladder.sh: error: --json '{file}' cannot be written; name a file in a folder")
      for file in ("/nowhere/x", "/tmp", "new/")),
    (["-n4", "--nonsense", "--beyond"], "00_cpu_serial error: --nonsense")])
def test_run_ladder_refuses(checkout: Path, options: list[str], said: str) -> None:
    """In one line, before it makes or runs anything; what the steps refuse, in the words of one that is built."""
    before = sorted(checkout.rglob("*"))
    ran = subprocess.run([checkout / "run_ladder.sh", *options], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1) and ran.stderr.startswith(said), ran
    assert sorted(checkout.rglob("*")) == before


# ---- run_tests.sh ----


@pytest.mark.parametrize("options, ended, chosen, code, said", [
    ("--tests-rege x", 0, "", 2, "error: '--tests-rege' is not known here"), ("Table", 0, "", 2, "'Table': an option "),
    ("-V -R", 0, "", 2, "'-V -R': an option takes one value"), ("-R x", 0, "", 2, "there is no such test: -R x"),
    ("-R x -LE gpu -j4 -V", 0, "03_sequential", 0, "built 03_sequential\n"),
    ("-R x", 8, "03_sequential", 1, "a test failed"), ("-R x", 70, "03_sequential", 3, "a test failed")])
def test_run_tests(checkout: Path, start: Start, options: str, ended: int, chosen: str, code: int, said: str) -> None:
    """It builds what it runs and hands on options; CTest itself would run all tests for one that is misspelt."""
    fake_programs.make(checkout / "fake", "cmake", CMAKE + 'if words[0] == "--build":\n    print("built", words[-1])')
    tests = {"tests": [{"command": ["sh", f"{checkout}/build/bin/{chosen}"]}] if chosen else []}
    fake_programs.make(checkout / "fake", "ctest", f"""
if words == ["--help"]:
    print("  -R <regex>, -LE <regex>, -V")
elif "--show-only=json-v1" in words:
    print(json.dumps({tests}, indent=2, separators=(",", " : ")))
else:
    print("ran", *words)
    sys.exit({ended})
""")
    assert (found := end_of(start(checkout / "run_tests.sh", *options.split())))[0] == code and said in found[1], found
    assert (f" {options}\n" in found[1].partition("\nran ")[2]) == bool(chosen), found


@pytest.mark.parametrize("line, said", [
    ("run_ladder.sh -q -h", "Usage: ./run_ladder.sh [--beyond] [OPTIONS]"),
    ("run_ladder.sh --version", "run_ladder.sh "), ("run_tests.sh --help", "Runs every test that is done")])
def test_help_takes_no_build(tmp_path: Path, line: str, said: str) -> None:
    fake_programs.make_ladder(tmp_path, "sys.exit('there is no need for CMake')")
    ran = subprocess.run(["bash", "-c", f"./{line}"], cwd=tmp_path, stdout=PIPE, stderr=STDOUT, text=True)
    assert ran.returncode == 0 and ran.stdout.startswith(said) and not list(tmp_path.glob("build*"))


# ---- one run at a time ----


def test_the_second_run_waits_for_the_first(checkout: Path, start: Start) -> None:
    """In a fresh checkout, both at once: each has its own results, and nothing is configured twice."""
    first = start(checkout / "run_ladder.sh", "-n", "4M")
    read_until(first, "Configuring build")
    code, waited = end_of(start(checkout / "run_ladder.sh", "-q"))
    assert code == 0 and end_of(first)[0] == 0, waited
    assert waited.startswith(f"Waiting for another run, which works in {checkout}/build\n00_cpu_serial -q\n"), waited


def test_ctrl_c_ends_the_waiting(checkout: Path, start: Start) -> None:
    read_until(start("bash", "-c", TAKE + "echo taken; read -r < <(sleep 60)"), "taken")
    second = start(checkout / "run_tests.sh")
    read_until(second, "Waiting for another run")
    os.killpg(second.pid, signal.SIGINT)
    assert second.wait(10) == 130


# ---- what a machine may lack ----


# The programs that are made up, what is called, its exit code and what it says.
@pytest.mark.parametrize("fake, command, code, said", [
    ({}, "REDUCTION_CUDA=yes ./run_tests.sh", 2,
     "run_tests.sh: error: REDUCTION_CUDA is 'yes'; it can be AUTO, ON or OFF\n"),
    ({}, "rm -r build; touch build; ./run_tests.sh", 3,  # so it is where a run as root has left a folder
     "run_tests.sh: error: {checkout}/build cannot be written: delete it (as root, if need be), or work in a copy\n"),
    ({"cmake": "sys.exit('there is no compiler')"}, "./run_ladder.sh", 3,
     "\nthere is no compiler\nrun_ladder.sh: error: CMake could not configure"),
    ({"mkdir": "sys.exit(words[0] != '-p')"}, "./run_ladder.sh", 3,  # 1 is of a wrong result only
     "\nrun_ladder.sh: error: exit code 1 of: mkdir "),
    ({"dpkg-query": "", "apt-get": "sys.exit(words[0] + ': not today')", "sudo": "os.execvp(words[0], words)"},
     "source common/scripts/set_up.sh; install_missing_packages libfmt-dev", 3,
     "update: not today\ninstall: not today\nbash: error: that did not work; run bash once more when 'apt-get install "
     "--no-install-recommends libfmt-dev' has, as root\n"),
    ({}, "source common/scripts/set_up.sh; command() { false; }; install_missing_packages x", 3,
     "bash: error: there is no CMake and no apt-get; this needs\n  CMake 3.25, a C++20 compiler, Ninja, CLI11, fmt, "
     "nlohmann-json; tests: GoogleTest, git, pytest, MPI\n"),
    # Of pytest it is the module that Python must find: a program of that name may be another Python's.
    *(({"dpkg-query": "", "flake8": "", "pytest": "", "python3": f"sys.exit({lacks})"},
       "source common/scripts/set_up.sh; missing_packages flake8 libfmt-dev python3-pytest", 0,
       "libfmt-dev\n" + "python3-pytest\n" * lacks) for lacks in (False, True))])
def test_what_a_machine_lacks(checkout: Path, start: Start, fake: dict[str, str], command: str, code: int, said: str
                              ) -> None:
    for name, source in fake.items():
        fake_programs.make(checkout / "fake", name, source)
    ended, found = end_of(start("bash", "-c", command))
    assert ended == code and said.replace("{checkout}", str(checkout)) in found, found


@pytest.mark.parametrize("streams", ["2>/dev/full", "2>&-", "<&-", ">&-"])
def test_broken_streams_keep_the_exit_code(checkout: Path, streams: str) -> None:
    command = f"'{checkout}/run_ladder.sh' --json /nowhere/x {streams}"
    assert subprocess.run(["sh", "-c", command], capture_output=True).returncode == 2
