"""The programs of others: what their list may say, how an end is read, and what is written about it."""

import re
from collections import Counter
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tools import corpus
from tools.command_line import ExitCode, NotPossible
from tools.corpus import Program

COMMIT = 40 * "a"
ENDS = r"(runs|limit|exit \d+|refused: .+|[a-z ]+ at (\S+:)?\d+(-\d+)?( (\S+:)?\d+(-\d+)?)*)"
ADDS = """#include <cstdio>
__global__ void add(int* sum) { %s }
int main() {
  int *sum, result;
  cudaMalloc(&sum, 4);
  cudaMemset(sum, 0, 4);
  add<<<1, 32>>>(sum);
  cudaMemcpy(&result, sum, 4, cudaMemcpyDeviceToHost);
  printf("sum %%d\\n", result);
}
"""


def program(path: str = "sum.cu", expects: str = "runs", says: str = "", options: str = "") -> Program:
    return Program("owner/name", COMMIT, path, options, expects, says, "its own check")


def test_the_list_says_of_each_file_how_it_ends_and_why() -> None:
    programs = corpus.read_list()
    assert Counter((one.repository, one.path) for one in programs).most_common(1)[0][1] == 1
    assert len({one.repository for one in programs}) == len({one[:2] for one in programs}) == 7
    for one in programs:
        assert re.fullmatch(f"{ENDS}(; {ENDS})*", one.expects) and one.because, one.path
        assert re.fullmatch("[0-9a-f]{40}", one.commit) and one.path.endswith(".cu"), one.path
        # What may be ended says when.
        assert ("limit" in one.expects.split("; ")) <= ("--limit" in one.options), one.path


@pytest.mark.parametrize("code, said, told, ended", [
    (0, "PASS", "sum: note: something", "runs"),
    (0, "FAIL", "", "without 'PASS'"),
    (3, "PASS", "", "exit 3"),
    (124, "PASS", "sum: note: ended by --limit", "limit"),
    (1, "PASS", "sum: error: sum.cu:4:2: race in add: a\nsum: error: a/b.cuh:7:1: out of bounds in add: a",
     "race at 4; out of bounds at b.cuh:7"),
    (124, "PASS", "sum: error: sum.cu:4:2: race in add: a\nsum: error: sum.cu:4:2: race in b: a\n"
     "sum: error: sum.cu:5:2: shuffle from an inactive lane in add: a",
     "race at 4; shuffle from an inactive lane at 5; limit"),
    (139, "PASS", "sum: error: sum.cu:4:2: race in add: thread 0", "race at 4; exit 139"),
    (2, "", "/a/sum.cu:1:10: fatal error: mpi.h: none\nsum.cu:2:1: error: other", "refused: mpi.h: none"),
    (2, "", "inc/sum.h:80: error: a __shared__ variable in a macro", "refused: a __shared__ variable in a macro"),
    (1, "", "sum: error: cublasSgemm: not modelled", "refused: cublasSgemm: not modelled"),
])
def test_an_end_is_read(code: int, said: str, told: str, ended: str) -> None:
    assert corpus.ending(program(says="PASS"), CompletedProcess([], code, said, told)) == ended


@pytest.mark.parametrize("expects, ended, fits", [
    ("runs", "runs", True), ("runs", "limit", False), ("runs", "exit 1", False), ("runs", "", False),
    ("runs", "without 'PASS'", False), ("limit", "limit", True), ("limit", "runs", True),
    ("limit", "limit; without 'PASS'", False), ("exit 1", "exit 1", True), ("exit 1", "runs", False),
    ("race at 4", "race at 4", True), ("race at 4", "race at 5", False), ("race at 4", "runs", False),
    ("race at 4-6 9", "race at 5 9 6", True), ("race at 4-6", "race at b.cuh:5", False),
    ("race at b.cuh:4-6", "race at b.cuh:5", True), ("race at 4", "out of bounds at 4", False),
    ("race at 4", "race at 4; out of bounds at 4", False), ("race at 4", "race at 4; limit", False),
    ("race at 4; limit", "race at 4; limit", True), ("race at 4; limit", "race at 4", True),
    ("race at 4; limit", "limit", False), ("race at 4; limit", "runs", False),
    ("race at 4; out of bounds at 5", "race at 4", False), ("race at 4", "race at 4; exit 139", False),
    ("refused: mpi.h|nccl.h", "refused: nccl.h: No such file", True), ("refused: mpi.h", "refused: sum at 4", False),
    ("refused: mpi.h", "runs", False),
])
def test_an_end_is_as_expected_or_not(expects: str, ended: str, fits: bool) -> None:
    assert corpus.is_as_expected(expects, ended) == fits


def test_programs_are_run_and_written_down(bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                           capsys: pytest.CaptureFixture[str]) -> None:
    """One is right, one is not, one is not chosen; then one becomes worse."""
    sources = {"right.cu": ADDS % "atomicAdd(sum, 1);", "race.cu": ADDS % "*sum += 1;"}
    (tmp_path / "owner/name").mkdir(parents=True)
    for name, text in sources.items():
        (tmp_path / "owner/name" / name).write_text(text)
    monkeypatch.setattr(corpus, "EMULATE", bin_folder / "emulate")
    monkeypatch.setattr(corpus, "LIST", tmp_path / "list.csv")
    corpus.write_list([program("right.cu", says="sum 32"), program("race.cu"), program("missing.cu", "refused: a|b")])
    assert corpus.main([str(tmp_path), "--only", "right|race", "--jobs", "2"]) == ExitCode.WRONG
    printed = capsys.readouterr()
    assert printed.out == "owner/name/race.cu: ought to: runs; ended: race at 2\n1 of 3 end as they ought to\n"
    assert f"at no commit, and the list means {COMMIT}" in printed.err
    assert [one.ended for one in corpus.read_list()] == ["runs", "race at 2", ""]
    page = corpus.section()
    assert r"`refused: a\|b` | `not run` | its own check |" in page and "right.cu" not in page and "| 1 | 3 |" in page
    corpus.write_list([program("right.cu", says="sum 32")])
    assert corpus.main([str(tmp_path)]) == ExitCode.DONE
    (tmp_path / "owner/name/right.cu").write_text(sources["race.cu"])
    assert corpus.main([str(tmp_path)]) == ExitCode.WRONG
    with pytest.raises(NotPossible, match="nothing to run"):
        corpus.main([str(tmp_path / "nowhere")])
