"""The exercises of the pages, done: each solution, a diff on its page or in docs/solutions, does what its exercise asks
for."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import REPOSITORY

from tools import gpu
from tools.results import Result, read_one

SOLUTIONS = REPOSITORY / "docs/solutions"
PACKAGE = REPOSITORY / "beyond/12_any_operation"

# Counters per block of a run that is verified, or words of what is printed.
Shown = dict[str, float] | str
VERIFIED: Shown = {}
# By solution: the options it is run with, its exit code, and what it shows.
RUNS: dict[str, list[tuple[str, int, Shown]]] = {
    "00_cpu_serial": [(f"-n {n} -s 1", 0, VERIFIED) for n in ("2^20", "1000003", "7", "2", "1", "0")],
    "01_interleaved": [
        ("-n 65536", 0, VERIFIED),
        ("-n 65537", 1, "missed barrier in reduce_kernel: thread 0 of block 256 waits at __syncthreads()\n"),
        ("-n 65537", 1, "\nthreads 1-255 have left the kernel\n")],
    "02_nondivergent": [
        ("-n 2^22", 0, {"shared_load_wavefronts": 25, "shared_store_wavefronts": 20, "shared_load_conflicts": 0,
                        "shared_store_conflicts": 0}),
        ("-n 2^20 -b 1024", 0, {"shared_load_conflicts": 0, "shared_store_conflicts": 0})],
    "03_sequential": [
        ("-n 2^20", 1, "missed barrier in reduce_kernel: threads 0-127 of block 0 wait at __syncthreads()\n"),
        ("-n 2^20", 1, "\nthreads 128-255 have left the kernel\n")],
    "04_first_add": [
        ("-n 2^18", 0, VERIFIED),
        ("-n 1000", 1, "out of bounds in reduce_kernel: thread 232 of block 1 reads 4-byte word 1000 of a global "
                       "buffer (1000 words)\n")],
    "05_unroll_warp": [
        *((f"-n 2^18 -b {block}", 0, VERIFIED) for block in (64, 128, 1024)),
        ("-n 2^18 -b 32", 1, "out of bounds in reduce_kernel: thread 0 of block 0 reads shared[32] ")],
    "06_templated": [
        ("-n 2^20 -b 256", 0, VERIFIED),
        ("-n 2^20 --data ones -b 1024", 3, "06_templated: error: a block has "),
        ("-n 2^20 --data ones -b 512", 1, "\nresult  WRONG: ")],
    "07_cascade": [
        *((f"-n {n}", 0, VERIFIED) for n in ("1000003", "1", "0")),
        ("-n 2^20", 0, "\npasses  1056 → 5 → 1 blocks of 256 threads\n")],
    "08_warp_shuffle": [
        ("-n 2^22", 0, {"block_barriers": 1, "shared_store_requests": 8, "shared_load_requests": 8, "shuffles": 80}),
        *((f"-n 300007 -t {t} -b {block}", 0, VERIFIED) for t, block in (
            ("float32", 32), ("int64", 256), ("complex128", 1024)))],
    "09_vector_loads": [
        # The last launch alone: a block of 8 warps with four loads each.
        ("-n 4096", 0, {"global_load_requests": 32, "global_load_sectors": 1024}),
        *((f"-n {n} -t {t}", 0, VERIFIED) for t in ("int32", "float64", "complex128") for n in (
            "300007", "1021", "7", "0"))],
    "10_single_pass": [
        ("-n 2^22 -b 256", 0, {"blocks": 1, "block_barriers": 1, "atomics": 1, "shared_load_requests": 1,
                               "shuffles": 46 + 5 / 1024}),
        *((f"-n 300007 -t {t} -b {block}", 0, VERIFIED) for t, block in (
            ("float32", 32), ("int32", 256), ("complex64", 1024)))],
    # A ring of 64 KiB leaves room for three blocks of 256 threads on each of 132 multiprocessors. 2048 threads are two
    # blocks of 1024.
    "11_bulk_copy": [
        ("-n 2^22 -b 256", 0, "| blocks | 396 |"), ("-n 2^22 -b 1024", 0, "| blocks | 264 |"),
        *((f"-n 8000003 -t {t}", 0, VERIFIED) for t in ("int32", "float64"))],
    "atomic_each": [
        ("-n 1", 1, "uninitialised read in reduce_kernel: thread 0 of block 0 reads 4-byte word 0 of a global buffer "
                    "(1 words), which nothing has written\n"),
        ("-n 2^20", 1, "race in reduce_kernel: thread 0 of block 0 writes 4-byte word 0 of a global buffer (4096 words)"
                       "\n"),
        ("-n 2^20", 1, "thread 1 reads it, and nothing orders the two\n")],
    "atomic_vector": [
        ("-n 2^22", 0, {"atomics": 256, "global_load_requests": 64, "global_load_sectors": 1024}),
        *((f"-n {n} -t {t}", 0, VERIFIED) for n in ("0", "1", "1000003") for t in ("int32", "complex64"))],
    "atomic_block": [
        ("-n 2^22", 0, {"atomics": 32, "block_barriers": 4, "shared_load_requests": 15, "shared_store_requests": 15}),
        *((f"-n {n} -b {block}", 0, VERIFIED) for n in ("1", "1000003") for block in (32, 1024))],
}


def test_every_solution_is_run() -> None:
    assert set(RUNS) == {page.parent.name for glob in ("*_*/README.md", "beyond/*_*/README.md", "beyond/atomics/*/*.md")
                         for page in REPOSITORY.glob(glob) if "<!-- solution:begin -->" in page.read_text("utf-8")}


@pytest.mark.parametrize("name", RUNS)
def test_a_solution_does_what_its_exercise_asks_for(bin_folder: Path, tmp_path: Path, name: str) -> None:
    """And the exercise shows nothing that no run prints."""
    printed = ""
    for options, code, shows in RUNS[name]:
        ran = subprocess.run([bin_folder / f"solution_{name}", "--device", "emulated", *options.split(), "--json",
                              tmp_path / "result"], capture_output=True, text=True)
        assert ran.returncode == code, (options, ran)
        printed += ran.stdout + ran.stderr
        if isinstance(shows, str):
            assert shows in ran.stdout + ran.stderr
        elif shows:
            result = read_one(tmp_path / "result", Result)
            assert result.counters
            assert {key: result.counters[key] / result.counters["blocks"] for key in shows} == shows
    [page] = (file for glob in (f"{name}/README.md", f"beyond/{name}/README.md", f"beyond/atomics/{name}/README.md")
              for file in REPOSITORY.glob(glob))
    exercise = page.read_text("utf-8").partition("\n## Exercise\n")[2]
    for shown in re.findall(r"^```text\n(.*?)^```", exercise, re.MULTILINE | re.DOTALL):
        assert shown in printed


def test_the_bits_of_08_are_those_of_the_step(bin_folder: Path, tmp_path: Path) -> None:
    found = []
    for program in ("08_warp_shuffle", "solution_08_warp_shuffle"):
        subprocess.run([bin_folder / program, *"--device emulated -n 1000003 -t float32 --json".split(),
                        tmp_path / program], check=True, stdout=subprocess.DEVNULL)
        found.append(read_one(tmp_path / program, Result).result)
    assert found[0] == found[1] != 0


# ---- those that are no programs ----


@pytest.mark.parametrize("name, options, source", [
    # In the place of the step's kernel, with a ring of the size that the exercise asks for.
    ("11_bulk_copy", ["common"], (REPOSITORY / "beyond/11_bulk_copy/main.cu").read_text() + """
