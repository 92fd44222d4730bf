"""run_ladder.sh with a build, a GPU and steps that are made up, and the command lines that both scripts refuse."""

import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import fake_programs
from command_lines import read_options
from tools.command_line import REPOSITORY
from tools.programs import EMULATED, steps_of

CLASSIC = ["00_cpu_serial", *steps_of("ladder")]
BEYOND = [*CLASSIC, *(step for step in steps_of("beyond") if step in EMULATED)]
ALL = [*CLASSIC, *steps_of("beyond", "peer")]
OLDER_GPU = [step for step in ALL if step != "11_bulk_copy"]

# A step writes where it ran, and fails or waits where its name is in FAILS or WAITS.
STEP = """
import time
name = os.path.basename(sys.argv[0])
if name == "ladder_table":
    print("table", *words)
    sys.exit()
print(name, *words[:words.index("--json")], "is", os.environ["REDUCTION_LADDER"], flush=True)
if name == os.environ.get("WAITS"):
    time.sleep(30)
with open(words[words.index("--json") + 1], "w") as file:
    json.dump({"kind": os.environ.get("KIND"), "compute_capability": os.environ.get("CAPABILITY", "9.0")}, file)
sys.exit(int(os.environ["STATUS"]) if name == os.environ.get("FAILS") else 0)
"""
# The first build announces 01. The second waits until that has run, announces all others, and goes on until it is
# ended; BREAKS is what does not compile.
CMAKE = f"""
import glob, signal, time
if words[0] == "--version":
    print("cmake version 3.25.1")
if words[-1] == "climb_first":
    print("ready: 01_interleaved")
if words[-1] in ("climb", "climb_beyond"):
    with open("build/process", "w") as file:
        file.write(str(os.getpid()))
    signal.alarm(20)
    while not glob.glob("build/ladder.*/01_interleaved.json"):
        time.sleep(0.02)
    for program in {[*ALL, "ladder_table"]}:
        if program == os.environ.get("BREAKS"):
            sys.exit("main.cu:1: error: made up")
        print("ready:", program, flush=True)
    signal.pause()
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
    return " ".join(["table", *(f"build/ladder/{name}.json" for name in names)]) + rest


def without_run(output: str) -> str:
    """The output with the same name for each run's folder of results."""
    return re.sub(r"build/ladder\.\w+/", "build/ladder/", output)


@pytest.mark.parametrize("options, variables, code, said", [
    ("-n4M --type=float32", {}, 0, ["00_cpu_serial -n4M --type=float32 is first\n", "01_interleaved -n4M",
                                    table(CLASSIC), "!08_warp", "!peer_cub"]),
    ("", {}, 0, ["00_cpu_serial is first", "01_interleaved is first", "02_nondivergent is next", "07_cascade is next",
                 "!README.md"]),
    ("--beyond -q", {}, 0, [table(BEYOND), "11_bulk_copy and 12_any_operation run on a GPU only: skipped", "!peer_"]),
    ("", {"KIND": "cuda"}, 0, [table([*CLASSIC, "peer_cub"]), "!08_warp"]),
    ("--beyond --json {folder}/all.json", {"KIND": "cuda"}, 0, [table(ALL, " --json {folder}/all.json\n")]),
    ("--beyond", {"KIND": "cuda", "CAPABILITY": "8.6"}, 0,
     [table(OLDER_GPU), "11_bulk_copy takes a GPU of compute capability 9.0"]),
    ("", {"FAILS": "03_sequential", "STATUS": "1"}, 1, [table(CLASSIC), "wrong result: 03_sequential"]),
    ("", {"FAILS": "03_sequential", "STATUS": "3"}, 3, ["03_sequential", "!04_first_add", "!table"]),
    ("", {"BREAKS": "04_first_add"}, 3, ["03_sequential", "main.cu:1: error: made up", "the build failed",
                                         "!04_first_add"]),
    ("", {"FAILS": "03_sequential", "STATUS": "139"}, 3, ["03_sequential crashed: exit code 139", "!04_first_add"]),
    ("-qn4", {}, 0, ["00_cpu_serial -q -n4 is first\n"]), ("-qn 4", {}, 0, ["07_cascade -q -n 4 is next\n"]),
    ("-q -n=-1 -s2 --json -", {}, 0, ["00_cpu_serial -q -n=-1 -s2 is first\n", table(CLASSIC, " --json -\n")])])
def test_run_ladder(tmp_path: Path, options: str, variables: dict[str, str], code: int, said: list[str]) -> None:
    """`said` has parts of the output, and behind an exclamation mark what is not in it."""
    ladder = start(tmp_path, *options.format(folder=tmp_path).split(), **variables)
    output = without_run(ladder.communicate()[0])
    assert ladder.returncode == code, output
    assert not list(tmp_path.glob("build/ladder*")), "the results of the run are left behind"
    for text in said:
        assert (text.strip("!").format(folder=tmp_path) in output) != text.startswith("!"), f"{text} in\n{output}"


