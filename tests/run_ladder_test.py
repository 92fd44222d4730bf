"""run_ladder.sh with a build, a GPU and steps that are made up."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

import fake_programs

CLASSIC = ["00_cpu_serial", "01_interleaved", "02_nondivergent", "03_sequential", "04_first_add", "05_unroll_warp",
           "06_templated", "07_cascade"]
BEYOND = [*CLASSIC, "08_warp_shuffle", "09_vector_loads", "10_single_pass"]
ALL = [*BEYOND, "11_bulk_copy", "12_any_operation", "peer_cub"]
OLDER_GPU = [*BEYOND, "12_any_operation", "peer_cub"]

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
import signal, time
if words[0] == "--version":
    print("cmake version 3.25.1")
if words[-1] == "climb_first":
    print("ready: 01_interleaved")
if words[-1] in ("climb", "climb_beyond"):
    with open("build/process", "w") as file:
        file.write(str(os.getpid()))
    signal.alarm(20)
    while not os.path.exists("build/ladder/01_interleaved.json"):
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
    usual = {key: value for key, value in fake_programs.path_with(fake).items() if not key.startswith("REDUCTION_")}
    return subprocess.Popen([folder / "run_ladder.sh", *options], env={**usual, **variables}, process_group=0,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def table(names: list[str], rest: str = "\n") -> str:
    return " ".join(["table", *(f"build/ladder/{name}.json" for name in names)]) + rest


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
    ("--json", {}, 2, ["run_ladder.sh: error: --json needs the name of a file"]),
    ("--trace x.html", {}, 2, ["run_ladder.sh: error: --trace is of one step, as in: build/bin/03_sequential --trace "
                               "conflict.html"])])
def test_run_ladder(tmp_path: Path, options: str, variables: dict[str, str], code: int, said: list[str]) -> None:
    """`said` has parts of the output, and behind an exclamation mark what is not in it."""
    ladder = start(tmp_path, *options.format(folder=tmp_path).split(), **variables)
    output = ladder.communicate()[0]
    assert ladder.returncode == code, output
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
    output += ladder.communicate()[0]
    assert table(["00_cpu_serial", "01_interleaved"]) in output and "03_sequential" not in output, output