static_assert(ring_bytes == 4 * (16384 + 8));
"""),
    ("12_any_operation", ["beyond/12_any_operation"], """#include <reduction/reduce.cuh>
#include "moments.cuh"
cudaError_t variance(const double* in, Moments* out, std::size_t n) {
  return reduction::transform_reduce(in, out, n, CombineMoments{}, OfOne{});
}
""")])
def test_nvcc_compiles_a_solution(need: Callable[[str], str], tmp_path: Path, build_folder: Path, name: str,
                                  options: list[str], source: str) -> None:
    (tmp_path / "main.cu").write_text(source)
    folders = [f"-I{REPOSITORY}/{folder}" for folder in options]
    ran = subprocess.run([need("nvcc"), "-std=c++17", "--expt-relaxed-constexpr", "-arch=sm_90", *folders,
                          *(f"-I{root}/docs/solutions/{name}" for root in (REPOSITORY, build_folder)),
                          "--Werror=all-warnings", "-cubin", "-o", tmp_path / "out.cubin", tmp_path / "main.cu"],
                         capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def compiled(folder: Path, cmake_cache: dict[str, str], solution: str, source: str) -> Path:
    """A program of the host."""
    (folder / "main.cpp").write_text(source)
    subprocess.run([cmake_cache["CMAKE_CXX_COMPILER"], "-std=c++20", "-O2", f"-I{REPOSITORY}/common",
                    f"-I{SOLUTIONS / solution}", "-o", folder / "main", folder / "main.cpp"], check=True)
    return folder / "main"


def test_the_solution_of_12_combines_moments(tmp_path: Path, cmake_cache: dict[str, str]) -> None:
    """On the host, value by value and as a tree, with identities between: mean and variance of large, close values."""
    program = compiled(tmp_path, cmake_cache, PACKAGE.name, """#define __host__