def test_ctrl_c_ends_the_build_and_shows_the_table(tmp_path: Path) -> None:
    ladder = start(tmp_path, WAITS="02_nondivergent")
    assert ladder.stdout
    output = ""
    while "02_nondivergent is" not in output:
        output += ladder.stdout.readline() or pytest.fail(output)
    # It reaches the process group of a terminal, which the build is not in.
    os.killpg(ladder.pid, signal.SIGINT)
    assert ladder.wait() == 130
    # A process that has ended may wait for whoever reaps orphans here.
    build = Path("/proc", (tmp_path / "build/process").read_text(), "stat")
    assert not build.exists() or build.read_text().rsplit(") ")[1][0] == "Z", "the build goes on"
    output = without_run(output + ladder.communicate()[0])
    assert table(["00_cpu_serial", "01_interleaved"]) in output and "03_sequential" not in output, output


@pytest.mark.parametrize("options, said", [
    (["--"], "'--': there is nothing but options here"), (["-n", "4M", "--", "-q"], "'--': "),
    (["-n"], "-n needs a value"), (["--elements"], "--elements needs a value"), (["-q", "--json"], "--json needs"),
    (["--elements="], "--elements needs a value"), (["-t", ""], "-t needs"), (["-n", "-t", "int32"], "-n needs"),
    (["--nonsense"], "'--nonsense' is not known here"), (["--nonsense\n=3"], "'--nonsense\\n=3' is not known"),
    (["-x"], "'-x' is not known"), (["-"], "'-' is not known"), ([""], "'' is not"), (["--elem", "3"], "'--elem'"),
    (["extra"], "'extra' is not known here"), (["-n", "4", "5"], "'5' is not known here"),
    (["-n4", "-n5"], "-n is there 2 times; give it once"), (["-n4", "--elements=4"], "--elements is there 2 times"),
    (["--json", "-", "--json", "-"], "--json is there 2 times"), (["--quiet=yes"], "--quiet takes no value"),
    (["-q4"], "-q takes no value"), (["-qq"], "-q is there 2"), (["-qn"], "-n needs"), (["-qx"], "'-x' is not known"),
    (["--beyond=on"], "--beyond takes no"), (["--help=x"], "--help takes no value"),
    (["--json", "/nowhere/x"], "--json '/nowhere/x': its folder"), (["--json", "/tmp"], "--json '/tmp': it cannot"),
    (["--json", "/proc/x"], "--json '/proc/x': its folder cannot be written; name a file in a folder that can be"),
    (["--json", "/dev/fd/9"], "--json '/dev/fd/9': it cannot be written"),
    *(([f"--{name}", "x"], f"--{name} is of one step, as in: build/bin/03_sequential --trace conflict.html")
      for name in ("trace", "trace-block", "trace-beside", "compare"))])
def test_run_ladder_refuses(tmp_path: Path, options: list[str], said: str) -> None:
    """In one line, and before it makes or runs anything."""
    refused(tmp_path, "run_ladder.sh", options, said)


def test_run_ladder_refuses_a_folder_that_is_not_there(tmp_path: Path) -> None:
    refused(tmp_path, "run_ladder.sh", ["--json", f"{tmp_path}/new.json/"], f"--json '{tmp_path}/new.json/': there is")


def test_run_ladder_refuses_a_socket(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket"))
    (tmp_path / "link").symlink_to("socket")
    refused(tmp_path, "run_ladder.sh", ["--json", str(tmp_path / "link")], f"--json '{tmp_path}/link': it is a socket")


def test_run_ladder_refuses_a_file_with_two_names(tmp_path: Path) -> None:
    (tmp_path / "one").touch()
    (tmp_path / "other").hardlink_to(tmp_path / "one")
    refused(tmp_path, "run_ladder.sh", ["--json", str(tmp_path / "one")],
            f"--json '{tmp_path}/one': it has other names (hard links)")


@pytest.mark.parametrize("file, given", [
    ("all.json", "{folder}/all.json"), ("link", "{folder}/link"), ("{folder}/" + "n" * 255, "{folder}/" + "n" * 255),
    ("/dev/stdout", "-"), ("/dev/fd/1", "-"), ("/dev/fd/3", "/dev/fd/3"), ("/dev/null", "/dev/null")])
def test_run_ladder_takes_other_files(tmp_path: Path, file: str, given: str) -> None:
    """What it does not refuse goes to the table's program, and nothing is left beside it."""
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "full").touch()
    fake = fake_programs.make_ladder(tmp_path, "print('cmake version 3.25.1')")
    before = {file.name for file in tmp_path.iterdir()}
    for name in (*CLASSIC, "ladder_table"):
        fake_programs.make(tmp_path / "build/bin", name, STEP)
    command = f"exec 3<>full; ./run_ladder.sh -q --json {file.format(folder=tmp_path)}"
    ran = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True,
                         env=fake_programs.path_with(fake))
    assert ran.returncode == 0 and without_run(ran.stdout).endswith(
        table(CLASSIC, f" --json {given.format(folder=tmp_path)}\n")), ran
    assert {file.name for file in tmp_path.iterdir()} == before | {"build"}


