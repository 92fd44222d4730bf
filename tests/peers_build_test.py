"""Which peers a build has: those of CUB's other modes only where its headers have the modes."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from tools.command_line import REPOSITORY

# Headers whose DeviceReduce::Sum can be asked for one mode.
HEADER = """#pragma once
#include <cstddef>
namespace cuda::execution {
namespace determinism {
struct Mode {};
inline constexpr Mode MODE;
}
inline determinism::Mode require(determinism::Mode mode) { return mode; }
}
namespace cub {
struct DeviceReduce {
  using Mode = cuda::execution::determinism::Mode;
  static cudaError_t Sum(const float*, float*, std::size_t, Mode) { return cudaSuccess; }
};
}
"""


def headers(folder: Path, mode: str) -> Path:
    (folder / "cub/device").mkdir(parents=True)
    (folder / "cub/device/device_reduce.cuh").write_text(HEADER.replace("MODE", mode))
    return folder


def configure(build: Path, headers: Path) -> tuple[str, set[str]]:
    """What CMake says, and the peers that can be built then."""
    ran = subprocess.run(
        ["cmake", "-S", REPOSITORY, "-B", build, "-DREDUCTION_CUDA=ON", "-DREDUCTION_BUILD_TESTS=OFF",
         "-DCMAKE_CUDA_ARCHITECTURES=80", f"-DREDUCTION_CCCL_INCLUDE={headers}"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ran.returncode != 0:
        return ran.stdout, set()
    listed = subprocess.run(["cmake", "--build", build, "--target", "help"], capture_output=True, text=True, check=True)
    return ran.stdout, set(re.findall(r"\bpeer_\w+?\b(?!_ready)", listed.stdout))


def compiler_call(build: Path, file: str) -> str:
    """The command that compiles the file, with what stands in the file of options that make gives it."""
    [call] = [call for call in json.loads((build / "compile_commands.json").read_text()) if call["file"].endswith(file)]
    options = re.findall(r"--options-file (\S+)", call["command"])
    return " ".join([call["command"], *((Path(call["directory"]) / option).read_text() for option in options)])


def test_a_mode_is_a_peer_where_the_headers_have_it(tmp_path: Path, need: Callable[[str], str]) -> None:
    """Whichever headers the build folder had before."""
    need("nvcc")
    modes = {"gpu_to_gpu", "not_guaranteed"}
    for mode in sorted(modes):
        [other] = modes - {mode}
        said, peers = configure(tmp_path / "build", headers(tmp_path / mode, mode))
        assert {"peer_cub", f"peer_cub_{mode}"} <= peers and f"peer_cub_{other}" not in peers, said
        assert [line for line in said.splitlines() if "peer_cub" in line] == [
            f"-- peer_cub_{other} is left out: these headers of CUB do not have the mode (REDUCTION_CCCL_INCLUDE)"]
        for source in ("main", "mode"):
            command = compiler_call(tmp_path / "build", f"peers/cub/{source}.cu").replace('"', "")
            assert f"-I{tmp_path / mode} " in command and "sm_80" in command and "sm_90" not in command
    said, _ = configure(tmp_path / "build", tmp_path / "none")
    assert (f"REDUCTION_CCCL_INCLUDE is '{tmp_path}/none', but there is no cub/device/device_reduce.cuh in it"
            in " ".join(said.split()))