#define __device__
#include "moments.cuh"
#include <cmath>
#include <vector>
bool right(const Moments& moments) {
  return moments.count == 4096 && std::abs(moments.mean - 1e9) < 1e-3 && std::abs(moments.deviations / 4096 - 1) < 1e-3;
}
int main() {
  const CombineMoments combine;
  const auto identity = CombineMoments::identity<Moments>();
  Moments running = combine(identity, identity);
  std::vector<Moments> level;
  for (int i = 0; i < 4096; ++i) {
    level.push_back({1, 1e9 + (i % 2 == 0 ? 1 : -1), 0});
    running = combine(combine(running, combine(identity, level[i])), identity);
  }
  for (; level.size() > 1; level.resize(level.size() / 2))
    for (std::size_t i = 0; i < level.size() / 2; ++i)
      level[i] = combine(level[i], level[i + level.size() / 2]);
  return right(level[0]) && right(running) ? 0 : 1;
}
""")
    assert subprocess.run([program]).returncode == 0


@pytest.fixture(scope="module")
def sum_in_one_order(tmp_path_factory: pytest.TempPathFactory, cmake_cache: dict[str, str]) -> Path:
    """Adds numbers of the steps in the order of 14's exercise: float32 N DATA."""
    return compiled(tmp_path_factory.mktemp("on_host"), cmake_cache, "14_same_bits", """#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include "harness/input.hpp"
#include "one_order.hpp"
template <typename T> void print_sum(const reduction::Input& input) {
  std::vector<T> numbers;
  for (std::size_t i = 0; i < input.n; ++i)
    numbers.push_back(reduction::real_at<T>(input, i, 0, 1));
  std::printf("%.17g", static_cast<double>(sum_in_one_order(numbers.data(), numbers.size())));
}
int main(int, char** words) {
  const auto data = words[3][0] == 'r' ? reduction::Data::random : reduction::Data::cancelling;
  const reduction::Input input{data, 1, std::strtoull(words[2], nullptr, 10)};
  std::string(words[1]) == "float32" ? print_sum<float>(input) : print_sum<double>(input);
}
""")


# The last two have more than 8192 tiles.
@pytest.mark.parametrize("element_type, elements", [
    *((kind, n) for kind in ("float32", "float64")
      for n in (0, 1, 3, 5, 2047, 4096, 4097, 8192, 8193, 16385, 300007, 1000003)),
    ("float32", 2**26 + 5), ("float64", 2**25 + 1)])
@pytest.mark.parametrize("device", ["emulated", "cuda"])
def test_the_order_of_the_solution_of_14_has_its_bits(bin_folder: Path, tmp_path: Path, sum_in_one_order: Path,
                                                      device: str, element_type: str, elements: int) -> None:
    if device == "cuda" and not gpu.said("nvidia-smi", "-L"):
        pytest.skip("there is no GPU")
    for data in ("random", "cancelling"):
        ran = subprocess.run([
            bin_folder / "14_same_bits", "--device", device, "-t", element_type, "-n", str(elements), "--data", data,
            "--counters", "off", "-q", "--json", tmp_path / "run"], capture_output=True, text=True)
        if device == "cuda" and "this build is without CUDA" in ran.stderr:
            pytest.skip("this build is without CUDA")
        assert ran.returncode == 0, ran.stderr
        sum_on_host = subprocess.run([sum_in_one_order, element_type, str(elements), data], stdout=subprocess.PIPE,
                                     text=True, check=True).stdout
        assert read_one(tmp_path / "run", Result).result == float(sum_on_host)