def refused(folder: Path, script: str, options: list[str], said: str) -> None:
    fake = fake_programs.make_ladder(folder, "sys.exit('there is no need for CMake')")
    before = sorted(folder.rglob("*"))
    ran = subprocess.run([folder / script, *options], capture_output=True, text=True, env=fake_programs.path_with(fake))
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1), ran
    assert ran.stderr.startswith(f"{Path(script).name}: error: {said}"), ran.stderr
    assert sorted(folder.rglob("*")) == before


def test_run_ladder_knows_the_options_of_the_steps(bin_folder: Path) -> None:
    """They are a list in bash, as it refuses others before there is a step to ask."""
    printed = subprocess.run([bin_folder / "07_cascade", "--help"], capture_output=True, text=True, check=True).stdout
    options = [(",".join(option.names), option.placeholder) for option in read_options(printed)]
    lists = re.findall(r"(?ms)^(valued_options|flags|options_of_one_step)=\((.*?)\)$",
                       (REPOSITORY / "run_ladder.sh").read_text())
    known = {name: text.replace("'", "").split() for name, text in lists}
    assert sorted(name for name, value in options if not value) == sorted(known["flags"])
    assert sorted(name for name, value in options if value) == sorted(
        known["valued_options"] + known["options_of_one_step"])


@pytest.mark.parametrize("options, said", [
    (["--nonsense"], "'--nonsense' is not known here"), (["extra"], "'extra' is not known"), (["--"], "'--' is not"),
    ([""], "'' is not known"), (["-R"], "-R needs a value"), (["-R", "x", "y"], "'y' is not known"),
    (["--tests-rege", "x"], "'--tests-rege' is not known"), (["-Rx"], "'-Rx' is not known"),
    (["--verbose=yes"], "--verbose takes no value after a ="), (["--test-dir", "/tmp"], "'--test-dir' is not known")])
def test_run_tests_refuses(tmp_path: Path, options: list[str], said: str, need: Callable[[str], str]) -> None:
    need("ctest")
    refused(tmp_path, "run_tests.sh", options, said)


@pytest.mark.parametrize("ended, chosen, code, said", [
    (0, 9, 0, ""), (8, 9, 1, "a test failed"), (8, 0, 2, "there is no such test: -R x -LE gpu -j4 "), (70, 9, 3, "70")])
def test_run_tests_judges_what_ctest_says(tmp_path: Path, need: Callable[[str], str], ended: int, chosen: int,
                                          code: int, said: str) -> None:
    options = ["-R", "x", "-LE", "gpu", "-j4", "--no-tests=ignore", "--stop-on-failure", "-I", "1,3", "-V"]
    fake = fake_programs.make_ladder(tmp_path, 'print("cmake version 3.25.1")')
    fake_programs.make(fake, "ctest", f"""
if words == ["--help"]:
    os.execv({need("ctest")!r}, [{need("ctest")!r}, "--help"])
if "--show-only" in words:
    print("Total Tests: {chosen}")
else:
    print(*words)
    sys.exit({ended})
""")
    ran = subprocess.run([tmp_path / "run_tests.sh", *options], capture_output=True, text=True,
                         env=fake_programs.path_with(fake))
    assert ran.returncode == code and said in ran.stderr and " ".join(options) in ran.stdout, ran


def test_ci_takes_no_arguments(tmp_path: Path) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(REPOSITORY / ".ci/run", tmp_path / ".ci")
    refused(tmp_path, ".ci/run", ["x"], "'x': it takes no arguments")


@pytest.mark.parametrize("script, options, said", [
    ("run_ladder.sh", "--help", "Usage: ./run_ladder.sh [--beyond] [OPTIONS]"), ("run_ladder.sh", "-q -h", "Usage: "),
    ("run_ladder.sh", "--version", "run_ladder.sh "), ("run_tests.sh", "--help", "Builds everything and runs every")])
def test_help_takes_no_build(tmp_path: Path, script: str, options: str, said: str) -> None:
    fake = fake_programs.make_ladder(tmp_path, "sys.exit('there is no need for CMake')")
    ran = subprocess.run([tmp_path / script, *options.split()], capture_output=True, text=True,
                         env=fake_programs.path_with(fake))
    assert (ran.returncode, ran.stderr) == (0, "") and ran.stdout.startswith(said)
    assert not list(tmp_path.glob("build*"))
